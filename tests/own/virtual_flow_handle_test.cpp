// The vendor's samples that share memory by its handle, as far as one process goes: physical memory of one
// granule is mapped, written by work of a stream, read back, and given up.
#include "support/client_flows.h"

namespace virtual_flow_handle_test {

using namespace belay_test;

void write_and_read_one_granule() {
  FLOW_STEP(aclInit(nullptr));
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  aclrtStream stream = nullptr;
  FLOW_STEP(aclrtCreateStream(&stream));

  aclrtPhysicalMemProp prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, 0, ACL_HBM_MEM_NORMAL);
  std::size_t granularity = 0;
  FLOW_STEP(aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity));
  ASSERT_EQ(granularity, kFlowPage);
  const std::size_t size = up_to(std::size_t{1000}, granularity);

  aclrtDrvMemHandle handle = nullptr;
  FLOW_STEP(aclrtMallocPhysical(&handle, size, &prop, 0));
  EXPECT_EQ(books.taken(), size);
  void* address = nullptr;
  FLOW_STEP(aclrtReserveMemAddress(&address, granularity, 0, nullptr, 0));
  FLOW_STEP(aclrtMapMem(address, granularity, 0, handle, 0));
  aclrtMemAccessDesc access{};
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  access.location = prop.location;
  FLOW_STEP(aclrtMemSetAccess(address, granularity, &access, 1));
  EXPECT_EQ(books.taken(), size) << "only physical memory is charged";

  // What a kernel would write: half by a fill, half by a copy.
  void* pinned = nullptr;
  FLOW_STEP(aclrtMallocHost(&pinned, granularity));
  const Bytes numbers = pattern(granularity / 2, 7);
  std::copy(numbers.begin(), numbers.end(), static_cast<std::uint8_t*>(pinned));
  FLOW_STEP(aclrtMemsetAsync(address, granularity, 0x3C, granularity / 2, stream));
  FLOW_STEP(aclrtMemcpyAsync(at(address, granularity / 2), granularity / 2, pinned, granularity / 2,
                             ACL_MEMCPY_HOST_TO_DEVICE, stream));
  FLOW_STEP(aclrtSynchronizeStream(stream));
  FLOW_STEP(aclrtMemcpy(pinned, granularity, address, granularity, ACL_MEMCPY_DEVICE_TO_HOST));
  Bytes expected(granularity / 2, 0x3C);
  expected.insert(expected.end(), numbers.begin(), numbers.end());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), static_cast<std::uint8_t*>(pinned)));
  FLOW_STEP(aclrtFreeHost(pinned));

  FLOW_STEP(aclrtUnmapMem(address));
  FLOW_STEP(aclrtReleaseMemAddress(address));
  EXPECT_EQ(books.taken(), size) << "the handle still holds it";
  FLOW_STEP(aclrtFreePhysical(handle));
  EXPECT_EQ(books.taken(), 0U);
  FLOW_STEP(aclrtDestroyStream(stream));
  FLOW_STEP(aclrtResetDevice(0));
  FLOW_STEP(aclFinalize());
}

TEST(VirtualFlowHandle, V487_V488_V440_OneGranuleIsWrittenAndRead) {
  on_a2_and_a3({}, write_and_read_one_granule);
}

}  // namespace virtual_flow_handle_test
