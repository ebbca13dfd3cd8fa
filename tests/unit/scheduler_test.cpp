// The scheduler by itself, with tasks that only write down that they ran.
#include "schedule/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "runtime/handles.h"
#include "runtime/links.h"
#include "schedule/event_record.h"

namespace scheduler_test {

using belay::Error;
using belay::schedule::Arrival;
using belay::schedule::EventRecord;
using belay::schedule::Group;
using belay::schedule::Lock;
using belay::schedule::Mode;
using belay::schedule::Policy;
using belay::schedule::RunResult;
using belay::schedule::Scheduler;
using belay::schedule::Stream;
using belay::schedule::Task;

class Noted final : public Task {
 public:
  Noted(std::string& log, char name) : log_{log}, name_{name} {}
  RunResult run(std::size_t) override {
    log_ += name_;
    return {};
  }

 private:
  std::string& log_;
  char name_;
};

class Failing final : public Task {
 public:
  RunResult run(std::size_t) override {
    return {false, belay::driver_refuses("M-239", "it fails by design", "ask somebody else")};
  }
};

struct Two {
  explicit Two(Policy policy) : scheduler{policy, [this](const auto&) { ++failures; }, [](bool) {}} {
    group->device = 0;
    a = scheduler.open(0x1000, group, {});
    b = scheduler.open(0x2000, group, {});
  }
  void submit(Stream& stream, std::unique_ptr<Task> task) {
    EXPECT_TRUE(scheduler.submit(stream, std::move(task)));
  }
  Arrival finish(Stream& stream) {
    Lock lock = scheduler.lock();
    return scheduler.wait(lock, stream, stream.submitted.load(), {});
  }
  std::atomic<int> failures{0};
  Scheduler scheduler;
  std::shared_ptr<Group> group = std::make_shared<Group>();
  std::shared_ptr<Stream> a, b;
};

std::string order_under(std::uint64_t seed) {
  std::string log;
  Two two{{Mode::Seed, seed}};
  for (const char name : {'1', '2'}) two.submit(*two.a, std::make_unique<Noted>(log, name));
  for (const char name : {'x', 'y'}) two.submit(*two.b, std::make_unique<Noted>(log, name));
  two.finish(*two.a);
  two.finish(*two.b);
  return log;
}

TEST(Scheduler, R17_ASeedAlwaysGivesTheSameOrder_AndAllLegalOnesComeUp) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string order = order_under(seed);
    EXPECT_EQ(order, order_under(seed));
    EXPECT_LT(order.find('1'), order.find('2'));
    EXPECT_LT(order.find('x'), order.find('y'));
    seen.insert(order);
  }
  EXPECT_EQ(seen.size(), 6U) << "two streams of two tasks can be mixed in six ways";
}

TEST(Scheduler, R17_LazyRunsWhatIsWaitedForAndNothingElse) {
  std::string log;
  Two two{{Mode::Lazy, 0}};
  two.submit(*two.a, std::make_unique<Noted>(log, '1'));
  two.submit(*two.b, std::make_unique<Noted>(log, 'x'));
  EXPECT_EQ(log, "");
  EXPECT_EQ(two.finish(*two.b), Arrival::Reached);
  EXPECT_EQ(log, "x");
  EXPECT_EQ(two.finish(*two.a), Arrival::Reached);
  EXPECT_EQ(log, "x1");
}

TEST(Scheduler, R170_LazyRunsTheStreamThatAnotherWaitsFor) {
  std::string log;
  Two two{{Mode::Lazy, 0}};
  auto record = std::make_shared<EventRecord>(1);
  record->stream = two.a;
  two.submit(*two.a, std::make_unique<Noted>(log, '1'));
  two.submit(*two.a, std::make_unique<belay::schedule::RecordTask>(record, nullptr));
  two.submit(*two.a, std::make_unique<Noted>(log, '2'));
  two.submit(*two.b, std::make_unique<belay::schedule::AwaitTask>(record, 0, nullptr));
  two.submit(*two.b, std::make_unique<Noted>(log, 'x'));
  EXPECT_EQ(two.finish(*two.b), Arrival::Reached);
  EXPECT_EQ(log, "1x") << "up to the record, and no further";
}

TEST(Scheduler, R154_WhoeverWaitsIsToldThatTasksWereDropped) {
  Two two{{Mode::Lazy, 0}};  // without workers, which would outlive the scheduler of a test
  auto never = std::make_shared<EventRecord>(1);
  two.submit(*two.a, std::make_unique<belay::schedule::AwaitTask>(never, 0, nullptr));
  std::atomic<bool> waits{false};
  Arrival arrival = Arrival::Reached;
  std::thread waiter{[&] {
    Lock lock = two.scheduler.lock();
    waits = true;
    arrival = two.scheduler.wait(lock, *two.a, 1, {});
  }};
  while (!waits) std::this_thread::yield();
  {
    Lock lock = two.scheduler.lock();
    two.scheduler.clear(*two.a, lock);
    two.scheduler.clear(*two.a, lock);
  }
  waiter.join();
  EXPECT_EQ(arrival, Arrival::Cleared);
}

TEST(Scheduler, R16_R153_AnErrorIsTakenOnce_AndStopsAGroupThatWantsIt) {
  std::string log;
  Two two{{Mode::Lazy, 0}};
  two.submit(*two.a, std::make_unique<Failing>());
  EXPECT_EQ(two.finish(*two.a), Arrival::Reached);
  {
    Lock lock = two.scheduler.lock();
    EXPECT_NE(two.scheduler.take_error(*two.a, 1, lock), nullptr);
    EXPECT_EQ(two.scheduler.take_error(*two.a, 1, lock), nullptr);
  }
  two.b->stop_on_failure = true;
  two.submit(*two.a, std::make_unique<Failing>());
  two.submit(*two.b, std::make_unique<Noted>(log, 'x'));
  two.finish(*two.a);
  EXPECT_EQ(two.finish(*two.b), Arrival::Stopped);
  EXPECT_FALSE(two.scheduler.submit(*two.b, std::make_unique<Noted>(log, 'y')));
  EXPECT_EQ(log, "");
  EXPECT_EQ(two.failures, 2);
  {
    Lock lock = two.scheduler.lock();
    two.scheduler.clear(*two.a, lock);
  }
  EXPECT_EQ(two.finish(*two.b), Arrival::Reached) << "the stream that failed was aborted";
  EXPECT_EQ(log, "x");
}

TEST(Numbers, R146_TheSmallestFreeOne_AndNoMoreThanThereAre) {
  belay::Numbers numbers;
  numbers.set_limit(3);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 1U);
  EXPECT_EQ(numbers.take(), 2U);
  EXPECT_EQ(numbers.take(), std::nullopt);
  numbers.give(1);
  numbers.give(0);
  EXPECT_EQ(numbers.available(), 2U);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 1U);
}

TEST(LinkTimes, M271_OneDirectionIsTakenInTurn_OthersOverlap) {
  using belay::Way;
  belay::LinkSettings settings;
  settings.bytes_per_second = {1e9, 1e9, 0, 0};
  belay::LinkTimes links{settings, 2};
  using std::chrono::milliseconds;
  const auto now = belay::schedule::Clock::now();
  const auto first = links.take(Way::HostToDevice, 0, 1'000'000'000);
  const auto second = links.take(Way::HostToDevice, 0, 1'000'000'000);
  const auto back = links.take(Way::DeviceToHost, 0, 1'000'000'000);
  const auto other = links.take(Way::HostToDevice, 1, 1'000'000'000);
  ASSERT_TRUE(first && second && back && other);
  EXPECT_GE(*first - now, milliseconds{1000});
  EXPECT_EQ(*second - *first, milliseconds{1000});
  EXPECT_LT(*back, *second);
  EXPECT_LT(*other, *second);
  EXPECT_EQ(links.take(Way::OnDevice, 0, 1'000'000'000), std::nullopt);
}

}  // namespace scheduler_test
