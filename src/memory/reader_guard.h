// Lets a thread use what others may take away at any moment, without a locked instruction.
//
// A thread says that it is inside before it looks something up, and that it has left when it has done with
// it. Whoever takes something away first makes sure that it cannot be found any more, then lets all threads
// of the process pass a barrier: from then on everybody either is seen to be inside or does not find it. It
// goes when all who were inside at that moment have left.
#pragma once

#include <atomic>
#include <cstdint>

namespace belay {

class ReaderGuard {
 public:
  ReaderGuard() : mine_{mark()} { enter(); }
  ReaderGuard(const ReaderGuard&) = delete;
  ReaderGuard& operator=(const ReaderGuard&) = delete;
  ~ReaderGuard() {
    if (--mine_.depth == 0)
      mine_.visit.store(mine_.visit.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Until all threads that might still use what can no longer be found have left. Not from inside.
  static void wait_for_readers();
  // In a forked child: the others are not there.
  static void forget_other_threads();

 private:
  // One for each thread; odd: inside. They are never given back, but taken over by threads to come.
  struct alignas(64) Mark {
    std::atomic<std::uint64_t> visit{0};
    std::uint32_t depth = 0;
    std::atomic<bool> taken{true};
    Mark* next = nullptr;
  };
  friend struct MarkKeeper;

  void enter() {
    if (mine_.depth++ != 0) return;
    mine_.visit.store(mine_.visit.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (g_fenced.load(std::memory_order_relaxed)) [[unlikely]]
      mine_.visit.fetch_add(0, std::memory_order_seq_cst);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the barrier of the others is ours, too
  }
  static Mark& mark() { return t_mark != nullptr ? *t_mark : make_mark(); }
  static Mark& make_mark();

  static constinit thread_local Mark* t_mark __attribute__((tls_model("initial-exec")));
  static std::atomic<Mark*> g_marks;
  static std::atomic<bool> g_fenced;  // the system has no barrier for all threads, so each has its own

  Mark& mine_;
};

}  // namespace belay
