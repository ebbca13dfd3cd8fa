// Four processes on three devices that export, import, map, lend, write and end at random, some of them
// stopped or killed on the way. After every step the books are right, and everybody sees the bytes it should.
#include <iostream>

#include "support/sharing_world.h"

namespace machine_sharing_model_test {

using namespace belay_test;

TEST(MachineSharingModel, V37_V38_V41_V42_V433_FourProcessesAtRandom_AfterEveryStepBytesAndBooksAreRight) {
  const std::uint64_t steps = slice<std::uint64_t>(3000, 50'000, 5);
  SCOPED_TRACE(seed_text());
  SharingWorld world{test_random(21)};
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

}  // namespace machine_sharing_model_test
