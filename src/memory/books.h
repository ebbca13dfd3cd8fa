// What one device has left, in the words of aclrtGetMemInfo.
//
// The counting itself is the machine's (machine/ledger.h), because all processes draw on the same device.
// Without limits there is one pool that serves every page kind (D-56).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/ledger.h"
#include "memory/plan.h"

namespace belay {

struct BookLimits {
  std::size_t total = 0;
  std::optional<std::size_t> normal, huge, huge1g, p2p;
};
machine::Limits in_pages(const BookLimits& limits);

// The most that an account can count, in whole 1 GB pages.
inline constexpr std::size_t kMostDeviceBytes = 255_GiB;

struct Amounts {
  std::size_t free, total;
};

class Books {
 public:
  void open(machine::Ledger& ledger) { ledger_ = &ledger; }

  // All of it, or nothing and false.
  bool take(Page page, std::size_t bytes, bool p2p) {
    return ledger_->take(machine::kind_of(static_cast<std::size_t>(page), p2p), bytes / 4_KiB);
  }
  void give(Page page, std::size_t bytes, bool p2p) {
    ledger_->give(machine::kind_of(static_cast<std::size_t>(page), p2p), bytes / 4_KiB);
  }

  Amounts pool() const;
  Amounts of(Page page, bool p2p) const;  // as aclrtGetMemInfo reports the kind (M-137)
  std::size_t in_use(Page page) const;    // by all processes
  std::size_t total() const { return ledger_->limits().total * 4_KiB; }

 private:
  machine::Ledger* ledger_ = nullptr;
};

// The same figures for any use of a device.
Amounts pool_figures(const machine::Limits& limits, const machine::Use& use);
Amounts kind_figures(const machine::Limits& limits, const machine::Use& use, Page page, bool p2p);

}  // namespace belay
