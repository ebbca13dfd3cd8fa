// What one device has left, exactly, whoever takes and whoever dies.
//
// A process takes pages by raising the used part of its own account, which is one compare-and-swap on a
// cache line of its own, as long as it has been granted that many. It gives them back by lowering it; the
// grant stays, as credit for the next request. Credit is not use: others may take it back at any time.
//
// New grants go through one word per device. Whoever wants one completes the grant that stands there
// (for anybody: nobody waits for a process that is stopped or dead), adds up all grants, and writes its
// own in its place if the limits allow. So all grants together never exceed a limit, and a request is
// refused only when no page and no credit is left.
#pragma once

#include <array>
#include <cstdint>

#include "machine/state.h"

namespace belay::machine {

class Roster;

// Pages of 4 KB by kind.
using Use = std::array<std::uint64_t, kKinds>;

class Ledger {
 public:
  void open(State& state, std::size_t device, Roster& roster);

  // All of it, or nothing and false.
  bool take(std::size_t kind, std::uint64_t pages) {
    std::atomic<std::uint64_t>& account = mine_->of[kind];
    std::uint64_t word = account.load(std::memory_order_relaxed);
    while (Account::used(word) + pages <= Account::granted(word)) {
      if (account.compare_exchange_weak(word, word + pages, std::memory_order_acq_rel)) return true;
    }
    return take_with_grant(kind, pages);
  }
  void give(std::size_t kind, std::uint64_t pages) {
    mine_->of[kind].fetch_sub(pages, std::memory_order_acq_rel);
  }

  // In use by all processes that live.
  Use used() const;
  const Limits& limits() const { return state_->header.limits; }

 private:
  bool take_with_grant(std::size_t kind, std::uint64_t pages);
  void complete(std::uint64_t pending);
  bool take_back_credit(std::uint64_t pages);
  struct Look {
    std::uint64_t room = 0;   // pages that may still be granted for that kind
    std::uint64_t print = 0;  // of all accounts: the same twice means that nothing moved
  };
  Look look(std::size_t kind) const;

  State* state_ = nullptr;
  Device* device_ = nullptr;
  Accounts* mine_ = nullptr;
  Roster* roster_ = nullptr;
  std::size_t index_ = 0;
};

Use used_by(const State& state, std::size_t device, std::size_t row);

}  // namespace belay::machine
