// What it costs to write a trace.
//
// "trace/WHO/WHAT": the time of one piece of work. WHO: stacks1 (BELAY_STACKS=1 alone), traced (BELAY_TRACE
// as well), full (the same, with a file that has reached its limit: only sums are kept). WHAT: as in
// bench_check.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "acl/acl.h"
#include "belay/belay.h"
#include "peers.h"
#include "program.h"
#include "work.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Way {
  const char *name, *limit;  // of the trace; null: none
};
constexpr std::array kWays{Way{"stacks1", nullptr}, Way{"traced", "4G"}, Way{"full", "1M"}};

std::string trace_file() {
  const char* folder = std::getenv("BELAY_BENCH_TRACES");
  return fmt::format("{}/belay-bench-{}.trace",
                     folder == nullptr ? fs::temp_directory_path().string() : folder, ::getpid());
}

void begin(const Way& way) {
  ::setenv("BELAY_STACKS", "1", 1);
  fs::remove(trace_file());
  if (way.limit == nullptr)
    ::unsetenv("BELAY_TRACE");
  else
    ::setenv("BELAY_TRACE", fmt::format("{},limit={}", trace_file(), way.limit).c_str(), 1);
  if (belay_restart() != 0) fail("belay_restart");
  if (aclrtSetDevice(0) != 0) fail("aclrtSetDevice");
}

void end() {
  if (aclrtResetDevice(0) != 0) fail("aclrtResetDevice");
  begin(kWays[0]);
}

template <class Work>
void add_work(const Way& way, const char* what, Work&& work) {
  add(fmt::format("trace/{}/{}", way.name, what), [way, work](benchmark::State& state) {
    begin(way);
    work(state);
    end();
  });
}

void add_all() {
  for (const Way& way : kWays) {
    add_work(way, "pair", make_pairs);
    add_work(way, "kv", serve);
    add_work(way, "copy", copy);
    add_work(way, "queued", queue);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
