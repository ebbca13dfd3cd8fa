// Random records, waits and aborts against a plain model of counts.
//
// The model says which streams are held after each call. So each wait must have begun before the next call:
// under these schedules, but not with several workers, that can be made sure.
#include <random>

#include "support/count_notifies.h"

namespace count_notify_model_test {

using namespace belay_test;

struct Waiter {
  std::size_t stream, notify;
  int mode;
  std::uint32_t value;
  bool clears;
};

class Model {
 public:
  explicit Model(std::size_t notifies) : counts_(notifies) {}

  void record(std::size_t notify, int mode, std::uint32_t value) {
    std::uint32_t& count = counts_[notify];
    count = mode == kSet ? value : mode == kAdd ? count + value : mode == kOr ? count | value : count & value;
    while (release_one()) {
    }
  }
  void await(const Waiter& waiter) {
    waiters_.push_back(waiter);
    while (release_one()) {
    }
  }
  void abort(std::size_t stream) {
    std::erase_if(waiters_, [&](const Waiter& each) { return each.stream == stream; });
  }
  bool held(std::size_t stream) const {
    return std::any_of(waiters_.begin(), waiters_.end(),
                       [&](const Waiter& each) { return each.stream == stream; });
  }
  std::uint32_t count(std::size_t notify) const { return counts_[notify]; }

 private:
  // The first of all that can go.
  bool release_one() {
    for (auto at = waiters_.begin(); at != waiters_.end(); ++at) {
      std::uint32_t& count = counts_[at->notify];
      const std::uint32_t value = at->value;
      const bool answers[] = {count<value, count == value, count> value, count >= value,
                              (count & value) == value};
      if (!answers[at->mode]) continue;
      if (at->clears) count = 0;
      waiters_.erase(at);
      return true;
    }
    return false;
  }
  std::vector<std::uint32_t> counts_;
  std::vector<Waiter> waiters_;
};

// Until what was submitted so far has begun: under a seed each question runs something or not, by lot.
void let_begin(aclrtStream stream, aclrtStream other, const CountNotify& spare) {
  for (int i = 0; i < 64; ++i) (void)status_of(stream);
  record(spare, other, kAdd, 1);
  EXPECT_EQ(finish(other), ACL_SUCCESS);
}

void run(unsigned seed) {
  constexpr std::size_t kStreams = 5, kNotifies = 3;
  constexpr int kModes[] = {kSet, kAdd, kOr, kAnd};
  std::mt19937 dice{seed};
  const auto below = [&](std::size_t most) { return static_cast<std::size_t>(dice() % most); };
  const auto value = [&] {
    const std::uint32_t values[] = {0, 1, 2, 3, 4, 7, 0x80000000, 0xFFFFFFFF};
    return values[below(8)];
  };
  const Stream streams[kStreams], recorder;
  const CountNotify notifies[kNotifies], spare;
  Model model{kNotifies};
  for (int step = 0; step < 150; ++step) {
    const std::size_t stream = below(kStreams);
    const std::size_t notify = below(kNotifies);
    if (model.held(stream) && below(8) == 0) {
      EXPECT_EQ(aclrtStreamAbort(streams[stream]), ACL_SUCCESS);
      model.abort(stream);
    } else if (!model.held(stream) && below(2) == 0) {
      const Waiter waiter{stream, notify, static_cast<int>(below(5)), value(), below(3) == 0};
      await(notifies[notify], streams[stream], waiter.mode, waiter.value, waiter.clears);
      let_begin(streams[stream], recorder, spare);
      model.await(waiter);
    } else if (below(10) == 0) {
      EXPECT_EQ(aclrtCntNotifyReset(notifies[notify], recorder), ACL_SUCCESS);
      EXPECT_EQ(finish(recorder), ACL_SUCCESS);
      model.record(notify, kSet, 0);
    } else {
      const int mode = kModes[below(4)];
      const std::uint32_t with = value();
      record(notifies[notify], recorder, mode, with);
      EXPECT_EQ(finish(recorder), ACL_SUCCESS);
      model.record(notify, mode, with);
    }
    for (std::size_t i = 0; i < kStreams; ++i) {
      if (model.held(i)) {
        ASSERT_FALSE(idle(streams[i])) << "seed " << seed << ", step " << step << ", stream " << i;
      } else {
        ASSERT_EQ(finish(streams[i]), ACL_SUCCESS)
            << "seed " << seed << ", step " << step << ", stream " << i;
      }
    }
    expect_count(notifies[notify], model.count(notify));
  }
  for (const Stream& each : streams) EXPECT_EQ(aclrtStreamAbort(each), ACL_SUCCESS);
}

TEST(CountNotifyModel, R279_R280_R282_RandomSequences) {
  for (const char* const schedule : {"fifo", "lazy", "seed:1", "seed:9"}) {
    SCOPED_TRACE(schedule);
    on_product("950", {{"BELAY_SCHEDULE", schedule}}, [] {
      for (unsigned seed = 1; seed <= 40; ++seed) {
        run(seed);
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
}

}  // namespace count_notify_model_test
