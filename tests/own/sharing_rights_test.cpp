// Who is kept out, by the kernel or by belay, and with which words.
#include <sys/prctl.h>
#include <sys/resource.h>

#include "support/sharing.h"

namespace sharing_rights_test {

using namespace belay_test;

constexpr std::size_t k4MB = 4 * kMB;

class SharingRights : public AsRootAndUser {};
INSTANTIATE_TEST_SUITE_P(Pass, SharingRights, ::testing::Values(false, true), name_of_pass);

constexpr std::uint32_t kUndumpable = 1000, kFewFiles = 1001;
Answer changed(const Order& order) {
  if (order.small < kUndumpable) return sharing::carry_out(order);
  Answer answer;
  if (order.small == kUndumpable) {
    answer.code = ::prctl(PR_SET_DUMPABLE, 0);
  } else {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 3;
    answer.code = ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return answer;
}

TEST_P(SharingRights, V253_AProcessThatCannotBeTraced_ExportsNothingThatAnUserReaches_AndTheMessageSaysWhy) {
  if (!GetParam() && ::geteuid() == 0) GTEST_SKIP() << "root may open everything";
  const TestMachine machine;
  const Party other = party(machine), a{machine.join(changed)}, b = party(machine);
  const std::uint64_t value = a.value(a.physical(k4MB)), block = a->allocate(k4MB);
  const std::string key = a.key(block, k4MB);
  ASSERT_EQ(a->ask({Do::own, kUndumpable}).code, 0);
  EXPECT_EQ(b.import_value(value).code, kRefused);
  const std::string message = b->message();
  EXPECT_NE(message.find("PR_SET_DUMPABLE"), std::string::npos) << message;
  EXPECT_EQ(b.import_key(key).code, kRefused);
  EXPECT_NE(b->message().find("PR_SET_DUMPABLE"), std::string::npos);
  EXPECT_EQ(b->free_now(), 64 * kMB - 2 * k4MB) << "nothing was taken, nothing lost";
}

TEST_P(SharingRights, V253_NoDescriptorIsLeft_AndTheMessageSaysSo) {
  const TestMachine machine;
  const Party a = party(machine), b{machine.join(changed)};
  const std::uint64_t value = a.value(a.physical(k4MB));
  ASSERT_EQ(b->ask({Do::own, kFewFiles}).code, 0);
  EXPECT_EQ(b.import_value(value).code, kRefused);
  EXPECT_NE(b->message().find("ulimit -n"), std::string::npos) << b->message();
}

// A key holds for one machine only; the secret is never told whole.
TEST_P(SharingRights, V229_V413_D118_AnotherMachine_KnowsNeitherKeyNorValue) {
  const TestMachine machine, other;
  const Party a = party(machine), b = party(other), c = party(machine);
  const std::uint64_t value = a.value(a.physical(k4MB)), block = a->allocate(k4MB);
  const std::string key = a.key(block, k4MB, kListed);
  EXPECT_EQ(b.import_value(value).code, kStale);
  EXPECT_NE(b->message().find("BELAY_MACHINE"), std::string::npos);
  EXPECT_EQ(b.import_key(key).code, kRefused);
  std::string message = b->message();
  EXPECT_NE(message.find(key.substr(0, 8)), std::string::npos) << message;
  EXPECT_EQ(message.find(key.substr(0, 16)), std::string::npos) << message;
  EXPECT_EQ(c.import_key(key).code, kRefused);
  message = c->message();
  EXPECT_EQ(message.find(key.substr(0, 16)), std::string::npos) << message;
}

}  // namespace sharing_rights_test
