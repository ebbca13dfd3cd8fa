// shmem maps handles of several kinds into one reservation of a device.
#include "support/blocks.h"
#include "support/on_product.h"

namespace virtual_flow_mixed_handles_test {

using namespace belay_test;

TEST(VirtualFlowMixedHandles, V517_HandlesOfSeveralKinds_InOneReservation) {
  for (const char* product : {"950", "A3", "A2"}) {
    on_product(product, [&] {
      const aclrtMemAttr kinds[] = {ACL_HBM_MEM_HUGE, ACL_MEM_NORMAL, ACL_MEM_P2P_HUGE, ACL_MEM_P2P_NORMAL};
      constexpr std::size_t piece = 2 * kMB;
      void* start = nullptr;
      ASSERT_EQ(aclrtReserveMemAddress(&start, kGB, 0, nullptr, 1), ACL_SUCCESS) << product;
      std::vector<aclrtDrvMemHandle> handles;
      for (const aclrtMemAttr kind : kinds) {
        aclrtPhysicalMemProp prop{};
        prop.memAttr = kind;
        prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
        aclrtDrvMemHandle handle = nullptr;
        ASSERT_EQ(aclrtMallocPhysical(&handle, piece, &prop, 0), ACL_SUCCESS) << product << " " << kind;
        ASSERT_EQ(aclrtMapMem(at(start, handles.size() * piece), piece, 0, handle, 0), ACL_SUCCESS)
            << product << " " << kind;
        handles.push_back(handle);
      }
      const std::size_t whole = handles.size() * piece;
      write_to(start, pattern(whole, 6));
      EXPECT_EQ(read_from(start, whole), pattern(whole, 6)) << product << ": one range across all of them";
      for (std::size_t i = 0; i < handles.size(); ++i) {
        EXPECT_EQ(aclrtUnmapMem(at(start, i * piece)), ACL_SUCCESS) << product;
        EXPECT_EQ(aclrtFreePhysical(handles[i]), ACL_SUCCESS) << product;
      }
      EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS) << product;
    });
  }
}

}  // namespace virtual_flow_mixed_handles_test
