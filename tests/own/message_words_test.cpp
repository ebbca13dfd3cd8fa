// What messages must say so that a person can act on them.
#include <initializer_list>

#include "support/device_fixture.h"
#include "support/settings.h"

namespace message_words_test {

using namespace belay_test;

constexpr std::size_t kGB = std::size_t{1} << 30;

void expect_words(std::initializer_list<const char*> there,
                  std::initializer_list<const char*> not_there = {}) {
  const std::string text = recent_message();
  for (const char* word : there) EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  for (const char* word : not_there) EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << text;
}

aclError allocate(std::size_t bytes, std::uint32_t policy) {
  void* block = nullptr;
  return aclrtMalloc(&block, bytes, static_cast<aclrtMemMallocPolicy>(policy));
}

TEST(MessageWords, M86_AUsedUpP2pLimitIsNamed) {
  in_fresh_process({{"BELAY_P2P", "4M"}, {"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(allocate(2 * kMB - 32, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_SUCCESS);
    EXPECT_EQ(allocate(3 * kMB, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words({"2097152 of 4194304 for P2P", "BELAY_P2P", "BELAY_HUGE", "3145728"}, {"BELAY_NORMAL"});
    EXPECT_EQ(allocate(100 * kGB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words({}, {"P2P"});
  });
}

TEST(MessageWords, M86_EveryKindOfPagesThatCouldHaveServedIsNamed) {
  in_fresh_process({{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}, {"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(allocate(100 * kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words({"of 2 MB pages or ", "of 4 KB pages;", "4194304 in 2 MB pages, 62914560 in 4 KB pages",
                  "67108864 bytes free of 67108864", "BELAY_HBM", "BELAY_HUGE, BELAY_NORMAL"});
    EXPECT_EQ(allocate(100 * kMB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words({"BELAY_NORMAL"}, {"2 MB pages", "BELAY_HUGE"});
  });
}

TEST(MessageWords, M76_ReadOnly1GPagesAreRefusedWithACureThatCures) {
  in_fresh_process([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::uint32_t policy = ACL_MEM_MALLOC_HUGE1G_ONLY | ACL_MEM_ACCESS_USER_SPACE_READONLY;
    EXPECT_EQ(allocate(kGB, policy), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    expect_words({"M-76", "1 GB pages cannot be read-only", "leave out ACL_MEM_ACCESS_USER_SPACE_READONLY"},
                 {"BELAY_PRODUCT"});
  });
}

TEST(MessageWords, M171_HostMemoryHasNoPolicy) {
  in_fresh_process([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_EQ(aclrtMallocHost(&block, 0), ACL_ERROR_INVALID_PARAM);
    expect_words({"0 bytes", "M-171", "ask for at least 1 byte"}, {"policy"});
    EXPECT_EQ(allocate(0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    expect_words({"0 bytes with policy 0x", "M-82"});
  });
}

TEST(MessageWords, M70_M69_WhatAChipLacksNamesTheChip) {
  in_fresh_process({{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "RC"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(allocate(kGB, ACL_MEM_MALLOC_HUGE1G_ONLY), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    expect_words({"Ascend310P3 in the RC form", "M-70", "BELAY_PRODUCT"}, {"this product"});
  });
  in_fresh_process({{"BELAY_PRODUCT", "310B"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(allocate(kMB, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    expect_words({"on Ascend310B1", "M-69", "without P2P"}, {"this product", "form"});
  });
}

TEST(MessageWords, M174_HostMemoryThatIsNotThereIsToldInFigures) {
  in_fresh_process([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_EQ(aclrtMallocHost(&block, std::size_t{1} << 46), ACL_ERROR_RT_MEMORY_ALLOCATION);
    expect_words({"70368744177664 bytes of page-locked host memory, and ", " bytes are left", "M-174",
                  "give the container more"});
  });
}

TEST(MessageWords, M434_M239_ACopyPastTheEndSaysWhatWasAskedFor) {
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    std::string bytes(8000, 'x');
    EXPECT_EQ(
        aclrtMemcpy(static_cast<char*>(block) + 96, 8000, bytes.data(), 8000, ACL_MEMCPY_HOST_TO_DEVICE),
        ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    expect_words({"of the 8000 bytes at 0x", "only the first 4000 are allocated",
                  "1000 bytes were asked for at 0x", "check size and offset"});
  });
}

}  // namespace message_words_test
