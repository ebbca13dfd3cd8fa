// Processes that allocate, copy, verify and free at random while others of them are killed and stopped at
// random instants. Whenever they pause, the books of the machine are compared with what they say they hold.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <random>

#include "support/members.h"
#include "support/slices.h"

namespace machine_stress_test {

using namespace belay_test;

class MachineStress : public AsRootAndUser {};
INSTANTIATE_TEST_SUITE_P(Pass, MachineStress, ::testing::Values(false, true), name_of_pass);

constexpr std::size_t kTotal = 16 * kMB;
constexpr std::size_t kWorkers = 6;

// What parent and workers share besides the machine.
struct Signs {
  std::atomic<bool> pause{false};
  std::atomic<std::uint64_t> steps{0}, refusals{0};
};
Signs* shared_signs() {
  void* const memory =
      ::mmap(nullptr, sizeof(Signs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) Signs;
}

// The working life of one process.
class Worker {
 public:
  Worker(Signs& signs, std::uint64_t seed) : signs_{signs}, random_{seed} {}

  // Until the pause; then what it holds on each device. A code other than 0 tells what went wrong.
  Answer work() {
    Answer answer;
    answer.code = 0;
    do {
      answer.code = step();
      signs_.steps.fetch_add(1, std::memory_order_relaxed);
    } while (answer.code == 0 && !signs_.pause.load());
    for (const Block& block : blocks_) {
      (block.device == 0 ? answer.first : answer.second) += block.footprint;
      if (answer.code == 0) answer.code = check(block);
    }
    if (answer.code != 0) std::strncpy(answer.text.data(), recent_message().c_str(), answer.text.size() - 1);
    return answer;
  }

 private:
  struct Block {
    void* start;
    std::size_t footprint, written;
    unsigned seed;
    int device;
  };
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  int step() {
    const std::uint64_t dice = below(100);
    if (dice < 55 && blocks_.size() < 12) return allocate();
    if (dice < 97 && !blocks_.empty()) return free(below(blocks_.size()));
    if (dice == 97 && below(8) == 0) return reset();
    std::size_t free = 0, total = 0;
    if (aclrtSetDevice(static_cast<int>(below(2))) != 0) return 900001;
    if (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != 0) return 900002;
    return total == kTotal && free <= total ? 0 : 900003;
  }

  int allocate() {
    static constexpr std::uint32_t kPolicies[] = {
        ACL_MEM_MALLOC_HUGE_FIRST,  ACL_MEM_MALLOC_HUGE_ONLY,       ACL_MEM_MALLOC_NORMAL_ONLY,
        ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P};
    Block block{};
    block.device = static_cast<int>(below(2));
    if (aclrtSetDevice(block.device) != 0) return 900004;
    const std::size_t size = below(4) == 0 ? (below(3 * kMB) + 1) : (below(64 * kKB) + 1);
    const std::uint32_t policy = kPolicies[below(std::size(kPolicies))];
    const int answer = ::aclrtMallocAlign32(&block.start, size, policy_of(policy));
    if (answer == kShortage) {
      signs_.refusals.fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
    if (answer != 0) return answer;
    const std::size_t page = page_of(block.start);
    block.footprint = (size + page - 1) / page * page;
    block.written = std::min<std::size_t>(size, below(4096) + 1);
    block.seed = static_cast<unsigned>(random_());
    const Bytes bytes = pattern(block.written, block.seed);
    if (const int copied =
            aclrtMemcpy(block.start, size, bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE))
      return copied;
    // The other end of the block as well, through a copy on the device.
    if (size >= 2 * block.written) {
      void* const last = at(block.start, size - block.written);
      if (const int copied =
              aclrtMemcpy(last, block.written, block.start, block.written, ACL_MEMCPY_DEVICE_TO_DEVICE))
        return copied;
    }
    blocks_.push_back(block);
    return 0;
  }

  static int check(const Block& block) {
    Bytes bytes(block.written);
    if (aclrtSetDevice(block.device) != 0) return 900006;
    if (const int copied =
            aclrtMemcpy(bytes.data(), bytes.size(), block.start, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST))
      return copied;
    return bytes == pattern(block.written, block.seed) ? 0 : 900005;
  }
  int free(std::size_t which) {
    const Block block = blocks_[which];
    blocks_[which] = blocks_.back();
    blocks_.pop_back();
    if (const int wrong = check(block)) return wrong;
    return aclrtFree(block.start);
  }
  int reset() {
    const int device = static_cast<int>(below(2));
    std::erase_if(blocks_, [&](const Block& block) { return block.device == device; });
    if (aclrtSetDevice(device) != 0) return 900007;
    return aclrtResetDeviceForce(device);
  }

  Signs& signs_;
  std::mt19937_64 random_;
  std::vector<Block> blocks_;
};

class Stress {
 public:
  explicit Stress(std::uint64_t seed) : random_{seed}, observer_{machine_.join()} {
    for (auto& worker : workers_) worker = hire();
  }
  ~Stress() {
    signs_->pause = true;
    for (auto& worker : workers_) worker.reset();
    ::munmap(signs_, sizeof(Signs));
  }

  void run(std::uint64_t kills) {
    for (std::uint64_t killed = 0; killed < kills && !::testing::Test::HasFailure(); ++killed) {
      let_some_time_pass();
      kill_one();
      if (killed % 10 == 9) quiet_point();
    }
    if (::testing::Test::HasFailure()) return;
    quiet_point();
    for (auto& worker : workers_) {
      worker->die();
      if (random_() % 2 == 0) worker->wait();
    }
    expect_held(0, 0);
    std::cout << "         " << signs_->steps << " steps, " << signs_->refusals << " refused, " << checks_
              << " looks at the books\n";
  }

 private:
  MemberPtr hire() {
    auto worker = std::make_shared<std::unique_ptr<Worker>>();
    MemberPtr member = machine_.come([worker, this, seed = random_()](const Order&) {
      if (*worker == nullptr) *worker = std::make_unique<Worker>(*signs_, seed);
      return (*worker)->work();
    });
    member->send({Do::own});
    return member;
  }

  // The observer looks at the books meanwhile. They cannot be compared with anything, but they have bounds.
  void let_some_time_pass() {
    for (std::uint64_t looks = random_() % 12; looks > 0; --looks, ++checks_) {
      const Member::Figures figures = observer_->info();
      EXPECT_EQ(figures.total, kTotal);
      EXPECT_LE(figures.free, figures.total);
    }
  }

  void kill_one() {
    MemberPtr& victim = workers_[random_() % kWorkers];
    const Member& sleeper = *workers_[random_() % kWorkers];
    const bool sleeps = random_() % 4 == 0 && &sleeper != victim.get();  // another one, meanwhile
    if (sleeps) sleeper.stop();
    if (random_() % 8 == 0) victim->stop();
    let_some_time_pass();
    if (victim->has_answered()) {
      const Answer answer = victim->hear();
      ADD_FAILURE() << "process " << victim->process() << " gave up: " << answer.code << ", "
                    << answer.text.data();
    }
    victim->die();
    victim = hire();  // often before the dead one's memory was returned
    if (sleeps) {
      let_some_time_pass();
      sleeper.go_on();
    }
  }

  // All workers tell what they hold; the machine says the same.
  void quiet_point() {
    signs_->pause = true;
    std::size_t held[2] = {0, 0};
    for (const auto& worker : workers_) {
      const Answer answer = worker->hear();
      ASSERT_EQ(answer.heard, 1) << "process " << worker->process() << " did not pause";
      ASSERT_EQ(answer.code, 0) << "process " << worker->process() << ": " << answer.text.data();
      held[0] += answer.first;
      held[1] += answer.second;
    }
    expect_held(held[0], held[1]);
    signs_->pause = false;
    for (const auto& worker : workers_) worker->send({Do::own});
  }
  void expect_held(std::size_t first, std::size_t second) {
    const std::size_t held[] = {first, second};
    for (const std::uint32_t device : {1U, 0U}) {
      ASSERT_EQ(observer_->set_device(device), 0);
      EXPECT_EQ(observer_->info().free, kTotal - held[device]) << "device " << device;
      ++checks_;
    }
  }

  std::mt19937_64 random_;
  TestMachine machine_{"16M", {{"BELAY_P2P", "8M"}}};
  Signs* signs_ = shared_signs();
  MemberPtr observer_;
  std::array<MemberPtr, kWorkers> workers_;
  std::uint64_t checks_ = 0;
};

TEST_P(MachineStress, D52_D66_D67_M430_RandomKillsAtRandomInstants_BooksBalanceToTheByte) {
  SCOPED_TRACE(seed_text());
  Stress{test_seed()}.run(slice<std::uint64_t>(40, 1200, 5));
}

// Four processes, each of which never holds more than a quarter. Whatever the kind of page, what one of them
// does not use is there.
TEST_P(MachineStress, D52_M430_WhoStaysWithinItsShare_IsNeverRefused) {
  const TestMachine machine{"16M"};
  Signs* const signs = shared_signs();
  const std::uint64_t rounds = slice<std::uint64_t>(100000, 2000000, 20);
  const Own within_its_share = [&](const Order& order) {
    static constexpr std::uint32_t kPolicies[] = {ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_ONLY,
                                                  ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
                                                  ACL_MEM_MALLOC_HUGE_ONLY_P2P};
    std::mt19937_64 random{order.seed};
    Answer answer;
    answer.code = 0;
    for (std::uint64_t round = 0; round < rounds && answer.code == 0 && !signs->pause; ++round) {
      void *first = nullptr, *second = nullptr;
      answer.code = ::aclrtMallocAlign32(&first, 2 * kMB, policy_of(kPolicies[random() % 4]));
      if (answer.code == 0)
        answer.code = ::aclrtMallocAlign32(&second, 2 * kMB, policy_of(kPolicies[random() % 4]));
      if (first != nullptr) (void)aclrtFree(first);
      if (second != nullptr) (void)aclrtFree(second);
      answer.first = round;
    }
    signs->pause = answer.code != 0;
    return answer;
  };
  std::vector<MemberPtr> members;
  for (int i = 0; i < 4; ++i) members.push_back(machine.join(within_its_share));
  const std::uint64_t seed = test_seed();
  for (std::size_t i = 0; i < members.size(); ++i) members[i]->send({Do::own, 0, 0, 0, seed + i});
  for (const auto& member : members) {
    const Answer answer = member->hear();
    EXPECT_EQ(answer.code, 0) << "in round " << answer.first << ", " << seed_text() << ": "
                              << member->message();
  }
  EXPECT_EQ(members[0]->free_now(), 16 * kMB);
  ::munmap(signs, sizeof(Signs));
}

}  // namespace machine_stress_test
