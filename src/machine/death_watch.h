// Being told that another process has left the machine: by exit, a signal, or by becoming another program.
//
// A live process has a lock that the kernel takes back at that moment (process_table.h). For each process
// that somebody here depends on, a thread waits for that lock. Such a thread cannot be called back, so it
// stays until that process is gone, and serves whoever depends on it next: also after this process has left
// the machine and come again. A process that has closed its files has no lock, but lives; it is looked at
// once a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "machine/state.h"
#include "platform/common_memory.h"

namespace belay::machine {

class ProcessTable;

class DeathWatch {
 public:
  DeathWatch(platform::CommonMemory& memory, State& state, ProcessTable& processes)
      : memory_{memory}, state_{state}, processes_{processes} {}

  // `told` is called on a thread of ours when somebody of those that are watched is gone.
  void begin(std::function<void()> told);
  void end();  // when it returns, nobody is told any more

  // The process of a recorder (state.h) is watched from now on. False: there is no thread for it.
  bool watch(std::uint64_t recorder);
  bool gone(std::uint64_t recorder) const;

  // Asked by those threads: whether nothing is left to wait for.
  bool over(std::uint64_t machine, std::uint64_t recorder) const;

 private:
  platform::CommonMemory& memory_;
  State& state_;
  ProcessTable& processes_;
  std::function<void()> told_;
};

// In the child of a fork: the threads are the parent's.
void forget_death_watch();

}  // namespace belay::machine
