// Words that people may write for something, and what to say of one that is not among them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "cli/command.h"

namespace belay::cli {

[[noreturn]] inline void unknown(std::string_view kind, std::string_view word,
                                 const std::vector<std::string_view>& known) {
  const std::string_view near = nearest(word, known);
  throw UsageError{near.empty() ? fmt::format("there is no {} '{}'", kind, word)
                                : fmt::format("there is no {} '{}'; did you mean {}?", kind, word, near),
                   fmt::format("known: {}", fmt::join(known, ", "))};
}

template <class Words>
std::vector<std::string_view> nicks(const Words& words) {
  std::vector<std::string_view> all(words.size());
  std::ranges::transform(words, all.begin(), [](const auto& word) { return word.nick; });
  return all;
}

// Decimal, or hexadecimal with 0x.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace belay::cli
