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
