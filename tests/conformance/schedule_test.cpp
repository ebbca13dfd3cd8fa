// The schedules (BELAY_SCHEDULE) bring to light what programs only got right because work was done at once,
// never harm correct ones, and replay.
#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "support/blocks.h"
#include "support/captured_process.h"

namespace {

using namespace belay_test;

Settings under(const std::string& schedule) {
  return {{"BELAY_SCHEDULE", schedule}, {"BELAY_DEVICES", "1"}, {"BELAY_LEAKS", "off"}};
}
std::vector<std::string> seeds(int from, int to) {
  std::vector<std::string> all;
  for (int seed = from; seed <= to; ++seed) all.push_back("seed:" + std::to_string(seed));
  return all;
}
void must(int answer, const char* what) {
  if (answer == ACL_SUCCESS) return;
  std::cout << what << " answers " << answer << std::endl;
  ::_exit(2);
}
#define MUST(call) must(call, #call)

// Two streams, a word of device memory that holds 1, and words of pinned memory that hold 0.
struct Desk {
  aclrtStream a = nullptr, b = nullptr;
  std::uint64_t* device = nullptr;
  volatile std::uint64_t* pinned = nullptr;
  Desk() {
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&a));
    MUST(aclrtCreateStream(&b));
    void* start = nullptr;
    MUST(aclrtMalloc(&start, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
    device = static_cast<std::uint64_t*>(start);
    MUST(aclrtMallocHost(&start, 64));
    pinned = static_cast<volatile std::uint64_t*>(start);
    for (int i = 0; i < 8; ++i) pinned[i] = 0;
    const std::uint64_t one = 1;
    MUST(aclrtMemcpy(device, 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() {
    (void)aclrtDestroyStream(a);
    (void)aclrtDestroyStream(b);
    (void)aclrtFree(device);
    (void)aclrtFreeHost(word(0));
    (void)aclrtResetDevice(0);
  }
  void* word(std::size_t i) const { return const_cast<std::uint64_t*>(pinned + i); }
  void down(aclrtStream stream, std::size_t to) const {
    MUST(aclrtMemcpyAsync(word(to), 8, device, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  void up(aclrtStream stream, std::size_t from) const {
    MUST(aclrtMemcpyAsync(device, 8, word(from), 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void order(aclrtStream first, aclrtStream then) const {
    aclrtEvent event = nullptr;
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtRecordEvent(event, first));
    MUST(aclrtStreamWaitEvent(then, event));
    MUST(aclrtDestroyEvent(event));
  }
};

// Each answers what its author wants to be 1. The wrong version leaves out the one call that makes it so.
struct Sample {
  const char* name;
  std::uint64_t (*run)(Desk& desk, bool right);
};

std::uint64_t reads_without_waiting(Desk& desk, bool right) {
  desk.down(desk.a, 0);
  if (right) MUST(aclrtSynchronizeStream(desk.a));
  const std::uint64_t seen = desk.pinned[0];
  MUST(aclrtSynchronizeStream(desk.a));
  return seen;
}
std::uint64_t changes_the_source(Desk& desk, bool right) {
  desk.pinned[0] = 1;
  desk.up(desk.a, 0);
  if (right) MUST(aclrtSynchronizeStream(desk.a));
  desk.pinned[0] = 2;
  desk.down(desk.a, 1);
  MUST(aclrtSynchronizeStream(desk.a));
  return desk.pinned[1];
}
std::uint64_t forgets_the_event(Desk& desk, bool right) {
  desk.pinned[0] = 7;
  desk.up(desk.a, 0);
  if (right) desk.order(desk.a, desk.b);
  desk.down(desk.b, 1);
  MUST(aclrtSynchronizeStream(desk.b));
  MUST(aclrtSynchronizeStream(desk.a));
  return desk.pinned[1] == 7 ? 1 : desk.pinned[1] + 100;
}
std::uint64_t frees_too_early(Desk& desk, bool right) {
  void* block = nullptr;
  MUST(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  MUST(aclrtMemset(block, 64, 1, 64));
  MUST(aclrtMemcpyAsync(desk.word(0), 8, block, 8, ACL_MEMCPY_DEVICE_TO_HOST, desk.a));
  if (right) MUST(aclrtSynchronizeStream(desk.a));
  MUST(aclrtFree(block));
  const int answer = aclrtSynchronizeStream(desk.a);
  if (answer != ACL_SUCCESS) return static_cast<std::uint64_t>(answer);
  return desk.pinned[0] == 0x0101010101010101 ? 1 : 200;
}
std::uint64_t trusts_the_default_stream(Desk& desk, bool right) {
  desk.pinned[0] = 7;
  desk.up(desk.a, 0);
  if (right) MUST(aclrtSynchronizeStream(desk.a));
  desk.down(nullptr, 1);  // does not wait for other streams
  MUST(aclrtSynchronizeStream(nullptr));
  MUST(aclrtSynchronizeStream(desk.a));
  return desk.pinned[1] == 7 ? 1 : desk.pinned[1] + 100;
}
std::uint64_t asks_only_once(Desk& desk, bool right) {
  aclrtEvent event = nullptr;
  MUST(aclrtCreateEvent(&event));
  desk.down(desk.a, 0);
  MUST(aclrtRecordEvent(event, desk.a));
  auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  do {
    MUST(aclrtQueryEventStatus(event, &status));
  } while (right && status != ACL_EVENT_RECORDED_STATUS_COMPLETE);
  const std::uint64_t seen = desk.pinned[0];
  MUST(aclrtSynchronizeStream(desk.a));
  MUST(aclrtDestroyEvent(event));
  return seen == 1 && status == ACL_EVENT_RECORDED_STATUS_COMPLETE ? 1 : 300 + seen;
}

const Sample kSamples[] = {
    {"reads the destination without waiting", reads_without_waiting},
    {"changes the source before it is copied", changes_the_source},
    {"forgets the event between two streams", forgets_the_event},
    {"frees memory that is still to be copied", frees_too_early},
    {"trusts that the default stream waits for others", trusts_the_default_stream},
    {"asks an event only once", asks_only_once},
};

// What the program prints, and its exit code: 0 where the author is content.
Ending run_sample(const Sample& sample, bool right, const std::string& schedule) {
  return run_captured(under(schedule), [&] {
    Desk desk;
    const std::uint64_t result = sample.run(desk, right);
    std::cout << result << std::endl;
    ::_exit(result == 1 ? 0 : 1);
  });
}
bool went_wrong(const Ending& ending) {
  return !ending.hung && WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 1;
}

TEST(Schedule, M270_R17_UnderLazy_WrongProgramsAlwaysFail) {
  for (const Sample& sample : kSamples) {
    const Ending first = run_sample(sample, false, "lazy");
    EXPECT_TRUE(went_wrong(first)) << sample.name << ": " << first;
    for (int again = 0; again < 3; ++again)
      EXPECT_EQ(run_sample(sample, false, "lazy").out, first.out) << sample.name;
  }
}

TEST(Schedule, M270_R17_UnderSomeSeed_WrongProgramsFail_AndFailAgain) {
  for (const Sample& sample : kSamples) {
    int failed = 0, passed = 0;
    for (const std::string& schedule : seeds(1, 50)) {
      const Ending first = run_sample(sample, false, schedule);
      ASSERT_TRUE(went_wrong(first) || first.clean()) << sample.name << ", " << schedule << ": " << first;
      ++(went_wrong(first) ? failed : passed);
      EXPECT_EQ(run_sample(sample, false, schedule).out, first.out) << sample.name << ", " << schedule;
    }
    EXPECT_GE(failed, 1) << sample.name;
    EXPECT_GE(passed, 1) << sample.name << ": no seed does the work at once";
  }
}

TEST(Schedule, M270_R17_CorrectProgramsPassUnderAllSchedules) {
  std::vector<std::string> schedules = seeds(1, 50);
  schedules.insert(schedules.end(), {"eager", "fifo", "lazy", "seed:0", "seed:18446744073709551615", "LAZY", ""});
  for (const std::string& schedule : schedules) {
    const Ending ending = run_captured(under(schedule), [] {
      for (const Sample& sample : kSamples) {
        Desk desk;
        const std::uint64_t result = sample.run(desk, true);
        if (result != 1) std::cout << sample.name << ": " << result << std::endl;
      }
    });
    EXPECT_TRUE(ending.clean() && ending.out.empty()) << schedule << ": " << ending;
  }
}

// --- who does the work, and when ------------------------------------------------------------------------

TEST(Schedule, R16_UnderEagerAndFifo_WorkIsDoneUnasked) {
  for (const char* const schedule : {"eager", "fifo"}) {
    in_fresh_process(under(schedule), [] {
      Desk desk;
      desk.down(desk.a, 0);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
      while (desk.pinned[0] != 1 && std::chrono::steady_clock::now() < end) {
      }
      EXPECT_EQ(std::uint64_t{desk.pinned[0]}, 1U);
    });
  }
}

TEST(Schedule, R16_UnderLazy_NothingIsDoneBeforeSomebodyWaits) {
  in_fresh_process(under("lazy"), [] {
    Desk desk;
    desk.down(desk.a, 0);
    desk.down(desk.b, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds{150});
    EXPECT_EQ(std::uint64_t{desk.pinned[0]}, 0U);
    MUST(aclrtSynchronizeStream(desk.a));
    EXPECT_EQ(std::uint64_t{desk.pinned[0]}, 1U);
    EXPECT_EQ(std::uint64_t{desk.pinned[1]}, 0U) << "nobody waits for that stream";
    MUST(aclrtSynchronizeDevice());
    EXPECT_EQ(std::uint64_t{desk.pinned[1]}, 1U);
  });
}

TEST(Schedule, R145_UnderLazy_AskingMovesAStreamOnStepByStep) {
  in_fresh_process(under("lazy"), [] {
    Desk desk;
    for (std::size_t i = 0; i < 4; ++i) desk.down(desk.a, i);
    auto status = ACL_STREAM_STATUS_RESERVED;
    MUST(aclrtStreamQuery(desk.a, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    EXPECT_EQ(std::uint64_t{desk.pinned[3]}, 0U) << "one question does not do it all";
    int asked = 1;
    for (; status != ACL_STREAM_STATUS_COMPLETE && asked < 100; ++asked)
      MUST(aclrtStreamQuery(desk.a, &status));
    EXPECT_LE(asked, 6) << "each question does one task";
    EXPECT_EQ(std::uint64_t{desk.pinned[3]}, 1U);
  });
}

// A wait leads through other streams to what it needs, and to nothing else.
TEST(Schedule, R170_UnderLazy_AWaitPullsTheStreamsItDependsOn) {
  in_fresh_process(under("lazy"), [] {
    Desk desk;
    desk.pinned[0] = 5;
    desk.up(desk.a, 0);
    desk.order(desk.a, desk.b);
    desk.down(desk.a, 2);
    desk.down(desk.b, 1);
    MUST(aclrtSynchronizeStream(desk.b));
    EXPECT_EQ(std::uint64_t{desk.pinned[1]}, 5U);
    EXPECT_EQ(std::uint64_t{desk.pinned[2]}, 0U) << "behind the event, and nobody waits for it";
  });
}

struct Log {
  std::vector<int> order;
  std::mutex mutex;
};
struct Entry {
  Log* log;
  int number;
};
void write_down(void* argument) {
  const Entry& entry = *static_cast<Entry*>(argument);
  const std::lock_guard lock{entry.log->mutex};
  entry.log->order.push_back(entry.number);
}

TEST(Schedule, R198_R17_UnderFifo_TasksRunInTheOrderOfSubmission) {
  in_fresh_process(under("fifo"), [] {
    Desk desk;
    Log log;
    std::vector<Entry> entries;
    for (int i = 0; i < 200; ++i) entries.push_back({&log, i});
    std::mt19937 random{1};
    for (Entry& entry : entries) {
      const aclrtStream streams[] = {desk.a, desk.b, nullptr};
      MUST(aclrtLaunchHostFunc(streams[random() % 3], write_down, &entry));
    }
    MUST(aclrtSynchronizeDevice());
    EXPECT_EQ(log.order.size(), entries.size());
    EXPECT_TRUE(std::ranges::is_sorted(log.order));
  });
}

// --- replay ---------------------------------------------------------------------------------------------

// A few hundred operations on six streams, the same ones each time; all that can be seen of the order is
// printed: which function was called when, what words held in between, what questions were answered.
void busy_program() {
  constexpr std::size_t kStreams = 6, kWords = 32;
  MUST(aclrtSetDevice(0));
  std::array<aclrtStream, kStreams> streams{};
  std::array<aclrtEvent, 4> events{};
  for (std::size_t i = 1; i < kStreams; ++i) MUST(aclrtCreateStream(&streams[i]));
  for (aclrtEvent& event : events) {
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtRecordEvent(event, streams[1]));
  }
  void *start = nullptr, *device = nullptr;
  MUST(aclrtMalloc(&device, kWords * 8, ACL_MEM_MALLOC_NORMAL_ONLY));
  MUST(aclrtMemset(device, kWords * 8, 0, kWords * 8));
  MUST(aclrtMallocHost(&start, kWords * 8));
  volatile std::uint64_t* const pinned = static_cast<volatile std::uint64_t*>(start);
  for (std::size_t i = 0; i < kWords; ++i) pinned[i] = i;
  Log log;
  std::deque<Entry> entries;
  std::mt19937 random{12345};
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int step = 0; step < 400; ++step) {
    const aclrtStream stream = streams[below(kStreams)];
    const std::size_t count = 1 + below(8), here = below(kWords - 8), there = below(kWords - 8);
    std::uint8_t* const host = at(start, here * 8);
    std::uint8_t* const other = at(device, there * 8);
    switch (below(10)) {
      case 0:
      case 1:
        MUST(aclrtMemcpyAsync(other, count * 8, host, count * 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        break;
      case 2:
      case 3:
        MUST(aclrtMemcpyAsync(host, count * 8, other, count * 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        break;
      case 4:
      case 5:
        entries.push_back({&log, step});
        MUST(aclrtLaunchHostFunc(stream, write_down, &entries.back()));
        break;
      case 6:
        MUST(aclrtRecordEvent(events[below(4)], stream));
        break;
      case 7:
        MUST(aclrtStreamWaitEvent(stream, events[below(4)]));
        break;
      case 8: {
        auto status = ACL_STREAM_STATUS_RESERVED;
        MUST(aclrtStreamQuery(stream, &status));
        std::cout << step << " stream " << status << "\n";
        break;
      }
      default:
        if (below(4) == 0) MUST(aclrtSynchronizeStream(stream));
        std::cout << step << " words";
        for (std::size_t i = 0; i < kWords; ++i) std::cout << " " << pinned[i];
        std::cout << "\n";
        pinned[below(kWords)] = static_cast<std::uint64_t>(step) * 1000;
    }
  }
  MUST(aclrtSynchronizeDevice());
  for (const int number : log.order) std::cout << number << " ";
  for (std::size_t i = 0; i < kWords; ++i) std::cout << "\n" << pinned[i];
  std::cout << std::endl;
}

TEST(Schedule, R17_ASeedReplaysTheSameOrder) {
  std::set<std::string> different;
  for (const std::string& schedule : seeds(1, 20)) {
    const Ending first = run_captured(under(schedule), busy_program);
    ASSERT_TRUE(first.clean()) << schedule << ": " << first;
    const Ending second = run_captured(under(schedule), busy_program);
    EXPECT_EQ(first.out, second.out) << schedule;
    different.insert(first.out);
  }
  EXPECT_GE(different.size(), 18U) << "other seeds, other orders";
}

TEST(Schedule, R17_LazyReplaysTheSameOrder) {
  const Ending first = run_captured(under("lazy"), busy_program);
  ASSERT_TRUE(first.clean()) << first;
  for (int again = 0; again < 5; ++again)
    EXPECT_EQ(run_captured(under("lazy"), busy_program).out, first.out);
}

}  // namespace
