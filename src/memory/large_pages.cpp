#include "memory/large_pages.h"

#include "platform/kernel_pages.h"

namespace belay {
namespace {

constexpr int kPatience = 16;  // refusals in a row after which belay stops asking

std::size_t pool_of(Page page) { return page == Page::Huge1G ? 1 : 0; }

void mark(Segment& segment, std::size_t offset, std::size_t bytes, bool pooled) {
  for (std::size_t at = offset / 2_MiB; at < (offset + bytes) / 2_MiB; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at % 64;
    if (pooled) {
      segment.pooled[at / 64].fetch_or(bit, std::memory_order_relaxed);
    } else {
      segment.pooled[at / 64].fetch_and(~bit, std::memory_order_relaxed);
    }
  }
}

}  // namespace

bool LargePages::pool_may_have(const Segment& segment) {
  if (!looked_) {
    pool_[0] = platform::has_page_pool(2_MiB);
    pool_[1] = platform::has_page_pool(1_GiB);
    looked_ = true;
  }
  return pool_[pool_of(segment.page.load(std::memory_order_relaxed))];
}

bool LargePages::take_from_pool(const Part& part) {
  std::byte* view = part.segment.view.load(std::memory_order_relaxed);
  if (view == nullptr || !part.file.bytes().is_file()) return false;
  const Page page = part.segment.page.load(std::memory_order_relaxed);
  if (platform::back_from_pool(view + part.offset, part.bytes, page_bytes(page))) {
    mark(part.segment, part.offset, part.bytes, true);
    return true;
  }
  // Empty, until pages of ours go back.
  pool_[pool_of(page)] = false;
  part.file.bytes().map_at(reinterpret_cast<std::uintptr_t>(view + part.offset), part.in_file(), part.bytes);
  return false;
}

void LargePages::give_to_pool(const Part& part) {
  std::byte* view = part.segment.view.load(std::memory_order_relaxed);
  for (std::size_t at = round_down(part.offset, 2_MiB); at < part.end();) {
    if (!in_pool(part.segment, at)) {
      at += 2_MiB;
      continue;
    }
    std::size_t stop = at;
    while (stop < part.end() && in_pool(part.segment, stop)) stop += 2_MiB;
    const Part run = part.at(at, stop - at);
    part.file.bytes().map_at(reinterpret_cast<std::uintptr_t>(view + at), run.in_file(), run.bytes);
    mark(part.segment, at, stop - at, false);
    pool_[pool_of(part.segment.page.load(std::memory_order_relaxed))] = true;
    at = stop;
  }
}

void LargePages::join(const Segment& segment, std::size_t offset) {
  if (wish_ == Pages::Small || wish_ == Pages::Hugetlb || refusals_ >= kPatience) return;
  std::byte* view = segment.view.load(std::memory_order_relaxed);
  if (view == nullptr) return;
  // The kernel wants one page to be there. Others may be writing to it.
  __atomic_fetch_or(reinterpret_cast<unsigned char*>(view + offset), 0, __ATOMIC_RELAXED);
  switch (platform::collapse_pages(view + offset)) {
    case platform::Collapse::Done:
      refusals_ = 0;
      break;
    case platform::Collapse::NotNow:
      ++refusals_;
      break;
    case platform::Collapse::NotHere:
      refusals_ = kPatience;
      break;
  }
}

}  // namespace belay
