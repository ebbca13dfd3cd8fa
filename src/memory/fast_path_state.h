// One word that tells every thread whether what it keeps for the fast path is still true.
//
// Its epoch changes when there is a new memory or none, and when a context dies. Below it counts the reasons
// to leave the fast path alone (somebody waits for words of device memory, addresses are held back); then one
// bit tells that somebody listens to allocations and frees, which the fast path then writes down, and one
// that it keeps where in the program they were made; lowest it counts the devices whose peak has to be looked
// at after each allocation (device_memory.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace belay {

class FastPathState {
 public:
  static constexpr std::uint64_t kPeak = 1;
  static constexpr std::uint64_t kListening = std::uint64_t{1} << 16;
  static constexpr std::uint64_t kSited = std::uint64_t{1} << 17;
  static constexpr std::uint64_t kReason = std::uint64_t{1} << 18;
  static constexpr std::uint64_t kEpoch = std::uint64_t{1} << 36;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  // no epoch

  static std::uint64_t now() { return g_word.load(std::memory_order_seq_cst); }
  // The epoch, with marks in it if anything must be done beside what is usual.
  static std::uint64_t epoch(std::uint64_t word) { return word / kListening * kListening; }
  static bool has_peaks(std::uint64_t word) { return word % kListening != 0; }
  static std::uint64_t epoch_alone(std::uint64_t word) { return word / kEpoch * kEpoch; }
  static void next_epoch() { change(g_memory.load(), kEpoch); }

  // A new memory is current; returns its number.
  static std::uint64_t begin();
  static void end(std::uint64_t memory);  // if it still was this one
  static bool is_current(std::uint64_t memory) { return g_memory.load() == memory; }

  // Counts apply to their own memory only: those of a dead one are gone with it.
  static void add(std::uint64_t memory, std::uint64_t what) { change(memory, what); }
  static void remove(std::uint64_t memory, std::uint64_t what) { change(memory, 0 - what); }

 private:
  static void change(std::uint64_t memory, std::uint64_t by);
  static void become(std::uint64_t memory);
  static std::atomic<std::uint64_t> g_word, g_memory;
};

}  // namespace belay
