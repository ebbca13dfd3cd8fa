// Questions about devices, by product and setting.
#include <cstdint>
#include <cstring>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/settings.h"
#include "support/worker.h"

namespace device_query_products_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::on_new_thread;

class DeviceQueryProducts : public belay_test::OnDevice {};

std::int64_t info(aclrtDevAttr attribute, std::uint32_t device = 0) {
  std::int64_t value = -77;
  EXPECT_EQ(aclrtGetDeviceInfo(device, attribute, &value), ACL_SUCCESS) << "attribute " << attribute;
  return value;
}

TEST_F(DeviceQueryProducts, R75_DeviceCount) {
  std::uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 8U);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  in_fresh_process({{"BELAY_DEVICES", "3"}}, [] {
    std::uint32_t three = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&three), ACL_SUCCESS);
    EXPECT_EQ(three, 3U);
    EXPECT_EQ(aclrtSetDevice(3), ACL_ERROR_RT_INVALID_DEVICEID);
  });
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "nothing"}}, [] {
    std::uint32_t none = 77;
    EXPECT_EQ(aclrtGetDeviceCount(&none), ACL_ERROR_RT_NO_DEVICE);
    EXPECT_EQ(none, 77U);
    EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

TEST_F(DeviceQueryProducts, R76_RunMode) {
  on_new_thread([] {
    aclrtRunMode mode = ACL_DEVICE;
    EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS) << "no context needed";
    EXPECT_EQ(mode, ACL_HOST);
  });
  EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM);
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    for (const auto& [form, expected] :
         {std::pair{"EP", ACL_HOST}, {"RC", ACL_DEVICE}, {"OPEN_CTRL_CPU", ACL_DEVICE}}) {
      in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_FORM", form}},
                       [&, expected = expected, form = form] {
                         aclrtRunMode mode = expected == ACL_HOST ? ACL_DEVICE : ACL_HOST;
                         EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS) << product << " " << form;
                         EXPECT_EQ(mode, expected) << product << " " << form;
                       });
    }
  }
}

TEST(DeviceQuerySettings, R77_EveryProductHasAName) {
  for (const char* product : {"A2", "A3", "950", "310P", "910", "310B"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [product] {
      const char* const name = aclrtGetSocName();
      ASSERT_NE(name, nullptr) << product;
      EXPECT_EQ(std::strncmp(name, "Ascend", 6), 0) << product << " is " << name;
      EXPECT_EQ(std::strcmp(name, "Ascend910B3") == 0, std::strcmp(product, "A2") == 0) << product;
    });
  }
  in_fresh_process({{"BELAY_PRODUCT", "Ascend910B1"}},
                   [] { EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1"); });
}

TEST_F(DeviceQueryProducts, R81_TheTotalFollowsTheSetting) {
  in_fresh_process({{"BELAY_HBM", "64M"}}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::size_t free_now = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total), ACL_SUCCESS);
    EXPECT_EQ(total, 64 * belay_test::kMB);
    EXPECT_EQ(info(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), static_cast<std::int64_t>(total));
  });
}

TEST(DeviceQuerySettings, R81_OtherProducts) {
  in_fresh_process({{"BELAY_PRODUCT", "A3"}}, [] {
    for (int attribute = 202; attribute <= 212; ++attribute)
      EXPECT_EQ(info(as_enum<aclrtDevAttr>(attribute)), 0);
    EXPECT_EQ(info(ACL_DEV_ATTR_NPU_ARCH), 2201);
    std::int64_t value = 0;
    EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  });
  in_fresh_process({{"BELAY_PRODUCT", "950"}}, [] {
    EXPECT_EQ(info(ACL_DEV_ATTR_NPU_ARCH), 3510);
    const std::int64_t link = info(ACL_DEV_ATTR_HD_CONNECT_TYPE),
                       shape = info(ACL_DEV_ATTR_DEVICE_FORM_FACTOR);
    EXPECT_TRUE(link >= ACL_HOST_DEVICE_CONNECT_TYPE_PCIE && link <= ACL_HOST_DEVICE_CONNECT_TYPE_UB) << link;
    EXPECT_TRUE(shape >= ACL_DEVICE_FORM_FACTOR_POD && shape <= ACL_DEVICE_FORM_FACTOR_PCIE_CARD) << shape;
  });
  for (const char* older : {"310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", older}}, [older] {
      const std::int64_t arch = info(ACL_DEV_ATTR_NPU_ARCH);
      EXPECT_TRUE(arch == 2002 || arch == 1001) << older << ": " << arch;
      std::int64_t value = 0;
      EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_DEVICE_FORM_FACTOR, &value),
                ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    });
  }
}

}  // namespace device_query_products_test
