// Large tables of which only a part is ever used: zero at first, and pages that nobody touches cost nothing.
//
// Not from malloc: that keeps and zeroes what was freed before, with all its pages.
#pragma once

#include <cstddef>
#include <utility>

namespace belay::platform {

class SparseMemory {
 public:
  SparseMemory() = default;
  // Empty where there is no room. `InSmall`: its start need not be that of a large page, which is quicker to
  // get.
  enum class Pages : bool { AsItIsLong, InSmall };
  explicit SparseMemory(std::size_t bytes, Pages pages = Pages::AsItIsLong);
  SparseMemory(SparseMemory&& other) noexcept
      : start_{std::exchange(other.start_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
  SparseMemory& operator=(SparseMemory&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SparseMemory();

  // Out of the object's care, and into it again.
  std::byte* release() {
    bytes_ = 0;
    return std::exchange(start_, nullptr);
  }
  SparseMemory(std::byte* start, std::size_t bytes) : start_{start}, bytes_{bytes} {}

  std::byte* start() const { return start_; }  // of a page; of a large one (2 MB), if it is that long
  explicit operator bool() const { return start_ != nullptr; }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

// A table that is used all over, at random, is better off on large pages. No more than a try.
void use_large_pages(void* start, std::size_t bytes);

}  // namespace belay::platform
