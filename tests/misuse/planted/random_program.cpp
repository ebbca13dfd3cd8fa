#include "random_program.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace planted {
namespace {

aclrtPhysicalMemProp huge_pages_of(std::size_t device) {
  aclrtPhysicalMemProp what{};
  what.memAttr = ACL_HBM_MEM_HUGE;
  what.location = {static_cast<std::uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
  return what;
}

// Whatever the size is.
bool is_huge_only(aclrtMemMallocPolicy policy) {
  return policy == ACL_MEM_MALLOC_HUGE_ONLY || policy == ACL_MEM_MALLOC_HUGE_FIRST_P2P;
}

std::atomic<int> g_calls{0};

}  // namespace

Devices::Devices(std::size_t count) {
  MUST(aclInit(nullptr));
  for (std::size_t i = 0; i < count; ++i) {
    MUST(aclrtSetDevice(static_cast<std::int32_t>(i)));
    contexts.emplace_back();
    MUST(aclrtGetCurrentContext(&contexts.back()));
  }
}

void Devices::close() {
  for (std::size_t i = 0; i < contexts.size(); ++i) MUST(aclrtResetDevice(static_cast<std::int32_t>(i)));
  for (const auto& each : after_resets) each();
  MUST(aclFinalize());
  for (const auto& each : after_end) each();
}

RandomProgram::RandomProgram(std::mt19937 random, unsigned features, Devices& devices)
    : random_{random}, features_{features}, devices_{devices}, scratch_(kGranule) {
  use(0);
}

RandomProgram::~RandomProgram() {
  for (const auto& each : areas_) {
    if (each->place == Place::Registered || each->place == Place::Pageable) std::free(each->at);
  }
}

// --- what plants use as well ----------------------------------------------------------------------------

void RandomProgram::use(std::size_t device) {
  device_ = device;
  MUST(aclrtSetCurrentContext(devices_.contexts[device]));
}

char* RandomProgram::scratch(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  return scratch_.data();
}

Area* RandomProgram::choose(const std::function<bool(const Area&)>& fits) {
  std::vector<Area*> found;
  for (const auto& each : areas_) {
    if (fits(*each)) found.push_back(each.get());
  }
  return found.empty() ? nullptr : found[pick(found.size())];
}

Area& RandomProgram::idle(Place place, std::size_t bytes) {
  Area* found = choose([&](const Area& area) {
    return area.place == place && area.bytes >= bytes && !area.read_only && area.is_free_for(known_, true);
  });
  if (found == nullptr) return make(place, bytes + pick(3000));
  if (found->is_on_device()) use(found->device);
  return *found;
}

Area& RandomProgram::make(Place place, std::size_t bytes, aclrtMemMallocPolicy policy) {
  if (place == Place::Mapped) {
    make_mapping((bytes + kGranule - 1) / kGranule);
    return *areas_.back();
  }
  void *at = nullptr, *seen_by_device = nullptr;
  constexpr std::size_t kPage = 4096;
  switch (place) {
    case Place::Device:
      MUST(aclrtMalloc(&at, bytes, policy));
      break;
    case Place::Managed:
      MUST(aclrtMemAllocManaged(&at, bytes, ACL_RT_MEM_ATTACH_GLOBAL));
      break;
    case Place::Pinned:
      MUST(aclrtMallocHost(&at, bytes));
      break;
    case Place::Registered:
      bytes = (bytes + kPage - 1) / kPage * kPage;
      at = std::aligned_alloc(kPage, bytes);
      std::memset(at, 1, bytes);
      MUST(aclrtHostRegister(at, bytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
      break;
    default:
      at = std::malloc(bytes);
  }
  auto area =
      std::make_unique<Area>(Area{place, device_, static_cast<char*>(at), bytes, false, false, {}, {}, {}});
  area->read_only = (policy & ACL_MEM_ACCESS_USER_SPACE_READONLY) != 0;
  area->huge_only = is_huge_only(policy);
  if (place != Place::Device) area->written.add(0, bytes);
  if (place == Place::Pinned || place == Place::Pageable) std::memset(at, 1, bytes);
  areas_.push_back(std::move(area));
  return *areas_.back();
}

void RandomProgram::fill(Area& area) {
  if (area.is_on_device()) use(area.device);
  if (area.is_on_host())
    std::memset(area.at, static_cast<int>(pick(256)), area.bytes);
  else
    MUST(aclrtMemset(area.at, area.bytes, static_cast<int>(pick(256)), area.bytes));
  area.written.add(0, area.bytes);
}

void RandomProgram::give_back(Area& area) {
  switch (area.place) {
    case Place::Mapped:
      end_mapping(area);
      break;
    case Place::Device:
    case Place::Managed:
      MUST(has(kWide) && pick(4) == 0 ? aclrtFreeWithDevSync(area.at) : aclrtFree(area.at));
      break;
    case Place::Pinned:
      MUST(pick(4) == 0 ? aclrtFree(area.at) : aclrtFreeHost(area.at));  // M-116
      break;
    case Place::Registered:
      MUST(aclrtHostUnregister(area.at));
      std::free(area.at);
      break;
    default:
      std::free(area.at);
  }
  forget(area);
}

void RandomProgram::forget(const Area& area) {
  std::erase_if(areas_, [&](const auto& each) { return each.get() == &area; });
}

void RandomProgram::make_mapping(std::size_t pieces) {
  const aclrtPhysicalMemProp what = huge_pages_of(device_);
  void* at = nullptr;
  MUST(aclrtReserveMemAddress(&at, pieces * kGranule, 0, nullptr, 0));
  auto area = std::make_unique<Area>(
      Area{Place::Mapped, device_, static_cast<char*>(at), pieces * kGranule, false, false, {}, {}, {}});
  for (std::size_t i = 0; i < pieces; ++i) {
    aclrtDrvMemHandle memory = nullptr;
    char* const here = area->at + i * kGranule;
    MUST(aclrtMallocPhysical(&memory, kGranule, &what, 0));
    const bool ask = pick(2) == 0;
    MUST(ask ? aclrtMemMapNoAccess(here, kGranule, 0, memory, 0) : aclrtMapMem(here, kGranule, 0, memory, 0));
    aclrtMemAccessDesc access{};
    access.location = what.location;
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    if (ask) MUST(aclrtMemSetAccess(here, kGranule, &access, 1));
    const bool at_once = pick(3) == 0;  // the mapping keeps it (V-130)
    if (at_once) MUST(aclrtFreePhysical(memory));
    area->pieces.push_back(at_once ? nullptr : memory);
  }
  areas_.push_back(std::move(area));
}

void RandomProgram::end_mapping(Area& area) {
  for (std::size_t i = 0; i < area.pieces.size(); ++i) {
    MUST(aclrtUnmapMem(area.at + i * kGranule));
    if (area.pieces[i] != nullptr) MUST(aclrtFreePhysical(area.pieces[i]));
  }
  MUST(aclrtReleaseMemAddress(area.at));
}

Stream& RandomProgram::make_stream() {
  aclrtStream handle = nullptr;
  MUST(aclrtCreateStream(&handle));
  streams_.push_back(std::make_unique<Stream>(Stream{streams_made_++, device_, handle}));
  return *streams_.back();
}

Stream& RandomProgram::any_stream() {
  std::vector<Stream*> found;
  for (const auto& each : streams_) {
    if (each->device == device_) found.push_back(each.get());
  }
  return found.empty() ? make_stream() : *found[pick(found.size())];
}

void RandomProgram::forget(const Stream& stream) {
  std::erase_if(streams_, [&](const auto& each) { return each.get() == &stream; });
}

void RandomProgram::submitted(Stream& stream, const std::vector<Area*>& read,
                              const std::vector<Area*>& written) {
  stream.known.learn(known_);
  stream.known.reach(stream.number, ++stream.position);
  const auto note = [&](Area& area, bool writes) {
    std::erase_if(area.uses, [&](const Use& use) { return known_.at(use.stream) >= use.position; });
    area.uses.push_back({stream.number, stream.position, writes});
  };
  for (Area* each : read) note(*each, false);
  for (Area* each : written) note(*each, true);
}

void RandomProgram::wait_for(Stream& stream) {
  use(stream.device);
  MUST(aclrtSynchronizeStream(stream.handle));
  known_.learn(stream.known);
}

void RandomProgram::wait_for_all() {
  for (const auto& each : streams_) wait_for(*each);
}

// --- choices --------------------------------------------------------------------------------------------

Stream* RandomProgram::choose_stream() {
  if (!has(kStreams) || streams_.empty()) return nullptr;
  Stream* stream = streams_[pick(streams_.size())].get();
  use(stream->device);
  return stream;
}

// Memory that a call may use now, or queue on the stream.
Area* RandomProgram::choose_for(Stream* stream, bool writes, const std::function<bool(const Area&)>& fits) {
  return choose([&](const Area& area) {
    if (area.read_only || (area.is_on_device() && area.device != device_)) return false;
    if (stream != nullptr && area.place == Place::Pageable) return false;  // it would wait (M-265)
    Clock known = known_;
    if (stream != nullptr) known.learn(stream->known);
    return area.is_free_for(known, writes) && fits(area);
  });
}

std::size_t RandomProgram::some(std::size_t most) {
  return pick(4) == 0 ? most : 1 + pick(std::min<std::size_t>(most, 3000));
}

// Part of what is written, or nothing.
bool RandomProgram::pick_written(const Area& area, Bytes::Run& range) {
  const std::vector<Bytes::Run> runs = area.written.runs();
  if (runs.empty()) return false;
  range = runs[pick(runs.size())];
  if (pick(2) == 0) range.start += pick(range.end - range.start);
  return true;
}

aclrtMemcpyKind RandomProgram::kind(const Area& to, const Area& from) {
  if (to.place == Place::Managed || from.place == Place::Managed || pick(5) == 0) return ACL_MEMCPY_DEFAULT;
  if (from.is_on_host()) return to.is_on_host() ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  return to.is_on_host() ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
}

void RandomProgram::touched(Stream* stream, const std::vector<Area*>& read,
                            const std::vector<Area*>& written) {
  if (stream != nullptr) submitted(*stream, read, written);
}

void RandomProgram::wrote(Area& to, std::size_t start, const Area& from, std::size_t begin,
                          std::size_t bytes) {
  if (to.is_on_device() && from.is_on_device())
    to.written.carry(start, from.written, begin, bytes);
  else
    to.written.add(start, start + bytes);
}

// --- steps ----------------------------------------------------------------------------------------------

void RandomProgram::step() {
  if (pick(4) == 0) use(any_device());
  Stream* const stream = pick(2) == 0 ? choose_stream() : nullptr;
  switch (pick(20)) {
    case 0:
    case 1:
    case 2:
      return make_something();
    case 3:
    case 4:
      return give_something_back();
    case 5:
      return change_host_memory();
    case 6:
    case 7:
      return fill_some(stream);
    case 8:
    case 9:
    case 10:
    case 11:
      return copy(stream);
    case 12:
      return pick(4) == 0 ? copy_through_buffer(stream) : copy_rows(stream);
    case 13:
      return copy_batch(stream);
    case 14:
      return pick(2) == 0 ? send_word() : prefetch();
    case 15:
      return pick(3) == 0 ? call_back() : record();
    case 16:
      return wait_for_event();
    case 17:
      return learn();
    default:
      return make_or_end_objects();
  }
}

void RandomProgram::make_something() {
  constexpr std::size_t kMostAreas = 16;
  if (areas_.size() >= kMostAreas) return;
  static constexpr std::size_t kLarge[] = {64, 4096, 100'000, kGranule - 32, kGranule};
  const std::size_t bytes = pick(3) == 0 ? kLarge[pick(std::size(kLarge))] : 1 + pick(9000);
  static constexpr aclrtMemMallocPolicy kPolicies[] = {
      ACL_MEM_MALLOC_HUGE_FIRST,         ACL_MEM_MALLOC_NORMAL_ONLY,     ACL_MEM_MALLOC_HUGE_ONLY,
      ACL_MEM_MALLOC_HUGE_FIRST_P2P,     ACL_MEM_MALLOC_NORMAL_ONLY_P2P, ACL_MEM_TYPE_LOW_BAND_WIDTH,
      ACL_MEM_ACCESS_USER_SPACE_READONLY};
  switch (pick(8)) {
    case 0:
      if (has(kVirtual)) make_mapping(1 + pick(3));
      return;
    case 1:
      make(Place::Managed, bytes);
      return;
    case 2:
      make(Place::Pinned, bytes);
      return;
    case 3:
      make(Place::Registered, bytes);
      return;
    case 4:
      make(Place::Pageable, bytes);
      return;
    default: {
      aclrtMemMallocPolicy policy = kPolicies[pick(std::size(kPolicies))];
      // A few of them leave less empty than is worth a word (wasted-pages).
      const auto huge = std::ranges::count_if(areas_, [](const auto& each) { return each->huge_only; });
      if (is_huge_only(policy) && huge >= 2) policy = ACL_MEM_MALLOC_HUGE_FIRST;
      make(Place::Device, bytes, policy);
    }
  }
}

void RandomProgram::give_something_back() {
  Area* area = choose([&](const Area& each) { return each.is_free_for(known_, true); });
  if (area != nullptr) give_back(*area);
}

void RandomProgram::change_host_memory() {
  Area* area =
      choose([&](const Area& each) { return !each.is_on_device() && each.is_free_for(known_, true); });
  if (area == nullptr) return;
  std::memset(area->at, static_cast<int>(pick(256)), 1 + pick(area->bytes));
}

void RandomProgram::fill_some(Stream* stream) {
  Area* to =
      choose_for(stream, true, [&](const Area& area) { return stream == nullptr || area.is_on_device(); });
  if (to == nullptr) return;
  const int value = static_cast<int>(pick(256));
  const bool words =
      to->bytes >= 8 && to->place != Place::Pageable && to->place != Place::Managed && pick(3) == 0;
  std::size_t start = pick(to->bytes);
  if (words) start = std::min(start, to->bytes - 8) / 4 * 4;
  std::size_t bytes = some(to->bytes - start);
  if (words) bytes = std::max<std::size_t>(bytes / 4 * 4, 4);
  char* const at = to->at + start;
  const std::size_t most = pick(2) == 0 ? bytes : to->bytes - start;
  if (words && stream != nullptr)
    MUST(aclrtMemsetD32Async(at, most, static_cast<std::uint32_t>(value), bytes / 4, stream->handle));
  else if (words)
    MUST(aclrtMemsetD32(at, most, static_cast<std::uint32_t>(value), bytes / 4));
  else if (stream != nullptr)
    MUST(aclrtMemsetAsync(at, most, value, bytes, stream->handle));
  else
    MUST(aclrtMemset(at, most, value, bytes));
  to->written.add(start, start + bytes);
  touched(stream, {}, {to});
}

void RandomProgram::copy(Stream* stream) {
  Area* to = choose_for(stream, true, [](const Area&) { return true; });
  Area* from = choose_for(stream, false, [&](const Area& area) {
    return &area != to && to != nullptr && (stream == nullptr || area.is_on_device() || to->is_on_device());
  });
  if (from == nullptr) return;
  // What nobody wrote may go from one place on the device to another.
  Bytes::Run range{pick(from->bytes), from->bytes};
  if (!(to->is_on_device() && from->is_on_device()) && !pick_written(*from, range)) return;
  const std::size_t start = pick(3) == 0 ? pick(to->bytes) : 0;
  const std::size_t bytes = some(std::min(to->bytes - start, range.end - range.start));
  const std::size_t room = pick(2) == 0 ? bytes : to->bytes - start;
  char *const target = to->at + start, *const source = from->at + range.start;
  if (stream != nullptr)
    MUST(aclrtMemcpyAsync(target, room, source, bytes, kind(*to, *from), stream->handle));
  else
    MUST(aclrtMemcpy(target, room, source, bytes, kind(*to, *from)));
  wrote(*to, start, *from, range.start, bytes);
  touched(stream, {from}, {to});
}

// What is copied is taken during the call (M-269).
void RandomProgram::copy_through_buffer(Stream* stream) {
  if (stream == nullptr) return;
  Area* to = choose_for(stream, true, [](const Area& area) { return area.is_on_device(); });
  Area* from = choose_for(nullptr, false, [](const Area& area) { return area.is_on_host(); });
  if (to == nullptr || from == nullptr) return;
  const std::size_t bytes = some(std::min(to->bytes, from->bytes));
  MUST(
      aclrtMemcpyAsync(to->at, to->bytes, from->at, bytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream->handle));
  to->written.add(0, bytes);
  submitted(*stream, {}, {to});
}

void RandomProgram::copy_rows(Stream* stream) {
  const bool down = pick(2) == 0;
  Area* to = choose_for(stream, true,
                        [&](const Area& area) { return down ? area.is_on_host() : area.is_on_device(); });
  Area* from = choose_for(stream, false, [&](const Area& area) {
    return &area != to &&
           (down || (stream != nullptr && pick(2) == 0) ? area.is_on_device() : area.is_on_host());
  });
  Bytes::Run range{};
  if (to == nullptr || from == nullptr || !pick_written(*from, range)) return;
  const std::size_t width = 1 + pick(200), height = 1 + pick(8);
  const std::size_t to_pitch = width + pick(60), from_pitch = width + pick(60);
  const std::size_t start = pick(2) == 0 ? pick(to->bytes) : 0;
  if ((height - 1) * to_pitch + width > to->bytes - start) return;
  if ((height - 1) * from_pitch + width > range.end - range.start) return;
  const aclrtMemcpyKind way = down                 ? ACL_MEMCPY_DEVICE_TO_HOST
                              : from->is_on_host() ? ACL_MEMCPY_HOST_TO_DEVICE
                                                   : ACL_MEMCPY_DEVICE_TO_DEVICE;
  char *const target = to->at + start, *const source = from->at + range.start;
  if (stream != nullptr)
    MUST(aclrtMemcpy2dAsync(target, to_pitch, source, from_pitch, width, height, way, stream->handle));
  else
    MUST(aclrtMemcpy2d(target, to_pitch, source, from_pitch, width, height, way));
  for (std::size_t i = 0; i < height; ++i)
    wrote(*to, start + i * to_pitch, *from, range.start + i * from_pitch, width);
  touched(stream, {from}, {to});
}

void RandomProgram::copy_batch(Stream* stream) {
  const bool down = pick(2) == 0;
  std::vector<Area*> targets, sources;
  std::vector<void*> to, from;
  std::vector<std::size_t> bytes, starts;
  for (std::size_t i = 1 + pick(3); i > 0; --i) {
    Area* target = choose_for(stream, true, [&](const Area& area) {
      return (down ? area.is_on_host() : area.is_on_device()) && std::ranges::count(targets, &area) == 0;
    });
    Area* source = choose_for(
        stream, false, [&](const Area& area) { return down ? area.is_on_device() : area.is_on_host(); });
    Bytes::Run range{};
    if (target == nullptr || source == nullptr || !pick_written(*source, range)) break;
    targets.push_back(target);
    sources.push_back(source);
    to.push_back(target->at);
    from.push_back(source->at + range.start);
    bytes.push_back(some(std::min(target->bytes, range.end - range.start)));
    starts.push_back(range.start);
  }
  if (to.empty()) return;
  const aclrtMemLocation on_device{static_cast<std::uint32_t>(device_), ACL_MEM_LOCATION_TYPE_DEVICE};
  const aclrtMemLocation on_host{0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtMemcpyBatchAttr way{};
  way.dstLoc = down ? on_host : on_device;
  way.srcLoc = down ? on_device : on_host;
  std::size_t first = 0, failed = 0;
  if (stream != nullptr)
    MUST(aclrtMemcpyBatchAsync(to.data(), bytes.data(), from.data(), bytes.data(), to.size(), &way, &first, 1,
                               &failed, stream->handle));
  else
    MUST(aclrtMemcpyBatch(to.data(), bytes.data(), from.data(), bytes.data(), to.size(), &way, &first, 1,
                          &failed));
  for (std::size_t i = 0; i < targets.size(); ++i) wrote(*targets[i], 0, *sources[i], starts[i], bytes[i]);
  touched(stream, sources, targets);
}

// One stream writes a word, and another one waits for it, which so knows what the first one knows.
void RandomProgram::send_word() {
  Stream* sender = has(kWide) ? choose_stream() : nullptr;
  if (sender == nullptr) return;
  Stream& receiver = any_stream();
  Area* area =
      choose_for(sender, true, [](const Area& each) { return each.is_on_device() && each.bytes >= 8; });
  if (area == nullptr) return;
  const std::size_t start = pick(area->bytes - 7) / 8 * 8;
  char* const word = area->at + start;
  MUST(aclrtValueWrite(word, ++words_, 0, sender->handle));
  area->written.add(start, start + 8);
  submitted(*sender, {}, {area});
  receiver.known.learn(sender->known);
  MUST(aclrtValueWait(word, words_, ACL_STREAM_WAIT_VALUE_EQ, receiver.handle));
  submitted(receiver, {area}, {});
}

void RandomProgram::prefetch() {
  Stream* stream = choose_stream();
  Area* area = stream == nullptr
                   ? nullptr
                   : choose_for(stream, false, [](const Area& each) { return each.is_on_device(); });
  if (area == nullptr) return;
  MUST(aclrtCmoAsync(area->at, some(area->bytes), ACL_RT_CMO_TYPE_PREFETCH, stream->handle));
  submitted(*stream, {area}, {});
}

void RandomProgram::call_back() {
  Stream* stream = choose_stream();
  if (stream == nullptr) return;
  MUST(aclrtLaunchHostFunc(
      stream->handle, [](void*) { ++g_calls; }, nullptr));
  submitted(*stream, {}, {});
}

void RandomProgram::record() {
  Stream* stream = choose_stream();
  if (stream == nullptr || events_.empty()) return;
  Event& event = events_[pick(events_.size())];
  if (event.device != device_) return;
  MUST(aclrtRecordEvent(event.handle, stream->handle));
  submitted(*stream, {}, {});
  event.recorded = stream->known;
}

void RandomProgram::wait_for_event() {
  Stream* stream = choose_stream();
  if (stream == nullptr || events_.empty()) return;
  const Event& event = events_[pick(events_.size())];
  if (!event.recorded || event.device != device_) return;
  MUST(aclrtStreamWaitEvent(stream->handle, event.handle));
  stream->known.learn(*event.recorded);
  submitted(*stream, {}, {});
}

// The program waits, or asks.
void RandomProgram::learn() {
  Stream* stream = choose_stream();
  if (stream == nullptr) return;
  switch (pick(5)) {
    case 0:
      return wait_for(*stream);
    case 1: {
      aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
      MUST(aclrtStreamQuery(stream->handle, &status));
      if (status == ACL_STREAM_STATUS_COMPLETE) known_.learn(stream->known);
      return;
    }
    case 2:
      if (!has(kWide)) return;
      MUST(aclrtSynchronizeDevice());
      for (const auto& each : streams_) {
        if (each->device == device_) known_.learn(each->known);
      }
      return;
    default: {
      if (events_.empty()) return;
      const Event& event = events_[pick(events_.size())];
      if (!event.recorded) return;
      use(event.device);
      aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
      if (pick(2) == 0)
        MUST(aclrtSynchronizeEvent(event.handle));
      else
        MUST(aclrtQueryEventStatus(event.handle, &status));
      if (status == ACL_EVENT_RECORDED_STATUS_COMPLETE) known_.learn(*event.recorded);
    }
  }
}

void RandomProgram::make_or_end_objects() {
  if (!has(kStreams)) return;
  if (streams_.size() < 4) {
    const bool has_default = std::ranges::any_of(
        streams_, [&](const auto& each) { return each->handle == nullptr && each->device == device_; });
    if (pick(4) == 0 && !has_default)
      streams_.push_back(std::make_unique<Stream>(Stream{streams_made_++, device_, nullptr}));
    else
      make_stream();
  } else if (events_.size() < 4) {
    aclrtEvent handle = nullptr;
    MUST(aclrtCreateEvent(&handle));
    events_.push_back({device_, handle});
  } else if (pick(3) == 0) {
    destroy(*streams_[pick(streams_.size())]);
  } else {
    const std::size_t at = pick(events_.size());
    MUST(aclrtDestroyEvent(events_[at].handle));
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void RandomProgram::destroy(Stream& stream) {
  use(stream.device);
  if (pick(2) == 0 || stream.handle == nullptr) wait_for(stream);
  if (stream.handle != nullptr) MUST(aclrtDestroyStream(stream.handle));
  known_.learn(stream.known);  // it has waited
  forget(stream);
}

void RandomProgram::end() {
  while (!streams_.empty()) destroy(*streams_.back());
  for (const Event& each : events_) MUST(aclrtDestroyEvent(each.handle));
  events_.clear();
  while (!areas_.empty()) {
    use(areas_.back()->device);
    give_back(*areas_.back());
  }
}

}  // namespace planted
