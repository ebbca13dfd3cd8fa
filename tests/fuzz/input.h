// What fuzz targets of calls share: the input read piece by piece, and what must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

namespace belay_fuzz {

// Bytes of the input, then zeros.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_{data}, left_{size} {}
  bool empty() const { return left_ == 0; }
  template <class T>
  T next() {
    T value{};
    const std::size_t have = left_ < sizeof value ? left_ : sizeof value;
    std::memcpy(&value, at_, have);
    at_ += have;
    left_ -= have;
    return value;
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

inline void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "what line %d asks for does not hold\n", line);
  std::abort();
}

inline std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  require(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS && free <= total);
  return free;
}

// Small devices, and nothing written to the terminal. Before the first call.
inline void make_quiet_machine() {
  ::setenv("BELAY_HBM", "256M", 1);
  ::setenv("BELAY_LEAKS", "off", 1);
  ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
}

}  // namespace belay_fuzz
