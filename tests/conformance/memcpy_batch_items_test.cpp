// aclrtMemcpyBatch: the checks on single items, places, and what the batch leaves behind.
#include "support/batch.h"

namespace memcpy_batch_items_test {

using namespace belay_test;

class BatchItems : public OnDevice {};

TEST_F(BatchItems, M292_DestinationElsewhere_Is107000_WithTheItem) {
  Items items{4};
  Pinned pinned{64};
  int local[16];
  for (const std::size_t item : {0U, 2U, 3U}) {
    for (void* wrong : {static_cast<void*>(local), pinned.get()}) {
      Batch batch = items.up();
      batch.dsts[item] = wrong;
      EXPECT_EQ(batch.run(), kBadValue) << item;
      EXPECT_EQ(batch.fail, item);
      EXPECT_EQ(last_error(), kBadValue);
      EXPECT_EQ(batch.run_v2(), kBadValue);
    }
  }
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M292_SourceElsewhere_Is107000_WithTheItem) {
  Items items{4};
  Device other{64};
  for (const std::size_t item : {0U, 1U, 3U}) {
    Batch batch = items.up();
    batch.srcs[item] = other.get();
    EXPECT_EQ(batch.run(), kBadValue) << item;
    EXPECT_EQ(batch.fail, item);
    Batch down = items.down();
    down.srcs[item] = items.host(item);
    EXPECT_EQ(down.run(), kBadValue) << item;
    EXPECT_EQ(down.fail, item);
  }
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M292_TheFirstItemThatIsWrong_IsNamed) {
  Items items{4};
  int local[16];
  Batch batch = items.up();
  batch.dsts[3] = local;
  batch.dsts[1] = local;
  EXPECT_EQ(batch.run(), kBadValue);
  EXPECT_EQ(batch.fail, 1U);
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M292_M297_HostAttributes_HostAndNumaOnly_TheirIdIsIgnored) {
  Items items{2};
  const auto with_source = [&](aclrtMemLocation place) {
    Batch batch = items.up();
    batch.attributes[0].srcLoc = place;
    const int answer = batch.run();
    EXPECT_EQ(batch.fail, answer == ACL_SUCCESS ? kNoItem : 0U);
    return answer;
  };
  EXPECT_EQ(with_source({0, ACL_MEM_LOCATION_TYPE_UNREGISTERED}), kBadValue);
  EXPECT_EQ(with_source({0, ACL_MEM_LOCATION_TYPE_MANAGED}), kBadValue);
  EXPECT_EQ(with_source(on_device(0)), kBadValue);
  items.expect_nothing_copied();
  for (const std::uint32_t id : {0U, 1U, 7U, 0xFFFFFFFFU}) {
    EXPECT_EQ(with_source(on_host(id)), ACL_SUCCESS) << id;
    EXPECT_EQ(with_source({id, ACL_MEM_LOCATION_TYPE_HOST_NUMA}), ACL_SUCCESS) << id;
  }
  items.expect_all_up();
}

TEST_F(BatchItems, M297_PinnedPageableAndRegisteredMemory_AllCountAsHost) {
  Pinned pinned{64};
  Pages registered{1};
  ASSERT_EQ(aclrtHostRegisterV2(registered.get(), 4096, ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  Bytes plain = pattern(64, 1);
  write_to(pinned.get(), pattern(64, 2));
  Device device{3 * 64};
  Batch batch;
  batch.add(device.get(0), plain.data(), 64);
  batch.add(device.get(64), pinned.get(), 64);
  batch.add(device.get(128), registered.get(), 64);
  batch.describe(0, host_to_device());
  EXPECT_EQ(batch.run(), ACL_SUCCESS);
  Bytes expected = plain;
  expected.insert(expected.end(), at(pinned.get(), 0), at(pinned.get(), 64));
  expected.insert(expected.end(), at(registered.get(), 0), at(registered.get(), 64));
  EXPECT_EQ(read_from(device.get(), 192), expected);
  EXPECT_EQ(aclrtHostUnregister(registered.get()), ACL_SUCCESS);
}

TEST_F(BatchItems, M293_BothEndsOnOneSide_Is107000_WithTheItem) {
  Items items{3};
  Device other{64};
  Bytes plain(64);
  Batch up = items.up();
  up.describe(1, attribute(on_device(), on_device()));
  up.describe(2, host_to_device());
  up.srcs[1] = other.get();
  EXPECT_EQ(up.run(), kBadValue);
  EXPECT_EQ(up.fail, 1U);
  EXPECT_EQ(up.run_v2(), kBadValue);
  Batch down = items.down();
  down.describe(2, attribute(on_host(), on_host()));
  down.srcs[2] = plain.data();
  EXPECT_EQ(down.run(), kBadValue);
  EXPECT_EQ(down.fail, 2U);
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M294_TwoDirections_Are507899_WithNoItemToBlame) {
  Items items{4};
  for (const std::size_t turn : {1U, 2U, 3U}) {
    Batch batch = items.up();
    for (std::size_t i = turn; i < 4; ++i) std::swap(batch.dsts[i], batch.srcs[i]);
    batch.describe(turn, device_to_host());
    EXPECT_EQ(batch.run(), kRefused) << turn;
    EXPECT_EQ(batch.fail, kNoItem);
    EXPECT_EQ(last_error(), kRefused);
    EXPECT_EQ(batch.run_v2(), kRefused);
  }
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M292_M293_ComeBefore_M294_AndItBefore_M295) {
  Items items{4};
  int local[16];
  Batch batch = items.up();
  std::swap(batch.dsts[2], batch.srcs[2]);
  std::swap(batch.dsts[3], batch.srcs[3]);
  batch.describe(2, device_to_host());
  batch.sizes[1] = 0;
  EXPECT_EQ(batch.run(), kRefused) << "two directions and a zero size";
  EXPECT_EQ(batch.fail, kNoItem);
  batch.srcs[3] = local;
  EXPECT_EQ(batch.run(), kBadValue) << "and a wrong place";
  EXPECT_EQ(batch.fail, 3U);
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M295_ZeroSizeAmongOthers_Is107000_WithNoItemToBlame) {
  Items items{3};
  for (const std::size_t item : {0U, 1U, 2U}) {
    Batch batch = items.up();
    batch.sizes[item] = 0;
    EXPECT_EQ(batch.run(), kBadValue) << item;
    EXPECT_EQ(batch.fail, kNoItem);
    EXPECT_EQ(batch.run_v2(), kBadValue);
  }
  items.expect_nothing_copied();
}

TEST_F(BatchItems, M296_AnAttributeHoldsUpToTheNext_TheLastToTheEnd) {
  Items items{5};
  // The wrong attribute for item 3 only, then for items 3 and 4.
  Batch batch = items.up();
  batch.describe(3, device_to_host());
  batch.describe(4, host_to_device());
  EXPECT_EQ(batch.run(), kBadValue);
  EXPECT_EQ(batch.fail, 3U);
  Batch tail = items.up();
  tail.describe(4, device_to_host());
  EXPECT_EQ(tail.run(), kBadValue);
  EXPECT_EQ(tail.fail, 4U);
  items.expect_nothing_copied();
  Batch split = items.up();
  split.describe(2, attribute(on_device(), {9, ACL_MEM_LOCATION_TYPE_HOST_NUMA}));
  split.describe(4, host_to_device());
  EXPECT_EQ(split.run(), ACL_SUCCESS);
  items.expect_all_up();
}

TEST_F(BatchItems, M300_NothingIsCopied_WhicheverItemFails) {
  Items items{6};
  int local[16];
  for (std::size_t item = 0; item < 6; ++item) {
    Batch batch = items.up();
    batch.dsts[item] = local;
    EXPECT_EQ(batch.run(), kBadValue);
    EXPECT_EQ(batch.fail, item);
    items.expect_nothing_copied();
  }
}

TEST_F(BatchItems, M434_M300_RangeThatIsNotAllocated_Is507899_WithTheItem_NothingCopied) {
  Items items{3};
  Device small{100};  // one page
  Bytes much = pattern(4097, 3);
  for (const std::size_t item : {0U, 2U}) {
    Batch batch = items.up();
    batch.dsts[item] = small.get();
    batch.srcs[item] = much.data();
    batch.rooms[item] = batch.sizes[item] = 4097;
    EXPECT_EQ(batch.run(), kRefused) << item;
    EXPECT_EQ(batch.fail, item);
    EXPECT_EQ(last_error(), kRefused);
    items.expect_nothing_copied();
    batch.rooms[item] = batch.sizes[item] = 4096;
    EXPECT_EQ(batch.run(), ACL_SUCCESS) << "up to the end of the page";
    EXPECT_EQ(read_from(small.get(), 4096), Bytes(much.begin(), much.end() - 1));
    items.restore();
  }
}

TEST_F(BatchItems, M434_FreedAddress_Fails_NothingCopied) {
  Items items{3};
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  Batch batch = items.up();
  batch.dsts[1] = was;
  EXPECT_NE(batch.run(), ACL_SUCCESS);
  EXPECT_EQ(batch.fail, 1U);
  items.expect_nothing_copied();
}

}  // namespace memcpy_batch_items_test
