#include "memory/books.h"

#include <algorithm>

namespace belay {
namespace {
// normal: 28 bits of 4 KB, huge: 28 bits of 4 KB (media memory takes parts of a page), 1 GB: 8 bits.
constexpr unsigned kHugeShift = 28;
constexpr unsigned kGiantShift = 56;
constexpr std::uint64_t kField = (std::uint64_t{1} << 28) - 1;
}  // namespace

Books::Used Books::unpack(std::uint64_t word) {
  return {(word & kField) * 4_KiB, (word >> kHugeShift & kField) * 4_KiB, (word >> kGiantShift) * 1_GiB};
}

std::uint64_t Books::pack(Page page, std::size_t bytes) {
  switch (page) {
    case Page::Normal:
      return bytes / 4_KiB;
    case Page::Huge2M:
      return bytes / 4_KiB << kHugeShift;
    case Page::Huge1G:
      return bytes / 1_GiB << kGiantShift;
  }
  return 0;
}

void Books::open(const BookLimits& limits) {
  limits_ = limits;
  // Both kinds limited: nothing beyond their sum could ever be used, so that is the total.
  if (limits.normal && limits.huge) limits_.total = std::min(limits.total, *limits.normal + *limits.huge);
}

bool Books::take(Page page, std::size_t bytes, bool p2p) {
  if (bytes > limits_.total) return false;
  if (p2p && limits_.p2p) {
    std::size_t used = p2p_used_.load(std::memory_order_relaxed);
    do {
      if (bytes > *limits_.p2p - used) return false;
    } while (!p2p_used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  }
  const std::uint64_t more = pack(page, bytes);
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    const Used used = unpack(word);
    const std::optional<std::size_t>& limit = page == Page::Normal   ? limits_.normal
                                              : page == Page::Huge2M ? limits_.huge
                                                                     : limits_.huge1g;
    const std::size_t of_kind = page == Page::Normal   ? used.normal
                                : page == Page::Huge2M ? used.huge
                                                       : used.giant;
    const bool fits = bytes <= limits_.total - used.all() && (!limit || of_kind + bytes <= *limit);
    if (!fits) {
      if (p2p && limits_.p2p) p2p_used_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
  } while (!word_.compare_exchange_weak(word, word + more, std::memory_order_relaxed));
  return true;
}

void Books::give(Page page, std::size_t bytes, bool p2p) {
  word_.fetch_sub(pack(page, bytes), std::memory_order_relaxed);
  if (p2p && limits_.p2p) p2p_used_.fetch_sub(bytes, std::memory_order_relaxed);
}

Amounts Books::pool() const {
  return {limits_.total - unpack(word_.load(std::memory_order_relaxed)).all(), limits_.total};
}

Amounts Books::of(Page page, bool p2p) const {
  const Used used = unpack(word_.load(std::memory_order_relaxed));
  const Amounts all{limits_.total - used.all(), limits_.total};

  const auto limited = [&](std::size_t limit, std::size_t of_kind) {
    return Amounts{std::min(limit - of_kind, all.free), std::min(limit, all.total)};
  };
  Amounts answer{};
  if (page == Page::Huge1G) {
    answer = limits_.huge1g ? limited(*limits_.huge1g, used.giant) : all;
    answer = {round_down(answer.free, 1_GiB), round_down(answer.total, 1_GiB)};
  } else {
    // Huge and normal always add up to the pool: one is figured, the other is what is left (M-430 a).
    Amounts huge{};
    if (limits_.normal) {
      const Amounts normal = limited(*limits_.normal, used.normal);
      huge = {all.free - normal.free, all.total - normal.total};
    } else if (limits_.huge) {
      huge = limited(*limits_.huge, used.huge);
    } else {
      // What is left below 2 MB is one huge page that small ones have broken up: it counts as normal as a
      // whole, so that free never exceeds total (M-430 d).
      huge = {round_down(all.free, 2_MiB),
              round_down(all.total, 2_MiB) - (all.free % 2_MiB == 0 ? 0 : 2_MiB)};
    }
    answer = page == Page::Huge2M ? huge : Amounts{all.free - huge.free, all.total - huge.total};
  }
  if (!p2p || !limits_.p2p) return answer;
  const std::size_t left = *limits_.p2p - p2p_used_.load(std::memory_order_relaxed);
  const std::size_t unit = page_bytes(page);  // whole pages of the kind
  return {std::min(answer.free, round_down(left, unit)),
          std::min(answer.total, round_down(*limits_.p2p, unit))};
}

}  // namespace belay
