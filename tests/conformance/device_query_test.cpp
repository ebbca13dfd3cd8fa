// Questions about devices.
#include <cstdint>
#include <cstring>
#include <regex>
#include <set>
#include <string>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/worker.h"

namespace device_query_test {

using belay_test::as_enum;
using belay_test::on_new_thread;

class DeviceQuery : public belay_test::OnDevice {};

std::int64_t info(aclrtDevAttr attribute, std::uint32_t device = 0) {
  std::int64_t value = -77;
  EXPECT_EQ(aclrtGetDeviceInfo(device, attribute, &value), ACL_SUCCESS) << "attribute " << attribute;
  return value;
}

TEST_F(DeviceQuery, R77_TheChipNameIsOneStaticString) {
  const char* const name = aclrtGetSocName();
  ASSERT_NE(name, nullptr);
  EXPECT_STREQ(name, "Ascend910B3");
  EXPECT_EQ(aclrtGetSocName(), name);
  on_new_thread([name] { EXPECT_EQ(aclrtGetSocName(), name); });
}

TEST_F(DeviceQuery, R78_Status) {
  for (std::int32_t device = 0; device < 8; ++device) {
    auto status = ACL_RT_DEVICE_STATUS_END;
    EXPECT_EQ(aclrtQueryDeviceStatus(device, &status), ACL_SUCCESS);
    EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
  }
  auto status = ACL_RT_DEVICE_STATUS_END;
  for (const std::int32_t device : {-1, 8, 1000}) {
    EXPECT_EQ(aclrtQueryDeviceStatus(device, &status), ACL_ERROR_RT_INVALID_DEVICEID);
  }
  EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_END);
  EXPECT_EQ(aclrtQueryDeviceStatus(0, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceQuery, R79_Utilization) {
  aclrtUtilizationInfo use{77, 77, 77, 77, nullptr};
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, &use), ACL_SUCCESS);
  for (const std::int32_t percent : {use.cubeUtilization, use.vectorUtilization, use.aicpuUtilization}) {
    EXPECT_GE(percent, -1);
    EXPECT_LE(percent, 100);
    EXPECT_NE(percent, 77);
  }
  EXPECT_EQ(use.memoryUtilization, -1);

  for (const std::int32_t device : {-1, 8, 1000}) {
    use = {77, 77, 77, 77, nullptr};
    EXPECT_EQ(aclrtGetDeviceUtilizationRate(device, &use), ACL_SUCCESS) << device;
    EXPECT_EQ(use.cubeUtilization, -1);
    EXPECT_EQ(use.vectorUtilization, -1);
    EXPECT_EQ(use.aicpuUtilization, -1);
    EXPECT_EQ(use.memoryUtilization, -1);
  }

  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, nullptr), ACL_ERROR_INVALID_PARAM);
  int extension = 0;
  use = {77, 77, 77, 77, reinterpret_cast<aclrtUtilizationExtendInfo*>(&extension)};
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, &use), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(use.cubeUtilization, 77);
  EXPECT_EQ(use.memoryUtilization, 77);
}

TEST_F(DeviceQuery, R80_DeviceInfoErrors) {
  std::int64_t value = 77;
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, nullptr), ACL_ERROR_INVALID_PARAM);
  for (const std::uint32_t device : {8U, 1000U, UINT32_MAX}) {
    EXPECT_EQ(aclrtGetDeviceInfo(device, ACL_DEV_ATTR_NPU_ARCH, &value), ACL_ERROR_RT_PARAM_INVALID)
        << device;
  }
  for (const int attribute : {0, 2, 100, 103, 213, 300, 303, 400, 410, 502, 600, 602, 999, -1}) {
    EXPECT_EQ(aclrtGetDeviceInfo(0, as_enum<aclrtDevAttr>(attribute), &value), ACL_ERROR_RT_PARAM_INVALID)
        << attribute;
  }
  EXPECT_EQ(value, 77);
}

TEST_F(DeviceQuery, R81_Values) {
  std::size_t free_now = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total), ACL_SUCCESS);
  EXPECT_EQ(info(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), static_cast<std::int64_t>(total));
  for (int attribute = 202; attribute <= 212; ++attribute)
    EXPECT_EQ(info(as_enum<aclrtDevAttr>(attribute)), 0);
  std::int64_t value = 77;
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(value, 77);
  EXPECT_EQ(info(ACL_DEV_ATTR_IS_VIRTUAL), 0);
  EXPECT_EQ(info(ACL_DEV_ATTR_NPU_ARCH), 2201);
  for (const aclrtDevAttr cores : {ACL_DEV_ATTR_AICPU_CORE_NUM, ACL_DEV_ATTR_AICORE_CORE_NUM,
                                   ACL_DEV_ATTR_CUBE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM}) {
    EXPECT_GT(info(cores), 0) << cores;
  }
  EXPECT_GT(info(ACL_DEV_ATTR_L2_CACHE_SIZE), 0);
  for (std::uint32_t device = 1; device < 8; ++device) {
    EXPECT_EQ(info(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, device), static_cast<std::int64_t>(total));
  }
}

TEST_F(DeviceQuery, R82_FeaturesOfADevice) {
  std::int32_t value = 77;
  for (const aclrtDevFeatureType feature :
       {ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV}) {
    EXPECT_EQ(aclrtGetDeviceCapability(0, feature, &value), ACL_SUCCESS);
    EXPECT_EQ(value, ACL_DEV_FEATURE_NOT_SUPPORT);
    value = 77;
    EXPECT_EQ(aclrtGetDeviceCapability(-1, feature, &value), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtGetDeviceCapability(8, feature, &value), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(aclrtGetDeviceCapability(0, feature, nullptr), ACL_ERROR_INVALID_PARAM);
  }
  for (const int feature : {0, 2, 20, 22, -1}) {
    const auto wrong = as_enum<aclrtDevFeatureType>(feature);
    EXPECT_EQ(aclrtGetDeviceCapability(0, wrong, &value), ACL_ERROR_RT_PARAM_INVALID) << feature;
    EXPECT_EQ(aclrtGetDeviceCapability(99, wrong, &value), ACL_ERROR_RT_PARAM_INVALID)
        << "the feature comes first";
  }
  EXPECT_EQ(value, 77);
}

TEST_F(DeviceQuery, R83_Topology) {
  for (std::uint32_t one = 0; one < 8; ++one) {
    for (std::uint32_t other = 0; other < 8; ++other) {
      std::uint64_t link = 0;
      if (one == other) {
        EXPECT_EQ(aclrtGetDevicesTopo(one, other, &link), ACL_ERROR_RT_PARAM_INVALID);
      } else {
        EXPECT_EQ(aclrtGetDevicesTopo(one, other, &link), ACL_SUCCESS);
        EXPECT_EQ(link, ACL_RT_DEVS_TOPOLOGY_HCCS);
      }
    }
  }
  std::uint64_t link = 77;
  EXPECT_EQ(aclrtGetDevicesTopo(0, 8, &link), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDevicesTopo(8, 0, &link), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(link, 77U);
  EXPECT_EQ(aclrtGetDevicesTopo(0, 1, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceQuery, R84_StreamPriorities) {
  on_new_thread([] {
    std::int32_t least = -1, greatest = -1;
    EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(&least, &greatest), ACL_SUCCESS) << "no context needed";
    EXPECT_EQ(least, 7);
    EXPECT_EQ(greatest, 0);
    least = greatest = -1;
    EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(&least, nullptr), ACL_SUCCESS);
    EXPECT_EQ(least, 7);
    EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(nullptr, &greatest), ACL_SUCCESS);
    EXPECT_EQ(greatest, 0);
    EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(nullptr, nullptr), ACL_SUCCESS);
  });
}

std::string uuid_of(std::int32_t device) {
  aclrtUuid uuid{};
  EXPECT_EQ(aclrtDeviceGetUuid(device, &uuid), ACL_SUCCESS);
  return {uuid.bytes, sizeof uuid.bytes};
}

TEST_F(DeviceQuery, R85_Uuids) {
  std::set<std::string> all;
  for (std::int32_t device = 0; device < 8; ++device) {
    all.insert(uuid_of(device));
    EXPECT_EQ(uuid_of(device), uuid_of(device));
  }
  EXPECT_EQ(all.size(), 8U);
  aclrtUuid uuid{};
  EXPECT_EQ(aclrtDeviceGetUuid(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetUuid(-1, &uuid), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceGetUuid(8, &uuid), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(DeviceQuery, R86_PciBusIds) {
  const std::regex shape("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-9a-f]");
  std::set<std::string> all;
  for (std::int32_t device = 0; device < 8; ++device) {
    char text[16];
    std::memset(text, 0x5A, sizeof text);
    ASSERT_EQ(aclrtDeviceGetPCIBusId(device, text, 13), ACL_SUCCESS);
    EXPECT_EQ(text[12], '\0');
    EXPECT_EQ(text[13], 0x5A) << "13 bytes are written";
    EXPECT_TRUE(std::regex_match(text, shape)) << text;
    all.insert(text);
    std::int32_t found = -1;
    EXPECT_EQ(aclrtDeviceGetByPCIBusId(text, &found), ACL_SUCCESS);
    EXPECT_EQ(found, device);
  }
  EXPECT_EQ(all.size(), 8U);

  char text[64] = {};
  EXPECT_EQ(aclrtDeviceGetPCIBusId(0, text, sizeof text), ACL_SUCCESS);
  EXPECT_EQ(std::strlen(text), 12U);
  EXPECT_EQ(aclrtDeviceGetPCIBusId(0, nullptr, 13), ACL_ERROR_INVALID_PARAM);
  for (const std::int32_t length : {12, 1, 0, -1}) {
    EXPECT_EQ(aclrtDeviceGetPCIBusId(0, text, length), ACL_ERROR_RT_PARAM_INVALID) << length;
  }
  EXPECT_EQ(aclrtDeviceGetPCIBusId(-1, text, 13), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceGetPCIBusId(8, text, 13), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(DeviceQuery, R86_UnknownBusIds) {
  std::int32_t device = 77;
  for (const char* text : {"", "0", "no bus", "ffff:ff:1f.7", "0000:00:00", "zzzz:00:00.0", "0000:00:00.0.0",
                           "0000-00-00.0", "  0000:00:00.0"}) {
    EXPECT_EQ(aclrtDeviceGetByPCIBusId(text, &device), ACL_ERROR_RT_PARAM_INVALID) << text;
  }
  EXPECT_EQ(device, 77);
  EXPECT_EQ(aclrtDeviceGetByPCIBusId(nullptr, &device), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetByPCIBusId("0000:00:00.0", nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace device_query_test
