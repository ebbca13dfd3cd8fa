// belay_check_segments: a plan for cutting a block, against the rule of the documents.
#include <string>
#include <vector>

#include "acl/ops/acl_dvpp.h"
#include "belay/belay.h"
#include "support/device_fixture.h"
#include "support/settings.h"

namespace check_segments_test {

using namespace belay_test;

int check(void* base, std::vector<belaySegment> plan) {
  return belay_check_segments(base, plan.data(), plan.size());
}

TEST(CheckSegments, M45_M420_ABlock) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 1088 + 1056, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(check(block, {{0, 1000}, {1088, 1000}}), 0);
    EXPECT_EQ(check(block, {{1088, 1000}, {0, 1000}}), 0);
    EXPECT_EQ(check(block, {{0, 1000}, {1088, 1025}}), ACL_ERROR_RT_PARAM_INVALID)
        << "padding does not count";
    EXPECT_EQ(check(block, {{0, 1000}, {1024, 1000}}), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(std::string{aclGetRecentErrMsg()}.find("M-45"), std::string::npos);
    EXPECT_EQ(check(block, {{0, 1000}, {1087, 10}}), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(check(static_cast<char*>(block) + 64, {{0, 1000}, {1024, 1000}}), ACL_ERROR_RT_PARAM_INVALID);
    for (const std::size_t offset : {2144, 2176, 4032})
      EXPECT_EQ(check(static_cast<char*>(block) + offset, {{0, 1}}), ACL_ERROR_RT_PARAM_INVALID) << "padding";
    EXPECT_EQ(check(block, {}), 0);
    EXPECT_EQ(belay_check_segments(block, nullptr, 0), 0);
    EXPECT_EQ(belay_check_segments(block, nullptr, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(check(nullptr, {}), ACL_ERROR_INVALID_PARAM);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(check(block, {{0, 1}}), ACL_ERROR_RT_PARAM_INVALID) << "it is freed";
  });
}

TEST(CheckSegments, M45_M46_HostAndMediaMemory) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void *host = nullptr, *media = nullptr;
    ASSERT_EQ(aclrtMallocHost(&host, 100), ACL_SUCCESS);
    EXPECT_EQ(check(host, {{0, 50}, {50, 50}}), 0) << "no rule for host memory but its own";
    EXPECT_NE(check(host, {{0, 51}, {50, 50}}), 0);
    EXPECT_NE(check(host, {{0, 50}, {50, 51}}), 0);
    EXPECT_NE(check(static_cast<char*>(host) + 101, {{0, 1}}), 0);
    ASSERT_EQ(acldvppMalloc(&media, 4096), ACL_SUCCESS);
    EXPECT_EQ(check(media, {{0, 1}, {128, 1}}), 0);
    EXPECT_NE(check(media, {{0, 1}, {64, 1}}), 0);
    EXPECT_NE(std::string{aclGetRecentErrMsg()}.find("M-46"), std::string::npos);
    char local = 0;
    EXPECT_NE(check(&local, {}), 0) << "belay does not know what is there";
    EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  });
}

TEST(CheckSegments, M45_ARangeOverSeveralMappings) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    constexpr std::size_t kGranule = std::size_t{2} << 20;
    const aclrtPhysicalMemProp prop{ACL_MEM_HANDLE_TYPE_NONE,
                                    ACL_MEM_ALLOCATION_TYPE_PINNED,
                                    ACL_HBM_MEM_HUGE,
                                    {0, ACL_MEM_LOCATION_TYPE_DEVICE},
                                    0};
    void* start = nullptr;
    aclrtDrvMemHandle handle = nullptr;
    ASSERT_EQ(aclrtReserveMemAddress(&start, 2 * kGranule, 0, nullptr, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocPhysical(&handle, kGranule, &prop, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMapMem(start, kGranule, 0, handle, 0), ACL_SUCCESS);
    EXPECT_NE(check(start, {{kGranule - 64, 64}}), 0);
    ASSERT_EQ(aclrtMapMem(static_cast<char*>(start) + kGranule, kGranule, 0, handle, 0), ACL_SUCCESS);
    EXPECT_EQ(check(start, {{kGranule - 64, 64}}), 0);
    EXPECT_NE(check(start, {{2 * kGranule - 64, 64}}), 0);
  });
}

TEST(CheckSegments, M35_M45_AProductWithoutPadding) {
  in_fresh_process({{"BELAY_PRODUCT", "Ascend950PR_9599"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 128, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(check(block, {{0, 64}, {64, 64}}), 0);
    EXPECT_NE(check(block, {{0, 65}, {64, 64}}), 0);
  });
}

}  // namespace check_segments_test
