// How tests wait: for a condition, with a limit that only a hang reaches. Everything in tests that waits by
// the clock does so through this file; test_habits.sh sees to it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace belay_test {

using namespace std::chrono_literals;

// Long enough for any machine, short enough to find a hang before the test runner does.
inline constexpr auto kPatience = 60s;
// Long enough for a wrong answer to show, short enough to be waited for when the answer is right.
inline constexpr std::int32_t kMoment = 50;  // milliseconds

// Waits until a condition holds that nothing announces. False if it does not in time.
inline bool eventually(const std::function<bool()>& is_so, std::chrono::milliseconds patience = kPatience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// Lets time pass without a condition. It is for three things: work whose length is what the test is about, a
// while in which something must not happen, and a chance for other threads to get somewhere, where the test
// holds as well if they do not.
inline void let_time_pass(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

// Some things can be seen only if another thread got somewhere in time. Tries with more and more time, so
// that only a machine that stands still for long, or a broken rule, fails.
inline bool with_growing_delay(const std::function<bool(std::chrono::milliseconds)>& attempt) {
  for (const auto delay : {20ms, 200ms, 2000ms, 15000ms}) {
    if (attempt(delay)) return true;
  }
  return false;
}

// A condition that another thread makes true.
class Signal {
 public:
  void give() {
    const std::lock_guard lock{mutex_};
    given_ = true;
    changed_.notify_all();
  }
  bool given() const {
    const std::lock_guard lock{mutex_};
    return given_;
  }
  [[nodiscard]] bool wait() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, kPatience, [this] { return given_; });
  }
  // True if it came in so short a time; for what must not come.
  bool came_soon() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::milliseconds{2 * kMoment}, [this] { return given_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

}  // namespace belay_test
