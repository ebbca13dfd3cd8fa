// aclrtMalloc and aclrtFree for a thread that has all it takes at hand: an address range of that size in a
// bin, and credit for its pages in its shard. docs/fast-path.md follows the two step by step.
//
//   aclrtMalloc                                 aclrtFree
//   └ allocate_huge_first  the usual policy     └ free_ordinary  most blocks of the device that the thread
//     ├ allocate_by_policy any other              │              works with: bins by size class
//     │ └ slow                                    ├ free_any     all others: bins by their keys
//     ├ noted              somebody listens       │ └ slow
//     │ └ slow             or wants to know       ├ noted        the same
//     └ slow               where                  │ └ slow
//                                                 └ slow
//   noted: the same two again, but each block is written down (memory/block_facts.h): where in the program it
//   was made and freed, if that is kept; and told to whoever listens, through the ring of the thread
//   (observe/ring.h).
//   slow: through the door (api/door.h), with all rules and refusals; there the bins are filled.
//   allocate_from, free_into: what all have in common; from there, where memory was written to or the state
//   has just changed, begin_with_care and end_with_care.
//
// These are the two calls that do not come through the door, and the only ones. Two locked instructions a
// pair: one takes pages from the shard, which others may empty at any moment; one withdraws the block's word,
// which decides who wins a double free. Everything that is not ordinary (nothing at hand, a reason to be
// slow, a refusal) is left to the next in the tree, before anything has happened. The calls are all last
// calls, so that nothing is saved for them on the way.
#pragma once

#include <utility>

#include "memory/memory.h"
#include "memory/thread_cache.h"
#include "observe/call_sites.h"
#include "observe/observe.h"

namespace belay::fastpath {

// What is written down of a block: that it came and went, for those who listen; where in the program.
enum class Noted : std::uint64_t {
  Nothing = 0,
  Events = FastPathState::kListening,
  Sites = FastPathState::kSited,
  Both = FastPathState::kListening | FastPathState::kSited,
};
constexpr bool has_events(Noted noted) { return noted == Noted::Events || noted == Noted::Both; }
constexpr bool has_sites(Noted noted) { return noted == Noted::Sites || noted == Noted::Both; }

// The state in which a thread whose knowledge holds in `epoch` may go on.
template <Noted noted>
constexpr std::uint64_t state_for(std::uint64_t epoch) {
  return epoch | static_cast<std::uint64_t>(noted);
}

// Of those who have come from the state in which nothing is.
inline Noted noted_now() {
  return static_cast<Noted>(FastPathState::now() & static_cast<std::uint64_t>(Noted::Both));
}

// What is left to do for a block where memory was written to or a peak may be reached; and for one that is
// withdrawn already, where memory was written to or the state has changed. All is well in the end.
aclError begin_with_care(ThreadCache& cache, std::uint64_t pages, Range range, std::uint64_t word);
// A peak may be reached, or somebody wants to hear of blocks at once who was not there a moment before.
aclError note_change(ThreadCache& cache, std::uintptr_t start, std::uint64_t word);
template <Noted noted>
aclError end_with_care(ThreadCache& cache, Bin& bin, Range range, std::uint64_t word);

// Where and as what a call is told, without a ring if nobody listens; and where in the program it was made,
// if that is kept.
struct Teller {
  observe::Ring* ring;
  observe::Operation call;
  std::uint32_t site;
  observe::Event::Policy policy = observe::Event::Policy::HugeFirst;  // that an allocation was asked for with
};

// Of the documented ones (memory/plan.h); others do not come here.
constexpr observe::Event::Policy policy_told(std::uint32_t policy) {
  using Policy = observe::Event::Policy;
  constexpr Policy kTold[] = {Policy::HugeFirst, Policy::HugeOnly,   Policy::NormalOnly, Policy::HugeFirst,
                              Policy::HugeOnly,  Policy::NormalOnly, Policy::Huge1GOnly, Policy::Huge1GOnly};
  return kTold[policy % std::size(kTold)];
}

// An event about a block of that bin, in the thread's ring, which has room for it: what differs from a cell
// that is ready (Ring::cell). One store after the other, since every locked instruction waits for all that
// were made before: putting values together in a vector register first takes longer.
[[gnu::always_inline]] inline void tell(Teller teller, std::uint64_t at, observe::What what, const Bin& bin,
                                        std::uint64_t serial, std::uintptr_t start, std::uint64_t size) {
  observe::Event& event = teller.ring->cell(at);
  const auto put = [](auto& place, std::uint64_t value) {
    using Value = std::remove_reference_t<decltype(place)>;
    __atomic_store_n(&place, static_cast<Value>(value), __ATOMIC_RELAXED);
  };
  event.set_first_word(bin.told | static_cast<std::uint64_t>(what) |
                       static_cast<std::uint64_t>(teller.call) << 24 |
                       std::uint64_t{observe::Event::flags_of(teller.policy)} << 56);
  put(event.units, bin.pages);
  put(event.serial, serial);
  put(event.address, start);
  put(event.bytes, size);
  if (teller.site != 0) put(event.site, teller.site);
  teller.ring->added_at(at);
}

// The whole of it where memory was written to, or where a block's number would be there is no table yet.
aclError allocate_with_care(ThreadCache& cache, const Bin& bin, Range range, std::uint64_t word,
                            observe::Operation call, observe::Event::Policy policy);

// A block of that size from its bin; null: there is none.
template <Noted noted, class Slow>
[[gnu::always_inline]] inline aclError allocate_from(ThreadCache& cache, Bin* bin, unsigned slack_shift,
                                                     void** out, std::size_t size,
                                                     [[maybe_unused]] Teller teller, Slow&& slow) {
  if (bin == nullptr || bin->empty()) return slow();
  if (!machine::try_take_credit(*bin->account, bin->pages, bin->step)) return slow();
  const Range range = *--bin->top;
  *out = reinterpret_cast<void*>(range.start);
  const auto new_word = [&] { return BinKey::word(bin->key) | (bin->pages * 4_KiB - size) << slack_shift; };
  if constexpr (noted != Noted::Nothing) {
    const Heap& heap = cache.heap_at(range.start);
    BlockFacts* all = heap.facts.load(std::memory_order_acquire);
    if (all == nullptr || (range.word & Range::kNotPlain) != 0) [[unlikely]]
      return allocate_with_care(cache, *bin, range, new_word(), teller.call, teller.policy);
    BlockFacts& facts = all[HeapMap::unit_index(heap.index.load(std::memory_order_relaxed), range.start)];
    if constexpr (has_sites(noted)) facts.born.site.store(teller.site, std::memory_order_relaxed);
    if constexpr (has_events(noted)) {
      const std::uint64_t at = teller.ring->at(), serial = teller.ring->number(at);
      facts.serial.store(serial, std::memory_order_relaxed);
      tell(teller, at, observe::What::Allocated, *bin, serial, range.start, size);
    }
  }
  const std::uint64_t word = new_word();
  reinterpret_cast<std::atomic<std::uint64_t>*>(range.word & ~Range::kNotPlain)
      ->store(has_events(noted) ? word | BlockWord::kHasFacts : word, std::memory_order_release);
  // Store the word, then load the state. Whoever changes the state asks all threads for a barrier afterwards:
  // then it sees the word, or we see the state.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if constexpr (noted != Noted::Nothing) {
    if (FastPathState::now() != state_for<noted>(cache.device_epoch())) [[unlikely]]
      return note_change(cache, range.start, word);
  } else {
    if ((range.word & Range::kNotPlain) != 0 || FastPathState::now() != cache.device_epoch()) [[unlikely]]
      return begin_with_care(cache, bin->pages, range, word);
  }
  return ACL_SUCCESS;
}

// Up to this HUGE_FIRST has a size class.
inline constexpr std::size_t kMostByTable = 1_GiB;

// HUGE_FIRST, which nearly everybody asks for. `by_policy` is called with the cache, which may serve any
// other request; `slow` where none can be served.
template <Noted noted, class ByPolicy, class Other, class Slow>
[[gnu::always_inline]] inline aclError allocate_huge_first(Api api, void** out, std::size_t size,
                                                           std::uint32_t policy, Teller teller,
                                                           ByPolicy&& by_policy, Other&& in_another_state,
                                                           Slow&& slow) {
  ThreadCache& cache = *t_cache;
  if (FastPathState::epoch(FastPathState::now()) != state_for<noted>(cache.device_epoch()) || out == nullptr)
    return in_another_state();
  if (policy != ACL_MEM_MALLOC_HUGE_FIRST || size - 1 >= kMostByTable) return by_policy(cache);
  const auto& fits = cache.rules().huge_first(api).fits;
  Bin* bin = cache.of_class(size <= kPolicyRules[0].normal_up_to
                                ? (size + fits[0].add) / 4_KiB
                                : (size + fits[1].add) / 2_MiB + SizeClass::first(Page::Huge2M));
  return allocate_from<noted>(cache, bin, BlockWord::kSlackShift, out, size, teller,
                              std::forward<Slow>(slow));
}

// Any policy.
template <Noted noted, class Slow>
[[gnu::always_inline]] inline aclError allocate_by_policy(ThreadCache& cache, Api api, void** out,
                                                          std::size_t size, std::uint32_t policy,
                                                          Teller teller, Slow&& slow) {
  const FastRule& rule = cache.rules().of(api, policy);
  if (size - 1 >= rule.most) return slow();
  Bin* bin = rule.with_fit(size, [&](const PageFit& fit) {
    const std::size_t size_class = fit.size_class(size);
    return size_class < SizeClass::kCount ? cache.of_class(size_class)
                                          : cache.find(BinKey::of(fit.word_of(size), cache.device()));
  });
  return allocate_from<noted>(cache, bin, rule.slack_shift(), out, size, teller, std::forward<Slow>(slow));
}

// A block as it was found: its first address, its heap and that one's index, and its word.
struct FoundBlock {
  std::uintptr_t start;
  const Heap& heap;
  std::uint64_t index, word;

  // The word that its bin knows.
  template <Noted noted>
  std::uint64_t plain_word() const {
    return noted == Noted::Nothing ? word : word & ~BlockWord::kHasFacts;
  }
};

// Into its bin, where there is room in it.
template <Noted noted, class Slow>
[[gnu::always_inline]] inline aclError free_into(ThreadCache& cache, Bin& bin, const FoundBlock& block,
                                                 [[maybe_unused]] unsigned slack_shift,
                                                 [[maybe_unused]] Teller teller, Slow&& slow) {
  if (bin.full()) return slow();
  if (has_events(noted) && (block.word & BlockWord::kHasFacts) == 0) return slow();
  std::atomic<std::uint64_t>& place = HeapMap::word_at(block.index, block.start);
  std::uint64_t word = block.word;
  [[maybe_unused]] BlockFacts* facts = nullptr;
  if constexpr (noted != Noted::Nothing) {
    if (has_sites(noted) && block.heap.facts.load(std::memory_order_acquire) == nullptr) return slow();
    facts = &HeapMap::facts_at(block.heap, block.index, block.start);
  }
  if (!place.compare_exchange_strong(word, 0)) return slow();
  const Range range{block.start, reinterpret_cast<std::uintptr_t>(&place)};
  if ((block.index & Heap::kWritten) != 0 ||
      FastPathState::epoch(FastPathState::now()) != state_for<noted>(cache.epoch())) [[unlikely]]
    return end_with_care<noted>(cache, bin, range, word);
  if constexpr (noted != Noted::Nothing) {
    if constexpr (has_sites(noted)) {
      facts->died.site.store(teller.site, std::memory_order_relaxed);
      facts->ended_word.store(word, std::memory_order_relaxed);
    }
    if constexpr (has_events(noted)) {
      tell(teller, teller.ring->at(), observe::What::Freed, bin,
           facts->serial.load(std::memory_order_relaxed), block.start,
           bin.pages * 4_KiB - (word >> slack_shift));
    }
  }
  machine::give_credit(*bin.account, bin.step, true);
  *bin.top++ = range;
  return ACL_SUCCESS;
}

// Any block, of any device.
template <Noted noted, class Slow>
[[gnu::always_inline]] inline aclError free_any(ThreadCache& cache, const FoundBlock& block, Teller teller,
                                                Slow&& slow) {
  Bin* bin = cache.find(BinKey::of(block.plain_word<noted>(), block.heap.device));
  if (bin == nullptr) return slow();
  return free_into<noted>(cache, *bin, block, BlockWord::slack_shift(BlockWord::page_of(block.word)), teller,
                          std::forward<Slow>(slow));
}

// A block of the device that the thread works with, but for those on 1 GB pages and very large ones. `any` is
// called with the cache and the block that was found, `slow` where there is none to serve.
template <Noted noted, class Any, class Other, class Slow>
[[gnu::always_inline]] inline aclError free_ordinary(void* pointer, Teller teller, Any&& any,
                                                     Other&& in_another_state, Slow&& slow) {
  ThreadCache& cache = *t_cache;
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (FastPathState::epoch(FastPathState::now()) != state_for<noted>(cache.epoch()))
    return in_another_state();
  if (!cache.may_hold(start)) return slow();
  const Heap& heap = cache.heap_at(start);
  const std::uint64_t index = heap.index.load(std::memory_order_acquire);
  if (!HeapMap::may_start(index, start)) return slow();
  const FoundBlock block{start, heap, index, HeapMap::word_at(index, start).load(std::memory_order_relaxed)};
  const std::uint64_t word = block.plain_word<noted>();
  const std::size_t size_class = SizeClass::of_small(word);
  if (size_class >= SizeClass::kCount) return any(cache, block);
  Bin* bin = cache.of_class(size_class);
  if (bin == nullptr || bin->key != BinKey::of_small(word, heap.device)) return any(cache, block);
  return free_into<noted>(cache, *bin, block, BlockWord::kSlackShift, teller, std::forward<Slow>(slow));
}

}  // namespace belay::fastpath
