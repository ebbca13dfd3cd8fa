#include "machine/page_quota.h"

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "machine/extents.h"
#include "machine/process_table.h"

namespace belay::machine {
namespace {

constexpr int kMostLooks = 100;

// Takes all credit of an account away, and says how much that was.
std::uint64_t take_away(std::atomic<std::uint64_t>& account) {
  std::uint64_t word = account.load(std::memory_order_acquire);
  while (Account::credit(word) != 0) {
    if (account.compare_exchange_weak(word, word - Account::credit(word), std::memory_order_acq_rel))
      return Account::credit(word);
  }
  return 0;
}

// What the shards of one process come to. While the shards of a dead process are emptied one after the other,
// a sum may be below nothing for a moment: that is nothing.
std::uint64_t sum_of(std::uint64_t wrapped, const Limits& limits) {
  const std::uint64_t sum = wrapped & Account::kField;
  return sum <= limits.total ? sum : 0;
}

}  // namespace

void PageQuota::open(State& state, std::size_t device, ProcessTable& processes) {
  state_ = &state;
  device_ = &state.devices[device];
  processes_ = &processes;
  index_ = device;
  mine_ = device_->shards[processes.mine()].data();
}

// The same grant is completed once, whoever does it: completing it raises the account's turn.
void PageQuota::complete(std::uint64_t pending) const {
  const std::uint64_t pages = Pending::pages(pending);
  if (pages == 0) return;
  if (is_move(pending)) return complete_move(*state_, index_, pending);
  const AccountIndex at = AccountIndex::of(Pending::account(pending));
  std::atomic<std::uint64_t>& account = device_->shards[at.row][at.shard].of[at.kind];
  std::uint64_t word = account.load(std::memory_order_acquire);
  while (Account::turn(word) == Pending::turn(pending)) {
    // Granted and taken in one step: between the two somebody could take the credit back.
    const bool as_credit = Pending::as_credit(pending);
    const std::uint64_t next =
        Account::make(Account::used(word) + (as_credit ? 0 : pages),
                      Account::credit(word) + (as_credit ? pages : 0), Account::turn(word) + 1);
    if (account.compare_exchange_weak(word, next, std::memory_order_acq_rel)) return;
  }
}

PageQuota::Look PageQuota::look(std::size_t kind) const {
  const Limits& limits = state_->header.limits;
  Look look;
  std::array<std::uint64_t, 3> of_page{};
  std::uint64_t p2p = 0;
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows; ++row) {
    Use granted{};
    const std::size_t shards = shards_of(*state_, row);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      for (std::size_t each = 0; each < kKinds; ++each) {
        const std::uint64_t word = device_->shards[row][shard].of[each].load(std::memory_order_acquire);
        granted[each] += Account::granted(word);
        look.fingerprint = (look.fingerprint ^ Account::granted(word)) * 0x9E3779B97F4A7C15U;
      }
    }
    for (std::size_t each = 0; each < kKinds; ++each) {
      const std::uint64_t sum = sum_of(granted[each], limits);
      of_page[each / 2] += sum;
      if (each % 2 == 1) p2p += sum;
    }
  }
  Use charged{};
  add_charges(*state_, index_, charged);
  for (std::size_t each = 0; each < kKinds; ++each) {
    of_page[each / 2] += charged[each];
    if (each % 2 == 1) p2p += charged[each];
    look.fingerprint = (look.fingerprint ^ charged[each]) * 0x9E3779B97F4A7C15U;
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
bool PageQuota::take_back_credit(std::uint64_t pages) {
  std::uint64_t back = 0;
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows && back < pages; ++row) {
    const std::size_t shards = shards_of(*state_, row);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      for (std::atomic<std::uint64_t>& account : device_->shards[row][shard].of) back += take_away(account);
    }
  }
  return back != 0;
}

// False where the device has no room for it, or somebody else was granted something meanwhile.
bool PageQuota::grant(std::size_t kind, std::uint64_t pages, std::size_t shard, bool as_credit) {
  std::uint64_t pending = device_->pending.load(std::memory_order_acquire);
  complete(pending);
  const std::uint64_t turn = Account::turn(mine_[shard].of[kind].load(std::memory_order_acquire));
  if (pages > look(kind).room)
    return false;  // others may lower grants meanwhile; none can be raised unnoticed
  const std::uint64_t next = Pending::make(AccountIndex{processes_->mine(), shard, kind}.number(), pages,
                                           turn, Pending::next_number(pending), as_credit);
  if (!device_->pending.compare_exchange_strong(pending, next, std::memory_order_acq_rel)) return false;
  complete(next);
  return true;
}

void PageQuota::move_to_extent(std::size_t extent, std::size_t kind, std::size_t shard) {
  for (;;) {
    std::uint64_t pending = device_->pending.load(std::memory_order_acquire);
    complete(pending);
    const std::uint64_t turn = Account::turn(mine_[shard].of[kind].load(std::memory_order_acquire));
    const std::uint64_t next = Pending::make(AccountIndex{processes_->mine(), shard, kMoveKind}.number(),
                                             extent + 1, turn, Pending::next_number(pending));
    if (!device_->pending.compare_exchange_strong(pending, next, std::memory_order_seq_cst)) continue;
    return complete(next);
  }
}

// What other threads of this process gave back, if it is enough: a thread that only frees should not make one
// that only allocates go to the machine for each page.
bool PageQuota::gather_own_credit(std::size_t kind, std::uint64_t pages, std::size_t shard) {
  const std::size_t shards = shards_of(*state_, processes_->mine());
  std::uint64_t there = 0;
  for (std::size_t each = 0; each < shards; ++each)
    there += Account::credit(mine_[each].of[kind].load(std::memory_order_relaxed));
  if (there < pages) return false;
  std::uint64_t got = 0;
  for (std::size_t each = 0; each < shards; ++each) got += take_away(mine_[each].of[kind]);
  return got != 0 && grant(kind, got, shard, true) && take_credit(mine_[shard].of[kind], pages);
}

// Whether no account had any credit to spare, at one moment of this call at least.
//
// One look at each account would prove nothing: a thread that frees one block and takes another moves its
// credit from where we look next to where we looked before, and may do so all the time, with no trace in the
// words. But at every moment the credit is somewhere, and nobody knows where we look next: so a look at an
// account drawn by lot misses it with a chance of at most 1 - 1/accounts, and all looks with e^-kLooks.
bool PageQuota::no_credit_anywhere() const {
  constexpr std::size_t kLooks = 48;
  // A process gets credit for a kind of page by freeing such pages, in whichever shard.
  std::vector<const std::atomic<std::uint64_t>*> accounts;
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t shards = shards_of(*state_, row);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      std::uint64_t granted = 0;
      const std::size_t before = accounts.size();
      for (std::size_t shard = 0; shard < shards; ++shard) {
        accounts.push_back(&device_->shards[row][shard].of[kind]);
        granted += Account::granted(accounts.back()->load(std::memory_order_acquire));
      }
      if ((granted & Account::kField) == 0) accounts.resize(before);
    }
  }
  static std::atomic<std::uint32_t> seed{1};
  std::minstd_rand lot{seed.fetch_add(0x9E3779B9U, std::memory_order_relaxed)};
  for (std::size_t look = kLooks * accounts.size(); look > 0; --look) {
    if (Account::credit(accounts[lot() % accounts.size()]->load(std::memory_order_acquire)) != 0)
      return false;
  }
  return true;
}

bool PageQuota::take_with_grant(std::size_t kind, std::uint64_t pages, std::size_t shard) {
  const Limits& limits = state_->header.limits;
  if (pages > std::min(limits.total, limits.of_page[kind / 2])) return false;
  if (gather_own_credit(kind, pages, shard)) return true;
  // Too little credit goes back, so that what a process was granted is what it used at most.
  take_away(mine_[shard].of[kind]);
  for (;;) {
    if (grant(kind, pages, shard, false)) return true;
    const std::uint64_t pending = device_->pending.load(std::memory_order_acquire);
    complete(pending);
    const Look seen = look(kind);
    if (pages <= seen.room) continue;
    // A limit on one kind may be what is short: then all credit comes back, else only what is missing.
    const bool of_kind = limits.of_page[kind / 2] != kNoLimit || (kind % 2 == 1 && limits.p2p != kNoLimit);
    if (take_back_credit(of_kind ? kNoLimit : pages - seen.room)) continue;
    if (processes_->return_what_the_dead_held(index_)) continue;
    if (!no_credit_anywhere()) continue;
    // Nothing was granted and nothing taken back since the first look, so all that time the same was granted,
    // which leaves too little, and at one moment of it all of that was in use. Otherwise somebody got what he
    // wanted meanwhile, and we look again: there is always one who gets on.
    if (look(kind).fingerprint == seen.fingerprint &&
        device_->pending.load(std::memory_order_acquire) == pending)
      return false;
  }
}

namespace {
Use add_up_row(const State& state, std::size_t device, std::size_t row) {
  Use use{};
  const std::size_t shards = shards_of(state, row);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      use[kind] +=
          Account::used(state.devices[device].shards[row][shard].of[kind].load(std::memory_order_acquire));
  }
  for (std::uint64_t& each : use) each = sum_of(each, state.header.limits);
  return use;
}

Use add_up(const State& state, std::size_t device) {
  Use all{};
  const std::size_t rows = rows_of(state);
  for (std::size_t row = 0; row < rows; ++row) {
    const Use use = add_up_row(state, device, row);
    for (std::size_t kind = 0; kind < kKinds; ++kind) all[kind] += use[kind];
  }
  add_charges(state, device, all);
  return all;
}
}  // namespace

// A block that one thread takes and another gives back, between our looks at their shards, would be missed:
// so the shards are added up until two sums agree.
Use used_by(const State& state, std::size_t device, std::size_t row) {
  Use use = add_up_row(state, device, row);
  for (int looks = 0; looks < kMostLooks; ++looks) {
    const Use again = add_up_row(state, device, row);
    if (again == use) break;
    use = again;
  }
  add_charges(state, device, use, row);
  return use;
}

std::uint64_t PageQuota::charged_to_us() const {
  Use charged{};
  add_charges(*state_, index_, charged, processes_->mine());
  std::uint64_t sum = 0;
  for (const std::uint64_t each : charged) sum += each;
  return sum;
}

// What an account was granted does not change when it takes and gives: so the sum of that is right, and use
// is what remains of it without the credit, which is never less than nothing.
PageQuota::Own PageQuota::of_shards(const Credits& credit_seen) const {
  Own own;
  const std::size_t shards = shards_of(*state_, processes_->mine());
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    std::uint64_t granted = 0;
    std::uint64_t credit = 0;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      const std::uint64_t word = mine_[shard].of[kind].load(std::memory_order_seq_cst);
      granted += Account::granted(word);
      credit += std::max(credit_seen[shard][kind], Account::credit(word));
    }
    granted &= Account::kField;
    own.used += granted - std::min(granted, credit);
    own.granted += granted;
  }
  return own;
}

PageQuota::Own PageQuota::own() const {
  static constexpr Credits kNoneSeen{};
  Own own = of_shards(kNoneSeen);
  const std::uint64_t charged = charged_to_us();
  own.used += charged;
  own.granted += charged;
  return own;
}

// A page that moves from one account to another while we go from one to the next would count twice. It does
// not, if of several looks at each account the lowest counts.
std::uint64_t PageQuota::surely_used() const {
  constexpr int kLooks = 4;
  // Pages on their way from an account to an extent are in both for a moment.
  const std::uint64_t pending = device_->pending.load(std::memory_order_seq_cst);
  if (is_move(pending)) complete(pending);
  const std::uint64_t charged = charged_to_us();
  const std::size_t shards = shards_of(*state_, processes_->mine());
  Credits credit{};
  for (int look = 0; look + 1 < kLooks; ++look) {
    for (std::size_t shard = 0; shard < shards; ++shard) {
      for (std::size_t kind = 0; kind < kKinds; ++kind)
        credit[shard][kind] = std::max(
            credit[shard][kind], Account::credit(mine_[shard].of[kind].load(std::memory_order_seq_cst)));
    }
  }
  const std::uint64_t used = of_shards(credit).used;
  const std::uint64_t now = device_->pending.load(std::memory_order_seq_cst);
  return now != pending && is_move(now) ? used : used + charged;
}

std::uint64_t PageQuota::return_own_credit(std::uint64_t pages, std::size_t but_kind, std::size_t but_shard) {
  std::uint64_t back = 0;
  const std::size_t shards = shards_of(*state_, processes_->mine());
  for (std::size_t shard = 0; shard < shards; ++shard) {
    for (std::size_t kind = 0; kind < kKinds && back < pages; ++kind) {
      if (kind != but_kind || shard != but_shard) back += take_away(mine_[shard].of[kind]);
    }
  }
  return back;
}

// A page that one process gives back and another takes, while we go from one to the other, would count twice
// or not at all. Not twice, as long as nothing is granted meanwhile: nobody has more in use than was granted,
// and that can only fall then. And where a second sum is the same, nothing was missed either.
Use PageQuota::used() const {
  processes_->return_what_the_dead_held(index_);
  std::optional<Use> sum;
  for (int looks = 0; looks < 10 * kMostLooks; ++looks) {
    const std::uint64_t pending = device_->pending.load(std::memory_order_acquire);
    complete(pending);
    const Use now = add_up(*state_, index_);
    if (device_->pending.load(std::memory_order_acquire) != pending) continue;
    if (sum == now) return now;
    sum = now;
  }
  // They never stood still. Whatever they have in use, it is not more than there is.
  Use all = sum ? *sum : add_up(*state_, index_);
  std::uint64_t left = state_->header.limits.total;
  for (std::uint64_t& each : all) {
    each = std::min(each, left);
    left -= each;
  }
  return all;
}

}  // namespace belay::machine
