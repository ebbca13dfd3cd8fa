// aclrtMemcpyAsyncWithDesc and its descriptor on each product.
#include "support/gates.h"
#include "support/mistakes.h"
#include "support/settings.h"

namespace copy_desc_async_products_test {

using namespace belay_test;

constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

// A descriptor and two blocks of 256 bytes with different contents.
struct Blocks {
  Device descriptor{4096}, from{256}, to{256}, third{256};
  Blocks() {
    restore();
    EXPECT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, from.get(), to.get(), 256, nullptr), ACL_SUCCESS);
  }
  void restore() const {
    write_to(from.get(), pattern(256, 1));
    write_to(to.get(), pattern(256, 2));
    write_to(third.get(), pattern(256, 3));
  }
};

TEST(CopyDescAsyncProducts, M327_M341_M345_ByProduct) {
  for (const char* product : {"950", "A3", "A2", "310B"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Blocks blocks;
      Stream stream;
      EventGate hold{stream};
      EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kInner, stream.get()), ACL_SUCCESS)
          << product;
      EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 2)) << product;
      hold.open();
      EXPECT_EQ(finish(stream), ACL_SUCCESS) << product;
      EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 1)) << product;
    });
  }
  for (const char* product : {"310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device block{4096};
      Stream stream;
      int garbage = 0;
      EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block.get(), kInner, stream.get()), kUnsupported) << product;
      EXPECT_EQ(last_error(), ACL_SUCCESS) << product;
      EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block.get(), kInner, &garbage), kUnsupported)
          << product << ": M-346 later";
      EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block.get(), kInner, nullptr), kBadArgument) << product;
      without_context([&] {
        EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block.get(), kInner, stream.get()), kUnsupported) << product;
      });
    });
  }
  in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    int garbage = 0;
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(&garbage, kInner, &garbage), kUnsupported);
  });
}

}  // namespace copy_desc_async_products_test
