// Sizes by name.
#pragma once

#include <cstddef>

namespace bench {

inline constexpr std::size_t kKilo = std::size_t{1} << 10;
inline constexpr std::size_t kMega = std::size_t{1} << 20;
inline constexpr std::size_t kGiga = std::size_t{1} << 30;

}  // namespace bench
