// What the programs of this folder share. Each call works, or the program ends with 3 and says where; only
// the mistake itself, between #ifdef BUG and #endif, may fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

inline constexpr std::size_t kBytes = 4096;
inline constexpr std::size_t kGranule = std::size_t{2} << 20;  // of virtual memory

inline void must(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d does not hold\n", line);
  std::_Exit(3);
}
inline void must(aclError code, int line = __builtin_LINE()) { must(code == ACL_SUCCESS, line); }

// A call that may fail because of the mistake, by chance: the program asks why, and goes on.
inline void may_fail(aclError code) {
  if (code != ACL_SUCCESS) (void)aclGetRecentErrMsg();
}

// From the start of a program to its end.
struct Device {
  Device() {
    must(aclInit(nullptr));
    must(aclrtSetDevice(0));
  }
  ~Device() {
    must(aclrtResetDevice(0));
    must(aclFinalize());
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
};

// Host memory that queued copies do not wait for.
struct Pinned {
  explicit Pinned(std::size_t bytes = kBytes) { must(aclrtMallocHost(&start, bytes)); }
  ~Pinned() { must(aclrtFreeHost(start)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  void* start = nullptr;
};
