// aclrtMemset.
#include <limits>

#include "support/blocks.h"

namespace memset_test {

using namespace belay_test;

class Memset : public OnDevice {};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

TEST_F(Memset, M366_M5_D138_CountZero_Is0_BeforeEverythingElse) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemset(nullptr, 0, 0, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(nullptr, 5, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block.get(), 0, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block.get(kGB), kMax, 1, 0), ACL_SUCCESS);
  };
  calls();
  without_context(calls);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(Memset, M367_Null_Is100000_BeforeContextAndRoom) {
  EXPECT_EQ(aclrtMemset(nullptr, 64, 1, 64), kBadArgument);
  EXPECT_EQ(aclrtMemset(nullptr, 0, 1, 64), kBadArgument);
  without_context([] { EXPECT_EQ(aclrtMemset(nullptr, 64, 1, 64), kBadArgument); });
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(Memset, M368_NoContext_Is107002_BeforeTheRoom_ForHostMemoryToo) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  Bytes host = pattern(64, 2);
  without_context([&] {
    EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), kNoContext);
    EXPECT_EQ(aclrtMemset(block.get(), 63, 1, 64), kNoContext);
    EXPECT_EQ(aclrtMemset(block.get(kGB), 64, 1, 64), kNoContext);
    EXPECT_EQ(aclrtMemset(host.data(), 64, 1, 64), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  EXPECT_EQ(host, pattern(64, 2));
}

TEST_F(Memset, M370_D138_CountAboveMaxCount_Is107000_NothingWritten_BeforeTheRange) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  Bytes host = pattern(64, 2);
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{63}}) {
    EXPECT_EQ(aclrtMemset(block.get(), room, 1, 64), kBadValue) << room;
    EXPECT_EQ(aclrtMemset(host.data(), room, 1, 64), kBadValue) << room;
  }
  EXPECT_EQ(aclrtMemset(block.get(), kMax - 1, 1, kMax), kBadValue);
  EXPECT_EQ(aclrtMemset(block.get(kGB), 63, 1, 64), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  EXPECT_EQ(host, pattern(64, 2));
  for (const std::size_t room : {std::size_t{64}, std::size_t{65}, kMax}) {
    EXPECT_EQ(aclrtMemset(block.get(), room, 1, 64), ACL_SUCCESS) << room;
  }
}

TEST_F(Memset, M371_M434_RangeByPage_OneByteMoreIs507899_NothingWritten) {
  struct Case {
    unsigned policy;
    std::size_t footprint;
  };
  for (const Case& test : {Case{ACL_MEM_MALLOC_NORMAL_ONLY, 4096}, Case{ACL_MEM_MALLOC_HUGE_ONLY, 2 * kMB}}) {
    Device block{100, test.policy};
    EXPECT_EQ(aclrtMemset(block.get(), kMax, 7, test.footprint), ACL_SUCCESS) << "inside the last page";
    EXPECT_EQ(read_from(block.get(), test.footprint), Bytes(test.footprint, 7));
    EXPECT_EQ(aclrtMemset(block.get(), kMax, 8, test.footprint + 1), kRefused);
    EXPECT_EQ(aclrtMemset(block.get(1), kMax, 8, test.footprint), kRefused);
    EXPECT_EQ(aclrtMemset(block.get(test.footprint), kMax, 8, 1), kRefused);
    for (const std::size_t count : {kMax, kMax - 4095, kMax / 2, std::size_t{0} - number(block.get())}) {
      EXPECT_EQ(aclrtMemset(block.get(), kMax, 8, count), kRefused) << count;
    }
    EXPECT_EQ(last_error(), kRefused);
    EXPECT_EQ(read_from(block.get(), test.footprint), Bytes(test.footprint, 7));
  }
}

TEST_F(Memset, M371_D138_FreedOrNeverAllocated_Is507899) {
  Device other{64};
  for (const unsigned policy : {1U, 2U}) {
    Device gone{64, policy};
    void* const was = gone.free_now();
    EXPECT_EQ(aclrtMemset(was, 64, 1, 64), kRefused);
    EXPECT_EQ(aclrtMemset(was, 64, 1, 1), kRefused);
  }
  EXPECT_EQ(aclrtMemset(other.get(kGB), 64, 1, 64), kRefused);
}

TEST_F(Memset, M378_D138_TheLow8BitsOfTheValue) {
  Device block{64};
  Bytes host(64);
  for (const std::int32_t value :
       {0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x1FF, 0x12345678, -1, -128, -129,
        std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
    const Bytes expected(64, static_cast<std::uint8_t>(static_cast<std::uint32_t>(value) & 0xFFU));
    EXPECT_EQ(aclrtMemset(block.get(), 64, value, 64), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), expected) << value;
    EXPECT_EQ(aclrtMemset(host.data(), 64, value, 64), ACL_SUCCESS);
    EXPECT_EQ(host, expected) << value;
  }
}

TEST_F(Memset, M378_ExactlyTheBytesAskedFor) {
  Device block{3 * 4096};
  for (const std::size_t offset : {0U, 1U, 4095U, 4096U, 5000U}) {
    for (const std::size_t count : {1U, 2U, 63U, 4096U, 4097U}) {
      Bytes expected = pattern(3 * 4096, 3);
      write_to(block.get(), expected);
      EXPECT_EQ(aclrtMemset(block.get(offset), count, 0xA5, count), ACL_SUCCESS);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), count, std::uint8_t{0xA5});
      EXPECT_EQ(read_from(block.get(), 3 * 4096), expected) << offset << " " << count;
    }
  }
}

TEST_F(Memset, M379_D138_TheAddressDecides_PinnedRegisteredAndPlainHostMemoryAreFilled) {
  Pinned pinned{64};
  EXPECT_EQ(aclrtMemset(pinned.get(), 64, 3, 64), ACL_SUCCESS);
  EXPECT_EQ(Bytes(at(pinned.get(), 0), at(pinned.get(), 64)), Bytes(64, 3));
  Pages registered{1};
  ASSERT_EQ(aclrtHostRegisterV2(registered.get(), 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(registered.get(), 4096, 4, 4096), ACL_SUCCESS);
  EXPECT_EQ(Bytes(at(registered.get(), 0), at(registered.get(), 4096)), Bytes(4096, 4));
  EXPECT_EQ(aclrtHostUnregister(registered.get()), ACL_SUCCESS);
  std::uint8_t on_stack[64] = {};
  EXPECT_EQ(aclrtMemset(on_stack, 64, 5, 63), ACL_SUCCESS);
  EXPECT_EQ(on_stack[62], 5);
  EXPECT_EQ(on_stack[63], 0);
  auto on_heap = std::make_unique<Bytes>(64);
  EXPECT_EQ(aclrtMemset(on_heap->data(), 64, 6, 64), ACL_SUCCESS);
  EXPECT_EQ(*on_heap, Bytes(64, 6));
}

TEST_F(Memset, M379_BlockOfAnotherDevice_IsFilledThere) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 64, 9, 64), ACL_SUCCESS);
  EXPECT_EQ(read_from(block, 64), Bytes(64, 9));
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(Memset, M381_TheFillIsCompleteAtTheReturn) {
  constexpr std::size_t size = 16 * kMB + 7;
  Device block{size, ACL_MEM_MALLOC_HUGE_ONLY};
  for (const std::int32_t value : {0x11, 0x22}) {
    ASSERT_EQ(aclrtMemset(block.get(), size, value, size), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), size), Bytes(size, static_cast<std::uint8_t>(value)));
  }
}

TEST_F(Memset, M417_TheWholeBlockRightAfterTheAllocation_IsFilled) {
  using Allocate = aclError (*)(void**, std::size_t);
  const Allocate allocators[] = {
      [](void** p, std::size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_HUGE_FIRST); },
      [](void** p, std::size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_HUGE_ONLY_P2P); },
      [](void** p, std::size_t n) { return aclrtMallocAlign32(p, n, ACL_MEM_MALLOC_NORMAL_ONLY); },
      [](void** p, std::size_t n) { return aclrtMallocCached(p, n, ACL_MEM_MALLOC_HUGE_ONLY); },
      [](void** p, std::size_t n) { return aclrtMallocWithCfg(p, n, ACL_MEM_TYPE_HIGH_BAND_WIDTH, nullptr); },
      [](void** p, std::size_t n) {
        return aclrtMallocForTaskScheduler(p, n, ACL_MEM_MALLOC_NORMAL_ONLY, nullptr);
      },
      [](void** p, std::size_t n) { return aclrtMallocHost(p, n); },
  };
  for (const Allocate allocate : allocators) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{33}, std::size_t{4096}, kMB, kMB + 1, 2 * kMB}) {
      void* block = nullptr;
      ASSERT_EQ(allocate(&block, size), ACL_SUCCESS) << size;
      EXPECT_EQ(aclrtMemset(block, size, 0x5C, size), ACL_SUCCESS) << size;
      EXPECT_EQ(read_from(block, size), Bytes(size, 0x5C)) << size;
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  }
}

TEST_F(Memset, M417_ReadOnlyBlocksAreTheException) {
  Device block{64, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  const Bytes before = read_from(block.get(), 64);
  EXPECT_EQ(aclrtMemset(block.get(), 64, before[0] + 1, 64), kRefused);
  EXPECT_EQ(read_from(block.get(), 64), before);
}

}  // namespace memset_test
