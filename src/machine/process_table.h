// Who is on the machine, who is dead, and giving back what the dead held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/meeting_place.h"
#include "machine/state.h"
#include "platform/common_memory.h"

namespace belay::machine {

class ProcessTable {
 public:
  ProcessTable(platform::CommonMemory& memory, State& state, MeetingPlace place, std::uint64_t joined);

  // Takes a row for this process; false when all are taken.
  bool claim();
  std::size_t mine() const { return mine_; }

  // A shard for one thread, until it gives it back; 0, the common one, when there is none left.
  std::size_t claim_shard();
  void release_shard(std::size_t shard);
  // All that threads of this process ever had, and the common one.
  std::size_t own_shards() const {
    const std::size_t annex = annex_count_.load(std::memory_order_acquire);
    return annex == 0 ? shards_of(state_, mine_) : kShards + annex;
  }
  std::size_t own_shard(std::size_t number) const {
    return number < kShards ? number : kShards + annex_[number - kShards].load(std::memory_order_relaxed);
  }

  // Whether that row is of a process that lives, and is on the machine or comes to it.
  bool lives(std::size_t row) const;
  // Of this process, or the one that it is about to have.
  std::uint64_t life() const { return state_.rows[mine_].life.load(std::memory_order_acquire); }
  // Threads of this process change extents and shares one at a time; between processes their words see to
  // that.
  std::mutex& changing_extents() const { return changing_extents_; }

  // Bytes of the host's memory that this process is about to fill; and what all others are about to. Of the
  // dead some may still count.
  void promise(std::uint64_t bytes) { state_.rows[mine_].promised.store(bytes); }
  std::uint64_t promised_by_others() const;

  // What this process has reserved and mapped, for whoever looks.
  AddressUse& address_use() { return state_.address_use[mine_]; }

  // Takes those who are gone off the machine, with all that they held, if that is anything on this device;
  // true if there was one.
  bool return_what_the_dead_held(std::size_t device);

 private:
  struct Whose {
    std::uint64_t life;
    bool dead;
  };
  Whose look(std::size_t row) const;
  bool is_me(const Row& row) const;
  std::string link_of(const Row& row) const;  // its name
  bool awaits_grant(std::size_t device, std::size_t row) const;
  bool holds_pages(std::size_t device, std::size_t row) const;
  void complete_grants();
  void reap(std::size_t row, std::uint64_t life);
  void reap_former_self();
  bool settle_in(std::size_t row);
  std::optional<std::size_t> claim_annex();
  void make_ready(std::size_t annex);

  platform::CommonMemory& memory_;
  State& state_;
  const MeetingPlace place_;
  std::size_t mine_ = kSlots;
  std::atomic<std::uint32_t> claimed_shards_{1};  // a bit each; the common one is never had
  // Of the annex: what this process has, and what of it no thread has now.
  std::mutex claiming_annex_;
  std::unique_ptr<std::atomic<std::uint16_t>[]> annex_ { new std::atomic<std::uint16_t>[ kAnnex ] };
  std::atomic<std::size_t> annex_count_{0};
  std::vector<std::uint16_t> idle_annex_;
  std::int32_t process_;
  std::uint64_t start_, number_space_, joined_;
  mutable std::mutex changing_extents_;
};

// The name of a process's link in the directory where the processes of a machine meet. No name is used twice.
struct LinkName {
  std::string_view role;
  std::uint64_t generation;
  std::int32_t process;
  std::uint64_t start, joined;
};
inline constexpr std::string_view kMember = "member";
inline constexpr std::string_view kFounder = "founder";  // of the next generation, while it looks for others
std::string text_of(const LinkName& name);

// The name of the state of a machine, by the identity of its directory and generation: a process may be on
// one machine after another.
std::string state_name(const std::string& identity, std::uint64_t generation);

// Is the process of this row alive? For any process, on the machine or not.
bool alive(const platform::CommonMemory& memory, const State& state, std::size_t row,
           std::uint64_t number_space);

inline constexpr const char* kStateNames = "belay-machine";  // how all of these begin

}  // namespace belay::machine
