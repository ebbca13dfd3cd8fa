// The pointers of the program that this thread follows at this moment, so that a fault there can be
// explained: whether host memory is there, nobody can check beforehand.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/spare_pinned.h"

namespace belay {

// Either end may be a device address, or none (0).
struct Following {
  std::uintptr_t to = 0, from = 0;
  std::size_t bytes = 0;  // 0: none at the moment

  class Scope;
};
extern constinit thread_local Following t_following __attribute__((tls_model("initial-exec")));

// The widest counts: a copy that is made in pieces is one copy. The fences keep the compiler from leaving out
// what only a signal handler reads.
class Following::Scope {
 public:
  Scope(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) : widest_{t_following.bytes == 0} {
    if (widest_) t_following = {to, from, bytes};
    SparePinned::end_at(to, bytes);
    SparePinned::end_at(from, bytes);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Scope(const void* to, const void* from, std::size_t bytes)
      : Scope{reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), bytes} {}
  ~Scope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (widest_) t_following.bytes = 0;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const bool widest_;
};

}  // namespace belay
