// Threads that a test steers step by step.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace belay_test {

// Runs a body on a thread of its own and waits for its end.
inline void on_new_thread(const std::function<void()>& body) { std::thread(body).join(); }

// A thread that stays: every step runs on it, and do_() returns when the step is over. What belongs to a
// thread (current context, last error, messages) is kept from step to step.
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { finish(); }

  void do_(std::function<void()> step) {
    std::unique_lock lock(mutex_);
    step_ = std::move(step);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !step_; });
  }

  // The thread's value of an expression: ask([] { return aclrtPeekAtLastError(...); }).
  template <typename Step>
  auto ask(Step step) {
    decltype(step()) answer{};
    do_([&] { answer = step(); });
    return answer;
  }

  // Ends the thread; no step may follow.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return over_ || step_; });
      if (!step_) return;
      const std::function<void()> step = step_;
      lock.unlock();
      step();
      lock.lock();
      step_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> step_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace belay_test
