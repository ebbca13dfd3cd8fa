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

  // All of it, or nothing and false. `purse`: the calling thread's.
  bool take(Page page, std::size_t bytes, bool p2p, std::size_t purse = machine::Ledger::kCommonPurse) {
    return ledger_->take(machine::kind_of(static_cast<std::size_t>(page), p2p), bytes / 4_KiB, purse);
  }
  void give(Page page, std::size_t bytes, bool p2p, std::size_t purse = machine::Ledger::kCommonPurse) {
    ledger_->give(machine::kind_of(static_cast<std::size_t>(page), p2p), bytes / 4_KiB, purse);
  }
  std::atomic<std::uint64_t>& account(Page page, bool p2p, std::size_t purse) {
    return ledger_->purse(purse).of[machine::kind_of(static_cast<std::size_t>(page), p2p)];
  }
  // Of this process, in 4 KB pages.
  machine::Ledger::Own own() const { return ledger_->own(); }
  std::uint64_t surely_used() const { return ledger_->surely_used(); }
  std::uint64_t return_credit(std::uint64_t pages, std::size_t but_kind, std::size_t but_purse) {
    return ledger_->return_own_credit(pages, but_kind, but_purse);
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
