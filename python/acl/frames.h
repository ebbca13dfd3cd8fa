// From which lines of Python a call comes, for the library, which keeps that if it is told to (BELAY_STACKS).
//
// A thread may look at its own frames only while it holds the interpreter lock. Calls for which `acl` lets go
// of the lock therefore look before they do so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "belay/belay.h"

namespace belay::python {

// When the module is loaded: the library asks here from then on.
void begin_frames();

class FramesOfCall;
// Of the call that this thread is in without the lock; null: nothing was seen.
extern constinit thread_local const FramesOfCall* t_frames_of_call;

// What is seen before the lock is let go, and stands for the thread until it has it back.
class FramesOfCall {
 public:
  FramesOfCall() {
    if (belay_stack_frames() != 0) [[unlikely]]
      look();
  }
  ~FramesOfCall() {
    if (looked_) [[unlikely]]
      t_frames_of_call = around_;
  }
  FramesOfCall(const FramesOfCall&) = delete;
  FramesOfCall& operator=(const FramesOfCall&) = delete;

  std::size_t copy_to(std::uint64_t* numbers, std::size_t room) const;

 private:
  void look() noexcept;

  // The rest is set where it is used: most calls are made while nobody wants to know.
  bool looked_ = false;
  const FramesOfCall* around_;
  std::size_t count_;
  std::array<std::uint64_t, 32> numbers_;
};

// Code of the program runs inside a call: it is somewhere else than the call.
class InProgram {
 public:
  InProgram() : call_{t_frames_of_call} { t_frames_of_call = nullptr; }
  ~InProgram() { t_frames_of_call = call_; }
  InProgram(const InProgram&) = delete;
  InProgram& operator=(const InProgram&) = delete;

 private:
  const FramesOfCall* const call_;
};

}  // namespace belay::python
