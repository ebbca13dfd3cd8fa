// Addresses that lead to physical memory: several to the same, in any order, while others copy.
#include "memory/mappings.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "machine/machine.h"
#include "memory/memory.h"
#include "memory/reader_guard.h"
#include "memory/transfer.h"
#include "product/product.h"
#include "support/slices.h"

namespace belay {
namespace mappings_test {

using belay_test::slice;

class MappingsTest : public ::testing::Test {
 protected:
  MappingsTest() {
    machine::Wish wish;
    wish.name = machine::kPrivateName;
    wish.limits = in_pages({.total = 1_GiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}});
    machine_ = std::move(*machine::Machine::join(wish));
    MemorySettings settings;
    settings.product = &products()[0];
    settings.visible = {0};
    settings.backing.pages = Pages::Small;
    memory_ = std::make_unique<Memory>(settings, *machine_);
  }
  ~MappingsTest() override { memory_->close(); }

  ExtentPtr extent(std::size_t bytes) {
    return memory_->physical().allocate(0, Page::Huge2M, bytes, false, kModuleApp);
  }
  std::uintptr_t mapped(const ExtentPtr& extent, std::size_t bytes, std::size_t offset = 0) {
    const std::uintptr_t start = memory_->mappings().reserve(bytes, 0);
    EXPECT_NE(start, 0U);
    EXPECT_TRUE(memory_->mappings().map(start, bytes, extent, offset, true));
    return start;
  }
  Status write(std::uintptr_t to, const std::vector<unsigned char>& bytes) {
    return Transfer{*memory_, 0}.copy(reinterpret_cast<void*>(to), bytes.data(), bytes.size());
  }
  std::vector<unsigned char> read(std::uintptr_t from, std::size_t bytes) {
    std::vector<unsigned char> got(bytes);
    EXPECT_TRUE(Transfer(*memory_, 0).copy(got.data(), reinterpret_cast<const void*>(from), bytes));
    return got;
  }
  std::size_t free_bytes() { return memory_->device(0).pool().free; }

  std::unique_ptr<machine::Machine> machine_;
  std::unique_ptr<Memory> memory_;
};

std::vector<unsigned char> pattern(std::size_t bytes, unsigned char first) {
  std::vector<unsigned char> made(bytes);
  std::iota(made.begin(), made.end(), first);
  return made;
}

TEST_F(MappingsTest, TwoRangesOfOneExtent_ShowTheSameBytes) {
  const ExtentPtr memory = extent(8_MiB);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(free_bytes(), 1_GiB - 8_MiB);
  const std::uintptr_t one = mapped(memory, 8_MiB);
  const std::uintptr_t two = mapped(memory, 4_MiB, 2_MiB);
  EXPECT_EQ(read(one, 100), std::vector<unsigned char>(100, kFreshByte));
  const std::vector<unsigned char> bytes = pattern(300000, 7);
  ASSERT_TRUE(write(one + 2_MiB + 1000, bytes));
  EXPECT_EQ(read(two + 1000, bytes.size()), bytes);
  const std::vector<unsigned char> others = pattern(5000, 99);
  ASSERT_TRUE(write(two + 3_MiB, others));
  EXPECT_EQ(read(one + 5_MiB, others.size()), others);
}

TEST_F(MappingsTest, AnExtentLivesAsLongAsSomebodyHoldsIt_AndItsPagesWithIt) {
  ExtentPtr memory = extent(4_MiB);
  const std::uintptr_t start = mapped(memory, 4_MiB);
  ASSERT_TRUE(write(start, pattern(100, 1)));
  memory.reset();
  EXPECT_EQ(free_bytes(), 1_GiB - 4_MiB) << "the mapping holds it";
  EXPECT_EQ(read(start, 100), pattern(100, 1));
  EXPECT_NE(memory_->mappings().unmap(start), nullptr);
  EXPECT_EQ(free_bytes(), 1_GiB);
  EXPECT_FALSE(memory_->find(start));
  EXPECT_FALSE(write(start, pattern(100, 1))) << "nothing is there any more";
  EXPECT_EQ(memory_->mappings().unmap(start), nullptr);
  const ExtentPtr again = extent(4_MiB);
  EXPECT_TRUE(memory_->mappings().map(start, 4_MiB, again, 0, true));
  EXPECT_EQ(read(start, 100), std::vector<unsigned char>(100, kFreshByte));
}

TEST_F(MappingsTest, CopiesGoOverSeveralMappings) {
  const ExtentPtr first = extent(2_MiB);
  const ExtentPtr second = extent(4_MiB);
  const std::uintptr_t start = memory_->mappings().reserve(6_MiB, 0);
  ASSERT_TRUE(memory_->mappings().map(start, 2_MiB, second, 2_MiB, true));
  ASSERT_TRUE(memory_->mappings().map(start + 2_MiB, 2_MiB, first, 0, true));
  ASSERT_TRUE(memory_->mappings().map(start + 4_MiB, 2_MiB, second, 0, true));
  const std::vector<unsigned char> bytes = pattern(6_MiB - 200, 3);
  ASSERT_TRUE(write(start + 100, bytes));
  EXPECT_EQ(read(start + 100, bytes.size()), bytes);
  // Onto itself, 1000 bytes further, as if through a temporary.
  Transfer transfer{*memory_, 0};
  ASSERT_TRUE(
      transfer.copy(reinterpret_cast<void*>(start + 1100), reinterpret_cast<void*>(start + 100), 5_MiB));
  std::vector<unsigned char> expected = bytes;
  std::copy(bytes.begin(), bytes.begin() + 5_MiB, expected.begin() + 1000);
  EXPECT_EQ(read(start + 100, expected.size()), expected);
  EXPECT_FALSE(write(start + 1, std::vector<unsigned char>(6_MiB))) << "one byte too many";
}

TEST_F(MappingsTest, WhatIsMappedOrNotReserved_CannotBeMapped_AndWishedAddressesAreKept) {
  const ExtentPtr memory = extent(4_MiB);
  Mappings& mappings = memory_->mappings();
  const std::uintptr_t start = mappings.reserve(4_MiB, 0);
  EXPECT_FALSE(mappings.map(start + 2_MiB, 4_MiB, memory, 0, true));
  EXPECT_TRUE(mappings.map(start + 2_MiB, 2_MiB, memory, 0, true));
  EXPECT_FALSE(mappings.map(start, 4_MiB, memory, 0, true));
  EXPECT_TRUE(mappings.map(start, 2_MiB, memory, 2_MiB, true));
  EXPECT_FALSE(mappings.release(start));
  EXPECT_NE(mappings.unmap(start), nullptr);
  EXPECT_NE(mappings.unmap(start + 2_MiB), nullptr);
  EXPECT_FALSE(mappings.release(start + 2_MiB));
  EXPECT_TRUE(mappings.release(start));
  EXPECT_FALSE(mappings.release(start));
  EXPECT_EQ(mappings.reserve(3_GiB, start + 5_GiB), start + 5_GiB);
  EXPECT_EQ(mappings.reserve(1_GiB, start + 7_GiB), 0U) << "taken";
  EXPECT_EQ(mappings.reserve(1_GiB, start + 8_GiB), start + 8_GiB);
}

// Threads copy where others unmap and map again: each copy sees one memory or the other, or is refused.
TEST_F(MappingsTest, CopiesRaceWithUnmapping) {
  constexpr std::size_t kBytes = 2_MiB;
  const std::array<ExtentPtr, 2> memories{extent(kBytes), extent(kBytes)};
  const std::uintptr_t start = memory_->mappings().reserve(kBytes, 0);
  for (unsigned char i = 0; i < 2; ++i) {
    ASSERT_TRUE(memory_->mappings().map(start, kBytes, memories[i], 0, true));
    ASSERT_TRUE(write(start, std::vector<unsigned char>(kBytes, static_cast<unsigned char>(i + 1))));
    ASSERT_NE(memory_->mappings().unmap(start), nullptr);
  }
  std::atomic<bool> over{false};
  std::atomic<int> seen{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::vector<unsigned char> got(kBytes);
      while (!over) {
        if (!Transfer(*memory_, 0).copy(got.data(), reinterpret_cast<const void*>(start), got.size()))
          continue;
        EXPECT_TRUE(got[0] == 1 || got[0] == 2);
        EXPECT_EQ(std::count(got.begin(), got.end(), got[0]), static_cast<std::ptrdiff_t>(kBytes));
        ++seen;
      }
    });
  }
  for (int round = 0; round < slice(2000, 50000, 8) || seen < 10; ++round) {
    ASSERT_TRUE(
        memory_->mappings().map(start, kBytes, memories[static_cast<std::size_t>(round) % 2], 0, true));
    if (round % 3 == 0) std::this_thread::yield();
    ASSERT_NE(memory_->mappings().unmap(start), nullptr);
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(ReaderGuard, NothingGoesWhileSomebodyIsInside) {
  struct Thing {
    explicit Thing(int n) : number{n}, copy{n} {}
    ~Thing() { number = -1; }
    int number, copy;
  };
  std::atomic<Thing*> shared{new Thing{0}};
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!over) {
        const ReaderGuard inside;
        const ReaderGuard again;  // as a copy in a copy
        const Thing* thing = shared.load(std::memory_order_acquire);
        EXPECT_EQ(thing->number, thing->copy);
      }
    });
  }
  for (int round = 1; round < slice(2000, 100000, 8); ++round) {
    Thing* before = shared.exchange(new Thing{round}, std::memory_order_acq_rel);
    ReaderGuard::wait_for_readers();
    delete before;
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
  delete shared.load();
}

}  // namespace mappings_test
}  // namespace belay
