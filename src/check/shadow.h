// Which bytes of a piece of memory somebody has written.
//
// In three steps, each made only where it is needed, so that what is written whole costs next to nothing:
//
//   256 KB   nothing | all | 64 of the next
//     4 KB   nothing | all | a bit for each byte
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace belay::check {

class Shadow {
 public:
  explicit Shadow(std::uint64_t bytes) : bytes_{bytes} {}
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  ~Shadow();

  // What is beyond the end is ignored by all of these, and counts as written.
  void set(std::uint64_t start, std::uint64_t bytes) { change(start, bytes, true); }
  void clear(std::uint64_t start, std::uint64_t bytes) { change(start, bytes, false); }
  struct Missing {
    std::uint64_t first = 0, bytes = 0;
  };
  Missing missing(std::uint64_t start, std::uint64_t bytes) const;
  // As the bytes themselves are copied, also onto themselves (M-244).
  void carry(std::uint64_t to, const Shadow& from, std::uint64_t start, std::uint64_t bytes);

  std::uint64_t bytes() const { return bytes_; }
  std::size_t memory() const;  // bytes that it takes, without itself

 private:
  struct Bits;
  struct Leaf;
  void change(std::uint64_t start, std::uint64_t bytes, bool written);
  void change_in_leaf(std::size_t number, std::uint64_t start, std::uint64_t end, bool written);
  std::size_t chunks_of(std::size_t leaf) const;
  // act(start, bytes, written), from the start to the end, neighbours of one state in one.
  template <class Act>
  void each_run(std::uint64_t start, std::uint64_t bytes, Act&& act) const;

  const std::uint64_t bytes_;
  std::vector<Leaf*> leaves_;  // as far as anything was written; null: nothing is
};

}  // namespace belay::check
