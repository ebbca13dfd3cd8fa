// How much of the host's memory the contents of device memory may still take.
//
// When memory ends, or a control group's limit is met, no system call answers with an error: the kernel
// kills. So belay looks before it commits. Looking costs some microseconds; a look is good for a share of
// what it found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/size.h"

namespace belay {

class HostRoom {
 public:
  // Without a limit: what the machine has.
  explicit HostRoom(std::optional<std::size_t> limit) : limit_{limit} {}

  // Not thread-safe: the caller holds the lock under which it commits.
  bool take(std::size_t bytes);
  // Of memory that several processes fill, more may come back than was taken here.
  void give(std::size_t bytes) { taken_ -= std::min(taken_, bytes); }

  std::size_t taken() const { return taken_; }
  std::optional<std::size_t> limit() const { return limit_; }

 private:
  std::optional<std::size_t> limit_;
  std::size_t taken_ = 0;
  std::size_t seen_ = 0;  // left of what the last look allowed
};

}  // namespace belay
