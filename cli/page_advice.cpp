#include "cli/page_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/words.h"

namespace belay::cli {
namespace {

using platform::Can;
using platform::HugePool;

// "6.1.0-13-amd64" is at least 6.1; an unknown release is not.
bool kernel_is_at_least(std::string_view release, unsigned major, unsigned minor) {
  unsigned has_major = 0;
  unsigned has_minor = 0;
  const char* const end = release.data() + release.size();
  const auto first = std::from_chars(release.data(), end, has_major);
  if (first.ec != std::errc{} || first.ptr == end) return false;
  if (std::from_chars(first.ptr + 1, end, has_minor).ec != std::errc{}) return false;
  return has_major > major || (has_major == major && has_minor >= minor);
}

// Huge pages live in files that are mapped.
bool can_map_files(const Host& host) {
  return host.trials.memfd == Can::Yes && host.trials.long_file == Can::Yes && host.trials.view == Can::Yes;
}

bool pool_serves(const Host& host, std::size_t page_bytes) {
  const std::vector<std::size_t>& usable = host.trials.usable_pools;
  return host.facts.pool_of(page_bytes) != nullptr && std::ranges::find(usable, page_bytes) != usable.end();
}

std::string what_pool_has(const HugePool& pool) {
  const std::size_t free = pool.available();
  std::string text = fmt::format("{} free ({})", free, amount(free * pool.page_bytes));
  if (pool.beyond() > 0) text += fmt::format(", up to {} more on demand", pool.beyond());
  return text;
}

std::string why_no_pool(const Host& host, std::size_t page_bytes) {
  const HugePool* pool = host.facts.pool_of(page_bytes);
  if (pool == nullptr) return "the kernel has no pool of them";
  if (pool->available() + pool->beyond() > 0)
    return fmt::format("the kernel's pool has {}, but this process gets none", what_pool_has(*pool));
  if (pool->pages.value_or(0) > 0) return fmt::format("all {} of the kernel's pool are taken", *pool->pages);
  return "the kernel's pool is empty";
}

// Making the pool larger: by so many pages as take no more than a quarter of what is available.
std::vector<Remedy> enlarge_pool(const Host& host, std::size_t page_bytes) {
  const HugePool* pool = host.facts.pool_of(page_bytes);
  const std::size_t wished = page_bytes == 1_GiB ? 4 : 512;
  const std::size_t pages = std::min(wished, host.facts.memory_available.value_or(0) / 4 / page_bytes);
  if (pool == nullptr || pages == 0) return {};
  const std::size_t total = pool->pages.value_or(0) + pages;
  std::string command =
      host.facts.default_huge_bytes == page_bytes
          ? fmt::format("sudo sysctl vm.nr_hugepages={}", total)
          : fmt::format("echo {} | sudo tee /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages", total,
                        page_bytes / 1_KiB);
  return {{Whose::Root, std::move(command),
           fmt::format("sets {} aside in the kernel's pool", amount(pages * page_bytes))}};
}

struct Obstacle {
  std::string text;
  std::vector<Remedy> remedies;
};
Obstacle why_no_collapse(const Host& host) {
  const platform::HostFacts& facts = host.facts;
  if (facts.thp_shmem_enabled == "deny") {
    return {"the kernel is set to deny them to shared memory",
            {{Whose::Root, "echo never | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled",
              "'never' lets a program ask, 'deny' does not"}}};
  }
  if (facts.kernel != "unknown" && !kernel_is_at_least(facts.kernel, 6, 1))
    return {"collapsing needs Linux 6.1 or later", {}};
  if (facts.thp_enabled.empty()) return {"the kernel has no transparent huge pages", {}};
  if (host.trials.collapse == Can::No) {
    return {fmt::format("collapsing fails: {}", std::generic_category().message(host.trials.collapse_error)),
            {}};
  }
  return {"collapsing could not be tried", {}};
}

}  // namespace

PageSource page_source(const Host& host, const Wishes& wishes, std::size_t page_bytes) {
  if (!wishes.keeps_bytes()) return PageSource::Nothing;
  if (wishes.pages == "small") return PageSource::Small;
  const bool mappable = can_map_files(host);
  if (mappable && wishes.pages != "thp" && pool_serves(host, page_bytes)) return PageSource::Pool;
  if (wishes.pages == "hugetlb") return PageSource::Nothing;
  return mappable && host.trials.collapse == Can::Yes ? PageSource::Collapse : PageSource::Small;
}

Finding about_pages(const Host& host, const Wishes& wishes, std::size_t page_bytes) {
  const bool giant = page_bytes == 1_GiB;
  const bool mappable = can_map_files(host);
  const bool wants_pool = wishes.pages != "thp" && wishes.pages != "small";
  Finding finding{.section = kDevice,
                  .id = giant ? "pages_1g" : "pages_2m",
                  .title = giant ? "1 GB pages" : "2 MB pages",
                  .mark = Mark::Ok,
                  .text = fmt::format("BELAY_PAGES={}: ", wishes.pages.empty() ? "auto" : wishes.pages),
                  .remedies = {}};
  if (mappable && wants_pool) finding.remedies = enlarge_pool(host, page_bytes);
  switch (page_source(host, wishes, page_bytes)) {
    case PageSource::Pool:
      finding.text += "from the kernel's pool, " + what_pool_has(*host.facts.pool_of(page_bytes));
      finding.remedies.clear();
      break;
    case PageSource::Collapse:
      finding.text +=
          giant ? "made of 2 MB pages, by collapsing" : "by collapsing small pages (MADV_COLLAPSE): works";
      if (wants_pool) finding.text += "; " + why_no_pool(host, page_bytes);
      break;
    case PageSource::Small: {
      finding.text += "made of small pages";
      if (wishes.pages == "small") break;
      finding.mark = Mark::Note;
      if (!mappable) {
        finding.text += ", because contents cannot be mapped";
        break;
      }
      Obstacle obstacle = why_no_collapse(host);
      finding.text += ": " + obstacle.text;
      if (wants_pool) finding.text += ", and " + why_no_pool(host, page_bytes);
      std::ranges::move(obstacle.remedies, std::back_inserter(finding.remedies));
      break;
    }
    case PageSource::Nothing:
      finding.mark = giant ? Mark::Note : Mark::Problem;
      finding.text +=
          fmt::format("{}: {}", mappable ? why_no_pool(host, page_bytes) : "contents cannot be mapped",
                      giant ? "HUGE1G_ONLY will return 207001"
                            : "HUGE_ONLY will return 207001, HUGE_FIRST will take small pages");
      if (!giant) {
        finding.remedies.push_back(
            {Whose::Setting, "export BELAY_PAGES=auto", "takes any pages that are available"});
      }
      break;
  }
  return finding;
}

}  // namespace belay::cli
