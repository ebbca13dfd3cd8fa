// A process is killed, or stopped, between any two instructions of making, giving away, opening, recording,
// awaiting and destroying events and notifies of several processes. The others go on, and no place is lost.
#include <set>

#include "support/sanitizer.h"
#include "support/signal_peers.h"
#include "support/slices.h"
#include "support/stepped.h"

namespace shared_signals_steps_test {

using namespace belay_test;

class SharedSignalsSteps : public ::testing::Test {
 protected:
  Board& board = new_board();

  // All that one can do with an event and a notify that the witness made.
  static int work(Board& board, aclrtStream stream) {
    aclrtEvent theirs = nullptr, mine = nullptr;
    aclrtNotify flag = nullptr;
    int code = aclrtIpcOpenEventHandle(board.handles[0], &theirs);
    if (code == 0) code = aclrtNotifyImportByKey(&flag, board.keys[0].data(), 0);
    if (code == 0) code = aclrtCreateEventExWithFlag(&mine, ACL_EVENT_IPC);
    if (code == 0) code = aclrtIpcGetEventHandle(mine, &board.handles[1]);
    if (code == 0) code = aclrtRecordEvent(theirs, stream);
    if (code == 0) code = ::aclrtStreamWaitEvent(stream, theirs);
    if (code == 0) code = aclrtRecordNotify(flag, stream);
    if (code == 0) code = ::aclrtSynchronizeStream(stream);
    for (aclrtEvent each : {theirs, mine})
      if (each != nullptr) (void)aclrtDestroyEvent(each);
    if (flag != nullptr) (void)aclrtDestroyNotify(flag);
    return code;
  }
  // The first time at once, so that only the work itself is counted at the second.
  Own stepwise() {
    return [this](const Order& order) {
      static aclrtStream stream = nullptr;
      if (stream == nullptr) {
        Answer answer;
        answer.code = aclrtCreateStream(&stream);
        if (answer.code == 0) answer.code = work(board, stream);
        return answer;
      }
      return with_a_signal_after(order.size, static_cast<int>(order.small),
                                 [this] { return work(board, stream); });
    };
  }
  MemberPtr about_to_work(const TestMachine& machine, int signal, std::uint64_t instructions) {
    MemberPtr member = machine.join(stepwise());
    EXPECT_EQ(member->ask({Do::own}).code, 0) << member->message();
    member->send({Do::own, static_cast<std::uint32_t>(signal), 0, instructions});
    return member;
  }
  std::uint64_t length_of_the_work(const TestMachine& machine) {
    const Answer answer = about_to_work(machine, SIGKILL, kNever)->hear();
    EXPECT_EQ(answer.code, 0);
    EXPECT_GT(answer.first, 500U);
    return answer.first;
  }
  // Whatever the other one left: nobody waits for ever for it, and the witness can go on with both.
  static void goes_on(const SignalPeer& witness, const std::set<int>& expected) {
    ASSERT_EQ(witness.wait(0), 0);
    const int code = witness.finish();
    ASSERT_TRUE(expected.contains(code)) << code << witness->message();
    ASSERT_EQ(witness.record(0), 0);
    ASSERT_EQ(witness.wait(0, 1), 0);
    ASSERT_EQ(witness.finish(1), 0) << witness->message();
    ASSERT_EQ(witness.record_notify(0, 1), 0);
    ASSERT_EQ(witness.wait_notify(0, 1), 0);
    ASSERT_EQ(witness.finish(1), 0) << witness->message();
  }
  void on_visits(const std::function<void(const TestMachine&, const SignalPeer&, std::uint64_t)>& visit) {
    if (!kCountsInstructions)
      GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction, and not under TSan";
    const TestMachine machine;
    const SignalPeer witness{machine, board};
    ASSERT_NO_FATAL_FAILURE(share_event(0, witness, {}));
    ASSERT_NO_FATAL_FAILURE(share_notify(0, witness, {}));
    const std::uint64_t length = length_of_the_work(machine);
    const std::uint64_t visits = slice<std::uint64_t>(4, 400, 4);
    for (std::uint64_t i = 0; i < visits && !HasFailure(); ++i) {
      const std::uint64_t steps = length * i / visits + test_seed() % (length / visits + 1);
      SCOPED_TRACE("after " + std::to_string(steps) + " of " + std::to_string(length) + " instructions");
      visit(machine, witness, steps);
    }
    const MemberPtr counts = machine.join([](const Order&) {
      Answer answer;
      for (aclrtEvent event = nullptr;
           (answer.code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)) == 0;)
        ++answer.first;
      return answer;
    });
    EXPECT_EQ(counts->ask({Do::own}).first, 16384U - 2) << "the witness has two, nobody else any";
  }
};

TEST_F(SharedSignalsSteps, R188_R211_KilledBetweenAnyTwoInstructions) {
  on_visits([&](const TestMachine& machine, const SignalPeer& witness, std::uint64_t steps) {
    const MemberPtr victim = about_to_work(machine, SIGKILL, steps);
    victim->until_dead();
    goes_on(witness, {0, kIpcError});
  });
}

TEST_F(SharedSignalsSteps, R188_R211_StoppedBetweenAnyTwoInstructions) {
  on_visits([&](const TestMachine& machine, const SignalPeer& witness, std::uint64_t steps) {
    const MemberPtr sleeper = about_to_work(machine, SIGSTOP, steps);
    sleeper->until_stopped();
    // Its record, if there is one, is waited for; everything else goes on.
    ASSERT_EQ(witness.record(0), 0);
    goes_on(witness, {0});
    sleeper->go_on();
    const Answer answer = sleeper->hear();
    ASSERT_EQ(answer.heard, 1);
    ASSERT_EQ(answer.code, 0) << sleeper->message();
    goes_on(witness, {0});
  });
}

}  // namespace shared_signals_steps_test
