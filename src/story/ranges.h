// Ranges of the program's own, by thread: the longest of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "story/story.h"

namespace belay::story {

class Ranges {
 public:
  void take(const recording::Record& record, Names& names) {
    if (record.kind != recording::Kind::Event) return;
    if (record.what == observe::What::RangeBegun) {
      auto& open = open_[{record.process, record.thread}];
      if (open.size() >= kDeepest) open.erase(open.begin());
      open.push_back({names.number(record.text), record.process, record.thread,
                      static_cast<std::uint32_t>(open.size()), record.time_ns, record.time_ns});
    } else if (record.what == observe::What::RangeEnded) {
      auto& open = open_[{record.process, record.thread}];
      if (open.empty()) return;
      open.back().end = record.time_ns;
      keep(open.back());
      open.pop_back();
    }
  }

  std::vector<Range> finish(std::uint64_t end) {
    for (auto& [thread, open] : open_) {
      for (Range& each : open) {
        each.end = end;
        keep(each);
      }
    }
    std::ranges::stable_sort(kept_, {}, &Range::begin);
    return std::move(kept_);
  }
  std::uint64_t left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kMost = 1500, kDeepest = 1000;
  static std::uint64_t length(const Range& range) { return range.end - std::min(range.end, range.begin); }

  void keep(const Range& range) {
    kept_.push_back(range);
    std::ranges::push_heap(kept_, std::greater{}, length);
    if (kept_.size() <= kMost) return;
    std::ranges::pop_heap(kept_, std::greater{}, length);
    kept_.pop_back();
    ++left_out_;
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Range>> open_;
  std::vector<Range> kept_;  // a heap, the shortest first
  std::uint64_t left_out_ = 0;
};

}  // namespace belay::story
