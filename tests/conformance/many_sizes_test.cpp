// More sizes than a thread can have at hand.
#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "support/allocators.h"
#include "support/app_usage.h"
#include "support/slices.h"
#include "support/worker.h"

namespace many_sizes_test {

using namespace belay_test;

class ManySizes : public OnDevice {};

// 400 sizes, each of which takes another number of pages: of 4 KB, or of 2 MB.
std::vector<std::size_t> distinct_sizes(std::mt19937& random) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 1; i <= 300; ++i) sizes.push_back(i * 4096 - 32 - random() % 4000);
  for (std::size_t i = 1; i <= 100; ++i) sizes.push_back(i * 2 * kMB - 32 - random() % 900000);
  std::shuffle(sizes.begin(), sizes.end(), random);
  return sizes;
}

struct Held {
  void* start;
  std::size_t footprint;
};

// Blocks held do not overlap, and the figures are those of the model after every step.
TEST_F(ManySizes, M79_M94_M430_FourHundredSizesInAnyOrder_AgainstAModel) {
  for (unsigned round = 0; round < slice(2U, 60U); ++round) {
    SCOPED_TRACE(seed_text() + ", round " + std::to_string(round));
    std::mt19937 random = test_random(round);
    const std::vector<std::size_t> sizes = distinct_sizes(random);
    std::vector<Held> held;
    std::map<std::uintptr_t, std::size_t> places;
    std::size_t in_use = 0;
    for (int step = 0; step < 20000; ++step) {
      if (held.size() < 60 && random() % 2 == 0) {
        const std::size_t size = sizes[random() % sizes.size()];
        const Taken rule = documented(kMalloc, size, kHugeFirst);
        Held block{nullptr, rule.bytes};
        ASSERT_EQ(aclrtMalloc(&block.start, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS)
            << recent_message();
        const auto at = reinterpret_cast<std::uintptr_t>(block.start);
        const auto next = places.lower_bound(at);
        ASSERT_TRUE(next == places.end() || at + rule.bytes <= next->first) << "step " << step;
        ASSERT_TRUE(next == places.begin() || std::prev(next)->first + std::prev(next)->second <= at)
            << "step " << step;
        places[at] = rule.bytes;
        ASSERT_EQ(page_of(block.start), rule.page) << size;
        in_use += rule.bytes;
        held.push_back(block);
      } else if (!held.empty()) {
        std::swap(held[random() % held.size()], held.back());
        ASSERT_EQ(aclrtFree(held.back().start), ACL_SUCCESS);
        in_use -= held.back().footprint;
        places.erase(reinterpret_cast<std::uintptr_t>(held.back().start));
        held.pop_back();
      }
      ASSERT_EQ(free_before_ - free_bytes(), in_use) << "step " << step;
      ASSERT_EQ(app_usage().current, in_use) << "step " << step;
    }
    for (const Held& block : held) ASSERT_EQ(aclrtFree(block.start), ACL_SUCCESS);
    ASSERT_EQ(free_bytes(), free_before_);
  }
}

// Each size several times in a row, so that each comes to be at hand and is pushed out again by others.
TEST_F(ManySizes, M79_M430_EachInShortBursts_WithEveryPolicyOfPages) {
  std::mt19937 random = test_random();
  const std::vector<std::size_t> sizes = distinct_sizes(random);
  for (int round = 0; round < slice(4, 100); ++round) {
    for (const std::size_t size : sizes) {
      const std::uint32_t value = random() % 6;
      const Allocator& allocator = random() % 2 == 0 ? kMalloc : kAlign32;
      const Taken rule = documented(allocator, size, value);
      for (int again = 0; again < 3; ++again) {
        std::vector<void*> blocks(random() % 3 + 1);
        for (void*& block : blocks) {
          ASSERT_EQ(allocator.call(&block, size, policy(value)), ACL_SUCCESS);
          ASSERT_EQ(page_of(block), rule.page) << size << " " << value;
        }
        ASSERT_EQ(free_before_ - free_bytes(), rule.bytes * blocks.size()) << size << " " << value;
        for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
      ASSERT_EQ(free_bytes(), free_before_) << size << " " << value;
    }
  }
}

// One size by several functions and policies, which differ in what it takes.
TEST_F(ManySizes, M34_M48_M50_M51_M79_OneSizeByEveryFunctionAndPolicyInTurn) {
  for (int round = 0; round < 50; ++round) {
    for (const std::size_t size : {std::size_t{4064}, std::size_t{4065}, std::size_t{4096}, kMB, kMB + 1,
                                   2 * kMB - 32, 2 * kMB - 31, 2 * kMB}) {
      for (const Allocator& allocator : {kMalloc, kAlign32, kCached}) {
        for (std::uint32_t value = 0; value < 6; ++value)
          ASSERT_EQ(take(allocator, size, value), documented(allocator, size, value))
              << allocator.name << " " << size << " " << value << " in round " << round;
      }
    }
  }
}

}  // namespace many_sizes_test
