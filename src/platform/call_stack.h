// Who called: the return addresses of the calling thread, innermost first, from the function on whose frame that
// is the address of. Null: from the caller on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace belay::platform {

std::size_t call_stack(const void* frame, std::span<std::uintptr_t> returns);  // how many there are

}  // namespace belay::platform
