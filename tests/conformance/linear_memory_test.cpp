// What a block is: one run of addresses of its own, inside the range of device addresses.
#include <algorithm>
#include <random>

#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/slices.h"

namespace linear_memory_test {

using namespace belay_test;

class LinearMemory : public OnDevice {};

// Location of any address: the enum value, or the answer if there is none.
int place_of(std::uintptr_t address) {
  aclrtPtrAttributes attributes{};
  const aclError code = aclrtPointerGetAttributes(reinterpret_cast<const void*>(address), &attributes);
  return code == ACL_SUCCESS ? static_cast<int>(attributes.location.type) : code;
}

TEST_F(LinearMemory, M416_BlocksShareNoByteAndAllTheirBytesAreUsable) {
  std::mt19937 random = test_random();
  struct Owned {
    char* start;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<Owned> blocks;
  const std::vector<Allocator> allocators = all_allocators();
  for (std::size_t i = 0; i < 250; ++i) {
    const Allocator& allocator = allocators[i % allocators.size()];
    const std::size_t size = 1 + random() % (i % 25 == 0 ? 3 * kMB : 20000);
    void* block = nullptr;
    ASSERT_EQ(allocator.call(&block, size, policy(static_cast<std::uint32_t>(random() % 3))), ACL_SUCCESS);
    blocks.push_back({static_cast<char*>(block), size, static_cast<unsigned char>(i + 1)});
    ASSERT_EQ(aclrtMemset(block, size, static_cast<int>(i + 1), size), ACL_SUCCESS);
  }
  std::sort(blocks.begin(), blocks.end(), [](const Owned& a, const Owned& b) { return a.start < b.start; });
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    EXPECT_LE(blocks[i - 1].start + blocks[i - 1].size, blocks[i].start);
  }
  for (const Owned& block : blocks) {  // after all the fills, none has touched another
    const std::vector<unsigned char> bytes = contents(block.start, block.size);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), block.mark), static_cast<std::ptrdiff_t>(block.size));
    EXPECT_EQ(aclrtFree(block.start), ACL_SUCCESS);
  }
}

TEST_F(LinearMemory, M416_FirstAndLastByteOfEverySizeAreTheCallers) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{31}, std::size_t{4095}, std::size_t{4096},
                                   std::size_t{4097}, 2 * kMB - 1, 2 * kMB, 2 * kMB + 1, kGB + 1}) {
      const Block block(allocator, size, kHugeFirst);
      const char mark = 'x';
      EXPECT_EQ(aclrtMemcpy(block.get(), 1, &mark, 1, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(block.bytes() + size - 1, 1, &mark, 1, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(contents(block.bytes() + size - 1, 1)[0], 'x');
      EXPECT_EQ(page_of(block.get()), page_of(block.bytes() + size - 1));
    }
  }
}

TEST_F(LinearMemory, M417_FillOfTheWholeBlockRightAfterTheAllocation) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{63}, std::size_t{4097}, kMB, 2 * kMB + 1}) {
      const Block block(allocator, size, kHugeFirst);
      EXPECT_EQ(aclrtMemset(block.get(), size, 0x5A, size), ACL_SUCCESS) << allocator.name << " " << size;
      EXPECT_EQ(contents(block.bytes() + size - 1, 1)[0], 0x5A);
    }
  }
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 5000), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(pinned, 5000, 0x5A, 5000), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[4999], 0x5A);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  const Block read_only(kMalloc, 64, kReadOnly);  // the exception
  EXPECT_EQ(aclrtMemset(read_only.get(), 64, 0, 64), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

TEST_F(LinearMemory, M13_D17_FreshMemoryCanBeReadAndPromisesNothing) {
  std::vector<unsigned char> first;
  for (const Allocator& allocator : all_allocators()) {
    const Block block(allocator, 10000, kHugeFirst);
    first = contents(block.get(), 10000);  // whatever it is, reading it works
    EXPECT_EQ(contents(block.get(), 10000), first) << "contents nobody wrote have changed";
  }
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 10000), ACL_SUCCESS);
  EXPECT_EQ(contents(pinned, 10000).size(), 10000U);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  void* media = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 10000), ACL_SUCCESS);
  EXPECT_EQ(contents(media, 10000).size(), 10000U);
  EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
}

TEST_F(LinearMemory, M14_AnAddressBetweenTwoDeviceBlocksIsADeviceAddress) {
  std::vector<std::uintptr_t> starts;
  std::vector<void*> blocks;
  for (const std::int32_t device : {0, 1, 7}) {
    ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kHuge1g}) {
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, 64, policy(value)), ACL_SUCCESS);
      blocks.push_back(block);
    }
    void* media = nullptr;
    ASSERT_EQ(acldvppMalloc(&media, 64), ACL_SUCCESS);
    blocks.push_back(media);
  }
  for (void* block : blocks) starts.push_back(reinterpret_cast<std::uintptr_t>(block));
  const auto [low, high] = std::minmax_element(starts.begin(), starts.end());
  std::mt19937_64 random{test_seed()};
  for (int i = 0, rounds = slice(5000, 300000); i < rounds; ++i) {
    const int place = place_of(*low + random() % (*high - *low));
    EXPECT_TRUE(place == ACL_MEM_LOCATION_TYPE_DEVICE || place == ACL_ERROR_RT_DRV_INTERNAL_ERROR) << place;
  }
  for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  for (const std::uintptr_t start : starts) EXPECT_EQ(place_of(start), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(aclrtResetDevice(7), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(LinearMemory, M14_AnUnusedDeviceAddressIsRefusedByCopiesAndFills) {
  const Block block(kMalloc, 64, kHugeFirst);
  char* nowhere = block.bytes() + 512 * kGB;
  char host[16] = {};
  EXPECT_EQ(place_of(reinterpret_cast<std::uintptr_t>(nowhere)), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(aclrtMemcpy(nowhere, 16, host, 16, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(aclrtMemcpy(host, 16, nowhere, 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(aclrtMemset(nowhere, 16, 0, 16), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(place_of(reinterpret_cast<std::uintptr_t>(host)), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

TEST_F(LinearMemory, M40_PaddingBehindTheBlockDoesNotFault) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{4064}}) {
      const Block block(allocator, size, kNormalOnly);
      const std::size_t behind = up_to(size, 32) + (allocator.pads ? 32 : 0) - size;
      if (behind == 0) continue;
      EXPECT_EQ(aclrtMemset(block.bytes() + size, behind, 1, behind), ACL_SUCCESS)
          << allocator.name << " " << size;
      EXPECT_EQ(contents(block.bytes() + size, behind).back(), 1);
    }
  }
}

}  // namespace linear_memory_test
