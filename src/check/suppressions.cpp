#include "check/suppressions.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/words.h"
#include "check/frames.h"
#include "platform/files.h"

namespace belay::check {
namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr std::array<std::string_view, 5> kSuppressedBy{"class", "id", "rule", "function", "file"};

bool fits(const std::string& pattern, std::string_view text) {
  return ::fnmatch(pattern.c_str(), std::string{text}.c_str(), 0) == 0;
}

bool fits_a_file(const std::string& pattern, std::string_view file) {
  return fits(pattern, file) || fits("*/" + pattern, file);
}

}  // namespace

bool Suppressions::read(const std::string& path) {
  const platform::FileText file = platform::read_file(path, kLargest);
  if (file.outcome != platform::ReadOutcome::Done) {
    platform::print_line(true, fmt::format("belay: the suppressions '{}' cannot be read\n", path));
    return false;
  }
  std::size_t number = 0;
  for (std::string_view text = file.text; !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    Entry entry;
    while (!line.empty() && line.front() != '#') {
      const std::size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos || line[begin] == '#') break;
      line.remove_prefix(begin);
      const std::size_t stop = std::min(line.find_first_of(" \t\r"), line.size());
      const std::string_view word = line.substr(0, stop);
      line.remove_prefix(stop);
      const std::size_t colon = std::min(word.find(':'), word.size());
      if (std::ranges::find(kSuppressedBy, word.substr(0, colon)) == kSuppressedBy.end() ||
          colon + 1 >= word.size()) {
        platform::print_line(
            true, fmt::format("belay: line {} of the suppressions '{}': '{}' is none of class:, id:, rule:, "
                              "function: and file: with a pattern\n",
                              number, path, word));
        return false;
      }
      entry.words.emplace_back(word.substr(0, colon), word.substr(colon + 1));
    }
    if (!entry.words.empty()) entries_.push_back(std::move(entry));
  }
  return true;
}

bool Suppressions::read_baseline(const std::string& path) {
  const platform::FileText file = platform::read_file(path, kLargest);
  const nlohmann::json read = nlohmann::json::parse(file.text, nullptr, false);
  if (file.outcome != platform::ReadOutcome::Done || !read.is_object() || !read.contains("findings") ||
      !read["findings"].is_array()) {
    platform::print_line(
        true,
        fmt::format("belay: the baseline '{}' is not a file that 'belay check --json' has written\n", path));
    return false;
  }
  for (const nlohmann::json& each : read["findings"]) {
    if (each.is_object() && each.contains("fingerprint") && each["fingerprint"].is_string())
      known_.push_back(each["fingerprint"].get<std::string>());
  }
  return true;
}

bool Suppressions::covers(const MisuseRow& row, std::string_view rule, std::string_view text) const {
  if (!known_.empty() && std::ranges::find(known_, fingerprint(row, rule, text)) != known_.end()) return true;
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    return std::ranges::all_of(entry.words, [&](const auto& word) {
      const std::string &kind = word.first, &pattern = word.second;
      if (kind == "class") return fits(pattern, name_of(row.of));
      if (kind == "id") return fits(pattern, row.id);
      if (kind == "rule") return fits(pattern, rule);
      bool found = false;
      each_frame(text, [&](const Frame& frame) {
        found =
            found || (kind == "function" ? fits(pattern, frame.function) : fits_a_file(pattern, frame.file));
      });
      return found;
    });
  });
}

std::string Suppressions::line_for(const MisuseRow& row, std::string_view rule, std::string_view text) {
  std::string line = fmt::format("id:{}", row.id);
  if (!rule.empty()) line += fmt::format(" rule:{}", rule);
  bool first = true;
  each_frame(text, [&](const Frame& frame) {
    if (!std::exchange(first, false)) return;
    const auto add = [&line](std::string_view kind, std::string_view word) {
      if (word.empty()) return;
      line += fmt::format(" {}:", kind);
      for (const char each : word) line += each == ' ' ? '?' : each;
    };
    add("function", frame.function);
    add("file", frame.file);
  });
  return line;
}

std::string fingerprint(const MisuseRow& row, std::string_view rule, std::string_view text) {
  std::string print = fmt::format("{} {}", row.id, rule);
  each_frame(text, [&](const Frame& frame) { print += fmt::format(" {}({})", frame.function, frame.file); });
  return print;
}

}  // namespace belay::check
