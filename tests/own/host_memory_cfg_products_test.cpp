// aclrtMallocHostWithCfg by product.
#include "support/blocks.h"
#include "support/settings.h"

namespace host_memory_cfg_products_test {

using namespace belay_test;

aclrtMallocAttribute module_attribute(std::uint16_t module) {
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attribute.value.moduleId = module;
  return attribute;
}

aclrtMallocAttribute va_attribute(std::uint32_t flag) {
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = flag;
  return attribute;
}

TEST(HostMemoryCfgProducts, M183_D44_UnifiedAddress_Is207000_ElsewhereThanA3AndA2_AfterTheContext) {
  for (const char* product : {"950", "310P", "910", "310B"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* block = sentinel();
      aclrtMallocAttribute on = va_attribute(1);
      aclrtMallocConfig config{&on, 1};
      EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), kUnsupported) << product;
      EXPECT_EQ(block, sentinel());
      without_context([&] { EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), kNoContext) << product; });
      for (const std::uint32_t flag : {0U, 2U, 0xFFFFFFFFU}) {
        on = va_attribute(flag);
        EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), ACL_SUCCESS) << product << flag;
        EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
      }
    });
  }
}

TEST(HostMemoryCfgProducts, M185_UnifiedAddress_DeviceAddressEqualsTheHostAddress) {
  for (const char* product : {"A2", "A3"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      aclrtMallocAttribute on = va_attribute(1);
      aclrtMallocConfig config{&on, 1};
      void* block = nullptr;
      ASSERT_EQ(aclrtMallocHostWithCfg(&block, 5000, &config), ACL_SUCCESS);
      void* device_address = nullptr;
      ASSERT_EQ(aclrtHostRegister(block, 5000, ACL_HOST_REGISTER_MAPPED, &device_address), ACL_SUCCESS);
      EXPECT_EQ(device_address, block);
      device_address = nullptr;
      EXPECT_EQ(aclrtHostGetDevicePointer(block, &device_address, 0), ACL_SUCCESS);
      EXPECT_EQ(device_address, block);
      EXPECT_EQ(aclrtHostUnregister(block), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    });
  }
}

// Host memory is device memory in the RC form (M-438), so its label shows in the usage table there.
std::uint64_t use_of(const std::string& name) {
  aclrtMemUsageInfo entries[64]{};
  std::size_t count = 0;
  EXPECT_EQ(aclrtGetMemUsageInfo(0, entries, 64, &count), ACL_SUCCESS);
  for (std::size_t i = 0; i < count; ++i) {
    if (name == entries[i].name) return entries[i].curMemSize;
  }
  return 0;
}

TEST(HostMemoryCfgProducts, M186_Labels_RuntimeByDefault_AppFromMallocHost) {
  in_fresh_process({{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "RC"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void *app = nullptr, *plain = nullptr, *high = nullptr, *hccl = nullptr;
    ASSERT_EQ(aclrtMallocHost(&app, 4096), ACL_SUCCESS);
    EXPECT_EQ(use_of("APP"), 4096U);
    EXPECT_EQ(use_of("RUNTIME"), 0U);
    ASSERT_EQ(aclrtMallocHostWithCfg(&plain, 2 * 4096, nullptr), ACL_SUCCESS);
    EXPECT_EQ(use_of("RUNTIME"), 2 * 4096U);
    aclrtMallocAttribute label = module_attribute(256);
    aclrtMallocConfig config{&label, 1};
    ASSERT_EQ(aclrtMallocHostWithCfg(&high, 4 * 4096, &config), ACL_SUCCESS);
    EXPECT_EQ(use_of("RUNTIME"), 6 * 4096U);
    label = module_attribute(3);
    ASSERT_EQ(aclrtMallocHostWithCfg(&hccl, 8 * 4096, &config), ACL_SUCCESS);
    EXPECT_EQ(use_of("HCCL"), 8 * 4096U);
    EXPECT_EQ(use_of("APP"), 4096U);
    for (void* block : {app, plain, high, hccl}) EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  });
}

}  // namespace host_memory_cfg_products_test
