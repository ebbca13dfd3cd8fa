#include "machine/process_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "support/sanitizer.h"
#include "support/scratch.h"
#include "support/shared_state.h"

namespace belay::machine {
namespace process_table_test {

using namespace belay_test;

constexpr std::size_t kNormal = kind_of(0, false), kHuge = kind_of(1, false);

std::uint64_t held(const State& state, std::size_t device, std::size_t row) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : used_by(state, device, row)) sum += each;
  return sum;
}

// A row as a process would have left it.
void put_row(State& state, std::size_t row, std::int32_t process, std::uint64_t start, std::uint64_t space,
             Life::State life = Life::Live) {
  Row& of = state.rows[row];
  of.process = process;
  of.start = start;
  of.number_space = space;
  of.joined = 7;
  of.life = Life::next(of.life, life);
  state.used_rows = std::max<std::uint32_t>(state.used_rows, static_cast<std::uint32_t>(row) + 1);
  for (std::size_t device = 0; device < state.header.devices; ++device)
    state.devices[device].shards[row][0].of[kNormal].word = Account::make(10, 20);
}

TEST(ProcessTable, D52_EachProcessHasARowOfItsOwn) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 16; ++i) {
    children.push_back(std::make_unique<Child>([&] {
      const There& there = *new There{shared.link()};
      return there.claimed ? static_cast<int>(there.processes.mine()) : -1;
    }));
  }
  std::set<int> rows{static_cast<int>(here.processes.mine())};
  for (const auto& child : children) {
    const int row = child->answer();
    EXPECT_GE(row, 0);
    EXPECT_TRUE(rows.insert(row).second) << row;
  }
  EXPECT_EQ(*rows.rbegin(), 16) << "rows are used from the first on";
}

TEST(ProcessTable, D66_RowsOfTheDeadAreUsedAgain) {
  SharedState shared{no_limits(100), 2};
  Here here{shared};
  for (int i = 0; i < 20; ++i) {
    Child child{[&] {
      There& there = *new There{shared.link()};
      for (std::size_t device : {0U, 1U}) {
        if (!there.quotas[device].take(kNormal, 40) || !there.quotas[device].take(kHuge, 30)) return -1;
      }
      return static_cast<int>(there.processes.mine());
    }};
    EXPECT_EQ(child.answer(), 1);
    EXPECT_EQ(held(shared.state(), 0, 1), 70U);
  }
  EXPECT_EQ(rows_of(shared.state()), 2U);
}

TEST(ProcessTable, D66_ADeadProcessIsBuried_AsSoonAsItIsDead) {
  SharedState shared{no_limits(100), 2};
  Here here{shared};
  Child child{[&] {
    There& there = *new There{shared.link()};
    for (std::size_t device : {0U, 1U}) {
      if (!there.quotas[device].take(kNormal, 40) || !there.quotas[device].take(kHuge, 30)) return -1;
    }
    return static_cast<int>(there.processes.mine());
  }};
  const auto row = static_cast<std::size_t>(child.answer());
  const std::uint64_t space = platform::process_number_space();
  const std::uint64_t life = shared.state().rows[row].life;
  EXPECT_TRUE(alive(shared.memory(), shared.state(), row, space));
  EXPECT_FALSE(here.processes.return_what_the_dead_held(0));
  child.kill();  // not fetched: a zombie
  EXPECT_FALSE(alive(shared.memory(), shared.state(), row, space));
  EXPECT_TRUE(here.processes.return_what_the_dead_held(0));
  for (std::size_t device : {0U, 1U}) {
    EXPECT_EQ(held(shared.state(), device, row), 0U);
    EXPECT_EQ(here.quotas[device].used(), Use{});
    EXPECT_TRUE(here.quotas[device].take(kNormal, 100));
  }
  EXPECT_EQ(Life::state(shared.state().rows[row].life), Life::Free);
  EXPECT_NE(shared.state().rows[row].life, life);
  EXPECT_FALSE(here.processes.return_what_the_dead_held(0)) << "once is enough";
}

TEST(ProcessTable, D52_AStoppedProcessLives) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  Child child{[&] {
    There& there = *new There{shared.link()};
    return there.quotas[0].take(kNormal, 40) ? static_cast<int>(there.processes.mine()) : -1;
  }};
  const auto row = static_cast<std::size_t>(child.answer());
  ::kill(child.process(), SIGSTOP);
  siginfo_t about{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.process()), &about, WSTOPPED), 0);
  EXPECT_FALSE(here.processes.return_what_the_dead_held(0));
  EXPECT_EQ(held(shared.state(), 0, row), 40U);
}

// It closed all its descriptors, and with them went its lock. The map of its memory tells that it lives.
TEST(ProcessTable, D52_AProcessWithoutItsDescriptorLives_UntilItDies) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  Child child{[&] {
    There& there = *new There{shared.link()};
    if (!there.quotas[0].take(kNormal, 40)) return -1;
    ::close(there.memory.file());
    return static_cast<int>(there.processes.mine());
  }};
  const auto row = static_cast<std::size_t>(child.answer());
  EXPECT_EQ(shared.memory().state(row), platform::CommonMemory::Lock::Free);
  EXPECT_TRUE(alive(shared.memory(), shared.state(), row, platform::process_number_space()));
  EXPECT_FALSE(here.processes.return_what_the_dead_held(0));
  EXPECT_EQ(held(shared.state(), 0, row), 40U);

  // Nobody gets its row, although the lock is free.
  Child other{[&] { return static_cast<int>((new There{shared.link()})->processes.mine()); }};
  EXPECT_NE(other.answer(), static_cast<int>(row));
  child.kill();
  EXPECT_TRUE(here.processes.return_what_the_dead_held(0));
  EXPECT_EQ(held(shared.state(), 0, row), 0U);
}

// Numbers of processes are used again. The time of the start tells which one it was.
TEST(ProcessTable, D66_AnotherProcessWithTheSameNumber_IsNotTheOneThatDied) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  const Child stranger{[&] {
    platform::CommonMemory& memory = *new platform::CommonMemory;
    return platform::CommonMemory::open(shared.link(), kUnitState, true, memory) ==
                   platform::CommonMemory::Opened::Done
               ? 0
               : 1;
  }};
  ASSERT_EQ(stranger.answer(), 0);
  const std::uint64_t space = platform::process_number_space();
  put_row(shared.state(), 5, stranger.process(), stranger.start(), space);
  EXPECT_TRUE(alive(shared.memory(), shared.state(), 5, space)) << "number, start and map are right";
  EXPECT_FALSE(here.processes.return_what_the_dead_held(0));
  put_row(shared.state(), 5, stranger.process(), stranger.start() + 1, space);
  EXPECT_FALSE(alive(shared.memory(), shared.state(), 5, space));
  EXPECT_TRUE(here.processes.return_what_the_dead_held(0));
  EXPECT_EQ(held(shared.state(), 0, 5), 0U);
  // The right one, but it has become another program and does not know the machine any more.
  const Child elsewhere{[] { return 0; }};
  ASSERT_EQ(elsewhere.answer(), 0);
  put_row(shared.state(), 6, elsewhere.process(), elsewhere.start(), space);
  EXPECT_FALSE(alive(shared.memory(), shared.state(), 6, space));
}

TEST(ProcessTable, D66_AProcessOfAnotherNumberSpace_LivesAsLongAsItHasTheLock) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  const Child locked{[&] {
    There& there = *new There{shared.link()};
    return static_cast<int>(there.processes.mine());
  }};
  const auto row = static_cast<std::size_t>(locked.answer());
  shared.state().rows[row].number_space += 1;
  shared.state().rows[row].process = 1;
  EXPECT_TRUE(alive(shared.memory(), shared.state(), row, platform::process_number_space()));
  locked.kill();
  EXPECT_FALSE(alive(shared.memory(), shared.state(), row, platform::process_number_space()));
}

// Killed while it took the row over from a dead one: the row holds what the dead one held.
TEST(ProcessTable, D66_ARowThatSomebodyDiedClaiming_IsCleared) {
  SharedState shared{no_limits(100), 2};
  Here here{shared};
  put_row(shared.state(), 3, 1, 1, platform::process_number_space(), Life::Claiming);
  EXPECT_TRUE(here.processes.return_what_the_dead_held(0));
  EXPECT_EQ(held(shared.state(), 0, 3), 0U);
  EXPECT_EQ(held(shared.state(), 1, 3), 0U);
  EXPECT_EQ(Life::state(shared.state().rows[3].life), Life::Free);
}

TEST(ProcessTable, D66_AGrantThatTheDeadHadAskedFor_IsVoid) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  State& state = shared.state();
  put_row(state, 3, 1, 1, platform::process_number_space());
  const NumberedWord::Value grant{Pending::make(AccountIndex{3, 0, kHuge}.number(), 50), 9};
  ASSERT_TRUE(state.devices[0].pending.exchange({}, grant));
  ASSERT_TRUE(here.processes.return_what_the_dead_held(0));
  ASSERT_TRUE(here.quotas[0].take(kNormal, 100));
  EXPECT_EQ(held(state, 0, 3), 0U);
  // Nor does the row's next owner get it, when a helper comes late.
  const Child next{[&] { return static_cast<int>((new There{shared.link()})->processes.mine()); }};
  ASSERT_EQ(next.answer(), 1);
  for (std::size_t row = 2; row < 4; ++row) put_row(state, row, 1, 1, 0, Life::Free);
  complete_grant(state, 0, grant);
  EXPECT_EQ(held(state, 0, 3), 0U);
  EXPECT_EQ(here.quotas[0].used()[kHuge], 0U);
}

// A grant of somebody else stays.
TEST(ProcessTable, D52_BuryingTheDead_LeavesTheGrantsOfTheLiving) {
  SharedState shared{no_limits(100)};
  Here here{shared};
  State& state = shared.state();
  const Child sleeper{[&] { return static_cast<int>((new There{shared.link()})->processes.mine()); }};
  const auto row = static_cast<std::size_t>(sleeper.answer());
  put_row(state, 3, 1, 1, platform::process_number_space());
  ASSERT_TRUE(
      state.devices[0].pending.exchange({}, {Pending::make(AccountIndex{row, 0, kHuge}.number(), 50), 9}));
  ASSERT_TRUE(here.processes.return_what_the_dead_held(0));
  ASSERT_TRUE(here.quotas[0].take(kNormal, 50));
  EXPECT_FALSE(here.quotas[0].take(kNormal, 1));
  EXPECT_EQ(held(state, 0, row), 50U);
}

TEST(ProcessTable, D66_TheLinkOfTheDeadIsRemoved_AndNoOther) {
  const Scratch scratch;
  SharedState shared{no_limits(100)};
  Here here{shared, scratch.path()};
  const std::uint64_t space = platform::process_number_space();
  put_row(shared.state(), 3, 4711, 12, space);
  const auto link = [&](std::uint64_t joined) {
    return scratch.sub(text_of({kMember, shared.state().header.generation, 4711, 12, joined}));
  };
  for (const std::uint64_t joined : {6U, 7U, 8U}) ASSERT_EQ(::symlink("/nowhere", link(joined).c_str()), 0);
  ASSERT_TRUE(here.processes.return_what_the_dead_held(0));
  EXPECT_FALSE(std::filesystem::is_symlink(link(7)));
  EXPECT_TRUE(std::filesystem::is_symlink(link(6)));
  EXPECT_TRUE(std::filesystem::is_symlink(link(8))) << "that of a later life with the same number";
}

// All rows belong to a process that lives, as far as anybody can tell.
TEST(ProcessTable, D52_WhenAllRowsAreTaken_ThereIsNoneForTheNext) {
  SharedState shared{no_limits(100)};
  const Child owner{[&] {
    platform::CommonMemory& memory = *new platform::CommonMemory;
    return static_cast<int>(platform::CommonMemory::open(shared.link(), kUnitState, true, memory));
  }};
  ASSERT_EQ(owner.answer(), 0);
  const std::uint64_t space = platform::process_number_space();
  for (std::size_t row = 0; row < kSlots; ++row)
    put_row(shared.state(), row, owner.process(), owner.start(), space);
  const Child late{[&] { return (new There{shared.link()})->claimed ? 1 : 0; }};
  EXPECT_EQ(late.answer(), 0);
  owner.kill();
  const Child later{[&] { return (new There{shared.link()})->claimed ? 1 : 0; }};
  EXPECT_EQ(later.answer(), 1);
}

TEST(ProcessTable, D66_AProcessThatComesAgainAsAnotherProgram_BuriesItsFormerSelf) {
  SharedState shared{no_limits(100)};
  const Child witness{[&] { return (new There{shared.link()})->claimed ? 0 : 1; }};
  ASSERT_EQ(witness.answer(), 0);
  {
    Here former{shared};
    ASSERT_EQ(former.processes.mine(), 1U);
    ASSERT_TRUE(former.quotas[0].take(kNormal, 70));
  }
  Here now{shared};
  EXPECT_EQ(now.quotas[0].used()[kNormal], 0U);
  EXPECT_TRUE(now.quotas[0].take(kNormal, 100));
  std::size_t live = 0;
  for (const Row& row : shared.state().rows) live += Life::state(row.life) == Life::Live ? 1U : 0U;
  EXPECT_EQ(live, 2U);
}

TEST(ProcessTable, D66_NamesOfLinks_TellOneLifeFromAnother) {
  const LinkName name{kMember, 0x1F, 123, 456, 789};
  EXPECT_EQ(text_of(name), "member.000000000000001f.123.456.789");
  EXPECT_NE(text_of(name), text_of({kMember, 0x1F, 123, 457, 789}));
  EXPECT_NE(text_of(name), text_of({kMember, 0x1F, 123, 456, 790}));
  EXPECT_NE(text_of(name), text_of({kFounder, 0x1F, 123, 456, 789}));
}

}  // namespace process_table_test
}  // namespace belay::machine
