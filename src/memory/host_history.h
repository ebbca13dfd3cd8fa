// Host memory that belay knew and that is gone: the last pinned blocks and managed memory that were freed and
// the last registrations that were ended, for whoever uses them still.
//
// Without a lock, since it is read in signal handlers: of an entry that is being replaced at that moment, the
// wrong words may be said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace belay {

struct HostFacts {
  std::uintptr_t start = 0;
  std::size_t asked = 0, bytes = 0;         // what it takes is more than what was asked for
  bool registered = false;                  // memory of the program
  bool managed = false;                     // neither: a pinned block
  const char* made_by = "";                 // functions
  const char* ended_by = nullptr;           // null: it is alive
  std::uint32_t made_at = 0, ended_at = 0;  // call sites

  bool holds(std::uintptr_t address) const { return address - start < bytes; }
};

void remember_ended(const HostFacts& facts);
// The last one that was there.
std::optional<HostFacts> ended_around(std::uintptr_t address);

}  // namespace belay
