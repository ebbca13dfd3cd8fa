// What a program never gives back is listed where it is lost, on standard error, once.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

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
  EXPECT_EQ(count(ending.err, " when device 0 was reset [rule M-409]:"), 1U) << ending;
  EXPECT_NE(ending.err.find("  2 blocks of device 0, 4.00 MB:"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("1 × 4 KB (100 bytes asked for, in 4 KB pages), at 0x"), std::string::npos)
      << ending;
  EXPECT_NE(ending.err.find("1 × 4 MB (3145728 bytes asked for, in 2 MB pages), at 0x"), std::string::npos)
      << ending;
  EXPECT_EQ(count(ending.err, "never given back"), 1U) << ending;
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

TEST(LeakReport, EqualBlocksAreOneLine_TheLargestSumFirst) {
  const Ending ending = run_captured({}, [] {
    aclrtSetDevice(0);
    for (int i = 0; i < 70; ++i) leak(641 << 20);
    leak(1 << 30);
    leak(100);
    std::exit(0);
  });
  EXPECT_NE(ending.err.find("  72 blocks of device 0, "), std::string::npos) << ending;
  const std::size_t many =
      ending.err.find("    70 × 642 MB (672137216 bytes asked for, in 2 MB pages), the first at 0x");
  EXPECT_NE(many, std::string::npos) << ending;
  EXPECT_LT(many, ending.err.find("    1 × 1.00 GB (1073741824 bytes asked for")) << ending;
  EXPECT_LT(ending.err.find("1 × 1.00 GB"), ending.err.find("1 × 4 KB (100 bytes")) << ending;
}

TEST(LeakReport, LongListsAreCut) {
  const Ending ending = run_captured({}, [] {
    aclrtSetDevice(0);
    for (std::size_t i = 0; i < 25; ++i) leak(100 + i);
    std::exit(0);
  });
  EXPECT_NE(ending.err.find("25 blocks of device 0"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("... and 15 more"), std::string::npos) << ending;
}

// --- what is not a block of a device --------------------------------------------------------------

// One of each kind, or several; `give_back` ends them all.
void make_one_of_each(bool give_back) {
  aclrtSetDevice(0);
  void* pinned = nullptr;
  alignas(4096) static char page[8192];
  void* mapped = nullptr;
  aclrtStream stream = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  aclrtNotify notify = nullptr;
  aclrtContext own = nullptr, before = nullptr;
  aclrtGetCurrentContext(&before);
  bool made = aclrtMallocHost(&pinned, 5000) == 0 &&
              aclrtHostRegister(page, sizeof page, ACL_HOST_REGISTER_MAPPED, &mapped) == 0 &&
              aclrtCreateStream(&stream) == 0 && aclrtCreateStream(&second) == 0 &&
              aclrtCreateEvent(&event) == 0 && aclrtCreateNotify(&notify, 0) == 0;
  aclDataBuffer* const buffers[] = {aclCreateDataBuffer(page, 1), aclCreateDataBuffer(page, 2),
                                    aclCreateDataBuffer(page, 3)};
  made = made && aclrtCreateContext(&own, 0) == 0 && aclrtSetCurrentContext(before) == 0;
  if (!made) std::_Exit(3);
  if (!give_back) return;
  bool ended = aclrtFreeHost(pinned) == 0 && aclrtHostUnregister(page) == 0 &&
               aclrtDestroyStream(stream) == 0 && aclrtDestroyStream(second) == 0 &&
               aclrtDestroyEvent(event) == 0 && aclrtDestroyNotify(notify) == 0 &&
               aclrtDestroyContext(own) == 0;
  for (aclDataBuffer* each : buffers) ended = ended && aclDestroyDataBuffer(each) == 0;
  if (!ended) std::_Exit(4);
}

constexpr const char* kOneOfEach[] = {
    "  1 pinned block of host memory, 8 KB:\nbelay:     1 × 8 KB (5000 bytes asked for), at 0x",
    "  1 registered range of host memory, 8 KB:\nbelay:     1 × 8 KB (8192 bytes asked for), at 0x",
    "  1 context (aclrtDestroyContext)\n",
    "  2 streams (aclrtDestroyStream)\n",
    "  1 event (aclrtDestroyEvent)\n",
    "  1 notify (aclrtDestroyNotify)\n",
    "  3 data buffers (aclDestroyDataBuffer)\n"};

TEST(LeakReport, M411_AtExit_ListsHostMemoryAndHandlesToo) {
  const Ending ending = run_captured({}, [] {
    make_one_of_each(false);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(count(ending.err, " when it ended [rule M-411]:"), 1U) << ending;
  for (const char* expected : kOneOfEach)
    EXPECT_EQ(count(ending.err, expected), 1U) << expected << " in " << ending;
}

TEST(LeakReport, R41_AtFinalize_ListsThem_AndNotAgainAtExit) {
  const Ending ending = run_captured({}, [] {
    aclInit(nullptr);
    make_one_of_each(false);
    aclFinalize();
    aclCreateDataBuffer(nullptr, 0);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  for (const char* expected : kOneOfEach)
    EXPECT_EQ(count(ending.err, expected), 1U) << expected << " in " << ending;
  const std::size_t at_exit = ending.err.find("M-411");
  EXPECT_LT(ending.err.find("R-41]"), at_exit) << ending;
  EXPECT_NE(ending.err.find("  1 data buffer (aclDestroyDataBuffer)\n", at_exit), std::string::npos)
      << ending;
}

TEST(LeakReport, R45_NothingIsPrintedWhereAllOfItWasGivenBack) {
  const Ending ending = run_captured({}, [] {
    aclInit(nullptr);
    make_one_of_each(true);
    aclrtResetDevice(0);
    aclFinalize();
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.err, "") << ending;
}

// A stream that ends with its context was never destroyed by the program.
TEST(LeakReport, M409_R59_StreamsThatAResetEnds_WereNeverGivenBack) {
  const Ending ending = run_captured({}, [] {
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    for (int i = 0; i < 3; ++i) aclrtCreateStream(&stream);
    aclrtDestroyStream(stream);
    aclrtEvent event = nullptr;
    aclrtCreateEvent(&event);
    aclrtResetDevice(0);
    aclrtDestroyEvent(event);  // which does not end with a device
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_NE(
      ending.err.find("when device 0 was reset [rule M-409]:\nbelay:   2 streams (aclrtDestroyStream)\n"),
      std::string::npos)
      << ending;
  EXPECT_EQ(count(ending.err, "never given back"), 1U) << ending;
  EXPECT_EQ(count(ending.err, "event"), 0U) << ending;
}

TEST(LeakReport, R119_StreamsOfADestroyedContext_WereNeverGivenBack) {
  const Ending ending = run_captured({}, [] {
    aclrtContext context = nullptr;
    aclrtCreateContext(&context, 1);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    aclrtDestroyContext(context);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(count(ending.err, "  1 stream (aclrtDestroyStream)\n"), 1U) << ending;
  EXPECT_EQ(count(ending.err, "never given back"), 1U) << ending;
  EXPECT_EQ(count(ending.err, "context ("), 0U) << ending;
}

TEST(LeakReport, R69_AForkedChildAnswersForItsOwnOnly) {
  const Ending ending = run_captured({}, [] {
    make_one_of_each(false);
    aclDataBuffer* const of_parent = aclCreateDataBuffer(nullptr, 0);
    const pid_t child = ::fork();
    if (child == 0) {
      aclrtSetDevice(0);
      if (aclDestroyDataBuffer(of_parent) != ACL_SUCCESS) std::_Exit(5);
      aclCreateDataBuffer(nullptr, 7);
      std::exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    aclDestroyDataBuffer(of_parent);
    std::exit(status == 0 ? 0 : 6);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(count(ending.err, "  1 data buffer (aclDestroyDataBuffer)\n"), 1U) << ending;
  EXPECT_EQ(count(ending.err, "  3 data buffers (aclDestroyDataBuffer)\n"), 1U) << ending;
  EXPECT_EQ(count(ending.err, "streams"), 1U) << ending;
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
  const std::string told = belay_test::single_spaced(ending.err);
  EXPECT_NE(told.find(" 0 2 MB 4 MB 1 1 0 2 MB 4 MB 50.0 %\n"), std::string::npos) << ending;
  EXPECT_NE(told.find(" host to device 1 1000 bytes\n"), std::string::npos) << ending;
  EXPECT_NE(told.find(" filled 1 10 bytes\n"), std::string::npos) << ending;
  EXPECT_EQ(ending.out, "") << ending;
}

// Leaks and refusals are not counted as something else.
TEST(Summary, LeaksAreNotFreed_AndARefusedFreeIsACallThatFailed) {
  const Ending ending = run_captured({{"BELAY_SUMMARY", "on"}, {"BELAY_LEAKS", "off"}}, [] {
    aclrtSetDevice(0);
    leak(100);
    leak(100);
    int here = 0;
    aclrtFree(&here);
    aclrtResetDevice(0);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::string told = belay_test::single_spaced(ending.err);
  EXPECT_NE(told.find(" 0 4 KB 8 KB 2 0 2 (8 KB) 200 bytes 8 KB "), std::string::npos) << ending;
  EXPECT_NE(told.find(" aclrtFree 1 107000 ACL_ERROR_RT_PARAM_INVALID\n"), std::string::npos) << ending;
}

// The call was accepted; its work failed afterwards.
TEST(Summary, ATaskThatFails_IsToldWithItsFunction) {
  const Ending ending = run_captured({{"BELAY_SUMMARY", "on"}, {"BELAY_LEAKS", "off"}}, [] {
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void* block = leak(1 << 20);
    void* host = nullptr;
    aclrtMallocHost(&host, 1 << 20);
    aclrtNotify notify = nullptr;
    aclrtCreateNotify(&notify, 0);
    aclrtWaitAndResetNotify(notify, stream, 0);
    aclrtMemcpyAsync(block, 1 << 20, host, 1 << 20, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    aclrtFree(block);
    aclrtRecordNotify(notify, nullptr);
    aclrtSynchronizeStream(stream);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_NE(belay_test::single_spaced(ending.err).find(" aclrtMemcpyAsync (its task) 1 "), std::string::npos)
      << ending;
}

}  // namespace leak_report_test
