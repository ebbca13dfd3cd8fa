#include "machine/sharing_seen.h"

#include <algorithm>
#include <map>

#include "machine/extents.h"
#include "machine/signals.h"

namespace belay::machine {
namespace {

bool is_memory(ShareKind kind) { return kind != ShareKind::Event && kind != ShareKind::Notify; }

class Look {
 public:
  Look(const State& state, const std::function<bool(std::size_t)>& lives) : state_{state} {
    const std::size_t rows = rows_of(state);
    for (std::size_t row = 0; row < rows; ++row) {
      lives_.push_back(Life::state(state.rows[row].life.load(std::memory_order_acquire)) == Life::Live &&
                       lives(row));
    }
  }

  std::vector<SharedSeen> all() {
    for (const ShareSeen& share : all_shares(state_)) add_share(share);
    for (const ShareSeen& part : parts_) add_part(part);
    const std::size_t extents = extents_of(state_);
    for (std::size_t i = 0; i < extents; ++i) add_left_memory(i);
    const std::size_t signals = signals_of(state_);
    for (std::size_t i = 0; i < signals; ++i) add_left_signal(i);
    std::ranges::sort(seen_, {}, [](const SharedSeen& each) {
      return std::tuple{each.exporter, each.serial, each.words[2], each.words[3]};
    });
    return std::move(seen_);
  }

 private:
  bool lives(std::size_t row) const { return row < lives_.size() && lives_[row]; }
  bool holder_lives(std::uint64_t holder) const {
    return holder != 0 && is_current(state_, holder) && lives(Holder::row(holder));
  }
  std::int32_t process_of(std::size_t row) const { return state_.rows[row].process; }
  bool process_lives(std::int32_t process) const {
    for (std::size_t row = 0; row < lives_.size(); ++row) {
      if (lives_[row] && process_of(row) == process) return true;
    }
    return false;
  }

  // Importers own what came with a handle, and borrow what came with a key.
  struct Holders {
    std::vector<std::int32_t> owners, borrowers;
    bool maker = false;
  };
  Holders holders_of(const ExtentRow& extent) const {
    Holders found;
    const std::int32_t maker = extent.process.load();
    for (const auto& each : extent.holders) {
      const std::uint64_t holder = each.load(std::memory_order_seq_cst), who = Holder::who(holder);
      if (!holder_lives(who)) continue;
      const bool borrows = (holder & Holder::kBorrows) != 0;
      const std::int32_t process = process_of(Holder::row(who));
      if (!borrows && process == maker) {
        found.maker = true;
      } else {
        (borrows ? found.borrowers : found.owners).push_back(process);
      }
    }
    std::ranges::sort(found.owners);
    std::ranges::sort(found.borrowers);
    return found;
  }

  void describe_memory(SharedSeen& seen, const ExtentRow& extent) const {
    const std::uint64_t charge = extent.charge.load().word;
    if (const std::size_t row = Charge::row(charge); row != Charge::kNobody && lives(row))
      seen.charged = process_of(row);
    seen.device = static_cast<std::uint32_t>(Charge::device(charge));
    seen.bytes = extent.bytes.load();
  }

  std::vector<std::int32_t> holders_of(const SignalRow& signal, std::size_t maker) const {
    std::vector<std::int32_t> found;
    for (std::size_t row = 0; row < lives_.size(); ++row) {
      const bool holds = (signal.holders[row / 64].load(std::memory_order_seq_cst) >> row % 64 & 1) != 0;
      if (holds && row != maker && lives(row)) found.push_back(process_of(row));
    }
    std::ranges::sort(found);
    return found;
  }

  void add_share(const ShareSeen& share) {
    const bool exporter_lives = holder_lives(share.creator);
    if (!exporter_lives && !share.outlives) return;
    if (share.kind == ShareKind::KeyPart) {
      parts_.push_back(share);
      return;
    }
    SharedSeen seen{.kind = share.kind,
                    .serial = share.words[1],
                    .open = true,
                    .checking = share.checking,
                    .may_import = share.may_import,
                    .exporter = share.process,
                    .exporter_lives = exporter_lives,
                    .words = share.words};
    if (is_memory(share.kind)) {
      if (!extent_of_share_lives(state_, share.words)) return;
      const ExtentRow& extent = state_.extents[share.words[0]];
      Holders holders = holders_of(extent);
      if (!holders.maker && holders.owners.empty()) return;
      seen.importers = std::move(share.kind == ShareKind::Key ? holders.borrowers : holders.owners);
      describe_memory(seen, extent);
      named_[seen.serial] |= share.kind == ShareKind::Key ? kByKey : kByHandle;
    } else {
      if (share.words[0] >= kSignals) return;
      const SignalRow& signal = state_.signals[share.words[0]];
      if (signal.serial.load() != seen.serial) return;
      seen.importers = holders_of(signal, Holder::row(share.creator));
      seen.device = AboutSignal::device(signal.about.load());
      named_[seen.serial] = kByHandle | kByKey;
    }
    seen_.push_back(std::move(seen));
  }

  // A share whose first words lead on to this one is a key of several pieces; parts come in no order.
  void add_part(const ShareSeen& part) {
    named_[part.words[1]] |= kByKey;
    for (SharedSeen& each : seen_) {
      if (each.kind != ShareKind::Key) continue;
      ShareId next = each.words[5];
      for (const ShareSeen* at = find_part(next); at != nullptr; at = find_part(next)) {
        if (at->id == part.id) each.more.push_back(part.words);
        next = at->words[5];
      }
    }
  }
  const ShareSeen* find_part(ShareId id) const {
    const auto found = std::ranges::lower_bound(parts_, id, {}, &ShareSeen::id);
    return found != parts_.end() && found->id == id ? &*found : nullptr;
  }

  // Memory that others have although nobody can import it any more.
  void add_left_memory(std::size_t index) {
    const ExtentRow& extent = state_.extents[index];
    const std::uint64_t serial = extent.serial.load();
    if (!extent_lives(state_, {index, serial})) return;
    const auto found = named_.find(serial);
    const unsigned named = found == named_.end() ? 0 : found->second;
    Holders holders = holders_of(extent);
    const auto add = [&](ShareKind kind, std::vector<std::int32_t>& importers) {
      if (importers.empty()) return;
      SharedSeen seen{.kind = kind,
                      .serial = serial,
                      .exporter = extent.process.load(),
                      .exporter_lives = process_lives(extent.process.load()),
                      .importers = std::move(importers)};
      describe_memory(seen, extent);
      seen_.push_back(std::move(seen));
    };
    if ((named & kByHandle) == 0) add(ShareKind::Handle, holders.owners);
    if ((named & kByKey) == 0) add(ShareKind::Key, holders.borrowers);
  }

  void add_left_signal(std::size_t index) {
    const SignalRow& signal = state_.signals[index];
    const std::uint64_t serial = signal.serial.load();
    if (ExtentLife::state(signal.life.load(std::memory_order_seq_cst)) != ExtentLife::Live ||
        named_.contains(serial))
      return;
    const std::size_t maker = signal.maker.load();
    const std::int32_t lost = static_cast<std::int32_t>(signal.lost.load());
    if (maker >= lives_.size()) return;
    std::vector<std::int32_t> importers = holders_of(signal, maker);
    if (importers.empty()) return;
    const std::uint64_t about = signal.about.load();
    seen_.push_back({.kind = AboutSignal::is_notify(about) ? ShareKind::Notify : ShareKind::Event,
                     .serial = serial,
                     .exporter = lost != 0 ? lost : process_of(maker),
                     .exporter_lives = lost == 0 && lives(maker),
                     .importers = std::move(importers),
                     .device = AboutSignal::device(about)});
  }

  static constexpr unsigned kByHandle = 1, kByKey = 2;
  const State& state_;
  std::vector<bool> lives_;  // by row
  std::vector<SharedSeen> seen_;
  std::vector<ShareSeen> parts_;             // of keys, by their ids
  std::map<std::uint64_t, unsigned> named_;  // how what has that serial can be imported
};

}  // namespace

std::vector<SharedSeen> look_at_sharing(const State& state, const std::function<bool(std::size_t)>& lives) {
  return Look{state, lives}.all();
}

}  // namespace belay::machine
