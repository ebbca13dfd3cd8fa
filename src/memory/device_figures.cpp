#include "memory/device_figures.h"

#include <algorithm>

namespace belay {
namespace {

struct Used {
  std::size_t normal, huge, giant, p2p;
  std::size_t all() const { return normal + huge + giant; }
};
Used in_bytes(const machine::Use& use) {
  return {(use[0] + use[1]) * 4_KiB, (use[2] + use[3]) * 4_KiB, (use[4] + use[5]) * 4_KiB,
          (use[1] + use[3] + use[5]) * 4_KiB};
}

std::optional<std::size_t> limit_in_bytes(std::uint64_t pages) {
  return pages == machine::kNoLimit ? std::nullopt : std::optional<std::size_t>{pages * 4_KiB};
}

// Figures of a machine that others use meanwhile may not fit together for a moment: never below nothing.
std::size_t left(std::size_t limit, std::size_t used) { return limit - std::min(limit, used); }

}  // namespace

machine::Limits in_pages(const DeviceLimits& limits) {
  const auto pages = [](const std::optional<std::size_t>& bytes) {
    return bytes ? *bytes / 4_KiB : machine::kNoLimit;
  };
  machine::Limits answer{limits.total / 4_KiB,
                         {pages(limits.normal), pages(limits.huge), pages(limits.huge1g)},
                         pages(limits.p2p)};
  // Both kinds limited: nothing beyond their sum could ever be used, so that is the total.
  if (limits.normal && limits.huge)
    answer.total = std::min<std::uint64_t>(answer.total, (*limits.normal + *limits.huge) / 4_KiB);
  return answer;
}

std::size_t bytes_in_use(const machine::Use& use, Page page) {
  return (use[quota_kind(page, false)] + use[quota_kind(page, true)]) * 4_KiB;
}

Amounts pool_figures(const machine::Limits& limits, const machine::Use& use) {
  const std::size_t total = limits.total * 4_KiB;
  return {left(total, in_bytes(use).all()), total};
}

Amounts kind_figures(const machine::Limits& limits, const machine::Use& use, Page page, bool p2p) {
  const Used used = in_bytes(use);
  const Amounts all = pool_figures(limits, use);
  const std::optional<std::size_t> normal_limit = limit_in_bytes(limits.of_page[0]);
  const std::optional<std::size_t> huge_limit = limit_in_bytes(limits.of_page[1]);
  const std::optional<std::size_t> giant_limit = limit_in_bytes(limits.of_page[2]);

  const auto limited = [&](std::size_t limit, std::size_t of_kind) {
    return Amounts{std::min(left(limit, of_kind), all.free), std::min(limit, all.total)};
  };
  Amounts answer{};
  if (page == Page::Huge1G) {
    answer = giant_limit ? limited(*giant_limit, used.giant) : all;
    answer = {round_down(answer.free, 1_GiB), round_down(answer.total, 1_GiB)};
  } else {
    // Huge and normal always add up to the pool: one is figured, the other is what is left (M-430 a).
    Amounts huge{};
    if (normal_limit) {
      const Amounts normal = limited(*normal_limit, used.normal);
      huge = {all.free - normal.free, all.total - normal.total};
    } else if (huge_limit) {
      huge = limited(*huge_limit, used.huge);
    } else {
      // What is left below 2 MB is one huge page that small ones have broken up: it counts as normal as a
      // whole, so that free never exceeds total (M-430 d).
      huge = {round_down(all.free, 2_MiB),
              round_down(all.total, 2_MiB) - (all.free % 2_MiB == 0 ? 0 : 2_MiB)};
    }
    answer = page == Page::Huge2M ? huge : Amounts{all.free - huge.free, all.total - huge.total};
  }
  if (!p2p || !limit_in_bytes(limits.p2p)) return answer;
  const std::size_t unit = page_bytes(page);  // whole pages of the kind
  const Amounts of_p2p = p2p_figures(limits, use);
  return {std::min(answer.free, round_down(of_p2p.free, unit)),
          std::min(answer.total, round_down(of_p2p.total, unit))};
}

Amounts p2p_figures(const machine::Limits& limits, const machine::Use& use) {
  const std::size_t total = limit_in_bytes(limits.p2p).value_or(0);
  return {left(total, in_bytes(use).p2p), total};
}

}  // namespace belay
