// Free runs of consecutive places, best fit, neighbours joined. Not thread-safe.
// With a border, runs that meet at a multiple of it stay apart, and none crosses one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace belay {

class RunMap {
 public:
  explicit RunMap(std::size_t border = 0) : border_{border} {}

  void give(std::uintptr_t start, std::size_t length) {
    auto next = by_start_.lower_bound(start);
    if (next != by_start_.end() && start + length == next->first && !at_border(next->first)) {
      length += next->second;
      next = forget(next);
    }
    if (next != by_start_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == start && !at_border(start)) {
        start = before->first;
        length += before->second;
        forget(before);
      }
    }
    by_start_.emplace(start, length);
    by_length_.emplace(length, start);
  }

  std::optional<std::uintptr_t> take(std::size_t length) {
    const auto fit = by_length_.lower_bound({length, 0});
    if (fit == by_length_.end()) return std::nullopt;
    const auto [had, start] = *fit;
    by_length_.erase(fit);
    by_start_.erase(start);
    if (had > length) {
      by_start_.emplace(start + length, had - length);
      by_length_.emplace(had - length, start + length);
    }
    return start;
  }

 private:
  bool at_border(std::uintptr_t place) const { return border_ != 0 && place % border_ == 0; }

  using ByStart = std::map<std::uintptr_t, std::size_t>;
  ByStart::iterator forget(ByStart::iterator run) {
    by_length_.erase({run->second, run->first});
    return by_start_.erase(run);
  }

  std::size_t border_;
  ByStart by_start_;
  std::set<std::pair<std::size_t, std::uintptr_t>> by_length_;
};

}  // namespace belay
