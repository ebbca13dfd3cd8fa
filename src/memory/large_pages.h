// Real large pages behind emulated ones, where the machine has them.
//
// A block of 2 MB or 1 GB pages gets pages of the kernel's pools (hugetlb) if it has any; else 2 MB pages
// that the kernel makes out of small ones, once all of such a page is in use; else small pages. With
// Pages::Hugetlb the pool is the device's: a block gets its pages when it is allocated, or is refused.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/backing_file.h"

namespace belay {

enum class Pages : std::uint8_t { Auto, Hugetlb, Thp, Small };

// Not thread-safe: BackingStore calls it under its lock.
class LargePages {
 public:
  explicit LargePages(Pages wish) : wish_{wish} {}

  bool must_be_from_pool() const { return wish_ == Pages::Hugetlb; }
  // Pool pages behind a part that holds nothing yet: all of it, or nothing and false.
  bool take_from_pool(const Part& part);
  // The same, page by page, where the pool still has some and nothing is there yet.
  template <class IsEmpty>
  void offer_pool(const Part& part, IsEmpty&& is_empty) {
    if (wish_ != Pages::Auto || !large(part.segment) || !pool_may_have(part.segment)) return;
    const std::size_t page = page_bytes(part.segment.page.load(std::memory_order_relaxed));
    for (std::size_t at = round_down(part.offset, page); at < part.end(); at += page) {
      const Part whole = part.at(at, page);
      if (in_pool(part.segment, at) || !is_empty(whole)) continue;
      if (!take_from_pool(whole)) return;
    }
  }
  // A whole 2 MB of a large page is in use now: makes it one page if the kernel can.
  void join(const Segment& segment, std::size_t offset);

  static bool large(const Segment& segment) {
    return segment.page.load(std::memory_order_relaxed) != Page::Normal;
  }
  static bool in_pool(const Segment& segment, std::size_t offset) {
    const std::uint64_t word = segment.pooled[offset / 2_MiB / 64].load(std::memory_order_relaxed);
    return (word >> offset / 2_MiB % 64 & 1) != 0;
  }
  // Gives pool pages of the range back; the view leads to the file again.
  void give_to_pool(const Part& part);

 private:
  bool pool_may_have(const Segment& segment);

  Pages wish_;
  bool looked_ = false;
  bool pool_[2] = {false, false};  // of 2 MB, of 1 GB: tried or believed to have some
  int refusals_ = 0;               // to make large pages out of small ones
};

}  // namespace belay
