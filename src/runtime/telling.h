// What the runtime tells listeners about calls that copy, fill, wait, make and end things.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "memory/memory.h"
#include "observe/observe.h"
#include "schedule/scheduler.h"

namespace belay {

// Bytes in rows; one row: all in one piece. How much is there, as the call was told; 0: it was not.
struct Rows {
  std::size_t bytes, pitch = 0, rows = 1, room = 0;
};

// The kind of a copy as events tell it, where 0 is none.
constexpr std::uint32_t told_kind(aclrtMemcpyKind kind) { return static_cast<std::uint32_t>(kind) + 1; }

inline observe::Touch touch(Memory& memory, const Location& at, bool writes, const Rows& rows) {
  const auto [extent, offset, left] = memory.identify(at);
  memory.note_use(at);
  return {extent,
          offset,
          rows.bytes,
          rows.pitch,
          static_cast<std::uint32_t>(rows.rows),
          static_cast<std::uint16_t>(at.device()),
          at.is_device(),
          writes,
          at.address,
          rows.room,
          left};
}
// What is written, then what is read.
inline std::array<observe::Touch, 2> touches_of_copy(Memory& memory, const Location& to, const Location& from,
                                                     const Rows& to_rows, const Rows& from_rows) {
  return {touch(memory, to, true, to_rows), touch(memory, from, false, from_rows)};
}

// A call has copied or filled, before it returns.
void tell_copied(observe::Operation operation, std::uint32_t device, const void* to, std::size_t bytes,
                 std::span<const observe::Touch> touches, std::uint32_t kind = 0);
// On behalf of a device: that of the current context.
void tell_filled(Memory& memory, std::uint32_t device, const Location& to, const Rows& bytes,
                 std::uint64_t value);

// The calling thread knows that work of a stream is done up to a position, or what a record stands for.
void tell_waited(const schedule::Stream& stream, std::uint64_t position, std::uint64_t record = 0);

// `swept`: it ends with what it belongs to, and the program did not give it back.
void tell_object(observe::What what, observe::Object object, std::uint64_t handle, std::uint32_t device,
                 bool swept = false);

}  // namespace belay
