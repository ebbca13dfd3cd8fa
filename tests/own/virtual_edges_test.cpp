// Where virtual memory meets something else: plain blocks beside it, two mappings of one memory under queued
// work, host code that writes what a stream waits for, rows that leave managed memory.
#include <atomic>
#include <numeric>
#include <thread>

#include "support/managed.h"
#include "support/on_product.h"
#include "support/slices.h"
#include "support/streams.h"
#include "support/virtual_memory.h"

namespace virtual_edges_test {

using namespace belay_test;

TEST(VirtualEdges, V154_M434_FromABlockIntoTheMappingBehindIt_EachByteGoesWhereItBelongs) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs much memory for 1 GB of contents";
  on_product("A2", [] {
    // A block that fills its gigabyte to the last page, and addresses behind it.
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocAlign32(&block, kGB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    const Reserved place{kGB, at(block, kGB)};
    const Physical memory;
    const Mapped mapped{place.get(), memory};
    ASSERT_EQ(aclrtMemset(mapped.get(), k2MB, 1, k2MB), ACL_SUCCESS);
    void* const across = at(block, kGB - kMB);
    ASSERT_EQ(aclrtMemset(across, k2MB, 7, k2MB), ACL_SUCCESS);
    EXPECT_EQ(read_from(mapped.get(), kMB), Bytes(kMB, 7));
    EXPECT_EQ(read_from(mapped.get(kMB), kMB), Bytes(kMB, 1));
    EXPECT_EQ(read_from(across, k2MB), Bytes(k2MB, 7));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST(VirtualEdges, V150_M244_AQueuedCopyBetweenTwoMappingsOfOneMemory_IsAsIfThroughATemporary) {
  on_product("A2", [] {
    constexpr std::size_t kSize = 96 * kMB, kStep = k2MB;
    const Physical memory{kSize};
    const Reserved one{kSize}, two{kSize};
    const Mapped first{one.get(), memory}, second{two.get(), memory};
    Bytes bytes(kSize);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    for (std::size_t i = 0; i < kSize; i += kMB) bytes[i] = static_cast<unsigned char>(i / kMB * 3);
    ASSERT_EQ(aclrtMemcpy(first.get(), kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    const Stream stream;
    ASSERT_EQ(aclrtMemcpyAsync(first.get(kStep), kSize - kStep, second.get(), kSize - kStep,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    const Bytes after = read_from(first.get(), kSize);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(kStep),
                           after.begin() + static_cast<std::ptrdiff_t>(kStep)));
  });
}

TEST(VirtualEdges, V180_P47_AStreamSeesWhatHostCodeWritesToAWordThatItMayUse) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  on_product("A2", [] {
    const Physical memory;
    const Reserved place{k2MB};
    const Mapped mapped{place.get(), memory};
    ASSERT_EQ(aclrtMemset(mapped.get(), 8, 0, 8), ACL_SUCCESS);
    aclrtMemAccessDesc host{ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
    ASSERT_EQ(aclrtMemSetAccess(mapped.get(), k2MB, &host, 1), ACL_SUCCESS);
    const Stream stream;
    ASSERT_EQ(aclrtValueWait(mapped.get(), 5, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
    __atomic_store_n(static_cast<std::uint64_t*>(mapped.get()), 5, __ATOMIC_RELEASE);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_SUCCESS);
  });
}

TEST(VirtualEdges, V292_M319_RowsThatLeaveManagedMemory_AreRefusedBeforeTheFirstMoves) {
  on_product("A2", [] {
    void *small = nullptr, *large = nullptr;
    ASSERT_EQ(aclrtMemAllocManaged(&large, 8 * kMB, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemAllocManaged(&small, k2MB, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(large, 8 * kMB, 1, 8 * kMB), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(small, k2MB, 2, k2MB), ACL_SUCCESS);
    for (const auto kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST}) {
      EXPECT_EQ(aclrtMemcpy2d(large, kMB, small, kMB, kMB, 4, kind), kRefused) << kind;
      EXPECT_EQ(aclrtMemcpy2d(small, kMB, large, kMB, kMB, 4, kind), kRefused) << kind;
    }
    EXPECT_EQ(static_cast<unsigned char*>(large)[0], 1) << "nothing was moved";
    EXPECT_EQ(static_cast<unsigned char*>(small)[0], 2);
    EXPECT_EQ(aclrtMemcpy2d(large, kMB, small, kMB, kMB, 2, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(static_cast<unsigned char*>(large)[k2MB - 1], 2);
    EXPECT_EQ(aclrtFree(small), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(large), ACL_SUCCESS);
  });
}

TEST(VirtualEdges, V157_V210_TheSecondMappingOfMemoryWithoutAccess_HasNoneEither) {
  on_product("A3", [] {
    const Physical memory;
    const Reserved from{k2MB}, to{k2MB};
    ASSERT_EQ(aclrtMemMapNoAccess(from.get(), k2MB, 0, memory, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemMapSelectedLink(to.get(), k2MB, from.get(), 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(to.get(), 8, 0, 8), kRefused);
    EXPECT_EQ(aclrtUnmapMem(to.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnmapMem(from.get()), ACL_SUCCESS);
  });
}

TEST(VirtualThreadsAtHighAddresses, V19_V89_WhoAsksWhatAnAddressIs_IsNotDisturbedByThoseWhoReserve) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "it leaves no high addresses";
  on_product("A3", [] {
    std::atomic<bool> over{false};
    std::thread asks{[&] {
      int number = 0;
      aclrtPtrAttributes what{};
      while (!over) {
        EXPECT_EQ(aclrtPointerGetAttributes(&number, &what), ACL_SUCCESS);
        EXPECT_EQ(what.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
      }
    }};
    for (int round = 0; round < slice(300, 10000); ++round) {
      void* start = nullptr;
      ASSERT_EQ(aclrtReserveMemAddressNoUCMemory(&start, kGB, 0, address(64 * kTB), 0), ACL_SUCCESS);
      ASSERT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
    }
    over = true;
    asks.join();
  });
}

TEST(ManagedLists, V310_V316_AnyLengthOfAList_IsFilledToItsEnd) {
  on_product("A2", [] {
    void* block = nullptr;
    ASSERT_EQ(aclrtMemAllocManaged(&block, k2MB, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
    ASSERT_EQ(used_by(block, k2MB, device_side(3)), ACL_SUCCESS);
    std::vector<std::int32_t> list(100'000, 7);
    ASSERT_EQ(query(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, block, k2MB, list.data(), list.size() * 4),
              ACL_SUCCESS);
    EXPECT_EQ(list[0], 3);
    EXPECT_EQ(std::count(list.begin() + 1, list.end(), -2), static_cast<std::ptrdiff_t>(list.size() - 1));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

}  // namespace virtual_edges_test
