// Bytes that nobody wrote reach the host, or end a wait.
#include "plants.h"

namespace planted {
namespace {

// All of a new block is written but a few bytes somewhere.
Area& with_a_hole(RandomProgram& p, std::size_t least = 1, Place place = Place::Device) {
  Area& area = p.make(place, least + p.pick(9000));
  const std::size_t start = p.pick(area.bytes), end = start + 1 + p.pick(area.bytes - start);
  if (start > 0) MUST(aclrtMemset(area.at, start, 1, start));
  if (end < area.bytes) MUST(aclrtMemset(area.at + end, area.bytes - end, 1, area.bytes - end));
  area.written.add(0, start);
  area.written.add(end, area.bytes);
  return area;
}
// What was told of counts as written.
void read_down(RandomProgram& p, Area& area) {
  char* const host = p.scratch(area.bytes);
  MUST(PLANTED(aclrtMemcpy, host, area.bytes, area.at, area.bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  area.written.add(0, area.bytes);
}

void read(RandomProgram& p) { read_down(p, with_a_hole(p)); }
void read_of_new_block(RandomProgram& p) {
  Area& area = p.make(Place::Device, 1 + p.pick(9000));
  if (p.pick(2) == 0) {
    // One byte beyond what is written.
    const std::size_t written = p.pick(area.bytes);
    if (written > 0) MUST(aclrtMemset(area.at, written, 1, written));
  }
  read_down(p, area);
}
void read_between_rows(RandomProgram& p) {
  const std::size_t width = 1 + p.pick(100), pitch = width + 1 + p.pick(30), height = 2 + p.pick(6);
  Area& area = p.make(Place::Device, pitch * height);
  MUST(aclrtMemcpy2d(area.at, pitch, p.scratch(pitch * height), width, width, height,
                     ACL_MEMCPY_HOST_TO_DEVICE));
  read_down(p, area);
}
void rows(RandomProgram& p) {
  Area& area = p.make(Place::Device, 1000);
  const std::size_t missing = 100 * p.pick(10);
  if (missing > 0) MUST(aclrtMemset(area.at, missing, 1, missing));
  if (missing < 900) MUST(aclrtMemset(area.at + missing + 100, 900 - missing, 1, 900 - missing));
  char* const host = p.scratch(1000);
  MUST(PLANTED(aclrtMemcpy2d, host, 50, area.at, 100, 50, 10, ACL_MEMCPY_DEVICE_TO_HOST));
  p.fill(area);
}
void batch(RandomProgram& p) {
  constexpr std::size_t kItems = 3;
  void *to[kItems], *from[kItems];
  std::size_t bytes[kItems], first = 0, failed = 0;
  const std::size_t wrong = p.pick(kItems);
  for (std::size_t i = 0; i < kItems; ++i) {
    Area& area = i == wrong ? with_a_hole(p) : p.make(Place::Device, 1 + p.pick(9000));
    if (i != wrong) p.fill(area);
    area.written.add(0, area.bytes);
    to[i] = p.scratch(kItems * 10'000) + i * 10'000;
    from[i] = area.at;
    bytes[i] = area.bytes;
  }
  aclrtMemcpyBatchAttr way{};
  way.dstLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  way.srcLoc = {static_cast<std::uint32_t>(p.device()), ACL_MEM_LOCATION_TYPE_DEVICE};
  MUST(PLANTED(aclrtMemcpyBatch, to, bytes, from, bytes, kItems, &way, &first, 1, &failed));
}
// Copies on the device bring them to a place that was written.
void through_copies(RandomProgram& p) {
  Area* from = &with_a_hole(p);
  for (std::size_t i = 1 + p.pick(3); i > 0; --i) {
    Area& to = p.make(Place::Device, from->bytes);
    p.fill(to);
    MUST(aclrtMemcpy(to.at, to.bytes, from->at, to.bytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
    to.written = from->written;
    from = &to;
  }
  read_down(p, *from);
}
void of_mapping(RandomProgram& p) {
  Area& area = with_a_hole(p, kGranule - 9000, Place::Mapped);
  read_down(p, area);
}
void queued(RandomProgram& p) {
  Area& area = with_a_hole(p);
  Area& host = p.idle(Place::Pinned, area.bytes);
  Stream& stream = p.any_stream();
  MUST(PLANTED(aclrtMemcpyAsync, host.at, area.bytes, area.at, area.bytes, ACL_MEMCPY_DEVICE_TO_HOST,
               stream.handle));
  area.written.add(0, area.bytes);
  p.submitted(stream, {}, {&area, &host});  // nobody else reads it before
}
void queued_through_copies(RandomProgram& p) {
  Area& from = with_a_hole(p);
  Area& to = p.make(Place::Device, from.bytes);
  p.fill(to);
  Area& host = p.idle(Place::Pinned, to.bytes);
  Stream& stream = p.any_stream();
  MUST(aclrtMemcpyAsync(to.at, to.bytes, from.at, to.bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.handle));
  p.submitted(stream, {&from}, {&to});
  MUST(PLANTED(aclrtMemcpyAsync, host.at, to.bytes, to.at, to.bytes, ACL_MEMCPY_DEVICE_TO_HOST,
               stream.handle));
  to.written.add(0, to.bytes);
  p.submitted(stream, {}, {&to, &host});
}
void for_host_function(RandomProgram& p) {
  Area& area = with_a_hole(p);
  Area& host = p.idle(Place::Pinned, area.bytes);
  Stream& stream = p.any_stream();
  MUST(PLANTED(aclrtMemcpyAsync, host.at, area.bytes, area.at, area.bytes, ACL_MEMCPY_DEVICE_TO_HOST,
               stream.handle));
  area.written.add(0, area.bytes);
  p.submitted(stream, {}, {&area, &host});  // nobody else reads it before
  MUST(aclrtLaunchHostFunc(
      stream.handle, [](void* at) { ++*static_cast<char*>(at); }, host.at));
  p.submitted(stream, {}, {&host});
}
void awaited_word(RandomProgram& p) {
  Area& area = p.make(Place::Device, 8 + p.pick(3000));
  Stream& stream = p.any_stream();
  // What is in fresh memory has bits that are 0.
  MUST(PLANTED(aclrtValueWait, area.at, 0, ACL_STREAM_WAIT_VALUE_NOR, stream.handle));
  p.submitted(stream, {&area}, {});
}

}  // namespace

std::vector<Kind> unwritten_reads() {
  constexpr const char* kId = "read-of-unwritten-memory";
  return {
      {"read of a block with a hole", kId, 0, read},
      {"read of a new block", kId, 0, read_of_new_block},
      {"read between rows", kId, 0, read_between_rows},
      {"rows of which one is not written", kId, 0, rows},
      {"batch with a block with a hole", kId, 0, batch},
      {"read of a hole that copies brought", kId, 0, through_copies},
      {"read of a mapping with a hole", kId, kVirtual, of_mapping},
      {"queued read of a block with a hole", kId, kStreams, queued},
      {"queued read of a hole that copies brought", kId, kStreams, queued_through_copies},
      {"queued read for a host function", kId, kStreams, for_host_function},
      {"wait for a word that nobody wrote", kId, kStreams, awaited_word},
  };
}

}  // namespace planted
