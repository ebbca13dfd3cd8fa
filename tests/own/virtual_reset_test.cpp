// What becomes of virtual memory when its device closes.
#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace virtual_reset_test {

using namespace belay_test;

const Settings kQuiet{{"BELAY_LEAKS", "off"}, {"BELAY_DEVICES", "3"}};

// A segment whose device has closed.
void expect_gone(void* place, std::size_t size, aclrtDrvMemHandle handle) {
  Bytes host(64);
  aclrtMemLocation owner{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::uint64_t flag = 0;
  void* base = nullptr;
  aclrtPhysicalMemProp prop{};
  EXPECT_EQ(aclrtMemcpy(host.data(), 64, place, 64, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
  EXPECT_EQ(aclrtMemcpy(place, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
  EXPECT_EQ(aclrtMemset(place, 64, 0, 64), kRefused);
  EXPECT_EQ(aclrtUnmapMem(place), kRefused);
  EXPECT_EQ(set_access(place, size, grant_device(1)), kRefused);
  EXPECT_EQ(aclrtMemGetAccess(place, &owner, &flag), kRefused);
  EXPECT_EQ(aclrtMemGetAddressRange(place, &base, nullptr), kBadValue);
  EXPECT_EQ(aclrtFreePhysical(handle), kBadValue);
  EXPECT_EQ(map(place, size, handle), kBadValue);
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &prop), kBadArgument);
}

TEST(VirtualReset, V42_D68_D69_MemoryAndMappingsGo_ReservationsStay) {
  for (const bool by_force : {false, true}) {
    in_fresh_process(kQuiet, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      MappedBlock here{4 * kMB};
      Physical unmapped;
      void *const mapped_handle = here.memory.get(), *const loose = unmapped.get();
      ASSERT_EQ(by_force ? aclrtResetDeviceForce(0) : aclrtResetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreePhysical(loose), kBadValue);
      EXPECT_EQ(aclrtUnmapMem(here.get()), kRefused);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      std::size_t free = 0, total = 0;
      ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
      EXPECT_EQ(free, total);
      expect_gone(here.get(), 4 * kMB, mapped_handle);
      unmapped.forget();
      here.forget_memory();
      const Physical again{4 * kMB};
      const Mapped mapped{here.get(), again};
      write_to(mapped.get(), pattern(100, 1));
      EXPECT_EQ(read_from(mapped.get(), 100), pattern(100, 1)) << "the addresses are still there";
    });
  }
}

TEST(VirtualReset, V42_V148_ReservationsStayBound) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    MappedBlock here;
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    here.forget_memory();
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    const Physical there{k2MB, of_device(1)};
    EXPECT_EQ(map(here.get(), k2MB, there), kRefused);
    void* const where = here.addresses.release_now();
    const Reserved again{k2MB, where};
    const Mapped mapped{again.get(), there};
  });
}

TEST(VirtualReset, V42_V96_AReservationCanBeReleasedAfterwards) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    MappedBlock here;
    Reserved empty{kGB};
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    here.forget_memory();
    here.addresses.release_now();
    empty.release_now();
  });
}

TEST(VirtualReset, V42_HostMemoryStays) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const MappedBlock host{4 * kMB, of_host()}, node{k2MB, of_node()};
    ASSERT_EQ(set_access(host.get(), 4 * kMB, grant_device(0)), ACL_SUCCESS);
    write_to(host.get(), pattern(4096, 1));
    write_to(node.get(), pattern(4096, 2));
    ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(read_from(host.get(), 4096), pattern(4096, 1));
    EXPECT_EQ(read_from(node.get(), 4096), pattern(4096, 2));
    EXPECT_EQ(access_of_host(host.get()), 3U);
  });
}

TEST(VirtualReset, V42_M406_OtherDevicesAreNotConcerned) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    MappedBlock here;
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    const MappedBlock there{k2MB, of_device(1)};
    ASSERT_EQ(set_access(there.get(), k2MB, grant_device(0)), ACL_SUCCESS);
    write_to(there.get(), pattern(4096, 1));
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    here.forget_memory();
    EXPECT_EQ(read_from(there.get(), 4096), pattern(4096, 1));
    EXPECT_EQ(access_of_device(there.get(), 1), 3U);
  });
}

TEST(VirtualReset, V42_M405_OnlyTheLastResetCloses) {
  in_fresh_process(kQuiet, [] {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    MappedBlock here;
    write_to(here.get(), pattern(100, 1));
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(read_from(here.get(), 100), pattern(100, 1)) << i;
    }
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnmapMem(here.get()), kRefused);
    here.forget_memory();
  });
}

TEST(VirtualReset, V42_R65_AContextKeepsItOpen_AndTheLastOneCloses) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext first = nullptr, second = nullptr;
    ASSERT_EQ(aclrtCreateContext(&first, 0), ACL_SUCCESS);
    MappedBlock here;  // made with the first context current
    write_to(here.get(), pattern(100, 1));
    ASSERT_EQ(aclrtCreateContext(&second, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(first), ACL_SUCCESS);
    EXPECT_EQ(read_from(here.get(), 100), pattern(100, 1)) << "memory belongs to no context";
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(read_from(here.get(), 100), pattern(100, 1)) << "the second context is left";
    ASSERT_EQ(aclrtDestroyContext(second), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnmapMem(here.get()), kRefused);
    EXPECT_EQ(aclrtFreePhysical(here.memory), kBadValue);
    here.forget_memory();
  });
}

TEST(VirtualReset, V123_V15_AfterTheResetTheDeviceIsNotOpen) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp device = of_device();
    EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &device, 0), kStale);
    const Physical host{k2MB, of_host()};
    const Reserved place{k2MB};
    EXPECT_NE(host.get(), nullptr);
  });
}

TEST(VirtualReset, V42_V37_ManyRoundsLeaveNothing) {
  in_fresh_process({{"BELAY_LEAKS", "off"}, {"BELAY_HBM", "64M"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Reserved place{64 * kMB};
    for (int round = 0; round < 200; ++round) {
      Physical memory{64 * kMB};
      Mapped mapped{place.get(), memory};
      EXPECT_EQ(aclrtMemset(mapped.get(), 4096, round, 4096), ACL_SUCCESS);
      memory.forget();
      mapped.forget();
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(free_bytes(), 64 * kMB);
    }
  });
}

}  // namespace virtual_reset_test
