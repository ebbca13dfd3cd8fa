// What the processes on one machine share: a header that never changes, a row for each process, and for each
// device the shards of each process, with an account for each kind of page.
//
// Every process may be killed or stopped between any two instructions. So there is no lock and nothing to
// repair: each fact is one word, and what a process holds counts as long as the life of its row says that it
// is live.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/size.h"
#include "machine/numbered_word.h"
#include "platform/shared_word.h"

namespace belay::machine {

inline constexpr std::size_t kSlots = 1024;  // processes at once
inline constexpr std::size_t kShards = 32;   // of a process: one in common, the others for a thread each
inline constexpr std::size_t kAnnex = 8192;  // shards for processes with more threads, whoever comes first
inline constexpr std::size_t kKinds = 6;     // of pages: (4 KB, 2 MB, 1 GB) x (ordinary, P2P)
inline constexpr std::size_t kMostDevices = 64;  // a power of two
inline constexpr std::size_t kExtents = 16384;   // that several processes may hold, at once
inline constexpr std::size_t kHolders = 64;      // of one extent
inline constexpr std::size_t kShares = 32768;    // what processes publish to others (shares.h)
inline constexpr std::size_t kGroup = 64;        // of permissions: where one may stand
inline constexpr std::size_t kPermissions = kGroup * 4096;
inline constexpr std::size_t kSignals = 16384;  // events and notifies of several processes, at once
inline constexpr std::size_t kWaits = 2048;     // of one process, for what others do
inline constexpr std::uint32_t kLayout = 9;     // also in the name of the directory where processes meet
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

constexpr std::size_t kind_of(std::size_t page, bool p2p) { return page * 2 + (p2p ? 1 : 0); }

// In 4 KB pages.
struct Limits {
  std::uint64_t total = 0;
  std::array<std::uint64_t, 3> of_page{kNoLimit, kNoLimit, kNoLimit};  // 4 KB, 2 MB, 1 GB
  std::uint64_t p2p = kNoLimit;
};

struct Header {
  std::array<char, 8> magic;
  std::uint32_t layout, devices;
  std::uint64_t generation, bytes;
  Limits limits;
  std::array<char, 16> product;
  std::array<char, 32> soc;
  std::array<char, 640> settings;  // as words, to compare and to show
  std::array<char, 32> founder_name;
  std::int32_t founder, padding;
  std::uint64_t check;  // over everything above
};
inline constexpr std::array<char, 8> kMagic{'b', 'e', 'l', 'a', 'y', 'm', 'a', 'c'};

// A row is free, being claimed, or live. Each change makes a new word, so that whoever slept over a change
// notices.
struct Life {
  enum State : std::uint64_t { Free = 0, Claiming = 1, Live = 2 };
  static State state(std::uint64_t life) { return static_cast<State>(life & 3); }
  static std::uint64_t next(std::uint64_t life, State state) { return ((life >> 2) + 1) << 2 | state; }
};

struct alignas(128) Row {
  std::atomic<std::uint64_t> life;
  std::uint64_t start;  // of the process, see platform/process.h
  std::uint64_t number_space;
  std::uint64_t joined;  // when, which makes the name of its link unlike any other
  std::int32_t process;
  std::atomic<std::uint32_t>
      shards;  // that were ever used, beside the common one: sums need not look further
  // Bytes of the host's memory that this process may fill and has not filled yet, so that others leave them
  // to it (memory/host_room.h).
  std::atomic<std::uint64_t> promised;
  std::array<char, 32> name;
};

// An account is one word: pages in use, and pages granted beyond those (credit). Its number is that of the
// last grant that was entered. All that is granted, used or not, is never more than the limits.
//
// A block may be freed into another shard than it was taken from, so what one account has in use may be less
// than nothing: the field wraps, and only the sum over a process's shards is a number of pages.
struct Account {
  static constexpr unsigned kBits = 32;
  static constexpr std::uint64_t kField = (std::uint64_t{1} << kBits) - 1;
  static std::uint64_t used(std::uint64_t word) { return word >> kBits; }
  static std::uint64_t credit(std::uint64_t word) { return word & kField; }
  static std::uint64_t granted(std::uint64_t word) { return (used(word) + credit(word)) & kField; }
  static std::uint64_t make(std::uint64_t used, std::uint64_t credit) { return used << kBits | credit; }
  // Adding this turns so many pages of credit into use, whatever else the word holds.
  static constexpr std::uint64_t step(std::uint64_t pages) { return (pages << kBits) - pages; }
};

// A grant under way: to which account, how many pages, and whether they are credit or in use at once. Grants
// are numbered; an account whose number is lower than that of a grant has not got it yet.
struct Pending {
  static constexpr unsigned kAccountBits = 19;
  static constexpr unsigned kCreditShift = kAccountBits + Account::kBits;
  static std::uint64_t make(std::uint64_t account, std::uint64_t pages, bool as_credit = false) {
    return account | pages << kAccountBits | std::uint64_t{as_credit ? 1U : 0U} << kCreditShift;
  }
  static std::uint64_t account(std::uint64_t word) { return word & ((1U << kAccountBits) - 1); }
  static std::uint64_t pages(std::uint64_t word) { return word >> kAccountBits & Account::kField; }
  static bool as_credit(std::uint64_t word) { return (word >> kCreditShift & 1) != 0; }
};

// Where an account stands, as a number. Shards from kShards on are in the annex, and any row's.
struct AccountIndex {
  std::size_t row, shard, kind;
  bool in_annex() const { return shard >= kShards; }
  std::uint64_t number() const {
    return (in_annex() ? kSlots * kShards + shard - kShards : row * kShards + shard) * 8 + kind;
  }
  static AccountIndex of(std::uint64_t number) {
    const std::size_t place = number / 8, kind = number % 8 < kKinds ? number % 8 : kKinds - 1;
    if (place < kSlots * kShards) return {place / kShards, place % kShards, kind};
    return {kSlots, kShards + (place - kSlots * kShards) % kAnnex, kind};
  }
};
static_assert((kSlots * kShards + kAnnex) * 8 <= 1U << Pending::kAccountBits && kKinds <= 8);

// A pending word may also say that pages in use pass from an account to an extent. That and the kind of page
// are then named in place of how many, which is written in the extent. The kind is not read from there: the
// word stands until the next one, and the extent may be another's by then.
struct Move {
  static constexpr unsigned kKindShift = 24;
  static std::uint64_t make(std::size_t extent, std::size_t kind) {
    return (extent + 1) | kind << kKindShift;
  }
  static std::size_t extent(std::uint64_t pages) { return (pages & ((1U << kKindShift) - 1)) - 1; }
  static std::size_t kind(std::uint64_t pages) { return pages >> kKindShift & 7; }
};
inline constexpr std::size_t kMoveKind = 7;
inline bool is_move(std::uint64_t pending) {
  return Pending::pages(pending) != 0 && Pending::account(pending) % 8 == kMoveKind;
}

// The pages of an extent, and the process that they are charged to: one word, so that they pass from one to
// another in one step. Each change raises its number. Of a word that is nobody's the rest means nothing.
struct Charge {
  static constexpr unsigned kDeviceShift = Account::kBits, kKindShift = kDeviceShift + 6,
                            kRowShift = kKindShift + 3;
  static constexpr std::size_t kNobody = ~std::size_t{0};
  static std::uint64_t make(std::size_t row, std::uint64_t device, std::uint64_t kind, std::uint64_t pages) {
    return pages | device << kDeviceShift | kind << kKindShift | (row + 1) << kRowShift;
  }
  static std::uint64_t pages(std::uint64_t word) { return word & Account::kField; }
  static std::size_t device(std::uint64_t word) { return word >> kDeviceShift & 63; }
  static std::size_t kind(std::uint64_t word) {
    return std::min<std::size_t>(word >> kKindShift & 7, kKinds - 1);
  }
  static std::size_t row(std::uint64_t word) { return (word >> kRowShift) - 1; }
  static NumberedWord::Value to(NumberedWord::Value charge, std::size_t row) {
    const std::uint64_t word = charge.word;
    return {make(row, device(word), kind(word), pages(word)), charge.number + 1};
  }
};
static_assert(kSlots < 0x7FF && kMostDevices <= 64 && kKinds <= 8);

// Physical memory that several processes may hold: a range of its maker's file.
//
// While somebody makes it or puts an end to it, its life names the row of that process.
struct ExtentLife {
  enum State : std::uint64_t { Free = 0, Making = 1, Live = 2, Ending = 3 };
  static State state(std::uint64_t life) { return static_cast<State>(life & 3); }
  static std::size_t row(std::uint64_t life) { return life >> 2 & 0x7FF; }
  static std::uint64_t next(std::uint64_t life, State state, std::size_t row) {
    return ((life >> 13) + 1) << 13 | row << 2 | state;
  }
};
struct alignas(64) ExtentRow {
  NumberedWord charge;
  std::atomic<std::uint64_t> life;
  std::atomic<std::uint64_t> wanted;  // what the charge will be when it is made
  std::atomic<std::uint64_t> serial;  // no other extent of the machine ever has it
  std::atomic<std::uint64_t> offset, bytes, inode;
  std::atomic<std::int32_t> process, descriptor;  // of its maker
  std::array<std::atomic<std::uint64_t>, kHolders> holders;
  std::array<std::atomic<std::int32_t>, kHolders> descriptors;  // of each: where it has the file open; 0: not
};

// Who holds an extent: a row and its life, so that the next owner of the row is another holder. 0: nobody.
// Who only borrows it keeps its range from being used again, but is never charged for it.
struct Holder {
  static constexpr unsigned kRowShift = 53;
  static constexpr std::uint64_t kBorrows = std::uint64_t{1} << 63;
  static std::uint64_t who(std::uint64_t word) { return word & ~kBorrows; }
  static std::uint64_t make(std::size_t row, std::uint64_t life) {
    return static_cast<std::uint64_t>(row) << kRowShift | (life >> 2 & ((std::uint64_t{1} << kRowShift) - 1));
  }
  static std::size_t row(std::uint64_t word) { return word >> kRowShift; }
};
static_assert(kSlots <= std::size_t{1} << (63 - Holder::kRowShift));

// Something that a process published to others (shares.h). Its place follows from the first word of its
// secret, which is written last and erased first: while it stands, all else belongs to it.
struct alignas(64) ShareRow {
  static constexpr std::uint64_t kClaiming = std::uint64_t{1} << 63;  // of an owner
  std::atomic<std::uint64_t> owner;                                   // a holder, as of an extent; 0: nobody
  std::atomic<std::int64_t> process;        // of the owner, and where its number counts: its row
  std::atomic<std::uint64_t> number_space;  // may be another's by now
  std::array<std::atomic<std::uint64_t>, 4> secret;
  std::atomic<std::uint64_t> about;  // its kind, whether only some may import it, how many were named
  std::array<std::atomic<std::uint64_t>, 6> words;  // what is published: its kind knows what they mean
};

// That a process may import something: the first word of the share's secret as the number, so that what is
// left of a share that has ended counts for no other.
struct Permission {
  static constexpr unsigned kProcessBits = 24;
  static std::uint64_t make(std::int32_t process, std::uint64_t ticks) {
    return ticks << kProcessBits | static_cast<std::uint32_t>(process);
  }
  static std::int32_t process(std::uint64_t word) {
    return static_cast<std::int32_t>(word & ((1U << kProcessBits) - 1));
  }
  static std::uint64_t ticks(std::uint64_t word) { return word >> kProcessBits; }
};

// An event or a notify that several processes know of (signals.h).
struct alignas(64) SignalRow {
  // Of an event: whose its latest record is, and twice the number of that record, plus 1 when it is done. Of
  // a notify: whether it is set.
  NumberedWord state;
  std::atomic<std::uint64_t> life;    // as of an extent
  std::atomic<std::uint64_t> serial;  // no other signal or extent of the machine ever has it
  std::atomic<std::uint64_t> about;   // for the runtime
  std::atomic<std::uint64_t> maker;   // its row
  std::atomic<std::uint64_t> lost;    // the number of a process that ended while it held it; 0: none
  std::array<std::atomic<std::uint64_t>, kSlots / 64> holders;  // a bit for each row, which only that sets
};

// Whose a record is: row, process number, and the life that the row had.
struct Recorder {
  static constexpr unsigned kProcessBits = 22, kLifeBits = 32;
  static std::uint64_t make(std::size_t row, std::int32_t process, std::uint64_t life) {
    return static_cast<std::uint64_t>(row) << (kProcessBits + kLifeBits) |
           static_cast<std::uint64_t>(process) << kLifeBits |
           (life >> 2 & ((std::uint64_t{1} << kLifeBits) - 1));
  }
  static std::size_t row(std::uint64_t word) { return word >> (kProcessBits + kLifeBits); }
  static std::int32_t process(std::uint64_t word) {
    return static_cast<std::int32_t>(word >> kLifeBits & ((1U << kProcessBits) - 1));
  }
  static bool same_life(std::uint64_t word, std::uint64_t life) {
    return static_cast<std::uint32_t>(word) == static_cast<std::uint32_t>(life >> 2);
  }
};
static_assert(kSlots <= 1024);

// That a process waits for a signal: its serial as the word. Of an event the number is four times that of the
// record, and how far it is; of a notify only that.
struct Wait {
  enum State : std::uint64_t { Queued = 0, Demanded = 1, Done = 2 };
  static std::uint64_t make(std::uint64_t record, State state) { return record << 2 | state; }
  static std::uint64_t record(std::uint64_t number) { return number >> 2; }
  static State state(std::uint64_t number) { return static_cast<State>(number & 3); }
};

// Wakes a process that something may concern.
struct alignas(64) Bell {
  platform::SharedWord rung;          // how often
  std::atomic<std::uint32_t> driven;  // its work goes on only where somebody waits for it
  std::atomic<std::uint32_t> waits;   // places that it has used: others need not look further
};

// Whose a shard of the annex is: a holder, as of an extent. While that process makes it ready for use it is
// marked, and counts for nobody. It stays with the process until that is gone.
struct AnnexOwner {
  static constexpr std::uint64_t kClaiming = std::uint64_t{1} << 63;
  static std::size_t row(std::uint64_t owner) { return Holder::row(owner & ~kClaiming); }
};

// Whole cache lines: threads with shards of their own do not disturb each other.
struct alignas(128) QuotaShard {
  std::array<NumberedWord, kKinds> of;
};

struct Device {
  alignas(64) NumberedWord pending;  // the grant under way (page_quota.h)
  // The most pages that were in use at once: of the whole device, and of the process of each row in its
  // present life. Only whoever looks at the machine reads them. Before the shards, on a page that is used
  // anyway.
  std::atomic<std::uint64_t> peak;
  alignas(64) std::array<std::atomic<std::uint64_t>, kSlots> peaks;
  std::array<std::array<QuotaShard, kShards>, kSlots> shards;
  std::array<QuotaShard, kAnnex> annex;

  QuotaShard& shard_of(const AccountIndex& at) {
    return at.in_annex() ? annex[at.shard - kShards] : shards[at.row][at.shard];
  }
};

// Bytes of addresses that the process of a row has reserved, and of mappings that lead to memory: of each
// device, and of the host. They take no pages, so no limit knows of them; only whoever looks reads them.
struct alignas(64) AddressUse {
  std::atomic<std::uint64_t> reserved, mapped_on_host;
  std::array<std::atomic<std::uint64_t>, kMostDevices> mapped;

  void clear() {
    const auto forget = [](std::atomic<std::uint64_t>& figure) {
      if (figure.load(std::memory_order_relaxed) != 0) figure.store(0, std::memory_order_relaxed);
    };
    forget(reserved);
    forget(mapped_on_host);
    for (std::atomic<std::uint64_t>& each : mapped) forget(each);
  }
};

struct State {
  Header header;
  std::atomic<std::uint32_t> used_rows;     // rows that were ever used: sums need not look further
  std::atomic<std::uint32_t> used_extents;  // the same
  std::atomic<std::uint32_t> used_annex;    // the same
  std::atomic<std::uint32_t> used_signals;  // the same
  std::atomic<std::uint64_t> serials;       // that were given to extents and signals
  std::array<Row, kSlots> rows;
  std::array<ExtentRow, kExtents> extents;
  std::array<std::atomic<std::uint64_t>, kAnnex> annex_owners;
  std::array<AddressUse, kSlots> address_use;                        // of each row
  std::array<std::atomic<std::uint64_t>, kShares / 64> used_shares;  // a bit each: was it ever used
  std::array<ShareRow, kShares> shares;
  std::array<std::atomic<std::uint64_t>, kPermissions / kGroup / 64> used_groups;  // the same, of permissions
  std::array<NumberedWord, kPermissions> permissions;
  std::array<Bell, kSlots> bells;  // of each row
  std::array<SignalRow, kSignals> signals;
  std::array<std::array<NumberedWord, kWaits>, kSlots> waits;  // of each row
  Device devices[1];                                           // as many as the header says

  static std::size_t bytes_for(std::size_t devices) { return sizeof(State) + (devices - 1) * sizeof(Device); }
  static std::uint64_t check_of(const Header& header);
};

// FNV-1a
inline std::uint64_t hash_of(const char* text, std::size_t length) {
  std::uint64_t hash = 14695981039346656037U;
  for (std::size_t i = 0; i < length; ++i)
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211U;
  return hash;
}

inline std::uint64_t State::check_of(const Header& header) {
  return hash_of(reinterpret_cast<const char*>(&header), offsetof(Header, check));
}

inline std::size_t rows_of(const State& state) {
  const std::size_t rows = state.used_rows.load(std::memory_order_acquire);
  return rows < kSlots ? rows : kSlots;
}

inline std::size_t extents_of(const State& state) {
  const std::size_t extents = state.used_extents.load(std::memory_order_acquire);
  return extents < kExtents ? extents : kExtents;
}

inline std::size_t signals_of(const State& state) {
  const std::size_t signals = state.used_signals.load(std::memory_order_acquire);
  return signals < kSignals ? signals : kSignals;
}

// Whether the row of a holder is live, and in the life that it had then: only as long what it has counts.
inline bool is_current(const State& state, std::uint64_t holder) {
  const std::size_t row = Holder::row(holder);
  const std::uint64_t life = state.rows[row].life.load(std::memory_order_seq_cst);
  return Life::state(life) == Life::Live && Holder::make(row, life) == holder;
}

inline std::size_t shards_of(const State& state, std::size_t row) {
  const std::size_t shards = state.rows[row].shards.load(std::memory_order_acquire);
  return shards < kShards ? shards + 1 : kShards;
}

inline std::size_t annex_of(const State& state) {
  const std::size_t used = state.used_annex.load(std::memory_order_acquire);
  return used < kAnnex ? used : kAnnex;
}

// Calls visit(shard) for each shard that a row had in that life.
template <class Of, class Visit>  // const State or State
void for_each_shard(Of& state, std::size_t device, std::size_t row, std::uint64_t life, Visit&& visit) {
  auto& of = state.devices[device];
  const std::size_t shards = shards_of(state, row), annex = annex_of(state);
  for (std::size_t shard = 0; shard < shards; ++shard) visit(of.shards[row][shard]);
  const std::uint64_t owner = Holder::make(row, life);
  for (std::size_t i = 0; i < annex; ++i) {
    if (state.annex_owners[i].load(std::memory_order_seq_cst) == owner) visit(of.annex[i]);
  }
}

template <std::size_t N>
void put_text(std::array<char, N>& into, const char* text, std::size_t length) {
  into.fill('\0');
  std::memcpy(into.data(), text, length < N - 1 ? length : N - 1);
}

}  // namespace belay::machine
