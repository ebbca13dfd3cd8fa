// aclrtMemcpyAsyncWithOffset on each product.
#include "support/copy_offset.h"
#include "support/settings.h"
#include "support/streams.h"

namespace copy_offset_products_test {

using namespace belay_test;

TEST(CopyOffsetProducts, M354_M364_ByProduct) {
  for (const char* product : {"950", "A3", "A2", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      OffsetBlocks blocks;
      Stream stream;
      EXPECT_EQ(blocks.call(stream).run(), ACL_SUCCESS) << product;
      EXPECT_EQ(finish(stream), ACL_SUCCESS) << product;
      EXPECT_EQ(blocks.now(), pattern(256, 1)) << product;
    });
  }
  for (const char* product : {"310B", "310P", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      OffsetBlocks blocks;
      int garbage = 0;
      OffsetCopy call{blocks.to_cell(), 256, 0, blocks.from_cell(), 256, 0, kInner, nullptr};
      EXPECT_EQ(call.run(), kUnsupported) << product;
      EXPECT_EQ(last_error(), ACL_SUCCESS) << product;
      OffsetCopy worse = call;
      worse.stream = &garbage;
      EXPECT_EQ(worse.run(), kUnsupported) << product << ": M-355 later";
      worse = call;
      worse.to = nullptr;
      EXPECT_EQ(worse.run(), kUnsupported) << product << ": M-356 later";
      without_context([&] { EXPECT_EQ(call.run(), kUnsupported) << product << ": M-361 later"; });
      worse = call;
      worse.kind = kind_of(3);
      EXPECT_EQ(worse.run(), kBadValue) << product << ": M-353 earlier";
      worse.count = 0;
      EXPECT_EQ(worse.run(), ACL_SUCCESS) << product;
      EXPECT_EQ(blocks.now(), pattern(256, 2)) << product;
    });
  }
}

}  // namespace copy_offset_products_test
