// What the stream tests stand on: streams that destroy themselves, gates that hold a stream for as long as a
// test wishes, tasks that leave a mark, and tasks that fail.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/blocks.h"

namespace belay_test {

using namespace std::chrono_literals;

inline constexpr int kOtherContext = 107003;
inline constexpr int kStale = 107017;
inline constexpr int kTaskTimeout = 107020;
inline constexpr int kDeviceAborting = 107022;
inline constexpr int kAborted = 107023;
inline constexpr int kNoStream = 207008;
inline constexpr int kInternal = 507000;
inline constexpr int kStreamTimeout = 507046;
inline constexpr int kEventTimeout = 507047;

// Long enough for any machine, short enough to find a hang before the test runner does.
inline constexpr auto kPatience = 60s;

inline bool eventually(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// Some things can be seen only if another thread got somewhere in time. Tries with more and more time, so
// that only a machine that stands still for long, or a broken rule, fails.
inline bool with_growing_delay(const std::function<bool(std::chrono::milliseconds)>& attempt) {
  for (const auto delay : {20ms, 200ms, 2000ms, 15000ms}) {
    if (attempt(delay)) return true;
  }
  return false;
}

inline aclrtContext current_context() {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  return context;
}

inline aclrtStream default_stream() {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
  return stream;
}

inline aclrtStream new_stream(std::uint32_t flags = 0) {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, flags), ACL_SUCCESS);
  return stream;
}

inline std::int32_t id_of(aclrtStream stream) {
  std::int32_t id = -77;
  EXPECT_EQ(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
  return id;
}

inline std::uint32_t streams_left() {
  std::uint32_t count = 7777777;
  EXPECT_EQ(aclrtGetStreamAvailableNum(&count), ACL_SUCCESS);
  return count;
}

inline aclrtStreamStatus status_of(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  return status;
}

// A stream of the current context. It is destroyed at the end of the scope unless the test has done so.
class Stream {
 public:
  explicit Stream(std::uint32_t flags = 0) : handle_{new_stream(flags)} {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyStream(handle_), ACL_SUCCESS);
    }
  }
  aclrtStream get() const { return handle_; }
  // The test has destroyed it, or it went with its context.
  aclrtStream forget() {
    aclrtStream const was = handle_;
    handle_ = nullptr;
    return was;
  }

 private:
  aclrtStream handle_;
};

// A handle that was a stream.
inline aclrtStream stale_stream() {
  aclrtStream const stream = new_stream();
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  return stream;
}

// An explicit context, which is current until the end of the scope; then the one before is again.
class OwnContext {
 public:
  explicit OwnContext(std::int32_t device = 0) : before_{current_context()} {
    EXPECT_EQ(aclrtCreateContext(&handle_, device), ACL_SUCCESS);
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  ~OwnContext() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyContext(handle_), ACL_SUCCESS);
    }
    leave();
  }
  aclrtContext get() const { return handle_; }
  void enter() const { EXPECT_EQ(aclrtSetCurrentContext(handle_), ACL_SUCCESS); }
  void leave() const { EXPECT_EQ(aclrtSetCurrentContext(before_), ACL_SUCCESS); }
  aclrtContext forget() {
    aclrtContext const was = handle_;
    handle_ = nullptr;
    return was;
  }

 private:
  aclrtContext before_;
  aclrtContext handle_ = nullptr;
};

// A plain event that destroys itself.
class Event {
 public:
  Event() { EXPECT_EQ(::aclrtCreateEvent(&handle_), ACL_SUCCESS); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyEvent(handle_), ACL_SUCCESS);
    }
  }
  aclrtEvent get() const { return handle_; }
  void record(aclrtStream stream) const { EXPECT_EQ(aclrtRecordEvent(handle_, stream), ACL_SUCCESS); }
  bool complete() const {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_EQ(aclrtQueryEventStatus(handle_, &status), ACL_SUCCESS);
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

 private:
  aclrtEvent handle_ = nullptr;
};

// Holds a stream in a function of the host. The runtime has one thread for such functions in each context, so
// one such gate at a time is enough for a context: see WordGate for several.
class HostGate {
 public:
  HostGate() : state_{states().emplace_back(std::make_unique<State>()).get()} {}
  HostGate(const HostGate&) = delete;
  HostGate& operator=(const HostGate&) = delete;
  ~HostGate() { open(); }

  // What is queued later waits until open().
  void hold(aclrtStream stream) { EXPECT_EQ(aclrtLaunchHostFunc(stream, wait, state_), ACL_SUCCESS); }
  // Waits until the stream stands in the gate.
  void expect_entered() {
    std::unique_lock lock(state_->mutex);
    EXPECT_TRUE(state_->changed.wait_for(lock, kPatience, [this] { return state_->entered; }));
  }
  void hold_and_enter(aclrtStream stream) {
    hold(stream);
    expect_entered();
  }
  void open() {
    const std::lock_guard lock(state_->mutex);
    state_->is_open = true;
    state_->changed.notify_all();
  }
  // A call that should not have waited for the gate did, until the gate lost patience.
  bool gave_up() const {
    const std::lock_guard lock(state_->mutex);
    return state_->gave_up;
  }
  bool left() const {
    const std::lock_guard lock(state_->mutex);
    return state_->left;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false, entered = false, left = false, gave_up = false;
  };
  // They stay until the process ends: a function that was queued may run after its test is over.
  static std::vector<std::unique_ptr<State>>& states() {
    static auto* const all = new std::vector<std::unique_ptr<State>>;
    return *all;
  }
  static void wait(void* pointer) {
    auto* const state = static_cast<State*>(pointer);
    std::unique_lock lock(state->mutex);
    state->entered = true;
    state->changed.notify_all();
    if (!state->changed.wait_for(lock, kPatience, [state] { return state->is_open; })) state->gave_up = true;
    state->left = true;
    state->changed.notify_all();
  }
  State* state_;
};

// Holds any number of streams of a device at a word of its memory. It must be open, and the streams past it,
// before it goes.
class WordGate {
 public:
  WordGate() : word_{64} { set(0); }
  void hold(aclrtStream stream) const {
    EXPECT_EQ(aclrtValueWait(word_.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  }
  void open() const { set(1); }

 private:
  void set(std::uint64_t value) const {
    EXPECT_EQ(aclrtMemcpy(word_.get(), sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
  }
  Device word_;
};

// Opens a gate from another thread after a while: whoever returned before the gate opened did not wait.
class OpensLater {
 public:
  template <typename Gate>
  explicit OpensLater(Gate& gate, std::chrono::milliseconds delay = 50ms)
      : context_{current_context()}, thread_{[this, &gate, delay] {
          EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
          std::this_thread::sleep_for(delay);
          opening_ = true;
          gate.open();
        }} {}
  OpensLater(const OpensLater&) = delete;
  OpensLater& operator=(const OpensLater&) = delete;
  ~OpensLater() { thread_.join(); }
  bool opening() const { return opening_; }

 private:
  aclrtContext context_;
  std::atomic<bool> opening_{false};
  std::thread thread_;
};

// Bytes of device memory that tasks set, one after the other: 0 until then.
class Marks {
 public:
  explicit Marks(std::size_t count = 16) : count_{count}, block_{count * kApart} {
    EXPECT_EQ(aclrtMemset(block_.get(), block_.size(), 0, block_.size()), ACL_SUCCESS);
  }
  // Queues a task that sets mark number `which`.
  void queue(aclrtStream stream, std::size_t which = 0, int value = 1) const {
    EXPECT_EQ(try_queue(stream, which, value), ACL_SUCCESS);
  }
  aclError try_queue(aclrtStream stream, std::size_t which = 0, int value = 1) const {
    return aclrtMemsetAsync(block_.get(which * kApart), 4, value, 4, stream);
  }
  // Read at once, without waiting for any stream (M-241).
  int get(std::size_t which = 0) const {
    Bytes bytes = read_from(block_.get(which * kApart), 1);
    return bytes[0];
  }
  bool set(std::size_t which = 0) const { return get(which) != 0; }
  std::size_t size() const { return count_; }
  void forget() { block_.forget(); }

 private:
  static constexpr std::size_t kApart = 64;
  std::size_t count_;
  Device block_;
};

// Queues copies that fail with 507899 when they run: their descriptor was never set (M-351).
class Failing {
 public:
  Failing() : descriptor_{64 * kKB} {
    EXPECT_EQ(aclrtMemset(descriptor_.get(), descriptor_.size(), 0, descriptor_.size()), ACL_SUCCESS);
  }
  void queue(aclrtStream stream) const { EXPECT_EQ(try_queue(stream), ACL_SUCCESS); }
  aclError try_queue(aclrtStream stream) const {
    return aclrtMemcpyAsyncWithDesc(aligned(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream);
  }
  void forget() { descriptor_.forget(); }

 private:
  void* aligned() const { return at(descriptor_.get(), (64 - number(descriptor_.get()) % 64) % 64); }
  Device descriptor_;
};

// A thread whose call may wait: started, asked whether it is back, and fetched.
class Waiting {
 public:
  explicit Waiting(const std::function<aclError()>& call)
      : context_{current_context()}, thread_{[this, call] {
          EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
          started_ = true;
          answer_ = call();
          last_error_ = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
          back_ = true;
        }} {
    eventually([this] { return started_.load(); });
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { fetch(); }
  bool back() const { return back_; }
  aclError fetch() {
    if (thread_.joinable()) thread_.join();
    return answer_;
  }
  int last_error() {
    fetch();
    return last_error_;
  }

 private:
  aclrtContext context_;
  std::atomic<bool> started_{false}, back_{false};
  aclError answer_ = -1;
  int last_error_ = -1;
  std::thread thread_;
};

}  // namespace belay_test
