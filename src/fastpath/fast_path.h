// aclrtMalloc and aclrtFree for a thread that has all it takes at hand: an address range of that size in a
// bin, and credit for its pages in its shard. docs/fast-path.md follows the two step by step.
//
//   aclrtMalloc                                 aclrtFree
//   └ allocate_huge_first  the usual policy     └ free_ordinary  most blocks of the device that the thread
//     ├ allocate_by_policy any other              │              works with: bins by size class
//     │ └ slow                                    ├ free_any     all others: bins by their keys
//     └ slow                                      │ └ slow
//                                                 └ slow
//   slow: through the door (api/door.h), with all rules and refusals; there the bins are filled.
//   allocate_from, free_into: what both have in common; from there, where memory was written to or
//   somebody must hear of it, begin_with_care and end_with_care.
//
// These are the two calls that do not come through the door, and the only ones. Two locked instructions a
// pair: one takes pages from the shard, which others may empty at any moment; one withdraws the block's word,
// which decides who wins a double free. Everything that is not ordinary (nothing at hand, a listener, a
// refusal) is left to the next in the tree, before anything has happened. The calls are all last calls, so
// that nothing is saved for them on the way.
#pragma once

#include <utility>

#include "memory/memory.h"
#include "memory/thread_cache.h"

namespace belay::fastpath {

// What is left to do for a block where memory was written to or a peak may be reached; and for one that is
// withdrawn already, where memory was written to or somebody must hear of it. All is well in the end.
aclError begin_with_care(ThreadCache& cache, std::uint64_t pages, Range range, std::uint64_t word);
aclError end_with_care(ThreadCache& cache, Bin& bin, Range range, std::uint64_t word);

// A block of that size from its bin; null: there is none.
template <class Slow>
[[gnu::always_inline]] inline aclError allocate_from(ThreadCache& cache, Bin* bin, unsigned slack_shift,
                                                     void** out, std::size_t size, Slow&& slow) {
  if (bin == nullptr || bin->empty()) return slow();
  if (!machine::try_take_credit(*bin->account, bin->pages, bin->step)) return slow();
  const Range range = *--bin->top;
  const std::uint64_t word = BinKey::word(bin->key) | (bin->pages * 4_KiB - size) << slack_shift;
  *out = reinterpret_cast<void*>(range.start);
  reinterpret_cast<std::atomic<std::uint64_t>*>(range.word & ~Range::kNotPlain)
      ->store(word, std::memory_order_release);
  // Store the word, then load the state. Whoever changes the state asks all threads for a barrier afterwards:
  // then it sees the word, or we see the state.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if ((range.word & Range::kNotPlain) != 0 || FastPathState::now() != cache.device_epoch()) [[unlikely]]
    return begin_with_care(cache, bin->pages, range, word);
  return ACL_SUCCESS;
}

// Up to this HUGE_FIRST has a size class.
inline constexpr std::size_t kMostByTable = 1_GiB;

// HUGE_FIRST, which nearly everybody asks for. `by_policy` is called with the cache, which may serve any
// other request; `slow` where none can be served.
template <class ByPolicy, class Slow>
[[gnu::always_inline]] inline aclError allocate_huge_first(Api api, void** out, std::size_t size,
                                                           std::uint32_t policy, ByPolicy&& by_policy,
                                                           Slow&& slow) {
  ThreadCache& cache = *t_cache;
  if (FastPathState::epoch(FastPathState::now()) != cache.device_epoch() || out == nullptr) return slow();
  if (policy != ACL_MEM_MALLOC_HUGE_FIRST || size - 1 >= kMostByTable) return by_policy(cache);
  const auto& fits = cache.rules().huge_first(api).fits;
  Bin* bin = cache.of_class(size <= kPolicyRules[0].normal_up_to
                                ? (size + fits[0].add) / 4_KiB
                                : (size + fits[1].add) / 2_MiB + SizeClass::first(Page::Huge2M));
  return allocate_from(cache, bin, BlockWord::kSlackShift, out, size, std::forward<Slow>(slow));
}

// Any policy.
template <class Slow>
[[gnu::always_inline]] inline aclError allocate_by_policy(ThreadCache& cache, Api api, void** out,
                                                          std::size_t size, std::uint32_t policy,
                                                          Slow&& slow) {
  const FastRule& rule = cache.rules().of(api, policy);
  if (size - 1 >= rule.most) return slow();
  Bin* bin = rule.with_fit(size, [&](const PageFit& fit) {
    const std::size_t size_class = fit.size_class(size);
    return size_class < SizeClass::kCount ? cache.of_class(size_class)
                                          : cache.find(BinKey::of(fit.word_of(size), cache.device()));
  });
  return allocate_from(cache, bin, rule.slack_shift(), out, size, std::forward<Slow>(slow));
}

// A block as it was found: its first address, its heap's index, its word and its device.
struct FoundBlock {
  std::uintptr_t start;
  std::uint64_t index, word;
  std::uint32_t device;
};

// Into its bin, where there is room in it.
template <class Slow>
[[gnu::always_inline]] inline aclError free_into(ThreadCache& cache, Bin& bin, const FoundBlock& block,
                                                 Slow&& slow) {
  if (bin.full()) return slow();
  std::atomic<std::uint64_t>& place = HeapMap::word_at(block.index, block.start);
  std::uint64_t word = block.word;
  if (!place.compare_exchange_strong(word, 0)) return slow();
  const Range range{block.start, reinterpret_cast<std::uintptr_t>(&place)};
  if ((block.index & Heap::kWritten) != 0 || FastPathState::epoch(FastPathState::now()) != cache.epoch())
      [[unlikely]]
    return end_with_care(cache, bin, range, word);
  machine::give_credit(*bin.account, bin.step, true);
  *bin.top++ = range;
  return ACL_SUCCESS;
}

// A block of the device that the thread works with, but for those on 1 GB pages and very large ones. `any` is
// called with the cache and the block that was found, `slow` where there is none to serve.
template <class Any, class Slow>
[[gnu::always_inline]] inline aclError free_ordinary(void* pointer, Any&& any, Slow&& slow) {
  ThreadCache& cache = *t_cache;
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (FastPathState::epoch(FastPathState::now()) != cache.epoch()) return slow();
  if (!cache.may_hold(start)) return slow();
  const Heap& heap = cache.heap_at(start);
  const std::uint64_t index = heap.index.load(std::memory_order_acquire);
  if (!HeapMap::may_start(index, start)) return slow();
  const std::uint64_t word = HeapMap::word_at(index, start).load(std::memory_order_relaxed);
  const FoundBlock block{start, index, word, heap.device};
  const std::size_t size_class = SizeClass::of_small(word);
  if (size_class >= SizeClass::kCount) return any(cache, block);
  Bin* bin = cache.of_class(size_class);
  if (bin == nullptr || bin->key != BinKey::of_small(word, block.device)) return any(cache, block);
  return free_into(cache, *bin, block, std::forward<Slow>(slow));
}

// Any block, of any device.
template <class Slow>
[[gnu::always_inline]] inline aclError free_any(ThreadCache& cache, const FoundBlock& block, Slow&& slow) {
  Bin* bin = cache.find(BinKey::of(block.word, block.device));
  if (bin == nullptr) return slow();
  return free_into(cache, *bin, block, std::forward<Slow>(slow));
}

}  // namespace belay::fastpath
