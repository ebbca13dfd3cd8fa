// aclrtMallocHostWithCfg: attributes, unified addresses.
#include <limits>

#include "support/blocks.h"
#include "support/fresh_process.h"

namespace {

using namespace belay_test;

class HostMemoryCfg : public OnDevice {};

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

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

aclrtMallocAttribute attribute_of_type(int type) {
  aclrtMallocAttribute attribute{};
  attribute.attr = static_cast<aclrtMallocAttrType>(type);
  return attribute;
}

TEST_F(HostMemoryCfg, M178_NullOutput_Is100000_First) {
  aclrtMallocConfig broken{nullptr, 3};
  EXPECT_EQ(aclrtMallocHostWithCfg(nullptr, 64, nullptr), kBadArgument);
  EXPECT_EQ(aclrtMallocHostWithCfg(nullptr, 0, &broken), kBadArgument);
  without_context([&] { EXPECT_EQ(aclrtMallocHostWithCfg(nullptr, 64, &broken), kBadArgument); });
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(HostMemoryCfg, M179_SizeZero_Is100000_BeforeTheConfigurationAndTheContext) {
  void* block = sentinel();
  aclrtMallocConfig broken{nullptr, 3};
  EXPECT_EQ(aclrtMallocHostWithCfg(&block, 0, nullptr), kBadArgument);
  EXPECT_EQ(aclrtMallocHostWithCfg(&block, 0, &broken), kBadArgument);
  without_context([&] { EXPECT_EQ(aclrtMallocHostWithCfg(&block, 0, nullptr), kBadArgument); });
  EXPECT_EQ(block, sentinel());
}

TEST_F(HostMemoryCfg, M180_AttrsNull_Is107000_WhateverTheNumber_BeforeTheContext) {
  void* block = sentinel();
  for (const std::size_t attributes : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    aclrtMallocConfig config{nullptr, attributes};
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), kBadValue) << attributes;
    EXPECT_EQ(last_error(), kBadValue);
    without_context([&] { EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), kBadValue) << attributes; });
  }
  EXPECT_EQ(block, sentinel());
}

TEST_F(HostMemoryCfg, M180_EmptyListThatIsThere_IsFine) {
  aclrtMallocAttribute none = attribute_of_type(ACL_RT_MEM_ATTR_RSV);
  aclrtMallocConfig config{&none, 0};
  void* block = nullptr;
  EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
}

TEST_F(HostMemoryCfg, M181_OtherAttributes_Are107000_AnywhereInTheList_BeforeTheContext) {
  for (const int type : {0, 2, 4, 5, 100, -1}) {
    void* block = sentinel();
    aclrtMallocAttribute alone = attribute_of_type(type);
    aclrtMallocConfig one{&alone, 1};
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &one), kBadValue) << type;
    aclrtMallocAttribute list[] = {module_attribute(33), va_attribute(0), attribute_of_type(type)};
    aclrtMallocConfig three{list, 3};
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &three), kBadValue) << type;
    without_context([&] { EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &one), kBadValue) << type; });
    EXPECT_EQ(block, sentinel());
    // What stands behind the counted entries is not looked at.
    aclrtMallocConfig two{list, 2};
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &two), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  }
}

TEST_F(HostMemoryCfg, M182_NoContext_Is107002_WithAndWithoutConfiguration) {
  aclrtMallocAttribute list[] = {module_attribute(33), va_attribute(1)};
  aclrtMallocConfig config{list, 2};
  without_context([&] {
    void* block = sentinel();
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, nullptr), kNoContext);
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), kNoContext);
    EXPECT_EQ(block, sentinel());
    EXPECT_EQ(last_error(), kNoContext);
  });
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

TEST_F(HostMemoryCfg, M184_M38_SizeThatWraps_Is107000_TooLarge_Is207001) {
  void* block = sentinel();
  for (const std::uint64_t size : {kMax - 30, kMax}) {
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, size, nullptr), kBadValue) << kMax - size;
    EXPECT_EQ(block, sentinel());
  }
  for (const std::uint64_t size : {kMax - 31, kMax / 2, std::uint64_t{1} << 48U}) {
    block = sentinel();
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, size, nullptr), kShortage) << size;
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(last_error(), kShortage);
  }
  aclrtMallocAttribute on = va_attribute(1);
  aclrtMallocConfig config{&on, 1};
  for (const std::uint64_t size : {kMax - 31, kMax - 2 * kMB, std::uint64_t{1} << 48U}) {
    block = sentinel();
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, size, &config), kShortage) << size;
    EXPECT_EQ(block, nullptr);
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

TEST_F(HostMemoryCfg, M185_D44_UnifiedAddress_BlockIsRoundedTo2MB) {
  aclrtMallocAttribute on = va_attribute(1);
  aclrtMallocConfig config{&on, 1};
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(aclrtMallocHostWithCfg(&first, 1, &config), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHostWithCfg(&second, 1, &config), ACL_SUCCESS);
  const std::uintptr_t apart =
      number(first) > number(second) ? number(first) - number(second) : number(second) - number(first);
  EXPECT_GE(apart, 2 * kMB);
  for (void* block : {first, second}) {
    EXPECT_EQ(number(block) % 64, 0U);
    *at(block, 0) = 1;
    *at(block, 2 * kMB - 1) = 2;  // the rounding bytes exist
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  }
}

TEST_F(HostMemoryCfg, M185_OtherFlagValues_CountAs0) {
  for (const std::uint32_t flag : {0U, 2U, 3U, 0xFFFFFFFFU}) {
    aclrtMallocAttribute given = va_attribute(flag);
    aclrtMallocConfig config{&given, 1};
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocHostWithCfg(&block, 4096, &config), ACL_SUCCESS) << flag;
    void* device_address = nullptr;
    ASSERT_EQ(aclrtHostRegister(block, 4096, ACL_HOST_REGISTER_MAPPED, &device_address), ACL_SUCCESS);
    EXPECT_NE(device_address, block) << flag;
    EXPECT_EQ(aclrtHostUnregister(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  }
}

TEST_F(HostMemoryCfg, M186_AnyModuleNumberIsAccepted) {
  for (const std::uint16_t module : {std::uint16_t{0}, std::uint16_t{7}, std::uint16_t{33},
                                     std::uint16_t{255}, std::uint16_t{256}, std::uint16_t{65535}}) {
    aclrtMallocAttribute label = module_attribute(module);
    aclrtMallocConfig config{&label, 1};
    void* block = nullptr;
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, &config), ACL_SUCCESS) << module;
    EXPECT_EQ(aclrtFreeHostWithDevSync(block), ACL_SUCCESS);
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

}  // namespace
