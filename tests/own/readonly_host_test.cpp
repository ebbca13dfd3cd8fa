// Direct stores of the CPU into read-only blocks.
#include <sys/resource.h>
#include <csignal>

#include "support/allocators.h"
#include "support/settings.h"

namespace readonly_host_test {

using namespace belay_test;

// What became of a process that let the CPU store into a block of that policy.
enum class Fate { stored, died, never_got_there };

Fate store_directly(std::uint32_t value) {
  const Settings settings{{"BELAY_HOST_ACCESS", "allow"}, {"BELAY_LEAKS", "off"}, {"BELAY_PRODUCT", "A2"}};
  const int status = run_in_fresh_process(settings, [&] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(SIGSEGV, SIG_DFL);
    void* block = nullptr;
    if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtMalloc(&block, 64, policy(value)) != ACL_SUCCESS) ::_exit(3);
    volatile char* bytes = static_cast<char*>(block);
    const char read = bytes[0];  // reading is no change
    bytes[0] = static_cast<char>(read + 1);
    ::_exit(0);
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return Fate::never_got_there;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Fate::stored : Fate::died;
}

TEST(ReadOnlyForTheCpu, M75_M78_M427_ADirectStoreFaults) {
  EXPECT_EQ(store_directly(kHugeFirst), Fate::stored);
  EXPECT_EQ(store_directly(kReadOnly), Fate::died);
  EXPECT_EQ(store_directly(kReadOnly | kHugeOnly), Fate::died);
  EXPECT_EQ(store_directly(kReadOnly | kNormalOnly), Fate::died);
}

}  // namespace readonly_host_test
