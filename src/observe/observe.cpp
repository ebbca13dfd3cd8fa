#include "observe/observe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "observe/call_sites.h"
#include "observe/lives.h"
#include "platform/clock.h"
#include "platform/process.h"
#include "platform/thread_end.h"
#include "platform/threads.h"

namespace belay::observe {

constinit thread_local Call t_call;
constinit thread_local Ring* t_ring = nullptr;
constinit Ring g_no_ring{0};
constinit thread_local Ring* t_plain_ring = &g_no_ring;

namespace {

// Who listens, and to what: bits of What, and what else is wished.
struct Place {
  std::atomic<Listener> listener{nullptr};
  std::atomic<std::uint64_t> wish{0};
};
constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 40;
constexpr std::uint64_t word_of(const Wish& wish) {
  return wish.wanted | (wish.at_once ? kAtOnce : 0) | (wish.time ? kTime : 0) | (wish.facts ? kFacts : 0) |
         (wish.time_when_delivered ? kTimeWhenDelivered : 0) |
         (wish.at_once && (wish.wanted & kBlocks) != 0 ? kBlocksAtOnce : 0) |
         (wish.plain_copies && (wish.wanted & bit(What::Copied)) != 0 ? kPlainCopies : 0);
}
constexpr bool is_at_once(std::uint64_t wish) { return (wish & kAtOnce) != 0; }
std::array<Place, 16> g_places;
// The places of those who hear an event at once, and of those who read it from rings: a bit each.
using Places = std::uint16_t;
struct Hearers {
  std::atomic<Places> at_once{0}, by_rings{0};
};
std::array<Hearers, 32> g_hearers;                // by What
constinit std::atomic<Places> g_ring_readers{0};  // of whatever
constinit std::atomic<std::uint64_t> g_next_serial{1};
constinit std::atomic<std::uint64_t> g_lost{0};

// All rings there are. Lock this before a ring.
struct Rings {
  std::mutex mutex;
  std::vector<Ring*> all;
  std::mutex without;  // in place of the ring's lock, for threads that have none
};
std::atomic<Rings*> g_rings{new Rings};

constinit std::atomic<const RingPlaces*> g_ring_places{nullptr};

struct EndRing {
  void operator()(Ring* ring) const {
    if (!ring->lent) {
      delete ring;
      return;
    }
    ring->~Ring();
    if (const RingPlaces* places = g_ring_places.load()) places->give(ring);
  }
};
using RingPtr = std::unique_ptr<Ring, EndRing>;

RingPtr make_ring(std::uint32_t thread) {
  const RingPlaces* places = g_ring_places.load();
  void* place = places == nullptr ? nullptr : places->take();
  RingPtr ring{place == nullptr ? new Ring{thread} : new (place) Ring{thread}};
  ring->lent = place != nullptr;
  return ring;
}

void end_ring() {
  const RingPtr ring{std::exchange(t_ring, nullptr)};
  t_plain_ring = &g_no_ring;
  if (ring == nullptr) return;
  Rings& rings = *g_rings.load();
  const std::lock_guard lock{rings.mutex};
  ring->drain();
  std::erase(rings.all, ring.get());
}

void tell(Places places, const Batch& batch) {
  for (; places != 0; places &= static_cast<Places>(places - 1)) {
    const Place& place = g_places[static_cast<std::size_t>(std::countr_zero(places))];
    const Listener listener = place.listener.load();  // after the visit began, if it is one
    if (listener == nullptr) continue;
    try {
      listener(batch);
    } catch (const std::bad_alloc&) {
      batch.each([](const Told&) { ++g_lost; });
    }
  }
}

Hearers& hearers_of(What what) { return g_hearers[static_cast<std::size_t>(what)]; }

void write(Cell* to, const Event& event, const Details& details, std::span<const Touch> touches,
           std::string_view text) {
  new (to) Event{event};
  if (!event.has_details()) return;
  auto* behind = reinterpret_cast<std::byte*>(new (to + 1) Details{details} + 1);
  if (!touches.empty()) std::memcpy(behind, touches.data(), touches.size_bytes());
  if (!text.empty()) std::memcpy(behind + touches.size_bytes(), text.data(), text.size());
}

}  // namespace

void Ring::drain_locked() {
  const std::uint64_t first = read_.load(std::memory_order_relaxed);
  const std::uint64_t last = written_.load(std::memory_order_acquire);
  if (first == last) return;
  tell(g_ring_readers.load(std::memory_order_acquire), Batch{cells_, kCells, first, last});
  read_.store(last, std::memory_order_release);
}

void Ring::drain() {
  const std::lock_guard lock{reading_};
  drain_locked();
}

void Ring::tidy(std::uint64_t from) {
  for (std::uint64_t at = from; at != full_at_; ++at)
    new (&cells_[at % kCells]) Event{.what = What::Gap, .thread = thread};
}

Cell* Ring::make_room(std::uint64_t cells) {
  std::uint64_t at = written_.load(std::memory_order_relaxed);
  const std::uint64_t gap = at % kCells + cells > kCells ? kCells - at % kCells : 0;
  full_at_ = read_.load(std::memory_order_acquire) + kCells;
  if (at + gap + cells > full_at_) {
    drain();
    full_at_ = at + kCells;
  }
  numbers_ = g_next_serial.fetch_add(full_at_ - at, std::memory_order_relaxed) - at;
  const bool sites = stack_frames() != 0;  // cells of before have some, or none
  if (untidy_until_ + kCells > at || std::exchange(had_sites_, sites) != sites) tidy(at);
  if (gap != 0) {  // an event lies in one piece
    new (&cells_[at % kCells]) Event{.what = What::Gap, .flags = Event::kHasDetails, .thread = thread};
    added(gap);
    at += gap;
  }
  return &cells_[at % kCells];
}

namespace {
void prepare_ring() {
  if (t_ring != nullptr) return;
  try {
    RingPtr ring = make_ring(static_cast<std::uint32_t>(platform::thread_id()));
    Rings& rings = *g_rings.load();
    const std::lock_guard lock{rings.mutex};
    rings.all.reserve(rings.all.size() + 1);
    if (!platform::at_thread_end(end_ring)) return;
    rings.all.push_back(ring.get());
    t_ring = ring.release();
    if (t_call.stream == 0) t_plain_ring = t_ring;
  } catch (const std::bad_alloc&) {  // then events of this thread are told one by one
    return;
  }
}
}  // namespace

void recount_wishes() {
  std::uint64_t all = (stack_frames() > 0 ? kSites : 0) | (stack_frames() > 1 ? kStacks : 0);
  std::array<std::array<Places, 2>, g_hearers.size()> hearers{};
  Places readers = 0;
  for (std::size_t i = 0; i < g_places.size(); ++i) {
    if (g_places[i].listener.load() == nullptr) continue;
    const std::uint64_t wish = g_places[i].wish.load();
    const auto place = static_cast<Places>(1U << i);
    all |= wish & ~kAtOnce;
    if (!is_at_once(wish)) readers |= place;
    for (std::size_t what = 0; what < hearers.size(); ++what) {
      if ((wish >> what & 1) != 0) hearers[what][is_at_once(wish) ? 0 : 1] |= place;
    }
  }
  g_ring_readers.store(readers);
  for (std::size_t what = 0; what < hearers.size(); ++what) {
    g_hearers[what].at_once.store(hearers[what][0]);
    g_hearers[what].by_rings.store(hearers[what][1]);
  }
  g_wanted.store(all);
}

void listen(Listener listener, const Wish& wish) {
  flush();  // what was told to others is not for this one
  const auto place_of = [](Listener one) {
    return std::ranges::find(g_places, one, [](const Place& place) { return place.listener.load(); });
  };
  auto place = place_of(listener);
  if (place == g_places.end()) place = place_of(nullptr);
  if (place == g_places.end()) return;
  place->wish.store(word_of(wish));
  place->listener.store(listener, std::memory_order_release);
  recount_wishes();
}

void flush() {
  Rings& rings = *g_rings.load();
  const std::lock_guard lock{rings.mutex};
  for (Ring* each : rings.all) each->drain();
}

void flush_this_thread() {
  if (t_ring != nullptr && t_ring->has_unread()) t_ring->drain();
}

namespace {
void wait_for_visits() {
  // Visits make no barrier of their own: after a copy it would wait for all that the copy has written.
  if (!platform::is_only_thread() && !platform::barrier_on_all_threads() && !Ring::g_fenced.exchange(true))
    platform::sleep_briefly();  // a moment takes every thread through a system call or an interrupt
  Rings& rings = *g_rings.load();
  const std::lock_guard lock{rings.mutex};
  for (const Ring* each : rings.all) {
    const std::uint64_t visit = each->visits();
    while (visit % 2 != 0 && each->visits() == visit) std::this_thread::yield();
  }
}
}  // namespace

void unlisten(Listener listener) {
  flush();
  for (Place& place : g_places) {
    if (place.listener.load() == listener) place.listener.store(nullptr);
  }
  recount_wishes();
  flush();  // whoever is calling it holds the lock of a ring, or visits it at once, or holds this lock:
  wait_for_visits();
  const std::lock_guard lock{g_rings.load()->without};
}

std::uint64_t lost() { return g_lost.load(); }

void keep_rings(const RingPlaces& places) {
  static RingPlaces kept;  // the same functions each time
  kept = places;
  g_ring_places.store(&kept);
}

void forget_parent() {
  g_ring_places.store(nullptr);
  static auto* of_parents = new std::vector<Rings*>;  // kept reachable, never used again
  of_parents->push_back(g_rings.exchange(new Rings));
  t_ring = nullptr;
  t_plain_ring = &g_no_ring;
  for (Place& place : g_places) place.listener.store(nullptr);
  recount_wishes();
  renew_sites();
  forget_lives();
}

std::uint64_t next_serial() { return g_next_serial.fetch_add(1, std::memory_order_relaxed); }

bool make_ready() {
  if (!wanted(kBlocks)) return false;
  prepare_ring();
  if (t_plain_ring == &g_no_ring) return false;
  t_plain_ring->make_room(1);
  return true;
}

void complete(Event& event) {
  prepare_ring();
  const std::uint64_t more = g_wanted.load(std::memory_order_relaxed);
  event.thread = t_ring != nullptr ? t_ring->thread : static_cast<std::uint32_t>(platform::thread_id());
  if (*event.function == '\0') event.function = t_call.function;
  if (event.actor == Actor::Thread && t_call.stream != 0) event.actor = Actor::Callback;
  if ((more & (kTime | kTimeWhenDelivered)) != 0 && event.time_ns == 0)
    event.time_ns = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  if ((more & kStacks) != 0 && event.time_ns == 0) event.time_ns = platform::rough_time_ns();
  if (event.actor != Actor::Stream && event.site == 0) event.site = site_of_this_call();
}

namespace {
// Outside of any ring: to those who want it at once, and to readers of rings, after what is in the ring.
void tell_alone(const Told& told, Places at_once, Places by_rings) {
  if (by_rings == 0 && t_ring != nullptr) {
    const Ring::TellingAtOnce now{*t_ring};
    return tell(at_once, Batch{told});
  }
  const std::lock_guard lock{t_ring != nullptr ? t_ring->reading() : g_rings.load()->without};
  if (by_rings != 0 && t_ring != nullptr) t_ring->drain_locked();
  tell(at_once | by_rings, Batch{told});
}
}  // namespace

void count_lost() { ++g_lost; }

void deliver(const Event& what, Details details, std::span<const Touch> touches, std::string_view text) {
  Event event = what;
  complete(event);
  if (keeps_sites() && (bit(event.what) & kLives) != 0) quietly([&] { note_life(event); });
  if (event.actor == Actor::Callback) {
    details.caller = t_call.stream;
    details.caller_position = t_call.position;
  }
  constexpr std::size_t kMostText =
      1024;  // enough for every sentence of ours, and no ring is ever full of it
  details.touches = static_cast<std::uint16_t>(std::min<std::size_t>(touches.size(), UINT16_MAX));
  details.letters = static_cast<std::uint16_t>(std::min(text.size(), kMostText));
  if ((details.stream | details.record | details.caller | details.object) != 0 || details.touches != 0 ||
      details.letters != 0 || *details.rule != '\0')
    event.flags |= Event::kHasDetails;
  touches = touches.first(details.touches);
  text = text.substr(0, details.letters);

  const Hearers& hearers = hearers_of(event.what);
  const Places at_once = hearers.at_once.load(std::memory_order_acquire);
  Places by_rings = hearers.by_rings.load(std::memory_order_acquire);
  if (by_rings != 0) {
    const std::size_t cells = cells_for(event, details);
    if (t_ring != nullptr && cells <= Ring::kMost) {
      write(t_ring->room_for(cells), event, details, touches, text);
      t_ring->added(cells);
      by_rings = 0;
    }
  }
  if ((at_once | by_rings) == 0) return;
  tell_alone({event, event.has_details() ? &details : nullptr, touches, text}, at_once, by_rings);
}

void deliver_at_once(const Event& what) {
  Event event = what;
  complete(event);
  tell_alone({event, nullptr, {}, {}}, hearers_of(event.what).at_once.load(std::memory_order_acquire), 0);
}

}  // namespace belay::observe
