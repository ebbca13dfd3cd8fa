// How inner causes become public numbers: one number for each cause, the same in every function.
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "acl/ops/acl_dvpp.h"
#include "support/blocks.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace error_tables_test {

using namespace belay_test;

class ErrorTables : public OnDevice {};

// The number, the same as last error, and a message with this code.
void expect_answer(int answer, int expected, const char* code, const char* call) {
  EXPECT_EQ(answer, expected) << call;
  EXPECT_EQ(last_error(), expected) << call;
  const std::string text = recent_message();
  EXPECT_TRUE(mentions(text, code)) << call << ": " << text;
}

TEST_F(ErrorTables, D75_WhatTheKernelRefuses_ComesOutAsItsCause) {
  void* block = sentinel();
  expect_answer(aclrtMallocHost(&block, std::size_t{1} << 46U), kShortage, "EL0004", "no memory");
  EXPECT_EQ(block, nullptr);
  Pages pages{2};
  void* address = nullptr;
  expect_answer(aclrtHostRegister(pages.get(64), 64, ACL_HOST_REGISTER_MAPPED, &address), kRefused, "EL0003",
                "an address that it does not take");
  Pinned pinned{4096};
  ASSERT_EQ(aclrtHostRegisterV2(pinned.get(), 4096, ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  expect_answer(aclrtFreeHost(pinned.get()), kRefused, "EL0005", "busy");
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegisterV2(pages.get(), 4096, ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_MAPPED), kUnsupported)
      << "not supported";
}

TEST_F(ErrorTables, D76_EveryCauseHasItsNumber) {
  void* block = nullptr;
  EXPECT_EQ(aclrtSetDevice(99), kBadDevice) << "no such device";
  int on_stack = 0;
  EXPECT_EQ(aclrtFree(&on_stack), kBadValue) << "a value that is none";
  EXPECT_EQ(aclrtMalloc(&block, std::size_t{1} << 50U, ACL_MEM_MALLOC_HUGE_FIRST), kShortage);
  EXPECT_EQ(aclrtHostRegisterV2(&on_stack, 4, ACL_HOST_REG_READONLY), kUnsupported);
  Device live{64};
  // Everything that has no number of its own.
  void* const nowhere = live.get(kGB);
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(nowhere, &attributes), kRefused);
  EXPECT_EQ(aclrtMemset(nowhere, 1, 1, 1), kRefused);
  EXPECT_EQ(aclrtMemcpy(nowhere, 4, &on_stack, 4, ACL_MEMCPY_DEFAULT), kRefused);
  in_fresh_process({}, [] {
    aclrtPtrAttributes about{};
    int here = 0;
    EXPECT_EQ(aclrtPointerGetAttributes(&here, &about), 107017) << "a handle that is none: no device is open";
  });
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "none"}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), 207004) << "no device";
  });
  in_fresh_process({{"BELAY_PRODUCT", "310B"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* none = nullptr;
    EXPECT_EQ(aclrtMalloc(&none, 1, ACL_MEM_MALLOC_HUGE1G_ONLY), kUnsupported);
  });
}

TEST(ErrorTablesByLimit, D77_D79_OutOfMemoryIs207001_UnderEveryPolicy_ForEveryReason) {
  const auto refused = [](std::size_t size, unsigned policy) {
    void* block = sentinel();
    expect_answer(::aclrtMallocAlign32(&block, size, policy_of(policy)), kShortage, "EL0004", "aclrtMalloc");
    EXPECT_EQ(block, nullptr) << policy;
  };
  const unsigned all[] = {0, 1, 2, 3, 4, 5, 6, 7, 0x100001, 0x1000, 99};
  in_fresh_process({{"BELAY_HBM", "64M"}}, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const unsigned policy : all) {
      for (const std::size_t size : {64 * kMB + 1, 64 * kGB, std::size_t{9} << 40U, std::size_t{1} << 62U})
        refused(size, policy);
    }
    Device everything{64 * kMB};
    for (const unsigned policy : all) refused(1, policy);
    void* block = nullptr;
    EXPECT_EQ(acldvppMalloc(&block, 1), kShortage);
  });
  in_fresh_process({{"BELAY_HBM", "4G"}, {"BELAY_HUGE", "0"}, {"BELAY_HUGE1G", "1G"}}, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    refused(1, 1);
    refused(1, 4);
    Device normal{4 * kMB, 0};
    EXPECT_EQ(page_of(normal.get()), 4096U) << "with other pages left HUGE_FIRST is no failure";
    Device giant{1, 6};
    refused(1, 6);
    refused(1, 7);
  });
}

TEST(ErrorTablesByLimit, D77_AMappingThatTheHostRefuses_Is207001) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer cannot live without further mappings";
  std::size_t most = 0;
  std::ifstream{"/proc/sys/vm/max_map_count"} >> most;
  if (most == 0 || most > 300000) GTEST_SKIP() << "a process may have too many mappings here to use them up";
  const Ending ending = run_captured({{"BELAY_HOST_ACCESS", "allow"}, {"BELAY_LEAKS", "off"}}, [] {
    if (aclrtSetDevice(0) != ACL_SUCCESS) std::_Exit(10);
    // Every second page of a long range becomes another mapping, until there may be no more.
    const std::size_t length = std::size_t{3} << 30U;
    auto* const room = static_cast<char*>(
        ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (room == MAP_FAILED) std::_Exit(12);
    std::size_t offset = 0;
    while (offset < length && ::mprotect(room + offset, 4096, PROT_READ) == 0) offset += 8192;
    if (offset >= length) std::_Exit(13);
    void* more = nullptr;
    const int answer = ::aclrtMallocAlign32(&more, 600 * kMB, ACL_MEM_MALLOC_NORMAL_ONLY);
    const std::string text = recent_message();
    ::munmap(room, length);
    if (answer != kShortage) std::_Exit(answer == ACL_SUCCESS ? 11 : 14);
    if (more != nullptr) std::_Exit(15);
    if (!mentions(text, "EL0004") || !mentions(text, "max_map_count")) std::_Exit(16);
    // And it goes on as if nothing had happened.
    if (::aclrtMallocAlign32(&more, 600 * kMB, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS) std::_Exit(17);
    static_cast<char*>(more)[600 * kMB - 1] = 1;
    if (aclrtFree(more) != ACL_SUCCESS) std::_Exit(18);
    std::_Exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST_F(ErrorTables, D78_TheMessageHasTheCodeOfItsCause_AndNamesTheModule) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, 100 * kGB, ACL_MEM_MALLOC_HUGE_ONLY), kShortage);
  std::string text = recent_message();
  EXPECT_TRUE(mentions(text, "EL0004") && mentions(text, "APP")) << text;
  EXPECT_EQ(acldvppMalloc(&block, 100 * kGB), kShortage);
  text = recent_message();
  EXPECT_TRUE(mentions(text, "EL0004")) << text;
  Device live{64};
  int value = 0;
  EXPECT_EQ(aclrtMemcpy(live.get(kGB), 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
  text = recent_message();
  EXPECT_TRUE(mentions(text, "EL0003")) << text;
  Pinned pinned{4096};
  ASSERT_EQ(aclrtHostRegisterV2(pinned.get(), 4096, ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned.get()), kRefused);
  text = recent_message();
  EXPECT_TRUE(mentions(text, "EL0005")) << text;
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), ACL_SUCCESS);
}

}  // namespace error_tables_test
