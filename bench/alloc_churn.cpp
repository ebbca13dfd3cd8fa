#include "alloc_churn.h"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

void add_churn() {
  for (const Workload& workload : kWorkloads) {
    for (const std::size_t live : workload.live) {
      for_each_allocator([&](const auto& allocator) {
        using One = Churn<std::decay_t<decltype(allocator)>>;
        add(fmt::format("{}/{}/{}", workload.name, allocator.name, live),
            [&workload, live, allocator, churn = std::shared_ptr<One>{}](benchmark::State& state) mutable {
              use_device();
              if (!churn) churn = std::make_shared<One>(allocator, steps_of(workload, live), live);
              for (auto _ : state) churn->step();
            });
      });
    }
  }
}

}  // namespace bench
