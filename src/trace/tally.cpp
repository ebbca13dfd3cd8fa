#include "trace/tally.h"

#include <algorithm>

namespace belay::trace {
namespace {

// 4 KB, 2 MB and 1 GB are nine bits apart.
constexpr std::size_t page_index(unsigned shift) { return (shift - 12) / 9; }

inline void count_in(PerPage& page, const observe::Event& event) {
  if (event.what == observe::What::Allocated) {
    ++page.blocks;
    page.asked += event.bytes;
    page.charged += event.footprint();
  } else if ((event.flags & observe::Event::kSwept) == 0) {
    ++page.freed;
    page.returned += event.footprint();
  }
}

// Nearly all there is to count: kept apart, and without a table of jumps, which processors guess badly.
inline void count_block(Tally& tally, const observe::Event& event) {
  const bool host = event.object == observe::Object::HostBlock;
  count_in(
      tally.places[host ? kHostPlace : event.device % kMostDevices][host ? 0 : page_index(event.page_shift)],
      event);
}

void count_part(Tally& tally, Part part, const observe::Event& event) {
  Made& made = tally.parts[static_cast<std::size_t>(part)];
  if (event.what == observe::What::Allocated || event.what == observe::What::Created) {
    ++made.times;
    made.bytes += event.bytes;
  } else if ((event.flags & observe::Event::kSwept) == 0) {
    ++made.given_back;
    made.bytes_given_back += event.bytes;
  }
}

// Physical memory is also memory of its place, like a block.
void count_virtual(Tally& tally, const observe::Event& event) {
  switch (event.object) {
    case observe::Object::Physical:
      count_in(tally.places[event.device % kMostDevices][page_index(event.page_shift)], event);
      return count_part(tally, Part::Physical, event);
    case observe::Object::HostPhysical:
      count_in(tally.places[kHostPlace][page_index(event.page_shift)], event);
      return count_part(tally, Part::Physical, event);
    case observe::Object::Reservation:
      return count_part(tally, Part::Reservation, event);
    case observe::Object::Mapping:
      return count_part(tally, Part::Mapping, event);
    case observe::Object::Managed:
      return count_part(tally, Part::Managed, event);
    default:
      return;
  }
}

// An operation counts once, however many parts it has; one that goes several ways counts for each.
void count_copy(Tally& tally, std::span<const observe::Touch> touches) {
  std::array<std::size_t, 4> bytes{};
  for (std::size_t i = 0; i + 1 < touches.size(); i += 2) {
    const observe::Touch& to = touches[i];
    if (!to.writes || touches[i + 1].writes) continue;  // not both ends of a copy
    bytes[(touches[i + 1].on_device ? 2U : 0U) + (to.on_device ? 1U : 0U)] += to.bytes * to.rows;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) ++tally.copies[i].times;
    tally.copies[i].bytes += bytes[i];
  }
}

bool copies(observe::Operation operation) {
  return operation >= observe::Operation::Copy && operation <= observe::Operation::CopyByOffset;
}

void count_other(Tally& tally, const observe::Told& told) {
  const observe::Event& event = told.event;
  const bool queued = event.what == observe::What::Done;
  if (event.object >= observe::Object::Physical) {
    count_virtual(tally, event);
  } else if (event.what == observe::What::Copied || (queued && copies(event.operation))) {
    count_copy(tally, told.touches);
  } else if (event.what == observe::What::Filled || (queued && event.operation == observe::Operation::Fill)) {
    ++tally.fills.times;
    tally.fills.bytes += event.bytes;
  }
}

}  // namespace

void Tally::count(const observe::Told& told) {
  const observe::Object object = told.event.object;
  const bool of_block = (object == observe::Object::DeviceBlock || object == observe::Object::HostBlock) &&
                        told.event.what <= observe::What::Freed;
  of_block ? count_block(*this, told.event) : count_other(*this, told);
}

namespace {

// Blocks of one kind that come one after the other are added up first: nearly all that a program tells, and
// memory that is changed again and again makes the next change wait.
class Run {
 public:
  explicit Run(Tally& tally) : tally_{tally} {}
  ~Run() { end(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[gnu::always_inline]] void count(const observe::Event& event) {
    const std::uint64_t kind = event.first_word() & kKind;
    if (kind != kind_ || event.what > observe::What::Freed) [[unlikely]] {
      end();
      page_ = page_of(tally_, event);
      if (page_ == nullptr) return;
      kind_ = kind;
    }
    const bool born = event.what == observe::What::Allocated;
    const std::uint64_t all = born ? ~std::uint64_t{0} : 0;
    sum_.blocks += born ? 1 : 0;
    sum_.freed += born ? 0 : 1;
    sum_.asked += event.bytes & all;
    sum_.charged += event.footprint() & all;
    sum_.returned += event.footprint() & ~all;
  }

 private:
  // All of the first word but what happened, who did it and with which function.
  static constexpr std::uint64_t kKind = ~std::uint64_t{0xFF00FFFF};

  // Where a block is counted; what is none is counted at once, and null is returned. Apart, and without
  // `this`, so that the sums stay in registers.
  [[gnu::noinline]] static PerPage* page_of(Tally& tally, const observe::Event& event) {
    const bool plain = event.object == observe::Object::DeviceBlock &&
                       (event.flags & observe::Event::kSwept) == 0 && event.what <= observe::What::Freed;
    if (plain) return &tally.places[event.device % kMostDevices][page_index(event.page_shift)];
    tally.count(observe::Told{event, nullptr, {}, {}});
    return nullptr;
  }
  void end() {
    if (page_ != nullptr) page_->add(sum_);
    page_ = nullptr;
    kind_ = kNone;
    sum_ = {};
  }

  static constexpr std::uint64_t kNone = 1;  // no kind has this bit
  Tally& tally_;
  std::uint64_t kind_ = kNone;
  PerPage* page_ = nullptr;
  PerPage sum_;
};

}  // namespace

void Tally::count(const observe::Batch& events) {
  Run run{*this};
  events.each([&](const observe::Event& event) { run.count(event); },
              [&](const observe::Told& told) { count(told); });
}

void PerPage::add(const PerPage& other) {
  blocks += other.blocks;
  freed += other.freed;
  asked += other.asked;
  charged += other.charged;
  returned += other.returned;
}

void Made::add(const Made& other) {
  times += other.times;
  bytes += other.bytes;
  given_back += other.given_back;
  bytes_given_back += other.bytes_given_back;
}

void Tally::add(const Tally& other) {
  for (std::size_t place = 0; place < places.size(); ++place) {
    for (std::size_t page = 0; page < places[place].size(); ++page)
      places[place][page].add(other.places[place][page]);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i].times += other.copies[i].times;
    copies[i].bytes += other.copies[i].bytes;
  }
  fills.times += other.fills.times;
  fills.bytes += other.fills.bytes;
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].add(other.parts[i]);
}

void Failures::count(std::string_view function, std::int32_t code, bool task) {
  const std::lock_guard lock{mutex_};
  const std::uint32_t used = used_.load(std::memory_order_relaxed);
  function = function.substr(0, sizeof(Row::function) - 1);
  for (std::uint32_t i = 0; i < used; ++i) {
    if (rows_[i].code != code || rows_[i].task != task || function != rows_[i].function.data()) continue;
    ++rows_[i].times;
    return;
  }
  if (used == kRows) {
    ++others_;
    return;
  }
  Row& row = rows_[used];
  std::ranges::copy(function, row.function.begin());
  row.code = code;
  row.task = task;
  row.times.store(1);
  used_.store(used + 1, std::memory_order_release);
}

void ProcessRecord::sum_into(Tally& all) {
  for (Shard& each : shards) {
    const std::lock_guard lock{each.mutex};
    all.add(each.tally);
  }
}

void ProcessRecord::sum_into_after_end(Tally& all) const {
  for (const Shard& each : shards) all.add(each.tally);
}

}  // namespace belay::trace
