// What all memory functions have in common: the default device, and functions that a product lacks.
#include <unistd.h>
#include <cstdio>
#include <fstream>
#include <string>

#include "support/allocators.h"
#include "support/on_product.h"
#include "support/settings.h"

namespace common_products_test {

using namespace belay_test;

TEST(CommonByProduct, M3_DefaultDeviceOfTheConfigurationIsSetImplicitly) {
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    std::string path = ::testing::TempDir() + "default_device_XXXXXX";
    const int file = ::mkstemp(path.data());
    ASSERT_GE(file, 0);
    ::close(file);
    std::ofstream(path) << R"({"defaultDevice": {"default_device": "1"}})";
    const aclError code = aclInit(path.c_str());
    std::remove(path.c_str());
    ASSERT_EQ(code, ACL_SUCCESS);
    for (int round = 0; round < 2; ++round) {
      without_context([] {
        void* block = nullptr;
        ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        aclrtPtrAttributes attributes{};
        EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
        EXPECT_EQ(attributes.location.id, 1U);
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      });
    }
  });
}

TEST(CommonByProduct, M8_FunctionsTheProductLacksAnswer207000) {
  on_product("IPV350", [] {
    int local = 0;
    void* out = nullptr;
    void* list[1] = {&local};
    std::uint32_t result = 0;
    std::size_t number = 0;
    aclrtMemUsageInfo usage{};
    aclrtPtrAttributes attributes{};
    constexpr aclError no = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    EXPECT_EQ(aclrtMallocCached(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST), no);
    EXPECT_EQ(aclrtMallocWithCfg(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr), no);
    EXPECT_EQ(aclrtMallocForTaskScheduler(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr), no);
    EXPECT_EQ(aclrtFreeWithDevSync(&local), no);
    EXPECT_EQ(aclrtMemFlush(&local, 4), no);
    EXPECT_EQ(aclrtMemInvalidate(&local, 4), no);
    EXPECT_EQ(aclrtGetMemUsageInfo(0, &usage, 1, &number), no);
    EXPECT_EQ(aclrtCheckMemType(list, 1, ACL_RT_MEM_TYPE_DEV, &result, 0), no);
    EXPECT_EQ(aclrtPointerGetAttributes(&local, &attributes), no);
    EXPECT_EQ(aclrtMallocHost(&out, 64), no);
    EXPECT_EQ(aclrtMallocHostWithCfg(&out, 64, nullptr), no);
    EXPECT_EQ(out, nullptr);
    ASSERT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  });
}

TEST(CommonByProduct, M418_ArgumentsThenContextThenProductThenTheRest) {
  on_product("IPV350", [] {
    int local = 0;
    void* out = nullptr;
    void* list[1] = {&local};
    std::uint32_t result = 0;
    aclrtMallocConfig empty{nullptr, 0};  // 107000 by itself (M-99)
    const auto calls = [&](aclError then) {
      EXPECT_EQ(aclrtMallocWithCfg(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST, &empty), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtMallocWithCfg(&out, 0, ACL_MEM_MALLOC_HUGE_FIRST, &empty), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtMallocWithCfg(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST, &empty), then);
      EXPECT_EQ(aclrtMemFlush(nullptr, 4), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtMemFlush(&local, 0), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtMemFlush(&local, 4), then);
      EXPECT_EQ(aclrtCheckMemType(nullptr, 1, 2, &result, 1), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtCheckMemType(list, 1, 2, &result, 1), then);  // reserve 1 is 107000 by itself
      EXPECT_EQ(aclrtFreeWithDevSync(nullptr), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtFreeWithDevSync(&local), then);
    };
    calls(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    without_context([&] { calls(ACL_ERROR_RT_CONTEXT_NULL); });
  });
}

}  // namespace common_products_test
