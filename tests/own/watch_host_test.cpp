// Host code that touches the destination of queued work before the wait (BELAY_WATCH_HOST): what is found,
// and that nobody else notices.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include "belay/belay.h"
#include "support/blocks.h"
#include "support/gates.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/waiting.h"

namespace watch_host_test {

using namespace belay_test;

constexpr std::size_t kPage = 4096;

Settings watched(const std::string& schedule = "eager") {
  return {{"BELAY_CHECK", "all,classes=host,print-limit=0"},
          {"BELAY_WATCH_HOST", "on"},
          {"BELAY_PIN", "best-effort"},
          {"BELAY_SCHEDULE", schedule}};
}

std::size_t found() { return belay_findings(0, nullptr, 0); }
std::string id_of(std::size_t number) {
  belayFinding finding{};
  (void)belay_findings(number, &finding, 1);
  return finding.id == nullptr ? "" : finding.id;
}

std::uint8_t load(const void* from, std::size_t offset = 0) {
  return static_cast<const volatile std::uint8_t*>(from)[offset];
}
void store(void* to, std::size_t offset, std::uint8_t value) {
  static_cast<volatile std::uint8_t*>(to)[offset] = value;
}

// A device block of sevens, and pinned memory that they come to.
struct Desk {
  explicit Desk(std::size_t bytes) : block{bytes}, host{bytes} {
    EXPECT_EQ(aclrtMemset(block.get(), bytes, 7, bytes), ACL_SUCCESS);
    std::fill_n(at(host.get(), 0), bytes, std::uint8_t{1});
  }
  void bring(aclrtStream to, std::size_t offset, std::size_t bytes) const {
    EXPECT_EQ(
        aclrtMemcpyAsync(host.get(offset), bytes, block.get(offset), bytes, ACL_MEMCPY_DEVICE_TO_HOST, to),
        ACL_SUCCESS);
  }
  void wait() const { EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS); }

  Device block;
  Pinned host;
  Stream stream;
};

void on_device(const Settings& settings, const std::function<void()>& body) {
  in_fresh_process(settings, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    body();
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

TEST(WatchedStreams, R16_AnAccessIsFoundAlsoWhenTheCopyHasRun) {
  on_device(watched(), [] {
    const Desk desk{16 * kPage};
    desk.bring(desk.stream, 0, 16 * kPage);
    // While the copy itself is at work, its pages are open.
    EXPECT_TRUE(eventually([&] { return load(desk.host.get(), 5) == 7 && found() == 1; }));
    EXPECT_EQ(id_of(0), "host-access-before-wait");
    desk.wait();
    EXPECT_EQ(load(desk.host.get(), 3 * kPage), 7);
    EXPECT_EQ(found(), 1U);
  });
}

TEST(WatchedStreams, R16_WithoutTheSettingNothingIsFound) {
  Settings off = watched("lazy");
  off[1].second = "off";
  on_device(off, [] {
    const Desk desk{kPage};
    desk.bring(desk.stream, 0, kPage);
    EXPECT_EQ(load(desk.host.get()), 1);
    desk.wait();
    EXPECT_EQ(found(), 0U);
  });
}

TEST(WatchedStreams, R16_PagesThatHoldSomethingElseStayOpen) {
  on_device(watched("lazy"), [] {
    const Desk desk{4 * kPage};
    desk.bring(desk.stream, 1, kPage + 10);  // no whole page
    for (std::size_t i = 0; i < 4 * kPage; ++i) EXPECT_EQ(load(desk.host.get(), i), 1);
    desk.bring(desk.stream, kPage - 1, 2 * kPage);
    EXPECT_EQ(load(desk.host.get(), kPage - 2), 1);
    store(desk.host.get(), 3 * kPage - 1, 2);
    EXPECT_EQ(found(), 0U);
    EXPECT_EQ(load(desk.host.get(), kPage), 1);
    EXPECT_EQ(load(desk.host.get(), 2 * kPage - 1), 1) << "it was told";
    EXPECT_EQ(found(), 1U);
    desk.wait();
    EXPECT_EQ(load(desk.host.get(), kPage), 7);
  });
}

TEST(WatchedStreams, R16_APageIsOpenWhenNoWorkIsInFlightAnyMore) {
  on_device(watched("lazy"), [] {
    const Desk desk{2 * kPage};
    const Stream other;
    desk.bring(desk.stream, 0, 2 * kPage);
    desk.bring(other, 0, 2 * kPage);
    desk.wait();
    EXPECT_EQ(found(), 0U);
    EXPECT_EQ(load(desk.host.get()), 7);
    EXPECT_EQ(found(), 1U);
    desk.bring(desk.stream, 0, kPage);
    EXPECT_EQ(load(desk.host.get(), kPage), 7);
    EXPECT_EQ(found(), 1U);
    desk.wait();
    EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
    EXPECT_EQ(load(desk.host.get()), 7);
    EXPECT_EQ(found(), 1U);
  });
}

TEST(WatchedStreams, R16_CallsThatUseTheDestinationWorkAndAreNotTold) {
  constexpr std::size_t kMany = 1024 * kPage;
  on_device(watched(), [] {
    const Desk desk{kMany};
    const Device fresh{kMany}, fresh_rows{kMany};
    HostGate gate;
    gate.hold_and_enter(desk.stream);
    desk.bring(desk.stream, 0, kMany);
    void* const host = desk.host.get();
    EXPECT_EQ(aclrtMemset(host, kMany, 3, kMany), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(fresh.get(), kMany, host, kMany, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(read_from(fresh.get(), kMany), Bytes(kMany, 3));
    EXPECT_EQ(aclrtMemcpy2d(fresh_rows.get(), 2 * kPage, host, 2 * kPage, kPage + 1, 500,
                            ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
    EXPECT_EQ(read_from(fresh_rows.get(998 * kPage), kPage), Bytes(kPage, 3));
    EXPECT_EQ(aclrtMemcpy(host, kMany, fresh.get(), kMany, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(found(), 0U);
    EXPECT_EQ(load(host, 77), 3);  // what was lent is closed again
    EXPECT_EQ(found(), 1U);
    gate.open();
    desk.wait();
    EXPECT_EQ(load(host, 77), 7);
  });
}

TEST(WatchedStreams, R16_FunctionsOfTheStreamHaveWaited) {
  for (const char* schedule : {"eager", "lazy"}) {
    on_device(watched(schedule), [] {
      const Desk desk{kPage};
      desk.bring(desk.stream, 0, kPage);
      static std::atomic<int> seen{0};
      EXPECT_EQ(aclrtLaunchHostFunc(
                    desk.stream, [](void* host) { seen = load(host, 9); }, desk.host.get()),
                ACL_SUCCESS);
      desk.bring(desk.stream, 0, kPage);  // waits until the function has returned
      desk.wait();
      EXPECT_EQ(seen.load(), 7);
      EXPECT_EQ(found(), 0U);
    });
  }
}

TEST(WatchedStreams, R16_AQueryIsAWait_AndSoIsAnEventOfAnotherStream) {
  for (const char* schedule : {"eager", "fifo", "lazy"}) {
    on_device(watched(schedule), [] {
      const Desk desk{3 * kPage};
      desk.bring(desk.stream, 0, kPage);
      aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
      EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(aclrtStreamQuery(desk.stream, &status), ACL_SUCCESS);
        return status == ACL_STREAM_STATUS_COMPLETE;
      }));
      EXPECT_EQ(load(desk.host.get()), 7);
      const Stream other;
      const Event event{Kind::flagged};
      desk.bring(desk.stream, kPage, kPage);
      EXPECT_EQ(aclrtRecordEvent(event, desk.stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
      EXPECT_EQ(load(desk.host.get(), kPage), 7);
      EXPECT_EQ(found(), 0U);
    });
  }
}

// Whoever waits for the second stream has waited for the first.
TEST(WatchedStreams, R208_ANotifyLeadsToWhatIsBeforeThem) {
  for (const char* schedule : {"eager", "fifo", "lazy", "seed:3"}) {
    SCOPED_TRACE(schedule);
    on_device(watched(schedule), [] {
      const Desk desk{4 * kPage};
      const Stream other;
      const Notify notify;
      HostGate gate;
      gate.hold(desk.stream);
      desk.bring(desk.stream, 0, kPage);
      EXPECT_EQ(aclrtRecordNotify(notify, desk.stream), ACL_SUCCESS);
      desk.bring(desk.stream, kPage, kPage);
      EXPECT_EQ(aclrtWaitAndResetNotify(notify, other, 0), ACL_SUCCESS);
      gate.open();
      EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
      EXPECT_EQ(load(desk.host.get()), 7);
      EXPECT_EQ(found(), 0U);
      desk.wait();
    });
  }
}

// ... and for no more than that.
TEST(WatchedStreams, R165_AnEventLeadsToNothingBehindIt) {
  on_device(watched("lazy"), [] {
    const Desk desk{2 * kPage};
    const Stream second, third;
    const Event event{Kind::flagged};
    desk.bring(second, kPage, kPage);
    desk.bring(desk.stream, 0, kPage);
    EXPECT_EQ(aclrtRecordEvent(event, desk.stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(third, event), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(third), ACL_SUCCESS);
    EXPECT_EQ(load(desk.host.get()), 7);
    EXPECT_EQ(found(), 0U);
    EXPECT_EQ(load(desk.host.get(), kPage), 1) << "of a stream that nobody has waited for";
    EXPECT_EQ(found(), 1U);
    EXPECT_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
  });
}

TEST(WatchedStreams, R16_OtherThreadsReadAtOnce) {
  on_device(watched("lazy"), [] {
    constexpr std::size_t kThreads = 4, kPages = 64;
    const Desk desk{kThreads * kPages * kPage};
    for (std::size_t i = 0; i < kThreads; ++i) desk.bring(desk.stream, i * kPages * kPage, kPages * kPage);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&desk] {
        for (std::size_t page = 0; page < kThreads * kPages; ++page)
          EXPECT_EQ(load(desk.host.get(), page * kPage), 1);
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(found(), 1U) << "one place of the program, whoever was first";
    belayFinding finding{};
    (void)belay_findings(0, &finding, 1);
    EXPECT_EQ(finding.count, kThreads) << "once for each copy";
    desk.wait();
    EXPECT_EQ(load(desk.host.get()), 7);
  });
}

TEST(WatchedStreams, R69_TheChildOfAForkFindsItsPagesOpen) {
  on_device(watched("lazy"), [] {
    const Desk desk{4 * kPage};
    desk.bring(desk.stream, 0, 4 * kPage);
    in_fresh_process(watched("lazy"), [&] {
      for (std::size_t page = 0; page < 4; ++page) {
        EXPECT_EQ(load(desk.host.get(), page * kPage), 1);
        store(desk.host.get(), page * kPage, 2);
      }
      EXPECT_EQ(found(), 0U);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const Desk own{kPage};
      own.bring(own.stream, 0, kPage);
      EXPECT_EQ(load(own.host.get()), 1);
      EXPECT_EQ(found(), 1U);
      own.wait();
    });
    EXPECT_EQ(found(), 0U);
    EXPECT_EQ(load(desk.host.get()), 1);
    EXPECT_EQ(found(), 1U);
    desk.wait();
  });
}

TEST(WatchedStreams, M270_MemoryThatIsFreedInFlightIsOpen) {
  on_device(watched("lazy"), [] {
    Desk desk{4 * kPage};
    void* const host = desk.host.get();
    desk.bring(desk.stream, 0, 4 * kPage);
    EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
    desk.host.forget();
    EXPECT_EQ(load(host), 1) << "it stays until the work is over";
    EXPECT_EQ(found(), 1U);
    EXPECT_EQ(id_of(0), "host-buffer-freed");
    EXPECT_NE(aclrtSynchronizeStream(desk.stream), ACL_SUCCESS) << "it lost its end (M-270)";
    const Pinned again{4 * kPage};
    store(again.get(), 0, 1);
    EXPECT_EQ(found(), 1U);
  });
}

TEST(WatchedStreams, R154_AbortedWorkClosesNothing) {
  on_device(watched(), [] {
    const Desk desk{2 * kPage};
    HostGate gate;
    gate.hold_and_enter(desk.stream);
    desk.bring(desk.stream, 0, 2 * kPage);
    OpensLater opening{gate};
    EXPECT_EQ(aclrtStreamAbort(desk.stream), ACL_SUCCESS);
    EXPECT_EQ(load(desk.host.get()), 1);
    EXPECT_EQ(found(), 0U);
  });
}

TEST(WatchedStreams, R16_ARestartForgetsWhatIsClosed) {
  in_fresh_process(watched("lazy"), [] {
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void *host = nullptr, *block = nullptr;
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtMallocHost(&host, 2 * kPage), ACL_SUCCESS);
      store(host, 0, 1);
      ASSERT_EQ(aclrtMalloc(&block, 2 * kPage, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemset(block, 2 * kPage, 7, 2 * kPage), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemcpyAsync(host, 2 * kPage, block, 2 * kPage, ACL_MEMCPY_DEVICE_TO_HOST, stream),
                ACL_SUCCESS);
      if (i != 1) EXPECT_EQ(load(host), 1);
      ASSERT_EQ(belay_restart(), 0);
    }
    ASSERT_EQ(found(), 1U);
    belayFinding finding{};
    (void)belay_findings(0, &finding, 1);
    EXPECT_EQ(finding.count, 2U);
  });
}

TEST(WatchedStreams, R16_ASystemCallGetsEFAULTUntilTheWait) {
  on_device(watched("lazy"), [] {
    const Desk desk{kPage};
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    desk.bring(desk.stream, 0, kPage);
    EXPECT_EQ(::write(ends[1], desk.host.get(), 10), -1);
    EXPECT_EQ(errno, EFAULT);
    desk.wait();
    EXPECT_EQ(::write(ends[1], desk.host.get(), 10), 10);
    EXPECT_EQ(found(), 0U);
  });
}

// Its handler was there first, so that it gets what is not belay's affair.
void* g_guarded = nullptr;
volatile int g_mended = 0;
void mend(int, siginfo_t* info, void*) {
  if (info->si_addr != g_guarded || ::mprotect(g_guarded, kPage, PROT_READ | PROT_WRITE) != 0) ::_exit(9);
  g_mended = g_mended + 1;
}

TEST(WatchedStreams, C26_PagesThatTheProgramProtectsAreItsOwn) {
  in_fresh_process(watched("lazy"), [] {
    struct sigaction ours {};
    ours.sa_sigaction = mend;
    ours.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGSEGV, &ours, nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Desk desk{4 * kPage};
    desk.bring(desk.stream, 0, kPage);
    const Pages others{1};
    for (void* const page : {desk.host.get(3 * kPage), others.get()}) {
      g_guarded = page;
      ASSERT_EQ(::mprotect(page, kPage, PROT_NONE), 0);
      store(page, 0, 5);
      EXPECT_EQ(load(page), 5);
    }
    EXPECT_EQ(g_mended, 2);
    EXPECT_EQ(found(), 0U);
    EXPECT_EQ(load(desk.host.get()), 1);
    EXPECT_EQ(found(), 1U);
    desk.wait();
  });
}

// --- correct programs -------------------------------------------------------------------------------

// A part of device and of pinned memory with a stream of its own, and what both hold when it has been waited
// for.
struct Lane {
  Lane(void* on_device, void* on_host, std::size_t bytes)
      : device{on_device}, host{on_host}, of_device(bytes, 0), of_host(bytes, 0) {
    EXPECT_EQ(aclrtMemset(device, bytes, 0, bytes), ACL_SUCCESS);
    std::fill_n(at(host, 0), bytes, std::uint8_t{0});
  }
  void wait(std::mt19937& random) {
    switch (random() % 4) {
      case 0:
        EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        break;
      case 1:
        EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
        break;
      case 2: {
        const Event event{Kind::flagged};
        EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
        break;
      }
      default: {
        const Stream other;
        const Event event{Kind::flagged};
        EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
        EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
      }
    }
    EXPECT_TRUE(std::equal(of_host.begin(), of_host.end(), at(host, 0)));
    for (int i = 0; i < 10; ++i) {
      const std::size_t place = random() % of_host.size();
      of_host[place] = static_cast<std::uint8_t>(random());
      store(host, place, of_host[place]);
    }
  }
  void step(std::mt19937& random) {
    const std::size_t from = random() % of_host.size(), to = random() % of_host.size();
    const std::size_t most = of_host.size() - std::max(from, to);
    const std::size_t bytes = random() % 4 == 0 ? most : 1 + random() % most;
    const auto count = static_cast<std::ptrdiff_t>(bytes);
    const auto source = static_cast<std::ptrdiff_t>(from), target = static_cast<std::ptrdiff_t>(to);
    switch (random() % 6) {
      case 0:
        return wait(random);
      case 1: {
        const auto value = static_cast<std::uint8_t>(random());
        EXPECT_EQ(aclrtMemsetAsync(at(device, to), bytes, value, bytes, stream), ACL_SUCCESS);
        std::fill_n(of_device.begin() + target, count, value);
        return;
      }
      case 2:
        EXPECT_EQ(
            aclrtMemcpyAsync(at(device, to), bytes, at(host, from), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
        std::copy_n(of_host.begin() + source, count, of_device.begin() + target);
        return;
      default:
        EXPECT_EQ(
            aclrtMemcpyAsync(at(host, to), bytes, at(device, from), bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
        std::copy_n(of_device.begin() + source, count, of_host.begin() + target);
    }
  }

  void *device, *host;
  Stream stream;
  Bytes of_device, of_host;
};

TEST(WatchedStreams, M270_M271_CorrectProgramsAreLeftAlone_UnderAllSchedules) {
  SCOPED_TRACE(seed_text());
  for (const char* schedule : {"eager", "fifo", "lazy", "seed:1", "seed:2"}) {
    SCOPED_TRACE(schedule);
    on_device(watched(schedule), [&] {
      constexpr std::size_t kLane = 5 * kPage + 1234, kLanes = 3;
      std::mt19937 random = test_random(std::hash<std::string>{}(schedule));
      const Device block{kLanes * kLane};
      const Pinned host{kLanes * kLane};
      std::vector<std::unique_ptr<Lane>> lanes;
      for (std::size_t i = 0; i < kLanes; ++i)
        lanes.push_back(std::make_unique<Lane>(block.get(i * kLane), host.get(i * kLane), kLane));
      for (int i = slice(1'000, 50'000, 10); i > 0 && !testing::Test::HasFailure(); --i)
        lanes[random() % kLanes]->step(random);
      for (const auto& each : lanes) each->wait(random);
      EXPECT_EQ(found(), 0U) << id_of(0);
    });
  }
}

// The destination is touched all the time by calls and by streams, from several threads.
TEST(WatchedStreams, M270_ThreadsWithWorkOfTheirOwnAtOnePage) {
  on_device(watched(), [] {
    constexpr int kThreads = 4;
    const Desk desk{kThreads * kPage};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&desk] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        const Stream stream;
        for (int round = slice(100, 2'000, 4); round > 0; --round) {
          desk.bring(stream, 0, kThreads * kPage);
          EXPECT_EQ(aclrtMemcpy(desk.block.get(), desk.block.size(), desk.host.get(), desk.host.size(),
                                ACL_MEMCPY_HOST_TO_DEVICE),
                    ACL_SUCCESS);
          EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        }
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(found(), 0U) << id_of(0);
    (void)load(desk.host.get());
    EXPECT_EQ(found(), 0U) << id_of(0);
  });
}

}  // namespace watch_host_test
