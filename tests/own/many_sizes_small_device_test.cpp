// The whole of a small device, with each size in turn.
#include <algorithm>
#include <random>
#include <vector>

#include "support/allocators.h"
#include "support/on_product.h"
#include "support/slices.h"

namespace many_sizes_small_device_test {

using namespace belay_test;

// Addresses that were kept for one size are not lost to the others: the device can be filled completely,
// again and again, each time with blocks of another size.
TEST(ManySizesOnASmallDevice, M86_M430_TheWholeDevice_WithEachSizeInTurn) {
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {
    std::mt19937 random = test_random();
    for (int round = 0, rounds = slice(120, 3000); round < rounds; ++round) {
      const std::size_t pages = random() % 500 + 1, most = 64 * kMB / (pages * 4096);
      std::vector<void*> blocks;
      for (void* block = nullptr;
           aclrtMallocAlign32(&block, pages * 4096, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS;)
        blocks.push_back(block);
      ASSERT_EQ(blocks.size(), most) << pages << " pages each";
      ASSERT_EQ(free_bytes(), 64 * kMB - most * pages * 4096);
      std::shuffle(blocks.begin(), blocks.end(), random);
      for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      ASSERT_EQ(free_bytes(), 64 * kMB);
    }
  });
}

}  // namespace many_sizes_small_device_test
