// What happens when a kind of page runs out, to the byte.

#include <algorithm>

#include "support/allocators.h"
#include "support/on_product.h"

namespace page_shortage_test {

using namespace belay_test;

constexpr aclError kShort = ACL_ERROR_RT_MEMORY_ALLOCATION;

// A request that must fail, take nothing, leave NULL and say so.
void expect_short(const Allocator& allocator, std::size_t size, std::uint32_t value) {
  SCOPED_TRACE(std::string(allocator.name) + " " + std::to_string(size) + " " + hex(value));
  const std::size_t before = free_bytes();
  int mark = 0;
  void* out = &mark;
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  recent_message();
  EXPECT_EQ(allocator.call(&out, size, policy(value)), kShort);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kShort);
  EXPECT_NE(recent_message().find("EL0004"), std::string::npos);
}

TEST(PageShortage, M86_M105_M31_D79_TheWholeDeviceToTheByte) {
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {
    for (const Allocator& allocator : all_allocators()) {
      const std::size_t most = 64 * kMB - (allocator.pads ? 32 : 0);
      for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly, 99U}) {
        const std::uint32_t page = value == kNormalOnly ? kPage4K : kPage2M;
        EXPECT_EQ(take(allocator, most - 1, value), served(64 * kMB, page)) << allocator.name << hex(value);
        EXPECT_EQ(take(allocator, most, value), served(64 * kMB, page)) << allocator.name << hex(value);
        expect_short(allocator, most + 1, value);
      }
      expect_short(allocator, 1, kHuge1g);
    }
  });
}

TEST(PageShortage, M50_M53_M86_HugeOnlyDoesNotFallBack) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}}, [] {
    for (const Allocator& allocator : decoding_allocators()) {
      const std::size_t most = 4 * kMB - (allocator.pads ? 32 : 0);
      for (const std::uint32_t value : {kHugeOnly, kHugeOnlyP2p, kHugeOnly | kHigh, kHugeOnly | kReadOnly}) {
        EXPECT_EQ(take(allocator, most, value), served(4 * kMB, kPage2M)) << allocator.name << hex(value);
        expect_short(allocator, most + 1, value);
        const Block all(allocator, most, kHugeOnly);
        expect_short(allocator, 1, value);
      }
    }
    const Block half(kAlign32, 2 * kMB, kHugeOnly);
    expect_short(kAlign32, 2 * kMB + 1, kHugeOnly);
    EXPECT_EQ(take(kAlign32, 2 * kMB, kHugeOnly), served(2 * kMB, kPage2M));
  });
}

TEST(PageShortage, M48_M52_M57_M60_M421_TheWholeBlockFallsBackToNormalPages) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}}, [] {
    for (const Allocator& allocator : decoding_allocators()) {
      const std::size_t pad = allocator.pads ? 32 : 0;
      for (const std::uint32_t value : {kHugeFirst, kHugeFirstP2p, kLow, kHigh, 0x1100U, 99U, 0xFFFFFFFFU}) {
        SCOPED_TRACE(std::string(allocator.name) + " " + hex(value));
        EXPECT_EQ(take(allocator, 4 * kMB - pad, value), served(4 * kMB, kPage2M));
        EXPECT_EQ(take(allocator, 4 * kMB - pad + 1, value), served(4 * kMB + 4096, kPage4K));
        EXPECT_EQ(take(allocator, 5 * kMB, value), served(up_to(5 * kMB + pad, 4096), kPage4K));

        const Block half(kAlign32, 2 * kMB, kHugeOnly);
        const Block fallen(allocator, 2 * kMB + 1,
                           value);  // one huge page is left, it needs two: none is used
        EXPECT_EQ(page_of(fallen.get()), kPage4K);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(fallen.get()) % 4096, 0U);
        EXPECT_EQ(page_of(fallen.bytes() + 2 * kMB), kPage4K);
        EXPECT_EQ(take(kAlign32, 2 * kMB, kHugeOnly), served(2 * kMB, kPage2M));
      }
    }
    EXPECT_EQ(take(kCached, 5 * kMB, kHugeFirst), served(5 * kMB + 4096, kPage4K));
    EXPECT_EQ(take(kCached, 5 * kMB, kHugeFirstP2p), served(5 * kMB + 4096, kPage4K));
  });
}

TEST(PageShortage, M421_AFallenBlockHoldsItsContentsAndIsFreedAsAWhole) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "2M"}}, [] {
    const std::size_t before = free_bytes();
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 3 * kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(before - free_bytes(), 3 * kMB + 4096);
    EXPECT_EQ(aclrtMemset(block, 3 * kMB, 5, 3 * kMB), ACL_SUCCESS);
    const std::vector<unsigned char> bytes = contents(block, 3 * kMB);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 5), static_cast<std::ptrdiff_t>(3 * kMB));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(PageShortage, M48_M421_BothKindsShortIs207001AndTakesNothing) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}, {"BELAY_NORMAL", "8M"}}, [] {
    for (const std::uint32_t value : {kHugeFirst, kHugeFirstP2p, kLow, 99U}) {
      EXPECT_EQ(take(kAlign32, 8 * kMB, value), served(8 * kMB, kPage4K)) << hex(value);
      expect_short(kAlign32, 8 * kMB + 1, value);
      EXPECT_EQ(take(kMalloc, 8 * kMB - 32, value), served(8 * kMB, kPage4K)) << hex(value);
      expect_short(kMalloc, 8 * kMB - 31, value);
    }
  });
}

TEST(PageShortage, M51_M54_M48_NormalPagesDoNotTurnIntoHugeOnes) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_NORMAL", "1M"}}, [] {
    for (const Allocator& allocator : decoding_allocators()) {
      const std::size_t most = kMB - (allocator.pads ? 32 : 0);
      for (const std::uint32_t value : {kNormalOnly, kNormalOnlyP2p, kNormalOnly | kLow}) {
        EXPECT_EQ(take(allocator, most, value), served(kMB, kPage4K)) << allocator.name << hex(value);
        expect_short(allocator, most + 1, value);
      }
    }
    const Block all(kAlign32, kMB, kNormalOnly);
    expect_short(kAlign32, 1, kNormalOnly);
    expect_short(kAlign32, 1, kHugeFirst);  // up to 1 MB huge pages are no help
    expect_short(kAlign32, kMB, kHugeFirst);
    expect_short(kAlign32, 2 * kMB - 1, 99);  // nor below 2 MB outside the enum
    EXPECT_EQ(take(kAlign32, kMB + 1, kHugeFirst), served(2 * kMB, kPage2M));
    EXPECT_EQ(take(kAlign32, 1, kHugeOnly), served(2 * kMB, kPage2M));
  });
}

TEST(PageShortage, M55_M56_OneGigabytePagesRunOutWithoutFallback) {
  on_product("A2", {{"BELAY_HBM", "4G"}, {"BELAY_HUGE1G", "2G"}}, [] {
    for (const std::uint32_t value : {kHuge1g, kHuge1gP2p, kHuge1g | kHigh}) {
      EXPECT_EQ(take(kAlign32, 2 * kGB, value), served(2 * kGB, kPage1G));
      expect_short(kAlign32, 2 * kGB + 1, value);
      const Block one(kMalloc, 1, kHuge1g);
      EXPECT_EQ(take(kMalloc, kGB, value), served(kGB, kPage1G));
      expect_short(kMalloc, kGB + 1, value);
      const Block two(kWithCfg, 1, kHuge1gP2p);
      expect_short(kWithCfg, 1, value);
    }
  });
  on_product("A2", {{"BELAY_HBM", "3070M"}}, [] {  // 2 MB less than three gigabytes
    EXPECT_EQ(take(kAlign32, 2 * kGB, kHuge1g), served(2 * kGB, kPage1G));
    expect_short(kAlign32, 2 * kGB + 1, kHuge1g);
    const Block small(kAlign32, kGB, kHugeOnly);
    EXPECT_EQ(take(kAlign32, kGB, kHuge1g), served(kGB, kPage1G));
    expect_short(kAlign32, kGB + 1, kHuge1g);
  });
}

// Without limits one pool serves every kind of page, to the last 4 KB.
TEST(PageShortage, M86_M421_OnePoolServesEveryKindOfPage) {
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {
    const Block tiny(kAlign32, 1, kNormalOnly);
    EXPECT_EQ(take(kAlign32, 62 * kMB, kHugeOnly), served(62 * kMB, kPage2M));
    expect_short(kAlign32, 62 * kMB + 1, kHugeOnly);
    EXPECT_EQ(take(kAlign32, 62 * kMB + 1, kHugeFirst), served(62 * kMB + 4096, kPage4K));
    const Block large(kAlign32, 62 * kMB, kHugeOnly);
    EXPECT_EQ(free_bytes(), 2 * kMB - 4096);
    expect_short(kAlign32, 1, kHugeOnly);
    EXPECT_EQ(take(kAlign32, kMB + 1, kHugeFirst), served(kMB + 4096, kPage4K));
    EXPECT_EQ(take(kAlign32, 2 * kMB - 4096, kNormalOnly), served(2 * kMB - 4096, kPage4K));
    expect_short(kAlign32, 2 * kMB - 4095, kNormalOnly);
    const Block rest(kAlign32, 2 * kMB - 4096, kNormalOnly);
    EXPECT_EQ(free_bytes(), 0U);
    expect_short(kAlign32, 1, kNormalOnly);
    expect_short(kAlign32, 1, kHugeFirst);
    expect_short(kMalloc, 1, 99);
  });
}

TEST(PageShortage, M423_AUsedUpP2pLimitIsAShortage) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_P2P", "8M"}}, [] {
    EXPECT_EQ(take(kAlign32, 8 * kMB, kHugeOnlyP2p), served(8 * kMB, kPage2M));
    expect_short(kAlign32, 8 * kMB + 1, kHugeOnlyP2p);
    EXPECT_EQ(take(kAlign32, 8 * kMB, kHugeFirstP2p), served(8 * kMB, kPage2M));
    EXPECT_EQ(take(kAlign32, 8 * kMB, kNormalOnlyP2p), served(8 * kMB, kPage4K));
    expect_short(kAlign32, 8 * kMB + 1, kNormalOnlyP2p);
    {
      const Block all(kAlign32, 8 * kMB, kHugeOnlyP2p);
      for (const std::uint32_t value : {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p, kHugeOnlyP2p | kLow}) {
        expect_short(kMalloc, 1, value);
      }
      for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly}) {  // the limit is for P2P only
        EXPECT_EQ(take(kMalloc, 1, value).code, ACL_SUCCESS);
      }
    }
    EXPECT_EQ(take(kAlign32, 8 * kMB, kHugeOnlyP2p),
              served(8 * kMB, kPage2M));  // and comes back with the free
  });
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {  // no limit, no pool of its own
    EXPECT_EQ(take(kAlign32, 64 * kMB, kHugeOnlyP2p), served(64 * kMB, kPage2M));
  });
}

}  // namespace page_shortage_test
