// What a page tells of a trace: causes of waste, curves of few points, the blocks that matter most, tasks
// that are put together. viewer/test compares whole pages with their traces.
#include <gtest/gtest.h>

#include <random>

#include "story/curve.h"
#include "story/lanes.h"
#include "story/lives.h"
#include "story/waste.h"
#include "support/slices.h"

namespace belay {
namespace story_test {

using belay_test::test_random;
using story::Course;
using story::Curve;
using story::Lane;
using story::Life;
using story::Lives;
using story::Point;
using story::Task;
using story::Waste;
using story::Work;

const ProductRow& kA2 = row_of(Product::A2);

TEST(StoryWaste, M34_M79_CausesOfTheDocumentedExamples) {
  // 1000 bytes through aclrtMalloc: to 1024, 32 of padding, to a page of 4 KB.
  const Waste small = story::waste_of(1000, 4096, Page::Normal, Api::Malloc, &kA2);
  EXPECT_EQ(small, (Waste{24, 32, 3040, 0, 0}));
  // 3,000,000 bytes in pages of 2 MB: 4 MB.
  const Waste large = story::waste_of(3000000, 4_MiB, Page::Huge2M, Api::Malloc, &kA2);
  EXPECT_EQ(large.rounding + large.padding, 32U);
  EXPECT_EQ(large.page_ends, 4096 - 3000032 % 4096);
  EXPECT_EQ(large.all(), 4_MiB - 3000000);
  EXPECT_EQ(large.spilled, 0U);
}

TEST(StoryWaste, M34_PaddingThatNeedsAPageOfItsOwn) {
  EXPECT_EQ(story::waste_of(2_MiB, 4_MiB, Page::Huge2M, Api::Malloc, &kA2).spilled, 2_MiB);
  EXPECT_EQ(story::waste_of(2_MiB - 32, 2_MiB, Page::Huge2M, Api::Malloc, &kA2).spilled, 0U);
  EXPECT_EQ(story::waste_of(2_MiB, 2_MiB, Page::Huge2M, Api::MallocAlign32, &kA2).spilled, 0U);
  EXPECT_EQ(story::waste_of(4096, 8192, Page::Normal, Api::Malloc, &kA2).spilled, 4096U);
}

TEST(StoryWaste, CausesAddUpWhateverTheFiguresAre) {
  auto random = test_random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t asked = random() >> random() % 64, charged = random() >> random() % 64;
    const auto page = static_cast<Page>(random() % 3);
    const auto api = random() % 2 == 0 ? Api::Malloc : Api::MallocAlign32;
    const Waste waste = story::waste_of(asked, charged, page, api, random() % 4 == 0 ? nullptr : &kA2);
    EXPECT_EQ(waste.all(), charged > asked ? charged - asked : 0);
    EXPECT_LE(waste.spilled, charged);
  }
}

Point point(std::uint64_t change, std::uint64_t bytes) { return {change * 10, change, {bytes, 0, 0}}; }

TEST(StoryCurve, FewChangesAreAllThere) {
  Curve curve{Course{1000, 100}, 100};
  for (std::uint64_t i = 0; i < 100; ++i) curve.add(point(i, i * 7 % 13));
  const std::vector<Point> points = curve.finish();
  ASSERT_EQ(points.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(points[i].bytes[0], i * 7 % 13);
}

TEST(StoryCurve, ManyChangesKeepTheHighestTheLowestAndTheLast) {
  auto random = test_random(2);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t changes = 1000 + random() % 5000, parts = 50 + random() % 100;
    Curve curve{Course{changes * 10, changes}, parts};
    std::uint64_t most = 0, least = UINT64_MAX, last = 0, first_most = 0;
    for (std::uint64_t i = 0; i < changes; ++i) {
      last = random() % 1000000;
      if (last > most) most = last, first_most = i;
      least = std::min(least, last);
      curve.add(point(i, last));
    }
    const std::vector<Point> points = curve.finish();
    EXPECT_LE(points.size(), 2 * parts + 2);
    EXPECT_EQ(curve.peak().bytes[0], most);
    EXPECT_EQ(curve.peak().change, first_most) << "the first time that so much was in use";
    const auto of = [](const Point& each) { return each.bytes[0]; };
    EXPECT_EQ(of(*std::ranges::max_element(points, {}, of)), most);
    EXPECT_EQ(of(*std::ranges::min_element(points, {}, of)), least);
    EXPECT_EQ(points.back().bytes[0], last);
    EXPECT_TRUE(std::ranges::is_sorted(points, {}, &Point::change));
  }
}

TEST(StoryCurve, ABurstAndALongCalmPartBothHavePoints) {
  // A million changes in a microsecond, then ten in a second each.
  const std::uint64_t duration = 10'000'000'000;
  Curve curve{Course{duration, 100010}, 200};
  std::uint64_t change = 0;
  for (; change < 100000; ++change) curve.add({change / 100, change, {change, 0, 0}});
  for (std::uint64_t i = 1; i <= 10; ++i, ++change) curve.add({i * 1'000'000'000, change, {i, 0, 0}});
  const std::vector<Point> points = curve.finish();
  const auto late = std::ranges::count_if(points, [](const Point& each) { return each.time > 1000; });
  EXPECT_EQ(late, 10);
  EXPECT_GE(points.size(), 100U);
}

Life life(std::uint64_t charged, std::uint64_t born, std::uint64_t died) {
  Life life;
  life.block.charged = charged;
  life.block.born = born;
  life.died = died;
  life.ended = true;
  return life;
}

TEST(StoryLives, AllAreKeptUpToTheBound) {
  Lives lives{1000, {}, 10};
  for (std::uint64_t i = 0; i < 10; ++i) lives.add(life(1, i, i + 1));
  EXPECT_TRUE(lives.all());
  EXPECT_EQ(lives.finish().size(), 10U);
  lives.add(life(1, 20, 21));
  EXPECT_FALSE(lives.all());
}

TEST(StoryLives, WhatWasHeldAtANamedMomentStays) {
  Lives lives{1000, {500}, 10};
  for (std::uint64_t i = 0; i < 5; ++i) lives.add(life(4096, 400 + i, 600));
  for (std::uint64_t i = 0; i < 1000; ++i) lives.add(life(8192, i % 400, i % 400 + 10));
  const std::vector<Life> kept = lives.finish();
  EXPECT_EQ(kept.size(), 10U);
  EXPECT_EQ(std::ranges::count_if(kept, [](const Life& each) { return each.died == 600; }), 5);
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, [](const Life& each) { return each.block.born; }));
}

TEST(StoryLanes, ManyTasksAreFewBarsWithTheSameSums) {
  auto random = test_random(3);
  Lane lane;
  std::uint64_t time = 0, bytes = 0, busy = 0;
  constexpr std::uint64_t kTasks = 100000, kDuration = 50'000'000;
  for (std::uint64_t i = 0; i < kTasks; ++i) {
    const std::uint64_t begin = time + random() % 300, end = begin + random() % 200, moved = random() % 1000;
    lane.add({i % 2 == 0 ? Work::ToDevice : Work::Fill, begin, end, moved}, kDuration);
    time = end;
    bytes += moved;
    busy += end - begin;
  }
  EXPECT_LE(lane.shown.size(), 6000U);
  EXPECT_EQ(lane.tasks, kTasks);
  EXPECT_EQ(lane.bytes, bytes);
  EXPECT_EQ(lane.busy, busy);
  std::uint64_t shown_tasks = 0, shown_bytes = 0;
  for (const Task& each : lane.shown) shown_tasks += each.count, shown_bytes += each.bytes;
  EXPECT_EQ(shown_tasks, kTasks);
  EXPECT_EQ(shown_bytes, bytes);
  EXPECT_EQ(lane.shown.back().end, time);
}

}  // namespace story_test
}  // namespace belay
