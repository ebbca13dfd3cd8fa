// What it costs to keep call sites and to look for mistakes.
//
// "check/WHO/WHAT": the time of one piece of work. WHO: off, stacks1 (BELAY_STACKS=1 alone), run (what `belay
// run` sets), cheap and all (BELAY_CHECK). WHAT: pair (allocate and free 4 KB), kv (a request of the KV-cache
// trace), copy (64 KB to the device), queued (4 KB to the device through a stream). "stacks8" and "slow" are
// for the price of one stack: both go the slow way, with and without two stacks a pair.
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "acl/acl.h"
#include "belay/belay.h"
#include "peers.h"
#include "program.h"
#include "work.h"

namespace bench {
namespace {

struct Way {
  const char *name, *stacks, *check, *summary;
  const char* quarantine = "";  // empty: as it comes
};
constexpr std::array kWays{
    Way{"off", "off", "off", "off"},       Way{"stacks1", "1", "off", "off"},
    Way{"run", "1", "off", "on"},          Way{"cheap", "1", "cheap", "off"},
    Way{"all", "8", "all", "off"},         Way{"stacks8", "8", "off", "off"},
    Way{"slow", "off", "off", "off", "1"},
};

// From here on the runtime works that way.
void work_as(const Way& way) {
  ::setenv("BELAY_STACKS", way.stacks, 1);
  ::setenv("BELAY_CHECK", way.check, 1);
  ::setenv("BELAY_SUMMARY", way.summary, 1);
  ::setenv("BELAY_QUARANTINE", way.quarantine, 1);
  if (belay_restart() != 0) fail("belay_restart");
  if (aclrtSetDevice(0) != 0) fail("aclrtSetDevice");
}

template <class Work>
void add_work(const Way& way, const char* what, Work&& work) {
  add(fmt::format("check/{}/{}", way.name, what), [way, work](benchmark::State& state) {
    work_as(way);
    work(state);
    if (aclrtResetDevice(0) != 0) fail("aclrtResetDevice");
    work_as(kWays[0]);
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
