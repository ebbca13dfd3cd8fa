// What is in use, in bytes by size of page.
#pragma once

#include <cstddef>

#include "base/size.h"
#include "machine/page_quota.h"

namespace belay::cli {

struct Held {
  std::size_t huge_2m = 0, normal = 0, huge_1g = 0;
  std::size_t p2p = 0;  // part of the others: under P2P policies

  std::size_t all() const { return huge_2m + normal + huge_1g; }
  friend Held operator+(const Held& a, const Held& b) {
    return {a.huge_2m + b.huge_2m, a.normal + b.normal, a.huge_1g + b.huge_1g, a.p2p + b.p2p};
  }
};

inline Held held(const machine::Use& use) {
  const auto of = [&use](std::size_t page, bool p2p) { return use[machine::kind_of(page, p2p)] * 4_KiB; };
  return {.huge_2m = of(1, false) + of(1, true),
          .normal = of(0, false) + of(0, true),
          .huge_1g = of(2, false) + of(2, true),
          .p2p = of(0, true) + of(1, true) + of(2, true)};
}

}  // namespace belay::cli
