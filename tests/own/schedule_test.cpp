// The schedules (BELAY_SCHEDULE) bring to light what programs only got right because work was done at once,
// and never harm correct ones.
#include <algorithm>

#include "support/blocks.h"
#include "support/desk.h"
#include "support/settings.h"

namespace schedule_test {

using namespace belay_test;

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
// So large that under a seed it may be done in pieces.
std::uint64_t frees_host_memory_too_early(Desk& desk, bool right) {
  constexpr std::size_t kLarge = 100000;
  void *host = nullptr, *block = nullptr;
  MUST(aclrtMallocHost(&host, kLarge));
  std::fill_n(static_cast<std::uint8_t*>(host), kLarge, std::uint8_t{1});
  MUST(aclrtMalloc(&block, kLarge, ACL_MEM_MALLOC_NORMAL_ONLY));
  MUST(aclrtMemcpyAsync(block, kLarge, host, kLarge, ACL_MEMCPY_HOST_TO_DEVICE, desk.a));
  if (right) MUST(aclrtSynchronizeStream(desk.a));
  MUST(aclrtFreeHost(host));
  const int answer = aclrtSynchronizeStream(desk.a);
  if (answer != ACL_SUCCESS) return static_cast<std::uint64_t>(answer);
  Bytes found(kLarge);
  MUST(aclrtMemcpy(found.data(), kLarge, block, kLarge, ACL_MEMCPY_DEVICE_TO_HOST));
  MUST(aclrtFree(block));
  return found == Bytes(kLarge, 1) ? 1 : 200;
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
    {"frees host memory that is still to be copied", frees_host_memory_too_early},
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
  schedules.insert(schedules.end(),
                   {"eager", "fifo", "lazy", "seed:0", "seed:18446744073709551615", "LAZY", ""});
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

}  // namespace schedule_test
