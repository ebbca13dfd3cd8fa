// What one device has left, exactly, whoever takes and whoever dies.
//
// A thread takes pages by turning credit of its shard into use, which is one compare-and-swap on a cache line
// of its own, as long as there is credit. It gives them back by turning use into credit again, for the next
// request. Credit is not use: others may take it back at any time.
//
// New grants go through one word per device. Whoever wants one completes the grant that stands there
// (for anybody: nobody waits for a process that is stopped or dead), adds up all grants, and writes its
// own in its place if the limits allow. So all grants together never exceed a limit, and a request is
// refused only when no page and no credit is left.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "machine/state.h"

namespace belay::machine {

class ProcessTable;

// Pages of 4 KB by kind.
using Use = std::array<std::uint64_t, kKinds>;

// Credit becomes use; false where there is too little, or, with one try only, somebody was faster.
[[gnu::always_inline]] inline bool try_take_credit(std::atomic<std::uint64_t>& account, std::uint64_t pages,
                                                   std::uint64_t step) {
  std::uint64_t word = account.load(std::memory_order_relaxed);
  return Account::credit(word) >= pages && account.compare_exchange_strong(word, word + step);
}
inline bool take_credit(std::atomic<std::uint64_t>& account, std::uint64_t pages) {
  std::uint64_t word = account.load(std::memory_order_relaxed);
  while (Account::credit(word) >= pages) {
    if (account.compare_exchange_weak(word, word + Account::step(pages))) return true;
  }
  return false;
}

// Use becomes credit. `own`: no other thread takes from and gives to this shard. Then nobody writes to an
// account that has no credit, because others only ever take credit away, and a plain store does it.
[[gnu::always_inline]] inline void give_credit(std::atomic<std::uint64_t>& account, std::uint64_t step,
                                               bool own) {
  const std::uint64_t word = account.load(std::memory_order_relaxed);
  if (own && Account::credit(word) == 0) [[likely]]
    account.store(word - step, std::memory_order_release);
  else
    account.fetch_sub(step, std::memory_order_acq_rel);
}

class PageQuota {
 public:
  void open(State& state, std::size_t device, ProcessTable& processes);

  // All of it, or nothing and false.
  bool take(std::size_t kind, std::uint64_t pages, std::size_t shard = kCommonShard) {
    return take_credit(this->shard(shard).of[kind].word, pages) || take_with_grant(kind, pages, shard);
  }
  void give(std::size_t kind, std::uint64_t pages, std::size_t shard = kCommonShard) {
    give_credit(this->shard(shard).of[kind].word, Account::step(pages), shard != kCommonShard);
  }
  // Pages in use of that kind pass to an extent that says how many (extents.h).
  void move_to_extent(std::size_t extent, std::size_t kind, std::size_t shard);
  QuotaShard& shard(std::size_t index) const { return device_->shard_of({row_, index, 0}); }

  // In use by all processes that live.
  Use used() const;
  // Of this process alone: pages in use, and pages that it could have in use without asking. What others move
  // meanwhile may be missed, but with `surely` nothing is counted twice.
  struct Own {
    std::uint64_t used = 0, granted = 0;
  };
  Own own() const;
  std::uint64_t surely_used() const;
  // Gives up so much credit of this process, or a little more, but none of that account; says how much it
  // was.
  std::uint64_t return_own_credit(std::uint64_t pages, std::size_t but_kind, std::size_t but_shard);
  // This process has so many pages in use, more than ever before. Of the device as a whole its peak is raised
  // to what all processes together have in use now: with one process that is exact. With several it is a
  // lower bound, because one of them that comes back to less than its own peak does so without asking
  // anybody.
  void note_peak(std::uint64_t pages);
  const Limits& limits() const { return state_->header.limits; }

  static constexpr std::size_t kCommonShard = 0;

 private:
  using Credit = std::array<std::uint64_t, kKinds>;
  Own of_shards(std::span<const Credit> credit_seen) const;
  // Of a shard of this process, the first of which is the common one.
  std::atomic<std::uint64_t>& own_account(std::size_t number, std::size_t kind) const;
  bool take_with_grant(std::size_t kind, std::uint64_t pages, std::size_t shard);
  bool grant(std::size_t kind, std::uint64_t pages, std::size_t shard, bool as_credit);
  bool gather_own_credit(std::size_t kind, std::uint64_t pages, std::size_t shard);
  NumberedWord::Value completed() const;  // the grant that stands there, which its account has by now
  bool publish(const NumberedWord::Value& before, std::uint64_t word);
  bool take_back_credit(std::uint64_t pages);
  bool no_credit_anywhere() const;
  std::uint64_t charged_to_us() const;  // pages of extents
  bool alone() const;                   // no other process is on the machine
  std::uint64_t used_at_once(std::uint64_t peak) const;
  struct Look {
    std::uint64_t room = 0;         // pages that may still be granted for that kind
    std::uint64_t fingerprint = 0;  // of all that is granted: the same twice means that it did not change
  };
  Look look(std::size_t kind) const;

  State* state_ = nullptr;
  Device* device_ = nullptr;
  std::size_t row_ = 0;
  ProcessTable* processes_ = nullptr;
  std::size_t index_ = 0;
};

// Enters a grant where it belongs, unless somebody has.
void complete_grant(State& state, std::size_t device, const NumberedWord::Value& pending);

Use used_by(const State& state, std::size_t device, std::size_t row);

}  // namespace belay::machine
