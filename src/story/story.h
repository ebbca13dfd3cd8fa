// What a trace tells, put together: exact figures, of bounded size however long the trace is.
//
// The trace is read three times: to see how long it is; to find peaks, refusals and the moments that will be
// told; and to tell who held what at them. So only what is alive at one moment is ever in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "story/curve.h"
#include "story/lanes.h"
#include "story/ledger.h"
#include "story/lives.h"
#include "story/names.h"

namespace belay::story {

// Memory of one device, or pinned memory of the host: of one process, or of all.
struct Series {
  std::int32_t device = 0;
  std::uint32_t process = kNone;  // kNone: all
  std::uint64_t limit = 0;        // 0: not known
  std::vector<Point> points{};
  Point peak{};
  std::uint32_t peak_moment = 0;
  Waste waste{};  // at the peak
  std::uint64_t asked = 0;
};

struct Moment {
  std::uint64_t time = 0, change = 0;
  std::vector<std::string> words;
};

// What a group holds from a moment on.
struct State {
  std::uint32_t moment = 0;
  Held held{};
};

struct GroupTold {
  std::uint32_t account = 0, name = 0, function = 0, policy = 0;
  bool label = false, is_rest = false;  // is_rest: several groups, or what was not written down
  std::string kind;
  std::vector<std::uint32_t> frames;  // names
  std::vector<State> states;
  Group totals;  // its key says nothing where is_rest

  Held at(std::uint32_t moment) const;
};

// What stood in the way of a request, and what would have fitted.
struct Shortage {
  std::int32_t device = 0;
  std::uint64_t total = 0, used = 0, others = 0,
                free = 0;  // others: of processes that the trace does not hold
  KindBytes by_kind{};
  std::array<std::uint64_t, kKinds> fits{};  // the largest request in pages of each kind
  Waste waste{};
};

struct Refusal {
  std::uint64_t time = 0, bytes = 0;
  std::uint32_t process = 0, moment = 0;
  std::uint64_t change = 0;
  std::int32_t code = 0;
  std::string function, rule, words;
  std::optional<Shortage> shortage;  // of the first ones that memory was missing for
};

struct Range {
  std::uint32_t name = 0, process = 0, thread = 0, depth = 0;
  std::uint64_t begin = 0, end = 0;
};

struct Story {
  Names names;
  std::uint64_t records = 0, changes = 0, duration = 0;
  std::vector<Account> accounts;
  std::vector<Series> series;
  std::vector<Moment> moments;
  bool all_moments = true;
  std::vector<GroupTold> groups;
  std::uint64_t groups_left_out = 0;
  std::vector<Life> lives;
  std::vector<std::uint32_t> group_of_life;  // index into groups
  bool all_lives = true;
  std::vector<Refusal> refusals;
  std::uint64_t refused = 0;  // all of them
  std::vector<Range> ranges;
  std::uint64_t ranges_left_out = 0;
  std::vector<Lane> lanes;
  std::size_t lanes_left_out = 0;
  std::array<Traffic, kDirections> traffic{};
  std::vector<Waits> waits;
  std::uint64_t any_busy = 0, two_busy = 0;
};

// Told how far it is, from 0 to 1.
using Progress = std::function<void(double)>;
Story tell(recording::Trace& trace, const Progress& progress);

}  // namespace belay::story
