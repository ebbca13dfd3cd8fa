// aclrtPointerGetAttributes for mapped addresses, where products differ.
#include "support/blocks.h"
#include "support/on_product.h"
#include "support/sanitizer.h"

namespace pointer_attributes_virtual_products_test {

using namespace belay_test;

struct Place {
  aclrtMemLocationType type;
  aclrtMemAttr attribute;
  std::size_t size;
  aclrtMemLocationType reported;
  std::uint32_t page;
};

// Maps such memory at the start of a reservation and asks about it.
void expect_reported(void* reserved, const Place& place) {
  aclrtPhysicalMemProp prop{};
  prop.memAttr = place.attribute;
  prop.location = {0, place.type};
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, place.size, &prop, 0), ACL_SUCCESS) << place.attribute;
  ASSERT_EQ(aclrtMapMem(reserved, place.size, 0, handle, 0), ACL_SUCCESS) << place.attribute;
  for (const std::size_t offset : {std::size_t{0}, place.size - 1}) {
    aclrtPtrAttributes got{};
    EXPECT_EQ(aclrtPointerGetAttributes(at(reserved, offset), &got), ACL_SUCCESS);
    EXPECT_EQ(got.location.type, place.reported) << place.attribute;
    EXPECT_EQ(got.location.id, 0U);
    EXPECT_EQ(got.pageSize, place.page) << place.attribute;
  }
  EXPECT_EQ(aclrtUnmapMem(reserved), ACL_SUCCESS);
  aclrtPtrAttributes got{};
  EXPECT_EQ(aclrtPointerGetAttributes(reserved, &got), kStale) << "V-350";
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

const Place kDevice{ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_HUGE, 2 * kMB, ACL_MEM_LOCATION_TYPE_DEVICE,
                    2097152};
const Place kGiant{ACL_MEM_LOCATION_TYPE_DEVICE, ACL_HBM_MEM_HUGE1G, kGB, ACL_MEM_LOCATION_TYPE_DEVICE,
                   1073741824};
const Place kHost{ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_HUGE, 2 * kMB, ACL_MEM_LOCATION_TYPE_HOST, 4096};

TEST(PointerAttributesVirtualProducts, V347_V348_V350_WhereverAddressesCanBeReserved) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no addresses that host code can use";
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910"}) {
    on_product(product, [&] {
      for (const Place& place : {kDevice, kHost}) {
        void* reserved = nullptr;
        ASSERT_EQ(aclrtReserveMemAddress(&reserved, 2 * kMB, 0, nullptr, 0), ACL_SUCCESS) << product;
        expect_reported(reserved, place);
        EXPECT_EQ(aclrtReleaseMemAddress(reserved), ACL_SUCCESS);
      }
    });
  }
}

TEST(PointerAttributesVirtualProducts, V347_PagesOf1GB) {
  for (const char* product : {"950", "A3", "A2"}) {
    on_product(product, [&] {
      void* reserved = nullptr;
      ASSERT_EQ(aclrtReserveMemAddress(&reserved, kGB, 0, nullptr, 0), ACL_SUCCESS) << product;
      expect_reported(reserved, kGiant);
      EXPECT_EQ(aclrtReleaseMemAddress(reserved), ACL_SUCCESS);
    });
  }
}

TEST(PointerAttributesVirtualProducts, V348_ReservationsAtAHighAddress_ReportHostMemoryWithHugePages) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no addresses that host code can use";
  on_product("A3", [] {
    void* const wished = reinterpret_cast<void*>(std::uintptr_t{70} << 40U);
    for (Place place : {kDevice, kGiant, kHost}) {
      void* reserved = nullptr;
      ASSERT_EQ(aclrtReserveMemAddressNoUCMemory(&reserved, kGB, 0, wished, 0), ACL_SUCCESS);
      ASSERT_EQ(reserved, wished);
      if (place.reported == ACL_MEM_LOCATION_TYPE_HOST) place.page = 2097152;
      expect_reported(reserved, place);
      EXPECT_EQ(aclrtReleaseMemAddress(reserved), ACL_SUCCESS);
    }
  });
}

}  // namespace pointer_attributes_virtual_products_test
