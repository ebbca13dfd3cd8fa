// Who holds what while the records of a trace go by: blocks by their numbers, sums by device and process, and
// groups of blocks that were made at the same place in the same way.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "recording/reader.h"
#include "story/names.h"
#include "story/places.h"
#include "story/waste.h"

namespace belay::story {

inline constexpr std::size_t kKinds = 3;
inline constexpr std::array<std::string_view, kKinds> kKindNames{"4 KB pages", "2 MB pages", "1 GB pages"};
inline constexpr std::int32_t kHost = -1;  // as a device: pinned memory of the host

using KindBytes = std::array<std::uint64_t, kKinds>;
constexpr std::uint64_t sum(const KindBytes& bytes) { return bytes[0] + bytes[1] + bytes[2]; }

struct Held {
  std::uint64_t count = 0, asked = 0, charged = 0;
  Waste waste{};

  void add(std::uint64_t of_asked, std::uint64_t of_charged, const Waste& of_waste) {
    ++count, asked += of_asked, charged += of_charged, waste += of_waste;
  }
  void remove(std::uint64_t of_asked, std::uint64_t of_charged, const Waste& of_waste) {
    --count, asked -= of_asked, charged -= of_charged, waste -= of_waste;
  }
};

// Memory of one device, or pinned memory, of one process.
struct Account {
  std::uint32_t process;
  std::int32_t device;  // of the machine; kHost
  Held held{};
  KindBytes bytes{};  // with what was not written down
};

// What a block was asked for with, among the flags of its event: read-only, P2P, and two bits of policy.
inline constexpr std::uint32_t kPolicyFlags = observe::Event::kReadOnly | observe::Event::kP2p | 0x30;

struct GroupKey {
  std::uint32_t account, place, function, policy,
      label;  // policy: flags of the event; label: kNone, or a name
  Page page;
  Object object;
  auto operator<=>(const GroupKey&) const = default;
};

struct Group {
  GroupKey key;
  std::uint32_t site = 0;  // of the first block: others may have come by other ways
  Held held{}, unfreed{};
  std::uint64_t made = 0, freed = 0, temporary = 0, temporary_bytes = 0, peak = 0;
  std::uint64_t lived_ns = 0;  // those that were freed, together
};

struct Block {
  std::uint32_t group = 0, thread = 0, touches = 0;
  std::uint64_t address = 0, asked = 0, charged = 0, born = 0;
  Waste waste{};
};

struct Change {
  enum class What : std::uint8_t { Nothing, Came, Went, Renamed, Corrected };
  What what = What::Nothing;
  std::uint32_t account = kNone;
  Block block;         // that came or went
  bool swept = false;  // went with its device: the program did not free it

  explicit operator bool() const { return what != What::Nothing && what != What::Renamed; }
};

class Ledger {
 public:
  Ledger(const recording::Trace& trace, const Places& places, Names& names);

  Change take(const recording::Record& record);

  const std::vector<Account>& accounts() const { return accounts_; }
  const std::vector<Group>& groups() const { return groups_; }
  // Groups that changed since the last call.
  std::vector<std::uint32_t> take_changed();
  const Account& account_of(const Group& group) const { return accounts_[group.key.account]; }
  // Blocks that were not freed when the trace ended.
  template <class See>
  void for_each_alive(See&& see) const {
    for (const auto& process : alive_)
      for (const auto& [serial, block] : process) see(block);
  }
  // Counts those as not freed.
  void close();

  // The device of the machine that a device of a process is.
  std::int32_t device_of(std::uint32_t process, std::uint32_t place) const;

 private:
  Change came(const recording::Record& record);
  Change went(const recording::Record& record);
  Change renamed(const recording::Record& record);
  Change corrected(const recording::Record& record);
  void touched(const recording::Record& record);
  std::uint32_t account(std::uint32_t process, std::int32_t device);
  std::uint32_t group(const GroupKey& key, std::uint32_t site);
  std::uint32_t name_of(std::uint32_t process, std::uint32_t text);
  void changed(std::uint32_t group);

  const recording::Trace* trace_;
  const Places* places_;
  Names* names_;
  std::vector<const ProductRow*> products_;  // by process
  std::vector<std::unordered_map<std::uint64_t, Block>> alive_;
  std::vector<std::vector<std::uint32_t>> text_names_;  // by process and text
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> account_numbers_;
  std::vector<Account> accounts_;
  std::map<GroupKey, std::uint32_t> group_numbers_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> changed_;
  std::vector<bool> is_changed_;
  GroupKey last_key_{};
  std::uint32_t last_group_ = kNone;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_made_;  // by process and thread
};

}  // namespace belay::story
