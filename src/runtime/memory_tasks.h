// Copies and fills as tasks of a stream.
//
// Ranges are checked again when a task runs: what was allocated at the call may be gone by then, and is then
// a failure of the task, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "memory/transfer.h"
#include "runtime/links.h"
#include "schedule/task.h"

namespace belay {

inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

using TaskPtr = std::unique_ptr<schedule::Task>;

// Where tasks find what they work on. `device`: of the stream.
struct Workplace {
  Memory& memory;
  LinkTimes& links;
  std::uint32_t device;
};

// How much is copied, and what the call said besides, for those who listen.
struct Amount {
  std::size_t bytes;
  std::size_t room = 0;    // at the destination; 0: it was not said
  std::uint32_t kind = 0;  // as events tell it (telling.h)
};
TaskPtr copy_task(const Workplace& place, const Location& to, const Location& from, const Amount& amount);
TaskPtr copy_rows_task(const Workplace& place, const Location& to, std::size_t to_pitch, const Location& from,
                       std::size_t from_pitch, std::size_t width, std::size_t height, std::uint32_t kind);
// All go the same way (M-298).
TaskPtr copy_batch_task(const Workplace& place, std::span<const BatchItem> items,
                        std::span<const BatchEnds> ends);
// The bytes are taken now, and written in the order of the stream (M-269).
TaskPtr write_task(const Workplace& place, const Location& to, const Location& from, const Amount& amount);
TaskPtr copy_by_descriptor_task(const Workplace& place, const void* descriptor);
struct OffsetCopy {
  const void* to_holder;  // device addresses that hold the two bases (M-364)
  const void* from_holder;
  std::size_t to_offset, from_offset, bytes;
  std::size_t room;  // from there on
};
TaskPtr copy_by_offset_task(const Workplace& place, const OffsetCopy& copy);
TaskPtr fill_task(const Workplace& place, void* to, unsigned char value, std::size_t bytes, std::size_t room);
TaskPtr fill32_task(const Workplace& place, void* to, std::uint32_t value, std::size_t words,
                    std::size_t room);
TaskPtr store_task(const Workplace& place, void* to, std::uint64_t value);
TaskPtr nothing_task();

}  // namespace belay
