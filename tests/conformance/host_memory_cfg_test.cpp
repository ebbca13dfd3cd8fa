// aclrtMallocHostWithCfg: attributes, unified addresses.
#include <limits>

#include "support/blocks.h"

namespace host_memory_cfg_test {

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

}  // namespace host_memory_cfg_test
