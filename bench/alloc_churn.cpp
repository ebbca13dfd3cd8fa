#include "alloc_churn.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

struct Workload {
  const char* name;
  std::size_t smallest, largest;
  std::vector<std::size_t> live;
};
const Workload kWorkloads[] = {
    {"churn_small", 64, 8 * kKilo, {256, 1'000, 10'000, 1'000'000}},
    {"churn_large", kMega, 4 * kMega, {256, 1'000, 10'000}},
};

struct Step {
  std::uint32_t victim, bytes;
};

// The same for every allocator. Drawn beforehand, because drawing takes as long as allocating does; and
// enough of them to visit most of the live blocks before they repeat.
std::vector<Step> draw_steps(const Workload& workload, std::size_t live) {
  std::mt19937_64 random{live};
  std::uniform_int_distribution<std::uint32_t> victim{0, static_cast<std::uint32_t>(live - 1)};
  std::uniform_real_distribution<double> exponent{std::log2(workload.smallest), std::log2(workload.largest)};
  std::vector<Step> steps(std::clamp<std::size_t>(live, 1 << 16, 1 << 20));
  for (Step& each : steps) each = {victim(random), static_cast<std::uint32_t>(std::exp2(exponent(random)))};
  return steps;
}

// Steps by workload and number of live blocks.
const std::vector<Step>& steps_of(const Workload& workload, std::size_t live) {
  static std::map<std::pair<const Workload*, std::size_t>, std::vector<Step>> drawn;
  auto& steps = drawn[{&workload, live}];
  if (steps.empty()) steps = draw_steps(workload, live);
  return steps;
}

template <class Allocator>
class Churn {
 public:
  Churn(const Allocator& allocator, const std::vector<Step>& steps, std::size_t live)
      : allocator_{allocator}, steps_{steps}, live_(live) {
    for (std::size_t i = 0; i < live; ++i) live_[i] = allocator_.allocate(steps_[i % steps_.size()].bytes);
    // A heap that was only ever filled has no holes yet.
    for (std::size_t i = 0; i < std::max<std::size_t>(live, 10'000); ++i) step();
  }

  void step() {
    const Step& now = steps_[position_];
    position_ = position_ + 1 == steps_.size() ? 0 : position_ + 1;
    void*& block = live_[now.victim];
    allocator_.release(block);
    block = allocator_.allocate(now.bytes);
  }

 private:
  const Allocator allocator_;
  const std::vector<Step>& steps_;
  std::vector<void*> live_;
  std::size_t position_ = 0;
};

// What no allocator with books can do without: a word for each block, far from the block itself, and one
// atomic exchange to decide who frees it. How much this alone grows with the number of blocks is the
// processor's caches.
class TableAlone {
 public:
  static constexpr const char* name = "table";
  explicit TableAlone(std::size_t live) : table_{std::make_shared<Table>(live)} {}

  void* allocate(std::size_t bytes) const {
    const std::uint32_t at = table_->free.back();
    table_->free.pop_back();
    table_->words[at].store(bytes, std::memory_order_release);
    return reinterpret_cast<void*>(kBase + at * std::uintptr_t{4096});
  }
  void release(void* block) const {
    const auto at = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(block) - kBase) / 4096);
    if (table_->words[at].exchange(0) == 0) [[unlikely]]
      fail(name);
    table_->free.push_back(at);
  }

 private:
  static constexpr std::uintptr_t kBase = 0x100000000000;
  struct Table {
    explicit Table(std::size_t live) : words(live + live / 8 + 64), free(words.size()) {
      for (std::size_t i = 0; i < free.size(); ++i) free[i] = static_cast<std::uint32_t>(free.size() - 1 - i);
    }
    std::vector<std::atomic<std::uint64_t>> words;
    std::vector<std::uint32_t> free;
  };
  std::shared_ptr<Table> table_;
};

template <class Allocator>
void add_one(const Workload& workload, std::size_t live, const Allocator& allocator) {
  using One = Churn<Allocator>;
  add(fmt::format("{}/{}/{}", workload.name, allocator.name, live),
      [&workload, live, allocator, churn = std::shared_ptr<One>{}](benchmark::State& state) mutable {
        use_device();
        if (!churn) churn = std::make_shared<One>(allocator, steps_of(workload, live), live);
        for (auto _ : state) churn->step();
      });
}

}  // namespace

void add_churn() {
  for (const Workload& workload : kWorkloads) {
    for (const std::size_t live : workload.live) {
      for_each_allocator([&](const auto& allocator) { add_one(workload, live, allocator); });
      add_one(workload, live, TableAlone{live});
    }
  }
}

}  // namespace bench
