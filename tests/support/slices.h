// How much of a random, kill or stress test runs, and with which seed.
//
// A run takes a slice of each, about a second. ACL_TEST_LONG=1 asks for the whole, and ACL_TEST_SEED for a
// seed that was printed, again.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>

#include "support/sanitizer.h"

namespace belay_test {

inline bool whole() {
  const char* const text = std::getenv("ACL_TEST_LONG");
  return text != nullptr && *text != '\0' && std::string_view{text} != "0";
}

// How many rounds to do. `slower`: the part of it that a build with a sanitizer does in about the same time.
template <typename Count>
Count slice(Count part, std::type_identity_t<Count> full, std::type_identity_t<Count> slower = 1) {
  const Count count = whole() ? full : part;
  if (!kUnderASanitizer || slower <= 1) return count;
  return count < slower ? Count{1} : static_cast<Count>(count / slower);
}

// Chosen before main, so that the processes that a test forks have the same one.
inline const std::uint64_t kSeed = [] {
  const char* const text = std::getenv("ACL_TEST_SEED");
  return text == nullptr || *text == '\0' ? std::uint64_t{std::random_device{}()}
                                          : std::strtoull(text, nullptr, 0);
}();

// Whoever asks first has it printed.
inline std::uint64_t test_seed() {
  static const bool told = [] {
    std::cout << "ACL_TEST_SEED=" << kSeed << std::endl;
    return true;
  }();
  (void)told;
  return kSeed;
}

// For SCOPED_TRACE.
inline std::string seed_text() { return "ACL_TEST_SEED=" + std::to_string(test_seed()); }

// A generator of its own for each thread, process or round.
inline std::mt19937 test_random(std::uint64_t number = 0) {
  const std::uint64_t seed = test_seed();
  std::seed_seq mix{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U),
                    static_cast<std::uint32_t>(number)};
  return std::mt19937{mix};
}

}  // namespace belay_test
