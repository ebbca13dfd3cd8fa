#include "memory/backing_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "memory/heap_map.h"
#include "support/slices.h"

namespace belay {
namespace backing_store_test {

class BackingStoreTest : public ::testing::Test {
 protected:
  static constexpr platform::AddressRange kWindow{0x400000000000, 32_GiB, false};
  HeapMap map_{kWindow};
  static std::unique_ptr<machine::Machine> alone() {
    machine::Wish wish;
    wish.name = machine::kPrivateName;
    return std::move(*machine::Machine::join(wish));
  }
  std::unique_ptr<machine::Machine> machine_ = alone();
  HostRoom room_{*machine_};
  // Whatever pages the machine has.
  BackingStore backing_{map_, kWindow.bytes, 0, {.pages = Pages::Small, .keep_bytes = 1_MiB}, room_};

  void SetUp() override {
    map_.on_carve([this](std::size_t index, HeapClass heap_class) {
      backing_.on_carve(index, heap_class == HeapClass::Huge2M ? Page::Huge2M : Page::Normal);
    });
  }
  Position at(std::uintptr_t address) { return {&backing_.plain(), address - kWindow.base}; }
  std::size_t committed() { return backing_.plain().committed(); }

  std::uintptr_t carve(HeapClass heap_class, std::size_t bytes) {
    const std::uintptr_t start = map_.open_carved(heap_class, 0);
    EXPECT_EQ(backing_.on_alloc(at(start), bytes,
                                heap_class == HeapClass::Huge2M ? Page::Huge2M : Page::Normal, false),
              Backed::Yes);
    return start;
  }
  std::vector<unsigned char> read(std::uintptr_t from, std::size_t bytes) {
    std::vector<unsigned char> got(bytes, 0);
    EXPECT_TRUE(backing_.read(at(from), got.data(), bytes));
    return got;
  }
};

TEST_F(BackingStoreTest, M13_FreshMemoryReadsAsThePattern_AndReadingCommitsNothing) {
  const std::uintptr_t start = carve(HeapClass::Huge2M, 64_MiB);
  const std::vector<unsigned char> got = read(start, 64_MiB);
  // The first one, and each as the one before it.
  EXPECT_EQ(got[0], kFreshByte);
  EXPECT_EQ(std::memcmp(got.data(), got.data() + 1, got.size() - 1), 0);
  EXPECT_EQ(committed(), 0U);
}

TEST_F(BackingStoreTest, APartialWriteKeepsThePatternAroundIt) {
  for (const HeapClass heap_class : {HeapClass::Normal, HeapClass::Huge2M}) {
    const std::uintptr_t start = carve(heap_class, 2_MiB);
    const std::array<unsigned char, 3> bytes{1, 2, 3};
    ASSERT_TRUE(backing_.write(at(start + 70000), bytes.data(), bytes.size()));
    std::vector<unsigned char> expected(200000, kFreshByte);
    std::ranges::copy(bytes, expected.begin() + 70000);
    EXPECT_EQ(read(start, expected.size()), expected);
    EXPECT_LE(committed(), 256_KiB);
  }
}

TEST_F(BackingStoreTest, WritesAndReadsCrossHeaps) {
  const std::uintptr_t start = map_.open_whole(2_GiB, 0, HeapClass::Huge2M);
  ASSERT_EQ(backing_.on_alloc(at(start), 2_GiB, Page::Huge2M, false), Backed::Yes);
  std::vector<unsigned char> bytes(300000);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  const std::uintptr_t across = start + 1_GiB - 150001;
  ASSERT_TRUE(backing_.write(at(across), bytes.data(), bytes.size()));
  EXPECT_EQ(read(across, bytes.size()), bytes);
  ASSERT_TRUE(backing_.fill(at(across + 1000), 9, 200000));
  std::fill_n(bytes.begin() + 1000, 200000, static_cast<unsigned char>(9));
  EXPECT_EQ(read(across, bytes.size()), bytes);
}

TEST_F(BackingStoreTest, M244_OverlappingCopiesActAsThroughATemporary) {
  const std::uintptr_t start = carve(HeapClass::Huge2M, 16_MiB);
  std::vector<unsigned char> model(8_MiB);
  for (std::size_t i = 0; i < model.size(); ++i) model[i] = static_cast<unsigned char>(i * 7 >> 3);
  ASSERT_TRUE(backing_.write(at(start), model.data(), model.size()));
  struct Case {
    std::size_t to, from, bytes;
  };
  for (const Case c : {Case{1, 0, 5_MiB}, Case{0, 1, 5_MiB}, Case{3_MiB, 1_MiB + 5, 4_MiB},
                       Case{1_MiB, 3_MiB, 4_MiB + 17}}) {
    ASSERT_TRUE(backing_.copy(at(start + c.to), at(start + c.from), c.bytes));
    std::memmove(model.data() + c.to, model.data() + c.from, c.bytes);
    ASSERT_EQ(read(start, model.size()), model) << c.to << " <- " << c.from;
  }
}

TEST_F(BackingStoreTest, CopyOfUncommittedMemoryCopiesThePattern) {
  const std::uintptr_t start = carve(HeapClass::Normal, 1_MiB);
  ASSERT_TRUE(backing_.fill(at(start + 512_KiB), 0, 4_KiB));
  ASSERT_TRUE(backing_.copy(at(start + 512_KiB), at(start), 4_KiB));
  EXPECT_EQ(read(start + 512_KiB, 4_KiB), std::vector<unsigned char>(4_KiB, kFreshByte));
}

TEST_F(BackingStoreTest, M391_Fill32WritesWholeWords) {
  const std::uintptr_t start = carve(HeapClass::Normal, 1_MiB);
  ASSERT_TRUE(backing_.fill32(at(start + 4), 0x01020304, 100000));
  const std::vector<unsigned char> got = read(start, 400012);
  std::uint32_t word = 0;
  for (std::size_t i = 4; i < 400004; i += 4) {
    std::memcpy(&word, got.data() + i, 4);
    ASSERT_EQ(word, 0x01020304U);
  }
  EXPECT_EQ(got[0], kFreshByte);
  EXPECT_EQ(got[400004], kFreshByte);
}

TEST_F(BackingStoreTest, FreedMemoryIsKeptUpToTheBound_AndGoesBackBeyondIt) {
  const std::uintptr_t small = carve(HeapClass::Huge2M, 512_KiB);
  ASSERT_TRUE(backing_.fill(at(small), 1, 512_KiB));
  backing_.on_free(at(small), 512_KiB, false);
  EXPECT_EQ(committed(), 512_KiB) << "within the bound of 1 MB";
  const std::uintptr_t large = carve(HeapClass::Huge2M, 8_MiB);
  ASSERT_TRUE(backing_.fill(at(large), 1, 8_MiB));
  backing_.on_free(at(large), 8_MiB, false);
  EXPECT_EQ(committed(), 512_KiB) << "beyond the bound nothing is kept";
  ASSERT_EQ(backing_.on_alloc(at(large), 8_MiB, Page::Huge2M, false), Backed::Yes);
  EXPECT_EQ(read(large, 8_MiB), std::vector<unsigned char>(8_MiB, kFreshByte)) << "what came back is fresh";
}

TEST_F(BackingStoreTest, AHeapThatChangesItsUseStartsAfresh) {
  const std::uintptr_t whole = map_.open_whole(1_GiB, 0, HeapClass::Huge2M);
  ASSERT_EQ(backing_.on_alloc(at(whole), 1_GiB, Page::Huge2M, false), Backed::Yes);
  ASSERT_TRUE(backing_.fill(at(whole), 5, 128_KiB));
  backing_.on_free(at(whole), 1_GiB, false);
  map_.close_whole(whole, 1_GiB);
  const std::uintptr_t carved = carve(HeapClass::Normal, 64_KiB);
  ASSERT_EQ(carved, whole);
  EXPECT_EQ(read(carved, 64_KiB), std::vector<unsigned char>(64_KiB, kFreshByte));
  EXPECT_EQ(committed(), 0U);
}

// Around the sizes from which fresh memory is written through the file, and across the pieces in which it is.
TEST_F(BackingStoreTest, M13_WritesFillsAndCopiesIntoPartlyFreshMemory_AreAsInAModel) {
  constexpr std::size_t kBytes = 9_MiB;
  std::mt19937 random = belay_test::test_random();
  std::vector<unsigned char> data(kBytes);
  for (unsigned char& each : data) each = static_cast<unsigned char>(random());
  const std::uintptr_t normal = carve(HeapClass::Normal, 2 * kBytes);
  const std::uintptr_t huge = carve(HeapClass::Huge2M, 2 * kBytes);
  for (int round = 0; round < belay_test::slice(6, 100); ++round) {
    SCOPED_TRACE(belay_test::seed_text());
    const std::uintptr_t start = round % 3 == 2 ? huge : normal;
    const std::uintptr_t other = start + kBytes;
    std::vector<unsigned char> model(2 * kBytes, kFreshByte);
    for (int step = 0; step < 12; ++step) {
      const std::size_t about[] = {1, 4_KiB, 32_KiB, 64_KiB, 2_MiB, 5_MiB};
      const std::size_t bytes = (about[random() % std::size(about)] + random() % 9) & ~std::size_t{3};
      const std::size_t to = random() % (kBytes - bytes + 1) & ~std::size_t{3};
      const std::size_t from = random() % (kBytes - bytes + 1);
      const auto here = model.begin() + static_cast<std::ptrdiff_t>(to);
      switch (random() % 5) {
        case 0:
        case 1:
          ASSERT_TRUE(backing_.write(at(start + to), data.data() + from, bytes));
          std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(from), bytes, here);
          break;
        case 2:
          ASSERT_TRUE(backing_.fill(at(start + to), 7, bytes));
          std::fill_n(here, bytes, static_cast<unsigned char>(7));
          break;
        case 3:
          ASSERT_TRUE(backing_.fill32(at(start + to), 0x04030201, bytes / 4));
          for (std::size_t i = 0; i < bytes; ++i) model[to + i] = static_cast<unsigned char>(i % 4 + 1);
          break;
        default:
          ASSERT_TRUE(backing_.copy(at(other + to), at(start + from), bytes));
          std::copy_n(model.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                      here + static_cast<std::ptrdiff_t>(kBytes));
          break;
      }
    }
    EXPECT_EQ(read(start, 2 * kBytes), model) << "round " << round;
    ASSERT_TRUE(backing_.fill(at(other), 1, 2_MiB));  // more than is kept, so that the next round is fresh
    backing_.on_free(at(start), 2 * kBytes, false);
  }
}

// Two may come to the same granule at once, each with bytes of its own.
TEST_F(BackingStoreTest, NeighboursInFreshMemoryAtTheSameTime_DoNotOverwriteEachOther) {
  constexpr std::size_t kHalf = 3_MiB + 1234;
  const std::uintptr_t start = carve(HeapClass::Normal, 8_MiB);
  for (int round = 0; round < belay_test::slice(10, 300); ++round) {
    const std::vector<unsigned char> ones(kHalf, 1), twos(kHalf, 2);
    std::thread other{[&] { EXPECT_TRUE(backing_.write(at(start + kHalf), twos.data(), kHalf)); }};
    EXPECT_TRUE(backing_.write(at(start), ones.data(), kHalf));
    other.join();
    std::vector<unsigned char> expected = ones;
    expected.insert(expected.end(), twos.begin(), twos.end());
    expected.resize(8_MiB, kFreshByte);
    ASSERT_EQ(read(start, 8_MiB), expected) << "round " << round;
    backing_.on_free(at(start), 8_MiB, false);
  }
}

}  // namespace backing_store_test
}  // namespace belay
