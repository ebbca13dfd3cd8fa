// Machines with little to give: short address space, odd layouts, locked-down homes. Everything still works,
// or says in words why not.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace poor_machine_test {

using belay_test::Ending;
using belay_test::kUnderASanitizer;
using belay_test::run_captured;

// Allocates, writes, copies on the device, reads back and frees; exits with what went wrong.
void round_trip() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) std::_Exit(10);
  for (const std::size_t size : {std::size_t{1000}, std::size_t{3} << 20, (std::size_t{1} << 30) + 4096}) {
    void* from = nullptr;
    void* to = nullptr;
    if (aclrtMalloc(&from, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) std::_Exit(11);
    if (aclrtMalloc(&to, size, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS) std::_Exit(12);
    std::vector<unsigned char> bytes(1000);
    std::vector<unsigned char> back(1000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 3);
    char* end = static_cast<char*>(from) + size - 1000;
    char* target = static_cast<char*>(to) + size - 1000;
    if (aclrtMemset(end, 1000, 7, 1000) != ACL_SUCCESS) std::_Exit(13);
    if (aclrtMemcpy(end, 1000, bytes.data(), 1000, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS) std::_Exit(14);
    if (aclrtMemcpy(target, 1000, end, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE) != ACL_SUCCESS) std::_Exit(15);
    if (aclrtMemcpy(back.data(), 1000, target, 1000, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
      std::_Exit(16);
    if (back != bytes) std::_Exit(17);
    if (size > 100000) {
      if (aclrtMemcpy(back.data(), 1000, from, 1000, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS ||
          back[0] != 0xBE)
        std::_Exit(18);
    }
    if (aclrtFree(from) != ACL_SUCCESS || aclrtFree(to) != ACL_SUCCESS) std::_Exit(19);
  }
  std::_Exit(0);
}

TEST(PoorMachine, ShortAddressSpace_DeviceMemoryWorksWithoutReservationOrView) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  const Ending ending = run_captured({}, [] {
    const rlimit limit{std::size_t{512} << 20, std::size_t{512} << 20};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
    round_trip();
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(PoorMachine, ShortFiles_DeviceMemoryWorksWithoutAFile) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "this sanitizer leaves no room for a mapping of 8 TB";
#endif
  for (const bool touch : {false, true}) {
    const Ending ending = run_captured({{"BELAY_HOST_ACCESS", touch ? "allow" : "deny"}}, [touch] {
      const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) std::_Exit(3);
      if (!touch) round_trip();
      if (aclrtSetDevice(0) != ACL_SUCCESS) std::_Exit(10);
      void* block = nullptr;
      if (aclrtMalloc(&block, 5000, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS) std::_Exit(11);
      static_cast<char*>(block)[4999] = 42;
      char back = 0;
      aclrtMemcpy(&back, 1, static_cast<char*>(block) + 4999, 1, ACL_MEMCPY_DEVICE_TO_HOST);
      std::_Exit(back == 42 ? 0 : 12);
    });
    EXPECT_TRUE(ending.clean()) << ending;
  }
}

TEST(PoorMachine, UnlimitedStack_MovesLibrariesIntoTheWindow_AndStillWorks) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers fix the layout themselves";
  const Ending ending = run_captured({}, [] {
    const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    if (::getenv("ACL_TEST_AGAIN") == nullptr && ::setrlimit(RLIMIT_STACK, &limit) == 0) {
      ::setenv("ACL_TEST_AGAIN", "1", 1);
      ::execl("/proc/self/exe", "again", "--gtest_filter=PoorMachine.UnlimitedStack*",
              static_cast<char*>(nullptr));
    }
    round_trip();
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(PoorMachine, PagesLockedForTheFuture_DoNotCommitTheWindow) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers cannot lock their own shadow";
  const Ending ending = run_captured({}, [] {
    if (::mlockall(MCL_FUTURE) != 0) std::_Exit(77);
    round_trip();
  });
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
    GTEST_SKIP() << "this user may not lock all memory";
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(PoorMachine, R255_NoHomeAndNoLogDirectory_FailsNoCall) {
  for (const char* path : {"/proc/nowhere", ""}) {
    const Ending ending =
        run_captured({{"ASCEND_PROCESS_LOG_PATH", path}, {"HOME", ""}, {"ASCEND_WORK_PATH", ""}}, [] {
          if (aclrtSetDevice(99) != ACL_ERROR_RT_INVALID_DEVICEID)
            std::_Exit(5);  // an error wants to be logged
          round_trip();
        });
    EXPECT_TRUE(ending.clean()) << ending;
    EXPECT_EQ(ending.out + ending.err, "") << ending;
  }
}

TEST(PoorMachine, EveryWrongSettingIsToldInWords) {
  struct Case {
    const char* variable;
    const char* value;
    const char* expected;
  };
  for (const Case c : {Case{"BELAY_PRODUCT", "910Z", "Ascend910B4"},
                       Case{"BELAY_HBM", "lots", "number of bytes"},
                       Case{"BELAY_HBM", "3M", "multiple of 2 MB"},
                       Case{"BELAY_HBM", "300G", "at most 255 GB"},
                       Case{"BELAY_HUGE", "1M", "multiple of 2 MB"},
                       Case{"BELAY_HUGE1G", "512M", "multiple of 1 GB"},
                       Case{"BELAY_NORMAL", "100", "multiple of 4 KB"},
                       Case{"BELAY_DEVICES", "0", "1 to 64"},
                       Case{"BELAY_DEVICES", "65", "1 to 64"},
                       Case{"BELAY_FORM", "XX", "EP or RC"},
                       Case{"BELAY_HOST_ACCESS", "yes", "deny or allow"},
                       Case{"BELAY_PIN", "no", "auto or strict or best-effort"},
                       Case{"BELAY_LEAKS", "no", "report or off"},
                       Case{"BELAY_SUMMARY", "1", "off or on"},
                       Case{"BELAY_FAULTS", "1", "explain or off"},
                       Case{"BELAY_KEEP", "-1", "number of bytes"},
                       Case{"BELAY_PAGES", "2M", "auto or hugetlb or thp or small"},
                       Case{"BELAY_BACKING", "file", "bytes or none"},
                       Case{"BELAY_COMMIT", "some", "number of bytes"},
                       Case{"BELAY_COMMIT", "-4G", "number of bytes"},
                       Case{"BELAY_HOST_NODE", "first", "a number below"},
                       Case{"BELAY_HOST_NODE", "4711", "a number below"},
                       Case{"BELAY_MACHINE", "../mine", "letters, digits"},
                       Case{"BELAY_MACHINE", "a b", "letters, digits"},
                       Case{"BELAY_MACHINES", "here/below", "full path"}}) {
    belay_test::in_fresh_process({{c.variable, c.value}}, [&] {
      void* block = nullptr;
      EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR) << c.variable;
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INTERNAL_ERROR) << c.variable;
      EXPECT_NE(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      const char* text = aclGetRecentErrMsg();
      ASSERT_NE(text, nullptr);
      EXPECT_NE(std::strstr(text, c.variable), nullptr) << text;
      EXPECT_NE(std::strstr(text, c.value), nullptr) << text;
      EXPECT_NE(std::strstr(text, c.expected), nullptr) << text;
    });
  }
}

TEST(PoorMachine, M437_TheRcFormOnAProductWithoutIt_IsAnErrorNotSilentlyEp) {
  for (const char* product : {"A2", "A3", "950"}) {
    belay_test::in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_FORM", "RC"}}, [] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
      EXPECT_NE(std::string{aclGetRecentErrMsg()}.find("M-437"), std::string::npos);
    });
  }
}

}  // namespace poor_machine_test
