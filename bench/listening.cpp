// What it costs that somebody listens: pairs of allocate and free with nobody, with a listener that counts,
// and with the summary that `belay run` prints.
//
// "listening/WHO/BYTES/THREADS" is the time of a pair, all threads together.
#include <atomic>

#include "api/door.h"
#include "program.h"
#include "sizes.h"
#include "team.h"
#include "trace/summary.h"

namespace bench {
namespace {

std::atomic<std::size_t> counted{0};

void count(const belay::observe::Batch& events) {
  std::size_t number = 0;
  events.each([&number](const belay::observe::Told& told) {
    if (told.event.what == belay::observe::What::Allocated || told.event.what == belay::observe::What::Freed)
      ++number;
  });
  counted.fetch_add(number, std::memory_order_relaxed);
}

enum class Who { Nobody, Counts, Summary };
constexpr std::pair<Who, const char*> kWho[] = {
    {Who::Nobody, "nobody"}, {Who::Counts, "counts"}, {Who::Summary, "summary"}};

// For as long as it lives.
class Listening {
 public:
  explicit Listening(Who who) : who_{who}, memory_{belay::running().memory()} {
    if (who == Who::Counts) belay::observe::listen(count, {.wanted = belay::observe::kBlocks});
    if (who == Who::Summary) belay::trace::keep_summary(memory_, {"a benchmark", 1, ""});
    memory_.listeners_changed();
  }
  ~Listening() {
    if (who_ == Who::Counts) belay::observe::unlisten(count);
    if (who_ == Who::Summary) belay::trace::drop_summary();
    memory_.listeners_changed();
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  const Who who_;
  belay::Memory& memory_;
};

void add_all() {
  for (const auto& [who, name] : kWho) {
    for (const std::size_t bytes : {4 * kKilo, 2 * kMega}) {
      for (const int threads : {1, 2, 8}) {
        benchmark::RegisterBenchmark(
            fmt::format("listening/{}/{}/{}", name, bytes, threads).c_str(),
            [who = who, bytes, threads](benchmark::State& state) {
              use_device();
              for (auto _ : state) {
                const Listening listening{who};
                const std::size_t before = counted.load();
                state.SetIterationTime(seconds_each(threads, pairs_of(DeviceAllocator{}, bytes)));
                belay::observe::flush();
                if (who == Who::Counts && counted.load() < before + 1000) fail("counting");
              }
            })
            ->UseManualTime()
            ->Iterations(1);
      }
    }
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
