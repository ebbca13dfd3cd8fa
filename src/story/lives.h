// The blocks that matter most: all of them if they are few, else those that were held at the moments that
// have a name, and then the large ones that lived long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "story/ledger.h"

namespace belay::story {

struct Life {
  Block block;
  std::uint64_t died = 0;
  bool ended = false;
  std::uint32_t freed_at = kNone;  // a name
};

class Lives {
 public:
  Lives(std::uint64_t duration, std::vector<std::uint64_t> moments, std::size_t most)
      : duration_{std::max<std::uint64_t>(duration, 1)}, moments_{std::move(moments)}, most_{most} {
    std::ranges::sort(moments_);
  }

  void add(const Life& life) {
    const Weighed each{weight(life), life};
    if (kept_.size() < most_) {
      kept_.push_back(each);
      std::ranges::push_heap(kept_, std::greater{}, &Weighed::weight);
      return;
    }
    left_out_ = true;
    if (each.weight <= kept_.front().weight) return;
    std::ranges::pop_heap(kept_, std::greater{}, &Weighed::weight);
    kept_.back() = each;
    std::ranges::push_heap(kept_, std::greater{}, &Weighed::weight);
  }

  bool all() const { return !left_out_; }
  // By birth.
  std::vector<Life> finish() {
    std::vector<Life> lives;
    for (const Weighed& each : kept_) lives.push_back(each.life);
    std::ranges::stable_sort(lives, {}, [](const Life& life) {
      return std::pair{life.block.born, life.block.address};
    });
    return lives;
  }

 private:
  struct Weighed {
    double weight;
    Life life;
  };

  double weight(const Life& life) const {
    const std::uint64_t end = life.ended ? life.died : duration_;
    const double share =
        static_cast<double>(end - std::min(end, life.block.born)) / static_cast<double>(duration_);
    const auto after = std::ranges::lower_bound(moments_, life.block.born);
    const bool held_then = after != moments_.end() && (!life.ended || *after < life.died);
    return static_cast<double>(life.block.charged) * (share + 0.01) * (held_then ? 1000.0 : 1.0);
  }

  std::uint64_t duration_;
  std::vector<std::uint64_t> moments_;
  std::size_t most_;
  bool left_out_ = false;
  std::vector<Weighed> kept_;
};

}  // namespace belay::story
