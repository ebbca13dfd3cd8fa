// What the facts of a machine mean for belay, in words, and what would make it better.
//
// A pure function: facts, trials and settings in, findings out. So machines that nobody has at hand can be
// judged in a test.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/finding.h"
#include "cli/page_advice.h"

namespace belay::cli {

// What the settings come to on this machine.
struct Uses {
  PageSource pages_2m = PageSource::Small;
  PageSource pages_1g = PageSource::Small;
  std::optional<std::size_t> commit_bytes;  // most that contents may take now
  std::string meeting_place;                // empty: none
};

struct Diagnosis {
  Uses uses;
  std::vector<Finding> findings;

  bool works() const;
};

Diagnosis diagnose(const Host& host, const Wishes& wishes);

}  // namespace belay::cli
