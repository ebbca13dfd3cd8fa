// Random steps over several processes and two devices. After every step, in every process, the figures are
// the sum over processes and allocations, and every request is granted or refused exactly as the model says.
//
// BELAY_STRESS_SEED replays a run, BELAY_STRESS_STEPS makes it longer.
#include <iostream>
#include <list>
#include <random>

#include "support/members.h"

namespace {

using namespace belay_test;

constexpr std::size_t kMB = 1U << 20, kPage2M = 2 * kMB, kPage4K = 4096;

struct Kind {
  std::uint32_t policy;
  std::size_t page;
};
constexpr std::array kKinds{Kind{ACL_MEM_MALLOC_NORMAL_ONLY, kPage4K},
                            Kind{ACL_MEM_MALLOC_HUGE_ONLY, kPage2M},
                            Kind{ACL_MEM_MALLOC_HUGE_FIRST, kPage2M}};

struct Block {
  std::uint64_t pointer;
  std::size_t bytes;
  bool huge;
  std::uint32_t device;
  unsigned seed;
};
struct Player {
  MemberPtr process;
  std::uint32_t device = 0;  // current
  std::list<Block> blocks;
};

struct Limits {
  std::size_t total, huge, normal;
  Settings settings;
};

class Game {
 public:
  Game(const Limits& limits, unsigned seed)
      : limits_{limits}, machine_{std::to_string(limits.total), limits.settings}, random_{seed} {
    for (int i = 0; i < 3; ++i) add();
  }

  void step() {
    Player& player = players_[random_() % players_.size()];
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        allocate(player);
        break;
      case 5:
      case 6:
      case 7:
        release(player);
        break;
      case 8:
        player.device = random_() % 2;
        ASSERT_EQ(player.process->set_device(player.device), 0);
        ++sets_[&player - players_.data()][player.device];
        break;
      case 9:
        reset(player);
        break;
      case 10:
        if (random_() % 3 == 0) leave(player);
        break;
      default:
        if (players_.size() < 4) add();
        break;
    }
  }

  // In every process, for the device that is current there.
  void compare() {
    for (const Player& player : players_) {
      const std::size_t used = in_use(player.device, true) + in_use(player.device, false);
      const Member::Figures now = player.process->info();
      ASSERT_EQ(now.total, limits_.total);
      ASSERT_EQ(now.total - now.free, used);
    }
  }

 private:
  void add() {
    players_.push_back({machine_.join(), 0, {}});
    sets_.push_back({1, 0});
  }

  std::size_t in_use(std::uint32_t device, bool huge) const {
    std::size_t sum = 0;
    for (const Player& player : players_) {
      for (const Block& block : player.blocks)
        if (block.device == device && block.huge == huge) sum += block.bytes;
    }
    return sum;
  }

  bool fits(std::uint32_t device, bool huge, std::size_t bytes) const {
    return in_use(device, true) + in_use(device, false) + bytes <= limits_.total &&
           in_use(device, huge) + bytes <= (huge ? limits_.huge : limits_.normal);
  }

  void allocate(Player& player) {
    const Kind& kind = kKinds[random_() % kKinds.size()];
    const bool tiny = kind.page == kPage4K;
    // Now and then more than is there.
    const std::size_t bytes = kind.page * (1 + random_() % (tiny ? 2000 : 6)) * (random_() % 20 == 0 ? 8 : 1);
    bool huge = !tiny;
    bool expected = fits(player.device, huge, bytes);
    if (!expected && kind.policy == ACL_MEM_MALLOC_HUGE_FIRST) {
      huge = false;
      expected = fits(player.device, false, bytes);
    }
    const std::uint64_t pointer = player.process->allocate(bytes, kind.policy);
    ASSERT_EQ(pointer != 0, expected)
        << bytes << " bytes with policy " << kind.policy << " on device " << player.device << ": huge in use "
        << in_use(player.device, true) << ", normal " << in_use(player.device, false);
    if (pointer == 0) return;
    const Block block{pointer, bytes, huge, player.device, static_cast<unsigned>(random_())};
    ASSERT_EQ(player.process->write(pointer, 500, block.seed), 0);
    player.blocks.push_back(block);
  }

  void release(Player& player) {
    if (player.blocks.empty()) return;
    auto block = player.blocks.begin();
    std::advance(block, static_cast<std::ptrdiff_t>(random_() % player.blocks.size()));
    ASSERT_TRUE(player.process->verify(block->pointer, 500, block->seed));
    ASSERT_EQ(player.process->free(block->pointer), 0);
    player.blocks.erase(block);
  }

  // The last reset of a device ends its blocks in this process (D-68).
  void reset(Player& player) {
    std::uint32_t& sets = sets_[static_cast<std::size_t>(&player - players_.data())][player.device];
    ASSERT_GT(sets, 0U);
    ASSERT_EQ(player.process->reset(player.device), 0);
    if (--sets == 0) {
      std::erase_if(player.blocks, [&](const Block& block) { return block.device == player.device; });
      ASSERT_EQ(player.process->set_device(player.device), 0);
      sets = 1;
    }
  }

  void leave(Player& player) {
    if (players_.size() < 2) return;
    constexpr std::array kWays{Way::exit, Way::quick, Way::abort};
    const std::size_t way = random_() % 4;
    if (way < kWays.size()) {
      player.process->end(kWays[way]);
    } else {
      player.process->die();
    }
    if (random_() % 2 == 0) player.process->wait();  // else it stays a zombie for a while
    const auto index = static_cast<std::ptrdiff_t>(&player - players_.data());
    zombies_.push_back(std::move(player.process));
    players_.erase(players_.begin() + index);
    sets_.erase(sets_.begin() + index);
  }

  Limits limits_;
  TestMachine machine_;
  std::mt19937 random_;
  std::vector<Player> players_;
  std::vector<std::array<std::uint32_t, 2>> sets_;
  std::vector<MemberPtr> zombies_;
};

void play(const Limits& limits) {
  const std::uint64_t steps = setting("BELAY_STRESS_STEPS", kUnderASanitizer ? 400 : 1500);
  const std::uint64_t seed = setting("BELAY_STRESS_SEED", static_cast<std::uint64_t>(::getpid()));
  std::cout << "BELAY_STRESS_SEED=" << seed << " BELAY_STRESS_STEPS=" << steps << std::endl;
  Game game{limits, static_cast<unsigned>(seed)};
  for (std::uint64_t i = 0; i < steps; ++i) {
    game.step();
    game.compare();
    if (::testing::Test::HasFatalFailure()) FAIL() << "at step " << i << " of seed " << seed;
  }
}

TEST(MachineBooks, D52_D66_D68_M430_EveryStepOfSeveralProcesses_Balances) {
  play({32 * kMB, 32 * kMB, 32 * kMB, {}});
}

TEST(MachineBooks, D52_M48_M423_WithALimitOnHugePages_EveryStepBalances) {
  play({32 * kMB, 12 * kMB, 32 * kMB, {{"BELAY_HUGE", "12M"}}});
}

TEST(MachineBooks, D52_M51_M423_WithALimitOnNormalPages_EveryStepBalances) {
  play({32 * kMB, 32 * kMB, 6 * kMB, {{"BELAY_NORMAL", "6M"}}});
}

}  // namespace
