// Virtual memory where the kernel gives little: few mappings, little address space, and after a restart.
#include <sys/resource.h>

#include <fstream>

#include "belay/belay.h"
#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace virtual_limits_test {

using namespace belay_test;

std::size_t most_mappings() {
  std::ifstream file{"/proc/sys/vm/max_map_count"};
  std::size_t count = 0;
  file >> count;
  return count;
}

TEST(VirtualLimits, V146_V18_WhenTheKernelMapsNoMore_Is207001_AndNothingIsLost) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs mappings of its own at any time";
  const std::size_t most = most_mappings();
  if (most == 0 || most > 200'000) GTEST_SKIP() << "this kernel allows " << most << " mappings";
  on_product("A2", [&] {
    const Reserved place{(most + 10) * k2MB};
    const Physical host{k2MB, of_host()};
    std::size_t count = 0;
    int answer = 0;
    while (count < most + 10 && (answer = map(place.get(count * k2MB), k2MB, host)) == ACL_SUCCESS) ++count;
    const int unmapped = aclrtUnmapMem(place.get(count * k2MB));
    int undone = 0;  // and room for the test itself, before it says anything
    for (std::size_t i = 0; i < 500; ++i) undone |= aclrtUnmapMem(place.get(--count * k2MB));
    EXPECT_EQ(answer, kShortage) << "after " << count;
    EXPECT_EQ(unmapped, kRefused) << "the one that failed is not there";
    EXPECT_EQ(undone, ACL_SUCCESS);
    EXPECT_GT(count, most / 4);
    EXPECT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
    EXPECT_EQ(map(place.get(), k2MB, host), ACL_SUCCESS) << "there is room again";
    write_to(place.get(77), pattern(50, 1));
    EXPECT_EQ(read_from(place.get((count - 1) * k2MB + 77), 50), pattern(50, 1));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(aclrtUnmapMem(place.get(i * k2MB)), ACL_SUCCESS) << i;
  });
}

TEST(VirtualLimits, V83_V154_D36_WithLittleAddressSpace_DeviceMemoryIsMappedAllTheSame) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs the address space itself";
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    const rlimit little{4 * kGB, 4 * kGB};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Reserved place{16 * kMB};
    const Physical a, b;
    const Mapped one{place.get(), a}, two{place.get(k2MB), b}, alias{place.get(8 * kMB), a};
    write_to(place.get(k2MB - 100), pattern(200, 1));
    EXPECT_EQ(read_from(place.get(k2MB - 100), 200), pattern(200, 1));
    EXPECT_EQ(read_from(place.get(10 * kMB - 100), 100), read_from(place.get(k2MB - 100), 100));
  });
}

TEST(VirtualLimits, V15_V76_AfterARestartNothingIsLeft) {
  in_fresh_process({{"BELAY_LEAKS", "off"}, {"BELAY_HBM", "64M"}}, [] {
    for (int round = 0; round < 20; ++round) {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(free_bytes(), 64 * kMB);
      void *place = nullptr, *high = nullptr;
      aclrtDrvMemHandle device = nullptr, host = nullptr;
      const aclrtPhysicalMemProp props[] = {of_device(), of_host()};
      ASSERT_EQ(reserve(&place, 64 * kMB), ACL_SUCCESS);
      ASSERT_EQ(reserve(&high, 64 * kMB), ACL_SUCCESS);
      ASSERT_EQ(aclrtMallocPhysical(&device, 32 * kMB, &props[0], 0), ACL_SUCCESS);
      ASSERT_EQ(aclrtMallocPhysical(&host, 4 * kMB, &props[1], 0), ACL_SUCCESS);
      ASSERT_EQ(map(place, 32 * kMB, device), ACL_SUCCESS);
      if (kHostCanBeMapped) {
        ASSERT_EQ(map(high, 4 * kMB, host), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtMemset(place, 4096, 1, 4096), ACL_SUCCESS);
      ASSERT_EQ(belay_restart(), 0);
      EXPECT_EQ(aclrtUnmapMem(place), kStale) << "no device is open";
      EXPECT_EQ(aclrtReleaseMemAddress(place), kStale);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtUnmapMem(place), kRefused);
      EXPECT_EQ(aclrtReleaseMemAddress(place), kBadValue);
      EXPECT_EQ(aclrtFreePhysical(device), kBadValue);
      EXPECT_EQ(aclrtMemset(place, 1, 1, 1), kRefused);
      const Reserved again{64 * kMB, place};
      EXPECT_EQ(again.get(), place);
    }
  });
}

}  // namespace virtual_limits_test
