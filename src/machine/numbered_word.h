// A word of shared memory, and a number that goes up with it.
//
// Whoever read both, was stopped and goes on much later finds out that they changed, however often they did:
// 64 bits do not come round in the life of a machine. So nothing here relies on a word being new.
#pragma once

#include <atomic>
#include <cstdint>

namespace belay::machine {

struct alignas(16) NumberedWord {
  struct Value {
    std::uint64_t word = 0, number = 0;
  };

  std::atomic<std::uint64_t> word;  // some change it alone, within one number
  std::atomic<std::uint64_t> number;

  // The word as it was at one moment at which the number was that.
  Value load() const {
    for (;;) {
      const std::uint64_t before = number.load(std::memory_order_seq_cst);
      const std::uint64_t now = word.load(std::memory_order_seq_cst);
      if (number.load(std::memory_order_seq_cst) == before) return {now, before};
    }
  }

  // Both in one step, if both are as expected.
  bool exchange(Value expected, Value desired) {
#if defined(__x86_64__)
    bool changed = false;
    __asm__ volatile("lock cmpxchg16b %[both]"
                     : "=@ccz"(changed), [both] "+m"(*this), "+a"(expected.word), "+d"(expected.number)
                     : "b"(desired.word), "c"(desired.number)
                     : "memory");
    return changed;
#else
    __extension__ using Both [[gnu::may_alias]] = unsigned __int128;
    const auto both = [](Value value) { return Both{value.number} << 64 | value.word; };
    return __sync_bool_compare_and_swap(reinterpret_cast<Both*>(this), both(expected), both(desired));
#endif
  }
};
static_assert(sizeof(NumberedWord) == 16);

}  // namespace belay::machine
