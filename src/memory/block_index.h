// What the bytes of plain blocks must ask of the addresses: who knows blocks answers (heap_map.h).
#pragma once

#include <cstddef>

namespace belay {

class BlockIndex {
 public:
  // Bytes from here on, in the file of plain blocks, that all belong to a block, or all to none.
  struct Run {
    bool in_use;
    std::size_t end;
  };
  virtual Run run_at(std::size_t offset) const = 0;
  // Something is written to a segment where nothing ever was.
  virtual void on_first_write(std::size_t segment) = 0;

 protected:
  ~BlockIndex() = default;
};

}  // namespace belay
