// The vendor's sample that copies between two devices: access is enabled towards a device that was never set.
#include "support/client_flows.h"

namespace virtual_flow_peer_test {

using namespace belay_test;

void copy_to_the_peer() {
  constexpr std::size_t kBytes = 4 * kMB;
  FLOW_STEP(aclInit(nullptr));
  std::int32_t possible = 0;
  FLOW_STEP(aclrtDeviceCanAccessPeer(&possible, 0, 1));
  ASSERT_EQ(possible, 1);

  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks of_the_first;
  FLOW_STEP(aclrtDeviceEnablePeerAccess(1, 0));
  void* first = nullptr;
  FLOW_STEP(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  const Bytes bytes = pattern(kBytes, 3);
  FLOW_STEP(aclrtMemcpy(first, kBytes, bytes.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));

  FLOW_STEP(aclrtSetDevice(1));
  const MemoryBooks of_the_second;
  FLOW_STEP(aclrtDeviceEnablePeerAccess(0, 0));
  void* second = nullptr;
  FLOW_STEP(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  FLOW_STEP(aclrtMemcpy(second, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(read_from(second, kBytes), bytes);

  FLOW_STEP(aclrtDeviceDisablePeerAccess(0));
  FLOW_STEP(aclrtFree(second));
  EXPECT_EQ(of_the_second.taken(), 0U);
  FLOW_STEP(aclrtResetDeviceForce(1));
  FLOW_STEP(aclrtSetDevice(0));
  FLOW_STEP(aclrtDeviceDisablePeerAccess(1));
  FLOW_STEP(aclrtFree(first));
  EXPECT_EQ(of_the_first.taken(), 0U);
  FLOW_STEP(aclrtResetDeviceForce(0));
  FLOW_STEP(aclFinalize());
}

TEST(VirtualFlowPeer, V492_ADeviceReadsItsPeer_WhichIsSetLater) {
  on_a2_and_a3({{"BELAY_DEVICES", "2"}}, copy_to_the_peer);
}

TEST(VirtualFlowPeer, V492_WithOneDevice_TheSampleEndsEarly) {
  on_a2_and_a3({{"BELAY_DEVICES", "1"}}, [] {
    FLOW_STEP(aclInit(nullptr));
    std::uint32_t count = 0;
    FLOW_STEP(aclrtGetDeviceCount(&count));
    EXPECT_EQ(count, 1U);
    FLOW_STEP(aclFinalize());
  });
}

}  // namespace virtual_flow_peer_test
