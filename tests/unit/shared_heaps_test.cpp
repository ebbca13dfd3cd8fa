// Addresses of small reservations: aligned, apart from each other, used again.
#include "memory/shared_heaps.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <vector>

#include "support/slices.h"

namespace belay {
namespace shared_heaps_test {

constexpr std::uintptr_t kFirst = 20_TiB;

TEST(SharedHeaps, V77_EveryLengthStartsAtAMultipleOfTheNextPowerOfTwo) {
  for (std::size_t units = 1; units <= 256; ++units) {
    SharedHeaps heaps;
    heaps.add(kFirst);
    ASSERT_TRUE(heaps.take_at(kFirst, 2_MiB));  // so that not everything starts at the start
    const std::optional<std::uintptr_t> start = heaps.take(units * 2_MiB);
    ASSERT_TRUE(start) << units;
    EXPECT_EQ(*start % (std::bit_ceil(units) * 2_MiB), 0U) << units;
    EXPECT_LE(*start + units * 2_MiB, kFirst + 1_GiB);
    EXPECT_FALSE(heaps.take_at(*start + (units - 1) * 2_MiB, 2_MiB)) << units;
    if (units % 2 != 0 && units > 1) {
      EXPECT_TRUE(heaps.take_at(*start + units * 2_MiB, 2_MiB)) << "what is behind it is free";
    }
  }
}

TEST(SharedHeaps, D89_AHeapHoldsAsMuchAsItHas_AndAnEmptyOneGoes) {
  SharedHeaps heaps;
  EXPECT_FALSE(heaps.take(2_MiB));
  EXPECT_FALSE(heaps.take_at(kFirst, 2_MiB));
  heaps.add(kFirst);
  EXPECT_TRUE(heaps.has(kFirst + 1_GiB - 1));
  EXPECT_FALSE(heaps.has(kFirst + 1_GiB));
  for (std::size_t i = 0; i < 512; ++i) EXPECT_EQ(heaps.take(2_MiB), kFirst + i * 2_MiB) << "lowest first";
  EXPECT_FALSE(heaps.take(2_MiB));
  EXPECT_FALSE(heaps.drop_empty(0));
  heaps.give(kFirst + 6_MiB, 2_MiB);
  EXPECT_FALSE(heaps.take(4_MiB));
  EXPECT_EQ(heaps.take(2_MiB), kFirst + 6_MiB);
  for (std::size_t i = 0; i < 512; ++i) heaps.give(kFirst + i * 2_MiB, 2_MiB);
  EXPECT_FALSE(heaps.drop_empty(1)) << "one stays";
  EXPECT_EQ(heaps.drop_empty(0), kFirst);
  EXPECT_FALSE(heaps.has(kFirst));
}

TEST(SharedHeaps, NothingIsGivenOutTwice_AndEverythingComesBack) {
  SharedHeaps heaps;
  for (std::size_t i = 0; i < 4; ++i) heaps.add(kFirst + i * 1_GiB);
  std::mt19937 random = belay_test::test_random();
  std::map<std::uintptr_t, std::size_t> taken;
  std::size_t sum = 0;
  for (int step = 0; step < belay_test::slice(20000, 1000000); ++step) {
    if (random() % 3 != 0) {
      const std::size_t bytes = (1 + random() % (random() % 4 == 0 ? 256 : 8)) * 2_MiB;
      const std::optional<std::uintptr_t> start = heaps.take(bytes);
      if (!start) {
        ASSERT_GT(sum + bytes, 256_MiB) << "so little cannot have cut up four heaps";
        continue;
      }
      const auto next = taken.lower_bound(*start);
      ASSERT_TRUE(next == taken.end() || *start + bytes <= next->first);
      ASSERT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= *start);
      taken.emplace(*start, bytes);
      sum += bytes;
    } else if (!taken.empty()) {
      auto some = taken.lower_bound(kFirst + random() % 4_GiB);
      if (some == taken.end()) some = taken.begin();
      heaps.give(some->first, some->second);
      sum -= some->second;
      taken.erase(some);
    }
  }
  for (const auto& [start, bytes] : taken) heaps.give(start, bytes);
  for (std::size_t left = 4; left > 0; --left) EXPECT_TRUE(heaps.drop_empty(0)) << left;
}

}  // namespace shared_heaps_test
}  // namespace belay
