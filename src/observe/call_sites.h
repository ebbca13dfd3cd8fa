// Where in the program a call was made, as a number of 4 bytes: the same stack has the same number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace belay::observe {

// An interpreter adds its own frames, innermost first: writes at most `room` numbers of its own and answers
// how many there are. Asked on the thread that calls, while it calls.
using InterpreterFrames = std::size_t (*)(std::uint64_t* frames, std::size_t room);
inline std::atomic<InterpreterFrames> g_interpreter_frames{nullptr};

struct CallStack {
  std::vector<std::uintptr_t> returns;        // addresses in the program, innermost first
  std::vector<std::uint64_t> of_interpreter;  // as it numbers them
  bool operator==(const CallStack&) const = default;
};

std::uint32_t site_of_this_call();  // never 0; 1: no more stacks can be kept
CallStack stack_of(std::uint32_t site);
void renew_sites();  // in the child of a fork, where another thread may have held the lock

}  // namespace belay::observe
