// Folds lines of the log that repeat, so that a program which tries again and again does not fill the disk.
//
// The first ten of a line are written as they are. From then on they are counted, and told as one line that
// says how often: when a line comes that is not among the last few, when there are 100 in all, 1000, 10,000
// and so on, ten seconds after something was last written, and at the end. Several lines may repeat in turn.
// What is told stands in the order in which it last happened, and the sum of all counts is exact.
//
// Pure: it knows no clock and no file, and is not safe for threads by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace belay::report {

struct LogLine {
  std::string before;  // what stands before the time, and after it
  std::string stamp;
  std::string after;

  std::string text() const { return before + stamp + ' ' + after + '\n'; }
};

class Repetitions {
 public:
  static constexpr std::uint64_t kWrittenInFull = 10;
  static constexpr std::size_t kDifferent = 16;                              // lines that may repeat in turn
  static constexpr std::uint64_t kLongestWait = 10ULL * 1000 * 1000 * 1000;  // nanoseconds

  // The texts to be written now, in order. `now` is in nanoseconds and never falls.
  std::vector<std::string> add(LogLine line, std::uint64_t now);
  // What is counted and not told yet. From here on nothing is counted: each line is written as it comes.
  std::vector<std::string> end();

 private:
  struct Run {
    LogLine line;  // with the time of its last occurrence
    std::uint64_t seen = 0, untold = 0;
    std::uint64_t last = 0;    // when it occurred last
    std::uint64_t turn = 0;    // which of all occurrences that was
    std::string untold_since;  // the time of the first that is untold
  };
  void tell(std::vector<std::string>& out);
  Run& run_of(const LogLine& line, std::vector<std::string>& out);

  std::vector<Run> runs_;
  std::uint64_t untold_ = 0;
  std::uint64_t most_untold_ = 0;
  std::uint64_t written_at_ = 0;
  std::uint64_t turns_ = 0;
  bool ended_ = false;
};

}  // namespace belay::report
