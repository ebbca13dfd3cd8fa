#include "platform/kernel_files.h"

#include <algorithm>
#include <charconv>

#include "platform/files.h"

namespace belay::platform {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20U;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace

std::string kernel_text(const std::string& path) {
  FileText file = read_file(path, kLongest);
  return file.outcome == ReadOutcome::Done ? std::move(file.text) : std::string{};
}

std::string_view next_line(std::string_view& text) { return next_word(text, '\n'); }

std::string_view next_word(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<std::size_t> whole_number(std::string_view text) {
  text = trimmed(text);
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::string_view after_word(std::string_view text, std::string_view first) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (next_word(line) == first) return trimmed(line);
  }
  return {};
}

std::optional<std::size_t> from_meminfo(std::string_view text, std::string_view name) {
  std::string_view value = after_word(text, name);
  constexpr std::string_view kUnit = " kB";
  if (!value.ends_with(kUnit)) return std::nullopt;
  value.remove_suffix(kUnit.size());
  const std::optional<std::size_t> number = whole_number(value);
  if (!number || *number > SIZE_MAX / 1024) return std::nullopt;
  return *number * 1024;
}

}  // namespace belay::platform
