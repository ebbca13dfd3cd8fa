// Blocks that nobody freed are listed where they are lost, on standard error, once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "support/settings.h"

namespace leak_report_test {

using belay_test::Ending;
using belay_test::run_captured;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void* leak(std::size_t size) {
  void* block = nullptr;
  if (aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) std::_Exit(3);
  return block;
}

TEST(LeakReport, M409_AtTheLastReset_ListsEveryBlockOfThatDevice) {
  const Ending ending = run_captured({}, [] {
    aclrtSetDevice(0);
    leak(100);
    leak(3 << 20);
    aclrtResetDevice(0);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_NE(ending.err.find("2 block(s)"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("100 bytes (4 KB in 4 KB pages)"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("3145728 bytes (4 MB in 2 MB pages)"), std::string::npos) << ending;
  EXPECT_EQ(count(ending.err, "still allocated"), 1U) << ending;
  EXPECT_EQ(ending.out, "") << ending;
}

TEST(LeakReport, M411_AtExit_ListsWhatNoEarlierReportDid) {
  const Ending ending = run_captured({}, [] {
    aclInit(nullptr);
    aclrtSetDevice(1);
    leak(100);
    aclFinalize();
    leak(200);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(count(ending.err, "100 bytes"), 1U) << ending;
  EXPECT_EQ(count(ending.err, "200 bytes"), 1U) << ending;
  EXPECT_LT(ending.err.find("R-41"), ending.err.find("M-411")) << ending;
}

TEST(LeakReport, R45_NothingIsPrintedWhereNothingIsLost) {
  const Ending ending = run_captured({}, [] {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtFree(leak(100));
    std::exit(0);  // no reset, no finalize
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.err, "") << ending;
}

TEST(LeakReport, CanBeTurnedOff) {
  const Ending ending = run_captured({{"BELAY_LEAKS", "off"}}, [] {
    aclrtSetDevice(0);
    leak(100);
    aclrtResetDevice(0);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.err, "") << ending;
}

TEST(LeakReport, LongListsAreCut) {
  const Ending ending = run_captured({}, [] {
    aclrtSetDevice(0);
    for (int i = 0; i < 25; ++i) leak(100);
    std::exit(0);
  });
  EXPECT_NE(ending.err.find("25 block(s)"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("and 15 more"), std::string::npos) << ending;
}

TEST(Summary, TellsPeakBlocksWasteAndCopies) {
  const Ending ending = run_captured({{"BELAY_SUMMARY", "on"}}, [] {
    aclrtSetDevice(0);
    void* block = leak(2 << 20);
    char bytes[1000] = {};
    aclrtMemcpy(block, sizeof bytes, bytes, sizeof bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemset(block, 10, 0, 10);
    aclrtFree(block);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_NE(ending.err.find("peak 4 MB"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("1 block(s) allocated, 1 freed"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("50.0 % lost to rounding"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("copied host to device"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("filled"), std::string::npos) << ending;
  EXPECT_EQ(ending.out, "") << ending;
}

}  // namespace leak_report_test
