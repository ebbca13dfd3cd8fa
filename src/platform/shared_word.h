// Waiting for a word in memory that processes share (common_memory.h) to change.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace belay::platform {

using SharedWord = std::atomic<std::uint32_t>;

// Returns when the word is no longer what it was, or the time is over; sometimes earlier.
void wait_for_change(const SharedWord& word, std::uint32_t was,
                     std::optional<std::chrono::milliseconds> at_most = std::nullopt);
void tell_of_change(const SharedWord& word);

}  // namespace belay::platform
