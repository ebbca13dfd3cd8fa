#include "machine/page_quota.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "base/raise.h"
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

// What an account was granted does not change when it takes and gives: so the sum of that is right, and use
// is what remains of it without the credit, which is never less than nothing.
struct Sum {
  std::uint64_t granted = 0, credit = 0;
  void add(std::uint64_t word, std::uint64_t credit_seen = 0) {
    granted = (granted + Account::granted(word)) & Account::kField;
    credit += std::max(credit_seen, Account::credit(word));
  }
  std::uint64_t used() const { return granted - std::min(granted, credit); }
};
using Sums = std::array<Sum, kKinds>;

// What the shards of one process come to, if it lives. See(word) is told each account.
template <class See>
Sums add_up_row(const State& state, std::size_t device, std::size_t row, See&& see) {
  const std::atomic<std::uint64_t>& life = state.rows[row].life;
  for (;;) {
    const std::uint64_t before = life.load(std::memory_order_seq_cst);
    if (Life::state(before) != Life::Live) return {};
    Sums sums;
    for_each_shard(state, device, row, before, [&](const QuotaShard& shard) {
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        const std::uint64_t word = shard.of[kind].word.load(std::memory_order_seq_cst);
        sums[kind].add(word);
        see(word);
      }
    });
    if (life.load(std::memory_order_seq_cst) == before) return sums;
  }
}

}  // namespace

void PageQuota::open(State& state, std::size_t device, ProcessTable& processes) {
  state_ = &state;
  device_ = &state.devices[device];
  processes_ = &processes;
  index_ = device;
  row_ = processes.mine();
}

std::atomic<std::uint64_t>& PageQuota::own_account(std::size_t number, std::size_t kind) const {
  return shard(processes_->own_shard(number)).of[kind].word;
}

// The same grant is completed once, whoever does it: the account has its number from then on.
void complete_grant(State& state, std::size_t index, const NumberedWord::Value& pending) {
  const std::uint64_t pages = Pending::pages(pending.word);
  if (pages == 0) return;
  if (is_move(pending.word)) return complete_move(state, index, pending);
  const AccountIndex at = AccountIndex::of(Pending::account(pending.word));
  NumberedWord& account = state.devices[index].shard_of(at).of[at.kind];
  for (;;) {
    const NumberedWord::Value now = account.load();
    if (now.number >= pending.number) return;
    // Granted and taken in one step: between the two somebody could take the credit back.
    const bool as_credit = Pending::as_credit(pending.word);
    const std::uint64_t next =
        Account::make((Account::used(now.word) + (as_credit ? 0 : pages)) & Account::kField,
                      Account::credit(now.word) + (as_credit ? pages : 0));
    if (account.exchange(now, {next, pending.number})) return;
  }
}

PageQuota::Look PageQuota::look(std::size_t kind) const {
  const Limits& limits = state_->header.limits;
  Look look;
  Use granted{};
  const auto mark = [&](std::uint64_t pages) {
    look.fingerprint = (look.fingerprint ^ pages) * 0x9E3779B97F4A7C15U;
  };
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows; ++row) {
    const Sums sums =
        add_up_row(*state_, index_, row, [&](std::uint64_t word) { mark(Account::granted(word)); });
    for (std::size_t each = 0; each < kKinds; ++each) granted[each] += sums[each].granted;
  }
  add_charges(*state_, index_, granted);
  std::uint64_t total = 0;
  for (const std::uint64_t each : granted) {
    total += each;
    mark(each);
  }
  const auto left = [](std::uint64_t limit, std::uint64_t pages) { return limit - std::min(limit, pages); };
  const std::size_t page = kind / 2 * 2;
  look.room =
      std::min(left(limits.total, total), left(limits.of_page[kind / 2], granted[page] + granted[page + 1]));
  if (kind % 2 == 1) look.room = std::min(look.room, left(limits.p2p, granted[1] + granted[3] + granted[5]));
  return look;
}

// Up to so many granted pages that nobody uses; true if there was any.
bool PageQuota::take_back_credit(std::uint64_t pages) {
  std::uint64_t back = 0;
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows && back < pages; ++row) {
    const std::uint64_t life = state_->rows[row].life.load(std::memory_order_seq_cst);
    if (Life::state(life) != Life::Live) continue;
    for_each_shard(*state_, index_, row, life, [&](QuotaShard& shard) {
      for (NumberedWord& account : shard.of) back += take_away(account.word);
    });
  }
  return back != 0;
}

// False where the device has no room for it, or somebody else was granted something meanwhile.
bool PageQuota::grant(std::size_t kind, std::uint64_t pages, std::size_t shard, bool as_credit) {
  const NumberedWord::Value pending = completed();
  if (pages > look(kind).room)
    return false;  // others may lower grants meanwhile; none can be raised unnoticed
  return publish(pending,
                 Pending::make(AccountIndex{processes_->mine(), shard, kind}.number(), pages, as_credit));
}

void PageQuota::move_to_extent(std::size_t extent, std::size_t kind, std::size_t shard) {
  const std::uint64_t move =
      Pending::make(AccountIndex{processes_->mine(), shard, kMoveKind}.number(), Move::make(extent, kind));
  while (!publish(completed(), move)) {
  }
}

NumberedWord::Value PageQuota::completed() const {
  const NumberedWord::Value pending = device_->pending.load();
  complete_grant(*state_, index_, pending);
  return pending;
}

// False where somebody else was granted something since `before`.
bool PageQuota::publish(const NumberedWord::Value& before, std::uint64_t word) {
  const NumberedWord::Value next{word, before.number + 1};
  if (!device_->pending.exchange(before, next)) return false;
  complete_grant(*state_, index_, next);
  return true;
}

// What other threads of this process gave back, if it is enough: a thread that only frees should not make one
// that only allocates go to the machine for each page.
bool PageQuota::gather_own_credit(std::size_t kind, std::uint64_t pages, std::size_t shard) {
  const std::size_t shards = processes_->own_shards();
  std::uint64_t there = 0;
  for (std::size_t each = 0; each < shards; ++each)
    there += Account::credit(own_account(each, kind).load(std::memory_order_relaxed));
  if (there < pages) return false;
  std::uint64_t got = 0;
  for (std::size_t each = 0; each < shards; ++each) got += take_away(own_account(each, kind));
  return got != 0 && grant(kind, got, shard, true) && take_credit(this->shard(shard).of[kind].word, pages);
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
    const std::uint64_t life = state_->rows[row].life.load(std::memory_order_seq_cst);
    if (Life::state(life) != Life::Live) continue;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      Sum sum;
      const std::size_t before = accounts.size();
      for_each_shard(*state_, index_, row, life, [&](const QuotaShard& shard) {
        accounts.push_back(&shard.of[kind].word);
        sum.add(accounts.back()->load(std::memory_order_acquire));
      });
      if (sum.granted == 0) accounts.resize(before);
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
  take_away(this->shard(shard).of[kind].word);
  for (;;) {
    if (grant(kind, pages, shard, false)) return true;
    const NumberedWord::Value pending = completed();
    const Look seen = look(kind);
    if (pages <= seen.room) continue;
    // A limit on one kind may be what is short: then all credit comes back, else only what is missing.
    const bool of_kind = limits.of_page[kind / 2] != kNoLimit || (kind % 2 == 1 && limits.p2p != kNoLimit);
    if (take_back_credit(of_kind ? kNoLimit : pages - seen.room)) continue;
    if (processes_->return_what_the_dead_held(index_)) continue;
    if (!no_credit_anywhere()) continue;
    // Nothing was granted and nothing taken back since the first look, so all that time the same was granted,
    // which leaves too little, and at one moment of it all of that was in use. Otherwise another got what it
    // wanted meanwhile, and we look again: there is always one who gets on.
    if (look(kind).fingerprint == seen.fingerprint &&
        device_->pending.number.load(std::memory_order_seq_cst) == pending.number)
      return false;
  }
}

namespace {
void add_use(const State& state, std::size_t device, std::size_t row, Use& use) {
  const Sums sums = add_up_row(state, device, row, [](std::uint64_t) {});
  for (std::size_t kind = 0; kind < kKinds; ++kind) use[kind] += sums[kind].used();
}

std::uint64_t sum_of(const Use& use) {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : use) sum += each;
  return sum;
}

Use add_up(const State& state, std::size_t device) {
  Use all{};
  const std::size_t rows = rows_of(state);
  for (std::size_t row = 0; row < rows; ++row) add_use(state, device, row, all);
  add_charges(state, device, all);
  return all;
}
}  // namespace

// Credit that one thread takes and another gives back, between our looks at their shards, may count twice or
// not at all: so the shards are added up until two sums agree.
Use used_by(const State& state, std::size_t device, std::size_t row) {
  Use use{};
  add_use(state, device, row, use);
  for (int looks = 0; looks < kMostLooks; ++looks) {
    Use again{};
    add_use(state, device, row, again);
    if (again == use) break;
    use = again;
  }
  add_charges(state, device, use, row);
  return use;
}

std::uint64_t PageQuota::charged_to_us() const {
  Use charged{};
  add_charges(*state_, index_, charged, processes_->mine());
  return sum_of(charged);
}

bool PageQuota::alone() const {
  const std::size_t rows = rows_of(*state_);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row != row_ && Life::state(state_->rows[row].life.load(std::memory_order_acquire)) == Life::Live)
      return false;
  }
  return true;
}

// What all have in use at once, at least; 0 where others are granted so much that nobody can tell. A page
// that one gives back and another takes, while we go from one to the other, would count twice: not if it
// needs a grant, because then the sum does not count, and hardly in each of several sums, of which the lowest
// counts. Those that are not above `peak` are of no interest, and none follows them.
std::uint64_t PageQuota::used_at_once(std::uint64_t peak) const {
  constexpr int kTries = 8, kSums = 3;
  std::uint64_t lowest = kNoLimit;
  for (int tries = 0, sums = 0; tries < kTries && sums < kSums && lowest > peak; ++tries) {
    const std::uint64_t pending = completed().number;
    const std::uint64_t sum = sum_of(add_up(*state_, index_));
    if (device_->pending.number.load(std::memory_order_seq_cst) != pending) continue;
    lowest = std::min(lowest, sum);
    ++sums;
  }
  return lowest == kNoLimit ? 0 : lowest;
}

// A process that grows page by page reaches a peak with each: with others on the machine, who are added up
// and some of whom the kernel is asked about, only those that cross a multiple of a 64th count for the
// device.
void PageQuota::note_peak(std::uint64_t pages) {
  const std::uint64_t before = device_->peaks[row_].load(std::memory_order_relaxed);
  raise(device_->peaks[row_], pages);
  raise(device_->peak, pages);
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(pages) / 64, 1);
  if (pages / step <= before / step || alone()) return;
  const std::uint64_t peak = device_->peak.load(std::memory_order_relaxed);
  std::uint64_t used = used_at_once(peak);
  // Who is dead is asked last, because that asks the kernel.
  if (used > peak && processes_->return_what_the_dead_held(index_)) used = used_at_once(peak);
  raise(device_->peak, used);
}

PageQuota::Own PageQuota::of_shards(std::span<const Credit> credit_seen) const {
  Own own;
  const std::size_t shards = processes_->own_shards();
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    Sum sum;
    for (std::size_t shard = 0; shard < shards; ++shard)
      sum.add(own_account(shard, kind).load(std::memory_order_seq_cst),
              shard < credit_seen.size() ? credit_seen[shard][kind] : 0);
    own.used += sum.used();
    own.granted += sum.granted;
  }
  return own;
}

PageQuota::Own PageQuota::own() const {
  Own own = of_shards({});
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
  const std::uint64_t pending = completed().number;
  const std::uint64_t charged = charged_to_us();
  std::vector<Credit> credit(processes_->own_shards());
  for (int look = 0; look + 1 < kLooks; ++look) {
    for (std::size_t shard = 0; shard < credit.size(); ++shard) {
      for (std::size_t kind = 0; kind < kKinds; ++kind)
        credit[shard][kind] = std::max(
            credit[shard][kind], Account::credit(own_account(shard, kind).load(std::memory_order_seq_cst)));
    }
  }
  const std::uint64_t used = of_shards(credit).used;
  const NumberedWord::Value now = device_->pending.load();
  return now.number != pending && is_move(now.word) ? used : used + charged;
}

std::uint64_t PageQuota::return_own_credit(std::uint64_t pages, std::size_t but_kind, std::size_t but_shard) {
  std::uint64_t back = 0;
  const std::size_t shards = processes_->own_shards();
  const std::atomic<std::uint64_t>* spared = &shard(but_shard).of[but_kind].word;
  for (std::size_t each = 0; each < shards; ++each) {
    for (std::size_t kind = 0; kind < kKinds && back < pages; ++kind) {
      if (&own_account(each, kind) != spared) back += take_away(own_account(each, kind));
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
    const std::uint64_t pending = completed().number;
    const Use now = add_up(*state_, index_);
    if (device_->pending.number.load(std::memory_order_seq_cst) != pending) continue;
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
