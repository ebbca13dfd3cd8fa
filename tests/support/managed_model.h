// A model of managed memory: what is known of each page, and on which sides it is.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "support/managed.h"

namespace belay_test {

class ManagedModel {
 public:
  static constexpr int kHost = -1;

  struct Page {
    std::set<int> sides;  // where it is: kHost, or a device; several if it is read-mostly
    bool read_mostly = false;
    std::optional<Reported> preferred, prefetched;
    std::set<std::pair<int, int>> users;  // type and id
  };
  using Range = std::pair<std::size_t, std::size_t>;  // from a page up to another, which is not in it

  explicit ManagedModel(std::size_t pages) : pages_(pages) {}

  // An access by a device or the host.
  void use(Range range, int side, bool write) {
    for (Page* page : in(range)) {
      if (page->read_mostly && !write) {
        page->sides.insert(side);
      } else {
        page->sides = {side};
        page->read_mostly = false;
      }
    }
  }
  void prefetch(Range range, aclrtMemManagedLocation where) {
    for (Page* page : in(range)) {
      page->prefetched = reported(where);
      if (!page->read_mostly) page->sides.clear();
      page->sides.insert(side_of(where));
    }
  }
  void set_read_mostly(Range range) {
    for (Page* page : in(range)) {
      page->read_mostly = true;
      page->sides.insert(kHost);
    }
  }
  void unset_read_mostly(Range range, aclrtMemManagedLocation where) {
    for (Page* page : in(range)) {
      if (!page->read_mostly) continue;
      page->read_mostly = false;
      page->sides = {side_of(where)};
    }
  }
  // False: a page is elsewhere, and nothing is done.
  bool prefer(Range range, aclrtMemManagedLocation where) {
    const int side = side_of(where);
    for (const Page* page : in(range)) {
      if (!page->read_mostly && !page->sides.empty() && !page->sides.contains(side)) return false;
    }
    for (Page* page : in(range)) {
      page->preferred = reported(where);
      page->sides.insert(side);
    }
    return true;
  }
  void prefer_nothing(Range range) {
    for (Page* page : in(range)) page->preferred.reset();
  }
  void set_user(Range range, aclrtMemManagedLocation where, bool on) {
    const std::pair<int, int> user{where.type, reported(where).location};
    for (Page* page : in(range)) {
      if (on) {
        page->users.insert(user);
      } else {
        page->users.erase(user);
      }
    }
  }

  bool is_read_mostly(Range range) const {
    return all(range, [](const Page& page) { return page.read_mostly; });
  }
  Reported preferred(Range range) const {
    return common(range, [](const Page& page) { return page.preferred; });
  }
  Reported last_prefetch(Range range) const {
    return common(range, [](const Page& page) { return page.prefetched; });
  }
  std::vector<std::int32_t> users(Range range) const {
    std::vector<std::int32_t> ids;
    for (const auto& user : pages_[range.first].users) {
      if (all(range, [&](const Page& page) { return page.users.contains(user); })) ids.push_back(user.second);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  std::size_t pages_on(int side) const {
    return static_cast<std::size_t>(std::count_if(
        pages_.begin(), pages_.end(), [&](const Page& page) { return page.sides.contains(side); }));
  }

  static Reported reported(aclrtMemManagedLocation where) {
    if (where.type == ACL_MEM_LOCATIONTYPE_DEVICE) return reported_device(where.id);
    if (where.type == ACL_MEM_LOCATIONTYPE_HOST_NUMA) return reported_node(where.id);
    return kReportedHost;
  }
  static int side_of(aclrtMemManagedLocation where) {
    return where.type == ACL_MEM_LOCATIONTYPE_DEVICE ? where.id : kHost;
  }

 private:
  std::vector<Page*> in(Range range) {
    std::vector<Page*> some;
    for (std::size_t page = range.first; page < range.second; ++page) some.push_back(&pages_[page]);
    return some;
  }
  template <typename Condition>
  bool all(Range range, Condition&& holds_for) const {
    return std::all_of(pages_.begin() + static_cast<std::ptrdiff_t>(range.first),
                       pages_.begin() + static_cast<std::ptrdiff_t>(range.second), holds_for);
  }
  // What all pages agree on. Pages of two devices agree in nothing.
  template <typename Get>
  Reported common(Range range, Get&& get) const {
    const std::optional<Reported> first = get(pages_[range.first]);
    const bool same = all(range, [&](const Page& page) { return get(page) == first; });
    return same && first ? *first : kReportedNothing;
  }

  std::vector<Page> pages_;
};

}  // namespace belay_test
