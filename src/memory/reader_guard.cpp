#include "memory/reader_guard.h"

#include <thread>

#include "platform/threads.h"

namespace belay {

constinit thread_local ReaderGuard::Mark* ReaderGuard::t_mark = nullptr;
constinit std::atomic<ReaderGuard::Mark*> ReaderGuard::g_marks{nullptr};
constinit std::atomic<bool> ReaderGuard::g_fenced{false};

// Gives the mark of a thread that ends to the next one.
struct MarkKeeper {
  ReaderGuard::Mark* mark;
  ~MarkKeeper() {
    ReaderGuard::t_mark = nullptr;
    mark->taken.store(false, std::memory_order_release);
  }
};

ReaderGuard::Mark& ReaderGuard::make_mark() {
  // Asked once, by the first thread of all: before anybody could be missed.
  static const bool fenced = [] {
    const bool none = !platform::barrier_on_all_threads();
    g_fenced.store(none);
    return none;
  }();
  (void)fenced;
  Mark* mine = nullptr;
  for (Mark* each = g_marks.load(std::memory_order_acquire); each != nullptr && mine == nullptr;
       each = each->next) {
    bool free = false;
    if (each->taken.compare_exchange_strong(free, true, std::memory_order_acq_rel)) mine = each;
  }
  if (mine == nullptr) {
    mine = new Mark;
    mine->next = g_marks.load(std::memory_order_relaxed);
    while (!g_marks.compare_exchange_weak(mine->next, mine, std::memory_order_acq_rel)) {
    }
  }
  thread_local MarkKeeper keeper{mine};
  keeper.mark = mine;
  t_mark = mine;
  return *mine;
}

void ReaderGuard::wait_for_readers() {
  if (g_fenced.load(std::memory_order_relaxed)) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    (void)platform::barrier_on_all_threads();
  }
  for (Mark* each = g_marks.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    const std::uint64_t visit = each->visit.load(std::memory_order_acquire);
    if (visit % 2 == 0) continue;
    for (int tries = 0; each->visit.load(std::memory_order_acquire) == visit; ++tries) {
      if (tries < 100) {
        platform::pause();
      } else {
        std::this_thread::yield();  // a large copy takes its time
      }
    }
  }
}

}  // namespace belay
