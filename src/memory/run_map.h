// Free runs of consecutive places, best fit, neighbours joined. Not thread-safe.
// With a border, runs that meet at a multiple of it stay apart, and none crosses one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <utility>

namespace belay {

class RunMap {
 public:
  explicit RunMap(std::size_t border = 0) : border_{border} {}

  // Never fails: a run that the host has no memory to write down is lost, which costs addresses only.
  void give(std::uintptr_t start, std::size_t length) noexcept {
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
    try {
      const auto added = by_start_.emplace(start, length).first;
      try {
        by_length_.emplace(length, start);
      } catch (const std::bad_alloc&) {
        by_start_.erase(added);
      }
    } catch (const std::bad_alloc&) {
      return;
    }
  }

  // Exactly this run; false if any of it is taken.
  bool take_at(std::uintptr_t start, std::size_t length) {
    auto around = by_start_.upper_bound(start);
    if (around == by_start_.begin()) return false;
    --around;
    const auto [had_start, had] = *around;
    if (start - had_start > had || had - (start - had_start) < length) return false;
    forget(around);
    if (start != had_start) give(had_start, start - had_start);
    const std::size_t behind = had - (start - had_start) - length;
    if (behind != 0) give(start + length, behind);
    return true;
  }

  std::optional<std::uintptr_t> take(std::size_t length) {
    const auto fit = by_length_.lower_bound({length, 0});
    if (fit == by_length_.end()) return std::nullopt;
    const auto [had, start] = *fit;
    // The nodes of the run are used again for its rest, so that taking never allocates and never fails
    // half-way.
    auto by_length = by_length_.extract(fit);
    auto by_start = by_start_.extract(start);
    if (had > length) {
      by_length.value() = {had - length, start + length};
      by_start.key() = start + length;
      by_start.mapped() = had - length;
      by_length_.insert(std::move(by_length));
      by_start_.insert(std::move(by_start));
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
