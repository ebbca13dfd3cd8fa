// What stands in memory of the program, taken exactly once.
//
// Arguments behind a pointer can change while a call runs: another thread may write there, or the call
// itself, when an output overlaps them. Whoever checks such a value and uses it later reads it here once, so
// that what was checked is what is used. The compiler must not read it a second time either, hence volatile.
#pragma once

#include <type_traits>

namespace belay {

template <class Value>
Value read_once(const Value& value) {
  static_assert(std::is_scalar_v<Value>, "more than a word is copied, and the copy is used");
  return static_cast<const volatile Value&>(value);
}

}  // namespace belay
