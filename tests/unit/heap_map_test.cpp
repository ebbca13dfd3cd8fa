#include "memory/heap_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "memory/range_pool.h"

namespace belay {
namespace {

// A window of plain numbers: the map never touches what it indexes.
constexpr platform::AddressRange kWindow{0x400000000000, 64_GiB, false};

BlockWord word_of(std::size_t bytes, Page page = Page::Normal) {
  return {bytes / 4_KiB, page, Origin::Malloc, 33, false, false};
}

TEST(HeapMap, EveryInteriorAddressLeadsToItsBlock_NoneOutside) {
  HeapMap map{kWindow};
  const std::uintptr_t heap = map.open_carved(HeapClass::Normal, 3);
  const std::uintptr_t start = heap + 60 * 4_KiB;  // spans the border of a group of 64 units
  const std::size_t bytes = 200 * 4_KiB;
  map.publish(start, word_of(bytes), 12345);
  for (const std::uintptr_t address :
       {start, start + 1, start + 4_KiB, start + 64 * 4_KiB, start + bytes - 1}) {
    const std::optional<Block> block = map.find(address);
    ASSERT_TRUE(block) << std::hex << address;
    EXPECT_EQ(block->start, start);
    EXPECT_EQ(block->asked, 12345U);
    EXPECT_EQ(block->footprint, bytes);
    EXPECT_EQ(block->device, 3U);
  }
  EXPECT_FALSE(map.find(start - 1));
  EXPECT_FALSE(map.find(start + bytes));
  EXPECT_FALSE(map.find(kWindow.base - 1));
  EXPECT_FALSE(map.find(kWindow.base + kWindow.bytes));
}

TEST(HeapMap, M111_OnlyTheExactStartOfALiveBlockCanBeWithdrawn_Once) {
  HeapMap map{kWindow};
  const std::uintptr_t start = map.open_carved(HeapClass::Huge2M, 0);
  map.publish(start, word_of(4_MiB, Page::Huge2M), 1);
  EXPECT_FALSE(map.withdraw(start + 2_MiB));
  EXPECT_FALSE(map.withdraw(start + 1));
  EXPECT_TRUE(map.withdraw(start));
  EXPECT_FALSE(map.withdraw(start));
  EXPECT_FALSE(map.find(start));
  EXPECT_FALSE(map.find(start + 2_MiB));
}

TEST(HeapMap, LargeBlocksTakeHeapsOfTheirOwn_AndGiveThemBack) {
  HeapMap map{kWindow};
  const std::uintptr_t start = map.open_whole(3_GiB + 2_MiB, 1, HeapClass::Huge2M);
  map.publish(start, word_of(3_GiB + 2_MiB, Page::Huge2M), 3_GiB);
  EXPECT_EQ(map.find(start + 3_GiB + 1)->start, start);
  EXPECT_FALSE(map.find(start + 3_GiB + 2_MiB)) << "the rest of the last heap belongs to nobody";
  EXPECT_FALSE(map.withdraw(start + 1_GiB));
  const std::optional<Block> block = map.withdraw(start);
  ASSERT_TRUE(block);
  map.close_whole(start, block->footprint);
  EXPECT_EQ(map.open_whole(42_GiB, 0, HeapClass::Huge2M), kWindow.base + 22_GiB)
      << "the whole ordinary part is free again";
  EXPECT_EQ(map.open_whole(1_GiB, 0, HeapClass::Huge2M), 0U);
  EXPECT_EQ(map.open_carved(HeapClass::Normal, 0), 0U);
  EXPECT_EQ(map.open_whole(16_GiB, 0, HeapClass::Media), kWindow.base)
      << "media memory has a part of its own";
}

TEST(HeapMap, VisitsExactlyTheLiveBlocksOfADevice) {
  HeapMap map{kWindow};
  const std::uintptr_t mine = map.open_carved(HeapClass::Normal, 0);
  const std::uintptr_t other = map.open_carved(HeapClass::Normal, 1);
  for (std::size_t i = 0; i < 100; ++i) map.publish(mine + i * 8_KiB, word_of(8_KiB), i);
  map.publish(other, word_of(4_KiB), 7);
  for (std::size_t i = 0; i < 100; i += 2) map.withdraw(mine + i * 8_KiB);
  std::size_t seen = 0;
  map.for_each_block(0, [&](const Block& block) {
    EXPECT_EQ(block.asked % 2, 1U);
    ++seen;
  });
  EXPECT_EQ(seen, 50U);
}

// Pools outlive all threads in the library; here the thread must forget them first.
class RangePoolTest : public ::testing::Test {
 protected:
  void TearDown() override { RangePool::forget_thread_ranges(); }
  HeapMap map{kWindow};
  RangePool pool;
};

TEST_F(RangePoolTest, M416_RangesOfAllSizesNeverShareAByte) {
  pool.open(map, HeapClass::Normal, 0);
  std::mt19937 random{7};
  struct Range {
    std::uintptr_t start;
    std::size_t bytes;
  };
  std::vector<Range> live;
  for (int step = 0; step < 4000; ++step) {
    if (live.size() < 200 && random() % 3 != 0) {
      const std::size_t bytes = (random() % 64 + 1) * 4_KiB;
      const std::uintptr_t start = pool.take(bytes);
      ASSERT_NE(start, 0U);
      EXPECT_EQ(start / kHeapBytes, (start + bytes - 1) / kHeapBytes) << "crosses into another heap";
      for (const Range& other : live) ASSERT_FALSE(overlap(start, bytes, other.start, other.bytes));
      live.push_back({start, bytes});
    } else if (!live.empty()) {
      const std::size_t which = random() % live.size();
      pool.give(live[which].start, live[which].bytes);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

TEST_F(RangePoolTest, D39_TheRangeJustGivenBackIsHandedOutNext) {
  pool.open(map, HeapClass::Huge2M, 0);
  const std::uintptr_t first = pool.take(4_MiB);
  pool.take(4_MiB);
  pool.give(first, 4_MiB);
  EXPECT_EQ(pool.take(4_MiB), first);
}

}  // namespace
}  // namespace belay
