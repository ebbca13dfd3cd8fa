#include "memory/fast_path_state.h"

namespace belay {
namespace {
constinit std::atomic<std::uint64_t> g_memories{0};
}  // namespace

constinit std::atomic<std::uint64_t> FastPathState::g_word{kEpoch};  // 0 is nobody's
constinit std::atomic<std::uint64_t> FastPathState::g_memory{0};

// First the number, so that nobody changes the new word in the name of the old memory.
void FastPathState::become(std::uint64_t memory) {
  g_memory.store(memory);
  std::uint64_t word = g_word.load();
  while (!g_word.compare_exchange_weak(word, epoch_alone(word) + kEpoch)) {
  }
}

std::uint64_t FastPathState::begin() {
  const std::uint64_t memory = g_memories.fetch_add(1) + 1;
  become(memory);
  return memory;
}

void FastPathState::end(std::uint64_t memory) {
  if (is_current(memory)) become(0);
}

void FastPathState::change(std::uint64_t memory, std::uint64_t by) {
  std::uint64_t word = g_word.load();
  while (is_current(memory) && !g_word.compare_exchange_weak(word, word + by)) {
  }
}

}  // namespace belay
