// Batches with an item of pageable memory, on each product.
#include "support/batch_async.h"
#include "support/gates.h"
#include "support/mistakes.h"
#include "support/settings.h"

namespace memcpy_batch_async_pageable_test {

using namespace belay_test;

TEST(MemcpyBatchAsyncPageable, M301_TheCallWaitsForTheStream_AndThePageableItemIsThereAtTheReturn) {
  for (const char* product : {"A2", "A3", "950"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const bool whole = std::string{product} == "950";
      for (const std::size_t pageable : {0U, 1U, 3U}) {
        const PinnedItems items{4};
        Bytes plain = pattern(64, 5);
        Stream stream;
        EventGate hold{stream};
        EXPECT_EQ(aclrtMemsetAsync(items.device(0), 4 * 128, 0xAA, 4 * 128, stream.get()), ACL_SUCCESS);
        Batch batch = items.up();
        batch.srcs[pageable] = plain.data();
        const OpensLater later{hold};
        EXPECT_EQ(run(batch, stream.get()), ACL_SUCCESS) << product;
        EXPECT_TRUE(later.opening()) << "it did not wait";
        EXPECT_EQ(read_from(items.device(pageable), 64), plain) << product;
        // What stands before the pageable item has been waited for, on the 950 all of it.
        for (std::size_t i = 0; i < 4; ++i) {
          if (i != pageable && (i < pageable || whole)) {
            EXPECT_EQ(read_from(items.device(i), 64), read_from(items.host(i), 64)) << product << i;
          }
        }
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
        for (std::size_t i = 0; i < 4; ++i) {
          EXPECT_EQ(read_from(items.device(i), 64), i == pageable ? plain : read_from(items.host(i), 64));
          EXPECT_EQ(read_from(at(items.device(i), 64), 64), Bytes(64, 0xAA)) << "the earlier fill";
        }
      }
    });
  }
}

}  // namespace memcpy_batch_async_pageable_test
