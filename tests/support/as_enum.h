// A number where an enum is expected, as a C program may pass it, whether the enum has it or not.
#pragma once

#include <cstring>

namespace belay_test {

template <typename Enum>
inline Enum as_enum(int number) {
  static_assert(sizeof(Enum) == sizeof(int));
  Enum value;
  std::memcpy(&value, &number, sizeof value);
  return value;
}

}  // namespace belay_test
