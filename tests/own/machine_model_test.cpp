// Random sequences over several processes, compared with a model after every step, in every process.
#include <iostream>
#include <map>
#include <optional>
#include <random>

#include "support/members.h"
#include "support/settings.h"
#include "support/slices.h"

namespace machine_model_test {

using namespace belay_test;

class MachineModel : public AsRootAndUser {};
INSTANTIATE_TEST_SUITE_P(Pass, MachineModel, ::testing::Values(false, true), name_of_pass);

constexpr std::size_t kDevices = 2, kMostProcesses = 4;

enum Kind : std::size_t { normal, huge, giant };
constexpr std::size_t kPage[] = {4 * kKB, 2 * kMB, kGB};

struct Rules {
  const char* name;
  Settings settings;
  std::size_t total;
  std::optional<std::size_t> of_kind[3], p2p;
  std::vector<std::size_t> sizes;
  std::vector<unsigned> policies;
};

struct Held {
  std::size_t device;
  Kind kind;
  bool p2p;
  std::size_t footprint;
};
struct Process {
  MemberPtr member;
  std::map<std::uint64_t, Held> blocks;  // by address
};

class World {
 public:
  World(const Rules& rules, std::uint64_t seed)
      : rules_{rules}, random_{seed}, machine_{rules.settings.front().second, rules.settings} {}

  void step() {
    if (processes_.empty() || (processes_.size() < kMostProcesses && below(12) == 0)) return start();
    Process& process = processes_[below(processes_.size())];
    const std::uint64_t dice = below(100);
    if (dice < 52)
      allocate(process);
    else if (dice < 86)
      free(process);
    else if (dice < 90)
      reset(process);
    else if (dice < 96)
      end(process);
  }

  // Every process sees what the model says, on every device.
  void check() {
    for (const Process& process : processes_) {
      for (std::size_t device = 0; device < kDevices; ++device) {
        const Use use = used(device);
        const Answer answer =
            process.member->ask({Do::own, static_cast<std::uint32_t>(device), 0, ACL_HBM_MEM});
        ASSERT_EQ(answer.code, 0);
        ASSERT_EQ(answer.second, rules_.total);
        ASSERT_EQ(answer.second - answer.first, use.all()) << "device " << device;
        if (!rules_.of_kind[huge] || rules_.of_kind[normal]) continue;
        const Answer of_kind =
            process.member->ask({Do::own, static_cast<std::uint32_t>(device), 0, ACL_HBM_MEM_HUGE});
        ASSERT_EQ(of_kind.first,
                  std::min(*rules_.of_kind[huge] - use.of_kind[huge], rules_.total - use.all()));
      }
    }
  }

  std::uint64_t refused = 0, granted = 0, ended = 0;

 private:
  struct Use {
    std::size_t of_kind[3] = {0, 0, 0}, p2p = 0;
    std::size_t all() const { return of_kind[0] + of_kind[1] + of_kind[2]; }
  };
  Use used(std::size_t device) const {
    Use use;
    for (const Process& process : processes_) {
      for (const auto& [start, block] : process.blocks) {
        if (block.device != device) continue;
        use.of_kind[block.kind] += block.footprint;
        if (block.p2p) use.p2p += block.footprint;
      }
    }
    return use;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  // The block that a request gets; none if it is refused (M-48, M-52, M-79, M-421).
  std::optional<Held> expected(std::size_t device, std::size_t size, unsigned policy) const {
    const bool p2p = policy >= 3 && policy != 6;
    std::vector<Kind> kinds;
    switch (policy) {
      case ACL_MEM_MALLOC_HUGE_FIRST:
        if (size > kMB) kinds.push_back(huge);
        kinds.push_back(normal);
        break;
      case ACL_MEM_MALLOC_HUGE_FIRST_P2P:
        kinds = {huge, normal};
        break;
      case ACL_MEM_MALLOC_HUGE_ONLY:
      case ACL_MEM_MALLOC_HUGE_ONLY_P2P:
        kinds = {huge};
        break;
      case ACL_MEM_MALLOC_HUGE1G_ONLY:
      case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
        kinds = {giant};
        break;
      default:
        kinds = {normal};
    }
    const Use use = used(device);
    for (const Kind kind : kinds) {
      const std::size_t footprint = (size + kPage[kind] - 1) / kPage[kind] * kPage[kind];
      const bool fits = use.all() + footprint <= rules_.total &&
                        (!rules_.of_kind[kind] || use.of_kind[kind] + footprint <= *rules_.of_kind[kind]) &&
                        (!p2p || !rules_.p2p || use.p2p + footprint <= *rules_.p2p);
      if (fits) return Held{device, kind, p2p, footprint};
    }
    return std::nullopt;
  }

  void start() {
    const Own figures_of_a_device = [](const Order& order) {
      Answer answer;
      std::size_t free = 0, total = 0;
      answer.code = aclrtSetDevice(static_cast<int>(order.small));
      if (answer.code == 0)
        answer.code = aclrtGetMemInfo(static_cast<aclrtMemAttr>(order.size), &free, &total);
      answer.first = free;
      answer.second = total;
      return answer;
    };
    processes_.push_back({machine_.join(figures_of_a_device), {}});
  }
  void allocate(Process& process) {
    const std::size_t device = below(kDevices), size = rules_.sizes[below(rules_.sizes.size())];
    const unsigned policy = rules_.policies[below(rules_.policies.size())];
    const std::optional<Held> block = expected(device, size, policy);
    ASSERT_EQ(process.member->set_device(static_cast<std::uint32_t>(device)), 0);
    const Answer answer = process.member->ask({Do::allocate, policy, 0, size});
    ASSERT_EQ(answer.code, block ? 0 : kShortage) << size << " bytes with policy " << policy;
    block ? ++granted : ++refused;
    if (block) process.blocks[answer.first] = *block;
  }
  void free(Process& process) {
    if (process.blocks.empty()) return;
    const auto block = std::next(process.blocks.begin(), static_cast<long>(below(process.blocks.size())));
    ASSERT_EQ(process.member->free(block->first), 0);
    process.blocks.erase(block);
  }
  void reset(Process& process) {
    const std::size_t device = below(kDevices);
    ASSERT_EQ(process.member->ask({Do::own, static_cast<std::uint32_t>(device), 0, ACL_HBM_MEM}).code, 0);
    int answer = 0;
    while ((answer = process.member->reset(static_cast<std::uint32_t>(device))) == 0 &&
           process.member->ask({Do::info, ACL_HBM_MEM}).code == 0) {
    }
    std::erase_if(process.blocks, [&](const auto& each) { return each.second.device == device; });
  }
  void end(Process& process) {
    switch (below(4)) {
      case 0:
        process.member->end(Way::exit);
        break;
      case 1:
        process.member->end(Way::abort);
        break;
      default:
        process.member->die();
    }
    if (below(2) == 0) process.member->wait();
    dead_.push_back(std::move(process.member));  // perhaps still a zombie
    if (dead_.size() > 3) dead_.erase(dead_.begin());
    processes_.erase(processes_.begin() + (&process - processes_.data()));
    ++ended;
  }

  const Rules& rules_;
  std::mt19937_64 random_;
  TestMachine machine_;
  std::vector<Process> processes_;
  std::vector<MemberPtr> dead_;
};

const std::vector<std::size_t> kSmall = {1,       4096,         4097,    64 * kKB,    kMB - 32,
                                         kMB,     kMB + 1,      2 * kMB, 2 * kMB + 1, 3 * kMB,
                                         5 * kMB, 16 * kMB - 1, 32 * kMB};
const std::vector<unsigned> kAll = {0, 0, 1, 1, 2, 2, 2, 3, 4, 5};

const Rules kRules[] = {
    {"no limits", {{"BELAY_HBM", "32M"}}, 32 * kMB, {}, {}, kSmall, kAll},
    {"few huge pages",
     {{"BELAY_HBM", "32M"}, {"BELAY_HUGE", "8M"}},
     32 * kMB,
     {{}, 8 * kMB, {}},
     {},
     kSmall,
     kAll},
    {"few normal pages",
     {{"BELAY_HBM", "32M"}, {"BELAY_NORMAL", "4M"}},
     32 * kMB,
     {4 * kMB, {}, {}},
     {},
     kSmall,
     kAll},
    {"few of both",
     {{"BELAY_HBM", "32M"}, {"BELAY_NORMAL", "6M"}, {"BELAY_HUGE", "10M"}},
     16 * kMB,
     {6 * kMB, 10 * kMB, {}},
     {},
     kSmall,
     kAll},
    {"few for peers", {{"BELAY_HBM", "32M"}, {"BELAY_P2P", "6M"}}, 32 * kMB, {}, 6 * kMB, kSmall, kAll},
    {"pages of a gigabyte",
     {{"BELAY_HBM", "4G"}, {"BELAY_HUGE1G", "2G"}},
     4 * kGB,
     {{}, {}, 2 * kGB},
     {},
     {4096, 2 * kMB, 300 * kMB, kGB, kGB + 1},
     {0, 1, 2, 6, 6, 7}},
};

TEST_P(MachineModel, D52_D66_D67_D68_M430_AfterEveryStepEveryProcessSeesWhatTheModelSays) {
  const std::uint64_t steps = slice<std::uint64_t>(120, 3000, 5), seed = test_seed();
  for (const Rules& rules : kRules) {
    World world{rules, seed};
    for (std::uint64_t step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(std::string{rules.name} + ", step " + std::to_string(step) + ", " + seed_text());
      world.step();
      if (!::testing::Test::HasFailure()) world.check();
    }
    std::cout << "         " << rules.name << ": " << world.granted << " granted, " << world.refused
              << " refused, " << world.ended << " processes ended\n";
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace machine_model_test
