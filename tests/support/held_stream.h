// A hold that keeps what is queued behind it from running, and memory that asynchronous copies take for
// pinned.
#pragma once

#include "support/streams.h"

namespace belay_test {

// Waits for the stream, but not for ever: one that is stuck fails its test.
inline int finish(aclrtStream stream) { return aclrtSynchronizeStreamWithTimeout(stream, 60000); }
inline int finish(const Stream& stream) { return finish(stream.get()); }
inline bool idle(const Stream& stream) { return status_of(stream.get()) == ACL_STREAM_STATUS_COMPLETE; }

// Holds streams with an event that nobody has recorded yet. It opens at the end of its scope. No
// device memory is involved, so that a test may count what it has.
class Hold {
 public:
  explicit Hold(aclrtStream stream) {
    EXPECT_EQ(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(stream, event_), ACL_SUCCESS);
  }
  explicit Hold(const Stream& stream) : Hold(stream.get()) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    open();
    EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
  }
  void open() {
    if (opened_.exchange(true)) return;
    EXPECT_EQ(aclrtRecordEvent(event_, key_.get()), ACL_SUCCESS);
    EXPECT_EQ(finish(key_), ACL_SUCCESS);
  }

 private:
  Stream key_;
  aclrtEvent event_ = nullptr;
  std::atomic<bool> opened_{false};
};

// Page-aligned memory of the program that is registered, so that it counts as pinned (M-212).
class Registered {
 public:
  explicit Registered(std::uint32_t flag = ACL_HOST_REG_PINNED) : memory_{1} {
    EXPECT_EQ(aclrtHostRegisterV2(memory_.get(), 4096, flag), ACL_SUCCESS);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { EXPECT_EQ(aclrtHostUnregister(memory_.get()), ACL_SUCCESS); }
  void* get(std::size_t offset = 0) const { return memory_.get(offset); }

 private:
  Pages memory_;
};

}  // namespace belay_test
