// Tells whoever waits for words of device memory that some were written or freed.
//
// Costs one fence and one load where nobody waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "memory/fast_path_state.h"

namespace belay {

class Watch {
 public:
  explicit Watch(std::uint64_t memory) : memory_{memory} {}
  using Heard = std::function<void(std::uintptr_t start, std::size_t bytes)>;
  void set(Heard heard) { heard_ = std::move(heard); }  // once, before anything is written

  // A thread that waits stores its mark, then loads the word; one that writes stores the word, then loads the
  // mark. So one of the two sees the other.
  void add() {
    FastPathState::add(memory_, FastPathState::kReason);  // blocks are not freed behind our back
    count_.fetch_add(1, std::memory_order_seq_cst);
  }
  void remove() {
    count_.fetch_sub(1, std::memory_order_seq_cst);
    FastPathState::remove(memory_, FastPathState::kReason);
  }

  void tell(std::uintptr_t start, std::size_t bytes) {
#if defined(__SANITIZE_THREAD__)  // which does not know fences
    count_.fetch_add(0, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    if (count_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      heard_(start, bytes);
  }

 private:
  std::uint64_t memory_;  // see fast_path_state.h
  std::atomic<std::uint32_t> count_{0};
  Heard heard_;
};

}  // namespace belay
