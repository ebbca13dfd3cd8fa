// aclrtHostRegister and its relatives on each product.
#include "support/blocks.h"
#include "support/settings.h"

namespace host_register_products_test {

using namespace belay_test;

constexpr std::uint32_t kMapped = ACL_HOST_REG_MAPPED, kPinnedFlag = ACL_HOST_REG_PINNED;
constexpr std::uint32_t kIo = ACL_HOST_REG_IOMEMORY, kReadOnly = ACL_HOST_REG_READONLY;

aclrtHostRegisterType type_of(unsigned value) { return static_cast<aclrtHostRegisterType>(value); }

aclError register_mapped(void* start, std::uint64_t size) {
  void* address = nullptr;
  return aclrtHostRegister(start, size, ACL_HOST_REGISTER_MAPPED, &address);
}

TEST(HostRegisterProducts, M199_M204_M217_M221_OtherProducts_Answer207000_AfterTheContext) {
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Pages memory{1};
      void* address = sentinel();
      EXPECT_EQ(aclrtHostRegister(memory.get(), 4096, type_of(0), &address), kUnsupported) << product;
      EXPECT_EQ(aclrtHostRegister(memory.get(1), 4000, type_of(0), &address), kUnsupported) << product;
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 4096, kMapped), kUnsupported) << product;
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(1), 4000, kMapped), kUnsupported) << product;
      EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &address, 0), kUnsupported) << product;
      EXPECT_EQ(aclrtHostUnregister(memory.get()), kUnsupported) << product;
      EXPECT_EQ(address, sentinel());
      // Outer checks and V2's flag come first.
      EXPECT_EQ(aclrtHostRegister(nullptr, 4096, type_of(0), &address), kBadArgument) << product;
      EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 4096, 0), kBadValue) << product;
      EXPECT_EQ(aclrtHostUnregister(nullptr), kBadArgument) << product;
      EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &address, 1), kBadArgument) << product;
      without_context([&] {
        EXPECT_EQ(aclrtHostRegister(memory.get(), 4096, type_of(0), &address), kNoContext) << product;
        EXPECT_EQ(aclrtHostRegisterV2(memory.get(), 4096, kMapped), kNoContext) << product;
        EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &address, 0), kNoContext) << product;
        EXPECT_EQ(aclrtHostUnregister(memory.get()), kNoContext) << product;
      });
    });
  }
}

TEST(HostRegisterProducts, M199_M208_950A3A2_HaveIt) {
  for (const char* product : {"950", "A3", "A2"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Pages memory{1};
      EXPECT_EQ(register_mapped(memory.get(), 4096), ACL_SUCCESS) << product;
      EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS) << product;
    });
  }
}

}  // namespace host_register_products_test
