// Plans for cutting a block into segments, against the rule (M-45, M-46, M-420).
#include "memory/segments.h"

#include <gtest/gtest.h>

#include <vector>

namespace segments_test {

using namespace belay;
using Why = BadSegment::Why;

constexpr CarvingRule kDevice{32, 32, 64}, kNewer{32, 0, 64}, kMedia{32, 32, 128}, kHost{1, 0, 1};
constexpr std::uintptr_t kBase = 0x12c000000000;

TEST(Segments, M420_TheTableOfSizes) {
  constexpr std::size_t kTable[][2] = {{1, 64},    {31, 64},   {32, 64},     {33, 96},
                                       {64, 96},   {65, 128},  {96, 128},    {97, 160},
                                       {100, 160}, {128, 160}, {1000, 1056}, {4096, 4128}};
  for (const auto& [bytes, taken] : kTable) {
    EXPECT_EQ(kDevice.taken_by(bytes), taken);
    EXPECT_EQ(kNewer.taken_by(bytes), taken - 32);
  }
  EXPECT_FALSE(kDevice.taken_by(SIZE_MAX));
  EXPECT_FALSE(kDevice.taken_by(SIZE_MAX - 62));
  EXPECT_EQ(kDevice.taken_by(SIZE_MAX - 63), SIZE_MAX - 31);
}

TEST(Segments, M45_StepsOfTheRule_AreGood_AndOneLessIsNot) {
  for (const CarvingRule& rule : {kDevice, kNewer, kMedia, kHost}) {
    for (const std::size_t bytes : {1UL, 31UL, 32UL, 33UL, 64UL, 65UL, 97UL, 100UL, 1000UL, 4096UL}) {
      const std::size_t taken = *rule.taken_by(bytes);
      const std::size_t step = (taken + rule.unit - 1) / rule.unit * rule.unit;
      const std::vector<PlannedSegment> plan{{0, bytes}, {step, bytes}};
      const std::size_t room = step + taken;
      EXPECT_FALSE(find_bad_segment(plan, kBase, room, rule));
      const auto beyond = find_bad_segment(plan, kBase, room - 1, rule);
      ASSERT_TRUE(beyond);
      EXPECT_EQ(beyond->why, Why::BeyondEnd);
      EXPECT_EQ(beyond->number, 1U);
      if (step < rule.unit * 2 && rule.unit > 1) continue;
      const auto close = find_bad_segment(std::vector<PlannedSegment>{{0, bytes}, {step - rule.unit, bytes}},
                                          kBase, room, rule);
      ASSERT_TRUE(close);
      EXPECT_EQ(close->why, Why::TooClose);
      EXPECT_EQ(close->number, 0U);
      EXPECT_EQ(close->next, 1U);
      EXPECT_EQ(close->taken, taken);
    }
  }
}

TEST(Segments, M45_StartsAreMultiples_OfTheAddressNotOfTheOffset) {
  const auto odd = find_bad_segment(std::vector<PlannedSegment>{{32, 10}}, kBase, 4096, kDevice);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->why, Why::Misaligned);
  EXPECT_FALSE(find_bad_segment(std::vector<PlannedSegment>{{32, 10}}, kBase + 32, 4096, kDevice));
  EXPECT_TRUE(find_bad_segment(std::vector<PlannedSegment>{{64, 10}}, kBase, 4096, kMedia));
  EXPECT_FALSE(find_bad_segment(std::vector<PlannedSegment>{{128, 10}}, kBase, 4096, kMedia));
}

TEST(Segments, M45_TheOrderOfThePlanDoesNotMatter_AndTheFirstByNumberIsTold) {
  const std::vector<PlannedSegment> good{{2048, 100}, {0, 1000}, {1088, 64}};
  EXPECT_FALSE(find_bad_segment(good, kBase, 4096, kDevice));
  const auto same =
      find_bad_segment(std::vector<PlannedSegment>{{2048, 100}, {0, 1}, {0, 1}}, kBase, 4096, kDevice);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->number, 1U);
  EXPECT_EQ(same->next, 2U);
  const auto two = find_bad_segment(std::vector<PlannedSegment>{{4000, 1000}, {1, 1}}, kBase, 4096, kDevice);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->number, 0U);
  EXPECT_EQ(two->why, Why::BeyondEnd);
  EXPECT_FALSE(find_bad_segment({}, kBase, 0, kDevice));
  const auto huge = find_bad_segment(std::vector<PlannedSegment>{{SIZE_MAX, 1}}, kBase, 4096, kDevice);
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->why, Why::BeyondEnd);
}

}  // namespace segments_test
