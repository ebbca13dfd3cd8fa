// Notifies that one process sets and another waits for.
#include "support/refusals.h"
#include "support/signal_peers.h"

namespace shared_notifies_test {

using namespace belay_test;

class SharedNotifies : public ::testing::Test {
 protected:
  Board& board = new_board();
};

TEST_F(SharedNotifies, R208_R211_ARecordInOneProcessLetsAWaitInAnotherGoOn_InEverySchedule) {
  for (const std::string& schedule : schedules_of_peers()) {
    for (const std::string& other : {schedule, std::string{"eager"}, std::string{"lazy"}}) {
      SCOPED_TRACE(schedule + " and " + other);
      const TestMachine machine;
      const SignalPeer setter{machine, board, {{"BELAY_SCHEDULE", schedule}}};
      const SignalPeer waiter{machine, board, {{"BELAY_SCHEDULE", other}}};
      ASSERT_NO_FATAL_FAILURE(share_notify(0, setter, {&waiter}));
      for (int round = 0; round < 5; ++round) {
        ASSERT_EQ(setter.record_notify(0), 0);
        ASSERT_EQ(waiter.wait_notify(0), 0);
        ASSERT_EQ(waiter.finish(), 0) << waiter->message();
        // Also where the wait came first.
        ASSERT_EQ(waiter.wait_notify(0), 0);
        waiter.begin_finish();
        ASSERT_EQ(setter.record_notify(0), 0);
        ASSERT_EQ(waiter.end_finish(), 0) << waiter->message();
        // And the other way.
        ASSERT_EQ(setter.wait_notify(0, 1), 0);
        ASSERT_EQ(waiter.record_notify(0, 1), 0);
        ASSERT_EQ(setter.finish(1), 0);
      }
      ASSERT_EQ(waiter.wait_notify(0, 2), 0);
      ASSERT_FALSE(waiter.idle(2)) << "each wait takes what was set";
    }
  }
}

TEST_F(SharedNotifies, R208_R211_EachRecordReleasesOneWait_WhereverItIs) {
  const TestMachine machine;
  const SignalPeer setter{machine, board}, one{machine, board}, two{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_notify(0, setter, {&one, &two}));
  const std::vector<const SignalPeer*> all{&setter, &one, &two};
  for (const SignalPeer* each : all) {
    ASSERT_EQ(each->wait_notify(0, 1), 0);
    ASSERT_EQ(each->wait_notify(0, 2), 0);
  }
  const auto released = [&] {
    std::size_t count = 0;
    for (const SignalPeer* each : all) count += (each->idle(1) ? 1U : 0U) + (each->idle(2) ? 1U : 0U);
    return count;
  };
  EXPECT_EQ(released(), 0U);
  for (std::size_t records = 1; records <= 6; ++records) {
    ASSERT_EQ(all[records % 3]->record_notify(0), 0);
    ASSERT_EQ(all[records % 3]->finish(), 0);
    EXPECT_TRUE(eventually([&] { return released() == records; }));
  }
}

TEST_F(SharedNotifies, R208_R210_R211_TwoRecordsCountAsOne_AndAResetTakesIt) {
  const TestMachine machine;
  const SignalPeer setter{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_notify(0, setter, {&waiter}));
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(setter.finish(), 0);
  ASSERT_EQ(waiter.wait_notify(0), 0);
  ASSERT_EQ(waiter.finish(), 0);
  ASSERT_EQ(waiter.wait_notify(0), 0);
  ASSERT_EQ(waiter.finish(0, kMoment), kStreamTimeout);
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(waiter.finish(), 0);
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(setter.finish(), 0);
  ASSERT_EQ(waiter.reset_notify(0), 0);
  ASSERT_EQ(setter.wait_notify(0), 0);
  ASSERT_EQ(setter.finish(0, kMoment), kStreamTimeout);
  ASSERT_EQ(waiter.record_notify(0), 0);
  ASSERT_EQ(setter.finish(), 0);
}

// What was so before the key was given away stays so.
TEST_F(SharedNotifies, R211_AStateFromBeforeTheExport) {
  const TestMachine machine;
  const SignalPeer setter{machine, board}, waiter{machine, board};
  ASSERT_EQ(setter.create_notify(0), 0);
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(setter.finish(), 0);
  ASSERT_EQ(setter.create_notify(1), 0);
  ASSERT_EQ(setter.wait_notify(1), 0);
  for (const std::size_t notify : {0U, 1U}) {
    ASSERT_EQ(setter.export_notify(notify), 0);
    ASSERT_EQ(setter.export_notify(notify), 0);
    ASSERT_EQ(waiter.import_notify(notify), 0) << waiter->message();
  }
  ASSERT_EQ(waiter.wait_notify(0), 0);
  EXPECT_EQ(waiter.finish(), 0);
  ASSERT_EQ(waiter.record_notify(1), 0);
  EXPECT_EQ(setter.finish(), 0);
}

TEST_F(SharedNotifies, R209_R211_AWaitHasATime) {
  const TestMachine machine;
  const SignalPeer setter{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_notify(0, setter, {&waiter}));
  ASSERT_EQ(waiter.wait_notify(0, 0, 1), 0);
  EXPECT_EQ(waiter.finish(), kTaskTimeout);
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(waiter.wait_notify(0), 0);
  EXPECT_EQ(waiter.finish(), 0);
}

// --- rights ---------------------------------------------------------------------------------------------

TEST_F(SharedNotifies, R211_OnlyNamedProcessesImport) {
  const TestMachine machine;
  const SignalPeer maker{machine, board}, named{machine, board}, other{machine, board};
  ASSERT_EQ(maker.create_notify(0), 0);
  EXPECT_EQ(maker.allow(0, named->process()), kRefused) << "not exported yet";
  ASSERT_EQ(maker.export_notify(0, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT), 0);
  EXPECT_EQ(named.import_notify(0), kRefused);
  EXPECT_NE(named->message().find("process " + std::to_string(maker->process())), std::string::npos);
  ASSERT_EQ(maker.allow(0, named->process()), 0);
  EXPECT_EQ(other.import_notify(0), kRefused);
  ASSERT_EQ(named.import_notify(0), 0) << named->message();
  EXPECT_EQ(named.export_notify(0), kRefused) << "it is not its maker";
  EXPECT_EQ(named.allow(0, other->process()), kRefused);
  EXPECT_EQ(maker.allow(0, maker->process()), kRefused) << "nobody is left";
  EXPECT_EQ(maker.export_notify(0), kBadValue) << "with other flags";
  ASSERT_EQ(named.record_notify(0), 0);
  ASSERT_EQ(maker.wait_notify(0), 0);
  EXPECT_EQ(maker.finish(), 0);
  ASSERT_NO_FATAL_FAILURE(share_notify(1, maker, {&other}));
  EXPECT_EQ(maker.allow(1, other->process()), 207006) << "without the check";
}

TEST_F(SharedNotifies, R211_AForgedOrEndedKeyIsRefused) {
  const TestMachine machine;
  const SignalPeer maker{machine, board}, other{machine, board};
  ASSERT_EQ(maker.create_notify(0), 0);
  ASSERT_EQ(maker.export_notify(0), 0);
  ASSERT_EQ(std::strlen(board.keys[0].data()), 64U);
  for (std::size_t letter = 0; letter < 65; ++letter) {
    for (const int change : {1, 2, 4, 64, 128}) {
      board.keys[1] = board.keys[0];
      board.keys[1][letter] = static_cast<char>(board.keys[1][letter] ^ change);
      EXPECT_EQ(other.import_notify(1), kRefused) << "letter " << letter << " ^ " << change;
    }
    board.keys[1] = board.keys[0];
    board.keys[1][letter] = '\0';
    EXPECT_EQ(other.import_notify(1), letter == 64 ? 0 : kRefused);
  }
  ASSERT_EQ(maker.create(2), 0);
  ASSERT_EQ(maker.give(2), 0);
  std::memcpy(board.keys[2].data(), &board.handles[2], 64);
  EXPECT_EQ(other.import_notify(2), kRefused) << "that is an event";
  std::memcpy(&board.handles[0], board.keys[0].data(), 64);
  EXPECT_EQ(other.open(0), kRefused) << "that is a notify";
  ASSERT_EQ(maker.destroy_notify(0), 0);
  EXPECT_EQ(other.import_notify(0), kRefused);
  const TestMachine elsewhere;
  const SignalPeer stranger{elsewhere, board};
  EXPECT_EQ(stranger.open(2), kRefused) << "another machine";
}

// --- ends -----------------------------------------------------------------------------------------------

TEST_F(SharedNotifies, R211_TheOnlyOtherOneDies_AndTheWaitFails) {
  for (const std::string& schedule : schedules_of_peers()) {
    SCOPED_TRACE(schedule);
    const TestMachine machine{"64M", {{"BELAY_SCHEDULE", schedule}}};
    const SignalPeer waiter{machine, board}, setter{machine, board}, other{machine, board};
    ASSERT_NO_FATAL_FAILURE(share_notify(0, setter, {&waiter, &other}));
    ASSERT_EQ(waiter.wait_notify(0), 0);
    ASSERT_FALSE(waiter.idle());
    waiter.begin_finish();
    setter->die();
    let_time_pass(20ms);  // in which the wait must not fail
    ASSERT_FALSE(waiter->has_answered()) << "the other one may still set it";
    other.become_another_program();
    EXPECT_EQ(waiter.end_finish(), kIpcError);
    const std::string text = waiter->message();
    EXPECT_TRUE(text.find("process " + std::to_string(other->process())) != std::string::npos ||
                text.find("process " + std::to_string(setter->process())) != std::string::npos)
        << text;
    // Alone with it, what is queued here counts.
    ASSERT_EQ(waiter.record_notify(0, 1), 0);
    ASSERT_EQ(waiter.wait_notify(0), 0);
    EXPECT_EQ(waiter.finish(), 0) << waiter->message();
    ASSERT_EQ(waiter.wait_notify(0), 0);
    EXPECT_EQ(waiter.finish(), kIpcError);
  }
}

TEST_F(SharedNotifies, R211_WhatWasSetStaysSet) {
  const TestMachine machine;
  const SignalPeer setter{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_notify(0, setter, {&waiter}));
  ASSERT_EQ(setter.record_notify(0), 0);
  ASSERT_EQ(setter.finish(), 0);
  setter->die();
  ASSERT_EQ(waiter.wait_notify(0), 0);
  EXPECT_EQ(waiter.finish(), 0) << waiter->message();
}

}  // namespace shared_notifies_test
