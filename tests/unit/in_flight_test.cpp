// Which queued work counts as in flight (check/in_flight.h).
#include "check/in_flight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace in_flight_test {
namespace {

using belay::check::InFlight;
using Flight = InFlight<int>;

constexpr auto kAllDone = [](std::uint64_t) { return UINT64_MAX; };

struct InFlightTest : testing::Test {
  std::vector<int> covered(std::uint64_t stream, std::uint64_t position, std::uint64_t record = 0) {
    std::vector<int> list;
    flight.cover(stream, position, record, [&](int each) { list.push_back(each); });
    return list;
  }
  std::vector<int> left() {
    std::vector<int> list;
    flight.for_each([&](int each) { list.push_back(each); });
    std::ranges::sort(list);
    return list;
  }
  Flight flight;
};
using List = std::vector<int>;

TEST_F(InFlightTest, M270_AWaitCoversWhatIsBeforeIt_OneLessDoesNot) {
  flight.add(1, 3, 30);
  flight.add(1, 4, 40);
  flight.add(2, 1, 99);
  EXPECT_EQ(covered(1, 2), List{});
  EXPECT_EQ(covered(1, 3), List{30});
  EXPECT_EQ(covered(1, 3), List{});
  EXPECT_EQ(covered(1, 5), List{40});
  EXPECT_EQ(left(), List{99});
  EXPECT_EQ(flight.size(), 1U);
}

TEST_F(InFlightTest, M270_ARecordStandsForWhatItsStreamHadDone) {
  flight.add(1, 1, 10);
  flight.recorded(1, 2, 7);
  flight.add(1, 3, 30);
  EXPECT_EQ(covered(1, 2, 7), List{10});
  EXPECT_EQ(left(), List{30});
}

TEST_F(InFlightTest, M270_AStreamThatWaitedForARecordCarriesIt) {
  flight.add(1, 1, 10);
  flight.recorded(1, 2, 7);
  flight.joined(2, 7, kAllDone);
  flight.recorded(2, 2, 8);
  flight.joined(3, 8, kAllDone);
  flight.add(3, 2, 33);
  flight.add(1, 3, 30);
  EXPECT_EQ(covered(3, 2), (List{10, 33}));
  EXPECT_EQ(left(), List{30});
}

TEST_F(InFlightTest, M270_WhatWasRecordedBeforeTheWorkCoversNothing) {
  flight.recorded(1, 1, 7);
  flight.add(1, 2, 20);
  flight.joined(2, 7, kAllDone);
  EXPECT_EQ(covered(2, 9), List{});
  EXPECT_EQ(covered(1, 1, 7), List{});
  EXPECT_EQ(left(), List{20});
}

TEST_F(InFlightTest, M270_ANotifyStandsForAllWhoSetIt) {
  flight.add(1, 1, 10);
  flight.add(2, 1, 20);
  flight.set(1, 2, 500);
  flight.set(2, 2, 500);
  flight.awaited(3, 500);
  flight.awaited(4, 501);
  EXPECT_EQ(covered(4, 1), List{});
  List both = covered(3, 1);
  std::ranges::sort(both);
  EXPECT_EQ(both, (List{10, 20}));
}

TEST_F(InFlightTest, M270_AWordMayHaveBeenWrittenByAnybodyWhoIsDone) {
  flight.add(1, 1, 10);
  flight.add(1, 2, 11);
  flight.add(2, 1, 20);
  flight.add(4, 1, 40);
  flight.joined_all(3, [](std::uint64_t stream) { return stream == 1 ? 1 : stream == 2 ? UINT64_MAX : 0; });
  flight.add(1, 3, 12);
  List done = covered(3, 1);
  std::ranges::sort(done);
  EXPECT_EQ(done, (List{10, 20}));
  List rest = left();
  std::ranges::sort(rest);
  EXPECT_EQ(rest, (List{11, 12, 40}));
}

TEST_F(InFlightTest, DroppedWorkIsGone_TheRestStays) {
  flight.add(1, 1, 10);
  flight.add(1, 2, 20);
  flight.add(1, 2, 21);
  flight.add(1, 3, 30);
  List dropped;
  flight.drop(1, 2, [&](int each) { dropped.push_back(each); });
  EXPECT_EQ(dropped, (List{20, 21}));
  EXPECT_EQ(left(), (List{10, 30}));
  EXPECT_EQ(covered(1, 3), (List{10, 30}));
  EXPECT_EQ(flight.size(), 0U);
}

TEST_F(InFlightTest, AStreamThatEndsHasNothingInFlight) {
  flight.add(1, 1, 10);
  flight.recorded(1, 2, 7);
  List ended;
  flight.ended(1, [&](int each) { ended.push_back(each); });
  EXPECT_EQ(ended, List{10});
  flight.add(1, 1, 11);  // the number comes back with another stream
  EXPECT_EQ(covered(1, 1), List{11});
}

TEST(InFlightLimits, OfTooMuchTheOldestOfTheStreamIsForgotten) {
  Flight flight{3, 4};
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(flight.add(1, static_cast<std::uint64_t>(i), i));
  EXPECT_EQ(flight.add(1, 4, 4), 1);
  EXPECT_EQ(flight.add(2, 1, 9), 9);  // nothing older there
  EXPECT_EQ(flight.size(), 3U);
}

// Notifies come and go while something is always in flight.
TEST(InFlightLimits, NotifiesThatStandForNothingAreForgotten) {
  Flight flight;
  std::uint64_t position = 0;
  for (std::uint64_t notify = 1; notify <= 10'000; ++notify) {
    flight.add(1, ++position, 10);
    flight.set(1, ++position, notify);
    flight.add(1, ++position, 20);
    flight.cover(1, position - 1, 0, [](int) {});
  }
  EXPECT_EQ(flight.size(), 1U);
  EXPECT_LT(flight.objects(), 200U);

  flight.set(1, ++position, 1);
  flight.awaited(2, 1);
  std::vector<int> covered;
  flight.cover(2, 1, 0, [&](int each) { covered.push_back(each); });
  EXPECT_EQ(covered, List{20});
}

TEST(InFlightLimits, AWaitForARecordThatIsForgottenCoversAll) {
  Flight flight{100, 4};
  flight.add(1, 1, 10);
  flight.recorded(1, 2, 3);
  flight.recorded(1, 3, 7);  // in the place of record 3
  flight.add(2, 1, 20);
  flight.joined(5, 3, kAllDone);
  List covered;
  flight.cover(5, 1, 0, [&](int each) { covered.push_back(each); });
  std::ranges::sort(covered);
  EXPECT_EQ(covered, (List{10, 20}));
}

// Sets instead of positions: of each stream, record and wait what comes before it.
TEST(InFlightModel, M270_RandomStreamsAndEvents) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  for (int round = 0; round < 200; ++round) {
    Flight flight;
    constexpr std::uint64_t kStreams = 4;
    std::map<std::uint64_t, std::uint64_t> position;
    std::map<std::uint64_t, std::set<int>> done_before, record_has;
    std::set<int> in_flight;
    std::uint64_t records = 0;
    int next = 0;
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t stream = 1 + random() % kStreams;
      switch (random() % 5) {
        case 0:
        case 1:
          flight.add(stream, ++position[stream], next);
          done_before[stream].insert(next);
          in_flight.insert(next++);
          break;
        case 2:
          flight.recorded(stream, ++position[stream], ++records);
          record_has[records] = done_before[stream];
          break;
        case 3:
          if (records == 0) break;
          {
            const std::uint64_t record = 1 + random() % records;
            ++position[stream];
            flight.joined(stream, record, kAllDone);
            done_before[stream].insert(record_has[record].begin(), record_has[record].end());
          }
          break;
        default: {
          std::set<int> wanted, got;
          for (const int each : done_before[stream]) {
            if (in_flight.erase(each) != 0) wanted.insert(each);
          }
          flight.cover(stream, position[stream], 0, [&](int each) { EXPECT_TRUE(got.insert(each).second); });
          ASSERT_EQ(got, wanted) << "round " << round << ", step " << step;
        }
      }
      ASSERT_EQ(flight.size(), in_flight.size());
    }
  }
}

}  // namespace
}  // namespace in_flight_test
