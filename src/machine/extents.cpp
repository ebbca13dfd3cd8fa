#include "machine/extents.h"

#include <algorithm>
#include <mutex>

#include "machine/page_quota.h"
#include "machine/process_table.h"

namespace belay::machine {
namespace {

// A holder whose row has another life by now, or whose process is dead, holds nothing.
bool holds(const State& state, std::uint64_t holder, const ProcessTable& processes) {
  return holder != 0 && is_current(state, Holder::who(holder)) &&
         processes.lives(Holder::row(Holder::who(holder)));
}

// Puts one word in place of another, somewhere among the holders.
bool change_holder(ExtentRow& extent, std::uint64_t from, std::uint64_t to) {
  for (std::size_t i = 0; i < kHolders; ++i) {
    auto& each = extent.holders[i];
    if (from != 0 && each.load(std::memory_order_seq_cst) == from) extent.descriptors[i].store(0);
    std::uint64_t expected = from;
    if (each.load(std::memory_order_seq_cst) == from && each.compare_exchange_strong(expected, to))
      return true;
  }
  return false;
}

struct HeldBy {
  bool any = false;                    // borrowers, too
  std::size_t heir = Charge::kNobody;  // who has been on the machine longest
  bool charged = false;                // the process that the pages are charged to is among them
};
HeldBy held_by(const State& state, const ExtentRow& extent, std::size_t charged,
               const ProcessTable& processes) {
  HeldBy found;
  for (const auto& each : extent.holders) {
    const std::uint64_t holder = each.load(std::memory_order_seq_cst);
    if (!holds(state, holder, processes)) continue;
    found.any = true;
    if ((holder & Holder::kBorrows) != 0) continue;
    const std::size_t row = Holder::row(holder);
    found.charged = found.charged || row == charged;
    if (found.heir == Charge::kNobody || state.rows[row].joined < state.rows[found.heir].joined)
      found.heir = row;
  }
  return found;
}

// Only by the one process that puts an end to it: no other changes the charge meanwhile.
void finish_ending(ExtentRow& extent, std::uint64_t life, std::size_t me, const State& state,
                   const ProcessTable& processes) {
  // Taken back where somebody came in time.
  const bool held = held_by(state, extent, Charge::kNobody, processes).any;
  if (!held) {
    NumberedWord::Value charge = extent.charge.load();
    while (Charge::row(charge.word) != Charge::kNobody &&
           !extent.charge.exchange(charge, Charge::to(charge, Charge::kNobody)))
      charge = extent.charge.load();
    for (auto& each : extent.holders) {
      std::uint64_t gone = each.load(std::memory_order_seq_cst);
      if (gone != 0 && !processes.lives(Holder::row(Holder::who(gone))))
        each.compare_exchange_strong(gone, 0);
    }
  }
  extent.life.compare_exchange_strong(life,
                                      ExtentLife::next(life, held ? ExtentLife::Live : ExtentLife::Free, me));
}

// Somebody holds it no longer: the pages pass to another, or it is over. Until nothing is left to do: others
// come and go meanwhile. An end that was begun, or an extent that was never made, is finished by the one
// process that takes it over from a dead one.
void settle(State& state, ExtentRow& extent, std::size_t me, const ProcessTable& processes) {
  for (;;) {
    std::uint64_t life = extent.life.load(std::memory_order_seq_cst);
    const ExtentLife::State is = ExtentLife::state(life);
    const std::size_t actor = ExtentLife::row(life);
    if (is == ExtentLife::Free) return;
    if (is != ExtentLife::Live && actor != me && processes.lives(actor)) return;
    const NumberedWord::Value charge = extent.charge.load();
    const std::size_t charged = Charge::row(charge.word);
    const HeldBy held = held_by(state, extent, charged, processes);
    if (is != ExtentLife::Live || !held.any) {
      const std::uint64_t ending = ExtentLife::next(life, ExtentLife::Ending, me);
      if (extent.life.compare_exchange_strong(life, ending))
        finish_ending(extent, ending, me, state, processes);
      continue;
    }
    if (held.charged || charged == Charge::kNobody) return;
    if (extent.life.load(std::memory_order_seq_cst) != life) continue;  // the charge may be another's
    extent.charge.exchange(charge, Charge::to(charge, held.heir));
  }
}

}  // namespace

void complete_move(State& state, std::size_t device, const NumberedWord::Value& pending) {
  const AccountIndex from = AccountIndex::of(Pending::account(pending.word));
  const std::uint64_t move = Pending::pages(pending.word);
  const std::size_t index = Move::extent(move), kind = Move::kind(move);
  if (index >= kExtents || kind >= kKinds) return;
  ExtentRow& extent = state.extents[index];
  // The account is the last to change. So what was read before its number is seen to be lower is as it was
  // before the move, or in the middle of it; and what was read while the move stood belongs to it.
  const NumberedWord::Value charge = extent.charge.load();
  const std::uint64_t wanted = extent.wanted.load(std::memory_order_seq_cst);
  NumberedWord& account = state.devices[device].shard_of(from).of[kind];
  NumberedWord::Value now = account.load();
  if (state.devices[device].pending.number.load(std::memory_order_seq_cst) != pending.number) return;
  if (now.number >= pending.number) return;
  if (Charge::row(charge.word) == Charge::kNobody) {
    extent.charge.exchange(
        charge, {Charge::make(Charge::row(wanted), device, kind, Charge::pages(wanted)), charge.number + 1});
  }
  for (; now.number < pending.number; now = account.load()) {
    const std::uint64_t used = (Account::used(now.word) - Charge::pages(wanted)) & Account::kField;
    if (account.exchange(now, {Account::make(used, Account::credit(now.word)), pending.number})) return;
  }
}

void add_charges(const State& state, std::size_t device, std::array<std::uint64_t, kKinds>& use,
                 std::size_t row) {
  const std::size_t extents = extents_of(state);
  for (std::size_t i = 0; i < extents; ++i) {
    const std::uint64_t word = state.extents[i].charge.word.load(std::memory_order_seq_cst);
    const std::size_t charged = Charge::row(word);
    if (charged == Charge::kNobody || Charge::device(word) != device) continue;
    if (row == Charge::kNobody || row == charged) use[Charge::kind(word)] += Charge::pages(word);
  }
}

std::optional<ExtentName> Extents::make(PageQuota& quota, std::size_t kind, std::uint64_t pages,
                                        std::size_t shard, const ExtentPlace& place) {
  const std::lock_guard lock{processes_.changing_extents()};
  const std::size_t me = processes_.mine();
  for (std::size_t looked = 0, start = first_free_; looked < kExtents; ++looked) {
    const std::size_t i = (start + looked) % kExtents;
    ExtentRow& extent = state_.extents[i];
    std::uint64_t life = extent.life.load(std::memory_order_seq_cst);
    if (ExtentLife::state(life) != ExtentLife::Free) continue;
    if (!extent.life.compare_exchange_strong(life, ExtentLife::next(life, ExtentLife::Making, me))) continue;
    const ExtentName name{i, state_.serials.fetch_add(1) + 1};
    extent.serial.store(name.serial);
    extent.offset.store(place.offset);
    extent.bytes.store(place.bytes);
    extent.process.store(place.file.process);
    extent.descriptor.store(place.file.descriptor);
    extent.inode.store(place.file.inode);
    extent.wanted.store(Charge::make(me, 0, kind, pages));
    std::uint32_t used = state_.used_extents.load();
    while (used <= i && !state_.used_extents.compare_exchange_weak(used, static_cast<std::uint32_t>(i) + 1)) {
    }
    // Of the last extent here only those are left who come too late, and find that out.
    if (!change_holder(extent, 0, Holder::make(me, processes_.life()))) {
      extent.life.store(ExtentLife::next(extent.life.load(), ExtentLife::Free, me));
      continue;
    }
    if (pages != 0) quota.move_to_extent(i, kind, shard);
    extent.life.store(ExtentLife::next(extent.life.load(), ExtentLife::Live, me));
    first_free_ = i + 1;
    return name;
  }
  return std::nullopt;
}

bool Extents::lives(const ExtentName& name) const { return extent_lives(state_, name); }

bool extent_lives(const State& of, const ExtentName& name) {
  const ExtentRow& extent = of.extents[name.index];
  const ExtentLife::State state = ExtentLife::state(extent.life.load(std::memory_order_seq_cst));
  return (state == ExtentLife::Live || state == ExtentLife::Ending) && extent.serial.load() == name.serial;
}

std::uint64_t Extents::me(As as) const {
  return Holder::make(processes_.mine(), processes_.life()) | (as == As::Borrower ? Holder::kBorrows : 0);
}

bool Extents::lives_now(const ExtentName& name) {
  if (!lives(name)) return false;
  const std::lock_guard lock{processes_.changing_extents()};
  settle(state_, state_.extents[name.index], processes_.mine(), processes_);
  return lives(name);
}

// First the word, then the look: who puts an end to it looks for holders after it has said so.
std::optional<HeldExtent> Extents::hold(const ExtentName& name, As as) {
  if (name.index >= kExtents || !lives(name)) return std::nullopt;
  const std::lock_guard lock{processes_.changing_extents()};
  ExtentRow& extent = state_.extents[name.index];
  const std::uint64_t mine = me(as);
  if (!change_holder(extent, 0, mine)) return std::nullopt;
  const bool is_live = ExtentLife::state(extent.life.load(std::memory_order_seq_cst)) == ExtentLife::Live &&
                       extent.serial.load() == name.serial;
  if (is_live) {
    const std::uint64_t charge = extent.charge.word.load(std::memory_order_seq_cst);
    return HeldExtent{{extent.offset.load(),
                       extent.bytes.load(),
                       {extent.process.load(), extent.descriptor.load(), extent.inode.load()}},
                      Charge::device(charge),
                      Charge::kind(charge)};
  }
  change_holder(extent, mine, 0);
  settle(state_, extent, processes_.mine(), processes_);
  return std::nullopt;
}

void Extents::release(const ExtentName& name, As as) {
  const std::lock_guard lock{processes_.changing_extents()};
  ExtentRow& extent = state_.extents[name.index];
  if (extent.serial.load() != name.serial) return;
  change_holder(extent, me(as), 0);
  settle(state_, extent, processes_.mine(), processes_);
  first_free_ = std::min(first_free_, name.index);
}

void Extents::show_file(const ExtentName& name, std::int32_t descriptor) {
  const std::lock_guard lock{processes_.changing_extents()};
  ExtentRow& extent = state_.extents[name.index];
  for (std::size_t i = 0; i < kHolders; ++i) {
    if (Holder::who(extent.holders[i].load()) == me(As::Owner)) extent.descriptors[i].store(descriptor);
  }
}

// What stands there may be another's by now: who opens it compares the inode.
std::vector<platform::FileName> Extents::files(const ExtentName& name) const {
  const ExtentRow& extent = state_.extents[name.index];
  const std::uint64_t inode = extent.inode.load();
  std::vector<platform::FileName> all{{extent.process.load(), extent.descriptor.load(), inode}};
  for (std::size_t i = 0; i < kHolders; ++i) {
    const std::uint64_t holder = extent.holders[i].load();
    const std::int32_t descriptor = extent.descriptors[i].load();
    if (holder != 0 && descriptor != 0)
      all.push_back({state_.rows[Holder::row(Holder::who(holder))].process, descriptor, inode});
  }
  return all;
}

namespace {
// Whether a row, in whichever of its lives, has to do with an extent.
bool concerns(const ExtentRow& extent, std::size_t row) {
  const std::uint64_t life = extent.life.load(std::memory_order_seq_cst);
  const bool acts = ExtentLife::state(life) != ExtentLife::Free &&
                    ExtentLife::state(life) != ExtentLife::Live && ExtentLife::row(life) == row;
  const auto is_of_row = [row](const auto& each) {
    const std::uint64_t holder = each.load(std::memory_order_seq_cst);
    return holder != 0 && Holder::row(Holder::who(holder)) == row;
  };
  return acts || Charge::row(extent.charge.word.load(std::memory_order_seq_cst)) == row ||
         std::any_of(extent.holders.begin(), extent.holders.end(), is_of_row);
}
}  // namespace

bool Extents::concerns(const State& state, std::size_t row) {
  const std::size_t extents = extents_of(state);
  return std::any_of(state.extents.begin(), state.extents.begin() + static_cast<std::ptrdiff_t>(extents),
                     [row](const ExtentRow& each) { return machine::concerns(each, row); });
}

// Holders are known by their life, so that a late reaper takes nothing from the row's next owner.
void Extents::release_all_of(State& state, std::size_t row, std::uint64_t life,
                             const ProcessTable& processes) {
  const std::lock_guard lock{processes.changing_extents()};
  const std::size_t extents = extents_of(state);
  for (std::size_t i = 0; i < extents; ++i) {
    ExtentRow& extent = state.extents[i];
    if (!machine::concerns(extent, row)) continue;
    for (auto& each : extent.holders) {
      std::uint64_t holder = each.load(std::memory_order_seq_cst);
      const std::uint64_t who = Holder::who(holder);
      const bool gone = holder != 0 && Holder::row(who) == row && who <= Holder::make(row, life);
      if (gone) each.compare_exchange_strong(holder, 0);
    }
    settle(state, extent, processes.mine(), processes);
  }
}

}  // namespace belay::machine
