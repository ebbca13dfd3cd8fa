// Numbers in words that people read: amounts of memory, shares and addresses.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/size.h"

namespace belay {

// "1 byte", "4 KB", "1.90 GB": exact where the unit divides the amount, two digits otherwise.
inline std::string amount(std::size_t bytes) {
  if (bytes == 1) return "1 byte";
  if (bytes < 1_KiB) return fmt::format("{} bytes", bytes);
  struct Unit {
    std::size_t bytes;
    const char* name;
  };
  for (const Unit unit : {Unit{1_TiB, "TB"}, Unit{1_GiB, "GB"}, Unit{1_MiB, "MB"}, Unit{1_KiB, "KB"}}) {
    constexpr std::size_t kNoLess = 1024 * 200;  // 1023.995 of the smaller unit: two digits make that 1024.00
    if (bytes < unit.bytes - unit.bytes / kNoLess) continue;
    if (bytes % unit.bytes == 0) return fmt::format("{} {}", bytes / unit.bytes, unit.name);
    return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.name);
  }
  return {};
}

// "3000000 bytes (2.86 MB)".
inline std::string bytes_and_amount(std::size_t bytes) {
  return bytes < 1_KiB ? amount(bytes) : fmt::format("{} bytes ({})", bytes, amount(bytes));
}

// "1 block", "2 blocks"; where an s does not make the plural, it is given.
inline std::string counted(std::uint64_t n, std::string_view noun, std::string_view plural = {}) {
  if (n == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", n, noun) : fmt::format("{} {}", n, plural);
}

inline double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

inline std::string hex(std::uintptr_t address) { return fmt::format("{:#x}", address); }
inline std::string hex(const void* address) { return hex(reinterpret_cast<std::uintptr_t>(address)); }

}  // namespace belay
