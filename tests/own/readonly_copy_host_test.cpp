// Stores by host code into read-only device memory.
#include <csignal>

#include "support/blocks.h"
#include "support/settings.h"

namespace readonly_copy_host_test {

using namespace belay_test;

constexpr unsigned kFlag = ACL_MEM_ACCESS_USER_SPACE_READONLY;

TEST(ReadOnlyHost, M78_M427_WhereHostCodeReachesTheBlock_AStoreFaults_ALoadDoesNot) {
  const Settings settings{{"BELAY_HOST_ACCESS", "allow"}, {"BELAY_LEAKS", "off"}};
  const auto body = [](bool store) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void *fixed = nullptr, *plain = nullptr;
    ASSERT_EQ(aclrtMalloc(&plain, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&fixed, 4096, policy_of(kFlag | 2U)), ACL_SUCCESS);
    volatile std::uint8_t* const bytes = static_cast<std::uint8_t*>(plain);
    bytes[0] = 1;
    EXPECT_EQ(bytes[0], 1);
    volatile std::uint8_t* const closed = static_cast<std::uint8_t*>(fixed);
    const std::uint8_t first = closed[0];
    EXPECT_EQ(closed[0], first);
    if (store) closed[0] = static_cast<std::uint8_t>(first + 1);
  };
  const Ending load = run_captured(settings, [&] { body(false); });
  EXPECT_TRUE(load.clean()) << load;
  const Ending store = run_captured(settings, [&] {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would catch it
    body(true);
  });
  EXPECT_TRUE(store.killed_by(SIGSEGV) || store.killed_by(SIGBUS)) << store;
}

}  // namespace readonly_copy_host_test
