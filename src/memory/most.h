// How many bytes there are of something, and the most there were at once, where others can read it.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/raise.h"

namespace belay {

class Most {
 public:
  // Under a lock of whoever counts.
  void add(std::size_t bytes) {
    now_ += bytes;
    if (std::atomic<std::size_t>* shown = shown_.load()) raise(*shown, now_);
  }
  void remove(std::size_t bytes) { now_ -= bytes; }
  std::size_t now() const { return now_; }

  void show(std::atomic<std::size_t>* at) { shown_.store(at); }  // null: nobody wants to know any more

 private:
  std::size_t now_ = 0;
  std::atomic<std::atomic<std::size_t>*> shown_{nullptr};
};

}  // namespace belay
