// What happened to memory, as a table at exit (BELAY_SUMMARY=on; `belay run` turns it on).
#pragma once

#include <cstdint>
#include <string>

#include "memory/memory.h"

namespace belay::trace {

void keep_summary(Memory& memory, const std::string& soc);
enum class Summary : std::uint8_t { Always, IfAnythingHappened };
void print_summary(Summary when = Summary::Always);
void drop_summary();

}  // namespace belay::trace
