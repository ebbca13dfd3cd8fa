// Events and notifies that destroy themselves, and what they say of themselves.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace belay_test {

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
  explicit Event(Kind kind = Kind::plain, std::uint32_t flag = ACL_EVENT_SYNC) {
    EXPECT_EQ(create(kind, &handle_, flag), ACL_SUCCESS) << name_of(kind) << " " << flag;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtDestroyEvent(handle_), ACL_SUCCESS);
    }
  }
  aclrtEvent get() const { return handle_; }
  operator aclrtEvent() const { return handle_; }  // NOLINT: it stands for its handle
  aclrtEvent destroy_now() {
    EXPECT_EQ(aclrtDestroyEvent(handle_), ACL_SUCCESS);
    return std::exchange(handle_, nullptr);
  }
  void record(aclrtStream stream) const { EXPECT_EQ(aclrtRecordEvent(handle_, stream), ACL_SUCCESS); }
  bool complete() const { return recorded(handle_) == kComplete; }

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

}  // namespace belay_test
