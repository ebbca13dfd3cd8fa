// A process is killed, or stopped, between any two steps of exporting, importing and closing: system calls,
// and instructions. The other one goes on at once, its bytes are intact, and the books are right.
#include <iostream>

#include "support/sharing.h"
#include "support/slices.h"
#include "support/stepped.h"
#include "support/waiting.h"

namespace machine_sharing_steps_test {

using namespace belay_test;

// As an ordinary user, from whom the kernel hides more than from root.
class MachineSharingSteps : public ::testing::Test {
 protected:
  void SetUp() override { members_are_users = ::geteuid() == 0; }
  void TearDown() override { members_are_users = false; }
};

constexpr std::size_t kAll = 64 * kMB;

// What is done step by step. The text: of a key that another process gave; else the value.
enum Work : std::uint32_t { give_handle, give_key, take_handle, take_key, kWorks };
constexpr const char* kNames[] = {"giving a handle", "giving a key", "taking a handle", "taking a key"};
enum How : std::uint32_t { at_once = 0, by_calls = 16, by_instructions = 32 };

struct Given {
  std::uint64_t value = 0;
  std::array<char, 80> key{};
};

#define OR_RETURN(call) \
  if (const int answer = (call); answer != 0) return answer

int give_a_handle() {
  const aclrtPhysicalMemProp prop = of_device();
  aclrtDrvMemHandle handle = nullptr;
  std::uint64_t value = 0;
  std::int32_t other = 1;
  OR_RETURN(aclrtMallocPhysical(&handle, k2MB, &prop, 0));
  OR_RETURN(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, kListed, &value));
  OR_RETURN(aclrtMemSetPidToShareableHandle(value, &other, 1));
  return aclrtFreePhysical(handle);
}
int give_a_key() {
  void* block = nullptr;
  std::array<char, 65> key{};
  std::int32_t other = 1;
  OR_RETURN(::aclrtMallocAlign32(&block, kMB, ACL_MEM_MALLOC_NORMAL_ONLY));
  OR_RETURN(aclrtIpcMemGetExportKey(block, kMB, key.data(), key.size(), kListed));
  OR_RETURN(aclrtIpcMemSetImportPid(key.data(), &other, 1));
  OR_RETURN(aclrtIpcMemClose(key.data()));
  return aclrtFree(block);
}
int take_a_handle(const Given& given) {
  void* place = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  OR_RETURN(reserve(&place, k2MB));
  OR_RETURN(aclrtMemImportFromShareableHandle(given.value, 0, &handle));
  OR_RETURN(map(place, k2MB, handle));
  OR_RETURN(aclrtMemset(at(place, kMB), 64, 3, 64));
  OR_RETURN(aclrtUnmapMem(place));
  OR_RETURN(aclrtFreePhysical(handle));
  return aclrtReleaseMemAddress(place);
}
int take_a_key(const Given& given) {
  void* place = nullptr;
  OR_RETURN(aclrtIpcMemImportByKey(&place, given.key.data(), 0));
  OR_RETURN(aclrtMemset(at(place, kMB / 2), 64, 3, 64));
  return aclrtIpcMemClose(given.key.data());
}
int carry_out_work(Work work, const Given& given) {
  switch (work) {
    case give_handle:
      return give_a_handle();
    case give_key:
      return give_a_key();
    case take_handle:
      return take_a_handle(given);
    default:
      return take_a_key(given);
  }
}
Answer stepwise(const Order& order) {
  Given given{order.pointer, {}};
  std::memcpy(given.key.data(), order.text.data(), 65);
  const auto work = [&] { return carry_out_work(static_cast<Work>(order.small % 16), given); };
  if (order.small / 16 == by_calls / 16) return under_trace(work);
  if (order.small / 16 == by_instructions / 16)
    return with_a_signal_after(order.size, static_cast<int>(order.seed), work);
  Answer answer;
  answer.code = work();
  return answer;
}

// The other side: memory that it shares in both ways, whose bytes must stay.
class Survivor {
 public:
  explicit Survivor(const TestMachine& machine) : party_{party(machine)} { renew(); }
  const Party& operator*() const { return party_; }

  void renew() {
    handle_ = party_.physical(k2MB);
    place_ = party_.map(handle_, k2MB);
    block_ = party_->allocate(kMB);
    // Everywhere: filling fresh memory would be most of the instructions.
    ASSERT_EQ(party_->write(place_, k2MB, 1), 0);
    ASSERT_EQ(party_->write(block_, kMB, 2), 0);
    value_ = party_.value(handle_);
    key_ = party_.key(block_, kMB);
  }
  void let_go() const {
    ASSERT_EQ(party_.free_physical(handle_), 0);
    ASSERT_EQ(party_.unmap(place_), 0);
    ASSERT_EQ(party_.free(block_), 0);
  }
  Order order(Work work, How how, std::uint64_t size = 0, int signal = 0) const {
    Order made{Do::own, static_cast<std::uint32_t>(work) + how, value_,
               size,    static_cast<std::uint64_t>(signal),     {}};
    std::memcpy(made.text.data(), key_.data(), key_.size());
    return made;
  }
  static constexpr std::size_t kHeld = k2MB + kMB;

  // All is as it was, and what it let others import they can import.
  void check(const TestMachine& machine) {
    ASSERT_EQ(party_->free_now(), kAll - kHeld);
    ASSERT_TRUE(party_->verify(place_, k2MB / 4, 1));
    ASSERT_TRUE(party_->verify(block_, kMB / 4, 2));
    const Party next = party(machine);  // perhaps in the place of the dead
    const Answer handle = next.import_value(value_), pointer = next.import_key(key_);
    ASSERT_EQ(handle.code, 0) << next->message();
    ASSERT_EQ(pointer.code, 0) << next->message();
    ASSERT_TRUE(next->verify(next.map(handle.first, k2MB), k2MB / 4, 1));
    ASSERT_TRUE(next->verify(pointer.first, kMB / 4, 2));
    ASSERT_EQ(next->free_now(), kAll - kHeld);
  }
  // And nobody but it holds it.
  void end_and_check() {
    let_go();
    ASSERT_EQ(party_->free_now(), kAll);
    renew();
  }

 private:
  Party party_;
  std::uint64_t handle_ = 0, place_ = 0, block_ = 0, value_ = 0;
  std::string key_;
};

MemberPtr victim_of(const TestMachine& machine, const Survivor& survivor, Work work) {
  MemberPtr victim = machine.join(stepwise);
  EXPECT_EQ(victim->ask(survivor.order(work, at_once)).code, 0) << victim->message();  // the first time
  return victim;
}

// --- system calls ---------------------------------------------------------------------------------------

std::uint64_t every() { return whole() ? 1 : kUnderASanitizer ? 5 : 2; }

void killed_at_every_call(Work work, bool first_time) {
  NEEDS_TRACING();
  const TestMachine machine;
  Survivor survivor{machine};
  std::uint64_t steps = 1 + test_seed() % every();
  for (bool more = true; more && !::testing::Test::HasFailure(); steps += every()) {
    SCOPED_TRACE(std::string{kNames[work]} + ", after " + std::to_string(steps) + " system calls");
    const MemberPtr victim = first_time ? machine.join(stepwise) : victim_of(machine, survivor, work);
    victim->send(survivor.order(work, by_calls));
    more = Stepped{*victim}.take(steps);
    victim->die();
    survivor.check(machine);
    if (!::testing::Test::HasFailure()) survivor.end_and_check();
  }
}

TEST_F(MachineSharingSteps, D66_V41_KilledAtAnySystemCallOfExportingAndClosing) {
  for (const Work work : {give_handle, give_key}) killed_at_every_call(work, true);
}
TEST_F(MachineSharingSteps, D66_V41_KilledAtAnySystemCallOfImportingAndClosing) {
  for (const Work work : {take_handle, take_key}) killed_at_every_call(work, true);
}
TEST_F(MachineSharingSteps, D66_V41_KilledAtAnySystemCall_TheSecondTime) {
  for (std::uint32_t work = 0; work < kWorks; ++work) killed_at_every_call(static_cast<Work>(work), false);
}

// --- instructions ---------------------------------------------------------------------------------------

std::uint64_t length_of(Work work, const TestMachine& machine, const Survivor& survivor) {
  const Answer answer =
      victim_of(machine, survivor, work)->ask(survivor.order(work, by_instructions, kNever, SIGKILL));
  EXPECT_EQ(answer.code, 0);
  EXPECT_GT(answer.first, 500U);
  return answer.first;
}

TEST_F(MachineSharingSteps, D66_M430_V41_KilledBetweenAnyTwoInstructions) {
  NEEDS_COUNTING();
  const TestMachine machine;
  Survivor survivor{machine};
  for (std::uint32_t number = 0; number < kWorks; ++number) {
    const Work work = static_cast<Work>(number);
    const std::uint64_t length = length_of(work, machine, survivor);
    const std::uint64_t visits = slice<std::uint64_t>(3, 60, 3);
    std::cout << "         " << kNames[work] << ": " << length << " instructions\n";
    for (std::uint64_t visit = 0; visit < visits && !::testing::Test::HasFailure(); ++visit) {
      const std::uint64_t steps = length * visit / visits + test_seed() % (length / visits + 1);
      SCOPED_TRACE(std::string{kNames[work]} + ", after " + std::to_string(steps) + " of " +
                   std::to_string(length) + " instructions, " + seed_text());
      const MemberPtr victim = victim_of(machine, survivor, work);
      victim->send(survivor.order(work, by_instructions, steps, SIGKILL));
      victim->until_dead();
      survivor.check(machine);
      if (!::testing::Test::HasFailure()) survivor.end_and_check();
    }
  }
}

// While it stands there the other one ends all that it shares and makes it anew.
TEST_F(MachineSharingSteps, D52_M430_V433_StoppedBetweenAnyTwoInstructions_NobodyWaitsForIt) {
  NEEDS_COUNTING();
  const TestMachine machine;
  Survivor survivor{machine};
  for (std::uint32_t number = 0; number < kWorks; ++number) {
    const Work work = static_cast<Work>(number);
    const std::uint64_t length = length_of(work, machine, survivor);
    const std::uint64_t visits = slice<std::uint64_t>(3, 60, 3);
    std::cout << "         " << kNames[work] << ": " << length << " instructions\n";
    for (std::uint64_t visit = 0; visit < visits && !::testing::Test::HasFailure(); ++visit) {
      const std::uint64_t steps = length * visit / visits + test_seed() % (length / visits + 1);
      SCOPED_TRACE(std::string{kNames[work]} + ", after " + std::to_string(steps) + " of " +
                   std::to_string(length) + " instructions, " + seed_text());
      const MemberPtr sleeper = victim_of(machine, survivor, work);
      sleeper->send(survivor.order(work, by_instructions, steps, SIGSTOP));
      sleeper->until_stopped();
      survivor.let_go();
      survivor.renew();
      ASSERT_LE((*survivor)->free_now(), kAll - Survivor::kHeld);
      sleeper->go_on();
      const Answer answer = sleeper->hear();
      ASSERT_EQ(answer.heard, 1);
      // What it takes may have ended while it stood.
      const bool lost = answer.code == kStale || answer.code == kRefused;
      ASSERT_TRUE(answer.code == 0 || (lost && work >= take_handle)) << answer.code;
      if (answer.code != 0) sleeper->die();  // in the middle, with what it has
      survivor.check(machine);
      if (!::testing::Test::HasFailure()) survivor.end_and_check();
    }
  }
}

}  // namespace machine_sharing_steps_test
