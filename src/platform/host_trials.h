// What this machine allows, found by trying it once in small and undoing it.
//
// Kernels, containers (seccomp) and security modules refuse things that no file tells of. Nothing stays
// behind, nothing needs root, and at most a few megabytes are in use for a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "platform/address_space.h"

namespace belay::platform {

// Whether a thing can be done. Unknown: something else was in the way of trying.
enum class Can : std::uint8_t { Unknown, Yes, No };

struct HostTrials {
  AddressRange window;              // where 8 TB of addresses can be had; base 0: nowhere
  AddressRange managed;             // where managed memory would be; base 0: nowhere
  Can touchable = Can::Unknown;     // mapping real memory into a range of addresses (256 GB at least)
  Can memfd = Can::Unknown;         // a file in memory
  int memfd_error = 0;              // errno, if not
  Can long_file = Can::Unknown;     // of 8 TB, sparse
  Can long_mapping = Can::Unknown;  // 8 TB of shared memory without a file
  Can view = Can::Unknown;          // 1 GB of a file in memory mapped
  Can seals = Can::Unknown;         // such a file, of 2 MB, protected from changing its size
  Can fd_links = Can::Unknown;      // opening /proc/self/fd/N again
  Can dumpable = Can::Unknown;      // others of the same user may open ours
  Can collapse = Can::Unknown;      // MADV_COLLAPSE: 2 MB of such a file into one page
  int collapse_error = 0;
  Can lock_page = Can::Unknown;           // one page of memory kept from being swapped
  Can lock_beyond_limit = Can::Unknown;   // more than RLIMIT_MEMLOCK says: privileged
  Can bind_node = Can::Unknown;           // choosing the NUMA node of memory
  Can libnuma = Can::Unknown;             // the library is installed
  std::vector<std::size_t> usable_pools;  // page sizes of which one page could be set aside
};

HostTrials try_host();

}  // namespace belay::platform
