// Something of which a process has one: made when it is first needed, and never destroyed, because it is used
// until the very end.
#pragma once

#include <atomic>
#include <vector>

namespace belay {

template <class State>
class OfProcess {
 public:
  constexpr OfProcess() = default;
  OfProcess(const OfProcess&) = delete;
  OfProcess& operator=(const OfProcess&) = delete;

  State& get() {
    State* one = if_any();
    if (one != nullptr) return *one;
    auto* made = new State;
    if (one_.compare_exchange_strong(one, made)) return *made;
    delete made;
    return *one;
  }
  State* if_any() const { return one_.load(std::memory_order_acquire); }

  // In the child of a fork: it is the parent's, and another thread may have held its lock. It stays
  // reachable, and is never used again.
  void set_aside() {
    static auto* of_parents = new std::vector<State*>;
    if (State* old = one_.exchange(nullptr)) of_parents->push_back(old);
  }

 private:
  std::atomic<State*> one_{nullptr};
};

}  // namespace belay
