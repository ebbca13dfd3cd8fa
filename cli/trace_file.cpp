#include "cli/trace_file.h"

#include <fmt/format.h>

#include "base/words.h"
#include "cli/command.h"
#include "cli/launch.h"
#include "cli/trace_frames.h"
#include "recording/writer.h"

namespace belay::cli {

std::string begin_trace(const Settings& settings) {
  recording::File file;
  if (const std::string why = file.open(settings.trace_file, settings.trace_limit, true); !why.empty())
    throw UsageError{why, "name a file that may be made or replaced: --trace run.trace"};
  set_variable("BELAY_TRACE", fmt::format("{},limit={}", file.path(), settings.trace_limit));
  return file.path();
}

void finish_trace(const std::string& path, const trace::RunRecorder& recorder) {
  recording::File file;
  if (file.open(path, 0, false).empty()) {
    recorder.each_ring_left([&](std::uint32_t traced_as, const observe::Ring& ring) {
      file.append(recording::ChunkKind::Ring, traced_as, &ring, sizeof ring);
    });
  }
  write_frame_names(path);
}

std::string trace_words(const std::string& path) {
  recording::Trace trace;
  if (const std::string why = trace.open(path); !why.empty())
    return fmt::format("belay: there is no trace: {}\n", why);
  std::string words =
      fmt::format("belay: trace of {}, {}: {}\n", counted(trace.processes().size(), "process", "processes"),
                  amount(trace.bytes()), path);
  for (const std::string& each : trace.remarks()) words += fmt::format("belay:   {}\n", each);
  return words + fmt::format("belay:   'belay stats {}' sums it up\n", path);
}

}  // namespace belay::cli
