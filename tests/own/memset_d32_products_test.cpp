// aclrtMemsetD32 on each product.
#include <cstring>

#include "support/blocks.h"
#include "support/settings.h"

namespace memset_d32_products_test {

using namespace belay_test;

Bytes words(std::uint32_t value, std::size_t count) {
  Bytes bytes(count * 4);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * 4, &value, 4);
  return bytes;
}

TEST(MemsetD32Products, M390_ProductsWithoutIt_Answer207000_NothingWritten_AfterTheContext) {
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device block{64};
      write_to(block.get(), pattern(64, 1));
      EXPECT_EQ(aclrtMemsetD32(block.get(), 64, 1, 16), kUnsupported) << product;
      EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1)) << product;
      EXPECT_EQ(aclrtMemsetD32(block.get(1), 64, 1, 1), kBadArgument) << product;
      EXPECT_EQ(aclrtMemsetD32(nullptr, 0, 1, 0), ACL_SUCCESS) << product;
      without_context([&] { EXPECT_EQ(aclrtMemsetD32(block.get(), 64, 1, 16), kNoContext) << product; });
    });
  }
}

TEST(MemsetD32Products, M390_M391_950A3A2_HaveIt) {
  for (const char* product : {"950", "A3", "A2"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device block{64};
      EXPECT_EQ(aclrtMemsetD32(block.get(), 64, 0xDEADBEEF, 16), ACL_SUCCESS) << product;
      EXPECT_EQ(read_from(block.get(), 64), words(0xDEADBEEF, 16)) << product;
    });
  }
}

}  // namespace memset_d32_products_test
