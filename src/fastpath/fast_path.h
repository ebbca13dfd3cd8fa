// aclrtMalloc and aclrtFree for a thread that has all it takes at hand: an address range of that size in a
// bin, and credit for its pages in its shard. docs/fast-path.md follows the two step by step.
//
//   aclrtMalloc                                  aclrtFree
//   └ allocate_huge_first  one policy,           └ free_ordinary  an ordinary block of the device that the
//     │                    sizes by a table        │               thread works with, bins by a table
//     └ allocate_by_policy all policies, bins      └ free_any      any block, bins by their keys
//       │                  by their keys             │
//       └ enter (api/door.h): all rules and          └ enter (api/door.h): all kinds of memory and
//         refusals; fills the bins                     refusals
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

// A block of that size from its bin.
template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_from(ThreadCache& cache, Bin& bin, unsigned slack_shift,
                                                     void** out, std::size_t size, Otherwise&& otherwise) {
  if (bin.empty()) return otherwise();
  if (!machine::try_take_credit(*bin.account, bin.pages, bin.step)) return otherwise();
  const Range range = *--bin.top;
  const std::uint64_t word = BinKey::word(bin.key) | (bin.pages * 4_KiB - size) << slack_shift;
  *out = reinterpret_cast<void*>(range.start);
  reinterpret_cast<std::atomic<std::uint64_t>*>(range.word & ~Range::kNotPlain)
      ->store(word, std::memory_order_release);
  // Store the word, then load the state. Whoever changes the state asks all threads for a barrier afterwards:
  // then it sees the word, or we see the state.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if ((range.word & Range::kNotPlain) != 0 || FastPathState::now() != cache.device_epoch()) [[unlikely]]
    return begin_with_care(cache, bin.pages, range, word);
  return ACL_SUCCESS;
}

inline bool may_allocate(const ThreadCache& cache, void** out) {
  return FastPathState::epoch(FastPathState::now()) == cache.device_epoch() && out != nullptr;
}

// HUGE_FIRST, which nearly everybody asks for.
template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_huge_first(Api api, void** out, std::size_t size,
                                                           std::uint32_t policy, Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  if (!may_allocate(cache, out)) return otherwise();
  if (policy != ACL_MEM_MALLOC_HUGE_FIRST || size - 1 >= SizeClass::kMostBytes) return otherwise();
  const FastRules::Added& added = cache.huge_first(api);
  Bin& bin = cache.of_class(size <= kPolicyRules[0].normal_up_to ? SizeClass::normal(size + added.normal)
                                                                 : SizeClass::huge(size + added.huge));
  return allocate_from(cache, bin, BlockWord::kSlackShift, out, size, std::forward<Otherwise>(otherwise));
}

// Any policy.
template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_by_policy(Api api, void** out, std::size_t size,
                                                          std::uint32_t policy, Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  if (!may_allocate(cache, out)) return otherwise();
  const FastRule& rule = cache.rules().of(api, policy);
  if (size - 1 >= rule.most) return otherwise();
  Bin& bin = cache.find_word(rule.fit(size).word_of(size));
  return allocate_from(cache, bin, bin.slack_shift, out, size, std::forward<Otherwise>(otherwise));
}

// A block with that word, as it was read at its place, into its bin.
template <class Otherwise>
[[gnu::always_inline]] inline aclError free_into(ThreadCache& cache, Bin& bin, std::uintptr_t start,
                                                 std::uint64_t index, std::uint64_t word,
                                                 Otherwise&& otherwise) {
  std::atomic<std::uint64_t>& place = HeapMap::word_at(index, start);
  if (!place.compare_exchange_strong(word, 0)) return otherwise();
  const Range range{start, reinterpret_cast<std::uintptr_t>(&place)};
  if ((index & Heap::kWritten) != 0 || FastPathState::epoch(FastPathState::now()) != cache.epoch())
      [[unlikely]]
    return end_with_care(cache, bin, range, word);
  machine::give_credit(*bin.account, bin.step, true);
  *bin.top++ = range;
  return ACL_SUCCESS;
}

// The bin of the block that starts here, found by `find`, with room in it; else the other way.
template <class Find, class Otherwise>
[[gnu::always_inline]] inline aclError free_found(void* pointer, Find&& find, Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (FastPathState::epoch(FastPathState::now()) != cache.epoch()) return otherwise();
  if (!cache.may_hold(start)) return otherwise();
  const Heap& heap = cache.heap_at(start);
  const std::uint64_t index = heap.index.load(std::memory_order_acquire);
  if (!HeapMap::may_start(index, start)) return otherwise();
  const std::uint64_t word = HeapMap::word_at(index, start).load(std::memory_order_relaxed);
  Bin* bin = find(cache, word, heap.device);
  if (bin == nullptr || bin->full()) return otherwise();
  return free_into(cache, *bin, start, index, word, std::forward<Otherwise>(otherwise));
}

template <class Otherwise>
[[gnu::always_inline]] inline aclError free_ordinary(void* pointer, Otherwise&& otherwise) {
  const auto by_class = [](ThreadCache& cache, std::uint64_t word, std::uint32_t device) -> Bin* {
    const std::size_t size_class = SizeClass::of(word);
    if (size_class >= SizeClass::kCount) return nullptr;
    Bin& bin = cache.of_class(size_class);
    return bin.key == BinKey::of_small(word, device) ? &bin : nullptr;
  };
  return free_found(pointer, by_class, std::forward<Otherwise>(otherwise));
}

template <class Otherwise>
[[gnu::always_inline]] inline aclError free_any(void* pointer, Otherwise&& otherwise) {
  const auto by_key = [](ThreadCache& cache, std::uint64_t word, std::uint32_t device) -> Bin* {
    const std::uint64_t key = BinKey::of(word, device);
    Bin& bin = cache.find(key);
    return bin.key == key ? &bin : nullptr;
  };
  return free_found(pointer, by_key, std::forward<Otherwise>(otherwise));
}

}  // namespace belay::fastpath
