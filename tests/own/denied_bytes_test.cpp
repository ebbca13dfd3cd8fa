// Machines that deny what the bytes of device memory are made of: files, files of that length, addresses. The
// refusal names what was denied, and what can be done.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "support/denied_calls.h"
#include "support/device_fixture.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace denied_bytes_test {

using namespace belay_test;

constexpr int kNoFilters = 77;

void limit(__rlimit_resource which, std::size_t most) {
  const rlimit both{most, most};
  ASSERT_EQ(::setrlimit(which, &both), 0);
}

void deny_files(int error) {
  if (!deny(SYS_memfd_create, error)) std::_Exit(kNoFilters);
}

void expect_named(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* each : words) EXPECT_NE(text.find(each), std::string::npos) << each << "\nin " << text;
}

// Allocation takes no bytes, and works. Every way to move bytes says what is in the way.
void expect_refusals_that_name(std::initializer_list<const char*> words) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  char bytes[8] = {};
  (void)recent_message();
  EXPECT_EQ(aclrtMemcpy(block, 8, bytes, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_COPY_DATA);
  expect_named(recent_message(), words);
  EXPECT_EQ(aclrtMemset(block, 8, 1, 8), ACL_ERROR_RT_COPY_DATA);
  expect_named(recent_message(), words);
  EXPECT_EQ(aclrtMemcpy2d(block, 4, bytes, 4, 4, 2, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_COPY_DATA);
  expect_named(recent_message(), words);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

void round_trip() {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 5 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const std::string sent = "there and back";
  std::string back(sent.size(), '?');
  EXPECT_EQ(aclrtMemcpy(block, sent.size(), sent.data(), sent.size(), ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back.data(), back.size(), block, back.size(), ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(back, sent);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

void in_sandbox(const Settings& settings, const std::function<void()>& body) {
  const Ending ending = run_captured(settings, body);
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == kNoFilters)
    GTEST_SKIP() << "this kernel has no filters for system calls";
  EXPECT_TRUE(ending.clean()) << ending;
}

constexpr std::size_t kLittleAddressSpace = std::size_t{512} << 20;

TEST(DeniedBytes, M239_R220_ShortFilesAndShortAddressSpaceAreNamed) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  in_sandbox({}, [] {
    limit(RLIMIT_FSIZE, std::size_t{1} << 30);
    limit(RLIMIT_AS, kLittleAddressSpace);
    expect_refusals_that_name({"M-239", "ulimit -f", "1 GB", "raise", "RLIMIT_FSIZE", "ulimit -v"});
  });
}

TEST(DeniedBytes, M239_R220_ADeniedMemfdIsNamed) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  for (const int error : {EPERM, ENOSYS, EMFILE}) {
    in_sandbox({}, [error] {
      deny_files(error);
      limit(RLIMIT_AS, kLittleAddressSpace);
      expect_refusals_that_name({"M-239", "memfd_create", std::strerror(error), "seccomp", "ulimit -v"});
    });
  }
}

TEST(DeniedBytes, ShortAddressSpaceAloneTakesNothingAway) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  in_sandbox({}, [] {
    limit(RLIMIT_AS, kLittleAddressSpace);
    round_trip();  // by system calls
  });
}

TEST(DeniedBytes, ADeniedMemfdAloneTakesNothingAway) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no room for a mapping of 8 TB";
  for (const char* access : {"deny", "allow"}) {
    for (const int error : {EPERM, ENOSYS}) {
      in_sandbox({{"BELAY_HOST_ACCESS", access}}, [error] {
        deny_files(error);
        round_trip();
      });
    }
  }
}

// Where bytes are reached by system calls, a limit that the program sets later would kill it with SIGXFSZ.
TEST(DeniedBytes, M239_R220_AFileLimitThatComesLaterIsARefusalToo) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  in_sandbox({}, [] {
    limit(RLIMIT_AS, kLittleAddressSpace);
    round_trip();
    limit(RLIMIT_FSIZE, 4096);
    expect_refusals_that_name({"M-239", "ulimit -f", "4 KB", "raise"});
  });
}

TEST(DeniedBytes, AFileLimitThatComesLaterDoesNotTouchWhatIsMapped) {
  in_sandbox({}, [] {
    round_trip();
    limit(RLIMIT_FSIZE, 4096);
    round_trip();
  });
}

// Fresh memory is written through the file, where that is allowed.
TEST(DeniedBytes, AFileLimitThatComesLaterDoesNotKeepFreshMemoryFromBeingWritten) {
  in_sandbox({}, [] {
    round_trip();
    limit(RLIMIT_FSIZE, 4096);
    constexpr std::size_t kBytes = std::size_t{3} << 20;
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 2 * kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    auto* second = static_cast<char*>(block) + kBytes;
    std::vector<char> sent(kBytes), back(2 * kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<char>(i % 251);
    EXPECT_EQ(aclrtMemcpy(block, kBytes, sent.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(second, kBytes, 5, kBytes), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(back.data(), back.size(), block, back.size(), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), back.begin()));
    EXPECT_EQ(std::count(back.begin() + kBytes, back.end(), 5), static_cast<std::ptrdiff_t>(kBytes));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

// Host code may touch: then a block without bytes is not given out at all. There is room for the window, and
// not for as much again.
TEST(DeniedBytes, M86_R220_WhereHostCodeMayTouchAllocationNamesTheObstacle) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers need more address space than this leaves";
  in_sandbox({{"BELAY_HOST_ACCESS", "allow"}}, [] {
    constexpr std::size_t kWindow = std::size_t{8} << 40;
    limit(RLIMIT_FSIZE, std::size_t{1} << 30);
    limit(RLIMIT_AS, kWindow + kWindow / 2);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_named(recent_message(), {"M-86", "ulimit -f", "1 GB", "raise", "ulimit -v"});
  });
}

}  // namespace denied_bytes_test
