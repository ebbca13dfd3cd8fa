// State of a check, made anew by each restart.
#pragma once

#include <deque>
#include <memory>
#include <utility>

namespace belay::check {

// A straggler on another thread may still hold an older one: the last few stay. Under the lock under which
// the runtime is made.
template <class State, class... Of>
State* make_anew(Of&&... of) {
  constexpr std::size_t kRestarts = 4;
  static auto* const kept = new std::deque<std::unique_ptr<State>>;
  if (kept->size() >= kRestarts) kept->pop_front();
  return kept->emplace_back(std::make_unique<State>(std::forward<Of>(of)...)).get();
}

}  // namespace belay::check
