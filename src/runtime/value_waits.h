// Streams that wait for a word of device memory (P-40 ... P-49).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/memory.h"
#include "schedule/scheduler.h"

namespace belay {

class ValueWaitTask;

// All that wait. Whatever writes device memory has them look again; nobody polls, unless host code may write
// without our knowledge.
class ValueWaits {
 public:
  ValueWaits(schedule::Scheduler& scheduler, Memory& memory);

  void add(ValueWaitTask& task);     // with the scheduler's lock
  void remove(ValueWaitTask& task);  // ...
  Memory& memory() { return memory_; }

 private:
  void look_again(std::uintptr_t start, std::size_t bytes);
  schedule::Scheduler& scheduler_;
  Memory& memory_;
  std::vector<ValueWaitTask*> waiting_;
};

std::unique_ptr<schedule::Task> wait_for_value(ValueWaits& all, std::uintptr_t address, std::uint64_t value,
                                               std::uint32_t condition);

// P-43. `m`: the word in memory.
constexpr bool value_reached(std::uint64_t m, std::uint64_t v, std::uint32_t condition) {
  switch (condition) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::int64_t>(m - v) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
      return m == v;
    case ACL_STREAM_WAIT_VALUE_AND:
      return (m & v) != 0;
    default:
      return ~(m | v) != 0;
  }
}

}  // namespace belay
