// aclrtMemP2PMap: memory of one device is prepared for another one.
#include "support/managed.h"
#include "support/refusals.h"

namespace p2p_map_test {

using namespace belay_test;

// Devices 0 and 1 are open and may use each other's memory.
class P2PMap : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    for (const int device : {1, 0}) {
      make_current(device);
      ASSERT_EQ(aclrtDeviceEnablePeerAccess(1 - device, 0), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    for (const int device : {1, 0}) {
      make_current(device);
      EXPECT_EQ(aclrtDeviceDisablePeerAccess(1 - device), ACL_SUCCESS);
    }
    OnTwoDevices::TearDown();
  }
};

const std::string kName = "aclrtMemP2PMap";

TEST_F(P2PMap, V335_ArgumentsOfTheOuterLayer) {
  const Device block{4096};
  for (const std::int32_t device : {1, 99}) {  // before V-336
    expect_not_stored(aclrtMemP2PMap(nullptr, 4096, device, 0), kBadArgument, kName);
    expect_not_stored(aclrtMemP2PMap(block.get(), 0, device, 0), kBadArgument, kName);
    for (const std::uint64_t flags : {std::uint64_t{1}, std::uint64_t{1} << 32U, ~std::uint64_t{0}})
      expect_not_stored(aclrtMemP2PMap(block.get(), 4096, device, flags), kBadArgument, kName);
  }
}

TEST_F(P2PMap, V336_DevicesThatAreNone_BeforeTheAddress) {
  const Device block{4096};
  int local = 0;
  for (const std::int32_t device : {-1, 8, 9, 64, 0x7FFFFFFF, -0x7FFFFFFF - 1}) {
    expect_stored(aclrtMemP2PMap(block.get(), 4096, device, 0), kBadDevice, kName);
    expect_stored(aclrtMemP2PMap(&local, 4, device, 0), kBadDevice, kName);
  }
}

TEST_F(P2PMap, V337_AddressesOutsideDeviceMemory) {
  int local = 0;
  Bytes plain(64);
  for (void* const start : {static_cast<void*>(&local), static_cast<void*>(plain.data()), sentinel()})
    expect_stored(aclrtMemP2PMap(start, 4, 1, 0), kBadValue, kName);
}

TEST_F(P2PMap, V337_MemoryThatCannotBePrepared) {
  const Pinned pinned{4096};
  const Device read_only{4096, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  void* reserved = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&reserved, kManagedPage, 0, nullptr, 0), ACL_SUCCESS);
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, kManagedPage, &prop, 0), ACL_SUCCESS);
  expect_stored(aclrtMemP2PMap(reserved, 4096, 1, 0), kRefused, kName);
  ASSERT_EQ(aclrtMapMem(reserved, kManagedPage, 0, handle, 0), ACL_SUCCESS);
  for (void* const start : {pinned.get(), read_only.get(), was, reserved})
    expect_stored(aclrtMemP2PMap(start, 4096, 1, 0), kRefused, kName);
  EXPECT_EQ(aclrtUnmapMem(reserved), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(reserved), ACL_SUCCESS);
}

TEST_F(P2PMap, V337_ARangeThatLeavesItsBlock) {
  const Device block{kManagedPage, ACL_MEM_MALLOC_HUGE_ONLY};
  EXPECT_EQ(aclrtMemP2PMap(block.get(), kManagedPage, 1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemP2PMap(block.get(), 64 * kGB, 1, 0), kRefused);
  EXPECT_EQ(aclrtMemP2PMap(block.get(), ~std::size_t{0}, 1, 0), kRefused);
}

TEST_F(P2PMap, V338_WithoutPeerAccess) {
  const Device block{4096};
  for (const int device : {1, 0}) {
    make_current(device);
    EXPECT_EQ(aclrtDeviceDisablePeerAccess(1 - device), ACL_SUCCESS);
  }
  expect_stored(aclrtMemP2PMap(block.get(), 4096, 1, 0), kRefused, kName);
  expect_stored(aclrtMemP2PMap(block.get(), 4096, 5, 0), kRefused, kName);
  EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 0, 0), ACL_SUCCESS) << "V-340: its own device";
}

TEST_F(P2PMap, V339_NothingMoves_AndItMayBeRepeated) {
  for (const unsigned policy : {0U, 1U, 2U, 3U, 4U, 5U}) {
    const Device block{4096, policy};
    write_to(block.get(), pattern(4096, policy));
    const std::size_t there = free_on(1), here = free_on(0);
    for (int round = 0; round < 3; ++round)
      EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 1, 0), ACL_SUCCESS) << policy;
    EXPECT_EQ(free_on(1), there) << "it takes no memory of the other device";
    EXPECT_EQ(free_on(0), here);
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(block.get(), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.id, 0U) << "nor an owner";
    EXPECT_EQ(read_from(block.get(), 4096), pattern(4096, policy));
    make_current(1);
    const Device copy{4096};
    EXPECT_EQ(aclrtMemcpy(copy.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(read_from(copy.get(), 4096), pattern(4096, policy)) << "the other device uses it";
    make_current(0);
  }
}

TEST_F(P2PMap, V339_NoContextIsNeeded_AndPartsOfABlockWillDo) {
  const Device block{4 * kMB, ACL_MEM_MALLOC_HUGE_ONLY};
  without_context([&] {
    EXPECT_EQ(aclrtMemP2PMap(block.get(), 4 * kMB, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemP2PMap(block.get(2 * kMB), 1, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemP2PMap(block.get(5), 77, 1, 0), ACL_SUCCESS);
  });
}

TEST_F(P2PMap, V340_TheOwnDevice) {
  const Device block{4096};
  EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 0, 0), ACL_SUCCESS);
  make_current(1);
  EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 0, 0), ACL_SUCCESS) << "whichever is current";
  make_current(0);
}

}  // namespace p2p_map_test
