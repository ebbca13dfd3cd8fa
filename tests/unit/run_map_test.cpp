#include "memory/run_map.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/properties.h"

namespace belay {
namespace run_map_test {

TEST(RunMap, GivesBackWhatItWasGiven_BestFitFirst) {
  RunMap runs;
  runs.give(0, 10);
  runs.give(20, 4);
  EXPECT_EQ(runs.take(4), 20U) << "the run that fits best";
  EXPECT_EQ(runs.take(4), 0U);
  EXPECT_EQ(runs.take(7), std::nullopt);
  EXPECT_EQ(runs.take(6), 4U);
  EXPECT_EQ(runs.take(1), std::nullopt);
}

TEST(RunMap, JoinsNeighboursOnBothSides) {
  RunMap runs;
  runs.give(0, 4);
  runs.give(8, 4);
  EXPECT_EQ(runs.take(12), std::nullopt);
  runs.give(4, 4);
  EXPECT_EQ(runs.take(12), 0U);
}

TEST(RunMap, NeverJoinsAcrossABorder) {
  RunMap runs{16};
  runs.give(8, 8);
  runs.give(16, 8);
  EXPECT_EQ(runs.take(16), std::nullopt);
  EXPECT_EQ(runs.take(8), 8U);
  EXPECT_EQ(runs.take(8), 16U);
}

// What is out never overlaps, and everything comes back as one run.
TEST(RunMap, RandomTakesAndGives_KeepEveryPlaceOnce) {
  EXPECT_TRUE(belay_test::holds("every place is kept once", 100, 10000, [](std::vector<std::uint8_t> steps) {
    constexpr std::size_t kPlaces = 256;
    RunMap runs;
    runs.give(0, kPlaces);
    std::vector<std::pair<std::uintptr_t, std::size_t>> out;
    std::vector<bool> taken(kPlaces, false);
    for (const std::uint8_t step : steps) {
      if (step % 3 != 0 || out.empty()) {
        const std::size_t length = step % 17U + 1U;
        if (const auto start = runs.take(length)) {
          for (std::size_t i = 0; i < length; ++i) {
            RC_ASSERT(*start + i < kPlaces);
            RC_ASSERT(!taken[*start + i]);
            taken[*start + i] = true;
          }
          out.emplace_back(*start, length);
        }
      } else {
        const auto [start, length] = out[step % out.size()];
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(step % out.size()));
        for (std::size_t i = 0; i < length; ++i) taken[start + i] = false;
        runs.give(start, length);
      }
    }
    for (const auto& [start, length] : out) runs.give(start, length);
    RC_ASSERT(runs.take(kPlaces) == std::optional<std::uintptr_t>{0});
  }));
}

}  // namespace run_map_test
}  // namespace belay
