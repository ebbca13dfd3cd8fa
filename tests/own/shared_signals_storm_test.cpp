// Processes that make, pass on, record, await and destroy events and notifies at random, while some of them
// are killed or stopped at any moment. Nobody hangs, every answer is one that is documented, no place is
// lost.
#include <set>

#include "support/signal_peers.h"
#include "support/slices.h"

namespace shared_signals_storm_test {

using namespace belay_test;

constexpr std::size_t kObjects = 8, kStreams = 3;
constexpr std::int32_t kHang = 40'000;  // ms

// One process's part. A wait is for a record that was queued before, so that no ring of waits comes about.
class Storm {
 public:
  Storm(Board& board, std::uint64_t seed) : board_{board}, dice_{seed} {
    for (aclrtStream& each : streams_) must(aclrtCreateStream(&each), {0});
  }
  void step() {
    const std::size_t which = below(kObjects);
    aclrtEvent& event = events_[which];
    aclrtNotify& notify = notifies_[which];
    aclrtStream const stream = streams_[below(kStreams)];
    switch (below(12)) {
      case 0:
        if (event != nullptr) must(aclrtDestroyEvent(std::exchange(event, nullptr)), {0});
        must(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), {0});
        must(aclrtIpcGetEventHandle(event, &board_.handles[which]), {0});
        break;
      case 1:
        if (event != nullptr) must(aclrtDestroyEvent(std::exchange(event, nullptr)), {0});
        if (must(aclrtIpcOpenEventHandle(board_.handles[which], &event), {0, kRefused}) != 0) event = nullptr;
        break;
      case 2:
      case 3:
      case 4:
        if (event != nullptr) must(aclrtRecordEvent(event, stream), {0});
        break;
      case 5:
      case 6:
      case 7:
        if (event != nullptr) must(::aclrtStreamWaitEvent(stream, event), {0, kNoEvents});
        break;
      case 8:
        if (event != nullptr) {
          aclrtEventRecordedStatus status{};
          must(aclrtQueryEventStatus(event, &status), {0, kIpcError, kNoEvents});
        }
        break;
      case 9:
        if (notify != nullptr) must(aclrtDestroyNotify(std::exchange(notify, nullptr)), {0});
        if (below(2) == 0) {
          must(aclrtCreateNotify(&notify, 0), {0});
          must(aclrtNotifyGetExportKey(notify, board_.keys[which].data(), 80, 2), {0});
        } else if (must(aclrtNotifyImportByKey(&notify, board_.keys[which].data(), 0), {0, kRefused}) != 0) {
          notify = nullptr;
        }
        break;
      case 10:
        if (notify == nullptr) break;
        must(aclrtRecordNotify(notify, stream), {0});
        if (below(2) == 0) must(aclrtNotifyBatchReset(&notify, 1), {0});
        break;
      default:
        finish(stream);
    }
  }
  void finish(aclrtStream stream) {
    must(::aclrtSynchronizeStreamWithTimeout(stream, kHang), {0, kIpcError});
  }
  void end() {
    for (aclrtStream each : streams_) finish(each);
    for (auto& [which, event] : events_)
      if (event != nullptr) must(aclrtDestroyEvent(event), {0});
    for (auto& [which, notify] : notifies_)
      if (notify != nullptr) must(aclrtDestroyNotify(notify), {0});
    for (aclrtStream each : streams_) must(aclrtDestroyStream(each), {0});
  }
  int wrong() const { return wrong_; }

 private:
  std::size_t below(std::size_t most) { return static_cast<std::size_t>(dice_() % most); }
  int must(int code, const std::set<int>& expected) {
    if (!expected.contains(code)) wrong_ = code;
    return code;
  }
  Board& board_;
  std::mt19937_64 dice_;
  std::array<aclrtStream, kStreams> streams_{};
  std::map<std::size_t, aclrtEvent> events_;
  std::map<std::size_t, aclrtNotify> notifies_;
  int wrong_ = 0;
};

// small 0: for as long as it lives; 1: so many steps, and the first wrong answer; 2: how many places there
// are.
Own storming(Board& board) {
  return [&board](const Order& order) {
    Answer answer;
    answer.code = 0;
    if (order.small == 2) {
      std::vector<aclrtEvent> all;
      for (aclrtEvent event = nullptr; aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC) == 0;)
        all.push_back(event);
      for (aclrtEvent each : all) (void)aclrtDestroyEvent(each);
      answer.first = all.size();
      return answer;
    }
    Storm storm{board, order.seed};
    for (std::uint64_t i = 0; order.small == 0 || i < order.size; ++i) storm.step();
    storm.end();
    answer.code = storm.wrong();
    return answer;
  };
}

class SharedSignalsStorm : public ::testing::Test {
 protected:
  void run(const Settings& settings, int kills) {
    Board& board = new_board();
    std::mt19937 dice = test_random();
    const TestMachine machine{"64M", settings};
    const MemberPtr survivors[] = {machine.join(storming(board)), machine.join(storming(board))};
    for (int kill = 0; kill < kills; ++kill) {
      SCOPED_TRACE(seed_text() + ", kill " + std::to_string(kill));
      const MemberPtr victims[] = {machine.join(storming(board)), machine.join(storming(board))};
      for (const MemberPtr& each : victims) each->send({Do::own, 0, 0, 0, dice()});
      for (const MemberPtr& each : survivors) each->send({Do::own, 1, 0, 200 + dice() % 200, dice()});
      let_time_pass(std::chrono::microseconds{dice() % 3000});  // so that they get anywhere
      if (dice() % 2 == 0) victims[0]->stop();
      if (dice() % 2 == 0) {
        victims[1]->stop();
        victims[1]->go_on();
      }
      victims[0]->die();
      if (dice() % 2 == 0) let_time_pass(std::chrono::microseconds{dice() % 1000});  // the same
      victims[1]->die();
      for (const MemberPtr& each : survivors) {
        const Answer answer = each->hear();
        ASSERT_EQ(answer.heard, 1);
        ASSERT_EQ(answer.code, 0) << each->message();
      }
    }
    EXPECT_EQ(survivors[0]->ask({Do::own, 2}).first, 16384U) << "places are lost";
  }
};

TEST_F(SharedSignalsStorm, R188_R211_KilledAtRandom_WhileAllRunsAtOnce) { run({}, slice(15, 400, 3)); }
TEST_F(SharedSignalsStorm, R188_R211_KilledAtRandom_OneTaskAtATime) {
  run({{"BELAY_SCHEDULE", "fifo"}}, slice(8, 200, 3));
}
TEST_F(SharedSignalsStorm, R188_R211_KilledAtRandom_Lazy) {
  run({{"BELAY_SCHEDULE", "lazy"}}, slice(8, 200, 3));
}
TEST_F(SharedSignalsStorm, R188_R211_KilledAtRandom_InARandomOrder) {
  run({{"BELAY_SCHEDULE", "seed:" + std::to_string(test_seed() % 1000)}}, slice(8, 200, 3));
}

}  // namespace shared_signals_storm_test
