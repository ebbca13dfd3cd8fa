// Pieces of memory of one kind, as a list for people: equal ones from the same place in the program are one
// line, the largest sum comes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/words.h"
#include "check/finding.h"
#include "observe/stack_words.h"

namespace belay::check {

class Pieces {
 public:
  struct Piece {
    std::uintptr_t start;  // or a handle
    std::size_t bytes;
    std::size_t asked = 0, page = 0;  // 0: there is nothing to say
    std::uint32_t site = 0;           // where it was made, if that is known
  };
  void add(const Piece& piece) {
    Group& group =
        groups_.try_emplace({piece.bytes, piece.asked, piece.page, piece.site}, Group{piece.start, 0})
            .first->second;
    group.first = std::min(group.first, piece.start);
    ++group.count;
    ++count_;
    bytes_ += piece.bytes;
  }

  struct Words {
    std::string one, several;
    std::string_view given_back_with = {};  // empty: it goes without saying
    std::string_view where = "at";
    std::string_view made = "allocated";
  };
  // One finding for each group.
  std::vector<Leak> leaks(const Words& words) const {
    std::vector<Leak> all;
    for (const auto& [key, group] : groups_) {
      all.push_back({words.one, words.several, words.given_back_with, words.made, group.count,
                     group.count * std::get<0>(key), group.first, words.where, std::get<3>(key)});
    }
    return all;
  }

  std::string text(const Words& words) const {
    if (count_ == 0) return {};
    std::string text =
        fmt::format("belay:   {}, {}{}:\n", counted(count_, words.one, words.several), amount(bytes_),
                    words.given_back_with.empty() ? "" : fmt::format(" ({})", words.given_back_with));
    std::vector<std::pair<Key, Group>> groups{groups_.begin(), groups_.end()};
    std::ranges::stable_sort(groups, std::greater{},
                             [](const auto& each) { return each.second.count * std::get<0>(each.first); });
    std::size_t left = count_;
    for (std::size_t i = 0; i < std::min(groups.size(), kMostListed); ++i) {
      const auto& [key, group] = groups[i];
      text +=
          fmt::format("belay:     {} × {}{}, {}{} {}\n", group.count, amount(std::get<0>(key)),
                      in_brackets(key), group.count == 1 ? "" : "the first ", words.where, hex(group.first));
      text += observe::happened_words(words.made, std::get<3>(key), "belay:       ");
      left -= group.count;
    }
    if (left != 0) text += fmt::format("belay:     ... and {} more\n", left);
    return text;
  }

 private:
  static constexpr std::size_t kMostListed = 10;
  using Key = std::tuple<std::size_t, std::size_t, std::size_t, std::uint32_t>;  // bytes, asked, page, site
  struct Group {
    std::uintptr_t first;
    std::size_t count;
  };
  static std::string in_brackets(const Key& key) {
    const auto [bytes, asked, page, site] = key;
    if (asked == 0) return {};
    return fmt::format(" ({} asked for{})", counted(asked, "byte"),
                       page == 0 ? "" : fmt::format(", in {} pages", amount(page)));
  }

  std::map<Key, Group> groups_;
  std::size_t count_ = 0, bytes_ = 0;
};

}  // namespace belay::check
