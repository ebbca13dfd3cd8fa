// BELAY_LINK gives copies a speed. How long something takes at least is certain; how long at most is not, so
// nothing here asks for that: where two things happen side by side, one of them would take minutes.
#include <algorithm>
#include <chrono>

#include "support/blocks.h"
#include "support/settings.h"

namespace link_test {

using namespace belay_test;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSize = 40000;   // bytes; at 1 MB/s 40 ms
constexpr std::int64_t kTime = 40000;  // microseconds

std::int64_t since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
}

class Link : public ::testing::TestWithParam<const char*> {
 protected:
  static void with(const std::string& link, const std::function<void()>& body) {
    in_fresh_process({{"BELAY_LINK", link}, {"BELAY_SCHEDULE", GetParam()}, {"BELAY_DEVICES", "2"}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body();
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Schedule, Link, ::testing::Values("eager", "fifo", "lazy", "seed:1"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, ':');
                           return name;
                         });

// Blocks of kSize bytes: two on device 0, one on device 1 and two of pinned memory.
struct Blocks {
  std::array<void*, 5> all{};
  void *&here = all[0], *&there = all[1], *&far = all[2], *&host = all[3], *&other_host = all[4];
  Blocks() {
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtMalloc(&far, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
    for (void** block : {&here, &there})
      EXPECT_EQ(aclrtMalloc(block, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    for (void** block : {&host, &other_host}) EXPECT_EQ(aclrtMallocHost(block, kSize), ACL_SUCCESS);
    for (void* block : {here, there, far}) EXPECT_EQ(aclrtMemset(block, kSize, 1, kSize), ACL_SUCCESS);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (void* block : {host, other_host}) EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    for (void* block : {here, there, far}) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
};

class Stream {
 public:
  Stream() { EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    for (aclrtEvent event : {start_, end_}) {
      if (event != nullptr) {
        EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
      }
    }
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  }
  aclrtStream get() const { return stream_; }
  // A copy between two events.
  void copy(void* to, const void* from, std::size_t count = kSize) {
    for (aclrtEvent* event : {&start_, &end_}) EXPECT_EQ(aclrtCreateEvent(event), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(start_, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(to, count, from, count, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(end_, stream_), ACL_SUCCESS);
  }
  void wait() const { EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
  aclrtEvent start_event() const { return start_; }
  std::int64_t start() const { return time(start_); }
  std::int64_t end() const { return time(end_); }
  float milliseconds() const {
    float ms = 0;
    EXPECT_EQ(aclrtEventElapsedTime(&ms, start_, end_), ACL_SUCCESS);
    return ms;
  }
  bool done() const {
    auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_EQ(aclrtQueryEventStatus(end_, &status), ACL_SUCCESS);
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

 private:
  static std::int64_t time(aclrtEvent event) {
    std::uint64_t microseconds = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(event, &microseconds), ACL_SUCCESS);
    return static_cast<std::int64_t>(microseconds);
  }
  aclrtStream stream_ = nullptr;
  aclrtEvent start_ = nullptr, end_ = nullptr;
};

// The ways of a copy, each as (to, from).
struct Way {
  const char* name;
  std::function<std::pair<void*, void*>(Blocks&)> ends;
};
const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"h2d",
       [](Blocks& blocks) {
         return std::pair{blocks.here, blocks.host};
       }},
      {"d2h",
       [](Blocks& blocks) {
         return std::pair{blocks.host, blocks.here};
       }},
      {"d2d",
       [](Blocks& blocks) {
         return std::pair{blocks.there, blocks.here};
       }},
      {"p2p",
       [](Blocks& blocks) {
         return std::pair{blocks.far, blocks.here};
       }},
  };
  return all;
}

TEST_P(Link, R184_R185_AQueuedCopyTakesItsTime) {
  for (const Way& way : ways()) {
    // Units are decimal: a copy at 1024 * 1024 bytes per second would be too fast.
    for (const char* const speed : {"1MB/s", "1000KB/s"}) {
      SCOPED_TRACE(std::string{way.name} + " at " + speed);
      with(std::string{way.name} + ":" + speed, [&] {
        Blocks blocks;
        const auto [to, from] = way.ends(blocks);
        Stream stream;
        const auto begun = Clock::now();
        stream.copy(to, from);
        stream.wait();
        EXPECT_GE(since(begun), kTime);
        EXPECT_GE(stream.end() - stream.start(), kTime - 1) << "one less by rounding";
        EXPECT_GE(stream.milliseconds(), static_cast<float>(kTime) / 1000 - 0.01F);
      });
    }
  }
}

TEST_P(Link, M241_M265_M318_CopiesThatWait_TakeTheirTime) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    with(std::string{way.name} + ":1MB/s", [&] {
      Blocks blocks;
      const auto [to, from] = way.ends(blocks);
      auto begun = Clock::now();
      EXPECT_EQ(aclrtMemcpy(to, kSize, from, kSize, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
      EXPECT_GE(since(begun), kTime);
      const std::string name = way.name;
      if (name != "h2d" && name != "d2h") return;
      const bool up = name == "h2d";
      Bytes pageable(kSize);
      Stream stream;
      begun = Clock::now();
      EXPECT_EQ(aclrtMemcpyAsync(up ? to : pageable.data(), kSize, up ? pageable.data() : from, kSize,
                                 ACL_MEMCPY_DEFAULT, stream.get()),
                ACL_SUCCESS);
      EXPECT_GE(since(begun), kTime);
      begun = Clock::now();
      EXPECT_EQ(aclrtMemcpy2d(to, 400, from, 400, 400, kSize / 400,
                              up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST),
                ACL_SUCCESS);
      EXPECT_GE(since(begun), kTime);
      begun = Clock::now();
      EXPECT_EQ(aclrtMemcpy2dAsync(to, 400, from, 400, 400, kSize / 400,
                                   up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST, stream.get()),
                ACL_SUCCESS);
      stream.wait();
      EXPECT_GE(since(begun), kTime);
    });
  }
}

TEST_P(Link, M271_CopiesOfOneDirection_TakeTurns) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    with(std::string{way.name} + ":1MB/s", [&] {
      Blocks blocks;
      const auto [to, from] = way.ends(blocks);
      const std::size_t part = kSize / 4;
      std::array<Stream, 3> streams;
      const auto begun = Clock::now();
      for (std::size_t i = 0; i < 3; ++i) streams[i].copy(at(to, i * part), at(from, i * part), part);
      EXPECT_EQ(aclrtMemcpy(at(to, 3 * part), part, at(from, 3 * part), part, ACL_MEMCPY_DEFAULT),
                ACL_SUCCESS);
      for (const Stream& stream : streams) stream.wait();
      EXPECT_GE(since(begun), kTime) << "four parts, one after the other";
      const std::int64_t first = std::min({streams[0].start(), streams[1].start(), streams[2].start()});
      const std::int64_t last = std::max({streams[0].end(), streams[1].end(), streams[2].end()});
      EXPECT_GE(last - first, 3 * kTime / 4 - 1);
    });
  }
}

TEST_P(Link, M271_TheBytesArrive) {
  with("h2d:1MB/s,d2h:1MB/s,d2d:1MB/s,p2p:1MB/s", [] {
    Blocks blocks;
    Stream stream;
    const Bytes sent = pattern(kSize);
    std::copy(sent.begin(), sent.end(), static_cast<std::uint8_t*>(blocks.host));
    stream.copy(blocks.here, blocks.host);
    for (const auto& [to, from] : {std::pair{blocks.there, blocks.here}, std::pair{blocks.far, blocks.there},
                                   std::pair{blocks.other_host, blocks.there}})
      EXPECT_EQ(aclrtMemcpyAsync(to, kSize, from, kSize, ACL_MEMCPY_DEFAULT, stream.get()), ACL_SUCCESS);
    stream.wait();
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), static_cast<std::uint8_t*>(blocks.other_host)));
  });
}

// In the schedules in which the workers act, a copy that would take minutes does not hold up those of other
// directions and devices. They begin after it and end before it.
TEST_P(Link, M271_OtherDirectionsAndDevicesGoOnMeanwhile) {
  const std::string schedule = GetParam();
  if (schedule != "eager" && schedule != "fifo") GTEST_SKIP() << "here the program's own waits move the work";
  with("h2d:100B/s,d2h:100MB/s,d2d:100MB/s,p2p:100MB/s", [] {
    Blocks blocks;
    Stream slow;
    slow.copy(blocks.here, blocks.host);
    EXPECT_EQ(aclrtSynchronizeEvent(slow.start_event()), ACL_SUCCESS);
    const std::size_t half = kSize / 2;
    void* const upper_half = at(blocks.there, half);
    for (void* const to : {blocks.other_host, upper_half, blocks.far}) {
      Stream quick;
      quick.copy(to, blocks.there, half);
      quick.wait();
      EXPECT_FALSE(slow.done());
      EXPECT_GE(quick.start(), slow.start());
    }
    // The other device has an up link of its own. A small copy there takes a second, all of the slow one
    // minutes.
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    {
      Stream quick;
      quick.copy(blocks.far, blocks.other_host, 100);
      quick.wait();
      EXPECT_FALSE(slow.done());
    }
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamAbort(slow.get()), ACL_SUCCESS);
  });
}

}  // namespace link_test
