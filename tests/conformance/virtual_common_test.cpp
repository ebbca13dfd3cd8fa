// What all functions of virtual memory have in common: layers of checks, last errors, messages, peers.
#include "support/fresh_process.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_common_test {

using namespace belay_test;

class VirtualCommon : public OnDevice {};

TEST_F(VirtualCommon, V10_V11_V22_OuterRefusalsAreNoLastError_InnerOnesAre) {
  const MappedBlock here;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp far = of_device(99);
  const auto expect_row = [](const char* api, int answer, int expected) {
    if (expected == kBadArgument) {
      EXPECT_EQ(answer, expected) << api;
      EXPECT_EQ(last_error(), ACL_SUCCESS) << api;
      EXPECT_TRUE(mentions(recent_message(), api)) << api;
    } else {
      expect_stored(answer, expected, api);
    }
  };
  expect_row("aclrtReserveMemAddress", reserve(nullptr, 1), kBadArgument);
  expect_row("aclrtMallocPhysical", aclrtMallocPhysical(&handle, 0, &far, 0), kBadArgument);
  expect_row("aclrtMallocPhysical", aclrtMallocPhysical(&handle, 1, &far, 0), kBadDevice);
  expect_row("aclrtMapMem", map(here.get(), 0, here.memory), kBadArgument);
  expect_row("aclrtMapMem", map(here.get(), k2MB, here.memory), kRefused);
  expect_row("aclrtMemMapNoAccess", aclrtMemMapNoAccess(here.get(), k2MB, 1, here.memory, 0), kBadValue);
  expect_row("aclrtUnmapMem", aclrtUnmapMem(here.get(1)), kRefused);
  expect_row("aclrtReleaseMemAddress", aclrtReleaseMemAddress(here.get(1)), kBadValue);
  expect_row("aclrtFreePhysical", aclrtFreePhysical(sentinel()), kBadValue);
}

TEST_F(VirtualCommon, V12_V13_EachCauseHasItsNumber) {
  const MappedBlock here;
  aclrtDrvMemHandle handle = nullptr;
  void* place = nullptr;
  const aclrtPhysicalMemProp none = of_device(8), closed = of_device(7), good = of_device();
  EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &none, 0), 107001);
  EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &closed, 0), 107017);
  EXPECT_EQ(aclrtMallocPhysical(&handle, kTB, &good, 0), 207001);
  EXPECT_EQ(reserve(&place, 1000 * kTB), 207001);
  EXPECT_EQ(aclrtFreePhysical(sentinel()), 107000);
  aclrtMemAccessDesc read = grant_device(1);
  read.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, &read, 1), 207000);
  EXPECT_EQ(aclrtMapMem(here.get(), k2MB, 0, here.memory, 0), 507899);
  EXPECT_EQ(aclrtUnmapMem(here.get(4096)), 507899);
  EXPECT_EQ(aclrtReleaseMemAddress(here.get()), 507899);
}

TEST_F(VirtualCommon, V14_NobodyAsksForInit) {
  in_fresh_process([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const MappedBlock here;
    write_to(here.get(), pattern(64, 1));
    EXPECT_EQ(read_from(here.get(), 64), pattern(64, 1));
  });
}

TEST_F(VirtualCommon, V17_V18_ManyRefusalsLeaveNothingBehind) {
  const Reserved place{16 * kMB};
  const Physical memory{4 * kMB};
  const Mapped mapped{place.get(4 * kMB), memory};
  write_to(mapped.get(), pattern(256, 1));
  for (int round = 0; round < 100; ++round) {
    EXPECT_EQ(map(place.get(2 * kMB), 4 * kMB, memory), kRefused);
    EXPECT_EQ(map(place.get(8 * kMB), k2MB, memory), kBadValue);
    EXPECT_EQ(aclrtUnmapMem(place.get(6 * kMB)), kRefused);
    EXPECT_EQ(aclrtReleaseMemAddress(place.get()), kRefused);
  }
  EXPECT_EQ(free_before_ - free_bytes(), 4 * kMB);
  EXPECT_EQ(read_from(mapped.get(), 256), pattern(256, 1));
  for (const std::size_t offset : {0U, 2U, 8U, 14U})
    EXPECT_EQ(aclrtUnmapMem(place.get(offset * kMB)), kRefused);
}

TEST_F(VirtualCommon, V436_V437_PeerAccessGoesOneWay_FromTheCurrentDevice) {
  std::int32_t can = 7, status = 7;
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 3), ACL_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(3, 1), 200006);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 1), 200006) << "before everything else";
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), kBadArgument);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(3, 0), ACL_SUCCESS) << "device 3 was never set";
  EXPECT_EQ(aclrtDevicePeerAccessStatus(0, 3, &status), ACL_SUCCESS);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(aclrtDevicePeerAccessStatus(3, 0, &status), ACL_SUCCESS);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(3), ACL_SUCCESS);
  EXPECT_EQ(aclrtDevicePeerAccessStatus(0, 3, &status), ACL_SUCCESS);
  EXPECT_EQ(status, 0);
}

TEST_F(VirtualCommon, V439_TheIdThatOthersKnowThisProcessBy) {
  std::int32_t pid = -1;
  EXPECT_EQ(aclrtDeviceGetBareTgid(nullptr), kBadArgument);
  EXPECT_EQ(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
  EXPECT_GT(pid, 0);
}

}  // namespace virtual_common_test
