#include "check/habits.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/findings.h"
#include "check/kept.h"
#include "memory/block_facts.h"
#include "observe/observe.h"
#include "observe/stack_words.h"

namespace belay::check {
namespace {

using observe::Touch;
using observe::What;

// What is less than this is not worth a word.
constexpr std::size_t kMuch = 16_MiB;
constexpr std::size_t kSmallBlock = 1_MiB, kManyBlocks = 1000, kUsesOfEach = 100;
constexpr std::uint64_t kManyOperations = 1000;

// Operations are numbered. A block has the number of the last one that used it, and whether that read it,
// beside its facts; with the end of its own number, for the word may be of a block that was there before.
struct LastUse {
  static constexpr unsigned kNumberBits = 24, kReadBit = kNumberBits;
  static std::uint64_t word(std::uint64_t block, std::uint64_t operation, bool reads) {
    return operation << (kReadBit + 1) | std::uint64_t{reads} << kReadBit | tag(block);
  }
  static std::uint64_t tag(std::uint64_t block) { return block & ((std::uint64_t{1} << kNumberBits) - 1); }
  static bool is_of(std::uint64_t word, std::uint64_t block) { return word != 0 && tag(word) == tag(block); }
  static std::uint64_t operation(std::uint64_t word) { return word >> (kReadBit + 1); }
  static bool reads(std::uint64_t word) { return (word >> kReadBit & 1) != 0; }
};

// All blocks that one line of the program made.
struct MadeHere {
  std::uint32_t site = 0;
  const char* function = "";
  Object object = Object::None;
  std::size_t made = 0, alive = 0, most_alive = 0;
  std::size_t largest = 0;  // as asked for
  std::size_t used = 0, unused = 0, unused_bytes = 0;
  std::size_t wasteful = 0;  // alive in huge pages that are less than half full
  std::size_t wasted = 0, most_wasted = 0, blocks_then = 0, bytes_then = 0, largest_wasteful = 0;
  std::size_t held = 0, held_bytes = 0;  // kept long after their last use
  std::uint64_t held_for = 0;            // operations, at least
};

struct Habits {
  Habits(Memory& of, bool uses)
      : memory{of}, sees_uses{uses && of.backing().keeps_bytes() && !of.backing().host_may_touch()} {}

  Memory& memory;
  const bool sees_uses;
  std::atomic<std::uint64_t> operations{0};
  std::mutex mutex;
  // Blocks that live, by serial number, and those whose end was told before their beginning.
  struct Live {
    MadeHere* place = nullptr;
    std::size_t waste = 0;
  };
  std::unordered_map<std::uint64_t, Live> live;
  // In the order of their first call. Several call sites may be one line, which an interpreter comes to in
  // different ways.
  std::deque<MadeHere> places;
  std::unordered_map<std::uint32_t, MadeHere*> of_site;
  std::map<std::string, MadeHere*> of_line;

  std::uint32_t last_site = 0;
  MadeHere* last_place = nullptr;

  MadeHere& at(std::uint32_t site) {  // with the lock
    if (site == last_site && last_place != nullptr) return *last_place;
    MadeHere*& place = of_site[site];
    if (place == nullptr) {
      MadeHere*& same = of_line[observe::stack_words(site, "")];
      if (same == nullptr) {
        same = &places.emplace_back();
        same->site = site;
      }
      place = same;
    }
    last_site = site;
    last_place = place;
    return *place;
  }
};
std::atomic<Habits*> g_habits{nullptr};

// In huge pages, of which it fills less than half.
std::size_t wasted_by(const observe::Event& block) {
  constexpr unsigned kHugeShift = 21;
  if (block.page_shift < kHugeShift || block.bytes * 2 >= block.footprint()) return 0;
  return block.footprint() - block.bytes;
}

bool is_block(const observe::Event& event) {
  return event.object == Object::DeviceBlock || event.object == Object::HostBlock;
}

// With the lock.
void note_made(Habits& habits, const observe::Event& event) {
  if (!is_block(event)) return;
  const std::size_t waste = wasted_by(event);
  MadeHere* const place = event.site == 0 ? nullptr : &habits.at(event.site);
  const auto [known, added] = habits.live.try_emplace(event.serial, Habits::Live{place, waste});
  if (!added) habits.live.erase(known);
  if (place == nullptr) return;
  if (place->made++ == 0) {
    place->function = event.function_name();
    place->object = event.object;
  }
  place->largest = std::max(place->largest, event.bytes);
  if (!added) return;
  place->most_alive = std::max(place->most_alive, ++place->alive);
  if (waste == 0) return;
  ++place->wasteful;
  place->largest_wasteful = std::max(place->largest_wasteful, event.bytes);
  place->wasted += waste;
  if (place->wasted <= place->most_wasted) return;
  place->most_wasted = place->wasted;
  place->blocks_then = place->wasteful;
  place->bytes_then = place->wasteful * event.footprint();
}

// It ends, or the program does.
void look_back(Habits& habits, MadeHere& place, std::uint64_t serial, std::size_t bytes,
               std::uint64_t last_use) {
  if (!LastUse::is_of(last_use, serial)) {
    ++place.unused;
    place.unused_bytes += bytes;
    return;
  }
  ++place.used;
  const std::uint64_t now = habits.operations.load(std::memory_order_relaxed);
  const std::uint64_t since = now - LastUse::operation(last_use);
  if (!LastUse::reads(last_use) || since < kManyOperations || since < now / 2) return;
  place.held_for = place.held == 0 ? since : std::min(place.held_for, since);
  ++place.held;
  place.held_bytes += bytes;
}

// With the lock.
void note_end(Habits& habits, const observe::Event& event) {
  if (!is_block(event)) return;
  const auto [known, added] = habits.live.try_emplace(event.serial);
  if (added) return;
  const auto [place, waste] = known->second;
  habits.live.erase(known);
  if (place == nullptr) return;
  --place->alive;
  if (waste != 0) {
    --place->wasteful;
    place->wasted -= waste;
  }
  if (!habits.sees_uses || event.object != Object::DeviceBlock) return;
  if (const BlockFacts* facts = habits.memory.map().facts_of(event.address))
    look_back(habits, *place, event.serial, event.bytes, facts->used.load(std::memory_order_relaxed));
}

void note_use(Habits& habits, std::span<const Touch> touches) {
  const std::uint64_t now = habits.operations.fetch_add(1, std::memory_order_relaxed) + 1;
  for (const Touch& each : touches) {
    if (!each.on_device || each.extent == 0 || !habits.memory.is_plain(each.address)) continue;
    if (BlockFacts* facts = habits.memory.map().facts_of(each.address - each.offset))
      facts->used.store(LastUse::word(each.extent, now, !each.writes), std::memory_order_relaxed);
  }
}

void hear_habits(const observe::Batch& events) {
  Habits* habits = g_habits.load(std::memory_order_acquire);
  if (habits == nullptr) return;
  std::unique_lock lock{habits->mutex, std::defer_lock};
  events.each([&](const observe::Told& told) {
    if (told.event.what != What::Allocated && told.event.what != What::Freed)
      return habits->sees_uses ? note_use(*habits, told.touches) : void();
    if (!lock) lock.lock();  // once for all that are told together
    told.event.what == What::Allocated ? note_made(*habits, told.event) : note_end(*habits, told.event);
  });
}

void tell_place(const MadeHere& place) {
  Habit habit{place.function, place.site, place.object, place.made, place.most_alive, place.largest};
  if (place.largest <= kSmallBlock && place.made >= kManyBlocks &&
      place.made >= kUsesOfEach * place.most_alive)
    report_finding(churned(habit));
  if (place.most_wasted >= kMuch) {
    habit.count = place.blocks_then;
    habit.bytes = place.bytes_then;
    habit.wasted = place.most_wasted;
    habit.largest = place.largest_wasteful;
    report_finding(wasted_pages(habit));
  }
  if (place.used == 0 && place.unused_bytes >= kMuch) {
    habit.count = place.unused;
    habit.bytes = place.unused_bytes;
    report_finding(never_used(habit));
  }
  if (place.held_bytes >= kMuch) {
    habit.count = place.held;
    habit.bytes = place.held_bytes;
    habit.operations = place.held_for;
    report_finding(held_unused(habit));
  }
}

}  // namespace

void watch_habits(Memory& memory, bool uses) {
  g_habits.store(make_anew<Habits>(memory, uses), std::memory_order_release);
  constexpr std::uint32_t kBlocks = observe::bits(What::Allocated, What::Freed);
  // Blocks alone may be told late, so that they stay on the fast path.
  observe::listen(
      hear_habits,
      {.wanted = uses ? kBlocks | observe::bits(What::Copied, What::Filled, What::Submitted) : kBlocks,
       .at_once = uses});
}

void tell_habits() {
  if (g_habits.load() == nullptr) return;
  observe::flush();
  Habits* habits = g_habits.exchange(nullptr);
  if (habits == nullptr) return;
  const std::lock_guard lock{habits->mutex};
  // What is still there.
  for (std::uint32_t device = 0; habits->sees_uses && device < habits->memory.settings().devices();
       ++device) {
    habits->memory.map().for_each_block(device, [&](const Block& block) {
      const auto known = habits->live.find(block.serial);
      const BlockFacts* facts = habits->memory.map().facts_of(block.start);
      if (known != habits->live.end() && known->second.place != nullptr && facts != nullptr)
        look_back(*habits, *known->second.place, block.serial, block.asked,
                  facts->used.load(std::memory_order_relaxed));
    });
  }
  for (const MadeHere& place : habits->places) tell_place(place);
}

void stop_watching_habits() {
  observe::unlisten(hear_habits);
  tell_habits();
}

void forget_habits() { g_habits.store(nullptr); }

}  // namespace belay::check
