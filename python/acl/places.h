// Lines of Python code as numbers: the same line of the same function has the same number, as long as the
// process lives.
//
// A number is given with the interpreter lock. What it means can be asked at any time, on any thread, even in
// a signal handler: words are written once, and then only read.
#pragma once

#include <cstdint>
#include <optional>

#include "belay/belay.h"
#include "python_api.h"

namespace belay::python {

inline constexpr std::uint64_t kMostPlaces = 65'536;

// With the lock, before anything else here, when the module is loaded: finds what this interpreter offers.
void begin_places();

// Where a frame is. None for those that the reader of a message would not look for: of the package belay, and
// of the interpreter's import. With the lock; throws only when the host is out of memory. May leave an
// exception set.
std::optional<std::uint64_t> place_of(PyObject* frame);

// For belay_on_frame.
int describe_place(std::uint64_t number, belayFrame* frame);

}  // namespace belay::python
