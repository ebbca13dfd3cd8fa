// 16-bit floating point, with the vendor's treatment of what does not fit.
#pragma once

#include <bit>
#include <cstdint>

namespace belay {

// Exact. The exponent of infinities and NaNs is read like any other: +-65536 and up.
constexpr float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1FU;
  std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {
    if (fraction == 0) return std::bit_cast<float>(sign);
    std::uint32_t shift = 0;
    while ((fraction & 0x400U) == 0) {
      fraction <<= 1;
      ++shift;
    }
    return std::bit_cast<float>(sign | (113 - shift) << 23 | (fraction & 0x3FFU) << 13);
  }
  if (exponent == 0x1F) {
    // Infinity is +-65536, every NaN the value that half of its fraction would give.
    const std::uint32_t magnitude =
        fraction == 0 ? std::bit_cast<std::uint32_t>(65536.0F) : std::bit_cast<std::uint32_t>(98304.0F);
    return fraction == 0 ? std::bit_cast<float>(sign | magnitude) : std::bit_cast<float>(magnitude);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

// Round to nearest even; what is too large, infinite or not a number becomes the largest finite value.
constexpr std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return 0x7BFF;  // NaN
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const auto rounded = [](std::uint32_t mantissa, std::uint32_t shift) {
    const std::uint32_t half_way = 1U << (shift - 1);
    const std::uint32_t rest = mantissa & ((1U << shift) - 1);
    const std::uint32_t kept = mantissa >> shift;
    return kept + ((rest > half_way || (rest == half_way && (kept & 1U) != 0)) ? 1U : 0U);
  };
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t half = 0;
  if (exponent >= 113) {
    half = exponent > 143 ? 0x7C00U : rounded((exponent - 112) << 23 | (magnitude & 0x7FFFFFU), 13);
  } else if (exponent >= 102) {
    half = rounded((magnitude & 0x7FFFFFU) | 0x800000U, 126 - exponent);
  }
  if (half > 0x7BFFU) half = 0x7BFFU;
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace belay
