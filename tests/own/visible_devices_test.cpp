// ASCEND_RT_VISIBLE_DEVICES.
#include <stdlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/device_fixture.h"
#include "support/settings.h"

namespace visible_devices_test {

using belay_test::in_fresh_process;
using belay_test::recent_message;

const char* const kVariable = "ASCEND_RT_VISIBLE_DEVICES";

// The logical devices that a value makes visible, in user order.
void expect_visible(const std::string& value, const std::vector<std::int32_t>& devices) {
  in_fresh_process({{kVariable, value}}, [&] {
    std::uint32_t count = 77;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS) << "'" << value << "'";
    ASSERT_EQ(count, devices.size()) << "'" << value << "'";
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const auto user = static_cast<std::int32_t>(i);
      std::int32_t logical = -1;
      EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(user, &logical), ACL_SUCCESS) << "'" << value << "'";
      EXPECT_EQ(logical, devices[i]) << "'" << value << "'";
      EXPECT_EQ(aclrtSetDevice(user), ACL_SUCCESS) << "'" << value << "'";
    }
    EXPECT_EQ(aclrtSetDevice(static_cast<std::int32_t>(count)), ACL_ERROR_RT_INVALID_DEVICEID)
        << "'" << value << "'";
  });
}

void expect_none(const std::string& value) {
  in_fresh_process({{kVariable, value}}, [&] {
    std::uint32_t count = 77;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE) << "'" << value << "'";
    EXPECT_EQ(count, 77U);
    const std::string text = recent_message();
    EXPECT_NE(text.find("EE2002"), std::string::npos) << text;
    EXPECT_NE(text.find(kVariable), std::string::npos) << text;
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID) << "'" << value << "'";
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_ERROR_RT_INVALID_DEVICEID) << "'" << value << "'";
  });
}

TEST(VisibleDevices, R247_AListInRisingOrder) {
  expect_visible("0", {0});
  expect_visible("7", {7});
  expect_visible("1,2,5", {1, 2, 5});
  expect_visible("0,1,2,3,4,5,6,7", {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(VisibleDevices, R247_R75_UnsetMeansAll) {
  in_fresh_process({}, [] {
    ::unsetenv(kVariable);
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 8U);
  });
}

TEST(VisibleDevices, R248_ReadingStopsAtAForeignCharacter) {
  expect_visible("1, 2", {1});
  expect_visible("1,2 ", {1, 2});
  expect_visible("0,3;5", {0, 3});
  expect_visible("2,-1", {2});
  expect_visible("1,x,3", {1});
}

TEST(VisibleDevices, R248_AndAtAnIdThatDoesNotExist) {
  expect_visible("1,3,8", {1, 3});
  expect_visible("0,99,5", {0});
  expect_visible("6,7,8,9", {6, 7});
  expect_visible("1,99999999999999999999", {1});
}

TEST(VisibleDevices, R248_TheNumberOfDevicesCounts) {
  in_fresh_process({{kVariable, "1,3"}, {"BELAY_DEVICES", "2"}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 1U);
  });
}

TEST(VisibleDevices, R249_RepeatedOrFallingIdsVoidTheList) {
  for (const char* value : {"1,1", "0,1,1", "2,1", "0,1,2,1", "7,0", "5,5,5"}) expect_none(value);
}

TEST(VisibleDevices, R250_R75_NoValidId) {
  for (const char* value : {"", "x", "8", "99,0", "-1", " 0", "-1,0,1", "none"}) expect_none(value);
}

TEST(VisibleDevices, R250_R265_NothingCrashesWithoutDevices) {
  in_fresh_process({{kVariable, ""}}, [] {
    EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_ERROR_RT_INVALID_DEVICEID);
    auto status = ACL_RT_DEVICE_STATUS_END;
    EXPECT_EQ(aclrtQueryDeviceStatus(0, &status), ACL_ERROR_RT_INVALID_DEVICEID);
    std::int64_t value = 0;
    EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &value), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_ERROR_INVALID_PARAM);
    std::int32_t device = 0;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST(VisibleDevices, R251_ReadOnce) {
  in_fresh_process({{kVariable, "1,2"}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 2U);
    ::setenv(kVariable, "0,1,2,3", 1);
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
    ::setenv(kVariable, "", 1);
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    ::unsetenv(kVariable);
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 2U);
    std::int32_t logical = -1;
    EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(0, &logical), ACL_SUCCESS);
    EXPECT_EQ(logical, 1);
  });
}

TEST(VisibleDevices, R251_R247_ChangedBeforeTheFirstUseItCounts) {
  in_fresh_process({{kVariable, "0,1,2"}}, [] {
    ::setenv(kVariable, "6", 1);
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 1U);
  });
}

TEST(VisibleDevices, R251_ChildrenInheritIt) {
  in_fresh_process({{kVariable, "3,4,5"}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    in_fresh_process({}, [] {
      std::uint32_t inherited = 0;
      EXPECT_EQ(aclrtGetDeviceCount(&inherited), ACL_SUCCESS);
      EXPECT_EQ(inherited, 3U);
    });
  });
}

}  // namespace visible_devices_test
