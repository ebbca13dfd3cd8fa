// Which of the orders that the documents allow is taken (BELAY_SCHEDULE).
#pragma once

#include <cstdint>

namespace belay::schedule {

enum class Mode : std::uint8_t {
  Eager,  // each task as soon as a worker is free
  Fifo,   // one task at a time, in the order of submission
  Lazy,   // nothing before somebody waits for it
  Seed,   // any legal order, drawn from a seed; also when nobody waits
};

struct Policy {
  Mode mode = Mode::Eager;
  std::uint64_t seed = 0;

  // In these the calls of the program move the work, so that the order depends on nothing else.
  bool driven() const { return mode == Mode::Lazy || mode == Mode::Seed; }
};

// Small and the same everywhere (splitmix64): a seed must replay on any machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_{seed} {}
  std::uint64_t below(std::uint64_t count) { return next() % count; }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
  }
  std::uint64_t state_;
};

}  // namespace belay::schedule
