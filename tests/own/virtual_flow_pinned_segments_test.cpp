// Pinned host memory in segments that grow: the host uses the mapped addresses directly, and the device
// copies from and to them.
#include <cstring>

#include "support/client_flows.h"
#include "support/sanitizer.h"

namespace virtual_flow_pinned_segments_test {

using namespace belay_test;

constexpr std::size_t kSegment = 20 * kMB;

void stage_through_pinned_segments() {
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  aclrtStream stream = nullptr;
  FLOW_STEP(aclrtCreateStream(&stream));
  void* address = nullptr;
  FLOW_STEP(aclrtReserveMemAddress(&address, 8 * kSegment, 0, nullptr, 1));
  const auto prop = memory_at(ACL_MEM_LOCATION_TYPE_HOST, 0, ACL_HBM_MEM_HUGE);
  std::vector<aclrtDrvMemHandle> handles(2);
  for (aclrtDrvMemHandle& handle : handles) FLOW_STEP(aclrtMallocPhysical(&handle, kSegment, &prop, 0));
  for (std::size_t i = 0; i < 2; ++i)
    FLOW_STEP(aclrtMapMem(at(address, i * kSegment), kSegment, 0, handles[i], 0));
  EXPECT_EQ(books.taken(), 0U) << "it is memory of the host";
  aclrtPtrAttributes attributes{};
  FLOW_STEP(aclrtPointerGetAttributes(at(address, kSegment), &attributes));
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);

  // A block over the border of the two, used by the CPU as any memory is.
  constexpr std::size_t kBytes = 4 * kMB;
  std::uint8_t* const block = at(address, kSegment - kBytes / 2);
  const Bytes numbers = pattern(kBytes, 6);
  std::memcpy(block, numbers.data(), kBytes);
  Device device{kBytes, ACL_MEM_MALLOC_HUGE_ONLY};
  FLOW_STEP(aclrtMemcpyAsync(device.get(), kBytes, block, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  FLOW_STEP(aclrtSynchronizeStream(stream));
  EXPECT_EQ(read_from(device.get(), kBytes), numbers);
  std::memset(block, 0, kBytes);
  FLOW_STEP(aclrtMemcpyAsync(block, kBytes, device.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  FLOW_STEP(aclrtSynchronizeStream(stream));
  EXPECT_EQ(std::memcmp(block, numbers.data(), kBytes), 0);

  // It shrinks at the front and grows at the back; the rest stays as it is.
  FLOW_STEP(aclrtUnmapMem(address));
  FLOW_STEP(aclrtMapMem(at(address, 2 * kSegment), kSegment, 0, handles[0], 0));
  EXPECT_EQ(std::memcmp(at(address, kSegment), numbers.data() + kBytes / 2, kBytes / 2), 0);
  EXPECT_EQ(std::memcmp(at(address, 3 * kSegment - kBytes / 2), numbers.data(), kBytes / 2), 0)
      << "the memory has moved to another address with its bytes";

  FLOW_STEP(aclrtUnmapMem(at(address, kSegment)));
  FLOW_STEP(aclrtUnmapMem(at(address, 2 * kSegment)));
  for (const aclrtDrvMemHandle handle : handles) FLOW_STEP(aclrtFreePhysical(handle));
  FLOW_STEP(aclrtReleaseMemAddress(address));
  FLOW_STEP(aclrtDestroyStream(stream));
}

TEST(VirtualFlowPinnedSegments, V508_V50_V153_TheHostUsesThemDirectly) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no addresses that host code can use";
  on_a2_and_a3({{"BELAY_PIN", "best-effort"}}, stage_through_pinned_segments);
}

}  // namespace virtual_flow_pinned_segments_test
