// Words as people write them: the same in any case, and "did you mean" for a wrong one.
#pragma once

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace belay {

inline bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// How many letters must be added, dropped or changed.
inline std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[j]));
      const std::size_t changed = diagonal + (same ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

inline bool begins_with(std::string_view whole, std::string_view part) {
  return whole.size() >= part.size() && same_word(whole.substr(0, part.size()), part);
}

// The first that begins like it, else the one that needs the fewest changes. Empty when none is close enough
// to be meant.
inline std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  for (const std::string_view each : known) {
    if (word.size() > 2 && begins_with(each, word)) return each;
  }
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view each : known) {
    if (const std::size_t distance = edits(word, each); distance < least) {
      least = distance;
      best = each;
    }
  }
  return best;
}

}  // namespace belay
