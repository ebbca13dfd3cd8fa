// Large pages of the kernel: from its pools, or made out of small ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace belay::platform {

// Is there a pool of pages of this size that has, or could get, any?
bool has_page_pool(std::size_t page);

// Puts pages of the kernel's pool behind addresses of ours, in place of what is mapped there, all present at
// once: a later touch cannot fail. On false the addresses are mapped to nothing that can be used.
bool back_from_pool(std::byte* at, std::size_t bytes, std::size_t page);

enum class Collapse : std::uint8_t { Done, NotNow, NotHere };
// Makes one 2 MB page out of the small ones at a multiple of 2 MB. NotHere: this kernel never does.
Collapse collapse_pages(std::byte* at);

struct PagePool {
  std::size_t total = 0, free = 0;  // pages; free: not set aside for anybody
};
PagePool page_pool(std::size_t page);

// What may still be committed before the kernel runs out and kills, and out of how much in all: the machine,
// or the control group that leaves the least. SIZE_MAX when nothing tells.
struct MemoryLeft {
  std::size_t available = SIZE_MAX, total = SIZE_MAX;
};
MemoryLeft memory_left();

}  // namespace belay::platform
