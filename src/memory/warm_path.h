// aclrtMalloc and aclrtFree for a thread that has all it takes at hand: a request like an earlier one, an address
// range of that size on its shelf, and credit for its pages in its purse. docs/warm-path.md follows the two step by
// step.
//
// Two locked instructions a pair: one takes pages from the purse, which others may empty at any moment; one withdraws
// the block's word, which decides who wins a double free. Everything that is not ordinary (nothing at hand, a
// listener, a refusal, other kinds of blocks) is left to `otherwise`, before anything has happened. The calls are
// all last calls, so that nothing is saved for them on the way.
#pragma once

#include "memory/memory.h"
#include "memory/thread_cache.h"

namespace belay {

// What is left to do for a block where memory was written to or a peak may be reached; and for one that is withdrawn
// already, where memory was written to or somebody must hear of it. All is well in the end.
aclError begin_with_care(ThreadCache& cache, const Request& request, Range range);
aclError end_with_care(ThreadCache& cache, Shelf& shelf, Range range, std::uint64_t word);

// For a request that is not remembered, or anything else the first look does not find; true: served.
bool allocate_tepid(Api api, void** out, std::size_t size, std::uint32_t policy);

template <class Otherwise>
[[gnu::always_inline]] inline aclError allocate_warm(Api api, void** out, std::size_t size, std::uint32_t policy,
                                                     Otherwise&& otherwise) {
  ThreadCache& cache = *t_cache;
  if (WarmState::era(WarmState::now()) != cache.context_era() || out == nullptr) return otherwise();
  const Request& request = cache.request_for(size);
  if (request.size != size || request.call != Request::call_of(api, policy)) return otherwise();
  Shelf& shelf = *request.shelf;
  if (shelf.empty()) return otherwise();
  if (!machine::try_take_credit(*request.account, request.pages, request.step)) return otherwise();

  const Range range = *--shelf.top;
  *out = reinterpret_cast<void*>(range.start);
  if ((range.word & Range::kNotPlain) != 0 || WarmState::now() != cache.context_era()) [[unlikely]]
    return begin_with_care(cache, request, range);
  reinterpret_cast<std::atomic<std::uint64_t>*>(range.word)->store(request.word, std::memory_order_release);
  return ACL_SUCCESS;
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
