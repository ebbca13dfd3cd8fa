// What this machine and this process have been given: read, without a judgement, and without root.
//
// Whatever is missing, forbidden or garbled is unknown (empty), never an error: the reader decides what that
// means. What only shows when one tries is in host_trials.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/cgroup.h"

namespace belay::platform {

// A limit of the process; empty means that there is none. The hard one is how far a user may raise the soft.
struct ProcessLimit {
  std::optional<std::size_t> soft;
  std::optional<std::size_t> hard;
};

struct ProcessLimits {
  ProcessLimit locked_bytes;   // RLIMIT_MEMLOCK
  ProcessLimit address_bytes;  // RLIMIT_AS
  ProcessLimit file_bytes;     // RLIMIT_FSIZE
  ProcessLimit open_files;     // RLIMIT_NOFILE
};

// The pages of one size that the kernel keeps for those who ask for them (hugetlb).
struct HugePool {
  std::size_t page_bytes = 0;
  std::optional<std::size_t> pages{};
  std::optional<std::size_t> free{};
  std::optional<std::size_t> reserved{};    // promised, though still counted as free
  std::optional<std::size_t> overcommit{};  // beyond the pool, if memory happens to be there
  std::optional<std::size_t> surplus{};     // of these, how many exist

  // Pages of the pool that can be had now.
  std::size_t available() const;
  // Pages that the kernel may add when the pool is empty, if it finds the memory.
  std::size_t beyond() const;
};

// A directory where processes could meet.
struct Place {
  std::string path{};
  bool present = false;     // and a directory
  bool obstructed = false;  // something else has its name
  bool writable = false;
  bool link = false;            // a symbolic link has its name; the rest is about what it leads to
  bool open_to_others = false;  // rights of other users
  std::optional<std::uint32_t> owner{};
  std::optional<std::size_t> free_bytes{};
};

struct HostFacts {
  std::string kernel;  // release; "unknown"
  std::string architecture;
  std::string container;        // what hints at one ("Docker"); empty: nothing does
  std::string virtual_machine;  // the same
  std::optional<std::size_t> cpus;

  std::optional<std::size_t> memory_total;
  std::optional<std::size_t> memory_available;
  std::vector<CgroupMemory> cgroups;  // those with a limit, the innermost first

  std::vector<HugePool> pools;                    // rising page sizes
  std::optional<std::size_t> default_huge_bytes;  // the pool that vm.nr_hugepages is about
  std::string thp_enabled;                        // the chosen word; empty: unknown
  std::string thp_shmem_enabled;

  std::optional<std::size_t> max_map_count;
  std::optional<std::size_t> overcommit_memory;  // 0, 1 or 2
  std::optional<std::size_t> memfd_noexec;       // 2: files in memory must be marked; empty before Linux 6.3
  std::optional<std::size_t> ptrace_scope;       // empty: no Yama

  std::vector<std::size_t> numa_nodes;  // their numbers; empty: unknown
  std::vector<Place> places;            // /dev/shm, /tmp

  std::uint32_t user = 0;  // effective
  ProcessLimits limits;

  const HugePool* pool_of(std::size_t page_bytes) const;
  // The group that leaves the least; nullptr without limits.
  const CgroupMemory* tightest_group() const;
  // What can still be committed: available memory, or less where a group allows less.
  std::optional<std::size_t> room() const;
};

// `root` stands before every path, for trees that are made up. Limits and user are those of the process.
HostFacts read_host_facts(const std::string& root = "");

Place look_at(const std::string& path, const std::string& root = "");

}  // namespace belay::platform
