// What there is to know about a block beyond its word: who it is, where it came from, and where it went.
//
// In a table beside the words of a heap, at the same index, made when the first block of the heap needs it:
// because somebody listens, or because the block is not APP's. A bit of the block's word says whether it has
// its number there; the rest is written down for blocks of other modules, and for all while somebody wants
// that (observe::Wish). It stays after the block's end, until its place is used again.
#pragma once

#include <atomic>
#include <cstdint>

#include "observe/observe.h"

namespace belay {

inline constexpr std::uint8_t kModuleRuntime = 7;
inline constexpr std::uint8_t kModuleApp = 33;  // of a block that has no facts

// As an event tells them.
constexpr std::uint8_t flags_of(bool read_only, bool p2p) {
  return static_cast<std::uint8_t>((read_only ? observe::Event::kReadOnly : 0) |
                                   (p2p ? observe::Event::kP2p : 0));
}

struct alignas(64) BlockFacts {
  // Who did it, where and when; times and call sites if somebody wants them.
  struct Moment {
    std::atomic<std::uint64_t> time_ns;
    std::atomic<std::uint32_t> thread, site;

    void set(const observe::Event& event) {
      time_ns.store(event.time_ns, std::memory_order_relaxed);
      thread.store(event.thread, std::memory_order_relaxed);
      site.store(event.site, std::memory_order_relaxed);
    }
  };

  std::atomic<std::uint64_t> serial;
  // Whom the rest is about, and of which module that is. Where it is not this block, nobody wanted to know
  // when it came, and it is APP's.
  std::atomic<std::uint64_t> described;
  Moment born, died;
  // Of the last block that ended here, where call sites are kept: its word as it was. Sites are written for
  // every block then, whether somebody listens or not.
  std::atomic<std::uint64_t> ended_word;
  // For whoever looks at how blocks are used (check/habits.h): the last use of some block here.
  std::atomic<std::uint64_t> used;

  // Before the block's word is there.
  void begin(const observe::Event& event) {
    born.set(event);
    described.store(event.serial << kModuleBits | event.module, std::memory_order_relaxed);
    serial.store(event.serial, std::memory_order_release);
  }
  void end(const observe::Event& event, std::uint64_t word) {
    died.set(event);
    ended_word.store(word, std::memory_order_relaxed);
  }

  bool is_described() const {
    return described.load(std::memory_order_relaxed) >> kModuleBits == serial.load(std::memory_order_relaxed);
  }
  std::uint8_t module() const { return static_cast<std::uint8_t>(described.load(std::memory_order_relaxed)); }

 private:
  static constexpr unsigned kModuleBits = 8;  // 2^56 numbers are left, one each nanosecond for two years
};
static_assert(sizeof(BlockFacts) == 64);

}  // namespace belay
