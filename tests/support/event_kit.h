// Short words for the tests of events, notifies and host callbacks: handles that destroy themselves, gates
// that hold a stream, and the numbers that functions answer.
//
// A gate is a wait that the test ends. It is no running task, so it also holds its stream where tasks run
// one at a time, or only when somebody waits for them.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/blocks.h"

namespace belay_test {
inline namespace event_kit {  // some names mean other things in streams.h

inline constexpr int kOtherContext = 107003;
inline constexpr int kNoTime = 107006;
inline constexpr int kSubscribed = 107011;
inline constexpr int kThreadSubscribed = 107012;
inline constexpr int kNoCallback = 107015;
inline constexpr int kStale = 107017;
inline constexpr int kExpired = 107020;
inline constexpr int kNotCaptured = 107029;
inline constexpr int kNoEvents = 207007;
inline constexpr int kNoNotifies = 207009;
inline constexpr int kInternal = 507000;
inline constexpr int kNothingToReport = 507012;
inline constexpr int kStreamLate = 507046;
inline constexpr int kEventLate = 507047;

// For expressions that wait without the library.
inline constexpr std::chrono::seconds kPatience{30};
// Long enough for a wrong answer to show, short enough to be waited for when the answer is right.
inline constexpr std::int32_t kMoment = 50;  // milliseconds

// Numbers that are no handle, and memory that is none. They are looked up, never followed.
inline const std::vector<void*>& garbage() {
  static std::uint64_t memory[16] = {1, 2, 3};
  static const std::vector<void*> all = {reinterpret_cast<void*>(std::uintptr_t{1}),
                                         reinterpret_cast<void*>(std::uintptr_t{0x1000}), sentinel(), memory,
                                         reinterpret_cast<void*>(~std::uintptr_t{0})};
  return all;
}

class Stream {
 public:
  Stream() { EXPECT_EQ(::aclrtCreateStream(&handle_), ACL_SUCCESS); }
  explicit Stream(std::uint32_t flags) {
    EXPECT_EQ(::aclrtCreateStreamWithConfig(&handle_, 0, flags), ACL_SUCCESS);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyStream(handle_), ACL_SUCCESS);
    }
  }
  operator aclrtStream() const { return handle_; }  // NOLINT: it stands for its handle
  // Destroys it now and says what its handle was.
  aclrtStream destroy_now() {
    EXPECT_EQ(aclrtDestroyStream(handle_), ACL_SUCCESS);
    return std::exchange(handle_, nullptr);
  }
  void forget() { handle_ = nullptr; }

 private:
  aclrtStream handle_ = nullptr;
};

enum class Kind { plain, flagged, ex };
inline const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> all = {Kind::plain, Kind::flagged, Kind::ex};
  return all;
}
inline const char* name_of(Kind kind) {
  return kind == Kind::plain ? "plain" : kind == Kind::flagged ? "flagged" : "Ex";
}
inline int create(Kind kind, aclrtEvent* event, std::uint32_t flag) {
  if (kind == Kind::plain) return ::aclrtCreateEvent(event);
  return kind == Kind::flagged ? ::aclrtCreateEventWithFlag(event, flag)
                               : ::aclrtCreateEventExWithFlag(event, flag);
}

class Event {
 public:
  explicit Event(Kind kind, std::uint32_t flag = ACL_EVENT_SYNC) {
    EXPECT_EQ(create(kind, &handle_, flag), ACL_SUCCESS) << name_of(kind) << " " << flag;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyEvent(handle_), ACL_SUCCESS);
    }
  }
  operator aclrtEvent() const { return handle_; }  // NOLINT: it stands for its handle
  aclrtEvent destroy_now() {
    EXPECT_EQ(aclrtDestroyEvent(handle_), ACL_SUCCESS);
    return std::exchange(handle_, nullptr);
  }

 private:
  aclrtEvent handle_ = nullptr;
};

class Notify {
 public:
  Notify() { EXPECT_EQ(aclrtCreateNotify(&handle_, ACL_NOTIFY_DEFAULT), ACL_SUCCESS); }
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;
  ~Notify() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyNotify(handle_), ACL_SUCCESS);
    }
  }
  operator aclrtNotify() const { return handle_; }  // NOLINT: it stands for its handle
  aclrtNotify destroy_now() {
    EXPECT_EQ(aclrtDestroyNotify(handle_), ACL_SUCCESS);
    return std::exchange(handle_, nullptr);
  }

 private:
  aclrtNotify handle_ = nullptr;
};

// Makes a context and makes the one before current again at its end.
class Elsewhere {
 public:
  explicit Elsewhere(std::int32_t device = 0) {
    EXPECT_EQ(aclrtGetCurrentContext(&before_), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateContext(&context_, device), ACL_SUCCESS);
    back();
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  ~Elsewhere() {
    EXPECT_EQ(aclrtDestroyContext(context_), ACL_SUCCESS);
    back();
  }
  aclrtContext context() const { return context_; }
  void enter() const { EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS); }
  void back() const { EXPECT_EQ(aclrtSetCurrentContext(before_), ACL_SUCCESS); }
  // A stream of this context; it goes with it.
  aclrtStream stream() const {
    aclrtStream made = nullptr;
    enter();
    EXPECT_EQ(::aclrtCreateStream(&made), ACL_SUCCESS);
    back();
    return made;
  }

 private:
  aclrtContext before_ = nullptr, context_ = nullptr;
};

// Holds streams until it is opened; each open lets one held wait pass.
class Gate {
 public:
  void hold(aclrtStream stream) {
    EXPECT_EQ(aclrtWaitAndResetNotify(notify_, stream, 0), ACL_SUCCESS);
    ++held_;
  }
  void open() {
    ASSERT_EQ(held_, 1) << "a gate for one stream";
    --held_;
    EXPECT_EQ(aclrtRecordNotify(notify_, opener_), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(opener_), ACL_SUCCESS);
  }
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    if (held_ != 0) open();
  }

 private:
  Notify notify_;
  Stream opener_;
  int held_ = 0;
};

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

// Room for an output, which holds a number of no meaning until something is written.
template <typename T>
class Out {
 public:
  Out() { std::memset(bytes_, 0x5A, sizeof bytes_); }
  T* get() { return reinterpret_cast<T*>(bytes_); }
  // What was written, as a number, so that values an enum does not have can be told too.
  int number() const {
    static_assert(sizeof(T) == sizeof(int));
    int value = 0;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }
  bool untouched() const {
    for (const unsigned char byte : bytes_) {
      if (byte != 0x5A) return false;
    }
    return true;
  }

 private:
  alignas(T) unsigned char bytes_[sizeof(T)];
};

inline constexpr int kComplete = ACL_EVENT_RECORDED_STATUS_COMPLETE;
inline constexpr int kNotReady = ACL_EVENT_RECORDED_STATUS_NOT_READY;

inline int recorded(aclrtEvent event) {
  Out<aclrtEventRecordedStatus> status;
  EXPECT_EQ(aclrtQueryEventStatus(event, status.get()), ACL_SUCCESS);
  return status.number();
}
inline int waited(aclrtEvent event) {
  Out<aclrtEventWaitStatus> status;
  EXPECT_EQ(aclrtQueryEventWaitStatus(event, status.get()), ACL_SUCCESS);
  return status.number();
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
inline int query_event(aclrtEvent event, aclrtEventStatus* status) { return aclrtQueryEvent(event, status); }
#pragma GCC diagnostic pop
inline int queried(aclrtEvent event) {
  Out<aclrtEventStatus> status;
  EXPECT_EQ(query_event(event, status.get()), ACL_SUCCESS);
  return status.number();
}
inline bool idle(aclrtStream stream) {
  Out<aclrtStreamStatus> status;
  EXPECT_EQ(aclrtStreamQuery(stream, status.get()), ACL_SUCCESS);
  return status.number() == ACL_STREAM_STATUS_COMPLETE;
}

inline int finish(aclrtStream stream) { return ::aclrtSynchronizeStreamWithTimeout(stream, 30000); }
// The stream does not come to its end, however long one waits.
inline void expect_held(aclrtStream stream) {
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(stream, kMoment), kStreamLate);
  last_error();
}

// An error of the runtime layer: the answer is the last error too, and the message names the function.
inline void expect_stored(int answer, int expected, const std::string& api) {
  EXPECT_EQ(answer, expected) << api;
  EXPECT_EQ(last_error(), expected) << api;
  const std::string text = recent_message();
  EXPECT_TRUE(mentions(text, api)) << api << " is missing in: " << text;
}
// An error of the first layer, or a missing feature: no last error.
inline void expect_not_stored(int answer, int expected, const std::string& api) {
  EXPECT_EQ(answer, expected) << api;
  EXPECT_EQ(last_error(), ACL_SUCCESS) << api;
}

}  // namespace event_kit
}  // namespace belay_test
