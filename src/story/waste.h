// Why blocks cost more than what was asked for: by cause, so that the causes add up to all of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "memory/plan.h"

namespace belay::story {

struct Waste {
  std::uint64_t rounding = 0;   // to a multiple of 32 bytes
  std::uint64_t padding = 0;    // that some functions add
  std::uint64_t page_ends = 0;  // to whole pages, were they of 4 KB
  std::uint64_t page_kind = 0;  // because the pages are larger
  std::uint64_t spilled = 0;    // of these two: whole pages that nothing but the padding needs

  std::uint64_t all() const { return rounding + padding + page_ends + page_kind; }
  Waste& operator+=(const Waste& other) {
    rounding += other.rounding, padding += other.padding;
    page_ends += other.page_ends, page_kind += other.page_kind, spilled += other.spilled;
    return *this;
  }
  Waste& operator-=(const Waste& other) {
    rounding -= other.rounding, padding -= other.padding;
    page_ends -= other.page_ends, page_kind -= other.page_kind, spilled -= other.spilled;
    return *this;
  }
  friend bool operator==(const Waste&, const Waste&) = default;
};

// Which family of functions it is, as far as padding goes (M-34, M-35).
constexpr Api api_of(std::string_view function) {
  if (function == "aclrtMalloc") return Api::Malloc;
  if (function == "aclrtMallocCached") return Api::MallocCached;
  if (function.starts_with("acldvpp") || function.starts_with("hi_mpi")) return Api::MediaV1Malloc;
  return Api::MallocAlign32;
}

constexpr Page page_of(std::uint8_t page_shift) {
  return page_shift >= 30 ? Page::Huge1G : page_shift >= 21 ? Page::Huge2M : Page::Normal;
}

// Each cause takes what it can explain of what is left: the sum is charged - asked, whatever the figures.
constexpr Waste waste_of(std::uint64_t asked, std::uint64_t charged, Page page, Api api,
                         const ProductRow* product) {
  std::uint64_t left = charged > asked ? charged - asked : 0;
  const auto take = [&left](std::uint64_t most) {
    const std::uint64_t taken = std::min(left, most);
    left -= taken;
    return taken;
  };
  Waste waste;
  waste.rounding = take((32 - asked % 32) % 32);
  if (product != nullptr && pads(api, page, *product)) waste.padding = take(product->padding);
  if (waste.padding != 0 && (asked + waste.rounding) % page_bytes(page) == 0)
    waste.spilled = std::min<std::uint64_t>(page_bytes(page), charged);
  const std::uint64_t taken = asked + waste.rounding + waste.padding;
  waste.page_ends = take((4_KiB - taken % 4_KiB) % 4_KiB);
  if (page == Page::Normal) {
    waste.page_ends += left;
  } else {
    waste.page_kind = left;
  }
  return waste;
}

}  // namespace belay::story
