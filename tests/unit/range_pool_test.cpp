// Where the next block goes: every place once, by size first, joined before a fresh heap.
#include "memory/range_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "memory/shelves.h"
#include "support/memory_world.h"
#include "support/slices.h"

namespace belay {
namespace range_pool_test {

using namespace belay_test;

constexpr platform::AddressRange kWindow{0x400000000000, 64_GiB, false};

struct PoolWorld {
  PoolWorld() { pool.open(map, HeapClass::Normal, 0); }
  HeapMap map{kWindow};
  RangePool pool;
};

TEST(Shelves, TheNewestOfThatSizeFirst_AndOnlyOfThatSize) {
  Shelves shelves;
  EXPECT_TRUE(shelves.empty());
  const std::array<std::uintptr_t, 3> small{100, 200, 300};
  const std::array<std::uintptr_t, 1> large{1000};
  EXPECT_TRUE(shelves.put(10, small));
  EXPECT_TRUE(shelves.put(50, large));
  std::array<std::uintptr_t, 4> got{};
  EXPECT_EQ(shelves.take(20, got), 0U);
  EXPECT_EQ(shelves.take(10, std::span{got}.first(2)), 2U);
  EXPECT_EQ(got[0], 300U);
  EXPECT_EQ(got[1], 200U);
  EXPECT_EQ(shelves.take(10, got), 1U);
  EXPECT_EQ(got[0], 100U);
  EXPECT_EQ(shelves.take(10, got), 0U);
  EXPECT_FALSE(shelves.empty());
  EXPECT_EQ(shelves.take(50, got), 1U);
  EXPECT_TRUE(shelves.empty());
}

TEST(Shelves, Cleared_NeighboursComeInOnePiece_ButNotAcrossABorder) {
  Shelves shelves;
  const std::array<std::uintptr_t, 3> small{70, 20, 90};
  const std::array<std::uintptr_t, 2> large{100, 30};
  EXPECT_TRUE(shelves.put(10, small));
  EXPECT_TRUE(shelves.put(40, large));
  std::vector<std::pair<std::uintptr_t, std::size_t>> got;
  shelves.clear(100, [&](std::uintptr_t start, std::size_t bytes) { got.emplace_back(start, bytes); });
  EXPECT_EQ(got, (std::vector<std::pair<std::uintptr_t, std::size_t>>{{20, 60}, {90, 10}, {100, 40}}));
  EXPECT_TRUE(shelves.empty());
}

// A million of one size, freed in any order, are one piece again when somebody asks for more.
TEST(RangePool, WhatWasFreedInPiecesServesLargerBlocks_BeforeAFreshHeap) {
  PoolWorld world;
  constexpr std::size_t kBlocks = kHeapBytes / 4_KiB;
  std::vector<std::uintptr_t> blocks(kBlocks);
  EXPECT_EQ(world.pool.take(4_KiB, blocks), kBlocks);
  const std::uintptr_t heap = *std::min_element(blocks.begin(), blocks.end());
  std::shuffle(blocks.begin(), blocks.end(), test_random(1));
  world.pool.give(4_KiB, std::span{blocks}.first(kBlocks / 2));
  for (std::size_t i = kBlocks / 2; i < kBlocks; ++i) world.pool.give(blocks[i], 4_KiB);
  EXPECT_EQ(world.pool.take(512_MiB), heap);
  EXPECT_EQ(world.pool.take(256_MiB), heap + 512_MiB);
  EXPECT_EQ(world.pool.take(4_KiB), heap + 768_MiB);
  EXPECT_TRUE(world.pool.take_at(heap + 768_MiB + 4_KiB, 4_KiB));
  EXPECT_FALSE(world.pool.take_at(heap + 768_MiB, 4_KiB));
}

// What is given out never overlaps; whoever gives all back finds that no more heaps were used than the
// largest sum needed, with as much again for holes.
TEST(RangePool, RandomSizesInBatches_KeepEveryPlaceOnce_AndDoNotCreep) {
  PoolWorld world;
  std::mt19937 random = test_random(2);
  std::map<std::uintptr_t, std::size_t> out;
  std::size_t bytes_out = 0, most_out = 0;
  std::uintptr_t highest = 0;
  const std::uintptr_t first = world.pool.take(4_KiB);
  world.pool.give(first, 4_KiB);
  for (std::size_t step = 0; step < slice(std::size_t{3'000}, 60'000); ++step) {
    if (random() % 5 < 2 || bytes_out < 1_GiB) {
      const std::size_t bytes = (1 + random() % 400) * (random() % 2 == 0 ? 4_KiB : 64_KiB);
      std::array<std::uintptr_t, 32> got{};
      const std::size_t count = world.pool.take(bytes, std::span{got}.first(1 + random() % got.size()));
      ASSERT_NE(count, 0U);
      for (std::size_t i = 0; i < count; ++i) {
        const auto after = out.upper_bound(got[i]);
        ASSERT_TRUE(after == out.end() || got[i] + bytes <= after->first);
        ASSERT_TRUE(after == out.begin() || std::prev(after)->first + std::prev(after)->second <= got[i]);
        ASSERT_EQ(round_down(got[i], kHeapBytes), round_down(got[i] + bytes - 1, kHeapBytes));
        out.emplace(got[i], bytes);
        bytes_out += bytes;
        highest = std::max(highest, got[i] + bytes);
      }
      most_out = std::max(most_out, bytes_out);
    } else if (!out.empty()) {
      // A few of one size, from anywhere.
      auto at = out.lower_bound(out.begin()->first + random() % (highest - out.begin()->first));
      if (at == out.end()) at = out.begin();
      const std::size_t bytes = at->second;
      std::vector<std::uintptr_t> starts;
      for (int looks = 0; looks < 200 && at != out.end() && starts.size() < 64; ++looks) {
        if (at->second != bytes && random() % 4 != 0) {
          ++at;
          continue;
        }
        if (at->second == bytes)
          starts.push_back(at->first);
        else
          world.pool.give(at->first, at->second);
        bytes_out -= at->second;
        at = out.erase(at);
      }
      world.pool.give(bytes, starts);
    }
  }
  EXPECT_LE(highest - round_down(first, kHeapBytes), 2 * most_out + kHeapBytes);
  for (const auto& [start, bytes] : out) world.pool.give(start, bytes);
  const std::size_t heaps = (highest - round_down(first, kHeapBytes) + kHeapBytes - 1) / kHeapBytes;
  for (std::size_t half = 0; half < 2 * heaps; ++half)
    EXPECT_LT(world.pool.take(512_MiB), round_down(first, kHeapBytes) + heaps * kHeapBytes);
}

// A thread's bin becomes deeper as more comes back at once, and holds no more than it may.
TEST(ThreadCache, AsManyAsComeBackAtOnceAreAtHandTheNextTime) {
  MemoryWorld world;
  const std::uint64_t state = FastPathState::now();
  world.memory().set_device_of_thread(state, 0);
  std::vector<std::uintptr_t> blocks(200);
  const auto pairs = [&] {
    int fast = 0;
    for (std::uintptr_t& each : blocks) each = world.block(1_MiB);
    for (const std::uintptr_t each : blocks) {
      if (free_fast(each) == ACL_SUCCESS)
        ++fast;
      else
        EXPECT_TRUE(world.free(each));
    }
    return fast;
  };
  pairs();
  EXPECT_GE(pairs(), 200 - 8) << "all but those at which it doubled";
  EXPECT_EQ(pairs(), 200);
  std::vector<std::uintptr_t> again = blocks;
  std::sort(again.begin(), again.end());
  EXPECT_EQ(std::unique(again.begin(), again.end()), again.end());
  EXPECT_EQ(world.used(), 0U);
}

}  // namespace range_pool_test
}  // namespace belay
