// Host code touches device memory. The touch faults, belay explains it, the signal takes its course.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace host_touch_test {

using belay_test::Ending;
using belay_test::run_captured;

void* device_block(std::size_t size, std::uint32_t policy = ACL_MEM_MALLOC_HUGE_FIRST) {
  void* block = nullptr;
  if (aclrtSetDevice(0) != ACL_SUCCESS ||
      aclrtMalloc(&block, size, static_cast<aclrtMemMallocPolicy>(policy)) != ACL_SUCCESS)
    std::_Exit(3);
  return block;
}

bool died_of_the_touch(const Ending& ending) {
  if (!belay_test::kUnderASanitizer) return ending.killed_by(SIGSEGV);
  return !ending.hung && !ending.clean() &&
         ending.err.find("SEGV") != std::string::npos;  // the sanitizer's own handler runs after ours
}

TEST(HostTouch, Read_IsExplainedWithBlockDeviceAndRemedy) {
  const Ending ending = run_captured({}, [] {
    const auto* block = static_cast<const volatile char*>(device_block(5000));
    std::fprintf(stderr, "block %p\n", const_cast<const void*>(static_cast<const volatile void*>(block)));
    (void)block[123];
  });
  EXPECT_TRUE(died_of_the_touch(ending)) << ending;
  char block[64] = "";
  ASSERT_EQ(std::sscanf(ending.err.c_str(), "block %63s", block), 1) << ending;
  EXPECT_NE(ending.err.find("host code read from 0x"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find(std::string{"byte 123 of the block "} + block + " (5000 bytes) of device 0"),
            std::string::npos)
      << ending;
  EXPECT_NE(ending.err.find("aclrtMemcpy"), std::string::npos) << ending;
  EXPECT_EQ(ending.out, "") << "standard output belongs to the program";
}

TEST(HostTouch, Write_IsToldFromRead) {
  const Ending ending =
      run_captured({}, [] { static_cast<volatile char*>(device_block(3 << 20))[2 << 20] = 1; });
  EXPECT_TRUE(died_of_the_touch(ending)) << ending;
#if defined(__x86_64__)
  EXPECT_NE(ending.err.find("host code wrote to"), std::string::npos) << ending;
#endif
  EXPECT_NE(ending.err.find("byte 2097152 of the block"), std::string::npos) << ending;
}

TEST(HostTouch, AfterFree_IsToldAsSuch) {
  const Ending ending = run_captured({}, [] {
    auto* block = static_cast<volatile char*>(device_block(64));
    aclrtFree(const_cast<char*>(block));
    block[0] = 1;
  });
  EXPECT_TRUE(died_of_the_touch(ending)) << ending;
  EXPECT_NE(ending.err.find("a device address without a live block: freed, or never allocated"),
            std::string::npos)
      << ending;
}

// On a thread of ours.
TEST(HostTouch, InACallback_IsExplainedToo_AndTheProgramsHandlerRuns) {
  const Ending ending = run_captured({}, [] {
    struct sigaction own {};
    own.sa_handler = [](int) { ::_exit(42); };
    ::sigaction(SIGSEGV, &own, nullptr);
    void* block = device_block(64);
    aclrtStream stream = nullptr;
    const auto touch = [](void* at) { *static_cast<volatile char*>(at) = 1; };
    if (aclrtCreateStream(&stream) != ACL_SUCCESS || aclrtLaunchHostFunc(stream, touch, block) != ACL_SUCCESS)
      std::_Exit(3);
    for (;;) ::pause();
  });
  EXPECT_TRUE(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 42) << ending;
  EXPECT_NE(ending.err.find("belay: host code "), std::string::npos) << ending;
}

TEST(HostTouch, TheProgramsOwnHandlerRunsAfterTheExplanation) {
  const Ending ending = run_captured({}, [] {
    struct sigaction own {};
    own.sa_handler = [](int) {
      const char text[] = "own handler\n";
      if (::write(STDERR_FILENO, text, sizeof text - 1) < 0) ::_exit(43);
      ::_exit(42);
    };
    ::sigaction(SIGSEGV, &own, nullptr);  // before belay's first use
    static_cast<volatile char*>(device_block(64))[0] = 1;
  });
  ASSERT_TRUE(WIFEXITED(ending.status)) << ending;
  EXPECT_EQ(WEXITSTATUS(ending.status), 42) << ending;
  EXPECT_LT(ending.err.find("which is device memory"), ending.err.find("own handler")) << ending;
}

TEST(HostTouch, OtherFaultsAreNoneOfOurBusiness) {
  const Ending ending = run_captured({}, [] {
    aclrtSetDevice(0);
    volatile char* volatile nowhere = nullptr;
    *nowhere = 1;
  });
  EXPECT_FALSE(ending.clean()) << ending;
  EXPECT_EQ(ending.err.find("belay:"), std::string::npos) << ending;
}

TEST(HostTouch, R257_CanBeTurnedOff) {
  for (const auto& off : {belay_test::Settings{{"BELAY_FAULTS", "off"}},
                          belay_test::Settings{{"ASCEND_COREDUMP_SIGNAL", "none"}}}) {
    const Ending ending = run_captured(off, [] { static_cast<volatile char*>(device_block(64))[0] = 1; });
    EXPECT_TRUE(died_of_the_touch(ending)) << ending;
    EXPECT_EQ(ending.err.find("belay: host code"), std::string::npos) << ending;
  }
}

TEST(HostTouch, SystemCallsGivenADeviceAddressFailWithEFAULT) {
  const Ending ending = run_captured({{"BELAY_LEAKS", "off"}}, [] {
    const void* block = device_block(64);
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(3);
    const ssize_t put = ::write(ends[1], block, 8);
    ::_exit(put == -1 && errno == EFAULT ? 0 : 4);
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(HostAccess, Allow_LetsStandInKernelsWorkOnDeviceMemory) {
  const Ending ending = run_captured({{"BELAY_HOST_ACCESS", "allow"}}, [] {
    for (const std::size_t size : {std::size_t{100}, std::size_t{3} << 20, std::size_t{3} << 30}) {
      auto* block = static_cast<unsigned char*>(device_block(size));
      block[0] = 1;
      block[size - 1] = 2;
      unsigned char back[2] = {0, 0};
      aclrtMemcpy(&back[0], 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST);
      aclrtMemcpy(&back[1], 1, block + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST);
      EXPECT_EQ(back[0], 1);
      EXPECT_EQ(back[1], 2);
      const unsigned char seven = 7;
      aclrtMemcpy(block + 1, 1, &seven, 1, ACL_MEMCPY_HOST_TO_DEVICE);
      EXPECT_EQ(block[1], 7);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(HostAccess, M78_AStoreIntoAReadOnlyBlockFaults_ALoadDoesNot) {
  const Ending ending = run_captured({{"BELAY_HOST_ACCESS", "allow"}}, [] {
    auto* block = static_cast<volatile unsigned char*>(device_block(100, ACL_MEM_ACCESS_USER_SPACE_READONLY));
    (void)block[0];
    std::fprintf(stderr, "loaded\n");
    block[0] = 1;
  });
  EXPECT_TRUE(died_of_the_touch(ending)) << ending;
  EXPECT_NE(ending.err.find("loaded"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("read-only block"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("M-78"), std::string::npos) << ending;
}

}  // namespace host_touch_test
