// Thousands of streams cost memory only: no threads, and no time of the processor while nothing happens.
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/callbacks.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/streams.h"

namespace stream_crowd_test {

using namespace belay_test;

std::size_t threads() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++count;
  }
  return count;
}

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * 4096;
}

// What the process has used of the processors, which does not depend on how busy the machine is.
std::chrono::microseconds used() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  const auto sum = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
  };
  return sum(usage.ru_utime) + sum(usage.ru_stime);
}

std::chrono::microseconds used_while_idle() {
  let_time_pass(100ms);  // what has just ended may still be going to sleep
  const auto before = used();
  let_time_pass(1500ms);  // in which nothing must happen
  return used() - before;
}

constexpr std::size_t kPerDevice = 1983, kDevices = 3;

// As many streams as there are, on three devices, each with a mark of its own.
class Crowd {
 public:
  Crowd() {
    for (std::size_t device = 0; device < kDevices; ++device) {
      enter(device);
      marks_.push_back(std::make_unique<Marks>(kPerDevice));
      for (std::size_t i = 0; i < kPerDevice; ++i) streams_.push_back(new_stream());
    }
  }
  static void enter(std::size_t device) {
    EXPECT_EQ(aclrtSetDevice(static_cast<std::int32_t>(device)), ACL_SUCCESS);
  }
  // Calls with each stream, its marks and its number among them, on its device.
  template <typename Body>
  void each(Body body) const {
    for (std::size_t device = 0; device < kDevices; ++device) {
      enter(device);
      for (std::size_t i = 0; i < kPerDevice; ++i)
        body(streams_[device * kPerDevice + i], *marks_[device], i);
    }
  }
  void use_all() const {
    each([](aclrtStream stream, const Marks& marks, std::size_t i) { marks.queue(stream, i); });
    for (std::size_t device = 0; device < kDevices; ++device) {
      enter(device);
      EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
    }
  }
  std::size_t marked() const {
    std::size_t count = 0;
    each([&](aclrtStream, const Marks& marks, std::size_t i) { count += marks.set(i) ? 1 : 0; });
    return count;
  }

 private:
  std::vector<std::unique_ptr<Marks>> marks_;
  std::vector<aclrtStream> streams_;
};

TEST(StreamCrowd, R131_ThousandsOfStreamsNeedNoThreads) {
  in_fresh_process({}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    {
      const Marks marks;
      const Stream few[8];
      for (const Stream& stream : few) marks.queue(stream.get());
      EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
    }
    const std::size_t before = threads();
    EXPECT_LE(before, 16U + 2 * std::thread::hardware_concurrency());
    const std::size_t resident_before = resident_bytes();
    const Crowd crowd;
    crowd.use_all();
    EXPECT_EQ(crowd.marked(), kPerDevice * kDevices);
    EXPECT_LE(threads(), before + 2 * kDevices + std::thread::hardware_concurrency())
        << "as many as for eight streams, but for a few of each device";
    if (!kUnderASanitizer) {
      EXPECT_LT(resident_bytes() - resident_before, kPerDevice * kDevices * 16 * kKB);
    }
  });
}

TEST(StreamCrowd, R131_ThousandsOfIdleStreamsNeedNoTime) {
  in_fresh_process({}, [] {
    const Crowd crowd;
    crowd.use_all();
    EXPECT_LT(used_while_idle(), 150ms) << "a tenth of the time that passed";
  });
}

// Blocked streams wait for an event, not in turns.
TEST(StreamCrowd, R131_ThousandsOfBlockedStreamsNeedNoTime_AndAllGoOn) {
  in_fresh_process({}, [] {
    const Crowd crowd;
    std::vector<aclrtEvent> gates(kDevices);
    for (std::size_t device = 0; device < kDevices; ++device) {
      Crowd::enter(device);
      ASSERT_EQ(aclrtCreateEventWithFlag(&gates[device], ACL_EVENT_SYNC), ACL_SUCCESS);
    }
    std::size_t number_ = 0;
    crowd.each([&](aclrtStream stream, const Marks& marks, std::size_t i) {
      EXPECT_EQ(::aclrtStreamWaitEvent(stream, gates[number_++ / kPerDevice]), ACL_SUCCESS);
      marks.queue(stream, i);
    });
    const std::size_t blocked_threads = threads();
    EXPECT_LE(blocked_threads, 16U + 2 * std::thread::hardware_concurrency() + 2 * kDevices);
    EXPECT_LT(used_while_idle(), 150ms);
    EXPECT_EQ(crowd.marked(), 0U);
    for (std::size_t device = 0; device < kDevices; ++device) {
      Crowd::enter(device);
      EXPECT_EQ(aclrtRecordEvent(gates[device], nullptr), ACL_SUCCESS);
      EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
    }
    EXPECT_EQ(crowd.marked(), kPerDevice * kDevices);
  });
}

TEST(StreamCrowd, R131_MakingAndEndingManyTimesKeepsNothing) {
  in_fresh_process({}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Marks marks;
    const std::uint32_t left = streams_left();
    const auto round = [&] {
      for (int i = 0; i < 2000; ++i) {
        const Stream stream;
        marks.queue(stream.get());
      }
    };
    round();
    const std::size_t resident_before = resident_bytes(), threads_before = threads();
    for (int i = 0; i < 5; ++i) round();
    EXPECT_EQ(streams_left(), left);
    EXPECT_LE(threads(), threads_before + std::thread::hardware_concurrency());
    if (!kUnderASanitizer) {
      EXPECT_LT(resident_bytes(), resident_before + 4 * kMB) << "10000 streams came and went";
    }
  });
}

TEST(StreamCrowd, R107_ManyContextsNeedNoThreadsEither) {
  in_fresh_process({}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Marks marks;
    marks.queue(nullptr);
    EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    const std::size_t before = threads();
    std::vector<aclrtContext> contexts(500);
    for (aclrtContext& context : contexts) {
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      marks.queue(nullptr);
    }
    EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_LE(threads(), before + 2 * std::thread::hardware_concurrency());
    for (const aclrtContext context : contexts) EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  });
}

}  // namespace stream_crowd_test
