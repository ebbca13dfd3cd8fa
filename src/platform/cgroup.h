// The memory limits of the control groups that this process is in.
//
// Beyond such a limit no system call answers with an error: the kernel kills. So whoever commits much
// memory looks here first. Both generations are read (v1: a tree of its own for memory, v2: one tree), and
// every level counts, from the process's own group up to the root that it can see.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace belay::platform {

struct CgroupMemory {
  std::string directory;        // where its files are
  int version = 2;              // 1 or 2
  std::size_t limit = 0;        // bytes
  std::size_t used = 0;         // with file cache
  std::size_t reclaimable = 0;  // file cache that the kernel drops before it kills

  std::size_t headroom() const;
};

// The groups that have a limit, the innermost first; one that cannot be read counts as unlimited. `root`
// stands before every path, for trees that are made up.
std::vector<CgroupMemory> cgroup_memory_limits(const std::string& root = "");

// How much may still be committed: the least over these groups; empty when there is no limit.
std::optional<std::size_t> cgroup_memory_headroom(const std::string& root = "");

}  // namespace belay::platform
