// Events that one process records and another waits for.
#include "support/refusals.h"
#include "support/signal_peers.h"

namespace shared_events_test {

using namespace belay_test;

class SharedEvents : public ::testing::Test {
 protected:
  Board& board = new_board();
};

TEST_F(SharedEvents, R188_ARecordInOneProcessLetsAWaitInAnotherGoOn_InEverySchedule) {
  for (const std::string& schedule : schedules_of_peers()) {
    for (const std::string& other : {schedule, std::string{"eager"}, std::string{"lazy"}}) {
      SCOPED_TRACE(schedule + " and " + other);
      const TestMachine machine;
      const SignalPeer recorder{machine, board, {{"BELAY_SCHEDULE", schedule}}};
      const SignalPeer waiter{machine, board, {{"BELAY_SCHEDULE", other}}};
      ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
      for (int round = 0; round < 5; ++round) {
        ASSERT_EQ(recorder.record(0), 0);
        ASSERT_EQ(waiter.wait(0), 0);
        ASSERT_EQ(waiter.finish(), 0) << waiter->message();
        ASSERT_EQ(recorder.record(0, 1), 0);
        ASSERT_EQ(waiter.synchronize(0), 0) << waiter->message();
        ASSERT_TRUE(waiter.complete(0));
        ASSERT_TRUE(recorder.complete(0));
      }
    }
  }
}

// Nobody but the other process ever waits for what the record stands for.
TEST_F(SharedEvents, R188_PingPong_WhereEachWaitsForTheOther) {
  for (const std::string& schedule : schedules_of_peers()) {
    SCOPED_TRACE(schedule);
    const TestMachine machine{"64M", {{"BELAY_SCHEDULE", schedule}}};
    const SignalPeer one{machine, board}, two{machine, board};
    ASSERT_NO_FATAL_FAILURE(share_event(0, one, {&two}));
    ASSERT_NO_FATAL_FAILURE(share_event(1, two, {&one}));
    // All is queued before anybody waits.
    for (int round = 0; round < 20; ++round) {
      ASSERT_EQ(one.record(0), 0);
      ASSERT_EQ(two.wait(0), 0);
      ASSERT_EQ(two.record(1), 0);
      ASSERT_EQ(one.wait(1), 0);
    }
    one.begin_finish();
    EXPECT_EQ(one.end_finish(), 0) << one->message();
    EXPECT_EQ(two.finish(), 0) << two->message();
  }
}

TEST_F(SharedEvents, R170_R188_AWaitHoldsUntilWhatTheRecordStandsForIsDone) {
  const TestMachine machine;
  const SignalPeer recorder{machine, board}, waiter{machine, board}, third{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter, &third}));
  ASSERT_NO_FATAL_FAILURE(share_event(1, third, {&recorder}));
  ASSERT_EQ(third.wait(0), 0) << "never recorded: it does not wait";
  ASSERT_EQ(third.finish(), 0);
  ASSERT_TRUE(waiter.complete(0));
  // The recorder's stream is held by a notify of its own.
  ASSERT_EQ(recorder.create_notify(0), 0);
  ASSERT_EQ(recorder.wait_notify(0), 0);
  ASSERT_EQ(recorder.record(0), 0);
  ASSERT_FALSE(waiter.complete(0));
  ASSERT_FALSE(recorder.complete(0));
  for (std::size_t stream : {0U, 1U, 2U}) {
    ASSERT_EQ(waiter.wait(0, stream), 0);
    ASSERT_EQ(waiter.stamp(stream, stream), 0);
  }
  ASSERT_EQ(third.wait(0), 0);
  ASSERT_EQ(waiter.synchronize(0, kMoment), kEventTimeout);
  ASSERT_EQ(waiter.finish(0, kMoment), kStreamTimeout);
  ASSERT_FALSE(third.idle());
  for (std::size_t word : {0U, 1U, 2U}) ASSERT_EQ(board.words[word].load(), 0U);
  ASSERT_EQ(recorder.record_notify(0, 1), 0);
  for (std::size_t stream : {0U, 1U, 2U}) ASSERT_EQ(waiter.finish(stream), 0);
  ASSERT_EQ(third.finish(), 0);
  for (std::size_t word : {0U, 1U, 2U}) ASSERT_EQ(board.words[word].load(), 1U);
  ASSERT_TRUE(waiter.complete(0));
}

TEST_F(SharedEvents, R166_R188_AWaitKeepsTheRecordThatItSaw) {
  const TestMachine machine;
  const SignalPeer recorder{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
  for (const std::size_t gate : {0U, 1U}) {
    ASSERT_EQ(recorder.create_notify(gate), 0);
    ASSERT_EQ(recorder.wait_notify(gate, gate), 0);
    ASSERT_EQ(recorder.record(0, gate), 0);
    ASSERT_EQ(waiter.wait(0, gate), 0);
  }
  // The later record first.
  ASSERT_EQ(recorder.record_notify(1, 2), 0);
  ASSERT_EQ(waiter.finish(1), 0);
  ASSERT_TRUE(waiter.complete(0));
  ASSERT_EQ(waiter.finish(0, kMoment), kStreamTimeout);
  ASSERT_EQ(recorder.record_notify(0, 2), 0);
  ASSERT_EQ(waiter.finish(0), 0);
}

TEST_F(SharedEvents, R188_EveryProcessThatHasItRecordsIt) {
  const TestMachine machine;
  const SignalPeer one{machine, board}, two{machine, board}, three{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, one, {&two, &three}));
  ASSERT_EQ(two.create_notify(0), 0);
  ASSERT_EQ(two.wait_notify(0), 0);
  ASSERT_EQ(two.record(0), 0);
  ASSERT_EQ(one.wait(0), 0);
  ASSERT_EQ(three.wait(0), 0);
  ASSERT_EQ(two.wait(0, 1), 0);
  ASSERT_EQ(three.record(0, 1), 0);  // behind nothing
  ASSERT_EQ(three.finish(1), 0);
  ASSERT_TRUE(one.complete(0));
  ASSERT_EQ(one.finish(0, kMoment), kStreamTimeout);
  ASSERT_EQ(two.finish(1, kMoment), kStreamTimeout);
  ASSERT_EQ(two.record_notify(0, 2), 0);
  for (const SignalPeer* each : {&one, &three}) ASSERT_EQ(each->finish(), 0);
  ASSERT_EQ(two.finish(1), 0);
}

TEST_F(SharedEvents, R173_R188_AWaitHasATime) {
  const TestMachine machine;
  const SignalPeer recorder{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
  ASSERT_EQ(recorder.create_notify(0), 0);
  ASSERT_EQ(recorder.wait_notify(0), 0);
  ASSERT_EQ(recorder.record(0), 0);
  ASSERT_EQ(waiter.wait(0, 0, 1), 0);
  EXPECT_EQ(waiter.finish(), kTaskTimeout);
  ASSERT_EQ(recorder.record_notify(0, 1), 0);
  ASSERT_EQ(waiter.wait(0), 0);
  EXPECT_EQ(waiter.finish(), 0);
}

// --- what ends ------------------------------------------------------------------------------------------

TEST_F(SharedEvents, R188_AHandleEndsWithItsEvent_AndWithItsMaker) {
  const TestMachine machine;
  const SignalPeer maker{machine, board}, opener{machine, board}, late{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, maker, {&opener}));
  ASSERT_EQ(maker.record(0), 0);
  ASSERT_EQ(maker.destroy(0), 0);
  EXPECT_EQ(late.open(0), kRefused);
  EXPECT_EQ(opener.give(0), kBadValue) << "it is not its maker";
  ASSERT_EQ(opener.wait(0), 0);
  EXPECT_EQ(opener.finish(), 0);
  ASSERT_EQ(opener.record(0), 0) << "it goes on for who has it";
  EXPECT_EQ(opener.synchronize(0), 0);
  EXPECT_EQ(opener.destroy(0), 0);
  ASSERT_NO_FATAL_FAILURE(share_event(1, maker, {&opener}));
  maker->die();
  EXPECT_EQ(late.open(1), kRefused);
  EXPECT_EQ(opener.record(1), 0);
  EXPECT_EQ(opener.synchronize(1), 0);
}

// However the recorder ends, the wait fails, and says who it was.
TEST_F(SharedEvents, R188_TheRecorderDies_AndTheWaitFails) {
  for (const std::string& schedule : schedules_of_peers()) {
    const auto end = [&](const char* how, const std::function<void(SignalPeer&)>& ends) {
      SCOPED_TRACE(schedule + ", " + how);
      const TestMachine machine{"64M", {{"BELAY_SCHEDULE", schedule}}};
      SignalPeer recorder{machine, board};
      const SignalPeer waiter{machine, board};
      ASSERT_NO_FATAL_FAILURE(share_event(0, waiter, {&recorder}));
      ASSERT_EQ(recorder.create_notify(0), 0);
      ASSERT_EQ(recorder.wait_notify(0), 0);
      ASSERT_EQ(recorder.record(0), 0);
      ASSERT_EQ(waiter.wait(0), 0);
      ASSERT_EQ(waiter.wait(0, 1), 0);
      waiter.begin_finish();
      ends(recorder);
      EXPECT_EQ(waiter.end_finish(), kIpcError);
      const std::string text = waiter->message();
      EXPECT_NE(text.find("process " + std::to_string(recorder->process())), std::string::npos) << text;
      EXPECT_EQ(waiter.finish(1), kIpcError);
      // Also who comes later.
      EXPECT_EQ(waiter.wait(0, 2), 0);
      EXPECT_EQ(waiter.finish(2), kIpcError);
      EXPECT_EQ(waiter.synchronize(0), kIpcError);
      EXPECT_EQ(waiter.query(0), kIpcError);
      // A new record is as good as ever.
      ASSERT_EQ(waiter.record(0, 3), 0);
      ASSERT_EQ(waiter.wait(0), 0);
      EXPECT_EQ(waiter.finish(), 0);
      EXPECT_TRUE(waiter.complete(0));
    };
    end("exit", [](SignalPeer& peer) { peer->end(Way::exit); });
    end("_exit", [](SignalPeer& peer) { peer->end(Way::quick); });
    end("abort", [](SignalPeer& peer) { peer->end(Way::abort); });
    end("SIGKILL", [](SignalPeer& peer) { peer->die(); });
    end("exec", [](SignalPeer& peer) { peer.become_another_program(); });
    end("SIGKILL, with a child that lives on", [](SignalPeer& peer) {
      EXPECT_EQ(peer.fork_child(), 0);
      peer->die();
    });
    end("SIGKILL while stopped", [](SignalPeer& peer) {
      peer->stop();
      peer->die();
    });
  }
}

// A record that is done stays done.
TEST_F(SharedEvents, R188_TheRecorderDiesAfterItsRecordIsDone) {
  const TestMachine machine;
  for (int round = 0; round < 10; ++round) {
    const SignalPeer recorder{machine, board}, waiter{machine, board};
    ASSERT_NO_FATAL_FAILURE(share_event(0, waiter, {&recorder}));
    ASSERT_EQ(recorder.create_notify(0), 0);
    ASSERT_EQ(recorder.wait_notify(0), 0);
    ASSERT_EQ(recorder.record(0), 0);
    ASSERT_EQ(waiter.wait(0), 0);
    waiter->stop();
    ASSERT_EQ(recorder.record_notify(0, 1), 0);
    ASSERT_EQ(recorder.finish(0), 0);
    recorder->die();
    waiter->go_on();
    EXPECT_EQ(waiter.finish(), 0) << waiter->message();
    EXPECT_TRUE(waiter.complete(0));
    ASSERT_EQ(waiter.wait(0), 0);
    EXPECT_EQ(waiter.finish(), 0);
  }
}

// Work that is dropped counts as done, as within a process.
TEST_F(SharedEvents, R134_R154_R188_TheRecordIsDropped_AndTheWaitGoesOn) {
  for (const std::string& schedule : schedules_of_peers()) {
    const auto end = [&](const char* how, const std::function<void(SignalPeer&)>& ends) {
      SCOPED_TRACE(schedule + ", " + how);
      const TestMachine machine{"64M", {{"BELAY_SCHEDULE", schedule}}};
      SignalPeer recorder{machine, board};
      const SignalPeer waiter{machine, board};
      ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
      ASSERT_EQ(recorder.create_notify(0), 0);
      ASSERT_EQ(recorder.wait_notify(0), 0);
      ASSERT_EQ(recorder.record(0), 0);
      ASSERT_EQ(waiter.wait(0), 0);
      waiter.begin_finish();
      ends(recorder);
      EXPECT_EQ(waiter.end_finish(), 0) << waiter->message();
      EXPECT_TRUE(waiter.complete(0));
      ASSERT_EQ(waiter.wait(0), 0);
      EXPECT_EQ(waiter.finish(), 0) << waiter->message();
    };
    end("abort", [](SignalPeer& peer) { EXPECT_EQ(peer.abort(), 0); });
    end("reset of the device", [](SignalPeer& peer) { EXPECT_EQ(peer.reset_device(), 0); });
    end("restart", [](SignalPeer& peer) { EXPECT_EQ(peer.restart(), 0); });
    end("destroyed, then aborted", [](SignalPeer& peer) {
      EXPECT_EQ(peer.destroy(0), 0);
      EXPECT_EQ(peer.abort(), 0);
    });
  }
}

TEST_F(SharedEvents, R154_R188_TheWaitIsDropped_AndTheRecorderGoesOn) {
  for (const std::string& schedule : schedules_of_peers()) {
    SCOPED_TRACE(schedule);
    const TestMachine machine{"64M", {{"BELAY_SCHEDULE", schedule}}};
    const SignalPeer recorder{machine, board}, waiter{machine, board};
    ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
    ASSERT_EQ(recorder.create_notify(0), 0);
    for (const int how : {0, 1, 2}) {
      if (how == 1 && schedule != "eager") continue;  // a reset waits for two seconds
      ASSERT_EQ(recorder.wait_notify(0), 0);
      ASSERT_EQ(recorder.record(0), 0);
      ASSERT_EQ(waiter.wait(0), 0);
      ASSERT_FALSE(waiter.idle());
      if (how == 0) ASSERT_EQ(waiter.abort(), 0);
      if (how == 1) ASSERT_EQ(waiter.reset_device(), 0);
      if (how == 2) ASSERT_EQ(waiter.restart(), 0);
      ASSERT_EQ(recorder.record_notify(0, 1), 0);
      ASSERT_EQ(recorder.finish(), 0);
      ASSERT_EQ(recorder.synchronize(0), 0);
    }
    // After a restart the waiter has nothing, but may open it again.
    ASSERT_EQ((*waiter).set_device(0), 0);
    ASSERT_EQ(waiter.open(0), 0) << waiter->message();
    ASSERT_EQ(recorder.record(0), 0);
    ASSERT_EQ(waiter.wait(0), 0);
    ASSERT_EQ(waiter.finish(), 0);
  }
}

// An event that was destroyed lets what was queued go on.
TEST_F(SharedEvents, R162_R188_DestroyedWhileInUse) {
  const TestMachine machine;
  const SignalPeer recorder{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
  ASSERT_EQ(recorder.create_notify(0), 0);
  ASSERT_EQ(recorder.wait_notify(0), 0);
  ASSERT_EQ(recorder.record(0), 0);
  ASSERT_EQ(waiter.wait(0), 0);
  ASSERT_EQ(waiter.destroy(0), 0);
  ASSERT_EQ(recorder.destroy(0), 0);
  ASSERT_EQ(waiter.finish(0, kMoment), kStreamTimeout);
  ASSERT_EQ(recorder.record_notify(0, 1), 0);
  ASSERT_EQ(waiter.finish(), 0) << waiter->message();
}

// There are 16384 on a machine. Whoever ends, however, leaves their places to others.
TEST_F(SharedEvents, R188_PlacesComeBack) {
  const TestMachine machine;
  const auto fill = [](const Order& order) {
    Answer answer;
    std::vector<aclrtEvent> all;
    aclrtEvent event = nullptr;
    while ((answer.code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC)) == 0) all.push_back(event);
    answer.first = all.size();
    if (order.small == 0) {
      for (aclrtEvent each : all) EXPECT_EQ(aclrtDestroyEvent(each), 0);
    }
    return answer;
  };
  const MemberPtr witness = machine.join(fill);
  for (const std::uint32_t keeps : {0U, 1U}) {
    const MemberPtr one = machine.join(fill);
    const Answer answer = one->ask({Do::own, keeps});
    EXPECT_EQ(answer.code, kNoEvents);
    EXPECT_EQ(answer.first, 16384U);
    EXPECT_NE(one->message().find("no more events"), std::string::npos);
    one->die();
  }
  EXPECT_EQ(witness->ask({Do::own, 0}).first, 16384U);
}

TEST_F(SharedEvents, R188_TooManyWaitsAreRefused_AndTheirPlacesComeBack) {
  const TestMachine machine;
  const SignalPeer recorder{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
  ASSERT_EQ(recorder.create_notify(0), 0);
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(recorder.wait_notify(0), 0);
    int waits = 0;
    for (int refused = 0; refused == 0; ++waits) {
      ASSERT_EQ(recorder.record(0), 0);
      refused = waiter.wait(0);
      if (refused != 0) EXPECT_EQ(refused, kNoEvents);
    }
    EXPECT_EQ(waits, 2049);
    EXPECT_NE(waiter->message().find("2048"), std::string::npos);
    ASSERT_EQ(recorder.record_notify(0, 1), 0);
    ASSERT_EQ(waiter.finish(), 0);
  }
}

TEST_F(SharedEvents, R188_AStoppedRecorderIsWaitedFor) {
  const TestMachine machine;
  const SignalPeer recorder{machine, board}, waiter{machine, board};
  ASSERT_NO_FATAL_FAILURE(share_event(0, recorder, {&waiter}));
  ASSERT_EQ(recorder.create_notify(0), 0);
  ASSERT_EQ(recorder.wait_notify(0), 0);
  ASSERT_EQ(recorder.record(0), 0);
  ASSERT_EQ(recorder.record_notify(0, 1), 0);
  ASSERT_EQ(recorder.finish(), 0);
  ASSERT_EQ(recorder.wait_notify(0), 0);
  ASSERT_EQ(recorder.record(0), 0);
  recorder->stop();
  ASSERT_EQ(waiter.wait(0), 0);
  ASSERT_EQ(waiter.finish(0, kMoment), kStreamTimeout);
  recorder->go_on();
  ASSERT_EQ(waiter.finish(0, kMoment), kStreamTimeout);
  ASSERT_EQ(recorder.record_notify(0, 1), 0);
  ASSERT_EQ(waiter.finish(), 0);
}

}  // namespace shared_events_test
