// aclrtMemAllocManaged: checks in their order, sizes, the window of addresses, and freeing.
#include <cstring>

#include "support/managed.h"
#include "support/mistakes.h"
#include "support/sanitizer.h"

namespace managed_alloc_test {

using namespace belay_test;

class ManagedAlloc : public OnTwoDevices {};

constexpr std::size_t kTera = 1024 * kGB;
constexpr std::uintptr_t kFirst = 0x90000000000, kBehind = kFirst + 3 * kTera;

struct Call {
  void** to;
  std::uint64_t size;
  std::uint32_t flag;
  Where where = Where::own;
  int run() const { return ::aclrtMemAllocManaged(to, size, flag); }
};

enum Argument : unsigned { kTo = 1, kSize = 2, kFlag = 4, kWhere = 8 };

TEST_F(ManagedAlloc, V279_V280_V281_V282_TheFirstMistakeDecides) {
  const Contexts contexts;
  void* block = sentinel();
  const std::vector<Mistake<Call>> in_order = {
      {"V-279", kBadArgument, kTo, [](Call& c) { c.to = nullptr; }},
      {"V-280", kBadArgument, kFlag, [](Call& c) { c.flag = 0; }},
      {"V-281", kBadValue, kSize, [](Call& c) { c.size = 0; }},
      {"V-282", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }}};
  expect_order("aclrtMemAllocManaged", contexts, Call{&block, 64, 1}, in_order);
  EXPECT_EQ(block, sentinel()) << "a call that fails leaves its output alone";
}

TEST_F(ManagedAlloc, V280_OnlyTheFlag1) {
  void* block = sentinel();
  for (const std::uint32_t flag : {0U, 2U, 3U, 4U, 0x101U, 0x80000001U, 0xFFFFFFFFU}) {
    EXPECT_EQ(::aclrtMemAllocManaged(&block, 64, flag), kBadArgument) << flag;
    EXPECT_EQ(block, sentinel()) << flag;
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(ManagedAlloc, V281_SizeZeroIsAnErrorOfTheInnerLayer) {
  void* block = sentinel();
  EXPECT_EQ(::aclrtMemAllocManaged(&block, 0, 1), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(block, sentinel());
}

TEST_F(ManagedAlloc, V284_V270_BlocksAreWholePagesInTheWindow) {
  std::uintptr_t before = 0, before_end = 0;
  for (const std::size_t size : {std::size_t{1}, 32 * kKB, kManagedPage - 1, kManagedPage, kManagedPage + 1,
                                 3 * kManagedPage - 1, 3 * kManagedPage}) {
    const Managed first{size}, second{size};
    for (const Managed* block : {&first, &second}) {
      const std::uintptr_t start = number(block->get());
      EXPECT_EQ(start % kManagedPage, 0U) << size;
      const std::size_t whole = up_to(size, kManagedPage);
      if (!kUnderASanitizer) {
        EXPECT_GE(start, kFirst) << size;
        EXPECT_LE(start + whole, kBehind) << size;
      }
      EXPECT_EQ(aclrtMemset(block->get(), whole, 1, whole), ACL_SUCCESS) << "up to the end of its last page";
      EXPECT_FALSE(is_read_mostly(block->get(), whole)) << size;
    }
    before = number(first.get());
    before_end = before + up_to(size, kManagedPage);
    EXPECT_TRUE(number(second.get()) >= before_end || number(second.get()) + kManagedPage <= before)
        << "blocks share no page: " << size;
  }
}

TEST_F(ManagedAlloc, V284_V311_ThePageBehindTheBlockIsNoPartOfIt) {
  for (const std::size_t size : {std::size_t{1}, kManagedPage, kManagedPage + 1}) {
    const Managed block{size};
    const std::size_t whole = up_to(size, kManagedPage);
    std::int32_t value = 0;
    EXPECT_EQ(query(1, block.get(), whole, &value, 4), ACL_SUCCESS) << size;
    EXPECT_EQ(query(1, block.get(), whole + 1, &value, 4), kRefused) << size;
  }
}

TEST_F(ManagedAlloc, V272_V284_NothingIsTakenBeforeItIsUsed) {
  const Managed small{1}, large{64 * kGB}, larger{100 * kGB};
  expect_pages(0, 0, "after allocating more than the device has");
}

TEST_F(ManagedAlloc, V271_V285_ThreeTerabytesInAll) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer leaves less room for addresses";
  void* block = sentinel();
  EXPECT_EQ(::aclrtMemAllocManaged(&block, 3 * kTera + 1, 1), kShortage);
  EXPECT_EQ(last_error(), kShortage);
  for (const std::uint64_t size : {std::uint64_t{4 * kTera}, std::uint64_t{1} << 63U, ~std::uint64_t{0},
                                   ~std::uint64_t{0} - kManagedPage + 2}) {
    EXPECT_EQ(::aclrtMemAllocManaged(&block, size, 1), kShortage) << size;
  }
  {
    const Managed all{3 * kTera};
    EXPECT_EQ(number(all.get()), kFirst);
    EXPECT_EQ(::aclrtMemAllocManaged(&block, 1, 1), kShortage);
    EXPECT_EQ(aclrtMemset(all.get(3 * kTera - 4), 4, 7, 4), ACL_SUCCESS) << "the last bytes of the window";
    expect_pages(1, 0, "one page of all");
  }
  const Managed half{kTera + kTera / 2};
  Managed rest{kTera + kTera / 2};
  EXPECT_EQ(::aclrtMemAllocManaged(&block, 1, 1), kShortage) << "together they have it all";
  rest.free_now();
  const Managed again{kTera + kTera / 2 - kManagedPage}, one{1};
  EXPECT_EQ(::aclrtMemAllocManaged(&block, 1, 1), kShortage) << "and again";
}

TEST_F(ManagedAlloc, V277_FreedByItsStartOnly_AndOnce) {
  Managed block{3 * kManagedPage};
  for (const std::size_t inside : {std::size_t{1}, std::size_t{64}, kManagedPage, 3 * kManagedPage - 1})
    EXPECT_EQ(aclrtFree(block.get(inside)), kBadValue) << inside;
  EXPECT_EQ(aclrtFreeHost(block.get()), kBadValue);
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS) << "it is still there";
  void* const was = block.free_now();
  EXPECT_EQ(aclrtFree(was), kBadValue);
}

TEST_F(ManagedAlloc, V277_FreedAfterTheDeviceIsIdle) {
  void* block = nullptr;
  ASSERT_EQ(::aclrtMemAllocManaged(&block, 64, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeWithDevSync(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), kBadValue);
}

TEST_F(ManagedAlloc, V277_FreedWithoutAContextAndByAnyThread) {
  Managed block{64};
  without_context([&] { block.free_now(); });
}

TEST_F(ManagedAlloc, V270_AFreedBlockIsNotManagedAnyMore) {
  Managed block{kManagedPage};
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(block.get(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
  void* const was = block.free_now();
  attributes = {};
  const int answer = aclrtPointerGetAttributes(was, &attributes);
  EXPECT_FALSE(answer == ACL_SUCCESS && attributes.location.type == ACL_MEM_LOCATION_TYPE_MANAGED);
  std::int32_t value = 0;
  EXPECT_EQ(query(1, was, 64, &value, 4), kRefused);
}

TEST_F(ManagedAlloc, V286_ABlockSurvivesTheDeviceThatUsedItLast) {
  Managed block{2 * kManagedPage};
  make_current(1);
  write_to(block.get(kManagedPage - 500), pattern(1000, 3));
  make_current(0);
  EXPECT_EQ(read_from(block.get(kManagedPage - 500), 1000), pattern(1000, 3)) << "another device is current";
  make_current(1);
  write_to(block.get(kManagedPage - 500), pattern(1000, 4));
  expect_pages(0, 2, "device 1 used it");
  make_current(0);
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(kManagedPage - 500), 1000), pattern(1000, 4)) << "the bytes are still there";
  EXPECT_EQ(aclrtMemset(block.get(), 64, 9, 64), ACL_SUCCESS);
  block.free_now();
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  make_current(0);
  expect_pages(0, 0, "after the block went");
}

TEST_F(ManagedAlloc, V286_V277_FreedWithAnotherDeviceCurrent) {
  Managed block{kManagedPage};
  EXPECT_EQ(aclrtMemset(block.get(), 64, 9, 64), ACL_SUCCESS);
  expect_pages(1, 0, "device 0 used it");
  make_current(1);
  block.free_now();
  make_current(0);
  expect_pages(0, 0, "freed");
}

}  // namespace managed_alloc_test
