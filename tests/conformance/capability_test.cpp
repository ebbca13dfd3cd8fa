// What the software and a device can do.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"

namespace capability_test {

using belay_test::as_enum;

TEST(Capability, R245_TheListOfAttributes) {
  const aclCannAttr* list = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(aclGetCannAttributeList(&list, &count), ACL_SUCCESS);
  ASSERT_NE(list, nullptr);
  std::vector<aclCannAttr> sorted(list, list + count);
  std::sort(sorted.begin(), sorted.end());
  for (const aclCannAttr attribute : sorted) {
    std::int32_t value = -77;
    EXPECT_EQ(aclGetCannAttribute(attribute, &value), ACL_SUCCESS) << "what is listed can be asked for";
  }
  for (const aclCannAttr attribute : {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE}) {
    EXPECT_EQ(std::count(sorted.begin(), sorted.end(), attribute), 1) << attribute;
  }
  const aclCannAttr* again = nullptr;
  EXPECT_EQ(aclGetCannAttributeList(&again, &count), ACL_SUCCESS);
  EXPECT_EQ(again, list) << "static memory";
}

TEST(Capability, R245_Values) {
  for (const auto& [attribute, expected] :
       {std::pair{ACL_CANN_ATTR_INF_NAN, 1}, std::pair{ACL_CANN_ATTR_BF16, 1},
        std::pair{ACL_CANN_ATTR_JIT_COMPILE, 1}}) {
    std::int32_t value = -77;
    EXPECT_EQ(aclGetCannAttribute(attribute, &value), ACL_SUCCESS);
    EXPECT_EQ(value, expected) << attribute;
  }
}

TEST(Capability, R245_Errors) {
  const aclCannAttr* list = nullptr;
  std::size_t count = 77;
  EXPECT_EQ(aclGetCannAttributeList(nullptr, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(count, 77U);
  EXPECT_EQ(aclGetCannAttributeList(&list, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(list, nullptr);
  EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr), ACL_ERROR_INVALID_PARAM);
  std::int32_t value = -77;
  for (const int number : {-1, 3, 100}) {
    EXPECT_EQ(aclGetCannAttribute(as_enum<aclCannAttr>(number), &value), ACL_ERROR_INVALID_PARAM) << number;
  }
  EXPECT_EQ(value, -77);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

std::int64_t figure(aclDeviceInfo what, std::uint32_t device = 0) {
  std::int64_t value = -77;
  EXPECT_EQ(aclGetDeviceCapability(device, what, &value), ACL_SUCCESS) << what;
  return value;
}

TEST(Capability, R246_FiguresOfADevice) {
  for (const auto& [what, same] : {std::pair{ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEV_ATTR_AICORE_CORE_NUM},
                                   std::pair{ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM},
                                   std::pair{ACL_DEVICE_INFO_L2_SIZE, ACL_DEV_ATTR_L2_CACHE_SIZE}}) {
    std::int64_t expected = -1;
    EXPECT_EQ(aclrtGetDeviceInfo(0, same, &expected), ACL_SUCCESS);
    EXPECT_EQ(figure(what), expected) << what;
    EXPECT_GT(figure(what), 0) << what;
    EXPECT_EQ(figure(what, 7), figure(what)) << "all devices are alike";
  }
  EXPECT_GE(figure(ACL_DEVICE_INFO_L2_SIZE), 1024 * 1024) << "in bytes";
}

TEST(Capability, R246_Errors) {
  std::int64_t value = -77;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  for (const std::uint32_t device : {8U, 64U, UINT32_MAX}) {
    EXPECT_EQ(aclGetDeviceCapability(device, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_ERROR_INVALID_PARAM)
        << device;
  }
  for (const int number : {-1, 3, 100}) {
    EXPECT_EQ(aclGetDeviceCapability(0, as_enum<aclDeviceInfo>(number), &value), ACL_ERROR_INVALID_PARAM)
        << number;
  }
  EXPECT_EQ(value, -77);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

}  // namespace capability_test
