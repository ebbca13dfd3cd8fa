#include "machine/extents.h"

#include <bit>

#include "machine/page_quota.h"
#include "machine/process_table.h"

namespace belay::machine {
namespace {

bool holds(const ExtentRow& extent, std::size_t row) {
  return (extent.holders[row / 64].load(std::memory_order_seq_cst) >> row % 64 & 1) != 0;
}
void set_holder(ExtentRow& extent, std::size_t row, bool held) {
  const std::uint64_t bit = std::uint64_t{1} << row % 64;
  if (held) {
    extent.holders[row / 64].fetch_or(bit, std::memory_order_seq_cst);
  } else {
    extent.holders[row / 64].fetch_and(~bit, std::memory_order_seq_cst);
  }
}

// The holder who has been on the machine longest, of those who are not known to be dead.
std::size_t heir_of(const State& state, const ExtentRow& extent, const ProcessTable& processes) {
  std::size_t heir = Charge::kNobody;
  for (std::size_t word = 0; word < extent.holders.size(); ++word) {
    for (std::uint64_t bits = extent.holders[word].load(std::memory_order_seq_cst); bits != 0;
         bits &= bits - 1) {
      const std::size_t row = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (!processes.lives(row)) continue;
      if (heir == Charge::kNobody || state.rows[row].joined < state.rows[heir].joined) heir = row;
    }
  }
  return heir;
}

void give_up_charge(ExtentRow& extent) {
  std::uint64_t word = extent.charge.load(std::memory_order_seq_cst);
  while (Charge::row(word) != Charge::kNobody &&
         !extent.charge.compare_exchange_weak(word, Charge::to(word, Charge::kNobody))) {
  }
}

// An end that was begun comes to its end, or is taken back where somebody came in time.
void finish_ending(ExtentRow& extent, std::uint64_t life, std::size_t me, const State& state,
                   const ProcessTable& processes) {
  if (heir_of(state, extent, processes) != Charge::kNobody) {
    extent.life.compare_exchange_strong(life, ExtentLife::next(life, ExtentLife::Live, me));
    return;
  }
  give_up_charge(extent);
  extent.life.compare_exchange_strong(life, ExtentLife::next(life, ExtentLife::Free, me));
}

// Somebody holds it no longer: the pages pass to another, or it is over. Until nothing is left to do: others
// come and go meanwhile.
void settle(State& state, ExtentRow& extent, std::size_t me, const ProcessTable& processes) {
  for (;;) {
    std::uint64_t life = extent.life.load(std::memory_order_seq_cst);
    if (ExtentLife::state(life) != ExtentLife::Live) {
      const std::size_t actor = ExtentLife::row(life);
      if (ExtentLife::state(life) == ExtentLife::Free || (actor != me && processes.lives(actor))) return;
      finish_ending(extent, life, me, state, processes);
      continue;
    }
    const std::size_t heir = heir_of(state, extent, processes);
    if (heir == Charge::kNobody) {
      const std::uint64_t ending = ExtentLife::next(life, ExtentLife::Ending, me);
      if (extent.life.compare_exchange_strong(life, ending))
        finish_ending(extent, ending, me, state, processes);
      continue;
    }
    std::uint64_t word = extent.charge.load(std::memory_order_seq_cst);
    const std::size_t charged = Charge::row(word);
    if (charged == Charge::kNobody || (holds(extent, charged) && processes.lives(charged))) return;
    extent.charge.compare_exchange_strong(word, Charge::to(word, heir));
  }
}

}  // namespace

void complete_move(State& state, std::size_t device, std::uint64_t pending) {
  const AccountIndex from = AccountIndex::of(Pending::account(pending));
  const std::size_t index = Pending::pages(pending) - 1;
  if (index >= kExtents) return;
  ExtentRow& extent = state.extents[index];
  // The account is the last to change. So what was read before its turn is seen to be the old one is as it
  // was before the move, or in the middle of it; and what was read while the move stood belongs to it.
  std::uint64_t charge = extent.charge.load(std::memory_order_seq_cst);
  const std::uint64_t wanted = extent.wanted.load(std::memory_order_seq_cst);
  std::atomic<std::uint64_t>& account =
      state.devices[device].shards[from.row][from.shard].of[Charge::kind(wanted)];
  std::uint64_t word = account.load(std::memory_order_seq_cst);
  if (state.devices[device].pending.load(std::memory_order_seq_cst) != pending) return;
  if (Account::turn(word) != Pending::turn(pending)) return;
  if (Charge::row(charge) == Charge::kNobody) {
    extent.charge.compare_exchange_strong(
        charge, Charge::make(Charge::row(wanted), device, Charge::kind(wanted), Charge::pages(wanted),
                             Charge::turn(charge) + 1));
  }
  do {
    const std::uint64_t next = Account::make(Account::used(word) - Charge::pages(wanted),
                                             Account::credit(word), Account::turn(word) + 1);
    if (account.compare_exchange_weak(word, next)) return;
  } while (Account::turn(word) == Pending::turn(pending));
}

void add_charges(const State& state, std::size_t device, std::array<std::uint64_t, kKinds>& use,
                 std::size_t row) {
  const std::size_t extents = extents_of(state);
  for (std::size_t i = 0; i < extents; ++i) {
    const std::uint64_t word = state.extents[i].charge.load(std::memory_order_seq_cst);
    const std::size_t charged = Charge::row(word);
    if (charged == Charge::kNobody || Charge::device(word) != device) continue;
    if (row == Charge::kNobody || row == charged) use[Charge::kind(word)] += Charge::pages(word);
  }
}

std::optional<ExtentName> Extents::make(PageQuota& quota, std::size_t kind, std::uint64_t pages,
                                        std::size_t shard, const ExtentPlace& place) {
  const std::size_t me = processes_.mine();
  for (std::size_t i = 0; i < kExtents; ++i) {
    ExtentRow& extent = state_.extents[i];
    std::uint64_t life = extent.life.load(std::memory_order_seq_cst);
    if (ExtentLife::state(life) != ExtentLife::Free) continue;
    if (!extent.life.compare_exchange_strong(life, ExtentLife::next(life, ExtentLife::Making, me))) continue;
    const ExtentName name{i, state_.serials.fetch_add(1) + 1};
    extent.serial.store(name.serial);
    extent.offset.store(place.offset);
    extent.bytes.store(place.bytes);
    extent.process.store(place.process);
    extent.file.store(place.file);
    extent.wanted.store(Charge::make(me, 0, kind, pages, 0));
    std::uint32_t used = state_.used_extents.load();
    while (used <= i && !state_.used_extents.compare_exchange_weak(used, static_cast<std::uint32_t>(i) + 1)) {
    }
    set_holder(extent, me, true);
    quota.move_to_extent(i, kind, shard);
    life = extent.life.load();
    extent.life.store(ExtentLife::next(life, ExtentLife::Live, me));
    return name;
  }
  return std::nullopt;
}

bool Extents::lives(const ExtentName& name) const {
  const ExtentRow& extent = state_.extents[name.index];
  const ExtentLife::State state = ExtentLife::state(extent.life.load(std::memory_order_seq_cst));
  return (state == ExtentLife::Live || state == ExtentLife::Ending) && extent.serial.load() == name.serial;
}

// First the bit, then the look: who puts an end to it looks for bits after it has said so.
std::optional<ExtentPlace> Extents::hold(const ExtentName& name) {
  if (name.index >= kExtents) return std::nullopt;
  ExtentRow& extent = state_.extents[name.index];
  const std::size_t me = processes_.mine();
  if (!lives(name)) return std::nullopt;
  set_holder(extent, me, true);
  const bool is_live = ExtentLife::state(extent.life.load(std::memory_order_seq_cst)) == ExtentLife::Live &&
                       extent.serial.load() == name.serial;
  if (is_live)
    return ExtentPlace{extent.offset.load(), extent.bytes.load(), extent.process.load(), extent.file.load()};
  release(name);
  return std::nullopt;
}

void Extents::release(const ExtentName& name) {
  ExtentRow& extent = state_.extents[name.index];
  set_holder(extent, processes_.mine(), false);
  settle(state_, extent, processes_.mine(), processes_);
}

std::size_t Extents::holders(const ExtentName& name) const {
  std::size_t count = 0;
  for (const auto& word : state_.extents[name.index].holders)
    count += static_cast<std::size_t>(std::popcount(word.load(std::memory_order_seq_cst)));
  return lives(name) ? count : 0;
}

bool Extents::concerns(const State& state, std::size_t row) {
  const std::size_t extents = extents_of(state);
  for (std::size_t i = 0; i < extents; ++i) {
    const ExtentRow& extent = state.extents[i];
    if (holds(extent, row) || Charge::row(extent.charge.load(std::memory_order_seq_cst)) == row) return true;
  }
  return false;
}

void Extents::release_all_of(State& state, std::size_t row, const ProcessTable& processes) {
  const std::size_t extents = extents_of(state);
  for (std::size_t i = 0; i < extents; ++i) {
    ExtentRow& extent = state.extents[i];
    const std::uint64_t life = extent.life.load(std::memory_order_seq_cst);
    const bool acts = ExtentLife::state(life) != ExtentLife::Free &&
                      ExtentLife::state(life) != ExtentLife::Live && ExtentLife::row(life) == row;
    if (!acts && !holds(extent, row) && Charge::row(extent.charge.load()) != row) continue;
    set_holder(extent, row, false);
    settle(state, extent, processes.mine(), processes);
  }
}

}  // namespace belay::machine
