// What queued work costs: submitting, recording and waiting, synchronising, and large copies.
//
// Each question is measured in rounds, one right after the other with its peer, so that whatever else the
// machine does hits both alike; the best round counts, the median stands beside it. See docs/streams.md.
#include <acl/acl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "machine.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMega = std::size_t{1} << 20;

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  fmt::print(stderr, "{} failed with {}\n{}\n", what, code, text != nullptr ? text : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

template <class Work>
double seconds(Work&& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The obvious thing to write by hand: one thread, a queue, a lock.
class HandMade {
 public:
  HandMade() : thread_{[this] { serve(); }} {}
  ~HandMade() {
    submit({});
    thread_.join();
  }
  void submit(std::function<void()> work) {
    {
      const std::lock_guard lock{mutex_};
      queue_.push_back(std::move(work));
      ++submitted_;
    }
    came_.notify_one();
  }
  void synchronize() {
    std::unique_lock lock{mutex_};
    done_.wait(lock, [&] { return finished_ == submitted_; });
  }

 private:
  void serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
      came_.wait(lock, [&] { return !queue_.empty(); });
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      if (!work) return;
      lock.unlock();
      work();
      lock.lock();
      ++finished_;
      done_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable came_, done_;
  std::deque<std::function<void()>> queue_;
  std::size_t submitted_ = 0, finished_ = 0;
  std::thread thread_;
};

struct Figure {
  std::string question, unit, peer;
  std::vector<double> ours, theirs;  // a figure per round; smaller is better
  double bar = 0;                    // ours / theirs must not be larger; 0: no bar
  bool inverse = false;              // the ratio is told as a speed: theirs / ours
};

double best(const std::vector<double>& of) { return *std::ranges::min_element(of); }
double median(std::vector<double> of) {
  std::ranges::sort(of);
  return of[of.size() / 2];
}

struct Setting {
  unsigned rounds;
  std::size_t calls, bytes;
};

class Streams {
 public:
  explicit Streams(const Setting& setting) : setting_{setting} {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    for (aclrtStream& each : streams_) CHECK(aclrtCreateStream(&each));
    CHECK(aclrtCreateEvent(&event_));
    for (void*& each : host_) {
      CHECK(aclrtMallocHost(&each, setting.bytes));
      std::memset(each, 1, setting.bytes);
    }
    for (void*& each : device_) {
      CHECK(aclrtMalloc(&each, setting.bytes, ACL_MEM_MALLOC_HUGE_FIRST));
      CHECK(aclrtMemset(each, setting.bytes, 1, setting.bytes));
    }
  }
  ~Streams() {
    for (void* each : device_) CHECK(aclrtFree(each));
    for (void* each : host_) CHECK(aclrtFreeHost(each));
    CHECK(aclrtDestroyEvent(event_));
    for (aclrtStream each : streams_) CHECK(aclrtDestroyStream(each));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  Figure submit() {
    Figure figure{"submit a copy of 64 bytes", "ns", "a hand-made queue and thread", {}, {}};
    HandMade peer;
    const auto nano = [&](double total) { return total / static_cast<double>(setting_.calls) * 1e9; };
    rounds([&] {
      figure.ours.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < setting_.calls; ++i) copy_small();
      })));
      CHECK(aclrtSynchronizeStream(streams_[0]));
      figure.theirs.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < setting_.calls; ++i)
          peer.submit([to = host_[1], from = host_[0]] { std::memcpy(to, from, 64); });
      })));
      peer.synchronize();
    });
    return figure;
  }

  Figure submit_and_wait() {
    Figure figure{"submit a copy of 64 bytes and wait for it", "ns", "a hand-made queue and thread", {}, {}};
    HandMade peer;
    const std::size_t calls = setting_.calls / 10;
    const auto nano = [&](double total) { return total / static_cast<double>(calls) * 1e9; };
    rounds([&] {
      figure.ours.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < calls; ++i) {
          copy_small();
          CHECK(aclrtSynchronizeStream(streams_[0]));
        }
      })));
      figure.theirs.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < calls; ++i) {
          peer.submit([to = host_[1], from = host_[0]] { std::memcpy(to, from, 64); });
          peer.synchronize();
        }
      })));
    });
    return figure;
  }

  Figure record_and_wait() {
    Figure figure{
        "record an event, let another stream wait for it", "ns", "two tasks for a hand-made queue", {}, {}};
    HandMade peer;
    const auto nano = [&](double total) { return total / static_cast<double>(setting_.calls) * 1e9; };
    rounds([&] {
      figure.ours.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < setting_.calls; ++i) {
          CHECK(aclrtRecordEvent(event_, streams_[0]));
          CHECK(aclrtStreamWaitEvent(streams_[1], event_));
        }
      })));
      CHECK(aclrtSynchronizeDevice());
      figure.theirs.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < 2 * setting_.calls; ++i) peer.submit([] {});
      })));
      peer.synchronize();
    });
    return figure;
  }

  Figure idle() {
    Figure figure{"synchronise a stream that has nothing to do", "ns", "lock and unlock a mutex", {}, {}};
    std::mutex mutex;
    const auto nano = [&](double total) { return total / static_cast<double>(setting_.calls) * 1e9; };
    rounds([&] {
      figure.ours.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < setting_.calls; ++i) CHECK(aclrtSynchronizeStream(streams_[0]));
      })));
      figure.theirs.push_back(nano(seconds([&] {
        for (std::size_t i = 0; i < setting_.calls; ++i) const std::lock_guard lock{mutex};
      })));
    });
    return figure;
  }

  Figure copy(const char* name, void* to, const void* from, aclrtMemcpyKind kind) {
    const std::size_t bytes = setting_.bytes;
    Figure figure{fmt::format("copy {} MB, {}", bytes / kMega, name), "ms", "memcpy", {}, {}, 1 / 0.9, true};
    rounds([&] {
      figure.ours.push_back(1e3 * seconds([&] {
                              CHECK(aclrtMemcpyAsync(to, bytes, from, bytes, kind, streams_[0]));
                              CHECK(aclrtSynchronizeStream(streams_[0]));
                            }));
      figure.theirs.push_back(1e3 * seconds([&] { std::memcpy(host_[1], host_[0], bytes); }));
    });
    return figure;
  }

  Figure two_streams() {
    const std::size_t bytes = setting_.bytes;
    const std::size_t half = bytes / 2;
    Figure figure{fmt::format("copy 2 x {} MB on two streams", half / kMega),
                  "ms",
                  "the same on one stream",
                  {},
                  {},
                  1,
                  true};
    const auto both = [&](aclrtStream first, aclrtStream second) {
      return 1e3 * seconds([&] {
               auto* to = static_cast<std::byte*>(device_[0]);
               const auto* from = static_cast<const std::byte*>(host_[0]);
               CHECK(aclrtMemcpyAsync(to, half, from, half, ACL_MEMCPY_HOST_TO_DEVICE, first));
               CHECK(aclrtMemcpyAsync(to + half, half, from + half, half, ACL_MEMCPY_HOST_TO_DEVICE, second));
               CHECK(aclrtSynchronizeStream(first));
               CHECK(aclrtSynchronizeStream(second));
             });
    };
    rounds([&] {
      figure.ours.push_back(both(streams_[0], streams_[1]));
      figure.theirs.push_back(both(streams_[0], streams_[0]));
    });
    return figure;
  }

  Figure two_threads() {  // what the machine has room for
    const std::size_t half = setting_.bytes / 2;
    Figure figure{fmt::format("memcpy 2 x {} MB on two threads", half / kMega),
                  "ms",
                  "the same on one thread",
                  {},
                  {},
                  0,
                  true};
    const auto part = [&](std::size_t at) {
      std::memcpy(static_cast<std::byte*>(host_[1]) + at, static_cast<std::byte*>(host_[0]) + at, half);
    };
    rounds([&] {
      figure.ours.push_back(1e3 * seconds([&] {
                              std::thread other{[&] { part(half); }};
                              part(0);
                              other.join();
                            }));
      figure.theirs.push_back(1e3 * seconds([&] {
                                part(0);
                                part(half);
                              }));
    });
    return figure;
  }

  std::vector<Figure> all() {
    std::vector<Figure> figures;
    figures.push_back(submit());
    figures.push_back(submit_and_wait());
    figures.push_back(record_and_wait());
    figures.push_back(idle());
    figures.push_back(copy("host to device", device_[0], host_[0], ACL_MEMCPY_HOST_TO_DEVICE));
    figures.push_back(copy("device to host", host_[1], device_[0], ACL_MEMCPY_DEVICE_TO_HOST));
    figures.push_back(copy("on the device", device_[1], device_[0], ACL_MEMCPY_DEVICE_TO_DEVICE));
    figures.push_back(two_streams());
    figures.push_back(two_threads());
    return figures;
  }

 private:
  void copy_small() {
    CHECK(aclrtMemcpyAsync(device_[0], 64, host_[0], 64, ACL_MEMCPY_HOST_TO_DEVICE, streams_[0]));
  }
  template <class Round>
  void rounds(Round&& round) {
    for (unsigned i = 0; i < setting_.rounds; ++i) round();
  }

  Setting setting_;
  aclrtStream streams_[2]{};
  aclrtEvent event_ = nullptr;
  void* host_[2]{};
  void* device_[2]{};
};

std::string verdict(const Figure& figure) {
  if (figure.bar == 0) return "";
  return best(figure.ours) <= figure.bar * best(figure.theirs) ? "pass" : "FAIL";
}

void print(const std::vector<Figure>& figures) {
  fmt::print("{:<50} {:>10} {:>10}  {:<32} {:>10} {:>7}\n", "question", "best", "median", "peer", "best",
             "ratio");
  for (const Figure& each : figures) {
    const double ratio =
        each.inverse ? best(each.theirs) / best(each.ours) : best(each.ours) / best(each.theirs);
    fmt::print("{:<50} {:>7.1f} {} {:>7.1f} {}  {:<32} {:>7.1f} {} {:>7.2f} {}\n", each.question,
               best(each.ours), each.unit, median(each.ours), each.unit, each.peer, best(each.theirs),
               each.unit, ratio, verdict(each));
  }
}

nlohmann::json as_json(const std::vector<Figure>& figures, const Setting& setting, double neighbours) {
  nlohmann::json all{{"machine", describe_machine()},
                     {"rounds", setting.rounds},
                     {"bytes", setting.bytes},
                     {"busy_neighbours", neighbours},
                     {"figures", nlohmann::json::array()}};
  for (const Figure& each : figures) {
    all["figures"].push_back({{"question", each.question},
                              {"unit", each.unit},
                              {"peer", each.peer},
                              {"ours", each.ours},
                              {"theirs", each.theirs},
                              {"verdict", verdict(each)}});
  }
  return all;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app{"What queued work costs, beside its peers in the same run"};
  bench::Setting setting{.rounds = 15, .calls = 20'000, .bytes = 128 * bench::kMega};
  std::size_t megabytes = 128;
  std::string json;
  bool quick = false;
  app.add_option("--rounds", setting.rounds, "how often each question is measured")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--megabytes", megabytes, "size of the large copies")->check(CLI::Range(1, 16'384));
  app.add_flag("--quick", quick, "a tenth of the calls and a third of the rounds");
  app.add_option("--json", json, "write all figures to this file");
  CLI11_PARSE(app, argc, argv);
  setting.bytes = megabytes * bench::kMega;
  if (quick) {
    setting.calls /= 10;
    setting.rounds = std::max(1U, setting.rounds / 3);
  }
  const bench::Neighbours neighbours;
  bench::Streams streams{setting};
  const std::vector<bench::Figure> figures = streams.all();
  bench::print(figures);
  const double busy = neighbours.busy_processors();
  fmt::print("Other programs used {:.1f} of the processors meanwhile.\n", busy);
  if (!json.empty()) std::ofstream{json} << bench::as_json(figures, setting, busy).dump(1) << '\n';
  return 0;
}
