// What `belay run` shares with the processes of the program that it runs: they count, and it prints.
//
// A file in memory of `belay run`, which stays until the program has ended. Each process counts in a place of
// its own there, and the rings of its threads are there too, so that nothing is missing when it ends by _exit
// or is killed. Where it cannot be reached (another user, another space of process numbers, no address space)
// or is full, a process counts for itself and prints at its end.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "observe/ring.h"
#include "platform/common_memory.h"
#include "trace/tally.h"

namespace belay::trace {

struct RunRecord {
  static constexpr std::size_t kMostProcesses = 256;
  static constexpr std::size_t kMostRings = 1024;
  struct ProcessPlace {
    std::atomic<bool> filled;
    alignas(64) std::array<std::byte, sizeof(ProcessRecord)> record;
  };
  struct RingPlace {
    std::atomic<std::uint32_t> image;  // whose ring is there; 0: none
    alignas(64) std::array<std::byte, sizeof(observe::Ring)> ring;
  };
  std::atomic<std::uint32_t> images, processes;
  std::array<ProcessPlace, kMostProcesses> process_places;
  std::array<RingPlace, kMostRings> ring_places;
};

// In `belay run`.
class RunRecorder {
 public:
  RunRecorder();
  // For the environment of the program; empty where there is no such memory.
  std::string link() const;
  // Every process that has called the library so far, with all that it has told.
  struct Seen {
    const ProcessRecord* record;
    Tally tally;
  };
  std::vector<Seen> look() const;
  // Calls act(number in the trace, ring) for the rings of traced processes that hold what was not told yet.
  template <class Act>
  void each_ring_left(Act&& act) const {
    for (const auto& [number, ring] : traced_rings()) act(number, *ring);
  }

 private:
  std::vector<std::pair<std::uint32_t, const observe::Ring*>> traced_rings() const;

  platform::CommonMemory memory_;
};

// In a process of the program. All null where there is nothing to join, or no place left.
ProcessRecord* place_in_run(const std::string& link);
void* ring_place();  // see observe::keep_rings
void leave_ring_place(void* ring);
void forget_run();  // in a forked child: it joins anew

}  // namespace belay::trace
