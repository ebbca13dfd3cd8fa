// aclrtHostMemMapCapabilities on each product.
#include "support/blocks.h"
#include "support/settings.h"

namespace host_device_pointer_products_test {

using namespace belay_test;

constexpr auto kAnyUnit = ACL_RT_HAC_TYPE_SDMA;

aclrtHacType unit_of(int value) { return static_cast<aclrtHacType>(value); }

TEST(HostDevicePointerProducts, M227_M228_CapabilityByProduct) {
  struct Case {
    const char* product;
    int answer;
    aclrtHostMemMapCapability value;
  };
  constexpr auto yes = ACL_RT_HOST_MEM_MAP_SUPPORTED, no = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
  for (const Case& test :
       {Case{"950", ACL_SUCCESS, yes}, Case{"A3", ACL_SUCCESS, yes}, Case{"A2", ACL_SUCCESS, yes},
        Case{"310B", ACL_SUCCESS, no}, Case{"310P", ACL_SUCCESS, no}, Case{"910", ACL_SUCCESS, no},
        Case{"IPV350", kUnsupported, no}}) {
    in_fresh_process({{"BELAY_PRODUCT", test.product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int unit = 0; unit <= 9; ++unit) {
        // Whatever stood there before.
        for (const auto before : {ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED, ACL_RT_HOST_MEM_MAP_SUPPORTED}) {
          auto value = before;
          EXPECT_EQ(aclrtHostMemMapCapabilities(0, unit_of(unit), &value), test.answer)
              << test.product << unit;
          EXPECT_EQ(value, test.answer == ACL_SUCCESS ? test.value : before) << test.product << unit;
        }
      }
      auto value = no;
      EXPECT_EQ(aclrtHostMemMapCapabilities(999, kAnyUnit, &value), kBadDevice) << test.product;
      EXPECT_EQ(aclrtHostMemMapCapabilities(0, unit_of(10), &value), kBadValue) << test.product;
      without_context([&] { EXPECT_EQ(aclrtHostMemMapCapabilities(0, kAnyUnit, &value), kNoContext); });
    });
  }
}

}  // namespace host_device_pointer_products_test
