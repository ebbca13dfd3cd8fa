// Virtual memory under settings that change what happens to bytes.
#include <cstring>

#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace virtual_settings_test {

using namespace belay_test;

TEST(VirtualSettings, V122_D17_FreshMemoryIsNotInitialised) {
  on_product("A2", [] {
    const MappedBlock here{4 * kMB};
    EXPECT_EQ(read_from(here.get(kMB), 4096), Bytes(4096, 0xBE));
    write_to(here.get(), pattern(10, 1));
    EXPECT_EQ(read_from(here.get(4 * kMB - 64), 64), Bytes(64, 0xBE)) << "what was not written still is";
  });
}

TEST(VirtualSettings, V153_WithHostAccess_HostCodeUsesMappedDeviceMemory) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  on_product("A2", {{"BELAY_HOST_ACCESS", "allow"}}, [] {
    const Reserved place{16 * kMB};
    const Physical memory{4 * kMB};
    {
      const Mapped first{place.get(), memory}, second{place.get(8 * kMB), memory};
      std::memcpy(first.get(k2MB), "by the host", 12);
      EXPECT_STREQ(static_cast<const char*>(second.get(k2MB)), "by the host") << "V-150";
      const Bytes got = read_from(second.get(k2MB), 12);
      EXPECT_EQ(std::memcmp(got.data(), "by the host", 12), 0);
      write_to(second.get(), pattern(5000, 1));
      EXPECT_EQ(std::memcmp(first.get(), pattern(5000, 1).data(), 5000), 0);
    }
    const Mapped third{place.get(4 * kMB), memory};
    EXPECT_STREQ(static_cast<const char*>(third.get(k2MB)), "by the host") << "V-151";
    EXPECT_EQ(aclrtMemset(third.get(), 4 * kMB, 7, 4 * kMB), ACL_SUCCESS);
    EXPECT_EQ(*static_cast<const volatile char*>(third.get(4 * kMB - 1)), 7);
  });
}

TEST(VirtualSettings, V154_V37_WithoutBacking_CallsAreCheckedAndNothingIsKept) {
  on_product("A2", {{"BELAY_BACKING", "none"}, {"BELAY_HBM", "64G"}}, [] {
    const std::size_t before = free_bytes();
    {
      const MappedBlock here{48 * kGB};
      EXPECT_EQ(before - free_bytes(), 48 * kGB);
      EXPECT_EQ(aclrtMemset(here.get(), 48 * kGB, 1, 48 * kGB), ACL_SUCCESS);
      EXPECT_EQ(read_from(here.get(kGB), 4096), Bytes(4096, 0xBE));
      Bytes host(4096);
      EXPECT_EQ(aclrtMemcpy(here.get(48 * kGB - 1), 2, host.data(), 2, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
    }
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(VirtualSettings, V45_V154_WhateverBacksThePages) {
  for (const char* pages : {"auto", "thp", "small"}) {
    on_product("A2", {{"BELAY_PAGES", pages}, {"BELAY_KEEP", "0"}}, [&] {
      SCOPED_TRACE(pages);
      const Reserved place{32 * kMB};
      for (int round = 0; round < 3; ++round) {
        const Physical memory{8 * kMB};
        const Bytes bytes = pattern(8 * kMB, static_cast<unsigned>(round));
        {
          const Mapped mapped{place.get(), memory};
          write_to(mapped.get(), bytes);
        }
        const Mapped mapped{place.get(16 * kMB), memory};
        EXPECT_EQ(read_from(mapped.get(), 8 * kMB), bytes);
      }
    });
  }
}

TEST(VirtualSettings, V32_FreedMemoryOfOneHandleMayServeTheNext) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_COMMIT", "96M"}}, [] {
    const Reserved place{64 * kMB};
    for (int round = 0; round < 20; ++round) {  // more than the machine may commit, one after the other
      const Physical memory{32 * kMB};
      const Mapped mapped{place.get(), memory};
      ASSERT_EQ(aclrtMemset(mapped.get(), 32 * kMB, round, 32 * kMB), ACL_SUCCESS) << round;
    }
  });
}

}  // namespace virtual_settings_test
