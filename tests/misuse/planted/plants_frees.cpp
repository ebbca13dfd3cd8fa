// Memory that is given back twice, in the wrong way, or too early.
#include <cstdlib>

#include "plants.h"

namespace planted {
namespace {

// Where memory was that is given back by now. Pinned memory may be there again at once.
char* freed(RandomProgram& p, Place place) {
  Area& area = p.idle(place);
  char* const at = area.at;
  p.give_back(area);
  if (place != Place::Pinned) go_on(p);
  return at;
}
char* inside(RandomProgram& p, Place place) {
  Area& area = p.idle(place, 2);
  return area.at + 1 + p.pick(area.bytes - 1);
}
std::unique_ptr<char, void (*)(void*)> heap() {
  return {static_cast<char*>(std::aligned_alloc(4096, 4096)), std::free};
}

void block_twice(RandomProgram& p) {
  char* const at = freed(p, Place::Device);
  PLANTED(aclrtFree, at);
}
void block_twice_with_a_wait(RandomProgram& p) {
  char* const at = freed(p, Place::Device);
  PLANTED(aclrtFreeWithDevSync, at);
}
void pinned_twice(RandomProgram& p) {
  char* const at = freed(p, Place::Pinned);
  PLANTED(aclrtFreeHost, at);
}
void managed_twice(RandomProgram& p) {
  char* const at = freed(p, Place::Managed);
  PLANTED(aclrtFree, at);
}
void registration_twice(RandomProgram& p) {
  const auto memory = heap();
  void* seen = nullptr;
  MUST(aclrtHostRegister(memory.get(), 4096, ACL_HOST_REGISTER_MAPPED, &seen));
  MUST(aclrtHostUnregister(memory.get()));
  go_on(p);
  PLANTED(aclrtHostUnregister, memory.get());
}

void inside_block(RandomProgram& p) { PLANTED(aclrtFree, inside(p, Place::Device)); }
void inside_pinned(RandomProgram& p) { PLANTED(aclrtFreeHost, inside(p, Place::Pinned)); }
void inside_managed(RandomProgram& p) { PLANTED(aclrtFree, inside(p, Place::Managed)); }

void heap_memory(RandomProgram& p) {
  const auto memory = heap();
  PLANTED(aclrtFree, memory.get());
}
void heap_memory_as_pinned(RandomProgram& p) {
  const auto memory = heap();
  PLANTED(aclrtFreeHost, memory.get());
}
void once_registered(RandomProgram& p) {
  const auto memory = heap();
  void* seen = nullptr;
  MUST(aclrtHostRegister(memory.get(), 4096, ACL_HOST_REGISTER_MAPPED, &seen));
  MUST(aclrtHostUnregister(memory.get()));
  PLANTED(aclrtFree, memory.get());
}
void never_allocated(RandomProgram& p) {
  char* const at = p.idle(Place::Device).at + (std::size_t{64} << 30);
  PLANTED(aclrtFree, at);
}

void block_as_pinned(RandomProgram& p) { PLANTED(aclrtFreeHost, p.idle(Place::Device).at); }
void registered_as_block(RandomProgram& p) { PLANTED(aclrtFree, p.idle(Place::Registered).at); }
void registered_as_pinned(RandomProgram& p) { PLANTED(aclrtFreeHost, p.idle(Place::Registered).at); }
void managed_as_pinned(RandomProgram& p) { PLANTED(aclrtFreeHost, p.idle(Place::Managed).at); }

// Memory that a task behind a gate uses is freed; what the task does then is of no interest.
void freed_in_use(RandomProgram& p, Place place, void (*queue)(RandomProgram&, Area&, aclrtStream),
                  void (*free)(RandomProgram&, Area&)) {
  Area& area = p.idle(place, 64);
  if (!area.is_on_device()) p.use(p.any_device());
  p.fill(area);
  Stream& stream = p.make_stream();
  Gate gate{stream.handle};
  queue(p, area, stream.handle);
  free(p, area);
  gate.open();
  may_fail(aclrtSynchronizeStream(stream.handle));
  may_fail(aclrtDestroyStream(stream.handle));
  p.forget(stream);
  p.forget(area);
}
void free_it(RandomProgram& p, Area& area) { MUST(PLANTED(aclrtFree, area.at)); }
void queue_copy_to(RandomProgram& p, Area& area, aclrtStream stream) {
  MUST(aclrtMemcpyAsync(area.at, 64, p.idle(Place::Pinned, 64).at, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}
void queue_copy_from(RandomProgram& p, Area& area, aclrtStream stream) {
  MUST(aclrtMemcpyAsync(p.idle(Place::Pinned, 64).at, 64, area.at, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}
void queue_rows(RandomProgram& p, Area& area, aclrtStream stream) {
  MUST(aclrtMemcpy2dAsync(area.at, 8, p.idle(Place::Pinned, 64).at, 8, 4, 8, ACL_MEMCPY_HOST_TO_DEVICE,
                          stream));
}
void queue_fill(RandomProgram&, Area& area, aclrtStream stream) {
  MUST(aclrtMemsetAsync(area.at, 64, 1, 64, stream));
}
void queue_words(RandomProgram&, Area& area, aclrtStream stream) {
  MUST(aclrtMemsetD32Async(area.at, 64, 1, 16, stream));
}
void queue_word(RandomProgram&, Area& area, aclrtStream stream) {
  MUST(aclrtValueWrite(area.at, 1, 0, stream));
}

void block_with_copy_to(RandomProgram& p) { freed_in_use(p, Place::Device, queue_copy_to, free_it); }
void block_with_copy_from(RandomProgram& p) { freed_in_use(p, Place::Device, queue_copy_from, free_it); }
void block_with_rows(RandomProgram& p) { freed_in_use(p, Place::Device, queue_rows, free_it); }
void block_with_fill(RandomProgram& p) { freed_in_use(p, Place::Device, queue_fill, free_it); }
void block_with_fill_of_words(RandomProgram& p) { freed_in_use(p, Place::Device, queue_words, free_it); }
void block_with_word(RandomProgram& p) { freed_in_use(p, Place::Device, queue_word, free_it); }
void managed_with_fill(RandomProgram& p) { freed_in_use(p, Place::Managed, queue_fill, free_it); }

}  // namespace

std::vector<Kind> frees() {
  return {
      {"block freed twice", "double-free", 0, block_twice},
      {"block freed twice, with a wait", "double-free", 0, block_twice_with_a_wait},
      {"pinned memory freed twice", "double-free", 0, pinned_twice},
      {"managed memory freed twice", "double-free", 0, managed_twice},
      {"registration ended twice", "double-free", 0, registration_twice},
      {"free inside a block", "free-inside-block", 0, inside_block},
      {"free inside pinned memory", "free-inside-block", 0, inside_pinned},
      {"free inside managed memory", "free-inside-block", 0, inside_managed},
      {"free of heap memory", "free-of-foreign-memory", 0, heap_memory},
      {"free of heap memory as pinned", "free-of-foreign-memory", 0, heap_memory_as_pinned},
      {"free of memory that was registered", "free-of-foreign-memory", 0, once_registered},
      {"free of an address that never was", "use-of-unallocated-memory", 0, never_allocated},
      {"block freed as pinned memory", "free-by-wrong-function", 0, block_as_pinned},
      {"registered memory freed as a block", "free-by-wrong-function", 0, registered_as_block},
      {"registered memory freed as pinned", "free-by-wrong-function", 0, registered_as_pinned},
      {"managed memory freed as pinned", "free-by-wrong-function", 0, managed_as_pinned},
      {"block freed with a copy to it queued", "free-while-in-use", kStreams, block_with_copy_to},
      {"block freed with a copy from it queued", "free-while-in-use", kStreams, block_with_copy_from},
      {"block freed with rows queued", "free-while-in-use", kStreams, block_with_rows},
      {"block freed with a fill queued", "free-while-in-use", kStreams, block_with_fill},
      {"block freed with a fill of words queued", "free-while-in-use", kStreams, block_with_fill_of_words},
      {"block freed with a word queued", "free-while-in-use", kStreams, block_with_word},
      {"managed memory freed with a fill queued", "free-while-in-use", kStreams, managed_with_fill},
  };
}

}  // namespace planted
