// Sizes in bytes: units, and arithmetic that says when it would wrap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace belay {

inline namespace units {
constexpr std::size_t operator""_KiB(unsigned long long n) { return static_cast<std::size_t>(n) << 10; }
constexpr std::size_t operator""_MiB(unsigned long long n) { return static_cast<std::size_t>(n) << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return static_cast<std::size_t>(n) << 30; }
constexpr std::size_t operator""_TiB(unsigned long long n) { return static_cast<std::size_t>(n) << 40; }
}  // namespace units

using Size = std::optional<std::size_t>;  // empty once it has overflowed

constexpr Size add(Size a, std::size_t b) {
  if (!a || *a > SIZE_MAX - b) return std::nullopt;
  return *a + b;
}

// ALIGN_UP(len, k) = ((len - 1) / k + 1) * k, and 0 stays 0 (M-33).
constexpr Size round_up(Size bytes, std::size_t unit) {
  if (!bytes) return std::nullopt;
  const std::size_t rest = *bytes % unit;
  return rest == 0 ? bytes : add(bytes, unit - rest);
}

constexpr std::size_t round_down(std::size_t bytes, std::size_t unit) { return bytes / unit * unit; }

constexpr bool overlap(std::uintptr_t a, std::size_t a_bytes, std::uintptr_t b, std::size_t b_bytes) {
  return a < b ? b - a < a_bytes : a - b < b_bytes;
}

}  // namespace belay
