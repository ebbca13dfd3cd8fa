// "4G", "512M", "64K", "4096": amounts of memory as people write them.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace belay::config {

inline std::optional<std::size_t> parse_amount(std::string_view text) {
  std::size_t value = 0;
  std::size_t at = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
    const auto digit = static_cast<std::size_t>(text[at] - '0');
    if (value > (SIZE_MAX - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  if (at == 0) return std::nullopt;
  std::string_view unit = text.substr(at);
  if (unit.size() > 1 && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  if (unit.size() > 1 && (unit.back() == 'i')) unit.remove_suffix(1);
  if (unit.empty()) return value;
  if (unit.size() != 1) return std::nullopt;
  unsigned shift = 0;
  switch (std::toupper(static_cast<unsigned char>(unit[0]))) {
    case 'B':
      shift = 0;
      break;
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    case 'T':
      shift = 40;
      break;
    default:
      return std::nullopt;
  }
  if (value > SIZE_MAX >> shift) return std::nullopt;
  return value << shift;
}

}  // namespace belay::config
