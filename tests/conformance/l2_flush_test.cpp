// aclrtDeviceL2CacheFlush: device memory has no cache of its own here.
#include "support/refusals.h"

namespace l2_flush_test {

using namespace belay_test;

class L2Flush : public OnDevice {};

TEST_F(L2Flush, R276_TheFlushTakesAnything) {
  const Device block{64};
  write_to(block.get(), Bytes(64, 0xAB));
  EXPECT_EQ(aclrtDeviceL2CacheFlush(), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(sentinel(), std::size_t{64}), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(0, block.get(), 64, 1.0, 2.0, 3, 4, 5, 6, 7), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0xAB));
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(L2Flush, R276_AContextIsNeeded) {
  without_context([] {
    expect_stored(aclrtDeviceL2CacheFlush(), kNoContext, "aclrtDeviceL2CacheFlush");
    expect_stored(aclrtDeviceL2CacheFlush(0), kNoContext, "aclrtDeviceL2CacheFlush");
  });
}

}  // namespace l2_flush_test
