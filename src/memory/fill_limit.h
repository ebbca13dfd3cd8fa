// How much of the host's memory the contents of device memory may take, if the user set a limit
// (BELAY_COMMIT). The caller holds the lock under which it fills.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

namespace belay {

class FillLimit {
 public:
  explicit FillLimit(std::optional<std::size_t> limit) : limit_{limit} {}

  bool take(std::size_t bytes) {
    if (limit_ && bytes > *limit_ - std::min(taken_, *limit_)) return false;
    taken_ += bytes;
    return true;
  }
  // Of memory that several processes fill, more may come back than was taken here.
  void give(std::size_t bytes) { taken_ -= std::min(taken_, bytes); }
  std::optional<std::size_t> limit() const { return limit_; }
  std::size_t taken() const { return taken_; }

 private:
  std::optional<std::size_t> limit_;
  std::size_t taken_ = 0;
};

}  // namespace belay
