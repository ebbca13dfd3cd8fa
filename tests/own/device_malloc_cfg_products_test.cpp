// aclrtMallocForTaskScheduler on each product.
#include "support/allocators.h"
#include "support/on_product.h"

namespace device_malloc_cfg_products_test {

using namespace belay_test;

TEST(DeviceMallocCfgByProduct, M109_M115_TaskSchedulerMemoryIsOrdinaryDeviceMemory) {
  for (const char* product : {"A2", "310P"}) {
    on_product(product, [] {
      void* out = nullptr;
      ASSERT_EQ(aclrtMallocForTaskScheduler(&out, 5000, ACL_MEM_MALLOC_HUGE_FIRST, nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemset(out, 5000, 9, 5000), ACL_SUCCESS);
      EXPECT_EQ(contents(out, 5000), std::vector<unsigned char>(5000, 9));
      aclrtPtrAttributes attributes{};
      EXPECT_EQ(aclrtPointerGetAttributes(out, &attributes), ACL_SUCCESS);
      EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
      EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(out), ACL_ERROR_RT_PARAM_INVALID);
    });
  }
}

}  // namespace device_malloc_cfg_products_test
