// Events reach listeners in order, whole and once, through rings, at once and from threads that end.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <set>
#include <thread>

#include "observe/call_sites.h"
#include "support/recorder.h"
#include "support/slices.h"
#include "support/waiting.h"

namespace observe_test {

using namespace belay;
using namespace belay_test;
using observe::Event;
using observe::Ring;
using observe::What;

void publish(std::uint64_t number) { observe::publish({.what = What::Allocated, .serial = number}); }

TEST(Observe, NobodyListens_NothingIsWanted) {
  EXPECT_FALSE(observe::wanted(~observe::Mask{0}));
  publish(1);
  Recorder recorder;
  EXPECT_TRUE(recorder.take().empty()) << "what was published before is nobody's";
}

TEST(Observe, ARingTellsInOrder_AroundItsEnd) {
  Recorder recorder;
  for (std::uint64_t rounds = 0; rounds < 3 * Ring::kCells + 1; ++rounds) publish(rounds);
  const std::vector<Heard> heard = recorder.take();
  ASSERT_EQ(heard.size(), 3 * Ring::kCells + 1);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    ASSERT_EQ(heard[i].event.serial, i);
    EXPECT_EQ(heard[i].event.thread, static_cast<std::uint32_t>(::gettid()));
  }
}

// Events of all lengths, from one cell to more than a ring.
TEST(Observe, EventsOfAnyLengthArriveWholeAndInOrder) {
  Recorder recorder;
  std::mt19937 random = test_random();
  SCOPED_TRACE(seed_text());
  struct Sent {
    std::size_t touches, letters;
  };
  std::vector<Sent> sent;
  const std::size_t lengths[] = {0, 0, 0, 1, 2, 3, 30, 31, 41, 42, 43, 44, 170, 171, 1000};
  for (std::size_t i = 0; i < 3000; ++i) {
    const Sent next{lengths[random() % std::size(lengths)], random() % 3 == 0 ? random() % 1200 : 0};
    std::vector<observe::Touch> touches(next.touches);
    for (std::size_t k = 0; k < touches.size(); ++k) touches[k].offset = i * 10'000 + k;
    observe::deliver({.what = What::Copied, .serial = i}, {.rule = next.letters != 0 ? "M-1" : ""}, touches,
                     std::string(next.letters, static_cast<char>('a' + i % 26)));
    sent.push_back(next);
  }
  const std::vector<Heard> heard = recorder.take();
  ASSERT_EQ(heard.size(), sent.size());
  for (std::size_t i = 0; i < heard.size(); ++i) {
    ASSERT_EQ(heard[i].event.serial, i);
    ASSERT_EQ(heard[i].touches.size(), sent[i].touches);
    for (std::size_t k = 0; k < sent[i].touches; ++k) ASSERT_EQ(heard[i].touches[k].offset, i * 10'000 + k);
    ASSERT_EQ(heard[i].text,
              std::string(std::min<std::size_t>(sent[i].letters, 1024), static_cast<char>('a' + i % 26)));
  }
  EXPECT_EQ(observe::lost(), 0U);
}

// The fast path writes all words of a cell but two: those must be right, whatever was in the cell before.
TEST(Observe, CellsAreTidyForTheFastPath_AfterLongerEvents) {
  Recorder recorder;
  std::mt19937 random = test_random(3);
  SCOPED_TRACE(seed_text());
  publish(0);
  Ring& ring = *observe::t_ring;
  std::vector<Heard> heard;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    if (random() % 40 == 0) {
      std::vector<observe::Touch> touches(random() % 9);
      for (observe::Touch& each : touches)
        each = {~i, ~i, ~i, ~i, static_cast<std::uint32_t>(~i), 77, true, true};
      observe::deliver({.what = What::Copied, .site = 5, .time_ns = 9}, {.stream = ~i, .position = ~i},
                       touches);
    } else if (random() % 50 == 0) {
      std::ranges::move(recorder.take(), std::back_inserter(heard));
    } else {
      if (!ring.has_room()) {
        ASSERT_TRUE(observe::make_ready());
      }
      const std::uint64_t at = ring.at();
      const Event event{.what = What::Freed, .serial = ring.number(at), .address = i};
      for (const std::size_t word : {0U, 1U, 3U, 4U, 5U, 6U})
        std::memcpy(reinterpret_cast<std::byte*>(&ring.cell(at)) + 8 * word,
                    reinterpret_cast<const std::byte*>(&event) + 8 * word, 8);
      ring.added_at(at);
    }
  }
  std::ranges::move(recorder.take(), std::back_inserter(heard));
  ASSERT_GT(heard.size(), 10'000U);
  for (const Heard& each : heard) {
    if (!each.is(What::Freed)) continue;
    ASSERT_EQ(each.event.thread, ring.thread);
    ASSERT_EQ(each.event.site, 0U);
    ASSERT_EQ(each.event.time_ns, 0U);
  }
}

TEST(Observe, EachThreadInItsOrder_NoneIsLost_WhileOthersAsk) {
  Recorder recorder;
  constexpr std::uint64_t kThreads = 8;
  const std::uint64_t each = slice<std::uint64_t>(20'000, 1'000'000, 10);
  std::vector<Heard> heard;
  std::atomic<std::uint64_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < each; ++i) publish(t * each + i);
      --running;
    });
  }
  while (running.load() != 0) std::ranges::move(recorder.take(), std::back_inserter(heard));
  for (std::thread& thread : threads) thread.join();
  std::ranges::move(recorder.take(), std::back_inserter(heard));
  ASSERT_EQ(heard.size(), kThreads * each);
  std::map<std::uint32_t, std::uint64_t> last;
  std::set<std::uint64_t> seen;
  for (const Heard& one : heard) {
    const auto [before, first] = last.try_emplace(one.event.thread, one.event.serial);
    if (!first) {
      ASSERT_EQ(one.event.serial, std::exchange(before->second, one.event.serial) + 1);
    }
    ASSERT_TRUE(seen.insert(one.event.serial).second);
  }
  EXPECT_EQ(last.size(), kThreads);
}

TEST(Observe, WhatAThreadPublishedIsToldWhenItEnds) {
  static std::atomic<std::uint64_t> count{0};
  const observe::Listener counts = [](const observe::Batch& batch) {
    batch.each([](const observe::Told&) { ++count; });
  };
  observe::listen(counts, {.wanted = observe::kBlocks});
  std::thread{[] { publish(1), publish(2); }}.join();
  EXPECT_EQ(count.load(), 2U);
  observe::unlisten(counts);
}

std::atomic<std::uint64_t> g_count{0};
std::atomic<bool> g_over{false}, g_late{false};
template <bool kAtOnce>
void counts(const observe::Batch& batch) {
  batch.each([](const observe::Told&) { ++g_count; });
  if (g_over.load()) g_late = true;
}

TEST(Observe, AfterUnlistenNobodyIsCalled_AndAllBeforeWasTold) {
  for (int round = 0; round < 200; ++round) {
    const bool at_once = round % 2 == 0;
    const observe::Listener listener = at_once ? counts<true> : counts<false>;
    g_over = false;
    observe::listen(listener, {.wanted = observe::kBlocks, .at_once = at_once});
    std::atomic<bool> enough{false};
    std::thread other{[&] {
      while (!enough.load()) publish(7);
    }};
    const std::uint64_t before = g_count.load();
    for (int i = 0; i < 10; ++i) publish(1);
    observe::unlisten(listener);
    g_over = true;
    EXPECT_GE(g_count.load(), before + 10);
    EXPECT_FALSE(observe::wanted(observe::kBlocks));
    enough = true;
    other.join();
  }
  observe::flush();
  EXPECT_FALSE(g_late.load());
}

TEST(Observe, AtOnceIsBeforeTheCallGoesOn_AndNothingElse) {
  static std::vector<What> heard;
  heard.clear();
  const observe::Listener hears = [](const observe::Batch& batch) {
    batch.each([](const observe::Told& each) { heard.push_back(each.event.what); });
  };
  Recorder others;
  observe::listen(hears, {.wanted = observe::bit(What::Noted), .at_once = true});
  publish(1);
  observe::note("M-1", [] { return std::string{"a word"}; });
  EXPECT_EQ(heard, std::vector{What::Noted});
  observe::unlisten(hears);
  const std::vector<Heard> all = others.take();
  ASSERT_EQ(all.size(), 2U) << "those that can wait hear of both";
  EXPECT_EQ(all[1].text, "a word");
  EXPECT_STREQ(all[1].details.rule, "M-1");
}

// It may wait for a lock that another thread holds while it publishes, for the first time or not, or while it
// asks for all events.
TEST(Observe, AListenerThatIsToldAtOnceHoldsNobodyUp) {
  static std::atomic<bool> begun;
  static std::atomic<bool> others_are_done;
  static std::atomic<bool> in_time;
  begun = others_are_done = in_time = false;
  const observe::Listener waits = [](const observe::Batch&) {
    begun = true;
    in_time = eventually([] { return others_are_done.load(); });
  };
  Recorder others;
  observe::listen(waits, {.wanted = observe::bit(What::Noted), .at_once = true});
  publish(1);  // this thread has a ring
  std::thread teller{[] { observe::note("M-1", [] { return std::string{"a word"}; }); }};
  EXPECT_TRUE(eventually([] { return begun.load(); }));
  publish(2);
  observe::flush();
  std::thread{[] { publish(3); }}.join();
  others_are_done = true;
  teller.join();
  EXPECT_TRUE(in_time.load());
  observe::unlisten(waits);
  EXPECT_EQ(only(others.take(), observe::kBlocks).size(), 3U);
}

TEST(Observe, AListenerWithoutMemoryLosesEvents_WhichAreCounted) {
  const observe::Listener poor = [](const observe::Batch&) { throw std::bad_alloc{}; };
  observe::listen(poor, {.wanted = observe::kBlocks});
  const std::uint64_t before = observe::lost();
  for (int i = 0; i < 5; ++i) publish(1);
  observe::unlisten(poor);
  EXPECT_EQ(observe::lost() - before, 5U);
}

TEST(Observe, SerialNumbersAreNeverUsedTwice_OnAnyThread) {
  Recorder recorder;
  constexpr std::size_t kThreads = 6, kEach = 20'000;
  std::vector<std::vector<std::uint64_t>> numbers(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : numbers) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kEach; ++i) {
        if (i == kEach / 2) publish(0);                  // it has a ring from here on
        if (observe::t_ring != nullptr && i % 3 != 0) {  // as the fast path does
          if (!observe::t_ring->has_room()) {
            ASSERT_TRUE(observe::make_ready());
          }
          const std::uint64_t at = observe::t_ring->at();
          mine.push_back(observe::t_ring->number(at));
          new (&observe::t_ring->cell(at)) Event{.what = What::Noted};
          observe::t_ring->added_at(at);
        } else {
          mine.push_back(observe::next_serial());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& mine : numbers) {
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), kThreads * kEach);
  EXPECT_FALSE(all.contains(0));
}

TEST(Observe, AForkedChildTellsNothingOfItsParent) {
  Recorder recorder;
  publish(1);
  const pid_t child = ::fork();
  if (child == 0) {
    observe::forget_parent();
    const bool quiet = !observe::wanted(observe::kBlocks);
    std::size_t heard = 0;
    {
      Recorder own;
      publish(2);
      for (const Heard& each : own.take()) heard += each.event.serial;
    }
    ::_exit(quiet && heard == 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(recorder.take().size(), 1U);
}

// --- where in the program ---------------------------------------------------------------------------------

class CallSites : public testing::Test {
 protected:
  CallSites() { observe::keep_stacks(8); }
  ~CallSites() override { observe::keep_stacks(0); }
};

[[gnu::noinline]] std::uint32_t site_from_here() {
  const std::uint32_t site = observe::site_of_this_call();
  __asm__ volatile("" ::: "memory");
  return site;
}

TEST_F(CallSites, TheSameStackHasTheSameNumber_AnotherHasAnother) {
  std::uint32_t twice[2];
  for (std::uint32_t& each : twice) each = site_from_here();
  const std::uint32_t other = site_from_here();
  EXPECT_EQ(twice[0], twice[1]);
  EXPECT_NE(other, twice[0]);
  const observe::CallStack stack = observe::stack_of(twice[0]);
  ASSERT_GE(stack.returns.size(), 3U);
  EXPECT_NE(stack.returns, observe::stack_of(other).returns);
  EXPECT_TRUE(observe::stack_of(0).returns.empty()) << "nobody wanted to know";
}

// Every bit of a number is a way through one of two functions: as many stacks as there are numbers.
std::uint32_t site_by_way(unsigned way, unsigned bits);
[[gnu::noinline]] std::uint32_t left(unsigned way, unsigned bits) {
  const std::uint32_t site = site_by_way(way, bits);
  __asm__ volatile("" ::: "memory");
  return site;
}
[[gnu::noinline]] std::uint32_t right(unsigned way, unsigned bits) {
  const std::uint32_t site = site_by_way(way, bits);
  __asm__ volatile("" ::: "memory");
  return site + 0;
}
[[gnu::noinline]] std::uint32_t site_by_way(unsigned way, unsigned bits) {
  const std::uint32_t site = bits == 0        ? site_from_here()
                             : (way & 1) != 0 ? left(way >> 1, bits - 1)
                                              : right(way >> 1, bits - 1);
  __asm__ volatile("" ::: "memory");
  return site;
}

TEST_F(CallSites, TenMillionCallsKeepTheirStacksBounded) {
  observe::keep_stacks(32);
  constexpr unsigned kBits = 12;  // 4096 stacks
  std::vector<std::uint32_t> sites(1U << kBits);
  const std::size_t calls = sites.size() + static_cast<std::size_t>(slice(100'000, 10'000'000));
  // One line calls all: another one would be another stack.
  for (std::size_t call = 0; call < calls; ++call) {
    const std::size_t way = call < sites.size() ? call : call * 2654435761U % sites.size();
    const std::uint32_t site = site_by_way(static_cast<unsigned>(way), kBits);
    if (call < sites.size()) sites[way] = site;
    ASSERT_EQ(site, sites[way]);
  }
  const std::set<std::uint32_t> different{sites.begin(), sites.end()};
  EXPECT_EQ(different.size(), sites.size());
  EXPECT_EQ(site_by_way(0, kBits + 1), *different.rbegin() + 1) << "nothing was added meanwhile";
}

TEST_F(CallSites, AnInterpreterAddsItsFrames) {
  static std::uint64_t line = 10;
  observe::g_interpreter_frames = [](std::uint64_t* frames, std::size_t room) -> std::size_t {
    if (room < 2) return 0;
    frames[0] = line;
    frames[1] = 7;
    return 2;
  };
  std::uint32_t sites[3];
  for (std::uint32_t& each : sites) {
    line = &each == &sites[2] ? 11 : 10;
    each = site_from_here();
  }
  observe::g_interpreter_frames = nullptr;
  EXPECT_EQ(sites[0], sites[1]);
  EXPECT_NE(sites[0], sites[2]) << "another line of the interpreter, the same stack of ours";
  EXPECT_EQ(observe::stack_of(sites[2]).of_interpreter, (std::vector<std::uint64_t>{11, 7}));
}

TEST_F(CallSites, AreToldWhereSomebodyWantsThem_AndTimesToo) {
  Recorder recorder{{.wanted = observe::kBlocks, .time = true}};
  publish(1);
  publish(2);
  const std::vector<Heard> heard = recorder.take();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_NE(heard[0].event.site, 0U);
  EXPECT_NE(heard[0].event.site, heard[1].event.site) << "another line";
  EXPECT_NE(heard[0].event.time_ns, 0U);
  EXPECT_GE(heard[1].event.time_ns, heard[0].event.time_ns);
}

}  // namespace observe_test
