// For whoever looks at a machine: what its processes have given to each other, who may take it, who has it,
// and what is left of shares that have ended. No secret is among it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "machine/shares.h"

namespace belay::machine {

struct SharedSeen {
  ShareKind kind;
  // Of the memory, the event or the notify; no other of the machine ever has it. What was exported as several
  // keys has it in all of them, and their importers in common.
  std::uint64_t serial;
  bool open = false;  // it can still be imported; else the rest is what its importers have of it
  bool checking = false;
  std::vector<std::int32_t> may_import{};  // processes that were named
  std::int32_t exporter = 0;               // a process
  bool exporter_lives = false;
  std::vector<std::int32_t> importers{};  // processes that live and hold it
  std::optional<std::int32_t> charged{};  // the process that pays for the memory
  std::uint32_t device = 0;               // of the machine; of memory on the host it means nothing
  std::uint64_t bytes = 0;                // of memory: of the piece that it is in
  ShareWords words{};                     // while it can be imported
  std::vector<ShareWords> more{};         // of a key: the pieces after the first
};

// `lives`: whether the process of a row does.
std::vector<SharedSeen> look_at_sharing(const State& state,
                                        const std::function<bool(std::size_t row)>& lives);

}  // namespace belay::machine
