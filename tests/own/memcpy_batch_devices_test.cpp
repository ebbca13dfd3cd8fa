// aclrtMemcpyBatch with items of several devices.
#include "support/batch.h"
#include "support/settings.h"

namespace memcpy_batch_devices_test {

using namespace belay_test;

TEST(BatchItemsDevices, M292_TheNumberOfTheDeviceCounts) {
  in_fresh_process({{"BELAY_DEVICES", "2"}}, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Items there{2};
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const std::uint32_t named : {0U, 2U, 99U}) {
      Batch batch = there.up();
      batch.attributes[0] = host_to_device(named);
      EXPECT_EQ(batch.run(), kBadValue) << named;
      EXPECT_EQ(batch.fail, 0U);
      Batch down = there.down();
      down.attributes[0] = device_to_host(named);
      EXPECT_EQ(down.run(), kBadValue) << named;
      EXPECT_EQ(down.fail, 0U);
    }
    there.expect_nothing_copied();
    Batch batch = there.up();
    batch.attributes[0] = host_to_device(1);
    EXPECT_EQ(batch.run(), ACL_SUCCESS) << "another device than the current one is fine";
    there.expect_all_up();
  });
}

TEST(BatchItemsDevices, M294_MemoryOfTwoDevices_Is507899_WithNoItemToBlame) {
  in_fresh_process({{"BELAY_DEVICES", "2"}}, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Items there{1};
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Items here{1};
    Batch batch = here.up();
    batch.add(there.device(0), there.host(0), 64);
    batch.describe(1, host_to_device(1));
    EXPECT_EQ(batch.run(), kRefused);
    EXPECT_EQ(batch.fail, kNoItem);
    here.expect_nothing_copied();
    there.expect_nothing_copied();
  });
}

}  // namespace memcpy_batch_devices_test
