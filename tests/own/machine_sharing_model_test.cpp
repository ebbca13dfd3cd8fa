// Four processes on three devices that export, import, map, lend, write and end at random, some of them
// stopped or killed on the way. After every step the books are right, and everybody sees the bytes it should.
#include <iostream>

#include "support/sharing_world.h"

namespace machine_sharing_model_test {

using namespace belay_test;

void at_random(const std::string& product, bool with_signals, std::uint64_t number) {
  const std::uint64_t steps = slice<std::uint64_t>(2000, 25'000, 5);
  SCOPED_TRACE(product + ", " + seed_text());
  SharingWorld world{test_random(number), product, with_signals};
  while (world.steps < steps && !::testing::Test::HasFailure()) {
    world.step();
    if (!::testing::Test::HasFailure()) world.check();
    if (world.steps % 500 == 0) world.check_all();
  }
  if (::testing::Test::HasFailure()) {
    std::cout << "in step " << world.steps << ", " << world.story();
    return;
  }
  world.check_all();
  world.finish();
  std::cout << "         " << world.imports << " imports, " << world.refused << " refused, " << world.stopped
            << " stops, " << world.ended << " ends\n";
}

TEST(MachineSharingModel, V37_V38_V41_V42_V433_FourProcessesAtRandom_AfterEveryStepBytesAndBooksAreRight) {
  at_random("A2", false, 21);
}
TEST(MachineSharingModel, V37_V38_V41_V266_V433_R188_R211_WithFabricHandlesEventsAndNotifies) {
  at_random("A3", true, 22);
}

// The machine keeps the last move of pages on each device in mind, and the row of what was moved may be
// another's by then, of other pages on another device.
TEST(MachineSharingModel, M430_WhatIsSharedNext_OnAnotherDevice_LeavesTheBooksOfTheFirstAlone) {
  const TestMachine machine;
  const Party a = party(machine);
  ASSERT_EQ(a->set_device(1), 0);
  const std::uint64_t kept = a->allocate(kMB);  // normal pages, that a wrong account would lose
  ASSERT_NE(kept, 0U);
  const std::uint64_t handle = a.physical(k2MB, 1);  // huge ones
  (void)a.value(handle);
  ASSERT_EQ(a.free_physical(handle), 0);
  ASSERT_EQ(a->set_device(0), 0);
  (void)a.key(a->allocate(3 * kMB), 3 * kMB);
  EXPECT_EQ(a->free_now(), 61 * kMB);
  ASSERT_EQ(a->set_device(1), 0);
  EXPECT_NE(a->allocate(kMB, ACL_MEM_MALLOC_HUGE_ONLY), 0U);
  EXPECT_EQ(a->free_now(), 61 * kMB);
}

}  // namespace machine_sharing_model_test
