// Which addresses are for what, and where that goes where its first place is taken.
//
// |  TiB     | holds                                                                                     |
// |----------|-------------------------------------------------------------------------------------------|
// |  7 -  8  | device addresses of registered host memory (D-31)                                         |
// |  9 - 12  | managed memory (V-270)                                                                    |
// | 16 - 18  | media memory (D-31)                                                                       |
// | 18.75-24 | plain blocks, reservations without a wish, imports (D-31, V-77)                           |
// | 24 - 40  | the same, when there is no room below                                                     |
// | 40 - 128 | reservations at a wished address (V-89); nothing of it is set aside beforehand            |
//
// Under ASan everything up to 16 TiB and 2 GB is shadow, and the device window moves to 33 TiB, where the
// driver has it then, too (D-36). TSan leaves 32 - 48 TiB, as numbers that nothing can be mapped to. Valgrind
// needs seconds for a terabyte that is reserved, and a limit on address space (RLIMIT_AS) counts it: there
// the numbers are used without being reserved. `ulimit -s unlimited` puts libraries at 20 TiB. Kernels with
// 39 bits of addresses have 512 GB in all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/size.h"

namespace belay::platform {

struct AddressWish {
  std::uintptr_t base;  // 0: anywhere
  std::size_t bytes;
};

// In the order in which they are tried. The parts of the device window keep their distances (heap_map.cpp).
inline constexpr std::size_t kDeviceWindow = 8_TiB;  // the driver's
inline constexpr std::size_t kWholeWindow = 24_TiB;  // with what 64 devices of 255 GB need besides
inline constexpr std::uintptr_t kDeviceBase = 16_TiB;
inline constexpr std::array<AddressWish, 7> kDeviceWishes{{{kDeviceBase, kWholeWindow},
                                                           {kDeviceBase, kDeviceWindow},
                                                           {33_TiB, kWholeWindow},
                                                           {33_TiB, 15_TiB},
                                                           {33_TiB, kDeviceWindow},
                                                           {0, kDeviceWindow},
                                                           {0, 256_GiB}}};

inline constexpr std::array<AddressWish, 6> kManagedWishes{{{9_TiB, 3_TiB},  // V-270
                                                            {60_TiB, 3_TiB},
                                                            {0, 3_TiB},
                                                            {0, 256_GiB},
                                                            {0, 16_GiB},
                                                            {0, 1_GiB}}};
inline constexpr std::array<AddressWish, 3> kAliasWishes{{{7_TiB, 1_TiB}, {32_TiB, 1_TiB}, {0, 1_TiB}}};

}  // namespace belay::platform
