// aclrtMemsetD32Async on products without it.
#include "support/mistakes.h"
#include "support/settings.h"
#include "support/streams.h"

namespace memset_async_products_test {

using namespace belay_test;

TEST(MemsetAsyncProducts, M390_Words_ProductsWithoutIt_Answer207000_AfterTheContext_NothingWritten) {
  for (const char* product : {"310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device block{64};
      Pinned pinned{64};
      Stream stream;
      int garbage = 0;
      write_to(block.get(), pattern(64, 1));
      write_to(pinned.get(), pattern(64, 1));
      for (void* place : {block.get(), pinned.get()}) {
        last_error();
        EXPECT_EQ(aclrtMemsetD32Async(place, 64, 1, 16, stream.get()), kUnsupported) << product;
        EXPECT_EQ(last_error(), ACL_SUCCESS) << product;
        EXPECT_EQ(aclrtMemsetD32Async(place, 64, 1, 16, &garbage), kStale) << product << ": M-388 earlier";
        without_context([&] { EXPECT_EQ(aclrtMemsetD32Async(place, 64, 1, 16, stream.get()), kNoContext); });
        EXPECT_EQ(aclrtMemsetD32Async(place, 63, 1, 16, stream.get()), kBadArgument) << product;
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
        EXPECT_EQ(read_from(place, 64), pattern(64, 1)) << product;
      }
    });
  }
}

}  // namespace memset_async_products_test
