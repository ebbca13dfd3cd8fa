#include "machine/process_table.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "machine/extents.h"
#include "machine/page_quota.h"
#include "machine/signals.h"
#include "platform/process.h"

namespace belay::machine {

std::string text_of(const LinkName& name) {
  return fmt::format("{}.{:016x}.{}.{}.{}", name.role, name.generation, name.process, name.start,
                     name.joined);
}

std::string state_name(const std::string& identity, std::uint64_t generation) {
  return fmt::format("{}-{}-{:x}", kStateNames, identity, generation);
}

namespace {
// A program that closes all descriptors loses its lock but not its life: then its number, start and memory
// map decide.
bool lives_without_lock(const platform::CommonMemory& memory, const Row& row) {
  return !platform::surely_gone(row.process, row.start) &&
         platform::has_mapped(row.process, memory.inode(), kStateNames) != platform::Maps::No;
}
}  // namespace

// A live process holds the lock on its row's byte.
bool alive(const platform::CommonMemory& memory, const State& state, std::size_t row,
           std::uint64_t number_space) {
  const platform::CommonMemory::Lock lock = memory.state(row);
  if (lock == platform::CommonMemory::Lock::Held) return true;
  const Row& of = state.rows[row];
  if (Life::state(of.life.load(std::memory_order_acquire)) == Life::Claiming)
    return lock == platform::CommonMemory::Lock::Unknown;
  if (of.number_space != number_space) return lock == platform::CommonMemory::Lock::Unknown;
  return lives_without_lock(memory, of);
}

ProcessTable::ProcessTable(platform::CommonMemory& memory, State& state, MeetingPlace place,
                           std::uint64_t joined)
    : memory_{memory},
      state_{state},
      place_{std::move(place)},
      process_{platform::process_id()},
      start_{platform::start_time(process_).value_or(0)},
      number_space_{platform::process_number_space()},
      joined_{joined} {}

std::string ProcessTable::link_of(const Row& row) const {
  return text_of({kMember, state_.header.generation, row.process, row.start, row.joined});
}

bool ProcessTable::is_me(const Row& row) const {
  return row.process == process_ && row.start == start_ && row.number_space == number_space_;
}

ProcessTable::Whose ProcessTable::look(std::size_t row) const {
  const Row& of = state_.rows[row];
  const std::uint64_t life = of.life.load(std::memory_order_acquire);
  if (Life::state(life) == Life::Free) return {life, false};
  // This process before it became another program: it lives, but not with that row.
  const bool before_exec = Life::state(life) == Life::Live && is_me(of) && row != mine_;
  const bool dead = before_exec || !alive(memory_, state_, row, number_space_);
  // What was read of the row belongs together only if the row did not change meanwhile.
  return {life, dead && of.life.load(std::memory_order_acquire) == life};
}

// Whether a grant stands on that device that an account of this row has not got yet.
bool ProcessTable::awaits_grant(std::size_t device, std::size_t row) const {
  const NumberedWord::Value pending = state_.devices[device].pending.load();
  const AccountIndex at = AccountIndex::of(Pending::account(pending.word));
  const std::size_t whose =
      at.in_annex() ? AnnexOwner::row(state_.annex_owners[at.shard - kShards].load()) : at.row;
  if (Pending::pages(pending.word) == 0 || whose != row) return false;
  const std::size_t kind = is_move(pending.word) ? Move::kind(Pending::pages(pending.word)) : at.kind;
  return kind < kKinds && state_.devices[device].shard_of(at).of[kind].number.load() < pending.number;
}

// A grant that a row has not got yet is entered before its owner leaves or the next one comes, so that no
// late helper enters it afterwards. Above all, pages that were on their way to an extent arrive there.
void ProcessTable::complete_grants() {
  for (std::size_t device = 0; device < state_.header.devices; ++device)
    complete_grant(state_, device, state_.devices[device].pending.load());
}

// From then on nothing that its accounts say counts any more.
void ProcessTable::reap(std::size_t row, std::uint64_t life) {
  Row& of = state_.rows[row];
  const std::string link = link_of(of);
  complete_grants();
  Extents::release_all_of(state_, row, life, *this);
  Signals::forget_row(state_, row, *this, false);
  const bool was_in = Life::state(life) == Life::Live;
  if (of.life.compare_exchange_strong(life, Life::next(life, Life::Free)) && was_in) place_.remove_link(link);
}

// Whether that row has or is about to have anything, if it counts.
bool ProcessTable::holds_pages(std::size_t device, std::size_t row) const {
  if (awaits_grant(device, row)) return true;
  bool any = false;
  for_each_shard(state_, device, row, state_.rows[row].life.load(std::memory_order_acquire),
                 [&](const QuotaShard& shard) {
                   for (const NumberedWord& account : shard.of)
                     any = any || account.word.load(std::memory_order_acquire) != 0;
                 });
  return any;
}

bool ProcessTable::return_what_the_dead_held(std::size_t device) {
  if (!memory_.shared() && memory_.inode() == 0) return false;  // alone on the machine
  bool any = false;
  const std::size_t rows = rows_of(state_);
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == mine_) continue;
    const bool free = Life::state(state_.rows[row].life.load(std::memory_order_acquire)) == Life::Free;
    if ((free || !holds_pages(device, row)) && !Extents::concerns(state_, row)) continue;
    const Whose whose = look(row);
    if (Life::state(whose.life) == Life::Free) {
      Extents::release_all_of(state_, row, whose.life, *this);  // nobody's, so nobody else would
    } else if (whose.dead) {
      reap(row, whose.life);
    } else {
      continue;
    }
    any = true;
  }
  return any;
}

bool ProcessTable::lives(std::size_t row) const {
  if (row == mine_) return true;
  if (row >= kSlots) return false;
  const Whose whose = look(row);
  return Life::state(whose.life) != Life::Free && !whose.dead;
}

std::uint64_t ProcessTable::promised_by_others() const {
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows_of(state_); ++row) {
    const std::uint64_t promised = row == mine_ ? 0 : state_.rows[row].promised.load();
    if (promised != 0 && lives(row)) sum += promised;
  }
  return sum;
}

std::size_t ProcessTable::claim_shard() {
  std::uint32_t claimed = claimed_shards_.load();
  std::uint32_t shard = 0;
  do {
    shard = static_cast<std::uint32_t>(std::countr_one(claimed));
    if (shard >= kShards) {
      const std::optional<std::size_t> annex = claim_annex();
      return annex ? kShards + *annex : 0;
    }
  } while (!claimed_shards_.compare_exchange_weak(claimed, claimed | 1U << shard));
  // Before its first use: sums must not miss it.
  std::atomic<std::uint32_t>& shards = state_.rows[mine_].shards;
  std::uint32_t known = shards.load();
  while (known < shard && !shards.compare_exchange_weak(known, shard)) {
  }
  return shard;
}

void ProcessTable::release_shard(std::size_t shard) {
  if (shard >= kShards) {
    const std::lock_guard lock{claiming_annex_};
    idle_annex_.push_back(static_cast<std::uint16_t>(shard - kShards));  // there was room for it before
  } else if (shard != 0) {
    claimed_shards_.fetch_and(~(1U << shard));
  }
}

// One that this process has and no thread uses, else one that is nobody's, or whose owner is gone.
std::optional<std::size_t> ProcessTable::claim_annex() {
  const std::lock_guard lock{claiming_annex_};
  if (!idle_annex_.empty()) {
    const std::size_t idle = idle_annex_.back();
    idle_annex_.pop_back();
    return idle;
  }
  const std::size_t count = annex_count_.load(std::memory_order_relaxed);
  idle_annex_.reserve(count + 1);
  const std::uint64_t me = Holder::make(mine_, life());
  for (std::size_t i = 0; i < kAnnex; ++i) {
    std::uint64_t owner = state_.annex_owners[i].load(std::memory_order_seq_cst);
    if (owner != 0 && is_current(state_, owner & ~AnnexOwner::kClaiming)) continue;
    if (!state_.annex_owners[i].compare_exchange_strong(owner, me | AnnexOwner::kClaiming)) continue;
    make_ready(i);
    annex_[count].store(static_cast<std::uint16_t>(i), std::memory_order_relaxed);
    annex_count_.store(count + 1, std::memory_order_release);
    // Before its first use: sums must not miss it.
    std::uint32_t used = state_.used_annex.load();
    while (used <= i && !state_.used_annex.compare_exchange_weak(used, static_cast<std::uint32_t>(i) + 1)) {
    }
    state_.annex_owners[i].store(me, std::memory_order_seq_cst);
    return i;
  }
  return std::nullopt;
}

// What its last owner left there counts for nobody, and is not ours. A grant that was on its way to it is
// entered first, so that no late helper does it afterwards.
void ProcessTable::make_ready(std::size_t annex) {
  for (std::size_t device = 0; device < state_.header.devices; ++device) {
    Device& of = state_.devices[device];
    const NumberedWord::Value pending = of.pending.load();
    if (AccountIndex::of(Pending::account(pending.word)).shard == kShards + annex)
      complete_grant(state_, device, pending);
    for (NumberedWord& account : of.annex[annex].of) {
      if (account.word.load() != 0) account.word.store(0);
    }
  }
}

// With the lock of the row's byte held.
bool ProcessTable::settle_in(std::size_t row) {
  Row& of = state_.rows[row];
  const std::uint64_t before = of.life.load(std::memory_order_acquire);
  if (Life::state(before) == Life::Live) {
    // The lock is ours, so its owner is dead, or lives without its descriptors.
    if (!is_me(of) && of.number_space == number_space_ && lives_without_lock(memory_, of)) return false;
    place_.remove_link(link_of(of));
  }
  // First the life, then the words: from here on they count for nobody.
  const std::uint64_t claiming = Life::next(before, Life::Claiming);
  of.life.store(claiming, std::memory_order_seq_cst);
  complete_grants();
  for (std::size_t device = 0; device < state_.header.devices; ++device) {
    for (std::size_t shard = 0; shard < shards_of(state_, row); ++shard) {
      for (NumberedWord& account : state_.devices[device].shards[row][shard].of)
        if (account.word.load() != 0) account.word.store(0);
    }
    if (std::atomic<std::uint64_t>& peak = state_.devices[device].peaks[row]; peak.load() != 0) peak.store(0);
  }
  mine_ = row;
  Extents::release_all_of(state_, row, claiming, *this);
  Signals::forget_row(state_, row, *this, true);
  of.promised.store(0);
  state_.address_use[row].clear();
  of.process = process_;
  of.start = start_;
  of.number_space = number_space_;
  of.joined = joined_;
  const std::string name = platform::process_name();
  put_text(of.name, name.data(), name.size());
  of.shards.store(0, std::memory_order_release);
  std::uint32_t rows = state_.used_rows.load(std::memory_order_acquire);
  while (rows <= row && !state_.used_rows.compare_exchange_weak(rows, static_cast<std::uint32_t>(row) + 1)) {
  }
  of.life.store(Life::next(claiming, Life::Live), std::memory_order_seq_cst);
  return true;
}

bool ProcessTable::claim() {
  if (!memory_.shared()) return settle_in(0);
  for (std::size_t row = 0; row < kSlots; ++row) {
    const Whose whose = look(row);
    if (Life::state(whose.life) != Life::Free && !whose.dead) continue;
    if (!memory_.try_lock(row)) continue;
    if (settle_in(row)) {
      reap_former_self();
      return true;
    }
    memory_.unlock(row);
  }
  return false;
}

// Rows of this process from before it became another program. Others see that their locks are gone, but also
// that the process has the machine in its memory.
void ProcessTable::reap_former_self() {
  const std::size_t rows = rows_of(state_);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t life = state_.rows[row].life.load(std::memory_order_acquire);
    if (row != mine_ && Life::state(life) == Life::Live && is_me(state_.rows[row])) reap(row, life);
  }
}

}  // namespace belay::machine
