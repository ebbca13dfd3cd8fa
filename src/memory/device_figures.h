// What one device has left, in the words of aclrtGetMemInfo: pure functions of what the machine counts
// (machine/page_quota.h). Without limits there is one pool that serves every page kind (D-56).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/page_quota.h"
#include "memory/plan.h"

namespace belay {

struct DeviceLimits {
  std::size_t total = 0;
  std::optional<std::size_t> normal, huge, huge1g, p2p;
};
machine::Limits in_pages(const DeviceLimits& limits);

// So much that 64 devices have room in the window of addresses (platform/address_windows.h).
inline constexpr std::size_t kMostDeviceBytes = 255_GiB;

struct Amounts {
  std::size_t free, total;
};

// The account of a kind of pages in the machine's quota.
constexpr std::size_t quota_kind(Page page, bool p2p) {
  return machine::kind_of(static_cast<std::size_t>(page), p2p);
}

// What the whole device has, and what a kind of pages has as aclrtGetMemInfo reports it (M-137).
Amounts pool_figures(const machine::Limits& limits, const machine::Use& use);
Amounts kind_figures(const machine::Limits& limits, const machine::Use& use, Page page, bool p2p);
Amounts p2p_figures(const machine::Limits& limits, const machine::Use& use);  // where there is a limit
std::size_t bytes_in_use(const machine::Use& use, Page page);

}  // namespace belay
