// How many bytes a request takes before pages are counted, and where its arithmetic ends.
#include <rapidcheck.h>

#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/properties.h"

namespace bytes_taken_test {

using namespace belay_test;

class BytesTaken : public OnDevice {};

// The largest size that still fits into n normal pages tells the bytes taken: 4096 n less the further bytes.
void expect_last_size_in_pages(const Allocator& allocator, std::size_t further) {
  for (const std::size_t pages : {1U, 2U, 7U, 256U}) {
    const std::size_t fits = pages * 4096 - further;
    for (const std::size_t less : {31U, 1U, 0U}) {
      EXPECT_EQ(take(allocator, fits - less, kNormalOnly), served(pages * 4096, kPage4K)) << allocator.name;
    }
    for (const std::size_t more : {1U, 31U, 32U, 33U}) {
      EXPECT_EQ(take(allocator, fits + more, kNormalOnly), served((pages + 1) * 4096, kPage4K))
          << allocator.name;
    }
  }
}

TEST_F(BytesTaken, M33_M34_PaddedAllocatorsTakeRoundedSizeAnd32More) {
  expect_last_size_in_pages(kMalloc, 32);
  expect_last_size_in_pages(kCached, 32);
}

TEST_F(BytesTaken, M34_M36_TheOthersTakeTheRoundedSizeOnly) {
  expect_last_size_in_pages(kAlign32, 0);
  expect_last_size_in_pages(kWithCfg, 0);
  expect_last_size_in_pages(kTaskScheduler, 0);
}

TEST_F(BytesTaken, M34_MediaMemoryTakes32More) {
  const auto taken = [](std::size_t size) {
    const std::size_t before = free_bytes();
    void* block = nullptr;
    EXPECT_EQ(acldvppMalloc(&block, size), ACL_SUCCESS);
    const std::size_t bytes = before - free_bytes();
    EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
    return bytes;
  };
  EXPECT_EQ(taken(1), 4096U);
  EXPECT_EQ(taken(4064), 4096U);
  EXPECT_EQ(taken(4065), 8192U);
  EXPECT_EQ(taken(4096), 8192U);
}

TEST_F(BytesTaken, M34_M419_AOneGigabytePolicyTakesNo32MoreWhateverIsOredToIt) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (const std::uint32_t flags : {0U, kLow, kHigh, kLow | kHigh}) {
      for (const std::uint32_t base : {kHuge1g, kHuge1gP2p}) {
        EXPECT_EQ(take(allocator, kGB, base | flags), served(kGB, kPage1G))
            << allocator.name << hex(base | flags);
        EXPECT_EQ(take(allocator, kGB + 1, base | flags), served(2 * kGB, kPage1G)) << allocator.name;
      }
    }
  }
  EXPECT_EQ(take(kCached, kGB, kHuge1g), served(kGB, kPage1G));
}

aclError answer(const Allocator& allocator, std::size_t size, std::uint32_t value) {
  return take(allocator, size, value).code;
}

TEST_F(BytesTaken, M37_M83_WrappingSizesAreRefusedByTheOuterLayer) {
  for (const std::uint32_t value :
       {kHugeFirst, kHugeOnly, kNormalOnly, kHugeFirstP2p, kLow, kReadOnly, 99U}) {
    for (const Allocator& allocator : {kMalloc, kCached}) {
      for (const std::size_t size : {SIZE_MAX - 63, SIZE_MAX - 62, SIZE_MAX - 32, SIZE_MAX - 1, SIZE_MAX}) {
        EXPECT_EQ(answer(allocator, size, value), ACL_ERROR_INVALID_PARAM)
            << allocator.name << SIZE_MAX - size;
      }
      EXPECT_EQ(answer(allocator, SIZE_MAX - 64, value), ACL_ERROR_RT_MEMORY_ALLOCATION) << hex(value);
    }
    for (const std::size_t size : {SIZE_MAX - 31, SIZE_MAX - 30, SIZE_MAX}) {
      EXPECT_EQ(answer(kAlign32, size, value), ACL_ERROR_INVALID_PARAM) << SIZE_MAX - size;
    }
    EXPECT_EQ(answer(kAlign32, SIZE_MAX - 32, value), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_EQ(answer(kAlign32, SIZE_MAX - 63, value), ACL_ERROR_RT_MEMORY_ALLOCATION);
  }
  without_context([] {  // before the context
    void* out = nullptr;
    EXPECT_EQ(aclrtMalloc(&out, SIZE_MAX - 63, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMalloc(&out, SIZE_MAX - 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMallocAlign32(&out, SIZE_MAX - 31, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMallocAlign32(&out, SIZE_MAX - 32, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(BytesTaken, M37_M419_OneGigabytePoliciesEndAtSizeMaxLess31) {
  for (const std::uint32_t value : {kHuge1g, kHuge1gP2p, kHuge1g | kLow, kHuge1gP2p | kHigh}) {
    EXPECT_EQ(answer(kMalloc, SIZE_MAX - 63, value), ACL_ERROR_RT_MEMORY_ALLOCATION) << hex(value);
    EXPECT_EQ(answer(kMalloc, SIZE_MAX - 32, value), ACL_ERROR_RT_MEMORY_ALLOCATION) << hex(value);
    EXPECT_EQ(answer(kMalloc, SIZE_MAX - 31, value), ACL_ERROR_INVALID_PARAM) << hex(value);
  }
  EXPECT_EQ(answer(kCached, SIZE_MAX - 32, kHuge1g), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(answer(kCached, SIZE_MAX - 31, kHuge1g), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(answer(kCached, SIZE_MAX - 63, kHuge1gP2p),
            ACL_ERROR_INVALID_PARAM);  // no policy of its own there
  EXPECT_EQ(answer(kMalloc, SIZE_MAX - 63, kHuge1g | kReadOnly), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(BytesTaken, M38_M103_WrappingSizesAreRefusedByTheInnerLayer) {
  for (const Allocator& allocator : {kWithCfg, kTaskScheduler}) {
    for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly, kHuge1g, 99U}) {
      EXPECT_EQ(answer(allocator, SIZE_MAX - 31, value), ACL_ERROR_RT_MEMORY_ALLOCATION) << hex(value);
      for (const std::size_t size : {SIZE_MAX - 30, SIZE_MAX - 1, SIZE_MAX}) {
        EXPECT_EQ(answer(allocator, size, value), ACL_ERROR_RT_PARAM_INVALID) << hex(value);
      }
    }
  }
  void* out = nullptr;
  EXPECT_EQ(aclrtMallocHost(&out, SIZE_MAX - 30), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMallocHost(&out, SIZE_MAX), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMallocHostWithCfg(&out, SIZE_MAX - 30, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMallocHostWithCfg(&out, SIZE_MAX - 31, nullptr), ACL_ERROR_RT_MEMORY_ALLOCATION);
}

TEST_F(BytesTaken, M39_M31_SizesNobodyCanServeAre207001) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly, kHuge1g, 99U}) {
      for (const std::size_t size :
           {std::size_t{1} << 63, (std::size_t{1} << 63) + 1, 8192 * kGB, 8192 * kGB + 1, SIZE_MAX - 4095,
            SIZE_MAX - 2 * kMB, SIZE_MAX - kGB, free_before_ + 1}) {
        EXPECT_EQ(answer(allocator, size, value), ACL_ERROR_RT_MEMORY_ALLOCATION)
            << allocator.name << " " << size;
      }
      EXPECT_EQ(answer(allocator, SIZE_MAX - 64, value), ACL_ERROR_RT_MEMORY_ALLOCATION) << allocator.name;
    }
  }
}

// Any size, any policy value, any allocator: what is taken is what the rules say.
TEST_F(BytesTaken, M34_M79_M424_FootprintIsTheDocumentedFormulaForEveryRequest) {
  const std::vector<Allocator> allocators = all_allocators();
  const bool always = holds("footprint and page size", 100, 10000, [&] {
    const Allocator& allocator = allocators[*rc::gen::inRange<std::size_t>(0, allocators.size())];
    const std::size_t edge = *rc::gen::element<std::size_t>(4096, kMB, 2 * kMB, 4 * kMB, kGB, 2 * kGB);
    const std::size_t size =
        *rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 5 * kMB), rc::gen::inRange<std::size_t>(1, 3 * kGB),
                        rc::gen::inRange<std::size_t>(edge - 100, edge + 101));
    const std::uint32_t base =
        *rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 12), rc::gen::arbitrary<std::uint32_t>());
    const std::uint32_t flags =
        *rc::gen::element(0U, kLow, kHigh, kLow | kHigh, kReadOnly, kReadOnly | kHigh);
    const Taken got = take(allocator, size, base | flags);
    const Taken expected = documented(allocator, size, base | flags);
    if (!(got == expected)) {
      ADD_FAILURE() << allocator.name << "(" << size << ", " << hex(base | flags) << ") took " << got
                    << ", not " << expected;
    }
    RC_ASSERT(got == expected);
  });
  EXPECT_TRUE(always);
}

}  // namespace bytes_taken_test
