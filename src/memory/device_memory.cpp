#include "memory/device_memory.h"

#include <algorithm>
#include <utility>

#include "base/words.h"
#include "observe/observe.h"
#include "platform/kernel_pages.h"

namespace belay {

void DeviceMemory::open(std::uint32_t device, machine::Ledger& ledger, HeapMap& map, Contents& contents) {
  device_ = device;
  map_ = &map;
  contents_ = &contents;
  books_.open(ledger);
  for (std::size_t i = 0; i < kHeapClasses; ++i) pools_[i].open(map, static_cast<HeapClass>(i), device);
}

HeapClass DeviceMemory::class_of(Page page, Origin origin) {
  switch (origin) {
    case Origin::MediaV1:
    case Origin::MediaV2:
      return HeapClass::Media;
    case Origin::Host:
      return HeapClass::Host;
    case Origin::Malloc:
      break;
  }
  return page == Page::Huge2M ? HeapClass::Huge2M : HeapClass::Normal;
}

Refusal DeviceMemory::shortage(const Plan& plan) const {
  const Amounts pool = books_.pool();
  const Amounts kind = books_.of(plan.page, plan.p2p);
  observe::publish(
      {observe::What::AllocationRefused, device_, 0, 0, plan.asked, plan.footprint, page_bytes(plan.page)});
  return out_of_memory("M-86",
                       fmt::format("module APP asked for {} bytes on device {}, which take {} ({} bytes) of "
                                   "{} pages; the device has {} "
                                   "bytes free of {} in all, {} free for that kind of page",
                                   plan.asked, device_, amount(plan.footprint), plan.footprint,
                                   amount(page_bytes(plan.page)), pool.free, pool.total, kind.free),
                       "not enough memory of the kind that the policy asks for",
                       "free memory or ask for less; BELAY_HBM, BELAY_HUGE, BELAY_HUGE1G and BELAY_NORMAL "
                       "set how much there is");
}

Refusal DeviceMemory::pool_is_empty(const Plan& plan) const {
  observe::publish(
      {observe::What::AllocationRefused, device_, 0, 0, plan.asked, plan.footprint, page_bytes(plan.page)});
  const std::size_t page = page_bytes(plan.page);
  return out_of_memory(
      "M-86",
      fmt::format(
          "module APP asked for {} bytes on device {}, which take {} pages of {}; the kernel's pool has not "
          "that many left (BELAY_PAGES=hugetlb)",
          plan.asked, device_, plan.footprint / page, amount(page)),
      "with BELAY_PAGES=hugetlb the device has as many huge pages as the kernel's pool",
      fmt::format(
          "free memory, enlarge the pool (/sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages), or use "
          "BELAY_PAGES=auto; 'belay doctor' tells more",
          page / 1_KiB));
}

DeviceMemory::Attempt DeviceMemory::attempt(const Plan& plan, Page page, std::size_t footprint,
                                            HeapClass heap_class) {
  if (!books_.take(page, footprint, plan.p2p)) return {};
  const bool alone = stands_alone(footprint, page);
  RangePool& pool = pools_[static_cast<std::size_t>(heap_class)];
  const std::uintptr_t start =
      alone ? map_->open_whole(footprint, device_, heap_class) : pool.take(footprint);
  if (start == 0) {
    books_.give(page, footprint, plan.p2p);
    return {
        0, out_of_memory("M-39",
                         fmt::format("no room of {} is left in the device address window", amount(footprint)),
                         "the window is full of live blocks, or the process has no address space left",
                         "free memory, or raise the limit on address space (ulimit -v)")};
  }
  // Media and host blocks share pages with others: those are not pages of their own.
  const bool whole_pages = heap_class == HeapClass::Normal || heap_class == HeapClass::Huge2M;
  const Begun begun = contents_->begin(start, footprint, whole_pages ? page : Page::Normal, plan.read_only);
  if (begun == Begun::Yes) return {start, nullptr};
  books_.give(page, footprint, plan.p2p);
  alone ? map_->close_whole(start, footprint) : pool.give(start, footprint);
  if (begun == Begun::PoolEmpty) return {0, nullptr, true};
  return {0,
          out_of_memory("M-86", fmt::format("the host could not map {} of device memory", amount(footprint)),
                        "host code may touch device memory here, and the kernel refused the mapping",
                        "raise vm.max_map_count or the limit on address space (ulimit -v)")};
}

Result<std::uintptr_t> DeviceMemory::allocate(const Plan& plan, std::uint8_t module, Origin origin) {
  Page page = plan.page;
  std::size_t footprint = plan.footprint;
  Attempt got = attempt(plan, page, footprint, class_of(page, origin));
  if (got.start == 0 && got.reason == nullptr && plan.when_short != page) {
    // Only a shortage leads to the other pages, and then the whole block goes there (M-421).
    page = plan.when_short;
    footprint = plan.footprint_when_short;
    got = attempt(plan, page, footprint, class_of(page, origin));
  }
  if (got.start == 0) {
    if (got.reason != nullptr) return std::move(got.reason);
    return got.pool_empty ? pool_is_empty(plan) : shortage(plan);
  }
  const std::uintptr_t start = got.start;
  Usage& usage = usage_[module];
  const std::size_t now = usage.current.fetch_add(footprint, std::memory_order_relaxed) + footprint;
  std::size_t peak = usage.peak.load(std::memory_order_relaxed);
  while (now > peak && !usage.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  map_->publish(start, {footprint / 4_KiB, page, origin, module, plan.read_only, plan.p2p}, plan.asked);
  observe::publish(
      {observe::What::DeviceAllocated, device_, start, 0, plan.asked, footprint, page_bytes(page)});
  return start;
}

void DeviceMemory::release(const Block& block) {
  observe::publish({observe::What::DeviceFreed, device_, block.start, 0, block.asked, block.footprint,
                    page_bytes(block.page)});
  contents_->end(block.start, block.footprint, block.read_only);
  usage_[block.module].current.fetch_sub(block.footprint, std::memory_order_relaxed);
  books_.give(block.page, block.footprint, block.p2p);
  if (stands_alone(block.footprint, block.page)) {
    map_->close_whole(block.start, block.footprint);
  } else {
    pools_[static_cast<std::size_t>(class_of(block.page, block.origin))].give(block.start, block.footprint);
  }
}

Amounts DeviceMemory::figures(Page page, bool p2p) const {
  if (!contents_->pool_is_limit()) return books_.of(page, p2p);
  // What is free of the pools, and what the machine holds: pages that strangers hold are not the device's.
  const auto free_in_pool = [](Page kind) {
    return platform::page_pool(page_bytes(kind)).free * page_bytes(kind);
  };
  const std::size_t giant_held = books_.in_use(Page::Huge1G);
  const std::size_t giant_free = std::min(books_.of(Page::Huge1G, p2p).free, free_in_pool(Page::Huge1G));
  if (page == Page::Huge1G) return {giant_free, giant_held + giant_free};
  // 1 GB pages are huge ones, too (D-50), and huge and normal add up to the device (M-430 a).
  const Amounts all = books_.pool();
  const std::size_t free = std::min(
      {all.free, books_.of(Page::Huge2M, p2p).free, free_in_pool(Page::Huge2M) + free_in_pool(Page::Huge1G)});
  const Amounts huge{free, std::min(all.total, books_.in_use(Page::Huge2M) + giant_held + free)};
  return page == Page::Huge2M ? huge : Amounts{all.free - huge.free, all.total - huge.total};
}

std::vector<ModuleUsage> DeviceMemory::usage() const {
  std::vector<ModuleUsage> list;
  for (std::size_t module = 0; module < usage_.size(); ++module) {
    const std::size_t peak = usage_[module].peak.load(std::memory_order_relaxed);
    if (peak == 0) continue;
    const std::size_t current = usage_[module].current.load(std::memory_order_relaxed);
    list.push_back({static_cast<std::uint8_t>(module), current, peak});
  }
  std::ranges::stable_sort(list,
                           [](const ModuleUsage& a, const ModuleUsage& b) { return a.current > b.current; });
  return list;
}

}  // namespace belay
