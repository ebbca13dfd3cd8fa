// What the rules say about memory, as plainly as possible: one map of live regions with the bytes known
// in them, and books per device. Slow and obvious; the library is compared with it step by step.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "support/device_fixture.h"

namespace belay_test {

enum class Api { malloc, align32, cached, with_cfg, task_scheduler, dvpp };
enum class Page { normal, huge };
enum class Place { device, pinned, pageable };

inline constexpr std::size_t kNormalPage = 4096, kHugePage = std::size_t{2} << 20U;
inline constexpr std::size_t kTop = std::numeric_limits<std::size_t>::max();

// The policy after decoding (M-62, M-424). Without a base it is outside the enumeration.
struct Policy {
  std::optional<unsigned> base;
  bool read_only = false;
};

inline Policy decode(Api api, unsigned policy) {
  if (api == Api::cached) {
    const bool known = policy <= 2 || policy == 6;
    return {known ? std::optional{policy} : std::nullopt, false};
  }
  const unsigned base = policy & ~0x101100U;
  if (base > 7) return {};
  return {base, (policy & 0x100000U) != 0};
}

// Bytes of 4 KB, and which of them have been written.
struct Known {
  std::array<std::uint8_t, kNormalPage> bytes{};
  std::bitset<kNormalPage> written;
};

struct Region {
  Place place = Place::pageable;
  int device = -1;
  std::uintptr_t start = 0;
  std::size_t size = 0;       // what was asked for
  std::size_t footprint = 0;  // whole pages
  std::size_t reported_page = 0;
  Page page = Page::normal;
  bool read_only = false;
  std::map<std::size_t, Known> known;
};

struct Limits {
  std::size_t total;
  std::optional<std::size_t> huge, normal;  // per page kind; without them one pool serves both
};

struct Books {
  std::size_t huge = 0, normal = 0;  // bytes taken
};

class ReferenceModel {
 public:
  explicit ReferenceModel(const Limits& limits) : limits_{limits} {}

  // What an allocation takes if it succeeds, else the answer.
  struct Outcome {
    int answer = 0;
    std::size_t footprint = 0, reported_page = 0;
    Page page = Page::normal;
    bool read_only = false;
  };
  Outcome allocation(Api api, std::size_t size, unsigned policy, int device) const {
    const bool outer = api != Api::with_cfg && api != Api::task_scheduler;
    const Policy how = decode(api, policy);
    const bool giant = api != Api::dvpp && how.base.value_or(0) >= 6;
    const bool padded = (api == Api::malloc || api == Api::cached || api == Api::dvpp) && !giant;
    if (size == 0 && api != Api::dvpp) return {100000};
    if (outer && size >= kTop - (padded ? 63 : 31)) return {100000};
    if (device < 0) return {107002};
    if (size > kTop - 31) return {107000};
    if (giant && how.read_only) return {207000};
    if (giant) return {207001};  // no test device has a gigabyte
    const std::size_t taken = up_to(size, 32) + (padded ? 32 : 0);
    if (taken > kTop / 2) return {207001};
    if (api == Api::dvpp) return one(device, Page::huge, up_to(taken, kNormalPage), kHugePage, false);
    const Outcome huge = one(device, Page::huge, up_to(taken, kHugePage), kHugePage, how.read_only);
    const Outcome normal = one(device, Page::normal, up_to(taken, kNormalPage), kNormalPage, how.read_only);
    const Outcome huge_first = huge.answer == 0 ? huge : normal;
    if (!how.base) return size >= kHugePage ? huge_first : normal;
    switch (*how.base) {
      case 0:
        return size > (std::size_t{1} << 20U) ? huge_first : normal;
      case 1:
      case 4:
        return huge;
      case 3:
        return huge_first;
      default:
        return normal;
    }
  }

  Region& add(Region region) {
    Books* const books = region.place == Place::device ? &books_[region.device] : nullptr;
    if (books != nullptr) (region.page == Page::huge ? books->huge : books->normal) += region.footprint;
    return regions_[region.start] = std::move(region);
  }
  void remove(std::uintptr_t start) {
    const Region& region = regions_.at(start);
    if (region.place == Place::device) {
      (region.page == Page::huge ? books_[region.device].huge : books_[region.device].normal) -=
          region.footprint;
    }
    regions_.erase(start);
  }

  const std::map<std::uintptr_t, Region>& regions() const { return regions_; }
  std::size_t free(int device) const { return limits_.total - books(device).huge - books(device).normal; }
  std::size_t free_huge(int device) const {
    return limits_.huge ? *limits_.huge - books(device).huge : free(device) / kHugePage * kHugePage;
  }

  const Region* find(std::uintptr_t address) const {
    auto after = regions_.upper_bound(address);
    if (after == regions_.begin()) return nullptr;
    const Region& region = std::prev(after)->second;
    return address - region.start < region.footprint ? &region : nullptr;
  }
  bool overlaps(std::uintptr_t start, std::size_t length) const {
    const auto next = regions_.lower_bound(start);
    return find(start) != nullptr || (next != regions_.end() && next->first - start < length);
  }
  // Every byte lies in a page of a live block of one device (M-434); `writable`: in none that is read-only.
  bool allocated(std::uintptr_t start, std::size_t length, bool writable) const {
    int device = -1;
    for (std::size_t done = 0; done < length;) {
      const Region* const region = find(start + done);
      if (region == nullptr || region->place != Place::device || (writable && region->read_only))
        return false;
      if (device >= 0 && region->device != device) return false;
      device = region->device;
      done = region->start + region->footprint - start;
    }
    return true;
  }

  using Contents = std::vector<std::optional<std::uint8_t>>;
  Contents read(std::uintptr_t start, std::size_t length) const {
    Contents contents(length);
    for (std::size_t i = 0; i < length; ++i) {
      const Region* const region = find(start + i);
      const std::size_t offset = start + i - region->start;
      const auto page = region->known.find(offset / kNormalPage);
      if (page != region->known.end() && page->second.written[offset % kNormalPage]) {
        contents[i] = page->second.bytes[offset % kNormalPage];
      }
    }
    return contents;
  }
  void write(std::uintptr_t start, const Contents& contents) {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      Region& region = regions_.at(find(start + i)->start);
      const std::size_t offset = start + i - region.start;
      Known& page = region.known[offset / kNormalPage];
      page.bytes[offset % kNormalPage] = contents[i].value_or(0);
      page.written[offset % kNormalPage] = contents[i].has_value();
    }
  }

 private:
  Books books(int device) const {
    const auto found = books_.find(device);
    return found == books_.end() ? Books{} : found->second;
  }
  Outcome one(int device, Page page, std::size_t footprint, std::size_t reported, bool read_only) const {
    const std::optional<std::size_t>& limit = page == Page::huge ? limits_.huge : limits_.normal;
    const std::size_t used = page == Page::huge ? books(device).huge : books(device).normal;
    if (footprint > free(device) || (limit && footprint > *limit - used)) return {207001};
    return {0, footprint, reported, page, read_only};
  }

  Limits limits_;
  std::map<std::uintptr_t, Region> regions_;
  std::map<int, Books> books_;
};

}  // namespace belay_test
