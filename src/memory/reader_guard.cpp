#include "memory/reader_guard.h"

#include <thread>
#include <utility>

#include "platform/process.h"
#include "platform/thread_end.h"
#include "platform/threads.h"

namespace belay {

constinit thread_local ReaderGuard::Mark* ReaderGuard::t_mark = nullptr;
constinit std::atomic<ReaderGuard::Mark*> ReaderGuard::g_marks{nullptr};
constinit std::atomic<bool> ReaderGuard::g_fenced{false};

namespace {
// Asked by each thread before its first visit until one knows: a fork may come at any moment, so nobody
// waits for another here.
constinit std::atomic<bool> g_asked{false};
}  // namespace

ReaderGuard::Mark& ReaderGuard::make_mark() {
  if (!g_asked.load(std::memory_order_acquire)) {
    g_fenced.store(!platform::barrier_on_all_threads());
    g_asked.store(true, std::memory_order_release);
  }
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
  t_mark = mine;
  // When the thread ends, the next one may have it.
  (void)platform::at_thread_end([] {
    if (Mark* mark = std::exchange(t_mark, nullptr)) mark->taken.store(false, std::memory_order_release);
  });
  return *mine;
}

void ReaderGuard::forget_other_threads() {
  for (Mark* each = g_marks.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    if (each == t_mark) continue;
    each->visit.store(0);
    each->depth = 0;
    each->taken.store(false);
  }
}

void ReaderGuard::wait_for_readers() {
  if (platform::is_only_thread()) return;  // which is not inside
  // From the first failure on each reader has a fence of its own; those that are inside by then are seen when
  // they have gone through a system call or an interrupt, for which a moment is enough.
  if (!platform::barrier_on_all_threads() && !g_fenced.exchange(true)) platform::sleep_briefly();
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
