// What processes publish to others: found by who knows the secret, refused to who may not, gone with its
// creator.
#include "machine/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "machine/extents.h"
#include "machine/page_quota.h"
#include "machine/process_table.h"
#include "support/instructions.h"
#include "support/shared_state.h"
#include "support/slices.h"

namespace belay::machine {
namespace shares_test {

using namespace belay_test;

constexpr std::size_t kMost = 32768;
constexpr Publishing kKey{.kind = ShareKind::Key, .checking = true, .words = {1, 2, 3, 4, 5, 6}};
constexpr Publishing kOpen{.kind = ShareKind::Key, .checking = false, .words = {7}};

struct Me : Here {
  explicit Me(SharedState& shared)
      : Here{shared}, extents{shared.state(), processes}, shares{shared.state(), processes} {}
  Extents extents;
  Shares shares;
};
struct Other : There {
  explicit Other(const std::string& link)
      : There{link}, extents{*state, processes}, shares{*state, processes} {}
  Extents extents;
  Shares shares;
};

std::vector<std::int32_t> named(std::int32_t process) { return {process}; }

TEST(Shares, V222_V391_WhoKnowsTheSecret_FindsWhatWasPublished) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const std::optional<Secret> secret = me.shares.publish(kKey);
  ASSERT_TRUE(secret);
  const std::optional<Share> found = me.shares.find(ShareKind::Key, *secret);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->words, kKey.words);
  EXPECT_EQ(found->process, ::getpid());
  EXPECT_TRUE(found->checking);
  EXPECT_TRUE(me.shares.is_mine(*found));
  EXPECT_TRUE(me.shares.stands(*found));
  EXPECT_FALSE(me.shares.find(ShareKind::Event, *secret)) << "a key is no event";
  me.shares.end(found->id);
  EXPECT_FALSE(me.shares.stands(*found));
  EXPECT_FALSE(me.shares.find(ShareKind::Key, *secret));
}

TEST(Shares, V413_ASecretWithOneWrongBit_FindsNothing) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  for (const bool one_word : {false, true}) {
    Publishing what = kOpen;
    what.one_word = one_word;
    const std::optional<Secret> secret = me.shares.publish(what);
    ASSERT_TRUE(secret);
    for (std::size_t bit = 0; bit < 256; ++bit) {
      Secret wrong = *secret;
      wrong[bit / 64] ^= std::uint64_t{1} << bit % 64;
      EXPECT_FALSE(me.shares.find(ShareKind::Key, wrong)) << "bit " << bit;
    }
    EXPECT_TRUE(me.shares.find(ShareKind::Key, *secret));
  }
  EXPECT_FALSE(me.shares.find(ShareKind::Key, {}));
}

TEST(Shares, V222_SecretsAreOfRandomBits) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  std::array<int, 256> ones{};
  constexpr int kMany = 2000;
  std::set<Secret> all;
  for (int i = 0; i < kMany; ++i) {
    const std::optional<Secret> secret = me.shares.publish(kOpen);
    ASSERT_TRUE(secret);
    all.insert(*secret);
    for (std::size_t bit = 0; bit < 256; ++bit) ones[bit] += (*secret)[bit / 64] >> bit % 64 & 1 ? 1 : 0;
  }
  EXPECT_EQ(all.size(), std::size_t{kMany});
  // Eight standard deviations to each side.
  for (const int each : ones) EXPECT_NEAR(each, kMany / 2, 180);
}

TEST(Shares, TenThousandLive_AreAllFound_AndMoreThanTheTableHoldsAreRefused) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  std::vector<Secret> secrets;
  for (std::size_t i = 0; i < kShares; ++i) {
    const std::optional<Secret> secret = me.shares.publish(kOpen);
    if (!secret) break;
    secrets.push_back(*secret);
  }
  EXPECT_GE(secrets.size(), kShares / 100 * 99);
  for (const Secret& each : secrets) ASSERT_TRUE(me.shares.find(ShareKind::Key, each));
  EXPECT_EQ(all_shares(shared.state()).size(), secrets.size());
  for (const Secret& each : secrets) me.shares.end(each[0]);
  EXPECT_TRUE(all_shares(shared.state()).empty());
  EXPECT_TRUE(me.shares.publish(kOpen));
}

TEST(Shares, V413_V433_AShareEndsWithItsCreator_AndItsPlacesAreFree) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const Common<Secret> secret;
  Child creator{[&] {
    Other& other = *new Other{shared.link()};
    for (std::size_t i = 0; i < kShares / 2; ++i) *secret = *other.shares.publish(kOpen);
    return 0;
  }};
  ASSERT_EQ(creator.answer(), 0);
  const std::optional<Share> found = me.shares.find(ShareKind::Key, *secret);
  ASSERT_TRUE(found);
  EXPECT_FALSE(me.shares.is_mine(*found));
  EXPECT_EQ(found->process, creator.process());
  me.shares.end(found->id);
  EXPECT_TRUE(me.shares.stands(*found)) << "only its creator ends it";
  creator.kill();
  EXPECT_FALSE(me.shares.stands(*found)) << "dead, though nobody has fetched it";
  EXPECT_FALSE(me.shares.find(ShareKind::Key, *secret));
  std::size_t published = 0;
  while (me.shares.publish(kOpen)) ++published;
  EXPECT_GE(published, kShares / 100 * 99);
}

// The next process gets the row of the dead one; it creates nothing by that.
TEST(Shares, V413_TheNextProcessInTheRowOfTheCreator_IsNotTheCreator) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const Common<Secret> secret;
  const Common<Share> share;
  {
    Child creator{[&] {
      Other& other = *new Other{shared.link()};
      *secret = *other.shares.publish(kOpen);
      *share = *other.shares.find(ShareKind::Key, *secret);
      return static_cast<int>(other.processes.mine());
    }};
    EXPECT_EQ(creator.answer(), 1);
  }
  Child next{[&] {
    Other& other = *new Other{shared.link()};
    const bool any = other.shares.find(ShareKind::Key, *secret) || other.shares.is_mine(*share) ||
                     other.shares.stands(*share);
    return any ? 100 : static_cast<int>(other.processes.mine());
  }};
  EXPECT_EQ(next.answer(), 1);
  EXPECT_FALSE(me.shares.stands(*share));
}

TEST(Shares, V40_AShareOfAnExtent_MayOutliveItsCreator_AsLongAsSomebodyHoldsIt) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const Common<Secret> secret;
  const Common<ExtentName> extent;
  Child creator{[&] {
    Other& other = *new Other{shared.link()};
    other.quotas[0].take(2, 50);
    *extent = *other.extents.make(other.quotas[0], 2, 50, PageQuota::kCommonShard, {0, 50 * 4096, {1, 2, 3}});
    *secret = *other.shares.publish({.kind = ShareKind::Handle,
                                     .checking = false,
                                     .outlives = true,
                                     .one_word = true,
                                     .words = {extent->index, extent->serial}});
    return 0;
  }};
  ASSERT_EQ(creator.answer(), 0);
  ASSERT_TRUE(me.extents.hold(*extent));
  creator.kill();
  EXPECT_TRUE(me.shares.find(ShareKind::Handle, *secret));
  me.extents.release(*extent);
  EXPECT_FALSE(me.shares.find(ShareKind::Handle, *secret));
}

TEST(Shares, V224_V239_OnlyNamedProcessesMayImport) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const std::optional<Secret> secret = me.shares.publish(kKey), open = me.shares.publish(kOpen);
  const ShareId id = (*secret)[0];
  const Common<std::atomic<int>> step;
  Child importer{[&] {
    Other& other = *new Other{shared.link()};
    const Share share = *other.shares.find(ShareKind::Key, *secret);
    int right = other.shares.allows(share) == Shares::Answer::NotNamed ? 1 : 0;
    right += other.shares.allows(*other.shares.find(ShareKind::Key, *open)) == Shares::Answer::Yes ? 1 : 0;
    step->store(1);
    while (step->load() < 2) std::this_thread::yield();
    return right + (other.shares.allows(share) == Shares::Answer::Yes ? 1 : 0);
  }};
  while (step->load() < 1) std::this_thread::yield();
  EXPECT_TRUE(me.shares.allow(id, named(importer.process() + 1), kMost));
  EXPECT_TRUE(me.shares.allow(id, named(importer.process()), kMost));
  EXPECT_TRUE(me.shares.allow(id, named(importer.process()), kMost));
  step->store(2);
  EXPECT_EQ(importer.answer(), 3);
  const std::vector<ShareSeen> all = all_shares(shared.state());
  const auto seen = std::ranges::find(all, id, &ShareSeen::id);
  ASSERT_NE(seen, all.end());
  EXPECT_EQ(seen->named, 2U) << "who was named twice is there once";
  EXPECT_EQ(seen->may_import, (std::vector<std::int32_t>{importer.process(), importer.process() + 1}));
}

TEST(Shares, V242_WhoWasNamedBeforeItStarted_MayNot_UntilItIsNamedAgain) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const std::optional<Secret> secret = me.shares.publish(kKey);
  // This process starts, in the books of the machine, after it was named.
  Row& row = shared.state().rows[me.processes.mine()];
  ASSERT_TRUE(me.shares.allow((*secret)[0], named(::getpid()), kMost));
  const Share share = *me.shares.find(ShareKind::Key, *secret);
  EXPECT_EQ(me.shares.allows(share), Shares::Answer::Yes);
  const std::uint64_t now = platform::ticks_now();
  for (const int later : {-1, 0}) {
    row.start = now + static_cast<std::uint64_t>(later);
    ASSERT_TRUE(me.shares.allow((*secret)[0], named(::getpid()), kMost));
    EXPECT_EQ(me.shares.allows(share), Shares::Answer::Yes);
  }
  row.start = platform::ticks_now() + 1'000'000;
  EXPECT_EQ(me.shares.allows(share), Shares::Answer::NamedBeforeItStarted);
  row.start = now;
  ASSERT_TRUE(me.shares.allow((*secret)[0], named(::getpid()), kMost));
  EXPECT_EQ(me.shares.allows(share), Shares::Answer::Yes);
}

TEST(Shares, V241_ProcessesWithOtherNumbers_AreNotTakenForThoseNamed) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  const std::optional<Secret> secret = me.shares.publish(kKey);
  ASSERT_TRUE(me.shares.allow((*secret)[0], named(::getpid()), kMost));
  Row& row = shared.state().rows[me.processes.mine()];
  row.number_space += 1;
  EXPECT_EQ(me.shares.allows(*me.shares.find(ShareKind::Key, *secret)), Shares::Answer::OtherNumbers);
}

TEST(Shares, V234_V399_ManyAreNamed_UpToTheLimit_AndTheirPlacesAreUsedAgain) {
  SharedState shared{no_limits(100)};
  Me me{shared};
  std::vector<std::int32_t> processes(kMost);
  for (int round = 0; round < 20; ++round) {
    const std::optional<Secret> secret = me.shares.publish(kKey);
    std::int32_t next = 1;
    std::ranges::generate(processes, [&] { return next++; });
    ASSERT_TRUE(me.shares.allow((*secret)[0], processes, kMost)) << "round " << round;
    EXPECT_TRUE(me.shares.allow((*secret)[0], named(7), kMost)) << "it is there";
    EXPECT_FALSE(me.shares.allow((*secret)[0], named(next), kMost));
    EXPECT_EQ(me.shares.find(ShareKind::Key, *secret)->named, kMost);
    me.shares.end((*secret)[0]);
  }
}

// Wherever it stops, others find all of it or nothing, and the place is free afterwards.
TEST(Shares, D66_ItsCreatorIsKilledBetweenAnyTwoInstructions) {
  if (!kCountsInstructions) GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction";
  SharedState shared{no_limits(100)};
  Me me{shared};
  const Common<std::uint64_t> length;
  const auto run = [&](std::uint64_t instructions) {
    const Common<Secret> secret;
    const Common<std::atomic<bool>> published;
    Child child{[&] {
      Other& other = *new Other{shared.link()};
      const std::vector<std::int32_t> some{5, 6};
      const Counted answer = count_instructions(instructions, SIGKILL, [&] {
        *secret = *other.shares.publish(kKey);
        *published = true;
        other.shares.allow((*secret)[0], some, kMost);
        other.shares.end((*secret)[0]);
        return 0;
      });
      *length = answer.instructions;
      return answer.code;
    }};
    if (instructions == kNever) {
      EXPECT_EQ(child.answer(), 0);
    } else {
      siginfo_t about{};
      ::waitid(P_PID, static_cast<id_t>(child.process()), &about, WEXITED | WNOWAIT);
    }
    EXPECT_FALSE(*published && me.shares.find(ShareKind::Key, *secret));
    for (const ShareSeen& each : all_shares(shared.state())) {
      EXPECT_EQ(each.words, kKey.words) << "half of it";
      EXPECT_FALSE(me.shares.stands(each));
    }
  };
  run(kNever);
  ASSERT_GT(*length, 200U);
  const std::uint64_t visits = slice<std::uint64_t>(60, 3000, 20);
  for (std::uint64_t visit = 0; visit < visits && !::testing::Test::HasFailure(); ++visit) {
    const std::uint64_t steps = *length * visit / visits + test_seed() % (*length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(*length) + " instructions, " +
                 seed_text());
    run(steps);
  }
}

// Threads and processes publish and end at random; what stands is always whole and its creator's.
TEST(Shares, D66_RandomProcesses_KilledMeanwhile_LeaveOnlyWhatIsWhole) {
  SCOPED_TRACE(seed_text());
  SharedState shared{no_limits(100)};
  Me me{shared};
  for (unsigned round = 0; round < slice(8U, 200U, 3U); ++round) {
    const Common<std::atomic<int>> at_work;
    std::vector<std::unique_ptr<Child>> children;
    for (unsigned i = 0; i < 3; ++i) {
      children.push_back(std::make_unique<Child>([&, i] {
        Other& other = *new Other{shared.link()};
        const auto work = [&](unsigned thread) {
          std::mt19937 random = test_random(round * 8 + i + thread * 1000);
          std::vector<ShareId> mine;
          at_work->fetch_add(1);
          for (;;) {
            if (mine.size() < 100 && random() % 2 == 0) {
              const auto process = static_cast<std::uint64_t>(::getpid());
              mine.push_back((*other.shares.publish(
                  {.kind = ShareKind::Key, .checking = false, .words = {process, ~process}}))[0]);
            } else if (!mine.empty()) {
              other.shares.end(mine.back());
              mine.pop_back();
            }
          }
        };
        std::thread{work, 1}.detach();
        work(0);
        return 0;
      }));
    }
    while (at_work->load() < 6) std::this_thread::yield();
    const auto look = [&] {
      for (const ShareSeen& each : all_shares(shared.state())) {
        EXPECT_EQ(each.words[0], ~each.words[1]);
        EXPECT_EQ(each.words[0], static_cast<std::uint64_t>(each.process));
      }
    };
    for (unsigned i = 0; i < round % 20 * 10; ++i) look();
    for (const auto& child : children) child->kill();
    look();
    for (const ShareSeen& each : all_shares(shared.state())) EXPECT_FALSE(me.shares.stands(each));
  }
}

}  // namespace shares_test
}  // namespace belay::machine
