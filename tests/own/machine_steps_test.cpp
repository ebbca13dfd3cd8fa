// A process is killed, or stopped, between any two steps of a call: system calls while it joins, instructions
// while it allocates and frees. The others go on at once, and their books are right.
#include "support/sanitizer.h"
#include "support/slices.h"
#include "support/stepped.h"

namespace machine_steps_test {

using namespace belay_test;

// As an ordinary user, from whom the kernel hides more than from root.
class MachineSteps : public ::testing::Test {
 protected:
  void SetUp() override { members_are_users = ::geteuid() == 0; }
};

constexpr std::uint32_t kNormal = ACL_MEM_MALLOC_NORMAL_ONLY, kHuge = ACL_MEM_MALLOC_HUGE_ONLY;

// --- joining --------------------------------------------------------------------------------------------

Answer join_stepwise(const Order&) {
  return under_trace([] { return static_cast<int>(aclrtSetDevice(0)); });
}

// Of how many system calls one is visited; which of them differs from run to run.
std::uint64_t every() { return whole() ? 1 : kUnderASanitizer ? 23 : 11; }
std::uint64_t first_visit() { return 1 + test_seed() % every(); }

enum class Company : std::uint8_t { nobody_ever, the_dead, one_member };

// Takes `steps` system calls of a join on a machine that is in a given state.
struct Door {
  explicit Door(Company company) {
    if (company == Company::the_dead) (void)machine.join();  // and ends at once
    if (company == Company::one_member) {
      member = machine.join();
      block = member->allocate(kMB);
    }
    comer = machine.come(join_stepwise);
    comer->send({Do::own});
  }
  TestMachine machine;
  MemberPtr member, comer;
  std::uint64_t block = 0;
};

void killed_at_every_step(Company company) {
  const std::uint64_t stride = every();
  std::uint64_t steps = first_visit();
  for (bool more = true; more && !::testing::Test::HasFailure(); steps += stride) {
    SCOPED_TRACE("after " + std::to_string(steps) + " system calls");
    const Door door{company};
    more = Stepped{*door.comer}.take(steps);
    door.comer->die();
    const std::size_t held = company == Company::one_member ? kMB : 0;
    if (door.member != nullptr) EXPECT_EQ(door.member->free_now(), 64 * kMB - held);
    const MemberPtr next = door.machine.join();
    ASSERT_EQ(next->free_now(), 64 * kMB - held);
    ASSERT_NE(next->allocate(kMB), 0U);
    EXPECT_EQ(door.machine.join()->free_now(), 63 * kMB - held) << "not the same machine";
    EXPECT_LE(door.machine.links(), 8U);
  }
  EXPECT_GT(steps, 20U) << "there was nothing to step through";
}

TEST_F(MachineSteps, D52_D66_KilledAtAnySystemCallOfFoundingAMachine) {
  NEEDS_TRACING();
  killed_at_every_step(Company::nobody_ever);
}
TEST_F(MachineSteps, D52_D66_KilledAtAnySystemCallOfFoundingAMachineAfterOthersDied) {
  NEEDS_TRACING();
  killed_at_every_step(Company::the_dead);
}
TEST_F(MachineSteps, D52_D66_KilledAtAnySystemCallOfJoiningAMachine) {
  NEEDS_TRACING();
  killed_at_every_step(Company::one_member);
}

// The comer stands still at some step; meanwhile others join. In the end all are on one machine.
void stopped_at_every_step(Company company, bool member_dies) {
  for (std::uint64_t steps = first_visit();; steps += every()) {
    SCOPED_TRACE("after " + std::to_string(steps) + " system calls");
    const Door door{company};
    Stepped stepped{*door.comer};
    const bool more = stepped.take(steps);
    if (member_dies) door.member->die();
    const MemberPtr next = door.machine.come();
    const int joined = next->set_device(0);  // it may be refused, in words, but it does not wait for long
    if (joined != 0)
      EXPECT_NE(next->message().find(std::to_string(door.comer->process())), std::string::npos);
    if (joined == 0) EXPECT_NE(next->allocate(3 * kMB), 0U);
    stepped.let_go();
    const Answer came = door.comer->hear();
    ASSERT_EQ(came.heard, 1);
    ASSERT_EQ(came.code, 0) << door.comer->message();
    const std::size_t held = company == Company::one_member && !member_dies ? kMB : 0;
    const std::size_t of_next = joined == 0 ? 3 * kMB : 0;
    EXPECT_EQ(door.comer->free_now(), 64 * kMB - held - of_next) << "not the same machine";
    ASSERT_NE(door.comer->allocate(5 * kMB), 0U);
    if (joined == 0) EXPECT_EQ(next->free_now(), 56 * kMB - held);
    EXPECT_EQ(door.machine.join()->free_now(), 59 * kMB - held - of_next);
    if (!more || ::testing::Test::HasFailure()) break;
  }
}

TEST_F(MachineSteps, D52_StoppedAtAnySystemCallOfFoundingAMachine) {
  NEEDS_TRACING();
  stopped_at_every_step(Company::nobody_ever, false);
}
TEST_F(MachineSteps, D52_StoppedAtAnySystemCallOfFoundingAMachineAfterOthersDied) {
  NEEDS_TRACING();
  stopped_at_every_step(Company::the_dead, false);
}
TEST_F(MachineSteps, D52_StoppedAtAnySystemCallOfJoiningAMachine) {
  NEEDS_TRACING();
  stopped_at_every_step(Company::one_member, false);
}
TEST_F(MachineSteps, D52_D66_StoppedAtAnySystemCallOfJoining_WhileTheOnlyMemberDies) {
  NEEDS_TRACING();
  stopped_at_every_step(Company::one_member, true);
}

// Others come, die and come again while it stands there.
TEST_F(MachineSteps, D52_D66_StoppedAtAnySystemCallOfFounding_WhileGenerationsPass) {
  NEEDS_TRACING();
  for (const int generations : {2, 3}) {
    for (std::uint64_t steps = first_visit();; steps += every()) {
      SCOPED_TRACE("after " + std::to_string(steps) + " system calls");
      const Door door{Company::the_dead};
      Stepped stepped{*door.comer};
      const bool more = stepped.take(steps);
      MemberPtr next;
      for (int i = 0; i < generations; ++i) {
        if (next != nullptr) next->die();
        next = door.machine.join();
        ASSERT_NE(next->allocate(3 * kMB), 0U);
      }
      stepped.let_go();
      const Answer came = door.comer->hear();
      ASSERT_EQ(came.heard, 1);
      ASSERT_EQ(came.code, 0) << door.comer->message();
      EXPECT_EQ(door.comer->free_now(), 61 * kMB) << "not the same machine";
      if (!more || ::testing::Test::HasFailure()) break;
    }
  }
}

// --- allocating and freeing -----------------------------------------------------------------------------

// 64 MB. The witness holds 20 and has 44 as credit, so that the other must have it back first.
constexpr std::size_t kHeld = 20 * kMB, kRest = 44 * kMB;

MemberPtr witness_with_credit(const TestMachine& machine) {
  MemberPtr witness = machine.join();
  EXPECT_NE(witness->allocate(kHeld), 0U);
  return witness;
}
void renew_credit(const Member& witness) {
  const std::uint64_t all = witness.allocate(kRest);
  ASSERT_NE(all, 0U);
  ASSERT_EQ(witness.free(all), 0);
}

int allocate_and_free() {
  void *first = nullptr, *second = nullptr;
  int answer = ::aclrtMallocAlign32(&first, 30 * kMB, policy_of(kNormal));
  if (answer == 0) answer = ::aclrtMallocAlign32(&second, 4 * kMB, policy_of(kHuge));
  if (second != nullptr) (void)aclrtFree(second);
  if (first != nullptr) (void)aclrtFree(first);
  return answer;
}

// The first time at once, so that only the books are new at the second.
Answer allocate_stepwise(const Order& order) {
  if (order.small != 0)
    return with_a_signal_after(order.size, static_cast<int>(order.small), allocate_and_free);
  Answer answer;
  answer.code = allocate_and_free();
  return answer;
}

// It will get the signal after so many instructions.
MemberPtr about_to_allocate(const TestMachine& machine, const Member& witness, int signal,
                            std::uint64_t instructions) {
  MemberPtr member = machine.join(allocate_stepwise);
  EXPECT_EQ(member->ask({Do::own, 0}).code, 0);
  renew_credit(witness);
  member->send({Do::own, static_cast<std::uint32_t>(signal), 0, instructions});
  return member;
}

// How many instructions the work has, so that the test can spread its visits.
std::uint64_t length_of_the_work(const TestMachine& machine, const Member& witness) {
  const MemberPtr member = about_to_allocate(machine, witness, SIGKILL, kNever);
  const Answer answer = member->hear();
  EXPECT_EQ(answer.code, 0);
  EXPECT_GT(answer.first, 500U);
  return answer.first;
}

TEST_F(MachineSteps, D66_M430_KilledBetweenAnyTwoInstructionsOfAllocatingAndFreeing) {
  NEEDS_COUNTING();
  const TestMachine machine;
  const MemberPtr witness = witness_with_credit(machine);
  const std::uint64_t length = length_of_the_work(machine, *witness);
  const std::uint64_t visits = slice<std::uint64_t>(8, 400, 8);
  for (std::uint64_t visit = 0; visit < visits && !::testing::Test::HasFailure(); ++visit) {
    const std::uint64_t steps = length * visit / visits + test_seed() % (length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(length) + " instructions");
    const MemberPtr victim = about_to_allocate(machine, *witness, SIGKILL, steps);
    victim->until_dead();
    if (visit % 2 == 0) ASSERT_EQ(witness->free_now(), kRest);
    const std::uint64_t all = witness->allocate(kRest);
    ASSERT_NE(all, 0U);
    ASSERT_EQ(witness->free_now(), 0U);
    ASSERT_EQ(witness->free(all), 0);
  }
}

TEST_F(MachineSteps, D52_M430_StoppedBetweenAnyTwoInstructionsOfAllocatingAndFreeing) {
  NEEDS_COUNTING();
  const TestMachine machine;
  const MemberPtr witness = witness_with_credit(machine);
  const std::uint64_t length = length_of_the_work(machine, *witness);
  const std::uint64_t visits = slice<std::uint64_t>(8, 400, 8);
  for (std::uint64_t visit = 0; visit < visits && !::testing::Test::HasFailure(); ++visit) {
    const std::uint64_t steps = length * visit / visits + test_seed() % (length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(length) + " instructions");
    const MemberPtr sleeper = about_to_allocate(machine, *witness, SIGSTOP, steps);
    sleeper->until_stopped();
    // A request of the sleeper that was on its way may be granted at our first one, but then ours comes next.
    std::uint64_t all = 0;
    std::size_t size = 0;
    for (int tries = 0; tries < 2 && all == 0; ++tries) {
      size = witness->free_now();
      all = witness->allocate(size);
    }
    ASSERT_NE(all, 0U);
    ASSERT_TRUE(size == kRest || size == kRest - 30 * kMB || size == kRest - 34 * kMB) << size;
    ASSERT_EQ(witness->free_now(), 0U);
    sleeper->go_on();
    const Answer answer = sleeper->hear();
    ASSERT_EQ(answer.heard, 1);
    ASSERT_TRUE(answer.code == 0 || answer.code == kShortage) << answer.code;
    ASSERT_EQ(witness->free_now() + size, kRest);
    ASSERT_EQ(witness->free(all), 0);
    ASSERT_EQ(sleeper->free_now(), kRest);
  }
}

// --- burying --------------------------------------------------------------------------------------------

// Somebody finds a dead process, and is itself killed or stopped before it has given everything back.
TEST_F(MachineSteps, D66_KilledOrStoppedBetweenAnyTwoInstructionsOfGivingBackWhatTheDeadHeld) {
  NEEDS_COUNTING();
  const TestMachine machine;
  const MemberPtr witness = machine.join();
  ASSERT_NE(witness->allocate(kHeld), 0U);
  const Own ask_for_figures = [](const Order& order) {
    return with_a_signal_after(order.size, static_cast<int>(order.small), [] {
      std::size_t free = 0, total = 0;
      return static_cast<int>(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    });
  };
  const std::uint64_t visits = slice<std::uint64_t>(4, 200, 8);
  std::uint64_t length = 0;
  for (std::uint64_t visit = 0; visit <= visits && !::testing::Test::HasFailure(); ++visit) {
    const MemberPtr undertaker = machine.join(ask_for_figures), dead = machine.join();
    ASSERT_NE(dead->allocate(30 * kMB, kNormal), 0U);
    ASSERT_NE(dead->allocate(4 * kMB, kHuge), 0U);
    ASSERT_EQ(dead->set_device(1), 0);
    ASSERT_NE(dead->allocate(5 * kMB, kNormal), 0U);
    dead->die();
    if (visit == 0) {
      length = undertaker->ask({Do::own, SIGKILL, 0, kNever}).first;
      ASSERT_GT(length, 500U);
      continue;
    }
    const std::uint64_t steps = length * (visit - 1) / visits + test_seed() % (length / visits + 1);
    SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(length) + " instructions");
    const bool sleeps = visit % 2 == 0;
    undertaker->send({Do::own, static_cast<std::uint32_t>(sleeps ? SIGSTOP : SIGKILL), 0, steps});
    sleeps ? undertaker->until_stopped() : undertaker->until_dead();
    ASSERT_EQ(witness->free_now(), kRest);
    const std::uint64_t all = witness->allocate(kRest);
    ASSERT_NE(all, 0U);
    ASSERT_EQ(witness->free(all), 0);
    const MemberPtr next = machine.join();  // perhaps in the place of the dead
    ASSERT_NE(next->allocate(7 * kMB), 0U);
    if (sleeps) {
      undertaker->go_on();
      ASSERT_EQ(undertaker->hear().code, 0);
    }
    ASSERT_EQ(witness->free_now(), kRest - 7 * kMB) << "what it gave back was not the dead's";
    ASSERT_EQ(next->set_device(1), 0);
    ASSERT_EQ(next->free_now(), 64 * kMB);
  }
}

}  // namespace machine_steps_test
