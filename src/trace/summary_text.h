// The summary in words: a table by process and device.
#pragma once

#include <span>
#include <string>

#include "trace/tally.h"

namespace belay::trace {

struct ToldBy {
  const ProcessRecord& record;
  const Tally& tally;
  bool running = false;  // still, so that there is more to come
};

// Of the processes on one machine or on several; a table for each of these. Each line ends with a newline.
std::string summary_text(std::span<const ToldBy> processes);

}  // namespace belay::trace
