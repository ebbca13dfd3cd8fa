// Gates that hold a stream for as long as a test wishes.
//
// A HostGate is a task that runs. The others are waits, so they also hold their stream where tasks run one at
// a time, or only when somebody waits for them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/events.h"
#include "support/streams.h"

namespace belay_test {

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

// Holds streams by an event that nobody has recorded yet. It opens at the end of its scope. No device
// memory is involved, so that a test may count what it has, and no notify.
class EventGate {
 public:
  EventGate() = default;
  explicit EventGate(aclrtStream stream) { hold(stream); }
  EventGate(const EventGate&) = delete;
  EventGate& operator=(const EventGate&) = delete;
  ~EventGate() { open(); }
  void hold(aclrtStream stream) const { EXPECT_EQ(::aclrtStreamWaitEvent(stream, event_), ACL_SUCCESS); }
  void open() {
    if (opened_.exchange(true)) return;
    EXPECT_EQ(aclrtRecordEvent(event_, opener_), ACL_SUCCESS);
    EXPECT_EQ(finish(opener_), ACL_SUCCESS);
  }

 private:
  const Event event_{Kind::flagged};
  const Stream opener_;
  std::atomic<bool> opened_{false};
};

// Holds a stream by a notify, so that no event takes part.
class NotifyGate {
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
  NotifyGate() = default;
  NotifyGate(const NotifyGate&) = delete;
  NotifyGate& operator=(const NotifyGate&) = delete;
  ~NotifyGate() {
    if (held_ != 0) open();
  }

 private:
  Notify notify_;
  Stream opener_;
  int held_ = 0;
};

// Opens a gate from another thread after a while: whoever returned before the gate opened did not wait.
class OpensLater {
 public:
  template <typename Gate>
  explicit OpensLater(Gate& gate, std::chrono::milliseconds delay = 50ms)
      : context_{current_context()}, thread_{[this, &gate, delay] {
          EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
          let_time_pass(delay);
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

}  // namespace belay_test
