#include "check/shortage.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "base/words.h"
#include "check/pieces.h"
#include "memory/device_figures.h"
#include "observe/lives.h"
#include "observe/stack_words.h"
#include "platform/files.h"
#include "platform/process.h"
#include "platform/symbolizer.h"
#include "product/product.h"
#include "report/log.h"

namespace belay::check {
namespace {

platform::SaidBy g_explained_by{0};

std::size_t bytes_of(const machine::Use& use) {
  return std::accumulate(use.begin(), use.end(), std::uint64_t{0}) * 4_KiB;
}

// How much could still be had in pages of that kind. aclrtGetMemInfo shows less of the small ones: what huge
// pages could take is theirs there (M-430).
std::size_t free_in(const machine::PageQuota& quota, Page page, bool p2p) {
  const machine::Limits& limits = quota.limits();
  const machine::Use use = quota.used();
  std::size_t free = pool_figures(limits, use).free;
  const std::uint64_t limit = limits.of_page[static_cast<std::size_t>(page)];
  if (limit != machine::kNoLimit) {
    const std::size_t used = bytes_in_use(use, page);
    free = std::min(free, limit * 4_KiB - std::min(limit * 4_KiB, used));
  }
  if (p2p && limits.p2p != machine::kNoLimit) free = std::min(free, p2p_figures(limits, use).free);
  return round_down(free, page_bytes(page));
}

std::string holders(Memory& memory, std::uint32_t device) {
  std::vector<machine::ProcessSeen> all = memory.machine().processes();
  const std::uint32_t real = memory.settings().visible[device];
  std::ranges::sort(all, std::greater{},
                    [real](const machine::ProcessSeen& each) { return bytes_of(each.on_device[real]); });
  std::string text;
  for (const machine::ProcessSeen& each : all) {
    const std::size_t bytes = bytes_of(each.on_device[real]);
    if (bytes == 0) continue;
    text += fmt::format("belay:     {} by process {} ({}){}\n", amount(bytes), each.process, each.name,
                        each.process == platform::process_id() ? ", this one" : "");
  }
  return text.empty() ? text : "belay:   held on the device:\n" + text;
}

std::string own_blocks(Memory& memory, std::uint32_t device) {
  Pieces blocks, physical;
  std::size_t held = 0, asked = 0;
  memory.map().for_each_block(device, [&](const Block& block) {
    blocks.add({block.start, block.footprint, block.asked, page_bytes(block.page),
                memory.map().site_of(block.start)});
    held += block.footprint;
    asked += block.asked;
  });
  memory.virtual_memory().for_each_physical([&](const Physical& each) {
    if (each.extent->side != Side::Device || each.extent->device != device) return;
    physical.add({each.handle, each.plan.bytes, each.plan.asked, page_bytes(each.plan.page),
                  observe::made_at(Object::Physical, each.extent->number)});
    held += each.plan.bytes;
    asked += each.plan.asked;
  });
  std::string text = blocks.text({.one = "block of this process", .several = "blocks of this process"}) +
                     physical.text({.one = "piece of physical memory of this process",
                                    .several = "pieces of physical memory of this process",
                                    .where = "handle"});
  if (held > asked)
    text += fmt::format("belay:   {} of that is rounding: padding and whole pages\n", amount(held - asked));
  return text;
}

template <class Add>
void add_larger_products(std::size_t needed, Add&& add) {
  std::string names;
  for (const ProductRow& row : products()) {
    if (row.usable_bytes >= needed)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", row.key, amount(row.usable_bytes));
  }
  if (!names.empty()) add(fmt::format("on a device of {}", names));
}

// What else the program could do, as far as it would have helped.
std::string what_fits(Memory& memory, const Shortage& shortage) {
  machine::PageQuota& quota = memory.machine().quota(memory.settings().visible[shortage.device]);
  const machine::Limits& limits = quota.limits();
  const machine::Use use = quota.used();
  const auto free_of = [&](Page page) { return free_in(quota, page, shortage.p2p); };
  std::string text;
  const auto add = [&text](const std::string& words) { text += fmt::format("belay:     {}\n", words); };
  const Page page = shortage.page == 1_GiB   ? Page::Huge1G
                    : shortage.page == 2_MiB ? Page::Huge2M
                                             : Page::Normal;
  const std::size_t most = free_of(page);
  if (most > 0)
    add(fmt::format("{} less: {} are free in {} pages", amount(shortage.needed - most), amount(most),
                    amount(shortage.page)));
  const std::size_t in_small = round_up(shortage.asked + 64, 4_KiB).value_or(SIZE_MAX);
  if (page != Page::Normal && shortage.page_if_short == shortage.page && in_small <= free_of(Page::Normal))
    add(fmt::format("with {}: {} of 4 KB pages are free",
                    shortage.p2p ? "ACL_MEM_MALLOC_NORMAL_ONLY_P2P" : "ACL_MEM_MALLOC_NORMAL_ONLY",
                    amount(free_of(Page::Normal))));
  const std::size_t in_huge = round_up(shortage.asked, 2_MiB).value_or(SIZE_MAX);
  if (page == Page::Huge1G && in_huge <= free_of(Page::Huge2M))
    add(fmt::format("with ACL_MEM_MALLOC_HUGE_ONLY: {} of 2 MB pages are free",
                    amount(free_of(Page::Huge2M))));
  const Amounts pool = pool_figures(limits, use);
  const std::size_t needed = pool.total - pool.free + shortage.needed;
  const std::size_t of_product = memory.settings().product->usable_bytes;
  if (of_product > pool.total && of_product >= needed)
    add(fmt::format("with BELAY_HBM={}M or more: the product has {}", (needed + 2_MiB - 1) / 2_MiB * 2,
                    amount(of_product)));
  else
    add_larger_products(needed, add);
  for (std::uint32_t i = 0; i < memory.settings().devices(); ++i) {
    if (i == shortage.device) continue;
    machine::PageQuota& other = memory.machine().quota(memory.settings().visible[i]);
    if (free_in(other, page, shortage.p2p) < shortage.needed) continue;
    add(fmt::format("on device {}: {} are free there", i,
                    amount(pool_figures(other.limits(), other.used()).free)));
    break;
  }
  return text.empty() ? text : "belay:   what would have fitted:\n" + text;
}

std::string told(Memory& memory, const char* function, const Shortage& shortage, std::uint32_t site) {
  machine::PageQuota& quota = memory.machine().quota(memory.settings().visible[shortage.device]);
  const machine::Use use = quota.used();
  const Amounts pool = pool_figures(quota.limits(), use);
  std::string text = fmt::format(
      "belay: out of memory: {} asked for {} on device {}, which take {} of {} pages\n", function,
      counted(shortage.asked, "byte"), shortage.device, amount(shortage.needed), amount(shortage.page));
  text += observe::stack_words(site, "belay:   ");
  text += fmt::format("belay:   free: {} of {}", amount(pool.free), amount(pool.total));
  for (const Page page : {Page::Normal, Page::Huge2M, Page::Huge1G})
    text +=
        fmt::format(", {} in {} pages", amount(free_in(quota, page, shortage.p2p)), amount(page_bytes(page)));
  return text + "\n" + holders(memory, shortage.device) + own_blocks(memory, shortage.device) +
         what_fits(memory, shortage);
}

}  // namespace

void explain_shortage(Memory& memory, const char* function, const Shortage& shortage, std::uint32_t site) {
  const std::int32_t process = platform::process_id();
  if (g_explained_by.exchange(process) == process) return;
  const std::string text = platform::symbolised(told(memory, function, shortage, site));
  platform::print_line(true, text);
  report::log(report::Level::Error, report::Module::Runtime, "shortage.cpp", __LINE__, text);
}

}  // namespace belay::check
