// The purses of a process: a thread takes from its own and gives to its own, whoever took; only sums are
// pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "machine/ledger.h"
#include "support/sanitizer.h"
#include "support/shared_state.h"
#include "support/slices.h"

namespace belay::machine {
namespace purses_test {

using namespace belay_test;

constexpr std::size_t kNormal = kind_of(0, false), kHuge = kind_of(1, false), kHugeP2p = kind_of(1, true);

std::uint64_t all(const Use& use) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : use) sum += each;
  return sum;
}

// The test's process with some purses besides the common one.
struct WithPurses : Here {
  WithPurses(SharedState& shared, std::size_t count) : Here{shared}, state{shared.state()} {
    purses.push_back(Ledger::kCommonPurse);
    for (std::size_t i = 0; i < count; ++i) purses.push_back(roster.claim_purse());
  }
  Ledger& ledger() { return ledgers[0]; }
  std::uint64_t credit(std::size_t purse, std::size_t kind) {
    return Account::credit(ledger().purse(purse).of[kind].load());
  }
  std::uint64_t used() { return all(ledger().used()); }
  std::uint64_t used_here() { return all(used_by(state, 0, roster.mine())); }

  State& state;
  std::vector<std::size_t> purses;
};

// Every page of the limit can be had, and not one more.
void expect_all_can_be_had(WithPurses& here, std::uint64_t pages) {
  std::uint64_t taken = 0;
  while (taken <= pages && here.ledger().take(taken % kKinds, 1, here.purses[taken % here.purses.size()]))
    ++taken;
  EXPECT_EQ(taken, pages);
  for (std::uint64_t i = 0; i < taken; ++i)
    here.ledger().give(i % kKinds, 1, here.purses[i * 7 % here.purses.size()]);
  EXPECT_EQ(here.used(), 0U);
}

// --- words ----------------------------------------------------------------------------------------------

TEST(AccountWords, M430_EveryFieldComesBack_AtItsLimits) {
  constexpr std::uint64_t kMost = Account::kField, kMostTurn = (std::uint64_t{1} << Account::kTurnBits) - 1;
  for (const std::uint64_t used : {std::uint64_t{0}, std::uint64_t{1}, kMost - 1, kMost}) {
    for (const std::uint64_t credit : {std::uint64_t{0}, std::uint64_t{1}, kMost - 1, kMost}) {
      for (const std::uint64_t turn : {std::uint64_t{0}, std::uint64_t{1}, kMostTurn - 1, kMostTurn}) {
        const std::uint64_t word = Account::make(used, credit, turn);
        EXPECT_EQ(Account::used(word), used);
        EXPECT_EQ(Account::credit(word), credit);
        EXPECT_EQ(Account::turn(word), turn);
        EXPECT_EQ(Account::granted(word), (used + credit) & kMost);
      }
    }
  }
  EXPECT_EQ(Account::turn(Account::make(5, 6, kMostTurn + 1)), 0U) << "it goes round";
  EXPECT_EQ(Account::used(Account::make(5, 6, kMostTurn + 1)), 5U);
  EXPECT_EQ(Account::credit(Account::make(5, 6, kMostTurn + 1)), 6U);
}

TEST(AccountWords, M430_AStepMovesPages_AndTouchesNothingElse) {
  constexpr std::uint64_t kMost = Account::kField;
  for (const std::uint64_t pages : {std::uint64_t{1}, std::uint64_t{512}, kMost / 2, kMost}) {
    const std::uint64_t before = Account::make(0, pages, 4095);
    const std::uint64_t taken = before + Account::step(pages);
    EXPECT_EQ(taken, Account::make(pages, 0, 4095)) << pages;
    EXPECT_EQ(taken - Account::step(pages), before) << pages;
    // Given where it was not taken: less than nothing, and back again.
    const std::uint64_t owing = Account::make(0, 0, 17) - Account::step(pages);
    EXPECT_EQ(Account::credit(owing), pages);
    EXPECT_EQ((Account::used(owing) + pages) & kMost, 0U);
    EXPECT_EQ(Account::granted(owing), 0U);
    EXPECT_EQ(Account::turn(owing), 17U);
    EXPECT_EQ(owing + Account::step(pages), Account::make(0, 0, 17));
  }
}

TEST(AccountWords, D52_AGrantUnderWay_ComesBack_AtItsLimits) {
  constexpr std::uint64_t kMostAccount = (std::uint64_t{1} << Pending::kAccountBits) - 1;
  constexpr std::uint64_t kMostTurn = (std::uint64_t{1} << Account::kTurnBits) - 1;
  constexpr std::uint64_t kMostNumber = (std::uint64_t{1} << (63 - Pending::kCreditShift)) - 1;
  for (const std::uint64_t account : {std::uint64_t{0}, std::uint64_t{1}, kMostAccount}) {
    for (const std::uint64_t pages : {std::uint64_t{0}, std::uint64_t{1}, Account::kField}) {
      for (const std::uint64_t turn : {std::uint64_t{0}, kMostTurn}) {
        for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, kMostNumber}) {
          for (const bool as_credit : {false, true}) {
            const std::uint64_t word = Pending::make(account, pages, turn, number, as_credit);
            EXPECT_EQ(Pending::account(word), account);
            EXPECT_EQ(Pending::pages(word), pages);
            EXPECT_EQ(Pending::turn(word), turn);
            EXPECT_EQ(Pending::number(word), number);
            EXPECT_EQ(Pending::as_credit(word), as_credit);
          }
        }
      }
    }
  }
  const std::uint64_t round = Pending::make(kMostAccount, Account::kField, kMostTurn, kMostNumber + 1, true);
  EXPECT_EQ(Pending::number(round), 0U) << "it goes round";
  EXPECT_EQ(Pending::pages(round), Account::kField);
}

TEST(AccountWords, D52_EveryAccountHasANumberOfItsOwn) {
  std::vector<bool> seen(std::size_t{1} << Pending::kAccountBits);
  for (std::size_t row = 0; row < kSlots; ++row) {
    for (std::size_t purse = 0; purse < kPurses; ++purse) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        const std::uint64_t number = AccountIndex{row, purse, kind}.number();
        ASSERT_LT(number, seen.size());
        ASSERT_FALSE(seen[number]);
        seen[number] = true;
        const AccountIndex back = AccountIndex::of(number);
        ASSERT_EQ(back.row, row);
        ASSERT_EQ(back.purse, purse);
        ASSERT_EQ(back.kind, kind);
      }
    }
  }
  // A number that nobody makes must not lead out of the tables.
  for (std::uint64_t number = 0; number < seen.size(); ++number) {
    const AccountIndex at = AccountIndex::of(number);
    ASSERT_LT(at.row, kSlots);
    ASSERT_LT(at.purse, kPurses);
    ASSERT_LT(at.kind, kKinds);
  }
}

// --- claims ---------------------------------------------------------------------------------------------

TEST(Purses, D52_EachIsOneThreads_AndTheRestShareTheCommonOne) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  std::set<std::size_t> claimed;
  for (std::size_t i = 1; i < kPurses; ++i) {
    const std::size_t purse = here.roster.claim_purse();
    EXPECT_NE(purse, Ledger::kCommonPurse);
    EXPECT_LT(purse, kPurses);
    EXPECT_TRUE(claimed.insert(purse).second) << purse;
  }
  EXPECT_EQ(here.roster.claim_purse(), Ledger::kCommonPurse);
  EXPECT_EQ(here.roster.claim_purse(), Ledger::kCommonPurse);
  here.roster.release_purse(Ledger::kCommonPurse);
  EXPECT_EQ(here.roster.claim_purse(), Ledger::kCommonPurse) << "that one is nobody's";
  for (const std::size_t purse : {std::size_t{1}, std::size_t{17}, kPurses - 1}) {
    here.roster.release_purse(purse);
    EXPECT_EQ(here.roster.claim_purse(), purse);
  }
  EXPECT_EQ(purses_of(shared.state(), here.roster.mine()), kPurses);
}

TEST(Purses, D52_SumsSeeEveryPurse_FromItsClaimOn) {
  SharedState shared{no_limits(1000)};
  WithPurses here{shared, kPurses - 1};
  std::uint64_t taken = 0;
  for (const std::size_t purse : here.purses) {
    ASSERT_TRUE(here.ledger().take(kNormal, purse + 1, purse));
    taken += purse + 1;
    EXPECT_EQ(here.used(), taken);
    EXPECT_EQ(here.used_here(), taken);
    EXPECT_EQ(here.ledger().own().used, taken);
  }
}

TEST(Purses, M430_WhatAThreadThatEndedLeftInItsPurse_IsThereForTheNext) {
  SharedState shared{no_limits(100)};
  WithPurses here{shared, 2};
  ASSERT_TRUE(here.ledger().take(kNormal, 60, here.purses[1]));
  here.ledger().give(kNormal, 20, here.purses[1]);
  here.roster.release_purse(here.purses[1]);
  EXPECT_EQ(here.used(), 40U) << "blocks outlive their thread";
  ASSERT_EQ(here.roster.claim_purse(), here.purses[1]);
  EXPECT_TRUE(here.ledger().take(kNormal, 60, here.purses[1]));
  EXPECT_FALSE(here.ledger().take(kNormal, 1, here.purses[2]));
  here.ledger().give(kNormal, 100, here.purses[2]);
  EXPECT_EQ(here.used(), 0U);
  expect_all_can_be_had(here, 100);
}

// --- sums -----------------------------------------------------------------------------------------------

TEST(Purses, M430_TakenFromOneAndGivenToAnother_SumsAreExact) {
  SharedState shared{no_limits(1000)};
  WithPurses here{shared, 3};
  Ledger& ledger = here.ledger();
  ASSERT_TRUE(ledger.take(kNormal, 100, here.purses[1]));
  ASSERT_TRUE(ledger.take(kHuge, 512, here.purses[2]));
  const auto expect_use = [&](std::uint64_t normal, std::uint64_t huge) {
    EXPECT_EQ(ledger.used()[kNormal], normal);
    EXPECT_EQ(ledger.used()[kHuge], huge);
    EXPECT_EQ(used_by(here.state, 0, here.roster.mine())[kNormal], normal);
    EXPECT_EQ(used_by(here.state, 0, here.roster.mine())[kHuge], huge);
    EXPECT_EQ(all(ledger.used()), normal + huge);
    EXPECT_EQ(ledger.own().used, normal + huge);
  };
  expect_use(100, 512);
  ledger.give(kNormal, 30, here.purses[2]);
  expect_use(70, 512);
  ledger.give(kNormal, 30, here.purses[3]);
  ledger.give(kHuge, 512, here.purses[3]);
  expect_use(40, 0);
  ledger.give(kNormal, 40, Ledger::kCommonPurse);
  expect_use(0, 0);
  EXPECT_EQ(ledger.own().granted, 612U) << "all of it credit now";
  ASSERT_TRUE(ledger.take(kNormal, 25, here.purses[3]));
  expect_use(25, 0);
  ledger.give(kNormal, 25, here.purses[1]);
  expect_use(0, 0);
  expect_all_can_be_had(here, 1000);
}

// The field is 26 bits wide, and what one purse owes may be as much as another has.
TEST(Purses, M430_AsMuchAsAnAccountCanCount_WandersThroughAllPurses) {
  SharedState shared{no_limits(Account::kField)};
  WithPurses here{shared, 4};
  for (std::size_t round = 0; round < 12; ++round) {
    const std::size_t from = here.purses[round % 5], to = here.purses[round * 3 % 5];
    ASSERT_TRUE(here.ledger().take(kNormal, Account::kField, from)) << round;
    EXPECT_EQ(here.used(), Account::kField);
    EXPECT_EQ(here.ledger().own().used, Account::kField);
    EXPECT_EQ(here.ledger().own().granted, Account::kField);
    EXPECT_FALSE(here.ledger().take(kHuge, 1, to)) << round;
    here.ledger().give(kNormal, Account::kField, to);
    EXPECT_EQ(here.used(), 0U);
    EXPECT_EQ(here.ledger().own().used, 0U);
  }
}

TEST(Purses, M430_OwnCountsThisProcessAlone) {
  SharedState shared{no_limits(1000)};
  WithPurses here{shared, 2};
  Child other{[&] {
    There& there = *new There{shared.link()};
    return there.ledgers[0].take(kNormal, 300, there.roster.claim_purse()) ? 0 : 1;
  }};
  ASSERT_EQ(other.answer(), 0);
  ASSERT_TRUE(here.ledger().take(kNormal, 10, here.purses[1]));
  ASSERT_TRUE(here.ledger().take(kHugeP2p, 20, here.purses[2]));
  here.ledger().give(kHugeP2p, 15, here.purses[1]);
  EXPECT_EQ(here.ledger().own().used, 15U);
  EXPECT_EQ(here.ledger().own().granted, 30U);
  EXPECT_EQ(here.used(), 315U);
  EXPECT_EQ(here.used_here(), 15U);
}

// --- credit ---------------------------------------------------------------------------------------------

TEST(Purses, M430_CreditOfTheOtherThreads_IsUsedBeforeMoreIsGranted) {
  SharedState shared{no_limits(1000)};
  WithPurses here{shared, 4};
  Ledger& ledger = here.ledger();
  for (std::size_t i = 1; i <= 3; ++i) ASSERT_TRUE(ledger.take(kNormal, 20, here.purses[i]));
  for (std::size_t i = 1; i <= 3; ++i) ledger.give(kNormal, 20, here.purses[i]);
  EXPECT_EQ(ledger.own().granted, 60U);
  ASSERT_TRUE(ledger.take(kNormal, 60, here.purses[4]));
  EXPECT_EQ(ledger.own().used, 60U);
  EXPECT_EQ(ledger.own().granted, 60U);
  ledger.give(kNormal, 60, here.purses[4]);
  // What is too much for one request stays with the one who asked.
  ASSERT_TRUE(ledger.take(kNormal, 50, here.purses[1]));
  EXPECT_EQ(ledger.own().used, 50U);
  EXPECT_EQ(ledger.own().granted, 60U);
  EXPECT_EQ(here.credit(here.purses[1], kNormal), 10U);
  EXPECT_EQ(here.credit(here.purses[4], kNormal), 0U);
  ledger.give(kNormal, 50, here.purses[1]);
}

// A thread that only takes and one that only gives: pages go round, and none is granted twice.
TEST(Purses, M430_OneTakesAndAnotherGives_ForEver_WithinWhatWasGrantedOnce) {
  SharedState shared{no_limits(100000)};
  WithPurses here{shared, 2};
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(here.ledger().take(kNormal, 7, here.purses[1])) << i;
    here.ledger().give(kNormal, 7, here.purses[2]);
    ASSERT_LE(here.ledger().own().granted, 14U) << i;
  }
  EXPECT_EQ(here.used(), 0U);
  expect_all_can_be_had(here, 100000);
}

TEST(Purses, M430_CreditGoesBackAsAsked_ButNotThatOfTheOneAccount) {
  SharedState shared{no_limits(1000)};
  WithPurses here{shared, 3};
  Ledger& ledger = here.ledger();
  for (const std::size_t purse : here.purses) {
    for (const std::size_t kind : {kNormal, kHuge}) ASSERT_TRUE(ledger.take(kind, 30, purse));
  }
  for (const std::size_t purse : here.purses) {
    for (const std::size_t kind : {kNormal, kHuge}) ledger.give(kind, 10, purse);
  }
  ASSERT_EQ(ledger.own().used, 160U);
  ASSERT_EQ(ledger.own().granted, 240U);
  EXPECT_EQ(ledger.return_own_credit(0, kNormal, here.purses[1]), 0U);
  EXPECT_EQ(ledger.own().granted, 240U);
  const std::uint64_t some = ledger.return_own_credit(25, kNormal, here.purses[1]);
  EXPECT_GE(some, 25U);
  EXPECT_LT(some, 35U) << "no more accounts than it takes";
  EXPECT_EQ(ledger.own().granted, 240U - some);
  const std::uint64_t rest = ledger.return_own_credit(kNoLimit, kNormal, here.purses[1]);
  EXPECT_EQ(some + rest, 70U) << "eight accounts with 10 each, but for one";
  EXPECT_EQ(here.credit(here.purses[1], kNormal), 10U);
  EXPECT_EQ(ledger.own().granted, 170U);
  EXPECT_EQ(ledger.own().used, 160U);
  EXPECT_EQ(here.used(), 160U);
  EXPECT_EQ(ledger.return_own_credit(kNoLimit, kNormal, here.purses[1]), 0U);
  EXPECT_EQ(ledger.return_own_credit(1, kHuge, here.purses[1]), 10U) << "now another one is spared";
  EXPECT_EQ(ledger.own().granted, 160U);
  for (const std::size_t purse : here.purses) {
    for (const std::size_t kind : {kNormal, kHuge}) ledger.give(kind, 20, purse);
  }
  expect_all_can_be_had(here, 1000);
}

TEST(Purses, M430_CreditOfThisProcess_IsNotThatOfOthers) {
  SharedState shared{no_limits(100)};
  WithPurses here{shared, 1};
  Child other{[&] {
    There& there = *new There{shared.link()};
    const std::size_t purse = there.roster.claim_purse();
    if (!there.ledgers[0].take(kNormal, 40, purse)) return -1;
    there.ledgers[0].give(kNormal, 40, purse);
    return static_cast<int>(there.roster.mine());
  }};
  const auto row = static_cast<std::size_t>(other.answer());
  EXPECT_EQ(here.ledger().return_own_credit(kNoLimit, kNormal, Ledger::kCommonPurse), 0U);
  EXPECT_EQ(Account::credit(here.state.devices[0].purses[row][1].of[kNormal].load()), 40U);
}

TEST(Purses, D52_M430_CreditInManyPursesOfManyProcesses_IsHadToThePage) {
  constexpr std::uint64_t kTotal = 6000;
  SharedState shared{no_limits(kTotal)};
  WithPurses here{shared, 5};
  std::vector<std::unique_ptr<Child>> sleepers;
  for (std::uint64_t i = 0; i < 3; ++i) {
    sleepers.push_back(std::make_unique<Child>([&, i] {
      There& there = *new There{shared.link()};
      std::size_t purses[4] = {Ledger::kCommonPurse};
      for (std::size_t p = 1; p < 4; ++p) purses[p] = there.roster.claim_purse();
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        for (const std::size_t purse : purses) {
          if (!there.ledgers[0].take(kind, 50, purse)) return 1;
        }
      }
      // Given elsewhere than taken: in one purse more than it ever had, in the others nothing.
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        for (std::size_t p = 0; p < 4; ++p)
          there.ledgers[0].give(kind, 45, purses[(i + kind) % 2 == 0 ? i : p]);
      }
      return 0;
    }));
    ASSERT_EQ(sleepers.back()->answer(), 0);
    ::kill(sleepers.back()->process(), SIGSTOP);
  }
  // Of our own, some in each purse.
  for (std::size_t i = 0; i < here.purses.size(); ++i)
    ASSERT_TRUE(here.ledger().take(i % kKinds, 30, here.purses[i]));
  for (std::size_t i = 0; i < here.purses.size(); ++i)
    here.ledger().give(i % kKinds, 30, here.purses[(i + 1) % 6]);
  const std::uint64_t held = 3 * kKinds * 4 * 5;
  ASSERT_EQ(here.used(), held);
  std::uint64_t taken = 0;
  while (here.ledger().take(taken % kKinds, 1, here.purses[taken % 6])) ++taken;
  EXPECT_EQ(taken, kTotal - held);
  EXPECT_EQ(here.used(), kTotal);
  EXPECT_EQ(here.used_here(), kTotal - held);
}

// A limit of one kind, and the credit of that kind in purses of several threads.
TEST(Purses, M423_M430_TheLimitOfAKind_IsReachedToThePage_FromEveryPurse) {
  Limits limits = no_limits(1000);
  limits.of_page[1] = 100;
  limits.p2p = 60;
  SharedState shared{limits};
  WithPurses here{shared, 3};
  Ledger& ledger = here.ledger();
  for (std::size_t i = 0; i < 4; ++i)
    ASSERT_TRUE(ledger.take(i % 2 == 0 ? kHuge : kHugeP2p, 25, here.purses[i]));
  EXPECT_FALSE(ledger.take(kHuge, 1, here.purses[1]));
  for (std::size_t i = 0; i < 4; ++i) ledger.give(i % 2 == 0 ? kHuge : kHugeP2p, 25, here.purses[3 - i]);
  for (const std::size_t purse : here.purses) {
    ASSERT_TRUE(ledger.take(kHuge, 100, purse)) << purse;
    EXPECT_FALSE(ledger.take(kHugeP2p, 1, here.purses[2]));
    ledger.give(kHuge, 100, here.purses[1]);
    ASSERT_TRUE(ledger.take(kHugeP2p, 60, purse)) << purse;
    EXPECT_FALSE(ledger.take(kHugeP2p, 1, here.purses[0]));
    ledger.give(kHugeP2p, 60, here.purses[3]);
  }
  EXPECT_EQ(here.used(), 0U);
}

// --- death ----------------------------------------------------------------------------------------------

TEST(Purses, D66_M430_KilledWithPursesBelowAndAboveNothing_EverythingComesBack) {
  SharedState shared{no_limits(500)};
  WithPurses here{shared, 2};
  for (int round = 0; round < 10; ++round) {
    Child child{[&] {
      There& there = *new There{shared.link()};
      const std::size_t first = there.roster.claim_purse(), second = there.roster.claim_purse();
      if (!there.ledgers[0].take(kNormal, 100, first) || !there.ledgers[0].take(kHuge, 50, second)) return -1;
      there.ledgers[0].give(kNormal, 70, second);
      there.ledgers[0].give(kHuge, 45, Ledger::kCommonPurse);
      return static_cast<int>(there.roster.mine());
    }};
    const auto row = static_cast<std::size_t>(child.answer());
    EXPECT_EQ(here.used(), 35U);
    EXPECT_EQ(used_by(here.state, 0, row)[kNormal], 30U);
    EXPECT_EQ(used_by(here.state, 0, row)[kHuge], 5U);
    if (round % 2 == 0) {
      child.kill();
      EXPECT_EQ(here.used(), 0U);
    } else {
      ASSERT_TRUE(here.ledger().take(kNormal, 465, here.purses[1])) << "its credit is ours while it lives";
      child.kill();
      ASSERT_TRUE(here.ledger().take(kHuge, 35, here.purses[2])) << "and its pages when it is dead";
      here.ledger().give(kNormal, 465, here.purses[2]);
      here.ledger().give(kHuge, 35, here.purses[1]);
    }
    for (const Purse& purse : here.state.devices[0].purses[row]) {
      for (const auto& account : purse.of) {
        EXPECT_EQ(Account::used(account), 0U);
        EXPECT_EQ(Account::credit(account), 0U);
      }
    }
    expect_all_can_be_had(here, 500);
  }
}

// The next one in the row finds no purse as the one before left it.
TEST(Purses, D66_TheNextProcessInTheRow_StartsWithEmptyPurses) {
  SharedState shared{no_limits(500)};
  WithPurses here{shared, 1};
  for (int round = 0; round < 5; ++round) {
    const Child child{[&] {
      There& there = *new There{shared.link()};
      if (there.ledgers[0].own().used != 0 || there.ledgers[0].own().granted != 0) return 1;
      std::size_t purses[kPurses] = {};
      for (std::size_t i = 1; i < kPurses; ++i) purses[i] = there.roster.claim_purse();
      for (std::size_t i = 0; i < kPurses; ++i) {
        if (!there.ledgers[0].take(kNormal, 10, purses[i])) return 2;
      }
      for (std::size_t i = 0; i < kPurses; ++i) there.ledgers[0].give(kNormal, 9, purses[i * 5 % kPurses]);
      return there.ledgers[0].own().used == kPurses ? 0 : 3;
    }};
    EXPECT_EQ(child.answer(), 0);
    EXPECT_EQ(here.used(), kPurses);
  }
  EXPECT_EQ(here.used(), 0U);
  expect_all_can_be_had(here, 500);
}

// --- many at once ---------------------------------------------------------------------------------------

struct Piece {
  std::size_t kind;
  std::uint64_t pages;
};

// Blocks on their way from one thread to another.
class Exchange {
 public:
  void put(const Piece& piece) {
    const std::lock_guard lock{mutex_};
    pieces_.push_back(piece);
  }
  bool get(Piece& piece) {
    const std::lock_guard lock{mutex_};
    if (pieces_.empty()) return false;
    piece = pieces_.back();
    pieces_.pop_back();
    return true;
  }

 private:
  std::mutex mutex_;
  std::vector<Piece> pieces_;
};

// What is surely held: counted after a take and before a give. And what is held exactly, when nothing moves.
struct Model {
  explicit Model(const Limits& of) : limits{of} {}
  void take(const Piece& piece) {
    held[piece.kind] += piece.pages;
    if ((total += piece.pages) > limits.total) ++broken;
    if (piece.kind / 2 == 1 && (huge += piece.pages) > limits.of_page[1]) ++broken;
    if (piece.kind % 2 == 1 && (p2p += piece.pages) > limits.p2p) ++broken;
  }
  void give(const Piece& piece) {
    held[piece.kind] -= piece.pages;
    total -= piece.pages;
    if (piece.kind / 2 == 1) huge -= piece.pages;
    if (piece.kind % 2 == 1) p2p -= piece.pages;
  }
  const Limits limits;
  std::array<std::atomic<std::uint64_t>, kKinds> held{};
  std::atomic<std::uint64_t> total{0}, huge{0}, p2p{0};
  std::atomic<int> broken{0};
};

void take_and_hand_over(Ledger& ledger, std::size_t purse, Model& model, Exchange& exchange,
                        std::mt19937& random, std::vector<Piece>& mine, int steps) {
  for (int step = 0; step < steps; ++step) {
    const unsigned dice = random() % 8;
    Piece piece{};
    if (dice < 4) {
      piece = {random() % kKinds, random() % 3 == 0 ? random() % 60 + 1 : random() % 8 + 1};
      if (!ledger.take(piece.kind, piece.pages, purse)) continue;
      model.take(piece);
      mine.push_back(piece);
    } else if (dice < 6 ? exchange.get(piece) : !mine.empty()) {
      if (dice >= 6) {
        piece = mine.back();
        mine.pop_back();
      }
      if (dice == 7) {
        exchange.put(piece);
      } else {
        model.give(piece);
        ledger.give(piece.kind, piece.pages, purse);
      }
    }
  }
}

void against_the_model(std::size_t threads_with_purse, std::size_t threads_without, unsigned which,
                       int rounds) {
  Limits limits = no_limits(300);
  limits.of_page[1] = 90;
  limits.p2p = 70;
  SharedState shared{limits};
  WithPurses here{shared, threads_with_purse};
  Model model{limits};
  Exchange exchange;
  const std::size_t threads = threads_with_purse + threads_without;
  std::uint64_t looks = 0;
  // Between two rounds nothing moves, and the sums are what the model says.
  std::barrier pause{static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
                       const Use use = here.ledger().used();
                       const Use own = used_by(here.state, 0, here.roster.mine());
                       for (std::size_t kind = 0; kind < kKinds; ++kind) {
                         EXPECT_EQ(use[kind], model.held[kind]);
                         EXPECT_EQ(own[kind], model.held[kind]);
                       }
                       EXPECT_EQ(here.ledger().own().used, model.total);
                       EXPECT_GE(here.ledger().own().granted, model.total);
                       EXPECT_LE(here.ledger().own().granted, limits.total);
                       ++looks;
                     }};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      const std::size_t purse = i < threads_with_purse ? here.purses[i + 1] : Ledger::kCommonPurse;
      std::mt19937 random = test_random(which * 100 + i);
      std::vector<Piece> mine;
      for (int round = 0; round < rounds; ++round) {
        take_and_hand_over(here.ledger(), purse, model, exchange, random, mine, 300);
        pause.arrive_and_wait();
      }
      for (const Piece& piece : mine) {
        model.give(piece);
        here.ledger().give(piece.kind, piece.pages, purse);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (Piece piece{}; exchange.get(piece);) {
    model.give(piece);
    here.ledger().give(piece.kind, piece.pages, Ledger::kCommonPurse);
  }
  EXPECT_EQ(looks, static_cast<std::uint64_t>(rounds));
  EXPECT_EQ(model.broken, 0);
  EXPECT_EQ(model.total, 0U);
  EXPECT_EQ(here.used(), 0U);
  EXPECT_EQ(here.ledger().own().used, 0U);
  // Each page can be had: those of the limited kinds first, the rest from the other one.
  for (std::uint64_t i = 0; i < 90; ++i)
    ASSERT_TRUE(here.ledger().take(kHuge, 1, here.purses[i % here.purses.size()]));
  EXPECT_FALSE(here.ledger().take(kHuge, 1));
  for (std::uint64_t i = 0; i < 210; ++i)
    ASSERT_TRUE(here.ledger().take(kNormal, 1, here.purses[i % here.purses.size()])) << i;
  EXPECT_FALSE(here.ledger().take(kNormal, 1));
}

TEST(Purses, M430_ThreadsWithPursesOfTheirOwn_AgainstAModel) {
  for (const unsigned which : {1U, 2U, 3U}) against_the_model(4, 0, which, slice(40, 1000, 6));
}
TEST(Purses, M430_MoreThreadsThanPurses_AgainstAModel) {
  for (const unsigned which : {1U, 2U}) against_the_model(3, 4, which, slice(40, 1000, 6));
}
TEST(Purses, M430_AllPursesAtOnce_AgainstAModel) { against_the_model(kPurses - 1, 3, 1, slice(8, 200, 3)); }

// Each killed with some purses below nothing and some above.
TEST(Purses, D52_M430_ProcessesWithSeveralPurses_KilledMeanwhile_LeaveExactBooks) {
  SCOPED_TRACE(seed_text());
  SharedState shared{no_limits(300)};
  WithPurses here{shared, 1};
  for (unsigned round = 0; round < slice(8U, 200U, 3U); ++round) {
    std::vector<std::unique_ptr<Child>> children;
    const Common<std::atomic<int>> at_work;
    for (unsigned i = 0; i < 3; ++i) {
      children.push_back(std::make_unique<Child>([&, i] {
        There& there = *new There{shared.link()};
        std::array<std::size_t, 4> purses{Ledger::kCommonPurse};
        for (std::size_t p = 1; p < 4; ++p) purses[p] = there.roster.claim_purse();
        std::mt19937 random = test_random(round * 8 + i);
        std::vector<Piece> mine;
        at_work->fetch_add(1);
        for (;;) {
          const std::size_t purse = purses[random() % 4];
          if (random() % 2 == 0 || mine.empty()) {
            const Piece piece{random() % kKinds, random() % 20 + 1};
            if (there.ledgers[0].take(piece.kind, piece.pages, purse)) mine.push_back(piece);
          } else {
            there.ledgers[0].give(mine.back().kind, mine.back().pages, purse);
            mine.pop_back();
          }
        }
        return 0;
      }));
    }
    while (at_work->load() < 3) std::this_thread::yield();
    for (unsigned i = 0; i < round % 20 * 20; ++i) ASSERT_LE(here.used(), 300U);
    for (const auto& child : children) child->kill();
    ASSERT_EQ(here.used(), 0U) << "round " << round;
    expect_all_can_be_had(here, 300);
  }
}

}  // namespace purses_test
}  // namespace belay::machine
