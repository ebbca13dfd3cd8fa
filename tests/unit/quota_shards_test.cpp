// The shards of a process: a thread takes from its own and gives to its own, whoever took; only sums are
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

#include "machine/page_quota.h"
#include "support/sanitizer.h"
#include "support/shared_state.h"
#include "support/slices.h"

namespace belay::machine {
namespace quota_shards_test {

using namespace belay_test;

constexpr std::size_t kNormal = kind_of(0, false), kHuge = kind_of(1, false), kHugeP2p = kind_of(1, true);

std::uint64_t all(const Use& use) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : use) sum += each;
  return sum;
}

// The test's process with some shards besides the common one.
struct WithShards : Here {
  WithShards(SharedState& shared, std::size_t count) : Here{shared}, state{shared.state()} {
    shards.push_back(PageQuota::kCommonShard);
    for (std::size_t i = 0; i < count; ++i) shards.push_back(processes.claim_shard());
  }
  PageQuota& quota() { return quotas[0]; }
  std::uint64_t credit(std::size_t shard, std::size_t kind) {
    return Account::credit(quota().shard(shard).of[kind].word.load());
  }
  std::uint64_t used() { return all(quota().used()); }
  std::uint64_t used_here() { return all(used_by(state, 0, processes.mine())); }

  State& state;
  std::vector<std::size_t> shards;
};

// Every page of the limit can be had, and not one more.
void expect_all_can_be_had(WithShards& here, std::uint64_t pages) {
  std::uint64_t taken = 0;
  while (taken <= pages && here.quota().take(taken % kKinds, 1, here.shards[taken % here.shards.size()]))
    ++taken;
  EXPECT_EQ(taken, pages);
  for (std::uint64_t i = 0; i < taken; ++i)
    here.quota().give(i % kKinds, 1, here.shards[i * 7 % here.shards.size()]);
  EXPECT_EQ(here.used(), 0U);
}

// --- words ----------------------------------------------------------------------------------------------

TEST(AccountWords, M430_EveryFieldComesBack_AtItsLimits) {
  constexpr std::uint64_t kMost = Account::kField;
  for (const std::uint64_t used : {std::uint64_t{0}, std::uint64_t{1}, kMost - 1, kMost}) {
    for (const std::uint64_t credit : {std::uint64_t{0}, std::uint64_t{1}, kMost - 1, kMost}) {
      const std::uint64_t word = Account::make(used, credit);
      EXPECT_EQ(Account::used(word), used);
      EXPECT_EQ(Account::credit(word), credit);
      EXPECT_EQ(Account::granted(word), (used + credit) & kMost);
    }
  }
}

TEST(AccountWords, M430_AStepMovesPages_AndTouchesNothingElse) {
  constexpr std::uint64_t kMost = Account::kField;
  for (const std::uint64_t pages : {std::uint64_t{1}, std::uint64_t{512}, kMost / 2, kMost}) {
    const std::uint64_t before = Account::make(0, pages);
    const std::uint64_t taken = before + Account::step(pages);
    EXPECT_EQ(taken, Account::make(pages, 0)) << pages;
    EXPECT_EQ(taken - Account::step(pages), before) << pages;
    // Given where it was not taken: less than nothing, and back again.
    const std::uint64_t owing = Account::make(0, 0) - Account::step(pages);
    EXPECT_EQ(Account::credit(owing), pages);
    EXPECT_EQ((Account::used(owing) + pages) & kMost, 0U);
    EXPECT_EQ(Account::granted(owing), 0U);
    EXPECT_EQ(owing + Account::step(pages), Account::make(0, 0));
  }
}

TEST(AccountWords, D52_AGrantUnderWay_ComesBack_AtItsLimits) {
  constexpr std::uint64_t kMostAccount = (std::uint64_t{1} << Pending::kAccountBits) - 1;
  for (const std::uint64_t account : {std::uint64_t{0}, std::uint64_t{1}, kMostAccount}) {
    for (const std::uint64_t pages : {std::uint64_t{0}, std::uint64_t{1}, Account::kField}) {
      for (const bool as_credit : {false, true}) {
        const std::uint64_t word = Pending::make(account, pages, as_credit);
        EXPECT_EQ(Pending::account(word), account);
        EXPECT_EQ(Pending::pages(word), pages);
        EXPECT_EQ(Pending::as_credit(word), as_credit);
      }
    }
  }
}

TEST(AccountWords, D52_AWordAndItsNumber_ChangeTogetherOrNotAtAll) {
  NumberedWord both{7, 1};
  EXPECT_FALSE(both.exchange({7, 2}, {8, 3}));
  EXPECT_FALSE(both.exchange({6, 1}, {8, 3}));
  EXPECT_EQ(both.load().word, 7U);
  EXPECT_EQ(both.load().number, 1U);
  EXPECT_TRUE(both.exchange({7, 1}, {~std::uint64_t{0}, ~std::uint64_t{0}}));
  EXPECT_EQ(both.load().word, ~std::uint64_t{0});
  EXPECT_EQ(both.load().number, ~std::uint64_t{0});
}

// Threads that change both, and one that changes the word alone, as whoever takes credit does.
TEST(AccountWords, D52_AWordAndItsNumber_NeverComeApart) {
  NumberedWord both{0, 0};
  constexpr std::uint64_t kRounds = 20000;
  const auto change_both = [&] {
    for (std::uint64_t done = 0; done < kRounds;) {
      const NumberedWord::Value now = both.load();
      if (both.exchange(now, {now.word + 1, now.number + 1})) ++done;
    }
  };
  const auto change_word = [&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) both.word.fetch_add(1 << 20);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(change_both);
  threads.emplace_back(change_word);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(both.load().number, 2 * kRounds);
  EXPECT_EQ(both.load().word, 2 * kRounds + (kRounds << 20));
}

TEST(AccountWords, D52_EveryAccountHasANumberOfItsOwn) {
  std::vector<bool> seen(std::size_t{1} << Pending::kAccountBits);
  for (std::size_t row = 0; row < kSlots; ++row) {
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        const std::uint64_t number = AccountIndex{row, shard, kind}.number();
        ASSERT_LT(number, seen.size());
        ASSERT_FALSE(seen[number]);
        seen[number] = true;
        const AccountIndex back = AccountIndex::of(number);
        ASSERT_EQ(back.row, row);
        ASSERT_EQ(back.shard, shard);
        ASSERT_EQ(back.kind, kind);
      }
    }
  }
  for (std::size_t shard = kShards; shard < kShards + kAnnex; ++shard) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const std::uint64_t number = AccountIndex{0, shard, kind}.number();
      ASSERT_LT(number, seen.size());
      ASSERT_FALSE(seen[number]);
      seen[number] = true;
      ASSERT_EQ((AccountIndex{kSlots - 1, shard, kind}.number()), number) << "it is any row's";
      ASSERT_EQ(AccountIndex::of(number).shard, shard);
      ASSERT_EQ(AccountIndex::of(number).kind, kind);
    }
  }
  // A number that nobody makes must not lead out of the tables.
  for (std::uint64_t number = 0; number < seen.size(); ++number) {
    const AccountIndex at = AccountIndex::of(number);
    if (at.in_annex()) {
      ASSERT_LT(at.shard, kShards + kAnnex);
    } else {
      ASSERT_LT(at.row, kSlots);
    }
    ASSERT_LT(at.kind, kKinds);
  }
}

// --- claims ---------------------------------------------------------------------------------------------

TEST(QuotaShards, D52_EachIsOneThreads_AndWhenTheAnnexIsFullTheRestShareTheCommonOne) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  std::set<std::size_t> claimed;
  for (std::size_t i = 1; i < kShards + kAnnex; ++i) {
    const std::size_t shard = here.processes.claim_shard();
    ASSERT_NE(shard, PageQuota::kCommonShard);
    ASSERT_EQ(shard < kShards, i < kShards) << "first those of its own row";
    ASSERT_LT(shard, kShards + kAnnex);
    ASSERT_TRUE(claimed.insert(shard).second) << shard;
  }
  EXPECT_EQ(here.processes.claim_shard(), PageQuota::kCommonShard);
  EXPECT_EQ(here.processes.claim_shard(), PageQuota::kCommonShard);
  here.processes.release_shard(PageQuota::kCommonShard);
  EXPECT_EQ(here.processes.claim_shard(), PageQuota::kCommonShard) << "that one is nobody's";
  for (const std::size_t shard :
       {std::size_t{1}, std::size_t{17}, kShards - 1, kShards, kShards + kAnnex - 1}) {
    here.processes.release_shard(shard);
    EXPECT_EQ(here.processes.claim_shard(), shard);
  }
  EXPECT_EQ(shards_of(shared.state(), here.processes.mine()), kShards);
}

TEST(QuotaShards, D52_SumsSeeEveryShard_FromItsClaimOn) {
  SharedState shared{no_limits(5000)};
  WithShards here{shared, kShards + 40};
  std::uint64_t taken = 0;
  for (const std::size_t shard : here.shards) {
    ASSERT_TRUE(here.quota().take(kNormal, shard + 1, shard));
    taken += shard + 1;
    EXPECT_EQ(here.used(), taken);
    EXPECT_EQ(here.used_here(), taken);
    EXPECT_EQ(here.quota().own().used, taken);
  }
}

TEST(QuotaShards, M430_WhatAThreadThatEndedLeftInItsShard_IsThereForTheNext) {
  SharedState shared{no_limits(100)};
  WithShards here{shared, 2};
  ASSERT_TRUE(here.quota().take(kNormal, 60, here.shards[1]));
  here.quota().give(kNormal, 20, here.shards[1]);
  here.processes.release_shard(here.shards[1]);
  EXPECT_EQ(here.used(), 40U) << "blocks outlive their thread";
  ASSERT_EQ(here.processes.claim_shard(), here.shards[1]);
  EXPECT_TRUE(here.quota().take(kNormal, 60, here.shards[1]));
  EXPECT_FALSE(here.quota().take(kNormal, 1, here.shards[2]));
  here.quota().give(kNormal, 100, here.shards[2]);
  EXPECT_EQ(here.used(), 0U);
  expect_all_can_be_had(here, 100);
}

// --- sums -----------------------------------------------------------------------------------------------

TEST(QuotaShards, M430_TakenFromOneAndGivenToAnother_SumsAreExact) {
  SharedState shared{no_limits(1000)};
  WithShards here{shared, 3};
  PageQuota& quota = here.quota();
  ASSERT_TRUE(quota.take(kNormal, 100, here.shards[1]));
  ASSERT_TRUE(quota.take(kHuge, 512, here.shards[2]));
  const auto expect_use = [&](std::uint64_t normal, std::uint64_t huge) {
    EXPECT_EQ(quota.used()[kNormal], normal);
    EXPECT_EQ(quota.used()[kHuge], huge);
    EXPECT_EQ(used_by(here.state, 0, here.processes.mine())[kNormal], normal);
    EXPECT_EQ(used_by(here.state, 0, here.processes.mine())[kHuge], huge);
    EXPECT_EQ(all(quota.used()), normal + huge);
    EXPECT_EQ(quota.own().used, normal + huge);
  };
  expect_use(100, 512);
  quota.give(kNormal, 30, here.shards[2]);
  expect_use(70, 512);
  quota.give(kNormal, 30, here.shards[3]);
  quota.give(kHuge, 512, here.shards[3]);
  expect_use(40, 0);
  quota.give(kNormal, 40, PageQuota::kCommonShard);
  expect_use(0, 0);
  EXPECT_EQ(quota.own().granted, 612U) << "all of it credit now";
  ASSERT_TRUE(quota.take(kNormal, 25, here.shards[3]));
  expect_use(25, 0);
  quota.give(kNormal, 25, here.shards[1]);
  expect_use(0, 0);
  expect_all_can_be_had(here, 1000);
}

// The field is 26 bits wide, and what one shard owes may be as much as another has.
TEST(QuotaShards, M430_AsMuchAsAnAccountCanCount_WandersThroughAllShards) {
  SharedState shared{no_limits(Account::kField)};
  WithShards here{shared, 4};
  for (std::size_t round = 0; round < 12; ++round) {
    const std::size_t from = here.shards[round % 5], to = here.shards[round * 3 % 5];
    ASSERT_TRUE(here.quota().take(kNormal, Account::kField, from)) << round;
    EXPECT_EQ(here.used(), Account::kField);
    EXPECT_EQ(here.quota().own().used, Account::kField);
    EXPECT_EQ(here.quota().own().granted, Account::kField);
    EXPECT_FALSE(here.quota().take(kHuge, 1, to)) << round;
    here.quota().give(kNormal, Account::kField, to);
    EXPECT_EQ(here.used(), 0U);
    EXPECT_EQ(here.quota().own().used, 0U);
  }
}

TEST(QuotaShards, M430_OwnCountsThisProcessAlone) {
  SharedState shared{no_limits(1000)};
  WithShards here{shared, 2};
  Child other{[&] {
    There& there = *new There{shared.link()};
    return there.quotas[0].take(kNormal, 300, there.processes.claim_shard()) ? 0 : 1;
  }};
  ASSERT_EQ(other.answer(), 0);
  ASSERT_TRUE(here.quota().take(kNormal, 10, here.shards[1]));
  ASSERT_TRUE(here.quota().take(kHugeP2p, 20, here.shards[2]));
  here.quota().give(kHugeP2p, 15, here.shards[1]);
  EXPECT_EQ(here.quota().own().used, 15U);
  EXPECT_EQ(here.quota().own().granted, 30U);
  EXPECT_EQ(here.used(), 315U);
  EXPECT_EQ(here.used_here(), 15U);
}

// --- credit ---------------------------------------------------------------------------------------------

TEST(QuotaShards, M430_CreditOfTheOtherThreads_IsUsedBeforeMoreIsGranted) {
  SharedState shared{no_limits(1000)};
  WithShards here{shared, 4};
  PageQuota& quota = here.quota();
  for (std::size_t i = 1; i <= 3; ++i) ASSERT_TRUE(quota.take(kNormal, 20, here.shards[i]));
  for (std::size_t i = 1; i <= 3; ++i) quota.give(kNormal, 20, here.shards[i]);
  EXPECT_EQ(quota.own().granted, 60U);
  ASSERT_TRUE(quota.take(kNormal, 60, here.shards[4]));
  EXPECT_EQ(quota.own().used, 60U);
  EXPECT_EQ(quota.own().granted, 60U);
  quota.give(kNormal, 60, here.shards[4]);
  // What is too much for one request stays with the one who asked.
  ASSERT_TRUE(quota.take(kNormal, 50, here.shards[1]));
  EXPECT_EQ(quota.own().used, 50U);
  EXPECT_EQ(quota.own().granted, 60U);
  EXPECT_EQ(here.credit(here.shards[1], kNormal), 10U);
  EXPECT_EQ(here.credit(here.shards[4], kNormal), 0U);
  quota.give(kNormal, 50, here.shards[1]);
}

// A thread that only takes and one that only gives: pages go round, and none is granted twice.
TEST(QuotaShards, M430_OneTakesAndAnotherGives_ForEver_WithinWhatWasGrantedOnce) {
  SharedState shared{no_limits(100000)};
  WithShards here{shared, 2};
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(here.quota().take(kNormal, 7, here.shards[1])) << i;
    here.quota().give(kNormal, 7, here.shards[2]);
    ASSERT_LE(here.quota().own().granted, 14U) << i;
  }
  EXPECT_EQ(here.used(), 0U);
  expect_all_can_be_had(here, 100000);
}

TEST(QuotaShards, M430_CreditGoesBackAsAsked_ButNotThatOfTheOneAccount) {
  SharedState shared{no_limits(1000)};
  WithShards here{shared, 3};
  PageQuota& quota = here.quota();
  for (const std::size_t shard : here.shards) {
    for (const std::size_t kind : {kNormal, kHuge}) ASSERT_TRUE(quota.take(kind, 30, shard));
  }
  for (const std::size_t shard : here.shards) {
    for (const std::size_t kind : {kNormal, kHuge}) quota.give(kind, 10, shard);
  }
  ASSERT_EQ(quota.own().used, 160U);
  ASSERT_EQ(quota.own().granted, 240U);
  EXPECT_EQ(quota.return_own_credit(0, kNormal, here.shards[1]), 0U);
  EXPECT_EQ(quota.own().granted, 240U);
  const std::uint64_t some = quota.return_own_credit(25, kNormal, here.shards[1]);
  EXPECT_GE(some, 25U);
  EXPECT_LT(some, 35U) << "no more accounts than it takes";
  EXPECT_EQ(quota.own().granted, 240U - some);
  const std::uint64_t rest = quota.return_own_credit(kNoLimit, kNormal, here.shards[1]);
  EXPECT_EQ(some + rest, 70U) << "eight accounts with 10 each, but for one";
  EXPECT_EQ(here.credit(here.shards[1], kNormal), 10U);
  EXPECT_EQ(quota.own().granted, 170U);
  EXPECT_EQ(quota.own().used, 160U);
  EXPECT_EQ(here.used(), 160U);
  EXPECT_EQ(quota.return_own_credit(kNoLimit, kNormal, here.shards[1]), 0U);
  EXPECT_EQ(quota.return_own_credit(1, kHuge, here.shards[1]), 10U) << "now another one is spared";
  EXPECT_EQ(quota.own().granted, 160U);
  for (const std::size_t shard : here.shards) {
    for (const std::size_t kind : {kNormal, kHuge}) quota.give(kind, 20, shard);
  }
  expect_all_can_be_had(here, 1000);
}

TEST(QuotaShards, M430_CreditOfThisProcess_IsNotThatOfOthers) {
  SharedState shared{no_limits(100)};
  WithShards here{shared, 1};
  Child other{[&] {
    There& there = *new There{shared.link()};
    const std::size_t shard = there.processes.claim_shard();
    if (!there.quotas[0].take(kNormal, 40, shard)) return -1;
    there.quotas[0].give(kNormal, 40, shard);
    return static_cast<int>(there.processes.mine());
  }};
  const auto row = static_cast<std::size_t>(other.answer());
  EXPECT_EQ(here.quota().return_own_credit(kNoLimit, kNormal, PageQuota::kCommonShard), 0U);
  EXPECT_EQ(Account::credit(here.state.devices[0].shards[row][1].of[kNormal].word.load()), 40U);
}

TEST(QuotaShards, D52_M430_CreditInManyShardsOfManyProcesses_IsHadToThePage) {
  constexpr std::uint64_t kTotal = 6000;
  SharedState shared{no_limits(kTotal)};
  WithShards here{shared, 5};
  std::vector<std::unique_ptr<Child>> sleepers;
  for (std::uint64_t i = 0; i < 3; ++i) {
    sleepers.push_back(std::make_unique<Child>([&, i] {
      There& there = *new There{shared.link()};
      std::size_t shards[4] = {PageQuota::kCommonShard};
      for (std::size_t p = 1; p < 4; ++p) shards[p] = there.processes.claim_shard();
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        for (const std::size_t shard : shards) {
          if (!there.quotas[0].take(kind, 50, shard)) return 1;
        }
      }
      // Given elsewhere than taken: in one shard more than it ever had, in the others nothing.
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        for (std::size_t p = 0; p < 4; ++p)
          there.quotas[0].give(kind, 45, shards[(i + kind) % 2 == 0 ? i : p]);
      }
      return 0;
    }));
    ASSERT_EQ(sleepers.back()->answer(), 0);
    ::kill(sleepers.back()->process(), SIGSTOP);
  }
  // Of our own, some in each shard.
  for (std::size_t i = 0; i < here.shards.size(); ++i)
    ASSERT_TRUE(here.quota().take(i % kKinds, 30, here.shards[i]));
  for (std::size_t i = 0; i < here.shards.size(); ++i)
    here.quota().give(i % kKinds, 30, here.shards[(i + 1) % 6]);
  const std::uint64_t held = 3 * kKinds * 4 * 5;
  ASSERT_EQ(here.used(), held);
  std::uint64_t taken = 0;
  while (here.quota().take(taken % kKinds, 1, here.shards[taken % 6])) ++taken;
  EXPECT_EQ(taken, kTotal - held);
  EXPECT_EQ(here.used(), kTotal);
  EXPECT_EQ(here.used_here(), kTotal - held);
}

// A limit of one kind, and the credit of that kind in shards of several threads.
TEST(QuotaShards, M423_M430_TheLimitOfAKind_IsReachedToThePage_FromEveryShard) {
  Limits limits = no_limits(1000);
  limits.of_page[1] = 100;
  limits.p2p = 60;
  SharedState shared{limits};
  WithShards here{shared, 3};
  PageQuota& quota = here.quota();
  for (std::size_t i = 0; i < 4; ++i)
    ASSERT_TRUE(quota.take(i % 2 == 0 ? kHuge : kHugeP2p, 25, here.shards[i]));
  EXPECT_FALSE(quota.take(kHuge, 1, here.shards[1]));
  for (std::size_t i = 0; i < 4; ++i) quota.give(i % 2 == 0 ? kHuge : kHugeP2p, 25, here.shards[3 - i]);
  for (const std::size_t shard : here.shards) {
    ASSERT_TRUE(quota.take(kHuge, 100, shard)) << shard;
    EXPECT_FALSE(quota.take(kHugeP2p, 1, here.shards[2]));
    quota.give(kHuge, 100, here.shards[1]);
    ASSERT_TRUE(quota.take(kHugeP2p, 60, shard)) << shard;
    EXPECT_FALSE(quota.take(kHugeP2p, 1, here.shards[0]));
    quota.give(kHugeP2p, 60, here.shards[3]);
  }
  EXPECT_EQ(here.used(), 0U);
}

// --- death ----------------------------------------------------------------------------------------------

TEST(QuotaShards, D66_M430_KilledWithShardsBelowAndAboveNothing_EverythingComesBack) {
  SharedState shared{no_limits(500)};
  WithShards here{shared, 2};
  for (int round = 0; round < 10; ++round) {
    Child child{[&] {
      There& there = *new There{shared.link()};
      const std::size_t first = there.processes.claim_shard(), second = there.processes.claim_shard();
      if (!there.quotas[0].take(kNormal, 100, first) || !there.quotas[0].take(kHuge, 50, second)) return -1;
      there.quotas[0].give(kNormal, 70, second);
      there.quotas[0].give(kHuge, 45, PageQuota::kCommonShard);
      return static_cast<int>(there.processes.mine());
    }};
    const auto row = static_cast<std::size_t>(child.answer());
    EXPECT_EQ(here.used(), 35U);
    EXPECT_EQ(used_by(here.state, 0, row)[kNormal], 30U);
    EXPECT_EQ(used_by(here.state, 0, row)[kHuge], 5U);
    if (round % 2 == 0) {
      child.kill();
      EXPECT_EQ(here.used(), 0U);
    } else {
      ASSERT_TRUE(here.quota().take(kNormal, 465, here.shards[1])) << "its credit is ours while it lives";
      child.kill();
      ASSERT_TRUE(here.quota().take(kHuge, 35, here.shards[2])) << "and its pages when it is dead";
      here.quota().give(kNormal, 465, here.shards[2]);
      here.quota().give(kHuge, 35, here.shards[1]);
    }
    EXPECT_EQ(used_by(here.state, 0, row), Use{});
    EXPECT_NE(Life::state(here.state.rows[row].life.load()), Life::Live);
    expect_all_can_be_had(here, 500);
  }
}

// The next one in the row finds no shard as the one before left it.
TEST(QuotaShards, D66_TheNextProcessInTheRow_StartsWithEmptyShards) {
  SharedState shared{no_limits(500)};
  WithShards here{shared, 1};
  for (int round = 0; round < 5; ++round) {
    const Child child{[&] {
      There& there = *new There{shared.link()};
      if (there.quotas[0].own().used != 0 || there.quotas[0].own().granted != 0) return 1;
      constexpr std::size_t kAll = kShards + 9;
      std::size_t shards[kAll] = {};
      for (std::size_t i = 1; i < kAll; ++i) shards[i] = there.processes.claim_shard();
      for (std::size_t i = 0; i < kAll; ++i) {
        if (!there.quotas[0].take(kNormal, 10, shards[i])) return 2;
      }
      for (std::size_t i = 0; i < kAll; ++i) there.quotas[0].give(kNormal, 9, shards[i * 5 % kAll]);
      return there.quotas[0].own().used == kAll ? 0 : 3;
    }};
    EXPECT_EQ(child.answer(), 0);
    EXPECT_EQ(here.used(), kShards + 9);
    EXPECT_LE(annex_of(shared.state()), 9U) << "what the dead had of the annex is used again";
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

void take_and_hand_over(PageQuota& quota, std::size_t shard, Model& model, Exchange& exchange,
                        std::mt19937& random, std::vector<Piece>& mine, int steps) {
  for (int step = 0; step < steps; ++step) {
    const unsigned dice = random() % 8;
    Piece piece{};
    if (dice < 4) {
      piece = {random() % kKinds, random() % 3 == 0 ? random() % 60 + 1 : random() % 8 + 1};
      if (!quota.take(piece.kind, piece.pages, shard)) continue;
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
        quota.give(piece.kind, piece.pages, shard);
      }
    }
  }
}

void against_the_model(std::size_t threads_with_shard, std::size_t threads_without, unsigned which,
                       int rounds) {
  Limits limits = no_limits(300);
  limits.of_page[1] = 90;
  limits.p2p = 70;
  SharedState shared{limits};
  WithShards here{shared, threads_with_shard};
  Model model{limits};
  Exchange exchange;
  const std::size_t threads = threads_with_shard + threads_without;
  std::uint64_t looks = 0;
  // Between two rounds nothing moves, and the sums are what the model says.
  std::barrier pause{static_cast<std::ptrdiff_t>(threads), [&]() noexcept {
                       const Use use = here.quota().used();
                       const Use own = used_by(here.state, 0, here.processes.mine());
                       for (std::size_t kind = 0; kind < kKinds; ++kind) {
                         EXPECT_EQ(use[kind], model.held[kind]);
                         EXPECT_EQ(own[kind], model.held[kind]);
                       }
                       EXPECT_EQ(here.quota().own().used, model.total);
                       EXPECT_GE(here.quota().own().granted, model.total);
                       EXPECT_LE(here.quota().own().granted, limits.total);
                       ++looks;
                     }};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      const std::size_t shard = i < threads_with_shard ? here.shards[i + 1] : PageQuota::kCommonShard;
      std::mt19937 random = test_random(which * 100 + i);
      std::vector<Piece> mine;
      for (int round = 0; round < rounds; ++round) {
        take_and_hand_over(here.quota(), shard, model, exchange, random, mine, 300);
        pause.arrive_and_wait();
      }
      for (const Piece& piece : mine) {
        model.give(piece);
        here.quota().give(piece.kind, piece.pages, shard);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (Piece piece{}; exchange.get(piece);) {
    model.give(piece);
    here.quota().give(piece.kind, piece.pages, PageQuota::kCommonShard);
  }
  EXPECT_EQ(looks, static_cast<std::uint64_t>(rounds));
  EXPECT_EQ(model.broken, 0);
  EXPECT_EQ(model.total, 0U);
  EXPECT_EQ(here.used(), 0U);
  EXPECT_EQ(here.quota().own().used, 0U);
  // Each page can be had: those of the limited kinds first, the rest from the other one.
  for (std::uint64_t i = 0; i < 90; ++i)
    ASSERT_TRUE(here.quota().take(kHuge, 1, here.shards[i % here.shards.size()]));
  EXPECT_FALSE(here.quota().take(kHuge, 1));
  for (std::uint64_t i = 0; i < 210; ++i)
    ASSERT_TRUE(here.quota().take(kNormal, 1, here.shards[i % here.shards.size()])) << i;
  EXPECT_FALSE(here.quota().take(kNormal, 1));
}

TEST(QuotaShards, M430_ThreadsWithShardsOfTheirOwn_AgainstAModel) {
  for (const unsigned which : {1U, 2U, 3U}) against_the_model(4, 0, which, slice(40, 1000, 6));
}
TEST(QuotaShards, M430_MoreThreadsThanShards_AgainstAModel) {
  for (const unsigned which : {1U, 2U}) against_the_model(3, 4, which, slice(40, 1000, 6));
}
TEST(QuotaShards, M430_AllShardsAtOnce_AgainstAModel) {
  against_the_model(kShards - 1, 3, 1, slice(8, 200, 3));
}
TEST(QuotaShards, M430_MoreThreadsThanARowHasShards_AgainstAModel) {
  against_the_model(kShards + 8, 1, 1, slice(6, 150, 3));
}

// Another process has shards of the annex beside ours, and dies, at any moment of its claims too.
TEST(QuotaShards, D52_D66_WhoClaimsShardsOfTheAnnexIsKilled_AndTheyAreUsedAgain) {
  SharedState shared{no_limits(1000)};
  WithShards here{shared, kShards + 3};
  for (unsigned round = 0; round < slice(40U, 1000U, 4U); ++round) {
    const Common<std::atomic<int>> claims;
    Child child{[&] {
      There& there = *new There{shared.link()};
      for (std::size_t i = 0; i < kShards + 200; ++i) {
        const std::size_t shard = there.processes.claim_shard();
        if (!there.quotas[0].take(i % kKinds, 2, shard)) return 1;
        there.quotas[0].give(i % kKinds, 1, shard);
        claims->fetch_add(1);
      }
      return 0;
    }};
    const int until = static_cast<int>(round * 5 % (kShards + 200));
    while (claims->load() < until) std::this_thread::yield();
    ASSERT_LE(here.used(), 1000U);
    child.kill();
    ASSERT_EQ(here.used(), 0U) << "round " << round;
    ASSERT_LE(annex_of(shared.state()), 4U + 202U);
  }
  expect_all_can_be_had(here, 1000);
}

// Each killed with some shards below nothing and some above.
TEST(QuotaShards, D52_M430_ProcessesWithSeveralShards_KilledMeanwhile_LeaveExactBooks) {
  SCOPED_TRACE(seed_text());
  SharedState shared{no_limits(300)};
  WithShards here{shared, 1};
  for (unsigned round = 0; round < slice(8U, 200U, 3U); ++round) {
    std::vector<std::unique_ptr<Child>> children;
    const Common<std::atomic<int>> at_work;
    for (unsigned i = 0; i < 3; ++i) {
      children.push_back(std::make_unique<Child>([&, i] {
        There& there = *new There{shared.link()};
        std::array<std::size_t, 4> shards{PageQuota::kCommonShard};
        for (std::size_t p = 1; p < 4; ++p) shards[p] = there.processes.claim_shard();
        std::mt19937 random = test_random(round * 8 + i);
        std::vector<Piece> mine;
        at_work->fetch_add(1);
        for (;;) {
          const std::size_t shard = shards[random() % 4];
          if (random() % 2 == 0 || mine.empty()) {
            const Piece piece{random() % kKinds, random() % 20 + 1};
            if (there.quotas[0].take(piece.kind, piece.pages, shard)) mine.push_back(piece);
          } else {
            there.quotas[0].give(mine.back().kind, mine.back().pages, shard);
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

}  // namespace quota_shards_test
}  // namespace belay::machine
