// The emulated machine: devices that all processes of a user share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "machine/death_watch.h"
#include "machine/discovery.h"
#include "machine/extents.h"
#include "machine/page_quota.h"
#include "machine/process_table.h"
#include "machine/shares.h"
#include "machine/sharing_seen.h"
#include "machine/signals.h"
#include "machine/state.h"

namespace belay::machine {

inline constexpr const char* kDefaultName = "default";
inline constexpr const char* kPrivateName = "private";

// What a process wants its machine to be.
struct Wish {
  std::string name;       // of BELAY_MACHINE; empty: the default one
  std::string directory;  // of BELAY_MACHINES; empty: the usual place
  std::string product, soc;
  std::uint32_t devices = 1;
  Limits limits;
  std::string settings;  // "hbm=4 GB;devices=8": what all processes on the machine must agree on
};

// What somebody who only looks sees.
struct ProcessSeen {
  std::int32_t process;
  std::string name;
  std::vector<Use> on_device{};
  std::vector<std::uint64_t> peaks{};   // of each device: the most pages that it had in use at once
  std::uint64_t reserved = 0;           // bytes of addresses
  std::vector<std::uint64_t> mapped{};  // of each device, in bytes
  std::uint64_t mapped_on_host = 0;
};

class Machine {
 public:
  static Result<std::unique_ptr<Machine>> join(const Wish& wish);

  PageQuota& quota(std::size_t device) { return quotas_[device]; }
  Extents& extents() { return extents_; }
  Shares& shares() { return shares_; }
  bool is_shared() const { return joined_.memory.inode() != 0; }  // else it is this process's alone
  Signals& signals() { return signals_; }
  DeathWatch& death_watch() { return death_watch_; }
  std::size_t claim_shard() { return processes_.claim_shard(); }
  void release_shard(std::size_t shard) { processes_.release_shard(shard); }
  // Host memory that processes are about to fill (process_table.h).
  void promise(std::uint64_t bytes) {
    if (joined_.memory.valid()) processes_.promise(bytes);
  }
  std::uint64_t promised_by_others() const { return processes_.promised_by_others(); }
  // Bytes that this process has reserved, and mapped of a device or of the host: for whoever looks at it. One
  // thread at a time.
  void show_reserved(std::uint64_t bytes) { show(&AddressUse::reserved, bytes); }
  void show_mapped(std::size_t device, std::uint64_t bytes) {
    if (joined_.memory.valid())
      processes_.address_use().mapped[device].store(bytes, std::memory_order_relaxed);
  }
  void show_mapped_on_host(std::uint64_t bytes) { show(&AddressUse::mapped_on_host, bytes); }
  // What a person must know: that this process is alone although nobody asked for that, or that something
  // stands where its processes usually meet. A whole sentence; empty where all is well.
  const std::string& note() const { return note_; }

  // Who is on it, and what each holds: this process too.
  std::vector<ProcessSeen> processes() const;

  // This process is no longer on the machine, and must not ask a quota again.
  void depart();

  // In a forked child: the machine is the parent's.
  void abandon() { joined_.memory.abandon(); }

 private:
  explicit Machine(Joined joined);
  void show(std::atomic<std::uint64_t> AddressUse::*figure, std::uint64_t bytes) {
    if (joined_.memory.valid()) (processes_.address_use().*figure).store(bytes, std::memory_order_relaxed);
  }
  State& state() { return *reinterpret_cast<State*>(joined_.memory.start()); }
  const State& state() const { return *reinterpret_cast<const State*>(joined_.memory.start()); }
  static std::unique_ptr<Machine> alone(const Wish& wish, std::string note);

  Joined joined_;
  std::string note_;
  ProcessTable processes_;
  Extents extents_{state(), processes_};
  Shares shares_{state(), processes_};
  Signals signals_{state(), processes_};
  DeathWatch death_watch_{joined_.memory, state(), processes_};
  std::array<PageQuota, kMostDevices> quotas_;
};

struct Seen {
  std::string name, directory;
  std::string trouble;  // a state that cannot be read: why
  bool live = false;    // false: nobody is on it, and the rest is empty
  std::string product, soc, settings;
  std::uint32_t devices = 0;
  Limits limits;
  std::vector<Use> on_device;
  std::vector<std::uint64_t> peaks;  // the most pages that all had in use at once, as far as it is known
  std::vector<ProcessSeen> processes;
  std::vector<SharedSeen> shared;
};
Seen look_at(const Place& place, const std::string& name);

// Removes what a machine left behind. False, with the reason, when somebody is on it.
bool remove(const Place& place, const std::string& name, std::string& why);

bool good_name(const std::string& name);

}  // namespace belay::machine
