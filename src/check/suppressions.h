// Findings that somebody has looked at and does not want to hear of: by class, by name, by rule, by function
// and by file.
//
// A file of suppressions has a line for each; all words of a line must fit. Lines of a baseline are the
// findings themselves, as --json writes them.
//
//   # comment
//   class:leaks file:third_party/*
//   id:double-free function:Cache::clear
//   rule:M-239
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/misuse.h"

namespace belay::check {

class Suppressions {
 public:
  // False: the file cannot be read, or a line is wrong; then that is said on standard error.
  bool read(const std::string& path);
  bool read_baseline(const std::string& path);
  // `text`: with frames in words.
  bool covers(const MisuseRow& row, std::string_view rule, std::string_view text) const;

  // The line that would cover a finding, for --print-suppressions.
  static std::string line_for(const MisuseRow& row, std::string_view rule, std::string_view text);

 private:
  struct Entry {
    std::vector<std::pair<std::string, std::string>> words;  // what, pattern
  };
  std::vector<Entry> entries_;
  std::vector<std::string> known_;  // of the baseline: see fingerprint()
};

// The same finding in another run: class, rule and the frames without their lines, which move.
std::string fingerprint(const MisuseRow& row, std::string_view rule, std::string_view text);

}  // namespace belay::check
