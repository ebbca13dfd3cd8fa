// Call sites of a trace in words.
#pragma once

#include <string>
#include <vector>

#include "recording/reader.h"
#include "recording/writer.h"

namespace belay::cli {

// Asks the files of the programs for functions, files and lines of compiled code, where the trace has no
// words yet.
void name_frames(recording::Trace& trace);
// The same, and puts the words into the file, so that they are there when the programs have changed. Returns
// how many frames have got words.
std::size_t write_frame_names(const std::string& path);

// "forward (model.py:12)", innermost first; "libmine.so+0x1234" where nothing is known.
std::vector<std::string> frame_words(const recording::Trace& trace, std::uint32_t process,
                                     std::uint32_t site);
// All in a line, the innermost first; the function of AscendCL where the site is not known.
std::string site_words(const recording::Trace& trace, std::uint32_t process, std::uint32_t site);

// For a terminal: nothing in it has a meaning but what it shows.
std::string harmless(std::string_view text);

}  // namespace belay::cli
