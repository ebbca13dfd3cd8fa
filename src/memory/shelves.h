// Free ranges, kept by size and not joined: the next to ask mostly asks for a size that was freed before, and
// joining neighbours one by one costs more than all else. They are joined all at once, when nothing else will
// do. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace belay {

class Shelves {
 public:
  bool empty() const { return count_ == 0; }

  // False where there is no memory to write it down.
  bool put(std::size_t bytes, std::span<const std::uintptr_t> starts) noexcept {
    try {
      std::vector<std::uintptr_t>& shelf = by_size_[bytes];
      shelf.insert(shelf.end(), starts.begin(), starts.end());
    } catch (const std::bad_alloc&) {
      return false;
    }
    count_ += starts.size();
    return true;
  }

  // Up to so many, the newest first; how many.
  std::size_t take(std::size_t bytes, std::span<std::uintptr_t> starts) {
    if (empty()) return 0;
    const auto found = by_size_.find(bytes);
    if (found == by_size_.end()) return 0;
    std::vector<std::uintptr_t>& shelf = found->second;
    const std::size_t count = std::min(starts.size(), shelf.size());
    std::reverse_copy(shelf.end() - static_cast<std::ptrdiff_t>(count), shelf.end(), starts.begin());
    shelf.resize(shelf.size() - count);
    if (shelf.empty() && shelf.capacity() > kSmall) shelf = {};
    count_ -= count;
    return count;
  }

  // Calls give(start, bytes) for all that is here, in rising order and neighbours in one piece, but for those
  // that meet at a multiple of `border`.
  template <class Give>
  void clear(std::size_t border, Give&& give) {
    using Range = std::pair<std::uintptr_t, std::size_t>;
    std::vector<Range> all;
    try {
      all.reserve(count_);
    } catch (const std::bad_alloc&) {
      for (const auto& [bytes, starts] : by_size_) {
        for (const std::uintptr_t start : starts) give(start, bytes);
      }
    }
    if (all.capacity() >= count_) {
      for (const auto& [bytes, starts] : by_size_) {
        for (const std::uintptr_t start : starts) all.emplace_back(start, bytes);
      }
      std::sort(all.begin(), all.end());
      for (auto each = all.begin(); each != all.end();) {
        auto [start, bytes] = *each++;
        for (; each != all.end() && each->first == start + bytes && each->first % border != 0; ++each)
          bytes += each->second;
        give(start, bytes);
      }
    }
    by_size_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::size_t kSmall = 1024;  // a shelf that stays although it is empty
  std::unordered_map<std::size_t, std::vector<std::uintptr_t>> by_size_;
  std::size_t count_ = 0;  // of all
};

}  // namespace belay
