// Many pairs of allocation and free, and one number for one cause.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "support/device_fixture.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/waiting.h"

namespace frequent_pairs_test {

using belay_test::kKB;
using belay_test::kMB;

// A figure of /proc/self/status in KB.
long status_figure(const char* name) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) == 0)
      std::sscanf(line + std::strlen(name), ": %ld", &value);
  }
  if (file != nullptr) std::fclose(file);
  return value;
}

class FrequentPairs : public belay_test::OnDevice {};

TEST_F(FrequentPairs, M94_LeaveBooksAndResidentMemoryAsTheyWere) {
  const auto pairs = [](int count) {
    for (int i = 0; i < count; ++i) {
      void* block = nullptr;
      ASSERT_EQ(
          aclrtMalloc(&block, (static_cast<std::size_t>(i) % 40 + 1) * 50 * kKB, ACL_MEM_MALLOC_HUGE_FIRST),
          ACL_SUCCESS);
      ASSERT_EQ(aclrtMemset(block, 1, 1, 1), ACL_SUCCESS);
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  };
  pairs(2000);
  const long before = status_figure("VmRSS");
  pairs(100000);
  EXPECT_EQ(belay_test::free_bytes(), free_before_);
  EXPECT_LT(status_figure("VmRSS") - before, 64 * 1024) << "KB";
}

TEST_F(FrequentPairs, M432_PinnedPagesAreKeptForTheNextBlock_AndGoBackAfterARest) {
  if (belay_test::kUnderASanitizer) GTEST_SKIP() << "mlock does nothing under a sanitizer";
  const long before = status_figure("VmLck");
  ASSERT_GE(before, 0);
  for (int i = 0; i < 300; ++i) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocHost(&block, kMB), ACL_SUCCESS);
    EXPECT_EQ(status_figure("VmLck"), before + 1024) << "locked while it lives";
    ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  }
  EXPECT_TRUE(belay_test::eventually([&] { return status_figure("VmLck") == before; }));
}

TEST_F(FrequentPairs, M32_OneCauseOneNumber) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  char host[64] = {};
  EXPECT_EQ(aclrtMemcpy(block, 1, host, 2, ACL_MEMCPY_DEFAULT), 107000) << "refused value";
  EXPECT_EQ(aclrtFree(host), 107000) << "refused value";
  EXPECT_EQ(aclrtSetDevice(64), 107001) << "no such device";
  EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(&block), 207000) << "not supported";
  void* none = nullptr;
  EXPECT_EQ(aclrtMalloc(&none, std::size_t{1} << 50, ACL_MEM_MALLOC_NORMAL_ONLY), 207001) << "no memory";
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 1, 0, 1), 507899) << "refused address range";
  belay_test::in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "none"}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), 207004) << "no device at all";
  });
  belay_test::in_fresh_process({}, [] {
    aclrtPtrAttributes attributes{};
    int local = 0;
    EXPECT_EQ(aclrtPointerGetAttributes(&local, &attributes), 107017) << "refused handle";
  });
}

TEST(InnerErrors, R15_FirstLayerErrorsWithoutANumber_Are500000) {
  belay_test::in_fresh_process({}, [] {
    const auto callback = [](const char*, std::size_t, void*) -> aclError { return ACL_SUCCESS; };
    EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, callback, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, callback, nullptr), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
}

TEST(InitOnIpv, R34_CountsAsEverywhere) {
  belay_test::in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  });
}

}  // namespace frequent_pairs_test
