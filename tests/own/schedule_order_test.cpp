// Which order each schedule (BELAY_SCHEDULE) takes, when the work is done, and that it replays.
#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "support/blocks.h"
#include "support/desk.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/waiting.h"

namespace schedule_order_test {

using namespace belay_test;

TEST(ScheduleOrder, R16_UnderEagerAndFifo_WorkIsDoneUnasked) {
  if (kUnderASanitizer) GTEST_SKIP() << "looks at memory while it is written";
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

TEST(ScheduleOrder, R16_UnderLazy_NothingIsDoneBeforeSomebodyWaits) {
  in_fresh_process(under("lazy"), [] {
    Desk desk;
    desk.down(desk.a, 0);
    desk.down(desk.b, 1);
    let_time_pass(150ms);  // in which nothing must happen
    EXPECT_EQ(std::uint64_t{desk.pinned[0]}, 0U);
    MUST(aclrtSynchronizeStream(desk.a));
    EXPECT_EQ(std::uint64_t{desk.pinned[0]}, 1U);
    EXPECT_EQ(std::uint64_t{desk.pinned[1]}, 0U) << "nobody waits for that stream";
    MUST(aclrtSynchronizeDevice());
    EXPECT_EQ(std::uint64_t{desk.pinned[1]}, 1U);
  });
}

TEST(ScheduleOrder, R145_UnderLazy_AskingMovesAStreamOnStepByStep) {
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
TEST(ScheduleOrder, R170_UnderLazy_AWaitPullsTheStreamsItDependsOn) {
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

// A function that takes longer than a moment holds nobody up, and this machine may be busy, so there are
// several attempts; two hundred functions are not called in order by chance.
TEST(ScheduleOrder, R198_R17_UnderFifo_FunctionsAreCalledInTheOrderOfSubmission) {
  in_fresh_process(under("fifo"), [] {
    Desk desk;
    bool in_order = false;
    for (int attempt = 0; attempt < 8 && !in_order; ++attempt) {
      Log log;
      std::vector<Entry> entries;
      for (int i = 0; i < 200; ++i) entries.push_back({&log, i});
      std::mt19937 random = test_random(static_cast<unsigned>(attempt));
      for (Entry& entry : entries) {
        const aclrtStream streams[] = {desk.a, desk.b, nullptr};
        MUST(aclrtLaunchHostFunc(streams[random() % 3], write_down, &entry));
      }
      MUST(aclrtSynchronizeDevice());
      EXPECT_EQ(log.order.size(), entries.size());
      in_order = std::ranges::is_sorted(log.order);
    }
    EXPECT_TRUE(in_order);
  });
}

// Copies that race for the same words do what they would do one after the other.
TEST(ScheduleOrder, R17_UnderFifo_CopiesRunInTheOrderOfSubmission) {
  in_fresh_process(under("fifo"), [] {
    Desk desk;
    std::uint64_t device = 1;
    std::array<std::uint64_t, 8> pinned{};
    std::mt19937 random = test_random();
    for (int round = 0, rounds = slice(200, 10000); round < rounds; ++round) {
      for (int step = 0; step < 20; ++step) {
        const aclrtStream streams[] = {desk.a, desk.b, nullptr};
        const aclrtStream stream = streams[random() % 3];
        const std::size_t i = random() % 8;
        if (random() % 2 == 0) {
          desk.up(stream, i);
          device = pinned[i];
        } else {
          desk.down(stream, i);
          pinned[i] = device;
        }
      }
      MUST(aclrtSynchronizeDevice());
      for (std::size_t i = 0; i < 8; ++i) ASSERT_EQ(std::uint64_t{desk.pinned[i]}, pinned[i]) << round;
      desk.pinned[round % 8] = pinned[static_cast<std::size_t>(round % 8)] = 1000 + random();
    }
  });
}

// A copy may be done in pieces, but an aligned word of 8 bytes is never seen half copied.
TEST(ScheduleOrder, M271_M378_P41_WordsAreCopiedWhole) {
  // Also where the copy up, or a fill, starts inside a word; the words behind that one are whole all the
  // same.
  struct Way {
    std::size_t skip;
    bool fills;
  };
  for (const Way way : {Way{0, false}, Way{4, false}, Way{3, false}, Way{0, true}, Way{5, true}}) {
    for (const std::string& schedule : seeds(1, 4)) {
      in_fresh_process(under(schedule), [&] {
        Desk desk;
        std::uint64_t torn = 0, mixed = 0;
        for (std::uint64_t round = 1, rounds = slice(4000, 40000); round < rounds; ++round) {
          const std::uint64_t now = 0x0101010101010101U * (round % 256);
          const std::uint64_t before = 0x0101010101010101U * ((round - 1) % 256);
          for (int i = 0; i < 4; ++i) desk.pinned[i] = now;
          void* const to = at(desk.device, way.skip);
          const std::size_t count = 32 - way.skip;
          if (way.fills)
            MUST(aclrtMemsetAsync(to, count, static_cast<std::int32_t>(round % 256), count, desk.a));
          else
            MUST(aclrtMemcpyAsync(to, count, at(desk.word(0), way.skip), count, ACL_MEMCPY_HOST_TO_DEVICE,
                                  desk.a));
          MUST(aclrtMemcpyAsync(desk.word(4), 32, desk.device, 32, ACL_MEMCPY_DEVICE_TO_HOST, desk.b));
          MUST(aclrtSynchronizeStream(desk.b));
          for (int i = way.skip == 0 ? 4 : 5; i < 8 && round > 1; ++i) {
            const std::uint64_t word = desk.pinned[i];
            torn += word != now && word != before ? 1 : 0;
          }
          mixed += desk.pinned[5] != desk.pinned[7] ? 1 : 0;
          MUST(aclrtSynchronizeStream(desk.a));
        }
        EXPECT_EQ(torn, 0U) << schedule << ", " << way.skip << (way.fills ? " filled" : " copied");
        EXPECT_GT(mixed, 0U) << "nothing is done in pieces, so this says nothing";
      });
    }
  }
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

// What two runs have in common. Where the system stops this program for longer than functions are waited for,
// a run may go another way; hundreds of operations do not go the same way by chance.
std::string what_replays(const std::string& schedule) {
  std::set<std::string> seen;
  for (int runs = 0; runs < 6; ++runs) {
    const Ending ending = run_captured(under(schedule), busy_program);
    EXPECT_TRUE(ending.clean()) << schedule << ": " << ending;
    if (!ending.clean()) break;
    if (!seen.insert(ending.out).second) return ending.out;
  }
  ADD_FAILURE() << schedule << " does not replay";
  return "";
}

TEST(ScheduleOrder, R17_ASeedReplaysTheSameOrder) {
  std::set<std::string> different;
  for (const std::string& schedule : seeds(1, 20)) different.insert(what_replays(schedule));
  EXPECT_GE(different.size(), 18U) << "other seeds, other orders";
}

TEST(ScheduleOrder, R17_LazyReplaysTheSameOrder) { EXPECT_NE(what_replays("lazy"), ""); }

}  // namespace schedule_order_test
