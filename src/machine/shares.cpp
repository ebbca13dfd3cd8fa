#include "machine/shares.h"

#include <algorithm>
#include <mutex>

#include "machine/extents.h"
#include "machine/process_table.h"
#include "platform/process.h"

namespace belay::machine {
namespace {

constexpr int kDraws = 4096;  // of secrets: even with one row in a hundred free, one of them finds it

struct About {
  static constexpr std::uint64_t kChecking = 1 << 8, kOutlives = 1 << 9;
  static constexpr unsigned kNamedShift = 32;
  static constexpr std::uint64_t kNamed = std::uint64_t{1} << kNamedShift;
};

std::size_t row_of(ShareId id) { return id % kShares; }

// The share that has it now is that one, and no other ever has its number.
bool has(const State& state, ShareId id) {
  return id != 0 && state.shares[row_of(id)].secret[0].load(std::memory_order_seq_cst) == id;
}

template <std::size_t N>
void mark(std::array<std::atomic<std::uint64_t>, N>& bits, std::size_t bit) {
  bits[bit / 64].fetch_or(std::uint64_t{1} << bit % 64);
}
template <std::size_t N, class Visit>
void for_each_marked(const std::array<std::atomic<std::uint64_t>, N>& bits, Visit&& visit) {
  for (std::size_t word = 0; word < N; ++word) {
    for (std::uint64_t left = bits[word].load(); left != 0; left &= left - 1)
      visit(word * 64 + static_cast<std::size_t>(__builtin_ctzll(left)));
  }
}

// The same process always stands in the same group of a share.
std::size_t group_of(ShareId id, std::int32_t process) {
  std::uint64_t mixed = (id ^ static_cast<std::uint32_t>(process)) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9U;
  return mixed >> 32 & (kPermissions / kGroup - 1);
}

std::optional<Share> read_share(const State& state, std::size_t row) {
  const ShareRow& of = state.shares[row];
  const ShareId id = of.secret[0].load(std::memory_order_seq_cst);
  const std::uint64_t owner = of.owner.load(std::memory_order_seq_cst);
  if (id == 0 || row_of(id) != row || owner == 0 || (owner & ShareRow::kClaiming) != 0) return std::nullopt;
  const std::uint64_t about = of.about.load();
  Share share{.id = id,
              .kind = static_cast<ShareKind>(about & 0xFF),
              .checking = (about & About::kChecking) != 0,
              .outlives = (about & About::kOutlives) != 0,
              .named = static_cast<std::uint32_t>(about >> About::kNamedShift),
              .creator = owner,
              .process = static_cast<std::int32_t>(of.process.load()),
              .number_space = of.number_space.load(),
              .words = {}};
  std::ranges::transform(of.words, share.words.begin(), [](const auto& word) { return word.load(); });
  if (!has(state, id) || of.owner.load(std::memory_order_seq_cst) != owner) return std::nullopt;
  return share;
}

}  // namespace

bool extent_of_share_lives(const State& state, const ShareWords& words) {
  return words[0] < kExtents && extent_lives(state, {words[0], words[1]});
}

std::vector<ShareSeen> all_shares(const State& state) {
  std::vector<ShareSeen> all;
  for_each_marked(state.used_shares, [&](std::size_t row) {
    if (const std::optional<Share> share = read_share(state, row)) all.push_back({*share, {}});
  });
  std::ranges::sort(all, {}, &Share::id);
  for_each_marked(state.used_groups, [&](std::size_t group) {
    for (std::size_t i = group * kGroup; i < (group + 1) * kGroup; ++i) {
      const NumberedWord::Value one = state.permissions[i].load();
      const auto found = std::ranges::lower_bound(all, one.number, {}, &Share::id);
      if (found != all.end() && found->id == one.number)
        found->may_import.push_back(Permission::process(one.word));
    }
  });
  for (ShareSeen& each : all) std::ranges::sort(each.may_import);
  return all;
}

bool Shares::owner_lives(std::uint64_t owner) const {
  owner &= ~ShareRow::kClaiming;
  return owner != 0 && is_current(state_, owner) && processes_.lives(Holder::row(owner));
}

std::optional<Share> Shares::read(std::size_t row) const { return read_share(state_, row); }

bool Shares::is_mine(const Share& share) const {
  return share.creator == Holder::make(processes_.mine(), processes_.life());
}

// Of the living nothing is taken, not even what has ended: they might use the row again meanwhile. The words
// of the dead change no more.
bool Shares::is_free(std::size_t row, std::uint64_t owner) const {
  if (owner == 0) return true;
  if (owner_lives(owner)) return false;
  const std::optional<Share> share = read(row);
  return !share || !share->outlives || !extent_of_share_lives(state_, share->words);
}

std::optional<Secret> Shares::publish(const Publishing& what) {
  const std::lock_guard lock{processes_.changing_extents()};
  const std::uint64_t me = Holder::make(processes_.mine(), processes_.life());
  for (int draw = 0; draw < kDraws; ++draw) {
    Secret secret{};
    const std::size_t words = what.one_word ? 1 : secret.size();
    if (!platform::random_bytes(secret.data(), words * sizeof secret[0])) return std::nullopt;
    if (secret[0] == 0) continue;
    const std::size_t at = row_of(secret[0]);
    ShareRow& row = state_.shares[at];
    std::uint64_t owner = row.owner.load(std::memory_order_seq_cst);
    if (!is_free(at, owner) || !row.owner.compare_exchange_strong(owner, me | ShareRow::kClaiming)) continue;
    row.secret[0].store(0, std::memory_order_seq_cst);  // of the last share here
    mark(state_.used_shares, at);
    for (std::size_t i = 1; i < secret.size(); ++i) row.secret[i].store(secret[i]);
    row.process.store(state_.rows[processes_.mine()].process);
    row.number_space.store(state_.rows[processes_.mine()].number_space);
    row.about.store(static_cast<std::uint64_t>(what.kind) | (what.checking ? About::kChecking : 0) |
                    (what.outlives ? About::kOutlives : 0));
    for (std::size_t i = 0; i < what.words.size(); ++i) row.words[i].store(what.words[i]);
    row.secret[0].store(secret[0], std::memory_order_seq_cst);
    row.owner.store(me, std::memory_order_seq_cst);
    return secret;
  }
  return std::nullopt;
}

std::optional<Share> Shares::find(ShareKind kind, const Secret& secret) const {
  if (!has(state_, secret[0])) return std::nullopt;
  const ShareRow& row = state_.shares[row_of(secret[0])];
  std::uint64_t differ = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) differ |= row.secret[i].load() ^ secret[i];
  const std::optional<Share> share = read(row_of(secret[0]));
  if (differ != 0 || !share || share->id != secret[0] || share->kind != kind || !stands(*share))
    return std::nullopt;
  return share;
}

std::optional<Share> Shares::find(ShareId id) const {
  const std::optional<Share> share = read(row_of(id));
  return share && share->id == id && stands(*share) ? share : std::nullopt;
}

bool Shares::stands(const Share& share) const {
  if (!has(state_, share.id)) return false;
  if (share.outlives) return extent_of_share_lives(state_, share.words);
  return state_.shares[row_of(share.id)].owner.load(std::memory_order_seq_cst) == share.creator &&
         owner_lives(share.creator);
}

void Shares::end(ShareId id) {
  const std::lock_guard lock{processes_.changing_extents()};
  ShareRow& row = state_.shares[row_of(id)];
  const bool mine =
      row.owner.load(std::memory_order_seq_cst) == Holder::make(processes_.mine(), processes_.life());
  if (!mine || !has(state_, id)) return;
  row.secret[0].store(0, std::memory_order_seq_cst);
  row.owner.store(0, std::memory_order_seq_cst);
}

bool Shares::allow(ShareId id, std::span<const std::int32_t> processes, std::size_t most) {
  const std::lock_guard lock{processes_.changing_extents()};
  const std::uint64_t now = platform::ticks_now();
  std::atomic<std::uint64_t>& about = state_.shares[row_of(id)].about;
  const auto name = [&](std::int32_t process) {
    const std::size_t group = group_of(id, process);
    mark(state_.used_groups, group);
    const std::span<NumberedWord> places{&state_.permissions[group * kGroup], kGroup};
    const NumberedWord::Value wanted{Permission::make(process, now), id};
    const auto is_same = [&](const NumberedWord::Value& one) {
      return one.number == id && Permission::process(one.word) == process;
    };
    for (NumberedWord& place : places) {
      if (const NumberedWord::Value one = place.load(); is_same(one) && place.exchange(one, wanted))
        return true;  // named before
    }
    if (about.load() >> About::kNamedShift >= most) return false;
    for (const bool of_the_dead : {false, true}) {
      for (NumberedWord& place : places) {
        const NumberedWord::Value one = place.load();
        const bool is_free = !has(state_, one.number) ||
                             (of_the_dead && this->is_free(row_of(one.number),
                                                           state_.shares[row_of(one.number)].owner.load()));
        if (!is_free || !place.exchange(one, wanted)) continue;
        about.fetch_add(About::kNamed);
        return true;
      }
    }
    return false;
  };
  return std::ranges::all_of(processes, name);
}

Shares::Answer Shares::allows(const Share& share) const {
  if (!share.checking) return Answer::Yes;
  const Row& me = state_.rows[processes_.mine()];
  if (me.number_space != share.number_space) return Answer::OtherNumbers;
  const std::size_t group = group_of(share.id, me.process);
  Answer answer = Answer::NotNamed;
  for (std::size_t i = group * kGroup; i < (group + 1) * kGroup; ++i) {
    const NumberedWord::Value one = state_.permissions[i].load();
    if (one.number != share.id || Permission::process(one.word) != me.process) continue;
    if (Permission::ticks(one.word) >= me.start) return Answer::Yes;
    answer = Answer::NamedBeforeItStarted;
  }
  return answer;
}

}  // namespace belay::machine
