// A value that only grows, whoever writes it: peaks.
#pragma once

#include <atomic>

namespace belay {

// Whether it was lower.
template <class Value>
bool raise(std::atomic<Value>& peak, Value value) {
  Value seen = peak.load();
  while (value > seen) {
    if (peak.compare_exchange_weak(seen, value)) return true;
  }
  return false;
}

}  // namespace belay
