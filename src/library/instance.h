// The one runtime of this process, for the functions that are belay's own.
#pragma once

#include <cstdint>

#include "api/door.h"

namespace belay {

Status end_runtime();                                         // the next call starts anew
Status restart_runtime();                                     // at once
Status trace_runtime(const char* file, std::uint64_t limit);  // null: no more
std::uint64_t generation();
void watch_blocks();

}  // namespace belay
