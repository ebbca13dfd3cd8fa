// Random sequences of all calls of virtual memory, with copies and fills, compared with a model after every
// step: answers, bytes, and the books of three small devices.
#include <barrier>
#include <iostream>

#include "support/on_product.h"
#include "support/virtual_world.h"
#include "support/worker.h"

namespace virtual_model_test {

using namespace belay_test;
using World = VirtualWorld;

void expect_books(std::size_t total, const std::vector<const World*>& worlds) {
  for (int device = 0; device < World::kDevices; ++device) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    std::size_t used = 0;
    for (const World* world : worlds) used += world->used(device);
    ASSERT_EQ(free_bytes(), total - used) << "device " << device;
  }
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST(VirtualModelTest, V19_V37_V42_V154_OneStepAfterTheOther_OnSeveralThreads) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_DEVICES", "3"}}, [] {
    World world{test_random(), 64 * kMB, true};
    std::vector<std::unique_ptr<Worker>> threads;
    for (int i = 0; i < 4; ++i) {
      threads.push_back(std::make_unique<Worker>());
      threads.back()->do_([] { World::open_devices(); });
    }
    World::open_devices();
    std::mt19937 random = test_random(1);
    for (std::uint64_t step = 0;
         step < slice<std::uint64_t>(4000, 100'000, 4) && !::testing::Test::HasFailure(); ++step) {
      threads[random() % threads.size()]->do_([&] {
        (void)aclrtSetDevice(0);  // it may have been reset
        world.step();
      });
      expect_books(64 * kMB, {&world});
      if (step % 1000 == 999) world.verify();
    }
    world.verify();
    world.end();
    expect_books(64 * kMB, {&world});
    std::cout << "         " << world.steps << " steps, " << world.refused << " refused\n";
  });
}

TEST(VirtualModelTest, V19_V37_V154_SeveralThreadsAtOnce) {
  on_product("A2", {{"BELAY_HBM", "2G"}, {"BELAY_DEVICES", "3"}}, [] {
    constexpr int kThreads = 4;
    World::open_devices();
    std::vector<std::unique_ptr<World>> worlds;
    for (unsigned i = 0; i < kThreads; ++i)
      worlds.push_back(std::make_unique<World>(test_random(10 + i), 256 * kMB, false));
    std::vector<const World*> all;
    for (const auto& world : worlds) all.push_back(world.get());
    std::barrier meet{kThreads, [&]() noexcept { expect_books(2 * kGB, all); }};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (std::uint64_t step = 0; step < slice<std::uint64_t>(1200, 25'000, 4); ++step) {
          if (!::testing::Test::HasFailure()) worlds[i]->step();
          if (step % 100 == 99) meet.arrive_and_wait();
        }
        worlds[i]->verify();
        worlds[i]->end();
      });
    }
    for (std::thread& thread : threads) thread.join();
    expect_books(2 * kGB, {});
  });
}

}  // namespace virtual_model_test
