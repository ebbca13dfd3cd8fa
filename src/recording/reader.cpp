#include "recording/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/words.h"
#include "observe/ring.h"
#include "recording/coding.h"

namespace belay::recording {
namespace {

constexpr std::size_t kHead = sizeof(ChunkHeader);

template <std::size_t kLetters>
std::string word(const std::array<char, kLetters>& letters) {
  return {letters.data(), ::strnlen(letters.data(), kLetters)};
}

std::uint64_t since(std::uint64_t time, std::uint64_t begin) { return time > begin ? time - begin : 0; }

}  // namespace

// --- opening --------------------------------------------------------------------------------------

std::string Trace::open(const std::string& path) {
  if (const std::string why = file_.open(path); !why.empty())
    return fmt::format("'{}' cannot be read: {}", path, why);
  bytes_ = file_.bytes();
  FileHeader header{};
  if (file_.read(0, static_cast<void*>(&header), sizeof header) != sizeof header || header.magic != kMagic)
    return fmt::format("'{}' is no trace of belay: it does not begin with \"{}\"", path,
                       std::string_view{kMagic.data(), kMagic.size()});
  if (header.version != kVersion || header.unit != kUnit) {
    return fmt::format(
        "'{}' is a trace of version {}, and this belay reads version {}; read it with the belay that "
        "wrote it",
        path, header.version, kVersion);
  }
  clock_ns_ = header.clock_ns;
  wall_ns_ = header.wall_ns;
  limit_ = header.limit_units;
  turned_away_ = header.turned_away.load();
  scan();
  return {};
}

void Trace::scan() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Chunk>> events;
  std::map<std::uint32_t, std::vector<Chunk>> definitions, words;
  std::vector<std::pair<ChunkHeader*, std::uint64_t>> rings;
  std::vector<std::unique_ptr<ChunkHeader>> ring_headers;
  for (std::uint64_t at = kUnit; at + kHead <= bytes_;) {
    alignas(ChunkHeader) std::array<std::byte, kHead> raw{};
    if (file_.read(at, raw.data(), kHead) != kHead) break;
    ChunkHeader header;
    std::memcpy(static_cast<void*>(&header), raw.data(), kHead);
    const std::uint64_t room = std::uint64_t{header.units} * kUnit;
    if (header.magic != kChunkMagic || header.units == 0 || header.kind > ChunkKind::Words ||
        header.used.load() > room - kHead) {
      // Taken by a process that was killed before it wrote anything; or something else.
      if (std::ranges::any_of(raw, [](std::byte each) { return each != std::byte{0}; })) ++strange_units_;
      at += kUnit;
      continue;
    }
    std::uint64_t used = header.used.load();
    if (at + kHead + used > bytes_) {
      cut_off_ += at + kHead + used - bytes_;
      used = bytes_ - at - kHead;
    }
    const Chunk chunk{at + kHead, used, header.time_ns, header.sequence};
    switch (header.kind) {
      case ChunkKind::Process:
        read_process(header, chunk.at);
        break;
      case ChunkKind::Definitions:
        definitions[header.process].push_back(chunk);
        break;
      case ChunkKind::Words:
        words[header.process].push_back(chunk);
        break;
      case ChunkKind::Events:
        events[{header.process, header.lane}].push_back(chunk);
        break;
      case ChunkKind::Ring:
        ring_headers.push_back(std::make_unique<ChunkHeader>());
        std::memcpy(static_cast<void*>(ring_headers.back().get()), raw.data(), kHead);
        rings.emplace_back(ring_headers.back().get(), chunk.at);
        break;
      case ChunkKind::None:
        break;
    }
    at += room;
  }
  const auto in_order = [](std::vector<Chunk>& chunks) {
    std::ranges::stable_sort(chunks, {}, &Chunk::sequence);
  };
  for (auto* kind : {&definitions, &words}) {
    for (auto& [process, chunks] : *kind) {
      if (!process_numbers_.contains(process)) continue;
      in_order(chunks);
      read_definitions(process_numbers_.at(process), chunks);
    }
  }
  for (auto& [who, chunks] : events) {
    if (!process_numbers_.contains(who.first)) {
      damaged_chunks_ += chunks.size();
      continue;
    }
    in_order(chunks);
    lanes_.push_back({process_numbers_.at(who.first), who.second, std::move(chunks)});
  }
  for (const auto& [header, at] : rings) read_ring(*header, at);
}

void Trace::read_process(const ChunkHeader& header, std::uint64_t at) {
  auto place = std::make_unique<ProcessPlace>();
  if (process_numbers_.contains(header.process) ||
      file_.read(at, static_cast<void*>(place.get()), sizeof *place) != sizeof *place) {
    ++damaged_chunks_;
    return;
  }
  process_numbers_[header.process] = static_cast<std::uint32_t>(processes_.size());
  ProcessFacts& facts = processes_.emplace_back();
  numbers_.push_back(header.process);
  shapes_.emplace_back();
  site_numbers_.emplace_back();
  facts.process = place->process;
  facts.parent = place->parent;
  facts.start = place->start;
  facts.began_ns = since(place->began_ns, clock_ns_);
  const std::uint64_t ended = place->ended_ns.load();
  facts.ended_ns = ended == 0 ? 0 : std::max<std::uint64_t>(since(ended, clock_ns_), 1);
  facts.last_ns = std::max(facts.began_ns, facts.ended_ns);
  facts.name = word(place->name);
  facts.soc = word(place->soc);
  facts.family = word(place->family);
  facts.product = word(place->product);
  facts.form = word(place->form);
  facts.stacks = place->stacks;
  const std::uint32_t devices = std::min<std::uint32_t>(place->devices, kMostDevices);
  facts.device_bytes.assign(place->device_bytes.begin(), place->device_bytes.begin() + devices);
  facts.visible.assign(place->visible.begin(), place->visible.begin() + devices);
  facts.lost = place->lost.load();
  const std::uint64_t thinnings = std::min<std::uint64_t>(place->thinnings.load(), kMostThinnings);
  for (std::uint64_t i = 0; i < thinnings; ++i) {
    Thinning each = place->thinning[i];
    each.time_ns = since(each.time_ns, clock_ns_);
    facts.thinning.push_back(each);
  }
  omitted_.push_back(std::make_unique<Omitted>());
  std::memcpy(static_cast<void*>(omitted_.back().get()), static_cast<const void*>(&place->omitted),
              sizeof(Omitted));
  facts.omitted = omitted_.back().get();
}

std::vector<std::byte> Trace::bytes_of(const Chunk& chunk) const {
  std::vector<std::byte> bytes(chunk.used);
  bytes.resize(file_.read(chunk.at, bytes.data(), bytes.size()));
  return bytes;
}

// --- definitions ----------------------------------------------------------------------------------

void Trace::read_definitions(std::uint32_t process, const std::vector<Chunk>& chunks) {
  for (const Chunk& chunk : chunks) {
    kept_.push_back(bytes_of(chunk));
    read_definitions(process, Source{kept_.back().data(), kept_.back().data() + kept_.back().size()});
  }
}

void Trace::read_definitions(std::uint32_t process, Source from) {
  ProcessFacts& facts = processes_[process];
  const auto text = [&]() -> std::uint32_t {
    const std::uint64_t number = from.number();
    if (number >= facts.texts.size()) from.fail();
    return from.good() ? static_cast<std::uint32_t>(number) : 0;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Frame>> words;
  while (!from.at_end()) {
    switch (static_cast<Definition>(from.number())) {
      case Definition::Text:
        facts.texts.push_back(from.text());
        break;
      case Definition::Module: {
        CodeModule module;
        module.path = text();
        module.build_id = text();
        facts.modules.push_back(module);
        break;
      }
      case Definition::Site: {
        const auto number = static_cast<std::uint32_t>(from.number());
        CallSite site;
        site.function = text();
        for (std::uint64_t left = from.number(); left != 0 && from.good(); --left) {
          Frame frame;
          const std::uint64_t kind = from.number();
          frame.is_code = kind != 0;
          if (frame.is_code) {
            if (kind > facts.modules.size()) from.fail();
            frame.module = static_cast<std::uint32_t>(kind - 1);
            frame.offset = from.number();
          } else {
            frame.function = text();
            frame.file = text();
            frame.line = static_cast<std::uint32_t>(from.number());
          }
          if (from.good()) site.frames.push_back(frame);
        }
        if (from.good()) {
          site_numbers_[process].try_emplace(number, static_cast<std::uint32_t>(facts.sites.size()));
          facts.sites.push_back(std::move(site));
        }
        break;
      }
      case Definition::Shape: {
        Shape shape;
        shape.event.set_first_word(from.number());
        const auto site = site_numbers_[process].find(static_cast<std::uint32_t>(from.number()));
        shape.site = site == site_numbers_[process].end() ? 0 : site->second;
        shape.function = text();
        shape.fields = static_cast<std::uint32_t>(from.number());
        if (shape.fields > kAllFields || shape.event.what > observe::What::Marked ||
            shape.event.object > Object::Managed || shape.event.page_shift > 63)
          from.fail();
        if (from.good()) shapes_[process].push_back(shape);
        break;
      }
      case Definition::Words: {  // of a frame of code, which inlined functions make several of
        const auto module = static_cast<std::uint32_t>(from.number());
        const std::uint64_t offset = from.number();
        for (std::uint64_t left = from.number(); left != 0 && from.good(); --left) {
          Frame frame{module, offset, true, 0, 0, 0};
          frame.function = static_cast<std::uint32_t>(facts.texts.size());
          facts.texts.push_back(from.text());
          frame.file = static_cast<std::uint32_t>(facts.texts.size());
          facts.texts.push_back(from.text());
          frame.line = static_cast<std::uint32_t>(from.number());
          if (from.good()) words[{module, offset}].push_back(frame);
        }
        break;
      }
      default:
        from.fail();
    }
  }
  if (!from.good()) ++damaged_chunks_;
  if (words.empty()) return;
  for (CallSite& site : facts.sites) {
    std::vector<Frame> named;
    for (const Frame& frame : site.frames) {
      const auto found = words.find({frame.module, frame.offset});
      if (!frame.is_code || found == words.end())
        named.push_back(frame);
      else
        named.insert(named.end(), found->second.begin(), found->second.end());
    }
    site.frames = std::move(named);
  }
}

std::uint32_t Trace::find_text(std::uint32_t process, std::string_view text) {
  std::vector<std::string_view>& texts = processes_[process].texts;
  const auto found = std::ranges::find(texts, text);
  const auto number = static_cast<std::uint32_t>(found - texts.begin());
  if (found == texts.end()) texts.push_back(text);
  return number;
}

// --- what killed processes left in their rings ------------------------------------------------------

void Trace::read_ring(const ChunkHeader& header, std::uint64_t at) {
  if (header.used.load() == 0) return;  // nobody's
  const auto process = process_numbers_.find(header.process);
  struct alignas(observe::Ring) Raw {
    std::array<std::byte, sizeof(observe::Ring)> bytes;
  };
  const auto raw = std::make_unique<Raw>();
  if (process == process_numbers_.end() || header.used.load() != raw->bytes.size() ||
      file_.read(at, raw->bytes.data(), raw->bytes.size()) != raw->bytes.size()) {
    ++damaged_chunks_;
    return;
  }
  Remains remains{process->second, {}};
  std::launder(reinterpret_cast<const observe::Ring*>(raw->bytes.data()))
      ->each_plain_left([&](const observe::Event& event) {
        if (event.what <= observe::What::Freed && event.object <= Object::Managed)
          remains.events.push_back(event);
      });
  if (!remains.events.empty()) remains_.push_back(std::move(remains));
}

// --- remarks --------------------------------------------------------------------------------------

bool Trace::is_thinned() const {
  return std::ranges::any_of(processes_, [](const ProcessFacts& each) { return !each.thinning.empty(); });
}

std::vector<std::string> Trace::remarks() const {
  std::vector<std::string> all;
  if (cut_off_ != 0)
    all.push_back(
        fmt::format("the file is cut off: at least {} bytes of what was written are missing", cut_off_));
  if (const std::uint64_t damaged = damaged_chunks_ + damaged_in_reading_ + strange_units_; damaged != 0) {
    all.push_back(fmt::format("the file is damaged: {} of it could not be read, or not to the end",
                              counted(damaged, "piece")));
  }
  for (const ProcessFacts& each : processes_) {
    if (!each.thinning.empty()) {
      std::uint64_t left_out = 0;
      for (const auto& count : each.omitted->events) left_out += count.load();
      all.push_back(fmt::format(
          "process {} {}: from {:.3f} s on not every event was written down, because the file "
          "had grown near its limit of {} bytes, or the disk was full; {} are in sums only, so totals "
          "are exact",
          each.process, each.name, static_cast<double>(each.thinning[0].time_ns) / 1e9, limit_ * kUnit,
          counted(left_out, "event")));
    }
    if (each.lost != 0) {
      all.push_back(fmt::format("process {} {}: {} are missing: there was no memory, or no room on the disk",
                                each.process, each.name, counted(each.lost, "event")));
    }
  }
  if (turned_away_ != 0)
    all.push_back(fmt::format("{} found no room in the file and are not in it",
                              counted(turned_away_, "process", "processes")));
  return all;
}

Records Trace::records() { return Records{*this}; }

// --- a lane ---------------------------------------------------------------------------------------

bool LaneReader::open_chunk() {
  while (next_chunk_ < lane_->chunks.size()) {
    const Trace::Chunk& chunk = lane_->chunks[next_chunk_++];
    bytes_.resize(chunk.used);
    bytes_.resize(trace_->file_.read(chunk.at, bytes_.data(), bytes_.size()));
    source_ = Source{bytes_.data(), bytes_.data() + bytes_.size()};
    time_ = std::max(time_, since(chunk.time_ns, trace_->clock_ns_));
    serial_ = address_ = extent_ = host_ = stream_ = position_ = 0;
    if (!source_.at_end()) return true;
  }
  return false;
}

bool LaneReader::next() {
  while (true) {
    if (source_.at_end() && !open_chunk()) return false;
    if (read()) return true;
    if (!source_.good()) ++trace_->damaged_in_reading_;
  }
}

// False: what came was no record, or cannot be read.
bool LaneReader::read() {
  const std::uint64_t head = source_.number();
  if (head >= kFirstShape) [[likely]] {
    const std::vector<Trace::Shape>& shapes = trace_->shapes_[lane_->process];
    if (head - kFirstShape >= shapes.size()) {
      source_.fail();
      return false;
    }
    return read_fields(shapes[head - kFirstShape]);
  }
  if (head == kThreadRecord) {
    thread_ = static_cast<std::uint32_t>(source_.number());
  } else if (head == kFiguresRecord) {
    read_figures();
    return source_.good();
  } else {
    source_.fail();
  }
  return false;
}

bool LaneReader::read_fields(const Trace::Shape& shape) {
  const observe::Event& event = shape.event;
  Record& to = record_;
  time_ += source_.number();
  to.kind = Kind::Event;
  to.what = event.what;
  to.actor = event.actor;
  to.object = event.object;
  to.operation = event.operation;
  to.page_shift = event.page_shift;
  to.module = event.module;
  to.device = event.device;
  to.flags = event.flags;
  to.process = lane_->process;
  to.thread = thread_;
  to.site = shape.site;
  to.function = shape.function;
  to.time_ns = time_;
  const std::uint32_t fields = shape.fields;
  if (fields == kBlockFields) [[likely]] {  // nearly all
    to.serial = serial_ += unfold(source_.number());
    to.address = address_ = get_near(source_, address_);
    to.bytes = source_.number();
    to.pages = likely_pages(to.bytes, to.page_shift) + unfold(source_.number());
    if (!rest_is_set_) return source_.good();
  } else {
    to.serial = (fields & kHasSerial) != 0 ? serial_ += unfold(source_.number()) : 0;
    to.address = (fields & kHasAddress) != 0 ? address_ = get_near(source_, address_) : 0;
    to.bytes = (fields & kHasBytes) != 0 ? source_.number() : 0;
    to.pages =
        (fields & kHasPages) != 0 ? likely_pages(to.bytes, to.page_shift) + unfold(source_.number()) : 0;
  }
  rest_is_set_ = fields != kBlockFields;
  to.outcome = (fields & kHasOutcome) != 0 ? static_cast<std::int32_t>(unfold(source_.number())) : 0;
  to.stream = (fields & kHasStream) != 0 ? stream_ += unfold(source_.number()) : 0;
  to.position = (fields & kHasPosition) != 0 ? position_ += unfold(source_.number()) : 0;
  to.record = (fields & kHasRecord) != 0 ? source_.number() : 0;
  to.other = (fields & kHasObject) != 0 ? source_.number() : 0;
  to.value = (fields & kHasValue) != 0 ? source_.number() : 0;
  to.caller = (fields & kHasCaller) != 0 ? source_.number() : 0;
  to.caller_position = (fields & kHasCaller) != 0 ? source_.number() : 0;
  to.rule = 0;
  if ((fields & kHasRule) != 0) {
    const std::uint64_t rule = source_.number();
    if (rule < trace_->processes_[lane_->process].texts.size())
      to.rule = static_cast<std::uint32_t>(rule);
    else
      source_.fail();
  }
  to.flag = (fields & kHasFlag) != 0 ? static_cast<std::uint32_t>(source_.number()) : 0;
  to.moved = {};
  if ((fields & kHasWays) != 0) {
    for (std::uint64_t ways = source_.number() & 15; ways != 0; ways &= ways - 1)
      to.moved[static_cast<std::size_t>(std::countr_zero(ways))] = source_.number();
  }
  to.parts = {};
  to.left_out = 0;
  if ((fields & kHasTouches) != 0) read_parts();
  to.text = (fields & kHasText) != 0 ? source_.text() : std::string_view{};
  return source_.good();
}

void LaneReader::read_parts() {
  parts_.clear();
  const std::uint64_t count = source_.number();
  if (count > source_.left()) source_.fail();  // each takes a byte at least
  for (std::uint64_t i = 0; i < count && source_.good(); ++i) {
    Part part;
    const std::uint64_t head = source_.number();
    part.on_device = (head & kPartOnDevice) != 0;
    part.writes = (head & kPartWrites) != 0;
    part.device = static_cast<std::uint32_t>(head / kPartDevice) % kMostDevices;
    part.extent = (head & kPartIsKnown) != 0 ? extent_ += unfold(source_.number()) : 0;
    part.offset = part.extent != 0 ? source_.number() : host_ = get_near(source_, host_);
    part.bytes = (head & kPartIsWhole) != 0 ? record_.bytes : source_.number();
    if ((head & kPartHasRows) != 0) {
      part.rows = source_.number();
      part.pitch = source_.number();
    }
    parts_.push_back(part);
  }
  record_.left_out = static_cast<std::uint32_t>(source_.number());
  record_.parts = parts_;
  if (record_.left_out == 0 && record_.moved == std::array<std::uint64_t, kWays>{}) {
    for (std::size_t i = 0; i + 1 < parts_.size(); i += 2) {
      if (parts_[i].writes && !parts_[i + 1].writes)
        record_.moved[(parts_[i + 1].on_device ? 2U : 0U) + (parts_[i].on_device ? 1U : 0U)] +=
            parts_[i].bytes * parts_[i].rows;
    }
  }
}

void LaneReader::read_figures() {
  time_ += source_.number();
  figures_.clear();
  for (std::uint64_t left = source_.number(); left != 0 && source_.good(); --left) {
    Figures each;
    each.place = static_cast<std::uint32_t>(source_.number());
    each.mine = source_.number();
    each.peak = source_.number();
    for (std::uint64_t& used : each.used) used = source_.number();
    each.free = source_.number();
    each.total = source_.number();
    if (each.place >= kPlaces) source_.fail();
    if (source_.good()) figures_.push_back(each);
  }
  record_ = {};
  rest_is_set_ = true;
  record_.kind = Kind::Figures;
  record_.process = lane_->process;
  record_.thread = thread_;
  record_.time_ns = time_;
  record_.figures = figures_;
}

// --- all of them ----------------------------------------------------------------------------------

Records::Records(Trace& trace) : trace_{&trace}, left_(trace.processes_.size()) {
  trace.damaged_in_reading_ = 0;  // read again, it would count twice
  lanes_.reserve(trace.lanes_.size());
  for (const Trace::Lane& each : trace.lanes_) lanes_.emplace_back(trace, each);
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].next()) heap_.emplace_back(lanes_[i].record().time_ns, i);
  }
  std::ranges::make_heap(heap_, std::greater{});
  for (const Trace::Remains& remains : trace.remains_) {
    Left& left = left_[remains.process];
    for (const observe::Event& event : remains.events) {
      left.least = std::min(left.least, event.serial);
      left.most = std::max(left.most, event.serial);
      left.came[{event.serial, event.what}] = false;
    }
  }
}

const Record* Records::next() {
  while (true) {
    if (current_ != UINT32_MAX) {
      LaneReader& lane = lanes_[current_];
      if (!lane.next()) {
        current_ = UINT32_MAX;
      } else if (lane.record().time_ns > until_) {
        heap_.emplace_back(lane.record().time_ns, current_);
        std::ranges::push_heap(heap_, std::greater{});
        current_ = UINT32_MAX;
      }
    }
    if (current_ == UINT32_MAX) {
      if (heap_.empty()) return next_remains();
      std::ranges::pop_heap(heap_, std::greater{});
      current_ = heap_.back().second;
      heap_.pop_back();
      until_ = heap_.empty() ? UINT64_MAX : heap_.front().first;
    }
    const Record& record = lanes_[current_].record();
    ProcessFacts& facts = trace_->processes_[record.process];
    facts.last_ns = std::max(facts.last_ns, record.time_ns);
    Left& left = left_[record.process];
    if (record.serial >= left.least && record.serial <= left.most && record.is_block()) {
      if (const auto found = left.came.find({record.serial, record.what}); found != left.came.end())
        found->second = true;
    }
    return &record;
  }
}

const Record* Records::next_remains() {
  for (; remains_ < trace_->remains_.size(); ++remains_, in_remains_ = 0) {
    const Trace::Remains& remains = trace_->remains_[remains_];
    while (in_remains_ < remains.events.size()) {
      const observe::Event& event = remains.events[in_remains_++];
      if (std::exchange(left_[remains.process].came[{event.serial, event.what}], true)) continue;
      remain_ = {};
      remain_.what = event.what;
      remain_.actor = event.actor;
      remain_.object = event.object;
      remain_.operation = event.operation;
      remain_.page_shift = event.page_shift & 63;
      remain_.module = event.module;
      remain_.device = event.device;
      remain_.flags = event.flags;
      remain_.remains = true;
      remain_.process = remains.process;
      remain_.thread = event.thread;
      const auto& sites = trace_->site_numbers_[remains.process];
      const auto site = sites.find(event.site);
      remain_.site = site == sites.end() ? 0 : site->second;
      if (event.operation >= observe::Operation::Malloc && event.operation <= observe::Operation::Free)
        remain_.function = trace_->find_text(remains.process, observe::function_of(event.operation));
      remain_.time_ns = trace_->processes_[remains.process].last_ns;
      remain_.serial = event.serial;
      remain_.address = event.address;
      remain_.bytes = event.bytes;
      remain_.pages = event.units;
      return &remain_;
    }
  }
  return nullptr;
}

}  // namespace belay::recording
