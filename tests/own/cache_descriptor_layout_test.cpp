// Where a cache descriptor keeps its fields: hardware reads it, so the layout is the chip's.
#include <cstring>

#include "support/blocks.h"
#include "support/on_product.h"

namespace cache_descriptor_layout_test {

using namespace belay_test;

TEST(CacheDescriptorLayout, V7_ByProduct) {
  struct Row {
    const char* product;
    std::size_t size, length_at, source_at;
  };
  for (const Row& row : {Row{"A2", 32, 12, 16}, Row{"A3", 32, 12, 16}, Row{"950", 64, 48, 32}}) {
    on_product(row.product, [&] {
      std::size_t size = 0;
      ASSERT_EQ(aclrtCmoGetDescSize(&size), ACL_SUCCESS);
      ASSERT_EQ(size, row.size);
      const Device source{4096}, descriptor{4096};
      write_to(descriptor.get(), Bytes(128, 0xEE));
      ASSERT_EQ(aclrtCmoSetDesc(descriptor.get(), source.get(64), 1000), ACL_SUCCESS);
      Bytes expected(row.size, 0);
      const std::uint64_t where = number(source.get(64));
      const std::uint32_t length = 1000;
      std::memcpy(expected.data() + row.source_at, &where, sizeof where);
      std::memcpy(expected.data() + row.length_at, &length, sizeof length);
      EXPECT_EQ(read_from(descriptor.get(), row.size), expected);
      EXPECT_EQ(read_from(descriptor.get(row.size), 8), Bytes(8, 0xEE)) << "and not a byte more";
    });
  }
}

}  // namespace cache_descriptor_layout_test
