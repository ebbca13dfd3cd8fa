// aclrtMalloc and aclrtFree for a thread that has all it takes at hand: an address range of that size on its
// shelf, and credit for its pages in its shard. docs/warm-path.md follows the two step by step.
//
// Two locked instructions a pair: one takes pages from the shard, which others may empty at any moment; one
// withdraws the block's word, which decides who wins a double free. Everything that is not ordinary (nothing
// at hand, a listener, a refusal, other kinds of blocks) is left to `otherwise`, before anything has
// happened. The calls are all last calls, so that nothing is saved for them on the way.
#pragma once

#include <utility>

#include "memory/memory.h"
#include "memory/thread_cache.h"

namespace belay {

// What is left to do for a block where memory was written to or a peak may be reached; and for one that is
// withdrawn already, where memory was written to or somebody must hear of it. All is well in the end.
aclError begin_with_care(ThreadCache& cache, std::uint64_t pages, Range range, std::uint64_t word);
aclError end_with_care(ThreadCache& cache, Shelf& shelf, Range range, std::uint64_t word);

// A block of that size from its shelf; null: no shelf, or none that serves now.
template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_from(ThreadCache& cache, Shelf* shelf, void** out,
                                                     std::size_t size, Otherwise&& otherwise) {
  if (shelf == nullptr || shelf->empty()) return otherwise();
  if (!machine::try_take_credit(*shelf->account, shelf->pages, shelf->step)) return otherwise();
  const Range range = *--shelf->top;
  const std::uint64_t word = ShelfKey::word(shelf->key) | (shelf->pages * 4_KiB - size)
                                                              << BlockWord::kSlackShift;
  *out = reinterpret_cast<void*>(range.start);
  reinterpret_cast<std::atomic<std::uint64_t>*>(range.word & ~Range::kNotPlain)
      ->store(word, std::memory_order_release);
  // First the word, then the look: whoever asks all threads for a barrier after he changed the state sees the
  // one, or we see the other (Memory::stop_fast_path_for_listeners).
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if ((range.word & Range::kNotPlain) != 0 || WarmState::now() != cache.context_era()) [[unlikely]]
    return begin_with_care(cache, shelf->pages, range, word);
  return ACL_SUCCESS;
}

// HUGE_FIRST, which nearly everybody asks for.
template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_warm(Api api, void** out, std::size_t size,
                                                     std::uint32_t policy, Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  if (WarmState::era(WarmState::now()) != cache.context_era() || out == nullptr) return otherwise();
  if (policy != ACL_MEM_MALLOC_HUGE_FIRST || size - 1 >= Routes::kMostBytes) return otherwise();
  Shelf* shelf = size <= kPolicyRules[0].normal_up_to ? cache.route(cache.home(api).normal_route(size))
                                                      : cache.route(cache.home(api).huge_route(size));
  return allocate_from(cache, shelf, out, size, std::forward<Otherwise>(otherwise));
}

// Any policy.
template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_tepid(Api api, void** out, std::size_t size,
                                                      std::uint32_t policy, Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  if (WarmState::era(WarmState::now()) != cache.context_era() || out == nullptr) return otherwise();
  if (policy >= WarmRules::kPolicies) return otherwise();
  const WarmRule& rule = cache.rules().of(api, policy);
  if (size - 1 >= rule.most) return otherwise();
  return allocate_from(cache, cache.find_word(rule.lane(size).word_of(size)), out, size,
                       std::forward<Otherwise>(otherwise));
}

template <class Otherwise>
[[gnu::always_inline]] inline aclError free_warm(void* pointer, Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (WarmState::era(WarmState::now()) != cache.era()) return otherwise();
  if (!cache.may_hold(start)) return otherwise();
  const Heap& heap = cache.heap_at(start);
  const std::uint64_t index = heap.index.load(std::memory_order_acquire);
  if (!HeapMap::may_start(index, start)) return otherwise();
  std::atomic<std::uint64_t>& place = HeapMap::word_at(index, start);
  std::uint64_t word = place.load(std::memory_order_relaxed);
  const std::uint64_t key = ShelfKey::of(word, heap.device);
  Shelf& shelf = cache.shelf_at(key);
  if (shelf.key != key || shelf.full()) return otherwise();
  if (!place.compare_exchange_strong(word, 0)) return otherwise();

  const Range range{start, reinterpret_cast<std::uintptr_t>(&place)};
  if ((index & Heap::kWritten) != 0 || WarmState::era(WarmState::now()) != cache.era()) [[unlikely]]
    return end_with_care(cache, shelf, range, word);
  machine::give_credit(*shelf.account, shelf.step, true);
  *shelf.top++ = range;
  return ACL_SUCCESS;
}

}  // namespace belay
