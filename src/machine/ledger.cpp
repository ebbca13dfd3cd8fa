#include "machine/ledger.h"

#include <algorithm>

#include "machine/roster.h"

namespace belay::machine {
namespace {
constexpr int kMostLooks = 100;
}  // namespace

void Ledger::open(State& state, std::size_t device, Roster& roster) {
  state_ = &state;
  device_ = &state.devices[device];
  roster_ = &roster;
  index_ = device;
  mine_ = &device_->accounts[roster.mine()];
}

// The same grant is completed once, whoever does it: completing it raises the account's turn.
void Ledger::complete(std::uint64_t pending) {
  const std::uint64_t pages = Pending::pages(pending);
  if (pages == 0) return;
  const std::uint64_t at = Pending::account(pending);
  std::atomic<std::uint64_t>& account = device_->accounts[at / 8].of[std::min(at % 8, kKinds - 1)];
  std::uint64_t word = account.load(std::memory_order_acquire);
  while (Account::turn(word) == Pending::turn(pending)) {
    // Granted and taken in one step: between the two somebody could take the credit back.
    const std::uint64_t next =
        Account::make(Account::used(word) + pages, Account::granted(word) + pages, Account::turn(word) + 1);
    if (account.compare_exchange_weak(word, next, std::memory_order_acq_rel)) return;
  }
}

Ledger::Look Ledger::look(std::size_t kind) const {
  const Limits& limits = state_->header.limits;
  Look look;
  std::array<std::uint64_t, 3> of_page{};
  std::uint64_t p2p = 0;
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t each = 0; each < kKinds; ++each) {
      const std::uint64_t word = device_->accounts[row].of[each].load(std::memory_order_acquire);
      of_page[each / 2] += Account::granted(word);
      if (each % 2 == 1) p2p += Account::granted(word);
      look.print = (look.print ^ word) * 0x9E3779B97F4A7C15U;
    }
  }
  const auto left = [](std::uint64_t limit, std::uint64_t granted) {
    return limit - std::min(limit, granted);
  };
  look.room = std::min(left(limits.total, of_page[0] + of_page[1] + of_page[2]),
                       left(limits.of_page[kind / 2], of_page[kind / 2]));
  if (kind % 2 == 1) look.room = std::min(look.room, left(limits.p2p, p2p));
  return look;
}

// Up to so many granted pages that nobody uses; true if there was any.
bool Ledger::take_back_credit(std::uint64_t pages) {
  std::uint64_t back = 0;
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows && back < pages; ++row) {
    for (std::atomic<std::uint64_t>& account : device_->accounts[row].of) {
      std::uint64_t word = account.load(std::memory_order_acquire);
      while (Account::granted(word) > Account::used(word)) {
        const std::uint64_t credit = Account::granted(word) - Account::used(word);
        if (account.compare_exchange_weak(
                word, Account::make(Account::used(word), Account::used(word), Account::turn(word)),
                std::memory_order_acq_rel)) {
          back += credit;
          break;
        }
      }
    }
  }
  return back != 0;
}

bool Ledger::take_with_grant(std::size_t kind, std::uint64_t pages) {
  const Limits& limits = state_->header.limits;
  if (pages > std::min(limits.total, limits.of_page[kind / 2])) return false;
  for (int refusals = 0;;) {
    std::uint64_t pending = device_->pending.load(std::memory_order_acquire);
    complete(pending);
    const std::uint64_t turn = Account::turn(mine_->of[kind].load(std::memory_order_acquire));
    const Look seen = look(kind);  // others may lower grants meanwhile; none can be raised unnoticed
    if (pages <= seen.room) {
      const std::uint64_t next =
          Pending::make(roster_->mine() * 8 + kind, pages, turn, Pending::number(pending) + 1);
      if (!device_->pending.compare_exchange_strong(pending, next, std::memory_order_acq_rel)) continue;
      complete(next);
      return true;
    }
    // A limit on one kind may be what is short: then all credit comes back, else only what is missing.
    const bool of_kind = limits.of_page[kind / 2] != kNoLimit || (kind % 2 == 1 && limits.p2p != kNoLimit);
    if (take_back_credit(of_kind ? kNoLimit : pages - seen.room)) continue;
    if (roster_->return_what_the_dead_held(index_)) continue;
    // Pages may have moved from one account to another while we went from one to the next: only if nothing
    // moved was there nothing. Someone who never comes to rest does not keep us here for ever.
    const bool still =
        look(kind).print == seen.print && device_->pending.load(std::memory_order_acquire) == pending;
    if (still || ++refusals > kMostLooks) return false;
  }
}

Use used_by(const State& state, std::size_t device, std::size_t row) {
  Use use{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    use[kind] = Account::used(state.devices[device].accounts[row].of[kind].load(std::memory_order_acquire));
  }
  return use;
}

Use Ledger::used() const {
  roster_->return_what_the_dead_held(index_);
  Use all{};
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows; ++row) {
    const Use use = used_by(*state_, index_, row);
    for (std::size_t kind = 0; kind < kKinds; ++kind) all[kind] += use[kind];
  }
  return all;
}

}  // namespace belay::machine
