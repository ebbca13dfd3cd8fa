// The trace that `belay run --trace` makes: begins it, and finishes it when the program has ended.
#pragma once

#include <string>

#include "runtime/settings.h"
#include "trace/run_record.h"

namespace belay::cli {

// Begins it anew, and puts where it is into the environment. Returns its full path.
std::string begin_trace(const Settings& settings);
// What the processes left in their rings, and words for call sites.
void finish_trace(const std::string& path, const trace::RunRecorder& recorder);
// A line that says what there is now.
std::string trace_words(const std::string& path);

}  // namespace belay::cli
