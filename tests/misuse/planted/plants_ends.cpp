// What is told at an end: what was never given back, what grew, what failed and nobody asked, and hints.
#include <cstdlib>

#include "findings.h"
#include "plants.h"

namespace planted {
namespace {

// --- leaks ----------------------------------------------------------------------------------------------

void block(RandomProgram& p) {
  void* at = nullptr;
  MUST(LOST(aclrtMalloc, &at, 1 + p.pick(9000), ACL_MEM_MALLOC_HUGE_FIRST));
}
void blocks(RandomProgram& p) {
  void* at = nullptr;
  for (std::size_t i = 2 + p.pick(3); i > 0; --i)
    MUST(LOST(aclrtMalloc, &at, 1 + p.pick(9000), ACL_MEM_MALLOC_HUGE_FIRST));
}
void pinned(RandomProgram& p) {
  void* at = nullptr;
  MUST(LOST(aclrtMallocHost, &at, 1 + p.pick(9000)));
}
void managed(RandomProgram& p) {
  void* at = nullptr;
  MUST(LOST(aclrtMemAllocManaged, &at, 1 + p.pick(9000), ACL_RT_MEM_ATTACH_GLOBAL));
}
void registration(RandomProgram& p) {
  void *const at = std::aligned_alloc(4096, 4096), *seen = nullptr;
  MUST(LOST(aclrtHostRegister, at, 4096, ACL_HOST_REGISTER_MAPPED, &seen));
  p.devices().after_end.push_back([at] { std::free(at); });
}
void stream(RandomProgram& p) {
  aclrtStream handle = nullptr;
  MUST(LOST(aclrtCreateStream, &handle));
}
void stream_of_a_context(RandomProgram& p) {
  aclrtContext context = nullptr;
  aclrtStream handle = nullptr;
  MUST(aclrtCreateContext(&context, static_cast<std::int32_t>(p.device())));
  MUST(LOST(aclrtCreateStream, &handle));
  MUST(aclrtDestroyContext(context));
  p.use(p.device());
}
void event(RandomProgram& p) {
  aclrtEvent handle = nullptr;
  MUST(LOST(aclrtCreateEvent, &handle));
}
void notify(RandomProgram& p) {
  aclrtNotify handle = nullptr;
  MUST(LOST(aclrtCreateNotify, &handle, ACL_NOTIFY_DEFAULT));
}
void context(RandomProgram& p) {
  aclrtContext handle = nullptr;
  MUST(LOST(aclrtCreateContext, &handle, static_cast<std::int32_t>(p.device())));
  p.use(p.device());
}
void data_buffer(RandomProgram& p) {
  aclDataBuffer* const buffer = LOST(aclCreateDataBuffer, p.scratch(64), 64);
  p.devices().after_end.push_back([buffer] { MUST(aclDestroyDataBuffer(buffer)); });
}
void reservation(RandomProgram& p) {
  void* at = nullptr;
  MUST(LOST(aclrtReserveMemAddress, &at, kGranule, 0, nullptr, 0));
}
void physical(RandomProgram& p) {
  aclrtPhysicalMemProp what{};
  const bool host = p.pick(3) == 0;
  what.memAttr = host ? ACL_MEM_HUGE : ACL_HBM_MEM_HUGE;
  what.location = {host ? 0U : static_cast<std::uint32_t>(p.device()),
                   host ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle memory = nullptr;
  MUST(LOST(aclrtMallocPhysical, &memory, kGranule, &what, 0));
}

void mapping(RandomProgram& p) {
  aclrtPhysicalMemProp what{};
  what.memAttr = ACL_HBM_MEM_HUGE;
  what.location = {static_cast<std::uint32_t>(p.device()), ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle memory = nullptr;
  void* at = nullptr;
  MUST(aclrtMallocPhysical(&memory, kGranule, &what, 0));
  MUST(aclrtReserveMemAddress(&at, kGranule, 0, nullptr, 0));
  MUST(LOST(aclrtMapMem, at, kGranule, 0, memory, 0));
  MUST(aclrtFreePhysical(memory));
  p.devices().after_resets.push_back([at] { MUST(aclrtReleaseMemAddress(at)); });
}

// --- growth ---------------------------------------------------------------------------------------------

// The program before it in this process may have set a mark, since which all is new.
void set_first_mark() {
  (void)belay_mark();
  (void)take_findings();
}
void grown_blocks(RandomProgram& p) {
  void* at = nullptr;
  set_first_mark();
  MUST(LOST(aclrtMalloc, &at, 1 + p.pick(9000), ACL_MEM_MALLOC_HUGE_FIRST));
  (void)belay_mark();
  MUST(aclrtFree(at));
}
void grown_streams(RandomProgram& p) {
  aclrtStream handle = nullptr;
  set_first_mark();
  MUST(LOST(aclrtCreateStream, &handle));
  (void)belay_mark();
  MUST(aclrtDestroyStream(handle));
}

// --- errors ---------------------------------------------------------------------------------------------

void failed_allocation(RandomProgram& p) {
  void* at = nullptr;
  PLANTED(aclrtMalloc, &at, 0, ACL_MEM_MALLOC_HUGE_FIRST);
}
void failed_copy(RandomProgram& p) {
  char* const at = p.idle(Place::Device, 64).at;
  PLANTED(aclrtMemcpy, at, 32, p.scratch(64), 64, ACL_MEMCPY_HOST_TO_DEVICE);
}
// --- hints ----------------------------------------------------------------------------------------------

void room_that_is_not_there(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  char* const host = p.scratch(area.bytes);
  const std::size_t room = area.bytes + 1 + p.pick(1000);
  MUST(PLANTED(aclrtMemcpy, area.at, room, host, area.bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  area.written.add(0, area.bytes);
}
void default_kind_of_rows(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 64);
  char* const host = p.scratch(64);
  MUST(PLANTED(aclrtMemcpy2d, area.at, 8, host, 8, 8, 8, ACL_MEMCPY_DEFAULT));
  area.written.add(0, 64);
}
void overlap(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 100);
  p.fill(area);
  MUST(PLANTED(aclrtMemcpy, area.at, 60, area.at + 1 + p.pick(40), 60, ACL_MEMCPY_DEVICE_TO_DEVICE));
}
void read_of_read_only(RandomProgram& p) {
  char* const at = p.make(Place::Device, 64, ACL_MEM_ACCESS_USER_SPACE_READONLY).at;
  MUST(PLANTED(aclrtMemcpy, p.scratch(64), 64, at, 64, ACL_MEMCPY_DEVICE_TO_HOST));
}
void policies(RandomProgram& p) {
  void* at = nullptr;
  const auto policy =
      static_cast<aclrtMemMallocPolicy>(ACL_MEM_MALLOC_NORMAL_ONLY | ACL_MEM_ACCESS_USER_SPACE_READONLY);
  MUST(PLANTED(aclrtMalloc, &at, 100, policy));
  MUST(aclrtFree(at));
}
void reset_of_an_event(RandomProgram& p) {
  aclrtEvent event = nullptr;
  Stream& stream = p.any_stream();
  MUST(aclrtCreateEvent(&event));
  MUST(aclrtRecordEvent(event, stream.handle));
  MUST(PLANTED(aclrtResetEvent, event, stream.handle));
  p.wait_for(stream);
  MUST(aclrtDestroyEvent(event));
}
void other_cache_operation(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 64);
  Stream& stream = p.any_stream();
  const auto type = static_cast<aclrtCmoType>(1 + p.pick(3));
  MUST(PLANTED(aclrtCmoAsync, area.at, 64, type, stream.handle));
  p.submitted(stream, {&area}, {});
}
void churn(RandomProgram& p) {
  for (int i = 0; i < 1000; ++i) {
    void* at = nullptr;
    MUST(PLANTED(aclrtMalloc, &at, 1 + p.pick(9000), ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtFree(at));
  }
}
void churn_of_pinned_memory(RandomProgram& p) {
  for (int i = 0; i < 1000; ++i) {
    void* at = nullptr;
    MUST(PLANTED(aclrtMallocHost, &at, 1 + p.pick(9000)));
    MUST(aclrtFreeHost(at));
  }
}
void huge_pages_that_stay_empty(RandomProgram& p) {
  void* all[9] = {};
  for (void*& each : all) {
    MUST(PLANTED(aclrtMalloc, &each, 1 + p.pick(4096), ACL_MEM_MALLOC_HUGE_ONLY));
    MUST(aclrtMemset(each, 1, 1, 1));
  }
  for (void* each : all) MUST(aclrtFree(each));
}
void never_used(RandomProgram& p) {
  void* at = nullptr;
  MUST(PLANTED(aclrtMalloc, &at, std::size_t{16} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtFree(at));
}
void held_unused(RandomProgram& p) {
  constexpr std::size_t kLarge = std::size_t{16} << 20;
  void* at = nullptr;
  char* const small = p.idle(Place::Device, 8).at;
  MUST(PLANTED(aclrtMalloc, &at, kLarge, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemset(at, 64, 1, 64));
  MUST(aclrtMemcpy(p.scratch(64), 64, at, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < 1500; ++i) MUST(aclrtMemset(small, 1, 1, 1));
  MUST(aclrtFree(at));
}

}  // namespace

std::vector<Kind> ends() {
  return {
      {"block never freed", "leak", 0, block},
      {"blocks never freed", "leak", 0, blocks},
      {"pinned memory never freed", "leak", 0, pinned},
      {"managed memory never freed", "leak", 0, managed},
      {"registration never ended", "leak", 0, registration},
      {"stream never destroyed", "leak", 0, stream},
      {"stream never destroyed before its context", "leak", 0, stream_of_a_context},
      {"event never destroyed", "leak", 0, event},
      {"notify never destroyed", "leak", 0, notify},
      {"context never destroyed", "leak", 0, context},
      {"data buffer never destroyed", "leak", 0, data_buffer},
      {"reservation never released", "leak", kVirtual, reservation},
      {"physical memory never freed", "leak", kVirtual, physical},
      {"mapping never ended", "leak", kVirtual, mapping},
      {"block kept between two marks", "growth", kAlone, grown_blocks},
      {"stream kept between two marks", "growth", kAlone, grown_streams},
      {"error of an allocation", "error-not-fetched", 0, failed_allocation},
      {"error of a copy", "error-not-fetched", 0, failed_copy},
      {"room that is not there", "hint", 0, room_that_is_not_there},
      {"default kind of rows", "hint", 0, default_kind_of_rows},
      {"copy to where it comes from", "hint", 0, overlap},
      {"read of read-only memory", "hint", 0, read_of_read_only},
      {"policies that are not listed together", "hint", 0, policies},
      {"reset of an event", "hint", kStreams, reset_of_an_event},
      {"cache operation that is not documented", "hint", kStreams, other_cache_operation},
      {"churn", "churn", 0, churn},
      {"churn of pinned memory", "churn", 0, churn_of_pinned_memory},
      {"huge pages that stay empty", "wasted-pages", 0, huge_pages_that_stay_empty},
      {"block that is never used", "never-used", 0, never_used},
      {"block that is held unused", "held-unused", 0, held_unused},
  };
}

}  // namespace planted
