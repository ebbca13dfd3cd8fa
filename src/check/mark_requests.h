// Marks that are set from outside the program: `belay mark PID`.
//
// A process that is checked for what grows has a word in memory that the command can open through /proc, and
// a thread that sleeps until the word changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace belay::check {

// In a process of the program. Returns how many objects have grown, as belay_mark does.
using SetMark = std::size_t (*)();
void answer_mark_requests(SetMark set);
void forget_mark_requests();  // in the child of a fork

// In the command.
struct MarkAnswer {
  enum class Outcome : std::uint8_t { Done, NoProcess, NotAllowed, NotChecked, Silent } outcome;
  std::uint64_t grown = 0;
};
MarkAnswer ask_for_mark(std::int32_t process);

}  // namespace belay::check
