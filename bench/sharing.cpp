// What processes that share things cost each other, beside the least that the kernel would need.
//
// Two processes that share events and notifies, and two that share a word of memory and sleep at it; two that
// share memory by a key, and two that pass a memfd (sharing_memory.cpp). Each question is measured in rounds,
// one right after the other with its peer; the best round counts.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine.h"
#include "sharing_figures.h"
#include "sharing_memory.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Word = std::atomic<std::uint32_t>;

void sleep_until_not(Word& word, std::uint32_t was) {
  while (word.load() == was) ::syscall(SYS_futex, &word, FUTEX_WAIT, was, nullptr, nullptr, 0);
}
void set(Word& word, std::uint32_t value) {
  word.store(value);
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// What both processes see.
struct Board {
  alignas(64) Word step{0};  // they take turns: the second process has odd ones
  alignas(64) Word ping{0}, pong{0};
  std::array<aclrtIpcEventHandle, 2> events{};
  std::array<std::array<char, 65>, 2> keys{};
};

// One side: its own event and notify, the other's, a stream.
class Side {
 public:
  Side(Board& board, unsigned me) : board_{board}, me_{me} {
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream_));
    CHECK(aclrtCreateEventExWithFlag(&mine_, ACL_EVENT_IPC));
    CHECK(aclrtIpcGetEventHandle(mine_, &board_.events[me]));
    CHECK(aclrtCreateNotify(&set_, 0));
    CHECK(aclrtNotifyGetExportKey(set_, board_.keys[me].data(), 65,
                                  ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    take_turns([] {});
    CHECK(aclrtIpcOpenEventHandle(board_.events[1 - me], &theirs_));
    CHECK(aclrtNotifyImportByKey(&awaited_, board_.keys[1 - me].data(), 0));
    CHECK(aclrtCreateNotify(&gate_, 0));
  }

  // Each records its own event behind the record of the other. All is queued before the first may go.
  double events(unsigned turns) {
    if (me_ == 0) CHECK(aclrtWaitAndResetNotify(gate_, stream_, 0));
    for (unsigned turn = 0; turn < turns; ++turn) {
      take_turns([&] {
        if (me_ == 1 || turn != 0) CHECK(aclrtStreamWaitEvent(stream_, theirs_));
        CHECK(aclrtRecordEvent(mine_, stream_));
      });
    }
    const auto start = Clock::now();
    if (me_ == 0) {
      aclrtStream opener = nullptr;  // the default stream
      CHECK(aclrtRecordNotify(gate_, opener));
      CHECK(aclrtStreamWaitEvent(stream_, theirs_));
    }
    CHECK(aclrtSynchronizeStream(stream_));
    return per_turn(start, turns);
  }

  double notifies(unsigned turns) {
    take_turns([] {});
    const auto start = Clock::now();
    for (unsigned turn = 0; turn < turns; ++turn) {
      if (me_ == 0) CHECK(aclrtRecordNotify(set_, stream_));
      CHECK(aclrtWaitAndResetNotify(awaited_, stream_, 0));
      if (me_ == 1) CHECK(aclrtRecordNotify(set_, stream_));
      CHECK(aclrtSynchronizeStream(stream_));
    }
    return per_turn(start, turns);
  }

  double futexes(unsigned turns) {
    take_turns([&] { board_.ping = board_.pong = 0; });
    const auto start = Clock::now();
    for (unsigned turn = 1; turn <= turns; ++turn) {
      if (me_ == 0) set(board_.ping, turn);
      sleep_until_not(me_ == 0 ? board_.pong : board_.ping, turn - 1);
      if (me_ == 1) set(board_.pong, turn);
    }
    return per_turn(start, turns);
  }

 private:
  template <class Act>
  void take_turns(Act&& act) {
    if (me_ == 1) sleep_until_not(board_.step, step_);
    act();
    set(board_.step, me_ == 0 ? step_ + 1 : step_ + 2);
    if (me_ == 0) sleep_until_not(board_.step, step_ + 1);
    step_ += 2;
  }
  static double per_turn(Clock::time_point start, unsigned turns) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / turns;
  }
  Board& board_;
  const unsigned me_;
  std::uint32_t step_ = 0;
  aclrtStream stream_ = nullptr;
  aclrtEvent mine_ = nullptr, theirs_ = nullptr;
  aclrtNotify set_ = nullptr, awaited_ = nullptr, gate_ = nullptr;
};

double best(const std::vector<double>& of) { return *std::ranges::min_element(of); }
double median(std::vector<double> of) {
  std::ranges::sort(of);
  return of[of.size() / 2];
}

std::vector<Figure> measure(Side& side, unsigned rounds, unsigned turns) {
  const std::string peer = "two futexes in shared memory";
  Figure events{"there and back between processes: events", peer, 5}, notifies{"the same: notifies", peer, 0};
  for (unsigned round = 0; round < rounds; ++round) {
    events.ours.push_back(side.events(turns));
    events.theirs.push_back(side.futexes(turns));
    notifies.ours.push_back(side.notifies(turns));
    notifies.theirs.push_back(side.futexes(turns));
  }
  return {events, notifies};
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app{
      "What processes that share things cost each other, beside what the kernel has for that, in the same "
      "run"};
  unsigned rounds = 15, turns = 1000;
  std::string json;
  bool quick = false;
  app.add_option("--rounds", rounds, "how often each question is measured")->check(CLI::Range(1, 10'000));
  app.add_option("--turns", turns, "how often it goes there and back in a round")->check(CLI::Range(1, 1000));
  app.add_flag("--quick", quick, "a tenth of the turns and keys, and a third of the rounds");
  app.add_option("--json", json, "write all figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (quick) {
    turns = std::max(1U, turns / 10);
    rounds = std::max(1U, rounds / 3);
  }
  void* const memory =
      ::mmap(nullptr, sizeof(bench::Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto& board = *new (memory) bench::Board;
  const bench::Neighbours neighbours;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t child = ::fork();
  if (child == 0) {
    bench::Side side{board, 1};
    (void)bench::measure(side, rounds, turns);
    (void)bench::measure_memory(ends[1], false, rounds, quick);
    ::_exit(0);
  }
  bench::Side side{board, 0};
  std::vector<bench::Figure> figures = bench::measure(side, rounds, turns);
  std::ranges::move(bench::measure_memory(ends[0], true, rounds, quick), std::back_inserter(figures));
  int status = 0;
  ::waitpid(child, &status, 0);
  fmt::print("{:<50} {:>9} {:>10}  {:<36} {:>9} {:>7}\n", "question", "best", "median", "peer", "best",
             "ratio");
  nlohmann::json all{
      {"machine", bench::describe_machine()}, {"rounds", rounds}, {"figures", nlohmann::json::array()}};
  for (const bench::Figure& each : figures) {
    const double ratio = bench::best(each.ours) / bench::best(each.theirs);
    const char* verdict = each.bar == 0 ? "" : ratio <= each.bar ? "pass" : "FAIL";
    fmt::print("{:<50} {:>6.1f} us {:>7.1f} us  {:<36} {:>6.1f} us {:>7.2f} {}\n", each.question,
               bench::best(each.ours), bench::median(each.ours), each.peer, bench::best(each.theirs), ratio,
               verdict);
    all["figures"].push_back({{"question", each.question},
                              {"unit", "us"},
                              {"peer", each.peer},
                              {"ours", each.ours},
                              {"theirs", each.theirs},
                              {"verdict", verdict}});
  }
  const double busy = neighbours.busy_processors();
  all["busy_neighbours"] = busy;
  fmt::print("Other programs used {:.1f} of the processors meanwhile.\n", busy);
  if (!json.empty()) std::ofstream{json} << all.dump(1) << '\n';
  return 0;
}
