#include "recording/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "base/words.h"
#include "platform/process.h"
#include "platform/threads.h"
#include "recording/coding.h"

namespace belay::recording {
namespace {

using observe::What;

// Kept for what must not be missing: processes, definitions.
constexpr std::uint64_t kReserve = 16;
// The longest record: all its fields, and parts of all theirs; the text comes on top.
constexpr std::size_t kMostFields = 32 * kMostVarint, kMostPart = 6 * kMostVarint, kMostText = 1024;

std::byte* payload(ChunkHeader* chunk) { return reinterpret_cast<std::byte*>(chunk + 1); }
std::byte* end_of(ChunkHeader* chunk) { return reinterpret_cast<std::byte*>(chunk) + chunk->units * kUnit; }
void set_used(ChunkHeader* chunk, const std::byte* end) {
  chunk->used.store(static_cast<std::uint64_t>(end - payload(chunk)), std::memory_order_release);
}

template <std::size_t kLetters>
void put_word(std::array<char, kLetters>& to, std::string_view text) {
  std::ranges::copy(text.substr(0, kLetters - 1), to.begin());
}

bool is_task(What what) { return what >= What::Submitted && what <= What::Dropped; }
bool is_plain_block(const observe::Event& event) {
  return event.what <= What::Freed && event.object >= Object::DeviceBlock &&
         event.object <= Object::HostBlock;
}

}  // namespace

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// --- the file -------------------------------------------------------------------------------------

File::~File() {
  if (header_ != nullptr) platform::SharedFile::give_back({reinterpret_cast<std::byte*>(header_), kUnit});
}

std::string File::open(const std::string& path, std::uint64_t limit, bool anew) {
  std::string why;
  const auto prepare = [&](int file, std::uint64_t bytes) {
    FileHeader header{};
    if (bytes != 0) {
      if (platform::SharedFile::read_at(file, 0, static_cast<void*>(&header), sizeof header) !=
              sizeof header ||
          header.magic != kMagic) {
        why = fmt::format("'{}' is there already and is no trace; it was left as it is", path);
        return false;
      }
      if (!anew && (header.version != kVersion || header.unit != kUnit)) {
        why =
            fmt::format("'{}' is a trace of another version of belay; remove it, or name another file", path);
        return false;
      }
      if (!anew && std::string_view{header.boot.data(), ::strnlen(header.boot.data(), header.boot.size())} !=
                       platform::boot_id().substr(0, header.boot.size() - 1)) {
        why = fmt::format(
            "'{}' is a trace from before this machine was started; remove it, or name another file", path);
        return false;
      }
      if (!anew) return true;
      platform::SharedFile::cut(file, 0);
    }
    new (&header) FileHeader{};
    header.magic = kMagic;
    header.version = kVersion;
    header.unit = kUnit;
    header.limit_units = std::max(limit, kLeastLimit) / kUnit;
    header.clock_ns = now_ns();
    header.wall_ns = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                    std::chrono::system_clock::now().time_since_epoch())
                                                    .count());
    put_word(header.boot, platform::boot_id());
    header.next_unit = 1;
    std::vector<std::byte> unit(kUnit);
    std::memcpy(unit.data(), static_cast<const void*>(&header), sizeof header);
    if (platform::SharedFile::write_at(file, 0, unit.data(), unit.size())) return true;
    why = fmt::format("'{}' cannot be written: there is no room for it", path);
    return false;
  };
  switch (file_.open(platform::SharedFile::full_path(path), prepare)) {
    case platform::SharedFile::Opened::Refused:
      return fmt::format("'{}' cannot be made or written", path);
    case platform::SharedFile::Opened::NotAFile:
      return why.empty() ? fmt::format("'{}' is not a file", path) : why;
    case platform::SharedFile::Opened::Done:
      break;
  }
  return map_header() ? std::string{} : fmt::format("'{}' cannot be written through memory", path);
}

bool File::map_header() {
  const platform::SharedFile::Piece piece = file_.take(0, kUnit);
  header_ = reinterpret_cast<FileHeader*>(piece.start);
  if (header_ != nullptr) limit_ = header_->limit_units;
  return header_ != nullptr;
}

std::uint64_t File::units_left() const { return limit_ - std::min(header_->next_unit.load(), limit_); }

std::uint64_t File::level() const {
  const std::uint64_t left = units_left();
  if (left <= kReserve) return Thinning::kNothing;
  return static_cast<std::uint64_t>(std::bit_width(limit_ / left)) - 1;  // half is left: 1; a quarter: 2
}

ChunkHeader* File::take(ChunkKind kind, std::uint32_t process, std::uint32_t units, bool reserve) {
  if (header_ == nullptr) return nullptr;
  std::uint64_t at = header_->next_unit.load();
  do {
    if (at + units + (reserve ? 0 : kReserve) > limit_) return nullptr;
  } while (!header_->next_unit.compare_exchange_weak(at, at + units));
  const platform::SharedFile::Piece piece = file_.take(at * kUnit, units * kUnit);
  if (piece.start == nullptr) {
    std::uint64_t after = at + units;  // so that nothing seems to be missing there
    header_->next_unit.compare_exchange_strong(after, at);
    return nullptr;
  }
  return new (piece.start) ChunkHeader{kChunkMagic, kind, {}, process, 0, 0, units, 0, 0};
}

void File::give_back(ChunkHeader* chunk) {
  if (chunk != nullptr)
    platform::SharedFile::give_back({reinterpret_cast<std::byte*>(chunk), chunk->units * kUnit});
}

bool File::append(ChunkKind kind, std::uint32_t process, const void* from, std::size_t bytes) {
  const auto units = static_cast<std::uint32_t>((bytes + sizeof(ChunkHeader) + kUnit - 1) / kUnit);
  ChunkHeader* chunk = take(kind, process, units, true);
  if (chunk == nullptr) return false;
  std::memcpy(payload(chunk), from, bytes);
  set_used(chunk, payload(chunk) + bytes);
  give_back(chunk);
  return true;
}

// --- a process ------------------------------------------------------------------------------------

ProcessLog::ProcessLog(File& file, const ProcessStart& start, TellSite tell_site)
    : file_{&file}, tell_site_{tell_site} {
  number_ = static_cast<std::uint32_t>(file.header().processes.fetch_add(1));
  head_ = file.take(ChunkKind::Process, number_, kProcessUnits, true);
  if (head_ == nullptr) {
    ++file.header().turned_away;
    return;
  }
  place_ = new (payload(head_)) ProcessPlace{};
  place_->process = start.process;
  place_->parent = start.parent;
  place_->start = start.start;
  place_->began_ns = start.began_ns;
  put_word(place_->name, start.name);
  put_word(place_->soc, start.soc);
  put_word(place_->family, start.family);
  put_word(place_->product, start.product);
  put_word(place_->form, start.form);
  place_->stacks = start.stacks;
  place_->devices = static_cast<std::uint32_t>(std::min(start.device_bytes.size(), kMostDevices));
  for (std::size_t i = 0; i < place_->devices; ++i) {
    place_->device_bytes[i] = start.device_bytes[i];
    place_->visible[i] = i < start.visible.size() ? start.visible[i] : static_cast<std::uint8_t>(i);
  }
  set_used(head_, reinterpret_cast<std::byte*>(place_ + 1));
}

ProcessLog::~ProcessLog() {
  for (Lane& lane : lanes_) File::give_back(lane.chunk_);
  for (ChunkHeader* ring : rings_) File::give_back(ring);
  File::give_back(definitions_);
  File::give_back(head_);
}

void ProcessLog::end(std::uint64_t time_ns) {
  if (place_ != nullptr) place_->ended_ns.store(time_ns);
}

// --- what it defines ------------------------------------------------------------------------------

std::byte* ProcessLog::definition(std::size_t bytes) {
  if (definitions_ != nullptr) {
    std::byte* at = payload(definitions_) + definitions_->used.load(std::memory_order_relaxed);
    if (at + bytes <= end_of(definitions_)) return at;
  }
  const auto units = static_cast<std::uint32_t>((bytes + sizeof(ChunkHeader) + kUnit - 1) / kUnit);
  ChunkHeader* chunk = file_->take(ChunkKind::Definitions, number_, units, true);
  if (chunk == nullptr) return nullptr;
  chunk->sequence = definition_chunks_++;
  File::give_back(std::exchange(definitions_, chunk));
  return payload(chunk);
}

void ProcessLog::defined(std::byte* to) { set_used(definitions_, to); }

std::uint32_t ProcessLog::text_locked(std::string_view text) {
  text = text.substr(0, 4096);
  if (text.empty()) return 0;
  if (const auto found = texts_.find(text); found != texts_.end()) return found->second;
  std::byte* to = definition(text.size() + 2 * kMostVarint);
  if (to == nullptr) return 0;
  const auto number = static_cast<std::uint32_t>(texts_.size() + 1);
  texts_.emplace(text, number);
  defined(put_text(put(to, static_cast<std::uint64_t>(Definition::Text)), text));
  return number;
}

void ProcessLog::define_site(std::uint32_t site, const char* function, std::span<const SiteFrame> frames) {
  struct Coded {
    std::uint64_t kind, a, b, c;
  };
  std::vector<Coded> coded;
  for (const SiteFrame& each : frames) {
    if (!each.function.empty()) {
      coded.push_back({0, text_locked(each.function), text_locked(each.file), each.line});
      continue;
    }
    std::uint32_t module = 0;
    if (!each.module_path.empty()) {
      const auto [found, is_new] =
          modules_.try_emplace({std::string{each.module_path}, std::string{each.build_id}}, 0);
      if (is_new) {
        const std::uint32_t path = text_locked(each.module_path), build_id = text_locked(each.build_id);
        if (std::byte* to = definition(3 * kMostVarint)) {
          defined(put(put(put(to, static_cast<std::uint64_t>(Definition::Module)), path), build_id));
          found->second = static_cast<std::uint32_t>(modules_.size());
        } else {
          modules_.erase(found);
          return;
        }
      }
      module = found->second;
    }
    coded.push_back({module + 1U, each.offset, 0, 0});
  }
  const std::uint32_t name = text_locked(function);
  std::byte* to = definition((4 + 4 * coded.size()) * kMostVarint);
  if (to == nullptr) return;
  to = put(put(put(put(to, static_cast<std::uint64_t>(Definition::Site)), site), name), coded.size());
  for (const Coded& each : coded) {
    to = put(put(to, each.kind), each.a);
    if (each.kind == 0) to = put(put(to, each.b), each.c);
  }
  defined(to);
}

// UINT32_MAX: there is no room for it.
std::uint32_t ProcessLog::define_shape(const observe::Event& event, std::uint32_t fields) {
  const std::lock_guard lock{defining_};
  const std::uint32_t text = text_locked(event.function_name());
  if (event.site != 0 && sites_.try_emplace(event.site, true).second && tell_site_ != nullptr)
    tell_site_(event.site, *this);
  const auto [found, is_new] = shapes_.try_emplace({event.first_word(), text, event.site, fields},
                                                   static_cast<std::uint32_t>(shapes_.size()));
  if (is_new) {
    std::byte* to = definition(5 * kMostVarint);
    if (to == nullptr) {
      shapes_.erase(found);
      return UINT32_MAX;
    }
    to = put(put(to, static_cast<std::uint64_t>(Definition::Shape)), event.first_word());
    defined(put(put(put(to, event.site), text), fields));
  }
  return found->second;
}

std::uint32_t ProcessLog::text_of(const char* text) {
  const std::lock_guard lock{defining_};
  return text_locked(text);
}

// --- lanes and rings ------------------------------------------------------------------------------

std::pair<Lane*, Lane*> ProcessLog::take_lanes() {
  const std::lock_guard lock{defining_};
  if (!idle_lanes_.empty()) {
    const std::pair<Lane*, Lane*> lanes = idle_lanes_.back();
    idle_lanes_.pop_back();
    return lanes;
  }
  idle_lanes_.reserve(lanes_.size() / 2 + 1);
  const auto make = [this] {
    Lane& lane = lanes_.emplace_back(*this);
    lane.number_ = static_cast<std::uint32_t>(lanes_.size());
    return &lane;
  };
  Lane* first = make();
  return {first, make()};
}

void ProcessLog::give_lanes(Lane& first, Lane& second) {
  const std::lock_guard lock{defining_};
  idle_lanes_.emplace_back(&first, &second);
}

void* ProcessLog::take_ring(std::size_t bytes) {
  const std::lock_guard lock{defining_};
  ChunkHeader* ring = nullptr;
  if (!idle_rings_.empty()) {
    ring = idle_rings_.back();
    idle_rings_.pop_back();
  } else {
    idle_rings_.reserve(rings_.size() + 1);
    rings_.reserve(rings_.size() + 1);
    const auto units = static_cast<std::uint32_t>((bytes + sizeof(ChunkHeader) + kUnit - 1) / kUnit);
    ring = file_->take(ChunkKind::Ring, number_, units, false);
    if (ring == nullptr) return nullptr;
    rings_.push_back(ring);
  }
  ring->used.store(bytes);
  return payload(ring);
}

bool ProcessLog::give_ring(void* ring) {
  const std::lock_guard lock{defining_};
  auto* chunk = static_cast<ChunkHeader*>(ring) - 1;
  if (std::ranges::find(rings_, chunk) == rings_.end()) return false;
  chunk->used.store(0);
  idle_rings_.push_back(chunk);
  return true;
}

void ProcessLog::put_ring(const void* ring, std::size_t bytes) {
  if (void* place = take_ring(bytes)) std::memcpy(place, ring, bytes);
}

// --- what is left out -------------------------------------------------------------------------------

void ProcessLog::add_thinning(const Thinning& thinning) {
  const std::uint64_t count = place_->thinnings.load();
  if (count == kMostThinnings) return;
  place_->thinning[count] = thinning;
  place_->thinnings.store(count + 1, std::memory_order_release);
  thinnings_.store(count + 1, std::memory_order_release);
}

void ProcessLog::keep_within_limit(std::uint64_t time_ns) {
  if (!good() || is_full_.load(std::memory_order_relaxed)) return;
  const std::uint64_t level = file_->level(), count = thinnings_.load();
  if (level == 0 || level == Thinning::kNothing || (count != 0 && place_->thinning[count - 1].level >= level))
    return;
  // Whether a block is written down depends on its number alone, so that its end is if its beginning was. No
  // event with a number from there on may have passed before this is known: so nobody is in a lane meanwhile.
  const std::lock_guard lock{defining_};
  held_.store(true);
  if (!platform::is_only_thread() && !platform::barrier_on_all_threads()) platform::sleep_briefly();
  bool is_quiet = true;
  for (const Lane& lane : lanes_) {
    // Who is in one may be waiting for this lock. Then another time.
    for (unsigned tries = 0; lane.busy_.load(std::memory_order_acquire) && tries < 1000; ++tries)
      platform::pause();
    is_quiet = is_quiet && !lane.busy_.load(std::memory_order_acquire);
  }
  if (!is_quiet) {
    held_.store(false);
    return;
  }
  Thinning thinning{0, 0, level, time_ns};
  for (const Lane& lane : lanes_) {
    thinning.from = std::max(thinning.from, lane.most_serial_ + 1);
    thinning.from_task = std::max(thinning.from_task, lane.most_task_ + 1);
  }
  add_thinning(thinning);
  held_.store(false, std::memory_order_release);
}

void ProcessLog::note_full(std::uint64_t time_ns) {
  if (is_full_.exchange(true)) return;
  const std::lock_guard lock{defining_};
  add_thinning({0, 0, Thinning::kNothing, time_ns});
}

bool ProcessLog::is_left_out(const observe::Event& event, std::uint64_t& turn) const {
  const std::uint64_t count = thinnings_.load(std::memory_order_acquire);
  const bool task = is_task(event.what), moved = event.what == What::Copied || event.what == What::Filled;
  if (!task && !moved && !is_plain_block(event)) return false;
  std::uint64_t level = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Thinning& each = place_->thinning[i];
    if (each.level != Thinning::kNothing && (moved || event.serial >= (task ? each.from_task : each.from)))
      level = each.level;
  }
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;
  if (level == 0 || event.bytes >> level >= kLarge) return false;
  const std::uint64_t number = moved ? ++turn : event.serial;
  return (number * 0x9E3779B97F4A7C15U) >> 32 & ((std::uint64_t{1} << level) - 1);
}

void ProcessLog::count_left_out(const observe::Event& event, const std::array<std::uint64_t, kWays>& moved) {
  if (place_ == nullptr) return;
  const auto add = [](std::atomic<std::uint64_t>& to, std::uint64_t some) {
    to.fetch_add(some, std::memory_order_relaxed);
  };
  const auto count = [&](Counted& to, std::uint64_t bytes) {
    add(to.times, 1);
    add(to.bytes, bytes);
  };
  Omitted& omitted = place_->omitted;
  add(omitted.events[static_cast<std::size_t>(event.what) % omitted.events.size()], 1);
  const bool physical = event.object == Object::Physical || event.object == Object::HostPhysical;
  if (event.what <= What::Freed && (physical || is_plain_block(event))) {
    const bool host = event.object == Object::HostBlock || event.object == Object::HostPhysical;
    const unsigned page = event.page_shift < 21 ? 0 : event.page_shift < 30 ? 1 : 2;
    Omitted::Blocks& blocks = omitted.blocks[host ? kHostPlace : event.device % kMostDevices][page];
    count(event.what == What::Allocated ? blocks.made : blocks.freed, event.bytes);
    add(event.what == What::Allocated ? blocks.charged : blocks.returned, event.footprint());
  } else if (event.what == What::Copied || (event.what == What::Done && is_copy(event.operation))) {
    for (std::size_t i = 0; i < kWays; ++i) {
      if (moved[i] != 0) count(omitted.moved[i], moved[i]);
    }
  } else if (event.what == What::Filled ||
             (event.what == What::Done && event.operation == observe::Operation::Fill)) {
    count(omitted.moved[kWays], event.bytes);
  }
}

// --- a lane ---------------------------------------------------------------------------------------

// A plain store, and no locked instruction: after a copy that would wait for all that the copy has written.
// Whoever wants nobody in a lane asks all threads for a barrier.
void Lane::begin(std::uint32_t thread) {
  while (true) {
    busy_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!log_->held_.load(std::memory_order_acquire)) [[likely]]
      break;
    busy_.store(false, std::memory_order_release);
    std::this_thread::yield();
  }
  if (thread == thread_) return;
  thread_ = thread;
  if (chunk_ == nullptr || !room_for(2 * kMostVarint)) return;  // a new chunk begins with it
  at_ = put(put(at_, kThreadRecord), thread);
}

void Lane::end() {
  if (chunk_ != nullptr) set_used(chunk_, at_);
  busy_.store(false, std::memory_order_release);
}

bool Lane::new_chunk(std::size_t bytes) {
  const auto most =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(log_->file().units_left() / 16, 1, 16));
  const auto least =
      static_cast<std::uint32_t>((bytes + sizeof(ChunkHeader) + 2 * kMostVarint + kUnit - 1) / kUnit);
  ChunkHeader* chunk = log_->is_full_.load(std::memory_order_relaxed)
                           ? nullptr
                           : log_->file().take(ChunkKind::Events, log_->number(),
                                               std::max(std::min(units_, most), least), false);
  if (chunk == nullptr) return false;
  units_ = std::min<std::uint32_t>(units_ * 4, 16);
  if (chunk_ != nullptr) set_used(chunk_, at_);
  File::give_back(std::exchange(chunk_, chunk));
  chunk->lane = number_;
  chunk->sequence = sequence_++;
  time_.store(std::max(last_ns(), log_->place().began_ns), std::memory_order_relaxed);
  chunk->time_ns = last_ns();
  serial_ = address_ = extent_ = host_ = stream_ = position_ = 0;
  at_ = payload(chunk);
  end_ = end_of(chunk);
  if (thread_ != 0) at_ = put(put(at_, kThreadRecord), thread_);
  return true;
}

bool Lane::room_for(std::size_t bytes) {
  return (chunk_ != nullptr && at_ + bytes <= end_) || new_chunk(bytes);
}

// How much later than the record before; as the chunk may be a new one, after there is room.
std::uint64_t Lane::take_time(std::uint64_t time_ns) {
  const std::uint64_t last = last_ns(), later = time_ns > last ? time_ns - last : 0;
  time_.store(last + later, std::memory_order_relaxed);
  return later;
}

std::uint32_t Lane::shape_of(const observe::Event& event, std::uint32_t fields) {
  const std::uint64_t word = event.first_word();
  Shape& shape = shapes_[place_of(word, event.site, fields)];
  const char* function = event.function_name();
  if (shape.word != word || shape.function != function || shape.site != event.site ||
      shape.fields != fields || shape.number == UINT32_MAX) [[unlikely]]
    shape = {word, function, event.site, fields, log_->define_shape(event, fields)};
  return shape.number;
}

void Lane::write_block(const observe::Event& event, std::uint64_t time_ns) {
  const std::uint64_t word = event.first_word();
  const Shape& shape = shapes_[place_of(word, event.site, kBlockFields)];
  constexpr std::size_t kMostBlock = 6 * kMostVarint;
  if (shape.word != word || shape.site != event.site || shape.fields != kBlockFields ||
      shape.number == UINT32_MAX || event.operation < observe::Operation::Malloc ||
      log_->thinnings_.load(std::memory_order_relaxed) != 0 || chunk_ == nullptr || at_ + kMostBlock > end_)
      [[unlikely]]
    return write(event, nullptr, {}, {}, time_ns);
  most_serial_ = std::max(most_serial_, event.serial);
  std::byte* to = put(at_, kFirstShape + shape.number);
  to = put(to, take_time(time_ns));
  to = put(to, fold(event.serial - std::exchange(serial_, event.serial)));
  to = put_near(to, event.address, std::exchange(address_, event.address));
  to = put(to, event.bytes);
  at_ = put(to, fold(event.units - likely_pages(event.bytes, event.page_shift)));
}

void Lane::write(const observe::Event& told, const observe::Details* details,
                 std::span<const observe::Touch> touches, std::string_view text, std::uint64_t time_ns) {
  if (told.what > What::Marked) return;
  observe::Event event = told;
  event.flags &= static_cast<std::uint8_t>(~observe::Event::kHasDetails);
  const bool task = is_task(event.what);
  (task ? most_task_ : most_serial_) = std::max(task ? most_task_ : most_serial_, event.serial);

  const bool block = event.what <= What::Freed;
  std::uint32_t fields = block ? kBlockFields : 0;
  std::array<std::uint64_t, kWays> moved{};
  std::size_t parts = 0;
  if (!block || details != nullptr) {
    const auto field = [&](Field which, bool there) { fields |= there ? std::uint32_t{which} : 0; };
    const bool begun = event.what == What::Begun;
    const bool tells_parts = !touches.empty() && (!task || event.what == What::Submitted);
    parts = tells_parts ? std::min(touches.size(), kMostTouches) : 0;
    if (event.what == What::Copied || is_copy(event.operation)) {
      for (std::size_t i = 0; i + 1 < touches.size(); i += 2) {
        if (touches[i].writes && !touches[i + 1].writes)
          moved[(touches[i + 1].on_device ? 2U : 0U) + (touches[i].on_device ? 1U : 0U)] +=
              touches[i].bytes * touches[i].rows;
      }
    }
    field(kHasSerial, event.serial != 0);
    field(kHasAddress, event.address != 0 && !tells_parts);
    field(kHasBytes, event.bytes != 0 && !begun);
    field(kHasPages, event.units != 0);
    field(kHasOutcome, event.outcome != 0);
    field(kHasTouches, parts != 0);
    field(kHasWays, (event.what == What::Done || parts != touches.size()) && !begun &&
                        moved != std::array<std::uint64_t, kWays>{});
    field(kHasText, !text.empty());
    if (details != nullptr) {
      field(kHasStream, details->stream != 0);
      field(kHasPosition, details->position != 0);
      field(kHasRecord, details->record != 0 && !begun);
      field(kHasObject, details->object != 0 && !begun);
      field(kHasValue, details->value != 0 && (!task || event.what == What::Submitted));
      field(kHasCaller, details->caller != 0);
      field(kHasRule, *details->rule != '\0');
      field(kHasFlag, details->flag != 0 && (!task || event.what == What::Submitted));
    }
  }
  text = text.substr(0, kMostText);
  if (!log_->good()) return;
  if (log_->thinnings_.load(std::memory_order_relaxed) != 0 && log_->is_left_out(event, turn_)) [[unlikely]]
    return log_->count_left_out(event, moved);
  const std::uint32_t shape = shape_of(event, fields);
  if (shape == UINT32_MAX || !room_for(kMostFields + parts * kMostPart + text.size())) [[unlikely]] {
    log_->note_full(time_ns);
    return log_->count_left_out(event, moved);
  }

  std::byte* to = put(at_, kFirstShape + shape);
  to = put(to, take_time(time_ns));
  if ((fields & kHasSerial) != 0) to = put(to, fold(event.serial - std::exchange(serial_, event.serial)));
  if ((fields & kHasAddress) != 0) to = put_near(to, event.address, std::exchange(address_, event.address));
  if ((fields & kHasBytes) != 0) to = put(to, event.bytes);
  if ((fields & kHasPages) != 0)
    to = put(to,
             fold(event.units - likely_pages((fields & kHasBytes) != 0 ? event.bytes : 0, event.page_shift)));
  if ((fields & ~kBlockFields) == 0) [[likely]] {
    at_ = to;
    return;
  }
  if ((fields & kHasOutcome) != 0)
    to = put(to, fold(static_cast<std::uint64_t>(std::int64_t{event.outcome})));
  if ((fields & kHasStream) != 0)
    to = put(to, fold(details->stream - std::exchange(stream_, details->stream)));
  if ((fields & kHasPosition) != 0)
    to = put(to, fold(details->position - std::exchange(position_, details->position)));
  if ((fields & kHasRecord) != 0) to = put(to, details->record);
  if ((fields & kHasObject) != 0) to = put(to, details->object);
  if ((fields & kHasValue) != 0) to = put(to, details->value);
  if ((fields & kHasCaller) != 0) to = put(put(to, details->caller), details->caller_position);
  if ((fields & kHasRule) != 0) to = put(to, log_->text_of(details->rule));
  if ((fields & kHasFlag) != 0) to = put(to, details->flag);
  if ((fields & kHasWays) != 0) {
    std::uint64_t ways = 0;
    for (std::size_t i = 0; i < kWays; ++i) ways |= moved[i] != 0 ? std::uint64_t{1} << i : 0;
    to = put(to, ways);
    for (const std::uint64_t bytes : moved) to = bytes != 0 ? put(to, bytes) : to;
  }
  if ((fields & kHasTouches) != 0) {
    to = put(to, parts);
    for (const observe::Touch& each : touches.first(parts)) {
      const bool rows = each.rows != 1, whole = each.bytes == event.bytes && (fields & kHasBytes) != 0;
      to = put(to, (each.on_device ? kPartOnDevice : 0) | (each.writes ? kPartWrites : 0) |
                       (rows ? kPartHasRows : 0) | (whole ? kPartIsWhole : 0) |
                       (each.extent != 0 ? kPartIsKnown : 0) | each.device % kMostDevices * kPartDevice);
      if (each.extent != 0)
        to = put(put(to, fold(each.extent - std::exchange(extent_, each.extent))), each.offset);
      else
        to = put_near(to, each.offset, std::exchange(host_, each.offset));
      if (!whole) to = put(to, each.bytes);
      if (rows) to = put(put(to, each.rows), each.pitch);
    }
    to = put(to, touches.size() - parts);
  }
  if ((fields & kHasText) != 0) to = put_text(to, text);
  at_ = to;
}

void Lane::write_figures(std::span<const Figures> figures, std::uint64_t time_ns) {
  if (!log_->good() || !room_for((3 + 8 * figures.size()) * kMostVarint)) return;
  std::byte* to = put(put(put(at_, kFiguresRecord), take_time(time_ns)), figures.size());
  for (const Figures& each : figures) {
    to = put(put(put(to, each.place), each.mine), each.peak);
    for (const std::uint64_t used : each.used) to = put(to, used);
    to = put(put(to, each.free), each.total);
  }
  at_ = to;
}

}  // namespace belay::recording
