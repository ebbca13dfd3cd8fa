// Who called: the return addresses of the calling thread, innermost first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace belay::platform {

std::size_t call_stack(std::span<std::uintptr_t> returns);  // how many there are

}  // namespace belay::platform
