// Many processes come and go: one machine results, and nothing piles up.
#include <algorithm>
#include <map>
#include <random>

#include "support/members.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/slices.h"

namespace machine_crowd_test {

using namespace belay_test;

class MachineCrowd : public AsRootAndUser {};
INSTANTIATE_TEST_SUITE_P(Pass, MachineCrowd, ::testing::Values(false, true), name_of_pass);

constexpr std::size_t kBlock = 64 * kKB;

// All start before any of them calls the library; then all are let go at once.
void one_round(const TestMachine& machine, std::size_t count) {
  std::vector<MemberPtr> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(machine.come());
  for (const auto& member : members) member->send({Do::set_device, 0});
  for (const auto& member : members) ASSERT_EQ(member->hear().code, 0);
  for (const auto& member : members) member->send({Do::allocate, ACL_MEM_MALLOC_NORMAL_ONLY, 0, kBlock});
  for (const auto& member : members) ASSERT_EQ(member->hear().code, 0);
  for (const auto& member : members) {
    const Member::Figures figures = member->info();
    ASSERT_EQ(figures.total - figures.free, count * kBlock) << "not all are on one machine";
  }
  for (const auto& member : members) ::kill(member->process(), SIGKILL);
  for (const auto& member : members) member->wait();
}

TEST_P(MachineCrowd, D52_ManyAtOnceFromNothing_MeetOnOneMachine) {
  const std::size_t count = kUnderASanitizer ? 24 : 64;
  for (int round = 0; round < slice(2, 30) && !::testing::Test::HasFailure(); ++round) {
    const TestMachine machine;
    one_round(machine, count);
  }
}

TEST_P(MachineCrowd, D52_D66_ManyAtOnceAfterAllWereKilled_MeetOnOneMachine) {
  const std::size_t count = kUnderASanitizer ? 24 : 64;
  const TestMachine machine;
  for (int round = 0; round < slice(3, 50) && !::testing::Test::HasFailure(); ++round) {
    one_round(machine, count);
    EXPECT_LE(machine.links(), 2 * count + 2);
  }
}

// The new ones come in while the old ones are killed: each of them through somebody who may be dead a moment
// later.
TEST_P(MachineCrowd, D52_D66_TheOldDieWhileTheNewCome_AndTheNewAreOnOneMachine) {
  SCOPED_TRACE(seed_text());
  std::mt19937_64 random{test_seed()};
  const TestMachine machine;
  std::vector<MemberPtr> old;
  const std::uint64_t rounds = slice<std::uint64_t>(80, 1500, 5);
  for (std::uint64_t round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    std::vector<MemberPtr> comers;
    for (std::uint64_t i = random() % 4 + 1; i > 0; --i) comers.push_back(machine.come());
    for (const auto& comer : comers) comer->send({Do::set_device, 0});
    for (const auto& member : old) {
      for (std::uint64_t turns = random() % 3000; turns > 0; --turns) (void)::getppid();
      ::kill(member->process(), SIGKILL);
    }
    for (const auto& comer : comers) {
      const Answer answer = comer->hear();
      ASSERT_EQ(answer.code, 0) << "round " << round << ": " << comer->message();
    }
    for (const auto& member : old) member->until_dead();
    for (const auto& comer : comers) ASSERT_NE(comer->allocate(kBlock), 0U);
    for (const auto& comer : comers)
      ASSERT_EQ(comer->free_now(), 64 * kMB - comers.size() * kBlock) << "round " << round;
    EXPECT_LE(machine.links(), 40U);
    old = std::move(comers);
  }
}

// --- short lives ----------------------------------------------------------------------------------------

// What a short-lived process does; the exit code tells what went wrong.
enum Trouble { fine = 0, not_joined = 1, refused = 2, wrong_figures = 3 };

[[noreturn]] void live_shortly(const Settings& settings, std::uint64_t life, bool alone) {
  adopt(settings);
  if (aclrtSetDevice(0) != ACL_SUCCESS) {
    std::fprintf(stderr, "%s\n", recent_message().c_str());
    ::_exit(not_joined);
  }
  if (life % 5 == 0) ::kill(::getpid(), SIGKILL);
  void* block = nullptr;
  if (::aclrtMallocAlign32(&block, (life % 16 + 1) * kBlock, policy_of(ACL_MEM_MALLOC_NORMAL_ONLY)) != 0) {
    std::fprintf(stderr, "%s\n", recent_message().c_str());
    ::_exit(refused);
  }
  std::size_t free = 0, total = 0;
  if (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != 0 || total != 64 * kMB ||
      free > total - (life % 16 + 1) * kBlock ||
      (alone && free + (life % 16 + 1) * kBlock != 63 * kMB && free + (life % 16 + 1) * kBlock != total)) {
    std::fprintf(stderr, "free %zu of %zu\n", free, total);
    ::_exit(wrong_figures);
  }
  if (life % 3 == 0) (void)aclrtFree(block);
  if (life % 3 == 1) (void)aclrtResetDevice(0);
  if (life % 7 == 0) ::kill(::getpid(), SIGKILL);
  ::_exit(fine);
}

// So many lives in all, so many of them at a time.
void short_lives(const TestMachine& machine, std::uint64_t lives, std::size_t at_a_time) {
  std::map<pid_t, std::uint64_t> running;
  std::size_t most_links = 0;
  for (std::uint64_t life = 0; life < lives || !running.empty();) {
    if (life < lives && running.size() < at_a_time) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) live_shortly(machine.settings(), life, at_a_time == 1);
      running[child] = life++;
      continue;
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (running.count(ended) == 0) continue;
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), fine) << "life " << running[ended] << " of " << lives;
    } else {
      EXPECT_EQ(WTERMSIG(status), SIGKILL) << "life " << running[ended];
    }
    running.erase(ended);
    if (life % 16 == 0) most_links = std::max(most_links, machine.links());
    if (::testing::Test::HasFailure()) lives = life;
  }
  EXPECT_LE(most_links, 4 * at_a_time + 8) << "links pile up";
}

std::uint64_t runs() { return slice<std::uint64_t>(120, 3000, 5); }

TEST_P(MachineCrowd, D52_D66_ShortLivesInARow_WithNobodyElse) {
  const TestMachine machine;
  short_lives(machine, runs(), 1);
  EXPECT_EQ(machine.join()->free_now(), 64 * kMB);
}

TEST_P(MachineCrowd, D52_D66_ShortLivesInARow_BesideALongOne) {
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  const std::uint64_t kept = witness->allocate(kMB);
  ASSERT_EQ(witness->write(kept, kMB, 4), 0);
  short_lives(machine, runs(), 1);
  EXPECT_EQ(witness->free_now(), 63 * kMB);
  EXPECT_TRUE(witness->verify(kept, kMB, 4));
  EXPECT_NE(witness->allocate(63 * kMB), 0U);
}

// Somebody joins through a process that dies at that moment, while others found the next machine.
TEST_P(MachineCrowd, D52_D66_ShortLivesSideBySide_AllFindAMachine) {
  const TestMachine machine;
  for (const std::size_t at_a_time : {2U, 3U, 8U}) short_lives(machine, runs(), at_a_time);
  EXPECT_EQ(machine.join()->free_now(), 64 * kMB);
}

}  // namespace machine_crowd_test
