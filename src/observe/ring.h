// The events of one thread, in their order, until somebody reads them.
//
// Only its thread writes. It reads them itself when the ring is full; whoever asks reads them earlier, under
// the lock. So none is lost, and nobody waits but for that.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "observe/event.h"

namespace belay::observe {

struct alignas(64) Cell {
  std::byte bytes[64];
};

// How many cells an event takes.
inline std::size_t cells_for(const Event& event, const Details& details) {
  if (!event.has_details()) return 1;
  const std::size_t behind = sizeof(Details) + details.touches * sizeof(Touch) + details.letters;
  return 1 + (behind + sizeof(Cell) - 1) / sizeof(Cell);
}

// Events in a row.
class Batch {
 public:
  Batch(const Cell* cells, std::uint64_t capacity, std::uint64_t first, std::uint64_t last)
      : cells_{cells}, last_cell_{capacity - 1}, first_{first}, last_{last} {}
  // One alone, which is in no ring.
  explicit Batch(const Told& alone) : alone_{&alone} {}

  // At least as many as there are events.
  std::uint64_t cells() const { return alone_ != nullptr ? 1 : last_ - first_; }

  // Whose ring they come from, or who published the one that comes alone; nobody, where there are none.
  std::optional<std::uint32_t> thread() const {
    if (alone_ != nullptr) return alone_->event.thread;
    if (first_ == last_) return std::nullopt;
    return reinterpret_cast<const Event*>(&cells_[first_ & last_cell_])->thread;
  }

  // Calls hear(const Told&) for each of them; or hear_plain(const Event&) for those without details, which
  // nearly all are.
  template <class Hear>
  [[gnu::always_inline]] void each(Hear&& hear) const {
    each([&](const Event& event) { hear(Told{event, nullptr, {}, {}}); }, hear);
  }
  template <class HearPlain, class Hear>
  [[gnu::always_inline]] void each(HearPlain&& hear_plain, Hear&& hear) const {
    if (alone_ != nullptr) return alone_->details == nullptr ? hear_plain(alone_->event) : hear(*alone_);
    for (std::uint64_t at = first_; at != last_;) {
      const Event& event = *reinterpret_cast<const Event*>(&cells_[at & last_cell_]);
      if (!event.has_details()) [[likely]] {
        hear_plain(event);
        ++at;
      } else if (event.what == What::Gap) {
        at = (at | last_cell_) + 1;
      } else {
        const Details& details = *reinterpret_cast<const Details*>(&event + 1);
        const auto* touches = reinterpret_cast<const Touch*>(&details + 1);
        hear(Told{event,
                  &details,
                  {touches, details.touches},
                  {reinterpret_cast<const char*>(touches + details.touches), details.letters}});
        at += cells_for(event, details);
      }
    }
  }

 private:
  const Told* alone_ = nullptr;
  const Cell* cells_ = nullptr;
  std::uint64_t last_cell_ = 0;  // of a power of two
  std::uint64_t first_ = 0, last_ = 0;
};

class Ring {
 public:
  static constexpr std::uint64_t kCells = 256;
  static constexpr std::uint64_t kMost = kCells / 4;  // of one event

  constexpr explicit Ring(std::uint32_t of_thread) : thread{of_thread} {}

  // Room for an event of so many cells, at most kMost; then it is `added`.
  Cell* room_for(std::uint64_t cells) {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    if (at + cells > full_at_ || at % kCells + cells > kCells) [[unlikely]]
      return make_room(cells);
    return &cells_[at % kCells];
  }
  void added(std::uint64_t cells) {
    untidy_until_ = written_.load(std::memory_order_relaxed) + cells;
    written_.store(untidy_until_, std::memory_order_release);
  }

  // What was not told yet, for whoever reads the ring of a process that is gone.
  Batch unread() const {
    const std::uint64_t first = read_.load(std::memory_order_acquire);
    const std::uint64_t last = written_.load(std::memory_order_acquire);
    return {cells_, kCells, first, last - first <= kCells ? last : first};  // else it was about to be made
  }

  // The same where the ring may hold anything, as in a file: calls hear(const Event&) for those without
  // details.
  template <class Hear>
  void each_plain_left(Hear&& hear) const {
    const std::uint64_t first = read_.load(std::memory_order_relaxed);
    const std::uint64_t last = written_.load(std::memory_order_relaxed);
    if (last - first > kCells) return;
    for (std::uint64_t at = first; at < last;) {
      const Event& event = *reinterpret_cast<const Event*>(&cells_[at % kCells]);
      if (!event.has_details()) {
        hear(event);
        ++at;
      } else if (event.what == What::Gap || at % kCells + 1 == kCells) {
        at = (at | (kCells - 1)) + 1;
      } else {
        at += cells_for(event, *reinterpret_cast<const Details*>(&cells_[at % kCells + 1]));
      }
    }
  }
  bool has_unread() const {  // on its own thread, or when that has ended
    return read_.load(std::memory_order_acquire) != written_.load(std::memory_order_relaxed);
  }

  // Tells listeners what was not told yet.
  void drain();
  std::mutex& reading() { return reading_; }
  void drain_locked();

  // While the thread tells listeners at once. It holds no lock then: they may take some that others hold
  // while they publish.
  class TellingAtOnce {
   public:
    explicit TellingAtOnce(Ring& ring) : visits_{ring.visits_} {
      visits_.store(visits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      if (g_fenced.load(std::memory_order_relaxed)) [[unlikely]]
        visits_.fetch_add(0, std::memory_order_seq_cst);
      std::atomic_signal_fence(
          std::memory_order_seq_cst);  // the barrier of who waits for visits is ours, too
    }
    TellingAtOnce(const TellingAtOnce&) = delete;
    TellingAtOnce& operator=(const TellingAtOnce&) = delete;
    ~TellingAtOnce() {
      visits_.store(visits_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

   private:
    std::atomic<std::uint64_t>& visits_;
  };
  std::uint64_t visits() const { return visits_.load(std::memory_order_acquire); }  // odd: just now
  // The system has no barrier for all threads, so each visit has its own.
  static inline std::atomic<bool> g_fenced{false};

  // For the fast path, one cell at a time: whether there is room now, which cell is the next, and a number
  // for what is told there, that nothing else has. Such a cell is ready: an event of this thread, without
  // call site, time and outcome.
  bool has_room() const { return at() != full_at_; }
  std::uint64_t at() const { return written_.load(std::memory_order_relaxed); }
  Event& cell(std::uint64_t at) { return *reinterpret_cast<Event*>(&cells_[at % kCells]); }
  std::uint64_t number(std::uint64_t at) const { return at + numbers_; }
  void added_at(std::uint64_t at) { written_.store(at + 1, std::memory_order_release); }
  Cell* make_room(std::uint64_t cells);

  const std::uint32_t thread;
  bool lent = false;  // it is in a place of keep_rings

 private:
  void tidy(std::uint64_t from);

  std::atomic<std::uint64_t> written_{0};
  std::uint64_t full_at_ = 0;       // at least so many can be written
  std::uint64_t numbers_ = 0;       // what the cells up to there are numbered from
  std::uint64_t untidy_until_ = 0;  // cells before this one may not be as the fast path wants them
  bool had_sites_ = false;          // call sites were kept when cells were made ready
  alignas(64) std::mutex reading_;
  std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> visits_{0};
  Cell cells_[kCells]{};
};

}  // namespace belay::observe
