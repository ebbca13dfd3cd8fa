// What `belay check` found, as files for other programs: JSON of our own, SARIF for code hosts, JUnit for CI.
// docs/check.md describes them.
#pragma once

#include <string>
#include <vector>

#include "check/verdict.h"

namespace belay::cli {

struct CheckReport {
  std::string program;
  std::vector<check::VerdictEntry> found;  // with frames in words
  int program_code = 0;                    // as a shell would tell it
  int exit_code = 0;                       // of belay check
  MisuseClasses fail_on = 0;
  std::uint64_t lost = 0;

  bool fails(const check::VerdictEntry& entry) const;
};

std::string as_json(const CheckReport& report);
std::string as_sarif(const CheckReport& report);
std::string as_junit(const CheckReport& report);
// A line for each finding that would suppress it.
std::string as_suppressions(const CheckReport& report);

}  // namespace belay::cli
