// Many bytes to write and to find again, made quickly.
#pragma once

#include <algorithm>
#include <cstring>

#include "support/blocks.h"

namespace belay_test {

// They repeat after 65,521 bytes, a prime, so that no two pages hold the same.
inline Bytes stripes(std::size_t count, unsigned seed) {
  const Bytes one = pattern(std::min<std::size_t>(count, 65521), seed);
  Bytes all(count);
  for (std::size_t done = 0; done < count; done += one.size())
    std::memcpy(all.data() + done, one.data(), std::min(one.size(), count - done));
  return all;
}

}  // namespace belay_test
