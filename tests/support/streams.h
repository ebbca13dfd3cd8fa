// What the stream tests stand on: streams that destroy themselves, tasks that leave a mark, tasks that fail,
// and threads that wait for them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "acl/acl.h"
#include "support/blocks.h"
#include "support/contexts.h"
#include "support/waiting.h"

namespace belay_test {

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
  Stream() { EXPECT_EQ(::aclrtCreateStream(&handle_), ACL_SUCCESS); }
  explicit Stream(std::uint32_t flags) : handle_{new_stream(flags)} {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyStream(handle_), ACL_SUCCESS);
    }
  }
  aclrtStream get() const { return handle_; }
  operator aclrtStream() const { return handle_; }  // NOLINT: it stands for its handle
  // Destroys it now and says what its handle was.
  aclrtStream destroy_now() {
    EXPECT_EQ(aclrtDestroyStream(handle_), ACL_SUCCESS);
    return forget();
  }
  // The test has destroyed it, or it went with its context.
  aclrtStream forget() { return std::exchange(handle_, nullptr); }

 private:
  aclrtStream handle_ = nullptr;
};

// A handle that was a stream.
inline aclrtStream stale_stream() {
  aclrtStream const stream = new_stream();
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  return stream;
}

inline bool idle(aclrtStream stream) { return status_of(stream) == ACL_STREAM_STATUS_COMPLETE; }

// Waits for the stream, but not for ever: one that is stuck fails its test.
inline int finish(aclrtStream stream) {
  return ::aclrtSynchronizeStreamWithTimeout(stream, std::chrono::milliseconds{kPatience}.count());
}
// The stream does not come to its end, however long one waits.
inline void expect_held(aclrtStream stream) {
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(stream, kMoment), kStreamTimeout);
  last_error();
}

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
