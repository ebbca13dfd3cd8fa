#include "report/repetitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace belay::report {
namespace {

// So that the first telling comes at a hundred in all, the next at a thousand.
constexpr std::uint64_t kFirstUntold = 90;

}  // namespace

// Everything that is counted, in the order in which it last happened.
void Repetitions::tell(std::vector<std::string>& out) {
  if (untold_ == 0) return;
  std::ranges::sort(runs_, {}, &Run::turn);
  for (Run& run : runs_) {
    if (run.untold == 0) continue;
    LogLine line = run.line;
    if (run.untold > 1)
      line.after += fmt::format(" (this line {} times since {})", run.untold, run.untold_since);
    out.push_back(line.text());
    run.untold = 0;
  }
  untold_ = 0;
}

// A line that is not among the last few ends what was repeated, and takes the place of the oldest.
Repetitions::Run& Repetitions::run_of(const LogLine& line, std::vector<std::string>& out) {
  const auto same = std::ranges::find_if(
      runs_, [&](const Run& run) { return run.line.after == line.after && run.line.before == line.before; });
  if (same != runs_.end()) return *same;
  tell(out);
  most_untold_ = kFirstUntold;
  if (runs_.size() < kDifferent) return runs_.emplace_back();
  Run& oldest = *std::ranges::min_element(runs_, {}, &Run::turn);
  oldest = Run{};
  return oldest;
}

std::vector<std::string> Repetitions::add(LogLine line, std::uint64_t now) {
  std::vector<std::string> out;
  if (ended_) return {line.text()};
  Run& run = run_of(line, out);
  // After a pause it is news again.
  run.seen = now - run.last >= kLongestWait ? 1 : run.seen + 1;
  run.last = now;
  run.turn = ++turns_;
  run.line = std::move(line);
  if (run.untold++ == 0) run.untold_since = run.line.stamp;
  ++untold_;
  const bool in_full = run.seen <= kWrittenInFull;
  const bool many = untold_ >= most_untold_;
  if (in_full || many || now - written_at_ >= kLongestWait) {
    if (many) most_untold_ *= 10;
    tell(out);
    written_at_ = now;
  }
  return out;
}

std::vector<std::string> Repetitions::end() {
  std::vector<std::string> out;
  tell(out);
  ended_ = true;
  return out;
}

}  // namespace belay::report
