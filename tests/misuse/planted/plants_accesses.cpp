// Accesses that leave their block, go in another direction than they say, or write what is read-only.
#include "plants.h"

namespace planted {
namespace {

// Bytes behind a block: in its padding, of which there are 32 at least, or far beyond.
std::size_t too_many(RandomProgram& p) { return 1 + p.pick(p.pick(2) == 0 ? 32 : 9000); }

// --- bounds ---------------------------------------------------------------------------------------------

void copy_to_beyond(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  const std::size_t start = p.pick(area.bytes), bytes = area.bytes - start + too_many(p);
  char* const host = p.scratch(bytes);
  if (PLANTED(aclrtMemcpy, area.at + start, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS)
    area.written.add(start, area.bytes);
}
void copy_from_beyond(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  p.fill(area);
  const std::size_t start = p.pick(area.bytes), bytes = area.bytes - start + 1 + p.pick(32);
  char* const host = p.scratch(bytes);
  PLANTED(aclrtMemcpy, host, bytes, area.at + start, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
}
void fill_beyond(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  const std::size_t start = p.pick(area.bytes), bytes = area.bytes - start + too_many(p);
  if (PLANTED(aclrtMemset, area.at + start, bytes, 1, bytes) == ACL_SUCCESS)
    area.written.add(start, area.bytes);
}
void fill_words_beyond(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 4);
  const std::size_t words = area.bytes / 4 + 1;
  if (PLANTED(aclrtMemsetD32, area.at, 4 * words, 1, words) == ACL_SUCCESS) area.written.add(0, area.bytes);
}
void managed_beyond(RandomProgram& p) {
  Area& area = p.make(Place::Managed, 1 + p.pick(5000));
  const std::size_t bytes = area.bytes + 1 + p.pick(100);
  PLANTED(aclrtMemset, area.at, bytes, 1, bytes);
}
void pinned_beyond(RandomProgram& p) {
  Area& area = p.make(Place::Pinned, 1000 + p.pick(1000));
  Area& block = p.idle(Place::Device, 4000);
  p.fill(block);
  const std::size_t bytes = area.bytes + 1 + p.pick(100);
  if (p.pick(2) == 0)
    PLANTED(aclrtMemcpy, area.at, bytes, block.at, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
  else
    PLANTED(aclrtMemcpy, block.at, bytes, area.at, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
}
struct Rows {
  explicit Rows(RandomProgram& p)
      : area{p.idle(Place::Device, 1000)}, width{1 + p.pick(30)}, height{2 + p.pick(6)}, pitch{width} {
    p.fill(area);
    fits = (area.bytes - width) / (height - 1);  // the largest pitch
    if (p.pick(2) == 0) {
      pitch = fits + 1 + p.pick(4);
    } else {  // a row too many
      pitch = (area.bytes - width) / height + 1 + p.pick(2);
      while ((height - 1) * pitch + width <= area.bytes) ++height;
    }
  }
  Area& area;
  std::size_t width, height, pitch, fits = 0;
};
void rows_beyond(RandomProgram& p) {
  const Rows r{p};
  char* const host = p.scratch(r.width * r.height);
  PLANTED(aclrtMemcpy2d, r.area.at, r.pitch, host, r.width, r.width, r.height, ACL_MEMCPY_HOST_TO_DEVICE);
}
void queued_rows_beyond(RandomProgram& p) {
  const Rows r{p};
  Area& host = p.idle(Place::Pinned, r.width * r.height);
  Stream& stream = p.any_stream();
  if (PLANTED(aclrtMemcpy2dAsync, r.area.at, r.pitch, host.at, r.width, r.width, r.height,
              ACL_MEMCPY_HOST_TO_DEVICE, stream.handle) == ACL_SUCCESS)
    p.submitted(stream, {&host}, {&r.area});
}
void item_beyond(RandomProgram& p) {
  constexpr std::size_t kItems = 3;
  void *to[kItems], *from[kItems];
  std::size_t bytes[kItems], first = 0, failed = 0;
  const std::size_t wrong = p.pick(kItems);
  for (std::size_t i = 0; i < kItems; ++i) {
    Area& area = p.make(Place::Device, 1 + p.pick(3000));
    area.written.add(0, area.bytes);
    to[i] = area.at;
    bytes[i] = area.bytes + (i == wrong ? 1 + p.pick(32) : 0);
    from[i] = p.scratch(kItems * 4000) + i * 4000;
  }
  aclrtMemcpyBatchAttr way{};
  way.dstLoc = {static_cast<std::uint32_t>(p.device()), ACL_MEM_LOCATION_TYPE_DEVICE};
  way.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  PLANTED(aclrtMemcpyBatch, to, bytes, from, bytes, kItems, &way, &first, 1, &failed);
}
void queued_copy_beyond(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  p.fill(area);
  const bool down = p.pick(2) == 0;
  const std::size_t start = p.pick(area.bytes),
                    bytes = area.bytes - start + (down ? 1 + p.pick(32) : too_many(p));
  Area& host = p.idle(Place::Pinned, bytes);
  Stream& stream = p.any_stream();
  char *const to = down ? host.at : area.at + start, *const from = down ? area.at + start : host.at;
  const aclrtMemcpyKind kind = down ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  if (PLANTED(aclrtMemcpyAsync, to, bytes, from, bytes, kind, stream.handle) == ACL_SUCCESS)
    p.submitted(stream, {down ? &area : &host}, {down ? &host : &area});
}
void queued_fill_beyond(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  const std::size_t start = p.pick(area.bytes), bytes = area.bytes - start + too_many(p);
  Stream& stream = p.any_stream();
  if (PLANTED(aclrtMemsetAsync, area.at + start, bytes, 1, bytes, stream.handle) != ACL_SUCCESS) return;
  area.written.add(start, area.bytes);
  p.submitted(stream, {}, {&area});
}
void word_written_beyond(RandomProgram& p) {
  Area& area = p.make(Place::Device, 8 * (1 + p.pick(500)) + 1 + p.pick(7));
  Stream& stream = p.any_stream();
  MUST(PLANTED(aclrtValueWrite, area.at + area.bytes / 8 * 8, 1, 0, stream.handle));
  p.submitted(stream, {}, {&area});
}
void word_awaited_beyond(RandomProgram& p) {
  Area& area = p.make(Place::Device, 8 * (1 + p.pick(500)) + 1 + p.pick(7));
  p.fill(area);
  Stream& stream = p.any_stream();
  // What is in fresh memory has bits that are 0.
  MUST(PLANTED(aclrtValueWait, area.at + area.bytes / 8 * 8, 0, ACL_STREAM_WAIT_VALUE_NOR, stream.handle));
  p.submitted(stream, {&area}, {});
}
void copy_before(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 100);
  const std::size_t early = 1 + p.pick(32), bytes = early + 1 + p.pick(60);
  char* const host = p.scratch(bytes);
  if (PLANTED(aclrtMemcpy, area.at - early, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS)
    area.written.add(0, bytes - early);
}
void fill_before(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 100);
  const std::size_t early = 1 + p.pick(32), bytes = early + 1 + p.pick(60);
  if (PLANTED(aclrtMemset, area.at - early, bytes, 1, bytes) == ACL_SUCCESS)
    area.written.add(0, bytes - early);
}
void queued_fill_before(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 100);
  const std::size_t early = 1 + p.pick(32), bytes = early + 1 + p.pick(60);
  Stream& stream = p.any_stream();
  if (PLANTED(aclrtMemsetAsync, area.at - early, bytes, 1, bytes, stream.handle) != ACL_SUCCESS) return;
  area.written.add(0, bytes - early);
  p.submitted(stream, {}, {&area});
}
void segments(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 2000);
  const std::size_t bytes = 1 + p.pick(500), step = (bytes + 31) / 32 * 32 + 32 + 63;
  belaySegment plan[] = {{0, bytes}, {step / 64 * 64, bytes}};
  if (belay_check_segments(area.at, plan, 2) != 0) throw Trouble{"a right plan was refused"};
  switch (p.pick(3)) {
    case 0:
      plan[1].offset -= 64;
      break;
    case 1:
      plan[1].offset += 1 + p.pick(63);
      break;
    default:
      plan[1].offset = (area.bytes + 63) / 64 * 64;
  }
  PLANTED(belay_check_segments, area.at, plan, 2);
}

// --- direction ------------------------------------------------------------------------------------------

aclrtMemcpyKind other_than(RandomProgram& p, aclrtMemcpyKind right) {
  for (;;) {
    const auto kind = static_cast<aclrtMemcpyKind>(p.pick(4));
    if (kind != right) return kind;
  }
}
void copy_up(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  char* const host = p.scratch(area.bytes);
  MUST(PLANTED(aclrtMemcpy, area.at, area.bytes, host, area.bytes, other_than(p, ACL_MEMCPY_HOST_TO_DEVICE)));
  area.written.add(0, area.bytes);
}
void copy_down(RandomProgram& p) {
  Area& area = p.idle(Place::Device);
  p.fill(area);
  char* const host = p.scratch(area.bytes);
  MUST(PLANTED(aclrtMemcpy, host, area.bytes, area.at, area.bytes, other_than(p, ACL_MEMCPY_DEVICE_TO_HOST)));
}
void copy_across(RandomProgram& p) {
  Area& to = p.idle(Place::Device, 64);
  char* const from = p.make(Place::Device, 64).at;
  MUST(PLANTED(aclrtMemcpy, to.at, 64, from, 64, other_than(p, ACL_MEMCPY_DEVICE_TO_DEVICE)));
  to.written.remove(0, 64);
}
void copy_on_host(RandomProgram& p) {
  char *const to = p.idle(Place::Pinned, 64).at, *const from = p.scratch(64);
  MUST(PLANTED(aclrtMemcpy, to, 64, from, 64, other_than(p, ACL_MEMCPY_HOST_TO_HOST)));
}
void queued_copy_the_other_way(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 64);
  p.fill(area);
  Area& host = p.idle(Place::Pinned, 64);
  Stream& stream = p.any_stream();
  const bool down = p.pick(2) == 0;
  char *const to = down ? host.at : area.at, *const from = down ? area.at : host.at;
  const aclrtMemcpyKind kind = other_than(p, down ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE);
  MUST(PLANTED(aclrtMemcpyAsync, to, 64, from, 64, kind, stream.handle));
  p.submitted(stream, {down ? &area : &host}, {down ? &host : &area});
}
void queued_copy_of_pageable_memory(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 64);
  char* const host = p.scratch(64);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemcpyAsync, area.at, 64, host, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream);
}
void rows_the_other_way(RandomProgram& p) {
  Area& area = p.idle(Place::Device, 64);
  char* const host = p.scratch(64);
  PLANTED(aclrtMemcpy2d, area.at, 8, host, 8, 8, 8, ACL_MEMCPY_DEVICE_TO_HOST);
}
void words_in_pageable_memory(RandomProgram& p) {
  char* const host = p.scratch(64);
  PLANTED(aclrtMemsetD32, host + (4 - reinterpret_cast<std::uintptr_t>(host) % 4) % 4, 32, 1, 8);
}
void word_in_pinned_memory(RandomProgram& p) {
  char* const host = p.idle(Place::Pinned, 8).at;
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtValueWrite, host, 1, 0, stream);
}
void wait_in_pinned_memory(RandomProgram& p) {
  char* const host = p.idle(Place::Pinned, 8).at;
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtValueWait, host, 0, ACL_STREAM_WAIT_VALUE_GEQ, stream);
}
void prefetch_of_pinned_memory(RandomProgram& p) {
  Area& host = p.idle(Place::Pinned, 64);
  Stream& stream = p.any_stream();
  MUST(PLANTED(aclrtCmoAsync, host.at, 64, ACL_RT_CMO_TYPE_PREFETCH, stream.handle));
  p.submitted(stream, {&host}, {});
}
void prefetch_of_pageable_memory(RandomProgram& p) {
  char* const host = p.scratch(64);
  Stream& stream = p.any_stream();
  MUST(PLANTED(aclrtCmoAsync, host, 64, ACL_RT_CMO_TYPE_PREFETCH, stream.handle));
  p.submitted(stream, {}, {});
}

// --- read-only ------------------------------------------------------------------------------------------

char* read_only(RandomProgram& p) {
  return p.make(Place::Device, 64 + p.pick(3000), ACL_MEM_ACCESS_USER_SPACE_READONLY).at;
}
void copy_to_read_only(RandomProgram& p) {
  char *const at = read_only(p), *const host = p.scratch(64);
  PLANTED(aclrtMemcpy, at, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
}
void copy_on_device_to_read_only(RandomProgram& p) {
  char *const at = read_only(p), *const from = p.make(Place::Device, 64).at;
  PLANTED(aclrtMemcpy, at, 64, from, 64, ACL_MEMCPY_DEVICE_TO_DEVICE);
}
void fill_of_read_only(RandomProgram& p) {
  char* const at = read_only(p);
  PLANTED(aclrtMemset, at, 64, 1, 64);
}
void words_in_read_only(RandomProgram& p) {
  char* const at = read_only(p);
  PLANTED(aclrtMemsetD32, at, 64, 1, 16);
}
void rows_to_read_only(RandomProgram& p) {
  char *const at = read_only(p), *const host = p.scratch(64);
  PLANTED(aclrtMemcpy2d, at, 8, host, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE);
}
void batch_to_read_only(RandomProgram& p) {
  void *to[] = {read_only(p)}, *from[] = {p.scratch(64)};
  std::size_t bytes[] = {64}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr way{};
  way.dstLoc = {static_cast<std::uint32_t>(p.device()), ACL_MEM_LOCATION_TYPE_DEVICE};
  way.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  PLANTED(aclrtMemcpyBatch, to, bytes, from, bytes, 1, &way, &first, 1, &failed);
}
void queued_copy_to_read_only(RandomProgram& p) {
  char *const at = read_only(p), *const host = p.idle(Place::Pinned, 64).at;
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemcpyAsync, at, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream);
}
void queued_fill_of_read_only(RandomProgram& p) {
  char* const at = read_only(p);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemsetAsync, at, 64, 1, 64, stream);
}
void queued_words_in_read_only(RandomProgram& p) {
  char* const at = read_only(p);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemsetD32Async, at, 64, 1, 16, stream);
}
// The task is refused, so the wait tells.
void word_in_read_only(RandomProgram& p) {
  char* const at = read_only(p);
  Stream& stream = p.make_stream();
  MUST(aclrtValueWrite(at, 1, 0, stream.handle));
  PLANTED(aclrtSynchronizeStream, stream.handle);
  may_fail(aclrtDestroyStream(stream.handle));
  p.forget(stream);
}

}  // namespace

std::vector<Kind> wrong_accesses() {
  return {
      {"copy to beyond the end", "beyond-end", 0, copy_to_beyond},
      {"copy from beyond the end", "beyond-end", 0, copy_from_beyond},
      {"fill beyond the end", "beyond-end", 0, fill_beyond},
      {"fill of words beyond the end", "beyond-end", 0, fill_words_beyond},
      {"fill beyond the end of managed memory", "beyond-end", 0, managed_beyond},
      {"copy beyond the end of pinned memory", "beyond-end", 0, pinned_beyond},
      {"rows beyond the end", "beyond-end", 0, rows_beyond},
      {"queued rows beyond the end", "beyond-end", kStreams, queued_rows_beyond},
      {"item of a batch beyond the end", "beyond-end", 0, item_beyond},
      {"queued copy beyond the end", "beyond-end", kStreams, queued_copy_beyond},
      {"queued fill beyond the end", "beyond-end", kStreams, queued_fill_beyond},
      {"word written beyond the end", "beyond-end", kStreams, word_written_beyond},
      {"word awaited beyond the end", "beyond-end", kStreams, word_awaited_beyond},
      {"copy to before the start", "before-start", 0, copy_before},
      {"fill before the start", "before-start", 0, fill_before},
      {"queued fill before the start", "before-start", kStreams, queued_fill_before},
      {"segments that are too close", "segments-too-close", 0, segments},
      {"copy to a device that says otherwise", "wrong-direction", 0, copy_up},
      {"copy to the host that says otherwise", "wrong-direction", 0, copy_down},
      {"copy on a device that says otherwise", "wrong-direction", 0, copy_across},
      {"copy on the host that says otherwise", "wrong-direction", 0, copy_on_host},
      {"queued copy that says otherwise", "wrong-direction", kStreams, queued_copy_the_other_way},
      {"queued copy of pageable memory that says otherwise", "wrong-direction", kStreams,
       queued_copy_of_pageable_memory},
      {"rows that say otherwise", "wrong-direction", 0, rows_the_other_way},
      {"fill of words in pageable memory", "wrong-side", 0, words_in_pageable_memory},
      {"word written to pinned memory", "wrong-side", kStreams, word_in_pinned_memory},
      {"word awaited in pinned memory", "wrong-side", kStreams, wait_in_pinned_memory},
      {"prefetch of pinned memory", "wrong-side", kStreams, prefetch_of_pinned_memory},
      {"prefetch of pageable memory", "wrong-side", kStreams, prefetch_of_pageable_memory},
      {"copy to read-only memory", "write-to-read-only", 0, copy_to_read_only},
      {"copy on a device to read-only memory", "write-to-read-only", 0, copy_on_device_to_read_only},
      {"fill of read-only memory", "write-to-read-only", 0, fill_of_read_only},
      {"fill of words in read-only memory", "write-to-read-only", 0, words_in_read_only},
      {"rows to read-only memory", "write-to-read-only", 0, rows_to_read_only},
      {"batch to read-only memory", "write-to-read-only", 0, batch_to_read_only},
      {"queued copy to read-only memory", "write-to-read-only", kStreams, queued_copy_to_read_only},
      {"queued fill of read-only memory", "write-to-read-only", kStreams, queued_fill_of_read_only},
      {"queued fill of words in read-only memory", "write-to-read-only", kStreams, queued_words_in_read_only},
      {"word written to read-only memory", "write-to-read-only", kStreams, word_in_read_only},
  };
}

}  // namespace planted
