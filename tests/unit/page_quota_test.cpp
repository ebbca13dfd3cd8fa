#include "machine/page_quota.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "support/instructions.h"
#include "support/sanitizer.h"
#include "support/shared_state.h"
#include "support/slices.h"

namespace belay::machine {
namespace page_quota_test {

using namespace belay_test;

constexpr std::size_t kNormal = kind_of(0, false), kHuge = kind_of(1, false), kGiant = kind_of(2, false),
                      kNormalP2p = kind_of(0, true), kHugeP2p = kind_of(1, true);

std::uint64_t all(const Use& use) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : use) sum += each;
  return sum;
}

TEST(PageQuota, M430_TakesAllOrNothing_AndGivesBackExactly) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  PageQuota& quota = here.quotas[0];
  EXPECT_TRUE(quota.take(kNormal, 60));
  EXPECT_FALSE(quota.take(kHuge, 41));
  EXPECT_EQ(all(quota.used()), 60U);
  EXPECT_TRUE(quota.take(kHuge, 40));
  EXPECT_FALSE(quota.take(kNormal, 1));
  EXPECT_FALSE(quota.take(kGiant, 1));
  EXPECT_EQ(quota.used()[kNormal], 60U);
  EXPECT_EQ(quota.used()[kHuge], 40U);
  quota.give(kNormal, 60);
  EXPECT_EQ(all(quota.used()), 40U);
  EXPECT_TRUE(quota.take(kGiant, 60)) << "what was freed serves any kind";
  EXPECT_FALSE(quota.take(kNormal, 1));
}

TEST(PageQuota, M430_EachPageOfTheLimitCanBeHad_OneByOne) {
  SharedState shared{no_limits(1000)};
  Here here{shared};
  PageQuota& quota = here.quotas[0];
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(quota.take(i % kKinds, 1)) << i;
  for (std::size_t kind = 0; kind < kKinds; ++kind) EXPECT_FALSE(quota.take(kind, 1));
  EXPECT_EQ(all(quota.used()), 1000U);
}

TEST(PageQuota, M423_M430_EveryLimitCounts_AndTheOthersGoOn) {
  Limits limits = no_limits(100);
  limits.of_page = {50, 30, 0};
  limits.p2p = 20;
  SharedState shared{limits};
  Here here{shared};
  PageQuota& quota = here.quotas[0];
  EXPECT_FALSE(quota.take(kGiant, 1));
  EXPECT_FALSE(quota.take(kHuge, 31));
  EXPECT_TRUE(quota.take(kHuge, 25));
  EXPECT_FALSE(quota.take(kHugeP2p, 6)) << "P2P pages are pages of their size";
  EXPECT_TRUE(quota.take(kHugeP2p, 5));
  EXPECT_FALSE(quota.take(kNormalP2p, 16));
  EXPECT_TRUE(quota.take(kNormalP2p, 15));
  EXPECT_FALSE(quota.take(kNormalP2p, 1));
  EXPECT_TRUE(quota.take(kNormal, 35));
  EXPECT_FALSE(quota.take(kNormal, 1));
  quota.give(kNormalP2p, 1);
  EXPECT_TRUE(quota.take(kNormal, 1)) << "credit of the other half of the kind";
  EXPECT_FALSE(quota.take(kNormalP2p, 1));
  EXPECT_EQ(all(quota.used()), 80U);
}

TEST(PageQuota, M430_WhatCanNeverFitIsRefused_HoweverLarge) {
  SharedState shared{no_limits(Account::kField)};
  Here here{shared};
  PageQuota& quota = here.quotas[0];
  for (const std::uint64_t pages :
       {Account::kField + 1, Account::kField + 2, std::uint64_t{1} << 32U, std::uint64_t{1} << 52U}) {
    EXPECT_FALSE(quota.take(kNormal, pages)) << pages;
  }
  EXPECT_TRUE(quota.take(kNormal, Account::kField));
  EXPECT_FALSE(quota.take(kNormal, Account::kField));
  EXPECT_FALSE(quota.take(kNormal, 1));
  quota.give(kNormal, Account::kField);
  EXPECT_EQ(all(quota.used()), 0U);
}

TEST(PageQuota, D52_DevicesHaveLedgersOfTheirOwn) {
  SharedState shared{no_limits(10), 3};
  Here here{shared};
  EXPECT_TRUE(here.quotas[0].take(kNormal, 10));
  EXPECT_FALSE(here.quotas[0].take(kNormal, 1));
  EXPECT_TRUE(here.quotas[2].take(kNormal, 10));
  EXPECT_EQ(all(here.quotas[1].used()), 0U);
}

// --- credit ---------------------------------------------------------------------------------------------

TEST(PageQuota, D52_IdleCreditOfStoppedProcesses_IsHadToThePage) {
  SharedState shared{no_limits(5000)};
  Here here{shared};
  std::vector<std::unique_ptr<Child>> sleepers;
  for (int i = 0; i < 3; ++i) {
    sleepers.push_back(std::make_unique<Child>([&] {
      There& there = *new There{shared.link()};
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        if (!there.quotas[0].take(kind, 200)) return 1;
      }
      for (std::size_t kind = 0; kind < kKinds; ++kind) there.quotas[0].give(kind, 190);
      return 0;
    }));
    ASSERT_EQ(sleepers.back()->answer(), 0);
    ::kill(sleepers.back()->process(), SIGSTOP);
  }
  EXPECT_EQ(all(here.quotas[0].used()), 180U);
  std::uint64_t taken = 0;
  while (here.quotas[0].take(taken % kKinds, 1)) ++taken;
  EXPECT_EQ(taken, 5000U - 180U);
  EXPECT_EQ(all(here.quotas[0].used()), 5000U);
}

// A limit on a kind is short, and the credit that helps stands in another account than the first.
TEST(PageQuota, M430_CreditOfTheKindThatIsShort_IsFoundWhereverItStands) {
  Limits limits = no_limits(1000);
  limits.of_page[1] = 100;
  limits.p2p = 100;
  SharedState shared{limits};
  Here here{shared};
  Child other{[&] {
    There& there = *new There{shared.link()};
    for (const std::size_t kind : {kNormal, kNormalP2p, kHuge}) {
      if (!there.quotas[0].take(kind, 90)) return 1;
      there.quotas[0].give(kind, 90);
    }
    return 0;
  }};
  ASSERT_EQ(other.answer(), 0);
  EXPECT_TRUE(here.quotas[0].take(kHuge, 100));
  EXPECT_FALSE(here.quotas[0].take(kHugeP2p, 1));
  EXPECT_TRUE(here.quotas[0].take(kNormalP2p, 100));
  EXPECT_EQ(all(here.quotas[0].used()), 200U);
}

// --- grants under way -----------------------------------------------------------------------------------

// A live process was stopped after it had asked and before it was served.
TEST(PageQuota, D52_AGrantUnderWayIsCompletedByWhoeverComes_AndOnlyOnce) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  Child sleeper{[&] { return static_cast<int>((new There{shared.link()})->processes.mine()); }};
  const auto row = static_cast<std::size_t>(sleeper.answer());
  Device& device = shared.state().devices[0];
  ASSERT_TRUE(device.pending.exchange({}, {Pending::make(AccountIndex{row, 0, kHuge}.number(), 70), 1}));

  EXPECT_FALSE(here.quotas[0].take(kNormal, 40)) << "the one before us has 70 of 100";
  EXPECT_EQ(used_by(shared.state(), 0, row)[kHuge], 70U);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(here.quotas[0].take(kNormal, 31));
  EXPECT_EQ(used_by(shared.state(), 0, row)[kHuge], 70U);
  EXPECT_TRUE(here.quotas[0].take(kNormal, 30));
  EXPECT_EQ(all(here.quotas[0].used()), 100U);
  sleeper.kill();
  EXPECT_EQ(all(here.quotas[0].used()), 30U);
}

TEST(PageQuota, D66_AGrantUnderWayOfADeadProcess_IsNobodys) {
  for (const bool asked_for_more_first : {false, true}) {
    SharedState shared{no_limits(100)};
    Here here{shared};
    Child dead{[&] {
      There& there = *new There{shared.link()};
      return there.quotas[0].take(kNormal, 5) ? static_cast<int>(there.processes.mine()) : -1;
    }};
    const auto row = static_cast<std::size_t>(dead.answer());
    Device& device = shared.state().devices[0];
    const NumberedWord::Value before = device.pending.load();
    ASSERT_TRUE(device.pending.exchange(
        before, {Pending::make(AccountIndex{row, 0, kHuge}.number(), 70), before.number + 1}));
    dead.kill();
    if (asked_for_more_first) {
      EXPECT_TRUE(here.quotas[0].take(kNormal, 100));
      here.quotas[0].give(kNormal, 100);
    }
    EXPECT_EQ(all(here.quotas[0].used()), 0U);
    EXPECT_TRUE(here.quotas[0].take(kHuge, 100));
    EXPECT_EQ(all(here.quotas[0].used()), 100U);
    EXPECT_EQ(all(used_by(shared.state(), 0, row)), 0U);
  }
}

// --- a long sleep ---------------------------------------------------------------------------------------

// A process that was stopped at any instruction, while others were granted so many things that numbers of a
// few bits would have come round.
class LongSleep : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kTotal = 160, kWanted = 100;

  // What a child asks for stands still at that instruction while `meanwhile` runs; then it ends.
  struct Slept {
    bool got = false;
    std::uint64_t instructions = 0;
  };
  static Slept sleep_at(SharedState& shared, std::uint64_t instruction,
                        const std::function<void()>& meanwhile) {
    const Common<Counted> counted;
    Child sleeper{[&] {
      There& there = *new There{shared.link()};
      *counted = count_instructions(instruction, SIGSTOP,
                                    [&] { return there.quotas[0].take(kNormal, kWanted) ? 1 : 0; });
      return 0;
    }};
    siginfo_t about{};
    if (instruction != kNever) {
      EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(sleeper.process()), &about, WSTOPPED), 0);
      meanwhile();
      ::kill(sleeper.process(), SIGCONT);
    }
    EXPECT_EQ(sleeper.answer(), 0);
    EXPECT_LE(used_by_all(shared), kTotal);
    return {counted->code != 0, counted->instructions};
  }
  static std::uint64_t used_by_all(SharedState& shared) {
    std::uint64_t sum = 0;
    for (std::size_t row = 0; row < rows_of(shared.state()); ++row)
      sum += all(used_by(shared.state(), 0, row));
    return sum;
  }
};

// Somebody takes what the sleeper has seen to be free. Then processes come, are granted a page each and go,
// as often as it took for the word of a grant under way to come round when its number had 7 bits.
TEST_F(LongSleep, D52_M430_WhoSleptAfterItsLook_IsGrantedNothingThatAnotherHas) {
  if (!kCountsInstructions) GTEST_SKIP() << "this build does not count instructions";
  std::uint64_t length = 0;
  const std::uint64_t visits = slice<std::uint64_t>(24, 1200, 4);
  for (std::uint64_t visit = 0; visit <= visits && !HasFailure(); ++visit) {
    SharedState shared{no_limits(kTotal)};
    const Child witness{[&] { return (new There{shared.link()})->claimed ? 0 : 1; }};
    ASSERT_EQ(witness.answer(), 0);
    // Each takes the row of the one before, which is gone; the last one takes nothing.
    const auto come_and_go = [&](int times) {
      for (int i = 0; i < times; ++i) {
        Here passing{shared};
        ASSERT_TRUE(passing.quotas[0].take(kNormal, 1));
      }
      const Here last{shared};
    };
    come_and_go(2);
    if (visit == 0) {
      length = sleep_at(shared, kNever, [] {}).instructions;
      ASSERT_GT(length, 100U);
      continue;
    }
    const std::uint64_t at = length * (visit - 1) / visits + test_seed() % (length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(at) + " of " + std::to_string(length) + " instructions");
    std::unique_ptr<Child> other;
    const Slept slept = sleep_at(shared, at, [&] {
      other = std::make_unique<Child>(
          [&] { return (new There{shared.link()})->quotas[0].take(kHuge, kWanted) ? 1 : 0; });
      const bool other_has_it = other->answer() != 0;
      come_and_go(visit % 4 == 0 ? 127 : 63);
      if (!other_has_it) other = nullptr;
    });
    EXPECT_NE(slept.got, other != nullptr) << "one of the two gets it";
  }
}

// The sleeper was about to enter a grant of somebody else, who was granted so many others meanwhile that a
// number of 12 bits would have come round, and has nothing in the end.
TEST_F(LongSleep, D52_M430_WhoSleptWhileItHelped_EntersNoGrantTwice) {
  if (!kCountsInstructions) GTEST_SKIP() << "this build does not count instructions";
  std::uint64_t length = 0;
  const std::uint64_t visits = slice<std::uint64_t>(24, 1200, 4);
  for (std::uint64_t visit = 0; visit <= visits && !HasFailure(); ++visit) {
    SharedState shared{no_limits(kTotal)};
    Here here{shared};
    PageQuota& quota = here.quotas[0];
    NumberedWord& pending = shared.state().devices[0].pending;
    const std::uint64_t account = AccountIndex{here.processes.mine(), 0, kNormal}.number();
    // Asked for, and not entered: we are stopped ourselves, as far as the sleeper can see.
    ASSERT_TRUE(pending.exchange(pending.load(), {Pending::make(account, 10), pending.load().number + 1}));
    if (visit == 0) {
      length = sleep_at(shared, kNever, [] {}).instructions;
      continue;
    }
    const std::uint64_t at = length * (visit - 1) / visits + test_seed() % (length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(at) + " of " + std::to_string(length) + " instructions");
    const int rounds = visit % 2 == 0 ? 4096 : 3000;  // all the way, or most of it
    const Slept slept = sleep_at(shared, at, [&] {
      ASSERT_TRUE(quota.take(kHuge, 1));
      for (int granted = 1; granted < rounds; ++granted) {
        quota.give(kNormal, 10);
        ASSERT_EQ(quota.return_own_credit(10, kHuge, 0), 10U);
        ASSERT_TRUE(quota.take(kNormal, 10));
      }
      quota.give(kNormal, 10);
      ASSERT_EQ(quota.return_own_credit(10, kHuge, 0), 10U);
    });
    EXPECT_TRUE(slept.got);
    EXPECT_EQ(quota.used()[kNormal], 0U) << "and the sleeper is gone";
    EXPECT_EQ(quota.own().used, 1U);
    EXPECT_EQ(quota.own().granted, 1U);
  }
}

// --- many at once ---------------------------------------------------------------------------------------

// What is surely held: counted after a take and before a give.
struct Held {
  std::atomic<std::uint64_t> total{0}, huge{0}, p2p{0};
  std::atomic<int> broken{0};
  std::atomic<bool> go{false};

  void take(const Limits& limits, std::size_t kind, std::uint64_t pages) {
    const bool over = total.fetch_add(pages) + pages > limits.total ||
                      (kind / 2 == 1 && huge.fetch_add(pages) + pages > limits.of_page[1]) ||
                      (kind % 2 == 1 && p2p.fetch_add(pages) + pages > limits.p2p);
    if (over) broken.fetch_add(1);
  }
  void give(std::size_t kind, std::uint64_t pages) {
    total.fetch_sub(pages);
    if (kind / 2 == 1) huge.fetch_sub(pages);
    if (kind % 2 == 1) p2p.fetch_sub(pages);
  }
};

// Takes and gives at random, and gives everything back in the end.
void take_and_give(PageQuota& quota, Held& held, unsigned seed, int steps) {
  std::mt19937 random = test_random(seed);
  std::vector<std::pair<std::size_t, std::uint64_t>> mine;
  while (!held.go) std::this_thread::yield();
  for (int step = 0; step < steps; ++step) {
    if (random() % 2 == 0 || mine.empty()) {
      const std::size_t kind = random() % kKinds;
      const std::uint64_t pages = random() % 3 == 0 ? random() % 60 + 1 : random() % 8 + 1;
      if (!quota.take(kind, pages)) continue;
      held.take(quota.limits(), kind, pages);
      mine.emplace_back(kind, pages);
    } else {
      std::swap(mine[random() % mine.size()], mine.back());
      held.give(mine.back().first, mine.back().second);
      quota.give(mine.back().first, mine.back().second);
      mine.pop_back();
    }
  }
  for (const auto& [kind, pages] : mine) {
    held.give(kind, pages);
    quota.give(kind, pages);
  }
}

Limits tight() {
  Limits limits = no_limits(200);
  limits.of_page[1] = 60;
  limits.p2p = 50;
  return limits;
}
int steps() { return slice(60000, 1000000, 20); }

TEST(PageQuota, M430_ThreadsNeverGetMoreThanThereIs) {
  SharedState shared{tight()};
  Here here{shared};
  Held held;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { take_and_give(here.quotas[0], held, i, steps()); });
  held.go = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(held.broken, 0);
  EXPECT_EQ(all(here.quotas[0].used()), 0U);
  EXPECT_TRUE(here.quotas[0].take(kNormal, 200));
}

TEST(PageQuota, D52_M430_ProcessesNeverGetMoreThanThereIs) {
  SCOPED_TRACE(seed_text());
  SharedState shared{tight()};
  Here here{shared};
  const Common<Held> held;
  std::vector<std::unique_ptr<Child>> children;
  for (unsigned i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>([&, i] {
      There& there = *new There{shared.link()};
      take_and_give(there.quotas[0], *held, i, steps());
      return 0;
    }));
  }
  held->go = true;
  for (const auto& child : children) EXPECT_EQ(child->answer(), 0);
  EXPECT_EQ(held->broken, 0);
  EXPECT_EQ(all(here.quotas[0].used()), 0U);
  EXPECT_TRUE(here.quotas[0].take(kNormal, 200));
}

// Killed in the middle; what they held comes back, to the page.
TEST(PageQuota, D66_M430_ProcessesThatAreKilledMeanwhile_LeaveExactBooks) {
  SCOPED_TRACE(seed_text());
  SharedState shared{tight()};
  Here here{shared};
  for (unsigned round = 0; round < slice(40U, 1000U, 8U); ++round) {
    const Common<Held> ignored;  // the killed cannot uncount
    std::vector<std::unique_ptr<Child>> children;
    for (unsigned i = 0; i < 3; ++i) {
      children.push_back(std::make_unique<Child>([&, i] {
        There& there = *new There{shared.link()};
        take_and_give(there.quotas[0], *ignored, round * 8 + i, 1 << 30);
        return 0;
      }));
    }
    ignored->go = true;
    for (unsigned i = 0; i < round % 40 * 20; ++i) (void)here.quotas[0].used();
    for (const auto& child : children) child->kill();
    ASSERT_EQ(all(here.quotas[0].used()), 0U) << "round " << round;
    ASSERT_TRUE(here.quotas[0].take(kNormal, 200)) << "round " << round;
    here.quotas[0].give(kNormal, 200);
  }
}

// Of pages that go from one process to the other all the time, each is counted once at most.
TEST(PageQuota, D52_M430_WhatOneGivesBackAndAnotherTakes_NeverCountsTwice) {
  SharedState shared{no_limits(300)};
  Here here{shared};
  const Common<std::atomic<int>> at_work;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 2; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      There& there = *new There{shared.link()};
      at_work->fetch_add(1);
      for (;;) {
        if (there.quotas[0].take(kNormal, 200)) there.quotas[0].give(kNormal, 200);
      }
      return 0;
    }));
  }
  while (at_work->load() < 2) std::this_thread::yield();
  for (int look = 0; look < slice(200000, 2000000, 8); ++look)
    ASSERT_LE(all(here.quotas[0].used()), 300U) << look;
  for (const auto& child : children) child->kill();
  EXPECT_EQ(all(here.quotas[0].used()), 0U);
}

TEST(Peaks, D52_OneProcess_TheDeviceHasItsPeak) {
  SharedState shared{no_limits(100), 2};
  Here here{shared};
  const Device& device = shared.state().devices[0];
  ASSERT_TRUE(here.quotas[0].take(kNormal, 40));
  here.quotas[0].note_peak(40);
  ASSERT_TRUE(here.quotas[0].take(kHuge, 20));
  here.quotas[0].note_peak(60);
  here.quotas[0].give(kNormal, 40);
  here.quotas[0].note_peak(20);
  EXPECT_EQ(device.peak, 60U);
  EXPECT_EQ(device.peaks[here.processes.mine()], 60U);
  EXPECT_EQ(shared.state().devices[1].peak, 0U);
}

// A child that takes so many pages, and has never had more.
std::function<int()> takes(const SharedState& shared, std::uint64_t pages) {
  return [&shared, pages] {
    There& there = *new There{shared.link()};
    if (!there.quotas[0].take(kHuge, pages)) return -1;
    there.quotas[0].note_peak(pages);
    return static_cast<int>(there.processes.mine());
  };
}

TEST(Peaks, D52_Several_WhatAllHaveWhenOneReachesItsPeak) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  const Device& device = shared.state().devices[0];
  ASSERT_TRUE(here.quotas[0].take(kNormal, 30));
  here.quotas[0].note_peak(30);
  const Child other{takes(shared, 50)};
  ASSERT_EQ(other.answer(), 1);
  EXPECT_EQ(device.peak, 80U);
  EXPECT_EQ(device.peaks[0], 30U);
  EXPECT_EQ(device.peaks[1], 50U);
  // Less than before, then a peak of its own that is none of the device.
  here.quotas[0].give(kNormal, 30);
  ASSERT_TRUE(here.quotas[0].take(kNormal, 10));
  here.quotas[0].note_peak(10);
  EXPECT_EQ(device.peak, 80U);
  ASSERT_TRUE(here.quotas[0].take(kNormal, 40));
  here.quotas[0].note_peak(50);
  EXPECT_EQ(device.peak, 100U);
}

TEST(Peaks, D66_TheDeadHaveNothing_AndTheNextOfTheirRowBeginsAtNothing) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  const Device& device = shared.state().devices[0];
  const Child first{takes(shared, 40)};
  ASSERT_EQ(first.answer(), 1);
  first.kill();
  ASSERT_TRUE(here.quotas[0].take(kNormal, 45));
  here.quotas[0].note_peak(45);
  EXPECT_EQ(device.peak, 45U) << "not what the dead had as well";
  EXPECT_EQ(device.peaks[1], 40U) << "nobody's any more, and nobody looks";
  const Child next{takes(shared, 5)};
  ASSERT_EQ(next.answer(), 1) << "the row of the first";
  EXPECT_EQ(device.peaks[1], 5U);
  EXPECT_EQ(device.peak, 50U);
}

// Two processes pass the same pages to each other, while a third one reaches one peak after the other.
TEST(Peaks, D52_PagesThatChangeHands_CountOnce) {
  constexpr std::uint64_t kTotal = 300;
  SharedState shared{no_limits(kTotal)};
  Here here{shared};
  const Common<std::atomic<int>> at_work;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 2; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      There& there = *new There{shared.link()};
      at_work->fetch_add(1);
      for (;;) {
        if (there.quotas[0].take(kNormal, 180)) there.quotas[0].give(kNormal, 180);
      }
      return 0;
    }));
  }
  while (at_work->load() < 2) std::this_thread::yield();
  std::uint64_t held = 0;
  while (held < 100) {
    if (here.quotas[0].take(kHuge, 1)) here.quotas[0].note_peak(++held);
    ASSERT_LE(shared.state().devices[0].peak, held + 180) << "two hundred and eighty at most";
  }
  for (const auto& child : children) child->kill();
}

}  // namespace page_quota_test
}  // namespace belay::machine
