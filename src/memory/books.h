// What one device has left, exactly.
//
// Everything in use is packed into one 64-bit word, so that one compare-and-swap takes memory of any
// page kind against all limits at once, and one load gives figures that belong together (M-430).
// Without limits there is one pool that serves every page kind (D-56).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "memory/plan.h"

namespace belay {

struct BookLimits {
  std::size_t total = 0;
  std::optional<std::size_t> normal, huge, huge1g, p2p;
};

// The most that the packed word can count: 255 pages of 1 GB.
inline constexpr std::size_t kMostDeviceBytes = 255_GiB;

struct Amounts {
  std::size_t free, total;
};

class Books {
 public:
  void open(const BookLimits& limits);

  // All of it, or nothing and false.
  bool take(Page page, std::size_t bytes, bool p2p);
  void give(Page page, std::size_t bytes, bool p2p);

  Amounts pool() const;
  Amounts of(Page page, bool p2p) const;  // as aclrtGetMemInfo reports the kind (M-137)
  std::size_t total() const { return limits_.total; }

 private:
  struct Used {
    std::size_t normal, huge, giant;
    std::size_t all() const { return normal + huge + giant; }
  };
  static Used unpack(std::uint64_t word);
  static std::uint64_t pack(Page page, std::size_t bytes);

  BookLimits limits_;
  alignas(64) std::atomic<std::uint64_t> word_{0};
  std::atomic<std::size_t> p2p_used_{0};
};

}  // namespace belay
