#include "memory/device_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "base/raise.h"
#include "base/words.h"
#include "memory/fast_path_state.h"
#include "memory/unreachable.h"
#include "observe/observe.h"
#include "platform/kernel_pages.h"

namespace belay {

void DeviceMemory::open(std::uint32_t device, machine::PageQuota& quota, HeapMap& map, BackingStore& backing,
                        std::uint64_t number) {
  memory_ = number;
  device_ = device;
  map_ = &map;
  backing_ = &backing;
  quota_ = &quota;
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

// All that can have been short is named: the device, each kind of pages that would have served, and P2P.
Refusal DeviceMemory::shortage(const Plan& plan, const char* rule) const {
  const machine::Limits& limits = quota_->limits();
  const machine::Use use = quota_->used();
  const Amounts pool = pool_figures(limits, use);
  std::string needs, free, settings;
  const auto add = [](std::string& to, const char* between, const std::string& more) {
    if (!to.empty()) to += between;
    to += more;
  };
  const auto of_kind = [&](Page page, std::size_t footprint) {
    const std::string pages = amount(page_bytes(page)) + " pages";
    add(needs, " or ", fmt::format("{} ({} bytes) of {}", amount(footprint), footprint, pages));
    add(free, ", ", fmt::format("{} in {}", kind_figures(limits, use, page, false).free, pages));
    add(settings, ", ",
        page == Page::Huge1G   ? "BELAY_HUGE1G"
        : page == Page::Huge2M ? "BELAY_HUGE"
                               : "BELAY_NORMAL");
  };
  of_kind(plan.page, plan.footprint);
  if (plan.when_short != plan.page) of_kind(plan.when_short, plan.footprint_when_short);
  if (plan.p2p && limits.p2p != machine::kNoLimit) {
    add(free, ", ",
        fmt::format("{} of {} for P2P", p2p_figures(limits, use).free, p2p_figures(limits, use).total));
    add(settings, ", ", "BELAY_P2P");
  }
  Refusal refusal = out_of_memory(
      rule,
      fmt::format(
          "module APP asked for {} bytes on device {}, which take {}; the device has {} bytes free of "
          "{}: {}",
          plan.asked, device_, needs, pool.free, pool.total, free),
      plan.p2p ? "not enough memory of the kind that the policy asks for, or of what P2P may take"
               : "not enough memory of the kind that the policy asks for",
      fmt::format("free memory or ask for less; BELAY_HBM sets how much there is, {} how much of it is of "
                  "that kind",
                  settings));
  refusal->shortage = Shortage{
      device_, plan.asked, plan.footprint, page_bytes(plan.page), page_bytes(plan.when_short), plan.p2p};
  return refusal;
}

Refusal DeviceMemory::pool_is_empty(const Plan& plan, const char* rule) const {
  const std::size_t page = page_bytes(plan.page);
  return out_of_memory(
      rule,
      fmt::format(
          "module APP asked for {} bytes on device {}, which take {} pages of {}; the kernel's pool does "
          "not have that many left (BELAY_PAGES=hugetlb)",
          plan.asked, device_, plan.footprint / page, amount(page)),
      "with BELAY_PAGES=hugetlb the device has as many huge pages as the kernel's pool",
      fmt::format(
          "free memory, enlarge the pool (/sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages), or use "
          "BELAY_PAGES=auto; see 'belay doctor'",
          page / 1_KiB));
}

namespace {
std::size_t shard_of(const ThreadCache* cache) {
  return cache == nullptr ? machine::PageQuota::kCommonShard : cache->shard();
}

// Ranges are fetched several at a time: whoever needs one needs more, and words of one cache line should be
// one thread's.
constexpr std::size_t kMostAtOnce = 32;
std::size_t fetched_at_once(std::size_t footprint) {
  if (footprint <= 64_KiB) return kMostAtOnce;
  if (footprint <= 1_MiB) return kMostAtOnce / 2;
  return footprint <= 16_MiB ? kMostAtOnce / 4 : 1;
}

observe::Event event_of(observe::What what, const Block& block, std::uint8_t module) {
  return {.what = what,
          .object = observe::Object::DeviceBlock,
          .page_shift = static_cast<std::uint8_t>(std::countr_zero(page_bytes(block.page))),
          .module = module,
          .device = static_cast<std::uint8_t>(block.device),
          .flags = flags_of(block.read_only, block.p2p),
          .units = static_cast<std::uint32_t>(block.footprint / 4_KiB),
          .serial = block.serial != 0 ? block.serial : observe::next_serial(),
          .address = block.start,
          .bytes = block.asked};
}

// The policy that asks for this, as far as it makes a difference: up to 1 MB, HUGE_FIRST and NORMAL_ONLY do
// not.
observe::Event::Policy policy_of(const Plan& plan) {
  using Policy = observe::Event::Policy;
  if (plan.page == Page::Huge1G) return Policy::Huge1GOnly;
  if (plan.page == Page::Huge2M) return plan.when_short == plan.page ? Policy::HugeOnly : Policy::HugeFirst;
  return plan.asked > kPolicyRules[0].normal_up_to || plan.p2p ? Policy::NormalOnly : Policy::HugeFirst;
}
}  // namespace

std::uintptr_t DeviceMemory::take_range(const Plan& plan, std::size_t footprint, Page page, Origin origin,
                                        ThreadCache* cache) {
  const HeapClass heap_class = class_of(page, origin);
  if (origin != Origin::Malloc) cache = nullptr;
  const std::uint64_t key = key_of(footprint, page, plan.p2p, plan.read_only);
  if (const std::uintptr_t kept = cache == nullptr ? 0 : cache->take(key); kept != 0) return kept;
  const std::uintptr_t fresh = fresh_range(footprint, heap_class, key, cache);
  if (fresh != 0 || cache == nullptr) return fresh;
  cache->give_all_back();  // the addresses may all be in our own bins
  return fresh_range(footprint, heap_class, key, cache);
}

std::uintptr_t DeviceMemory::fresh_range(std::size_t footprint, HeapClass heap_class, std::uint64_t key,
                                         ThreadCache* cache) {
  RangePool& pool = pool_of(heap_class);
  if (cache == nullptr) return pool.take(footprint);
  std::array<std::uintptr_t, kMostAtOnce> ranges{};
  const std::size_t got = pool.take(footprint, std::span{ranges}.first(fetched_at_once(footprint)));
  for (std::size_t i = got; i > 1; --i) {
    if (!cache->keep(key, ranges[i - 1])) pool.give(ranges[i - 1], footprint);
  }
  return ranges[0];
}

std::uint64_t DeviceMemory::key_of(std::size_t footprint, Page page, bool p2p, bool read_only) const {
  return BinKey::of(BlockWord{footprint / 4_KiB, footprint, page, Origin::Malloc, read_only, p2p}.pack(),
                    device_);
}

// What other modules have is known before they have it, and until they have it no longer: for a moment APP
// may seem to have less than it has, but never more, which would be a peak that never was.
DeviceMemory::Attempt DeviceMemory::attempt(const Plan& plan, Page page, std::size_t footprint,
                                            std::uint8_t module, Origin origin, ThreadCache* cache,
                                            std::uintptr_t wished) {
  if (module != kModuleApp) of_others_.fetch_add(footprint);
  Attempt got = attempt(plan, page, footprint, origin, cache, wished);
  if (module != kModuleApp && got.start == 0) {
    of_others_.fetch_sub(footprint);
    open_peak();  // who looked meanwhile saw too little
  }
  return got;
}

DeviceMemory::Attempt DeviceMemory::attempt(const Plan& plan, Page page, std::size_t footprint, Origin origin,
                                            ThreadCache* cache, std::uintptr_t wished) {
  const std::size_t shard = shard_of(cache);
  const std::size_t kind = quota_kind(page, plan.p2p);
  if (!quota_->take(kind, footprint / 4_KiB, shard)) return {};
  const HeapClass heap_class = class_of(page, origin);
  const std::uintptr_t start = wished == 0 ? take_range(plan, footprint, page, origin, cache)
                               : pool_of(heap_class).take_at(wished, footprint) ? wished
                                                                                : 0;
  if (start == 0) {
    quota_->give(kind, footprint / 4_KiB, shard);
    open_peak();  // the pages were granted, and stay as credit
    return {
        0, out_of_memory(
               "M-39", fmt::format("there is no room for {} in the device address window", amount(footprint)),
               "the window is full of live blocks, or the process has no address space left",
               "free memory, or raise the limit on address space (ulimit -v)")};
  }
  // Media and host blocks share pages with others: those are not pages of their own.
  const bool whole_pages = heap_class == HeapClass::Normal || heap_class == HeapClass::Huge2M;
  const Backed begun =
      backing_->on_alloc(position_of(start), footprint, whole_pages ? page : Page::Normal, plan.read_only);
  if (begun == Backed::Yes) return {start, nullptr};
  quota_->give(kind, footprint / 4_KiB, shard);
  open_peak();
  pool_of(heap_class).give(start, footprint);
  if (begun == Backed::PoolEmpty) return {0, nullptr, true};
  Unreachable words{"host code may touch device memory here, and the kernel refused the mapping",
                    "raise vm.max_map_count or the limit on address space (ulimit -v)"};
  if (const platform::Obstacles obstacles = backing_->obstacles(); obstacles.mapping_error != 0)
    words = unreachable(obstacles);
  return {0,
          out_of_memory("M-86", fmt::format("the host could not map {} of device memory", amount(footprint)),
                        words.cause, words.remedy)};
}

Result<std::uintptr_t> DeviceMemory::allocate(const Plan& plan, std::uint8_t module, Origin origin,
                                              ThreadCache* cache, std::uintptr_t wished) {
  Page page = plan.page;
  std::size_t footprint = plan.footprint;
  Attempt got = attempt(plan, page, footprint, module, origin, cache, wished);
  if (got.start == 0 && got.reason == nullptr && plan.when_short != page) {
    // Only a shortage leads to the other pages, and then the whole block goes there (M-421).
    page = plan.when_short;
    footprint = plan.footprint_when_short;
    got = attempt(plan, page, footprint, module, origin, cache, wished);
  }
  if (got.start == 0) {
    if (got.reason != nullptr) return std::move(got.reason);
    return got.pool_empty ? pool_is_empty(plan) : shortage(plan);
  }
  const std::uintptr_t start = got.start;
  BlockFacts* facts = observe::keeps_blocks() || module != kModuleApp ? map_->facts_of(start) : nullptr;
  if (facts == nullptr && module != kModuleApp) {  // no memory to write it down: then it counts as APP's
    of_others_.fetch_sub(footprint);
    module = kModuleApp;
  }
  count(module, footprint, quota_kind(page, plan.p2p), shard_of(cache));
  begin_block(start, BlockWord{footprint / 4_KiB, plan.asked, page, origin, plan.read_only, plan.p2p}.pack(),
              module, facts, policy_of(plan));
  return start;
}

void DeviceMemory::begin_block(std::uintptr_t start, std::uint64_t word, std::uint8_t module,
                               BlockFacts* facts, observe::Event::Policy policy) {
  const bool heard = observe::wanted(observe::kBlocks);
  if (!heard && facts == nullptr) return map_->publish(start, word);
  observe::Event event = event_of(observe::What::Allocated, map_->block_from(start, word), module);
  event.flags |= observe::Event::flags_of(policy);
  if (observe::keeps_blocks()) observe::complete(event);
  if (facts != nullptr) {
    facts->begin(event);
    word |= BlockWord::kHasFacts | (module != kModuleApp ? BlockWord::kOtherModule : 0);
  }
  if (heard) observe::deliver(event);  // before anybody can end it
  map_->publish(start, word);
}

void DeviceMemory::tell_begun(std::uintptr_t start, bool at_once_only) {
  map_->name(start);
  const std::optional<Block> block = map_->find(start);
  if (!block) return;
  const observe::Event event = event_of(observe::What::Allocated, *block, block->module);
  at_once_only ? observe::deliver_at_once(event) : observe::publish(event);
}

void DeviceMemory::tell_freed(const Block& block, bool swept) {
  observe::Event event = event_of(observe::What::Freed, block, block.module);
  if (swept) event.flags |= observe::Event::kSwept;
  observe::complete(event);
  if (BlockFacts* facts =
          block.serial == 0 && !observe::keeps_sites() ? nullptr : map_->facts_of(block.start)) {
    facts->end(event, BlockWord{block.footprint / 4_KiB, block.asked, block.page, block.origin,
                                block.read_only, block.p2p}
                          .pack());
  }
  observe::publish(event);
}

void DeviceMemory::tell_given_back(const Block& block) {
  if (observe::wanted(observe::What::GivenBack))
    observe::deliver_at_once(event_of(observe::What::GivenBack, block, block.module));
}

void DeviceMemory::release(const Block& block, ThreadCache* cache, bool shared) {
  if (!shared) {
    backing_->on_free(position_of(block.start), block.footprint, block.read_only);
    quota_->give(quota_kind(block.page, block.p2p), block.footprint / 4_KiB, shard_of(cache));
  }
  if (block.module != kModuleApp) {
    usage_[block.module].current.fetch_sub(block.footprint);
    of_others_.fetch_sub(block.footprint);
    open_peak();  // what another module leaves, APP can take without asking, or has taken already
    note_peak(quota_kind(block.page, block.p2p), shard_of(cache));
  }
  if (shared) return;
  const bool kept = cache != nullptr && block.origin == Origin::Malloc &&
                    cache->keep(key_of(block.footprint, block.page, block.p2p, block.read_only), block.start);
  if (!kept) return_range(block.start, block.footprint, block.page, block.origin);
}

void DeviceMemory::count(std::uint8_t module, std::size_t bytes, std::size_t kind, std::size_t shard) {
  if (module != kModuleApp) {
    Usage& usage = usage_[module];
    raise(usage.peak, usage.current.fetch_add(bytes) + bytes);
  }
  open_peak();
  note_peak(kind, shard);
}

// At no time are there fewer marks than open peaks.
void DeviceMemory::open_peak() {
  FastPathState::add(memory_, FastPathState::kPeak);
  if (peak_open_.fetch_add(1) != 0) FastPathState::remove(memory_, FastPathState::kPeak);
}

// As long as the process was granted no more than its peak, it cannot have more in use without asking, and
// nobody needs to look. The mark is taken down only if nothing was granted since it was read.
//
// Credit of kinds that are not in use, of other pages or threads, may keep the mark up for long: after some
// looks it goes back, which costs its owner one request to the machine.
void DeviceMemory::note_peak(std::size_t kind, std::size_t shard) {
  constexpr std::uint32_t kPatience = 32;
  std::uint64_t open = peak_open_.load();
  machine::PageQuota::Own own = quota_->own();
  const std::size_t others = of_others_.load();
  const auto of_app = [&](std::uint64_t pages) { return pages * 4_KiB - std::min(pages * 4_KiB, others); };
  std::atomic<std::size_t>& peak = usage_[kModuleApp].peak;
  const bool higher = of_app(own.used) > peak.load() || own.used * 4_KiB > peak_.load();
  std::size_t pages = 0;
  try {
    if (higher) pages = quota_->surely_used();
  } catch (const std::bad_alloc&) {
    return;  // the mark stays, and the next one looks again
  }
  raise(peak, of_app(pages));
  if (raise(peak_, pages * 4_KiB)) {
    quota_->note_peak(pages);
    if (std::atomic<std::size_t>* shown = shown_peak_.load()) raise(*shown, pages * 4_KiB);
  }
  const std::size_t most = std::min(peak.load() + others, peak_.load()) / 4_KiB;
  if (open == 0) return;
  if (own.granted > most) {
    if (vain_looks_.fetch_add(1, std::memory_order_relaxed) < kPatience) return;
    vain_looks_.store(0, std::memory_order_relaxed);
    own.granted -= std::min(own.granted, quota_->return_own_credit(own.granted - most, kind, shard));
    if (own.granted > most) return;
  }
  if (peak_open_.compare_exchange_strong(open, 0)) FastPathState::remove(memory_, FastPathState::kPeak);
}

Amounts DeviceMemory::figures(Page page, bool p2p) const {
  const machine::Limits& limits = quota_->limits();
  const machine::Use use = quota_->used();
  if (!backing_->pool_is_limit()) return kind_figures(limits, use, page, p2p);
  // What is free of the pools, and what the machine holds: pages that strangers hold are not the device's.
  const auto free_in_pool = [](Page kind) {
    return platform::page_pool(page_bytes(kind)).free * page_bytes(kind);
  };
  const std::size_t giant_held = bytes_in_use(use, Page::Huge1G);
  const std::size_t giant_free =
      std::min(kind_figures(limits, use, Page::Huge1G, p2p).free, free_in_pool(Page::Huge1G));
  if (page == Page::Huge1G) return {giant_free, giant_held + giant_free};
  // 1 GB pages are huge ones, too (D-50), and huge and normal add up to the device (M-430 a).
  const Amounts all = pool_figures(limits, use);
  const std::size_t free = std::min({all.free, kind_figures(limits, use, Page::Huge2M, p2p).free,
                                     free_in_pool(Page::Huge2M) + free_in_pool(Page::Huge1G)});
  const Amounts huge{free, std::min(all.total, bytes_in_use(use, Page::Huge2M) + giant_held + free)};
  return page == Page::Huge2M ? huge : Amounts{all.free - huge.free, all.total - huge.total};
}

std::vector<ModuleUsage> DeviceMemory::usage() const {
  std::vector<ModuleUsage> list;
  for (std::size_t module = 0; module < usage_.size(); ++module) {
    const std::size_t peak = usage_[module].peak.load();
    if (peak == 0) continue;
    std::size_t current = usage_[module].current.load();
    if (module == kModuleApp) {
      const std::size_t all = quota_->surely_used() * 4_KiB;
      current = all - std::min(all, of_others_.load());
    }
    list.push_back({static_cast<std::uint8_t>(module), current, std::max(current, peak)});
  }
  std::ranges::stable_sort(list,
                           [](const ModuleUsage& a, const ModuleUsage& b) { return a.current > b.current; });
  return list;
}

}  // namespace belay
