// The time between two events around a copy over a slow link.
#include <cmath>

#include "support/events.h"
#include "support/refusals.h"
#include "support/settings.h"
#include "support/streams.h"

namespace event_link_test {

using namespace belay_test;

float between(aclrtEvent start, aclrtEvent end) {
  float ms = std::nanf("");
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  return ms;
}
std::uint64_t stamp(aclrtEvent event) {
  std::uint64_t time = 0;
  EXPECT_EQ(aclrtEventGetTimestamp(event, &time), ACL_SUCCESS);
  return time;
}
void expect_no_time(aclrtEvent start, aclrtEvent end, int expected) {
  float ms = 42;
  expect_stored(aclrtEventElapsedTime(&ms, start, end), expected, "aclrtEventElapsedTime");
  EXPECT_EQ(ms, 42);
}
void expect_no_stamp(aclrtEvent event, int expected) {
  std::uint64_t time = 42;
  expect_stored(aclrtEventGetTimestamp(event, &time), expected, "aclrtEventGetTimestamp");
  EXPECT_EQ(time, 42U);
}

TEST(EventTimeLink, R184_ACopyTakesTheTimeOfItsLink) {
  in_fresh_process({{"BELAY_LINK", "h2d:10MB/s"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    {
      Stream stream;
      const Event start{Kind::plain}, end{Kind::plain};
      const Device device{kMB};
      const Pinned host{kMB};
      EXPECT_EQ(aclrtRecordEvent(start, stream), ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemcpyAsync(device.get(), kMB, host.get(), 500000, ACL_MEMCPY_HOST_TO_DEVICE, stream),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      EXPECT_GE(between(start, end), 49.9F);
    }
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

}  // namespace event_link_test
