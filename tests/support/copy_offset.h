// aclrtMemcpyAsyncWithOffset as a value, and blocks whose addresses device memory holds.
#pragma once

#include <cstddef>

#include "support/mistakes.h"
#include "support/streams.h"

namespace belay_test {

inline constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

struct OffsetCopy {
  void* to;
  std::size_t room, to_offset;
  void* from;
  std::size_t count, from_offset;
  aclrtMemcpyKind kind;
  aclrtStream stream;
  Where where = Where::own;
  int run() const {
    return aclrtMemcpyAsyncWithOffset(static_cast<void**>(to), room, to_offset,
                                      static_cast<const void**>(from), count, from_offset, kind, stream);
  }
};

inline void put_address(void* cell, void* address) {
  ASSERT_EQ(aclrtMemcpy(cell, sizeof address, &address, sizeof address, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
}

// Two blocks of 256 bytes, and two words of device memory that hold their addresses.
struct OffsetBlocks {
  Device from{256}, to{256}, cells{256};
  OffsetBlocks() {
    write_to(from.get(), pattern(256, 1));
    write_to(to.get(), pattern(256, 2));
    put_address(from_cell(), from.get());
    put_address(to_cell(), to.get());
  }
  void* from_cell() const { return cells.get(64); }
  void* to_cell() const { return cells.get(); }
  OffsetCopy call(const Stream& stream, std::size_t count = 256) const {
    return {to_cell(), 256, 0, from_cell(), count, 0, kInner, stream.get()};
  }
  Bytes now() const { return read_from(to.get(), 256); }
};

}  // namespace belay_test
