// Real large pages behind emulated ones, where the machine has them.
//
// A block of 2 MB or 1 GB pages gets pages of the kernel's pools (hugetlb) if it has any; else 2 MB pages
// that the kernel makes out of small ones, once all of such a page is in use; else small pages. With
// Pages::Hugetlb the pool is the device's: a block gets its pages when it is allocated, or is refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/heap_map.h"
#include "platform/shared_bytes.h"

namespace belay {

enum class Pages : std::uint8_t { Auto, Hugetlb, Thp, Small };

// Not thread-safe: Contents calls it under its lock.
class LargePages {
 public:
  LargePages(Pages wish, platform::SharedBytes& file) : wish_{wish}, file_{file} {}

  bool must_be_from_pool() const { return wish_ == Pages::Hugetlb; }
  // Pool pages behind a part of a heap that holds nothing yet: all of it, or nothing and false.
  bool take_from_pool(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes);
  // The same, page by page, where the pool still has some and nothing is there yet.
  template <class IsEmpty>
  void offer_pool(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes, IsEmpty&& is_empty) {
    if (wish_ != Pages::Auto || !large(heap) || !pool_may_have(heap)) return;
    const std::size_t page = page_bytes(heap.large.load(std::memory_order_relaxed));
    for (std::size_t at = round_down(offset, page); at < offset + bytes; at += page) {
      if (in_pool(heap, at) || !is_empty(at, page)) continue;
      if (!take_from_pool(heap, index, at, page)) return;
    }
  }
  // A whole 2 MB of a large page is in use now: makes it one page if the kernel can.
  void join(Heap& heap, std::size_t offset);

  static bool large(const Heap& heap) { return heap.large.load(std::memory_order_relaxed) != Page::Normal; }
  static bool in_pool(const Heap& heap, std::size_t offset) {
    return (heap.pooled[offset / 2_MiB / 64].load(std::memory_order_relaxed) >> offset / 2_MiB % 64 & 1) != 0;
  }
  // Gives pool pages of the range back; the addresses lead to the file again.
  void give_to_pool(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes);

 private:
  bool pool_may_have(const Heap& heap);

  Pages wish_;
  platform::SharedBytes& file_;
  bool looked_ = false;
  bool pool_[2] = {false, false};  // of 2 MB, of 1 GB: tried or believed to have some
  int refusals_ = 0;               // to make large pages out of small ones
};

}  // namespace belay
