// Why device memory has no bytes behind it, in words: which limit or denial it was, and what can be done.
#pragma once

#include <string>
#include <system_error>

#include "base/words.h"
#include "platform/shared_bytes.h"

namespace belay {

struct Unreachable {
  std::string cause, remedy;
};

inline Unreachable unreachable(const platform::Obstacles& obstacles) {
  constexpr const char* kNoRoom = "there is no address space for a mapping in its place";
  constexpr const char* kOtherwise =
      "raise ulimit -v, or make the devices smaller or fewer with BELAY_HBM and BELAY_DEVICES";
  if (obstacles.file_limit) {
    return {fmt::format("ulimit -f allows files of at most {}, which is too short for them, and {}",
                        amount(*obstacles.file_limit), kNoRoom),
            fmt::format("raise ulimit -f (RLIMIT_FSIZE), {}", kOtherwise)};
  }
  if (obstacles.file_error != 0) {
    return {fmt::format("the kernel provides no file in memory (memfd_create: {}), and {}",
                        std::generic_category().message(obstacles.file_error), kNoRoom),
            fmt::format("allow memfd_create where a sandbox or a seccomp filter denies it, {}", kOtherwise)};
  }
  return {"the host is out of memory or address space", "free host memory, or raise ulimit -v"};
}

}  // namespace belay
