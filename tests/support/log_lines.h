// Lines of the log that a process has written.
#pragma once

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/scratch.h"

namespace belay_test {

struct LogLine {
  std::string level, module, pid, process, time, place, text;
};

// The lines of the given module; what is no log line is left out.
inline std::vector<LogLine> log_lines(const std::string& all, const std::string& module) {
  static const std::regex shape(
      "\\[([A-Z]+)\\] ([A-Z0-9_]+)\\(([0-9]+),([^)]*)\\):"
      "([0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}\\.[0-9]{3}) "
      "\\[([^\\]]*:[0-9]+)\\](.*)");
  std::vector<LogLine> lines;
  std::istringstream stream(all);
  for (std::string line; std::getline(stream, line);) {
    std::smatch found;
    if (line.find(module + "(") == std::string::npos || !std::regex_match(line, found, shape)) continue;
    if (found[2] == module)
      lines.push_back({found[1], found[2], found[3], found[4], found[5], found[6], found[7]});
  }
  return lines;
}

// All files below a directory, sorted.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, ignored)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string text_below(const std::filesystem::path& directory) {
  std::string all;
  for (const auto& file : files_below(directory)) all += read_text(file);
  return all;
}

}  // namespace belay_test
