// Physical memory: a range of a backing file, and what its pages are. Addresses lead to it (mappings.h),
// several of them to the same one if a program wants, and it lives as long as somebody holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/backing_file.h"
#include "memory/plan.h"

namespace belay {

enum class Side : std::uint8_t { Device, Host };

struct Extent {
  Position start{};
  std::size_t bytes = 0;
  Side side = Side::Device;
  std::uint32_t device = 0;  // if it is on one
  Page page = Page::Normal;
  bool p2p = false;
  std::uint8_t module = 0;
  mutable std::uint64_t serial = 0;  // where other processes may hold it, too (physical_memory.h)
  bool borrowed = false;             // by key: it is another's, and ends when that one likes
  std::uint64_t number = 0;          // in this process, never used again
  mutable bool was_shown = false;    // host code could write it, at some time; an atomic of its users
};
// Whoever holds the last one gives the bytes and the pages back.
using ExtentPtr = std::shared_ptr<const Extent>;

}  // namespace belay
