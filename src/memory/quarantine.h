// Addresses that came back and are not to be used again yet, so that those who still use them are found out:
// until so many bytes of others came back after them. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>

namespace belay {

class Quarantine {
 public:
  bool keeps() const { return most_ != 0; }
  bool empty() const { return held_.empty(); }

  // reuse(start, bytes) gets what may be used again. With a most of 0 nothing is kept.
  template <class Reuse>
  void put(std::uintptr_t start, std::size_t bytes, Reuse&& reuse) {
    if (most_ == 0) return reuse(start, bytes);
    try {
      held_.push_back({start, bytes});
    } catch (const std::bad_alloc&) {
      return;  // as in RunMap: it is lost, which costs addresses only
    }
    bytes_ += bytes;
    shorten(most_, reuse);
  }
  template <class Reuse>
  void set_most(std::size_t bytes, Reuse&& reuse) {
    most_ = bytes;
    shorten(most_, reuse);
  }
  // Better an address that was used shortly before than none.
  template <class Reuse>
  void give_all(Reuse&& reuse) {
    shorten(0, reuse);
  }

 private:
  struct Held {
    std::uintptr_t start;
    std::size_t bytes;
  };
  template <class Reuse>
  void shorten(std::size_t most, Reuse& reuse) {
    while (bytes_ > most) {
      const Held oldest = held_.front();
      held_.pop_front();
      bytes_ -= oldest.bytes;
      reuse(oldest.start, oldest.bytes);
    }
  }

  std::deque<Held> held_;  // the oldest first
  std::size_t bytes_ = 0, most_ = 0;
};

}  // namespace belay
