// Who called: the return addresses of the calling thread, innermost first, beyond the function that has this
// on its stack. Null: all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace belay::platform {

std::size_t call_stack(const void* inside, std::span<std::uintptr_t> returns);  // how many there are

}  // namespace belay::platform
