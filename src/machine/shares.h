// What processes publish to others: handles and keys of memory, events and notifies. Who knows the secret of
// a share finds it; where its creator wants that, only processes that it named may import it.
//
// To publish something of a new kind: add it to ShareKind, publish it with the words that an importer needs,
// give the secret to the program in the form that its function documents, and let importers find() it, ask
// allows(), and then use the words. A share ends with end(), or when its creator is gone. Whoever keeps using
// what it imported asks stands() when the end matters: two loads and, for a creator that is not this process,
// a look at the lock that the kernel takes back at its death.
//
// Its row follows from its secret, so finding it is one look, however many there are. There is no list and
// nothing to repair: the first word of the secret is written last and erased first, and a row whose owner is
// dead is free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/state.h"

namespace belay::machine {

class ProcessTable;

enum class ShareKind : std::uint8_t { Handle = 1, Fabric = 2, Key = 3, Event = 4, Notify = 5, KeyPart = 6 };

// From the kernel's random numbers. Two shares of a machine, at whatever times, have not even the same first
// word; so that names a share within belay. It is never shown to others whole.
using Secret = std::array<std::uint64_t, 4>;
using ShareId = std::uint64_t;
using ShareWords = std::array<std::uint64_t, 6>;

struct Share {
  ShareId id;
  ShareKind kind;
  bool checking;            // only processes that its creator named may import it
  bool outlives = false;    // its creator: see Publishing
  std::uint32_t named = 0;  // how many processes were
  std::uint64_t creator;    // a holder
  std::int32_t process;     // of the creator
  std::uint64_t number_space;
  ShareWords words;
};

struct Publishing {
  ShareKind kind;
  bool checking;
  // Its first two words are the name of an extent: it lasts as long as somebody holds that, not as long as
  // its creator.
  bool outlives = false;
  bool one_word = false;  // of the secret: the others are 0
  ShareWords words{};
};

class Shares {
 public:
  Shares(State& state, ProcessTable& processes) : state_{state}, processes_{processes} {}

  // Empty: there is no room, or the kernel has no random numbers.
  std::optional<Secret> publish(const Publishing& what);
  std::optional<Share> find(ShareKind kind, const Secret& secret) const;
  std::optional<Share> find(ShareId id) const;  // for who found it by its secret, or its first part
  // Whether it has not ended.
  bool stands(const Share& share) const;
  bool is_mine(const Share& share) const;
  // It cannot be found from now on, and does not stand. Only for its creator.
  void end(ShareId id);

  // These processes, by their numbers here, may import it from now on, unless they start later. False: no
  // more than `most` can be named in all, or the machine has no room; those before are named.
  bool allow(ShareId id, std::span<const std::int32_t> processes, std::size_t most);
  // May this process import it?
  enum class Answer : std::uint8_t { Yes, NotNamed, NamedBeforeItStarted, OtherNumbers };
  Answer allows(const Share& share) const;

 private:
  std::optional<Share> read(std::size_t row) const;
  bool owner_lives(std::uint64_t owner) const;
  bool is_free(std::size_t row, std::uint64_t owner) const;

  State& state_;
  ProcessTable& processes_;
};

// For whoever looks: what is published, with the processes that were named.
struct ShareSeen : Share {
  std::vector<std::int32_t> may_import;
};
std::vector<ShareSeen> all_shares(const State& state);
// Whether a share that outlives its creator still has something to share.
bool extent_of_share_lives(const State& state, const ShareWords& words);

}  // namespace belay::machine
