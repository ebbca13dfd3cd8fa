// Count notifies that destroy themselves, and short words for what is queued with them.
#pragma once

#include <cstdint>
#include <utility>

#include "support/as_enum.h"
#include "support/on_product.h"
#include "support/refusals.h"
#include "support/streams.h"

namespace belay_test {

class CountNotify {
 public:
  CountNotify() { EXPECT_EQ(aclrtCntNotifyCreate(&handle_, 0), ACL_SUCCESS); }
  CountNotify(const CountNotify&) = delete;
  CountNotify& operator=(const CountNotify&) = delete;
  ~CountNotify() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtCntNotifyDestroy(handle_), ACL_SUCCESS);
    }
  }
  operator aclrtCntNotify() const { return handle_; }  // NOLINT: it stands for its handle
  aclrtCntNotify destroy_now() {
    EXPECT_EQ(aclrtCntNotifyDestroy(handle_), ACL_SUCCESS);
    return std::exchange(handle_, nullptr);
  }

 private:
  aclrtCntNotify handle_ = nullptr;
};

inline constexpr int kSet = 0, kAdd = 1, kOr = 2, kAnd = 4;
inline constexpr int kLess = 0, kEqual = 1, kBigger = 2, kBiggerOrEqual = 3, kBitmask = 4;

inline int try_record(aclrtCntNotify notify, aclrtStream stream, int mode, std::uint32_t value) {
  aclrtCntNotifyRecordInfo info{as_enum<aclrtCntNotifyRecordMode>(mode), value};
  return aclrtCntNotifyRecord(notify, stream, &info);
}
inline void record(aclrtCntNotify notify, aclrtStream stream, int mode, std::uint32_t value) {
  EXPECT_EQ(try_record(notify, stream, mode, value), ACL_SUCCESS) << mode;
}
inline int try_await(aclrtCntNotify notify, aclrtStream stream, int mode, std::uint32_t value,
                     bool clears = false, std::uint32_t seconds = 0) {
  aclrtCntNotifyWaitInfo info{as_enum<aclrtCntNotifyWaitMode>(mode),
                              value,
                              seconds,
                              static_cast<std::uint8_t>(clears ? 1 : 0),
                              {0xAB, 0xCD, 0xEF}};
  return aclrtCntNotifyWaitWithTimeout(notify, stream, &info);
}
inline void await(aclrtCntNotify notify, aclrtStream stream, int mode, std::uint32_t value,
                  bool clears = false, std::uint32_t seconds = 0) {
  EXPECT_EQ(try_await(notify, stream, mode, value, clears, seconds), ACL_SUCCESS) << mode;
}

// Changes the count now.
inline void record_now(aclrtCntNotify notify, int mode, std::uint32_t value) {
  record(notify, nullptr, mode, value);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
}
// Whether it has this count, which a wait finds out without changing it.
inline void expect_count(aclrtCntNotify notify, std::uint32_t count) {
  await(notify, nullptr, kEqual, count, false, 30);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS) << "the count is not " << count;
}

inline constexpr const char* kSchedules[] = {"eager", "fifo", "lazy", "seed:1", "seed:2", "seed:77"};

// On a 950, in a process of its own for each schedule.
inline void with_counts(const std::function<void()>& body) {
  for (const char* const schedule : kSchedules) {
    SCOPED_TRACE(schedule);
    on_product("950", {{"BELAY_SCHEDULE", schedule}}, body);
  }
}

}  // namespace belay_test
