#include "memory/heap_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "memory/range_pool.h"

#include "support/slices.h"
#include "support/waiting.h"

namespace belay {
namespace heap_map_test {

// A window of plain numbers: the map never touches what it indexes.
constexpr platform::AddressRange kWindow{0x400000000000, 64_GiB, false};

void put(HeapMap& map, std::uintptr_t start, std::size_t bytes, std::size_t asked, Page page = Page::Normal) {
  if (map.heap_at(start).use == Heap::Use::Carved) map.cut(start, bytes);
  map.publish(start, BlockWord{bytes / 4_KiB, asked, page, Origin::Malloc, false, false}.pack());
}

TEST(HeapMap, EveryInteriorAddressLeadsToItsBlock_NoneOutside) {
  HeapMap map{kWindow};
  const std::uintptr_t heap = map.open_carved(HeapClass::Normal, 3);
  const std::uintptr_t start = heap + 60 * 4_KiB;  // spans the border of a group of 64 units
  const std::size_t bytes = 200 * 4_KiB;
  put(map, start, bytes, 12345);
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

TEST(RangePool, WhatLeavesTheQuarantineServesItsSize_AndIsJoinedBeforeAFreshHeap) {
  HeapMap map{kWindow};
  RangePool pool;
  pool.open(map, HeapClass::Normal, 0);
  const std::uintptr_t first = pool.take(256_MiB), second = pool.take(256_MiB);
  const std::uintptr_t rest = pool.take(512_MiB);
  EXPECT_EQ(second, first + 256_MiB);
  pool.set_quarantine(256_MiB);
  pool.give(first, 256_MiB);
  const std::uintptr_t elsewhere = pool.take(512_MiB), last = pool.take(512_MiB);  // all of a second heap
  EXPECT_EQ(last, elsewhere + 512_MiB);
  pool.give(second, 256_MiB);  // and `first` leaves
  EXPECT_EQ(pool.take(256_MiB), first);
  pool.give(first, 256_MiB);  // and `second` leaves
  pool.give(rest, 512_MiB);   // and `first` and `rest` itself, which is more than there is room for
  EXPECT_EQ(pool.take(512_MiB), rest);
  EXPECT_EQ(pool.take(512_MiB), first) << "two neighbours of 256 MiB are one of 512 MiB";
  EXPECT_EQ(map.find(first), std::nullopt);
}

TEST(RangePool, AnAddressThatIsWishedFor_MayHaveLeftTheQuarantine) {
  HeapMap map{kWindow};
  RangePool pool;
  pool.open(map, HeapClass::Normal, 0);
  const std::uintptr_t start = pool.take(8_KiB);
  pool.set_quarantine(8_KiB);
  pool.give(start, 8_KiB);
  EXPECT_FALSE(pool.take_at(start, 8_KiB)) << "it is in quarantine";
  pool.give(pool.take(8_KiB), 8_KiB);
  EXPECT_TRUE(pool.take_at(start + 4_KiB, 4_KiB));
  EXPECT_FALSE(pool.take_at(start, 8_KiB));
  EXPECT_TRUE(pool.take_at(start, 4_KiB));
}

TEST(BlockWord, HoldsWhatABlockIs_OfEveryKindOfPages) {
  for (const Page page : {Page::Normal, Page::Huge2M, Page::Huge1G}) {
    const std::size_t unit = page_bytes(page);
    for (const std::size_t bytes : {unit, 3 * unit, 255_GiB / unit * unit}) {
      for (const std::size_t slack : {std::size_t{0}, std::size_t{1}, unit - 1, std::min(unit, bytes)}) {
        const BlockWord word{bytes / 4_KiB, bytes - slack, page, Origin::MediaV2, true, true};
        const BlockWord again = BlockWord::unpack(word.pack() | BlockWord::kLeakReported);
        EXPECT_EQ(again.units, word.units);
        EXPECT_EQ(again.asked, word.asked);
        EXPECT_EQ(again.page, page);
        EXPECT_EQ(again.origin, Origin::MediaV2);
        EXPECT_TRUE(again.read_only && again.p2p && again.leak_reported);
      }
    }
  }
}

// A block has one number, whoever asks first, and its place may be another's at any moment.
TEST(BlockFacts, ABlockIsNamedOnce_WhileOthersComeAndGo) {
  HeapMap map{kWindow};
  const std::uintptr_t start = map.open_carved(HeapClass::Normal, 0);
  std::atomic<bool> enough{false};
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> life_of;  // by number: in which life of the place it was given
  std::atomic<std::uint64_t> life{1};              // even: there is a block
  std::vector<std::thread> askers;
  for (int t = 0; t < 3; ++t) {
    askers.emplace_back([&] {
      while (!enough.load()) {
        const std::uint64_t before = life.load();
        const std::uint64_t number = map.name(start);
        if (number == 0 || before % 2 != 0 || life.load() != before) continue;
        const std::lock_guard lock{mutex};
        const auto [known, first] = life_of.try_emplace(number, before);
        EXPECT_EQ(known->second, before) << "a number that another block had";
        std::size_t of_this_life = 0;
        for (const auto& [other, when] : life_of) of_this_life += when == before ? 1 : 0;
        EXPECT_EQ(of_this_life, 1U) << "a block with two numbers";
      }
    });
  }
  for (int round = 0; round < 300; ++round) {
    put(map, start, 4_KiB, 1);
    ++life;
    belay_test::let_time_pass(std::chrono::microseconds{20});
    ++life;
    const std::optional<Block> ended = map.withdraw(start);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->module, kModuleApp);
  }
  enough = true;
  for (std::thread& each : askers) each.join();
  EXPECT_FALSE(life_of.empty());
}

TEST(BlockFacts, WhatIsKnownOfAnEarlierBlockIsNotTheNextOnes) {
  HeapMap map{kWindow};
  for (const bool whole : {false, true}) {
    const std::size_t bytes = whole ? 1_GiB : 4_KiB;
    const std::uintptr_t start =
        whole ? map.open_whole(bytes, 0, HeapClass::Huge2M) : map.open_carved(HeapClass::Normal, 0);
    BlockFacts* facts = map.facts_of(start);
    ASSERT_NE(facts, nullptr);
    facts->begin({.what = observe::What::Allocated, .module = 6, .serial = 77, .function = "a"});
    map.publish(start, BlockWord{bytes / 4_KiB, 1, Page::Normal, Origin::Malloc, false, false}.pack() |
                           BlockWord::kHasFacts | BlockWord::kOtherModule);
    EXPECT_EQ(map.find(start)->module, 6);
    EXPECT_EQ(map.find(start)->serial, 77U);
    EXPECT_EQ(map.name(start), 77U);
    ASSERT_EQ(map.withdraw(start)->module, 6);
    if (!whole)
      put(map, start, bytes, 1);
    else
      map.publish(start, BlockWord{bytes / 4_KiB, 1, Page::Normal, Origin::Malloc, false, false}.pack());
    EXPECT_EQ(map.find(start)->serial, 0U) << "nobody has named it";
    EXPECT_EQ(map.find(start)->module, kModuleApp);
    const std::uint64_t number = map.name(start);
    EXPECT_NE(number, 77U);
    EXPECT_EQ(map.find(start)->serial, number);
    EXPECT_EQ(map.find(start)->module, kModuleApp) << "facts of the earlier block";
    EXPECT_FALSE(facts->is_described());
    ASSERT_TRUE(map.withdraw(start));
    EXPECT_EQ(map.name(start), 0U) << "there is none";
  }
}

// What was noted of an earlier cut must not lead astray.
TEST(HeapMap, ARangeThatIsCutAnewLeadsToItsNewBlocks) {
  HeapMap map{kWindow};
  const std::uintptr_t heap = map.open_carved(HeapClass::Normal, 0);
  put(map, heap + 10 * 4_KiB, 300 * 4_KiB, 1);
  ASSERT_TRUE(map.withdraw(heap + 10 * 4_KiB));
  EXPECT_FALSE(map.find(heap + 128 * 4_KiB));
  put(map, heap + 10 * 4_KiB, 4_KiB, 1);
  put(map, heap + 120 * 4_KiB, 40 * 4_KiB, 2);
  EXPECT_FALSE(map.find(heap + 64 * 4_KiB));
  EXPECT_FALSE(map.find(heap + 119 * 4_KiB));
  EXPECT_EQ(map.find(heap + 130 * 4_KiB)->start, heap + 120 * 4_KiB);
  EXPECT_EQ(map.find(heap + 159 * 4_KiB)->start, heap + 120 * 4_KiB);
  EXPECT_FALSE(map.find(heap + 160 * 4_KiB));
}

TEST(HeapMap, M111_OnlyTheExactStartOfALiveBlockCanBeWithdrawn_Once) {
  HeapMap map{kWindow};
  const std::uintptr_t start = map.open_carved(HeapClass::Huge2M, 0);
  put(map, start, 4_MiB, 1, Page::Huge2M);
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
  put(map, start, 3_GiB + 2_MiB, 3_GiB, Page::Huge2M);
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
  for (std::size_t i = 0; i < 100; ++i) put(map, mine + i * 8_KiB, 8_KiB, i);
  put(map, other, 4_KiB, 7);
  for (std::size_t i = 0; i < 100; i += 2) map.withdraw(mine + i * 8_KiB);
  std::size_t seen = 0;
  map.for_each_block(0, [&](const Block& block) {
    EXPECT_EQ(block.asked % 2, 1U);
    ++seen;
  });
  EXPECT_EQ(seen, 50U);
}

class RangePoolTest : public ::testing::Test {
 protected:
  HeapMap map{kWindow};
  RangePool pool;
};

TEST_F(RangePoolTest, M416_RangesOfAllSizesNeverShareAByte) {
  pool.open(map, HeapClass::Normal, 0);
  std::mt19937 random = belay_test::test_random();
  struct Range {
    std::uintptr_t start;
    std::size_t bytes;
  };
  std::vector<Range> live;
  for (int step = 0, steps = belay_test::slice(4000, 200000); step < steps; ++step) {
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

}  // namespace heap_map_test
}  // namespace belay
