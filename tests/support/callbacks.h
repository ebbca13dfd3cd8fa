// Functions of the program that run in streams, and threads that fetch them.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/answers.h"

namespace belay_test {

// What happened, in order.
class Journal {
 public:
  void note(int entry) {
    const std::lock_guard lock{mutex_};
    entries_.push_back(entry);
  }
  std::vector<int> entries() const {
    const std::lock_guard lock{mutex_};
    return entries_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> entries_;
};

// The body of a callback, which must live until it has been called.
using Body = std::function<void()>;
inline void call_body(void* body) { (*static_cast<Body*>(body))(); }
inline int launch(aclrtStream stream, Body& body) { return aclrtLaunchHostFunc(stream, call_body, &body); }
inline int launch_callback(aclrtStream stream, Body& body, aclrtCallbackBlockType type = ACL_CALLBACK_BLOCK) {
  return aclrtLaunchCallback(call_body, &body, type, stream);
}

inline std::uint64_t this_thread() { return static_cast<std::uint64_t>(::pthread_self()); }

// A thread that serves the streams it is subscribed to, as the documents advise: in a loop that ignores that
// nothing came. It has no context.
class Processor {
 public:
  Processor() : thread_{[this] { serve(); }} {}
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;
  ~Processor() {
    over_ = true;
    thread_.join();
  }
  std::uint64_t id() { return static_cast<std::uint64_t>(thread_.native_handle()); }

 private:
  void serve() const {
    while (!over_) {
      const int answer = aclrtProcessReport(20);
      if (answer == kThreadSubscribed) std::this_thread::yield();
      EXPECT_TRUE(answer == ACL_SUCCESS || answer == kNothingToReport || answer == kThreadSubscribed)
          << answer;
    }
  }
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace belay_test
