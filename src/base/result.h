// A value, or the reason why there is none.
#pragma once

#include <optional>
#include <utility>

#include "base/error.h"

namespace belay {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_{std::move(value)} {}              // NOLINT(google-explicit-constructor)
  Result(Refusal refusal) : refusal_{std::move(refusal)} {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return refusal_ == nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  Refusal take_refusal() { return std::move(refusal_); }

 private:
  std::optional<T> value_;
  Refusal refusal_;
};

// Done, or the reason why not. A null refusal is success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Refusal refusal) : refusal_{std::move(refusal)} {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return refusal_ == nullptr; }
  Refusal take_refusal() { return std::move(refusal_); }

 private:
  Refusal refusal_;
};

inline Status done() { return {}; }

}  // namespace belay

// Declares a variable with the value of a Result, or returns the reason why there is none from the function
// around it.
#define ASSIGN_OR_RETURN(declaration, result) \
  ASSIGN_OR_RETURN_VIA(BELAY_JOIN_NAMES(result_, __LINE__), declaration, result)
#define ASSIGN_OR_RETURN_VIA(name, declaration, result) \
  auto name = (result);                                 \
  if (!(name)) return (name).take_refusal();            \
  declaration = std::move(*(name))
#define BELAY_JOIN_NAMES(left, right) BELAY_JOIN_NAMES_EXPANDED(left, right)
#define BELAY_JOIN_NAMES_EXPANDED(left, right) left##right
