// aclrtMemcpyBatch and its V2: the checks on the whole batch, in their order.
#include "support/batch.h"

namespace memcpy_batch_test {

using namespace belay_test;

class MemcpyBatch : public OnDevice {};

TEST_F(MemcpyBatch, M299_C14_EveryItemIsCopied_TheFailIndexSaysNone) {
  Items items{5};
  Batch up = items.up();
  EXPECT_EQ(up.run(), ACL_SUCCESS);
  EXPECT_EQ(up.fail, kNoItem);
  items.expect_all_up();
  Items others{5};
  Batch down = others.down();
  EXPECT_EQ(down.run(), ACL_SUCCESS);
  EXPECT_EQ(down.fail, kNoItem);
  others.expect_all_down();
}

TEST_F(MemcpyBatch, M303_M299_InV2_CopiesAlike_WithoutAFailIndex) {
  Items items{5};
  EXPECT_EQ(items.up().run_v2(), ACL_SUCCESS);
  items.expect_all_up();
  Items others{5};
  EXPECT_EQ(others.down().run_v2(), ACL_SUCCESS);
  others.expect_all_down();
}

TEST_F(MemcpyBatch, M299_NoContextIsNeeded) {
  Items items{3};
  without_context([&] {
    Batch batch = items.up();
    EXPECT_EQ(batch.run(), ACL_SUCCESS);
    EXPECT_EQ(items.up().run_v2(), ACL_SUCCESS);
  });
  items.expect_all_up();
}

TEST_F(MemcpyBatch, M276_FailIndexNull_Is100000_First) {
  Items items{2};
  Batch batch = items.up();
  EXPECT_EQ(aclrtMemcpyBatch(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(), 2,
                             batch.attributes.data(), batch.starts.data(), 1, nullptr),
            kBadArgument);
  EXPECT_EQ(aclrtMemcpyBatch(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, nullptr),
            kBadArgument);
  // Before the zero sizes of M-279 too.
  batch.sizes.assign(2, 0);
  EXPECT_EQ(aclrtMemcpyBatch(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(), 2,
                             batch.attributes.data(), batch.starts.data(), 1, nullptr),
            kBadArgument);
  items.expect_nothing_copied();
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(MemcpyBatch, M277_M278_NoSizesOrNoItems_Are100000_WithNoItemToBlame) {
  Items items{2};
  Batch batch = items.up();
  EXPECT_EQ(aclrtMemcpyBatch(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), nullptr, 2,
                             batch.attributes.data(), batch.starts.data(), 1, &batch.fail),
            kBadArgument);
  EXPECT_EQ(batch.fail, kNoItem);
  batch.fail = kUnset;
  EXPECT_EQ(aclrtMemcpyBatch(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(), 0,
                             batch.attributes.data(), batch.starts.data(), 1, &batch.fail),
            kBadArgument);
  EXPECT_EQ(batch.fail, kNoItem);
  EXPECT_EQ(aclrtMemcpyBatchV2(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), nullptr, 2,
                               batch.attributes.data(), batch.starts.data(), 1),
            kBadArgument);
  EXPECT_EQ(aclrtMemcpyBatchV2(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(),
                               0, batch.attributes.data(), batch.starts.data(), 1),
            kBadArgument);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatch, M279_M5_AllSizesZero_Is0_WhateverElseIsWrong) {
  std::size_t sizes[3] = {0, 0, 0};
  std::size_t fail = kUnset;
  EXPECT_EQ(aclrtMemcpyBatch(nullptr, nullptr, nullptr, sizes, 3, nullptr, nullptr, 0, &fail), ACL_SUCCESS);
  EXPECT_EQ(fail, kNoItem);
  EXPECT_EQ(aclrtMemcpyBatchV2(nullptr, nullptr, nullptr, sizes, 3, nullptr, nullptr, 0), ACL_SUCCESS);
  Items items{3};
  Batch batch = items.up();
  batch.sizes.assign(3, 0);
  EXPECT_EQ(batch.run(), ACL_SUCCESS);
  EXPECT_EQ(batch.fail, kNoItem);
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatch, M280_EachMissingArray_Is100000_WithNoItemToBlame) {
  Items items{2};
  for (int missing = 0; missing < 5; ++missing) {
    Batch b = items.up();
    const auto dsts = missing == 0 ? nullptr : b.dsts.data();
    const auto rooms = missing == 1 ? nullptr : b.rooms.data();
    const auto srcs = missing == 2 ? nullptr : b.srcs.data();
    const auto attributes = missing == 3 ? nullptr : b.attributes.data();
    const auto starts = missing == 4 ? nullptr : b.starts.data();
    EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, b.sizes.data(), 2, attributes, starts, 1, &b.fail),
              kBadArgument)
        << missing;
    EXPECT_EQ(b.fail, kNoItem) << missing;
    // numAttrs 0 (M-285) comes later.
    EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, b.sizes.data(), 2, attributes, starts, 0, &b.fail),
              kBadArgument)
        << missing;
    EXPECT_EQ(aclrtMemcpyBatchV2(dsts, rooms, srcs, b.sizes.data(), 2, attributes, starts, 1), kBadArgument)
        << missing;
  }
  items.expect_nothing_copied();
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(MemcpyBatch, M281_TooLittleRoom_Is100000_NothingCopied) {
  Items items{4};
  for (const std::size_t item : {0U, 1U, 3U}) {
    for (const std::size_t room : {0U, 63U}) {
      Batch batch = items.up();
      batch.rooms[item] = room;
      EXPECT_EQ(batch.run(), kBadArgument) << item << " " << room;
      EXPECT_EQ(batch.fail, kNoItem);
      EXPECT_EQ(batch.run_v2(), kBadArgument);
      // An outer check: it comes before the inner ones.
      batch.starts[0] = 1;
      EXPECT_EQ(batch.run(), kBadArgument);
    }
  }
  items.expect_nothing_copied();
  Batch batch = items.up();
  batch.rooms = {64, 65, kNoItem, 1000000};
  EXPECT_EQ(batch.run(), ACL_SUCCESS) << "more room is fine";
  items.expect_all_up();
}

TEST_F(MemcpyBatch, M282_AnyReservedByteSet_Is100000) {
  Items items{2};
  for (std::size_t entry = 0; entry < 2; ++entry) {
    for (std::size_t byte = 0; byte < 16; ++byte) {
      Batch batch = items.up();
      batch.describe(1, host_to_device());
      batch.attributes[entry].rsv[byte] = 1;
      EXPECT_EQ(batch.run(), kBadArgument) << entry << " " << byte;
      EXPECT_EQ(batch.fail, kNoItem);
      EXPECT_EQ(batch.run_v2(), kBadArgument);
    }
  }
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatch, M285_M286_NumberOfAttributes) {
  Items items{2};
  Batch none = items.up();
  EXPECT_EQ(aclrtMemcpyBatch(none.dsts.data(), none.rooms.data(), none.srcs.data(), none.sizes.data(), 2,
                             none.attributes.data(), none.starts.data(), 0, &none.fail),
            kBadValue);
  EXPECT_EQ(none.fail, kNoItem);
  EXPECT_EQ(last_error(), kBadValue);
  Batch many = items.up();
  many.describe(1, host_to_device());
  many.describe(1, host_to_device());
  EXPECT_EQ(many.run(), kBadValue) << "three for two items";
  EXPECT_EQ(many.fail, kNoItem);
  EXPECT_EQ(many.run_v2(), kBadValue);
  items.expect_nothing_copied();
  Batch each = items.up();
  each.describe(1, host_to_device());
  EXPECT_EQ(each.run(), ACL_SUCCESS) << "one for each item";
}

TEST_F(MemcpyBatch, M287_MoreThan4096Items_Are107000) {
  Items items{1};
  for (const std::size_t count : {4095U, 4096U, 4097U, 5000U}) {
    Batch batch;
    for (std::size_t i = 0; i < count; ++i) batch.add(items.device(0), items.host(0), 1);
    batch.describe(0, host_to_device());
    const bool fits = count <= 4096;
    EXPECT_EQ(batch.run(), fits ? ACL_SUCCESS : kBadValue) << count;
    EXPECT_EQ(batch.fail, kNoItem);
    EXPECT_EQ(batch.run_v2(), fits ? ACL_SUCCESS : kBadValue) << count;
  }
}

TEST_F(MemcpyBatch, M288_FirstIndexNotZero_Is107000) {
  Items items{3};
  for (const std::size_t first : {std::size_t{1}, std::size_t{2}, std::size_t{3}, kNoItem}) {
    Batch batch = items.up();
    batch.starts[0] = first;
    EXPECT_EQ(batch.run(), kBadValue) << first;
    EXPECT_EQ(batch.fail, kNoItem);
    EXPECT_EQ(batch.run_v2(), kBadValue);
  }
  items.expect_nothing_copied();
}

TEST_F(MemcpyBatch, M289_IndexesMustRiseStrictly_InsideTheBatch) {
  Items items{4};
  using Starts = std::vector<std::size_t>;
  for (const Starts& starts : {Starts{0, 0}, Starts{0, 2, 2}, Starts{0, 2, 1}, Starts{0, 1, 3, 2},
                               Starts{0, 4}, Starts{0, 1, 5}, Starts{0, kNoItem}}) {
    Batch batch = items.up();
    batch.starts = starts;
    batch.attributes.assign(starts.size(), host_to_device());
    EXPECT_EQ(batch.run(), kBadValue) << starts.size() << " " << starts.back();
    EXPECT_EQ(batch.fail, kNoItem);
    EXPECT_EQ(batch.run_v2(), kBadValue);
  }
  items.expect_nothing_copied();
  for (const Starts& starts : {Starts{0, 3}, Starts{0, 1, 2, 3}, Starts{0, 2, 3}}) {
    Batch batch = items.up();
    batch.starts = starts;
    batch.attributes.assign(starts.size(), host_to_device());
    EXPECT_EQ(batch.run(), ACL_SUCCESS) << starts.size() << " " << starts.back();
  }
}

TEST_F(MemcpyBatch, M286_M288_M289_ComeBeforeTheItems) {
  Items items{2};
  Batch batch = items.up();
  batch.attributes[0] = device_to_host();  // M-292 for item 0
  batch.starts[0] = 1;
  EXPECT_EQ(batch.run(), kBadValue);
  EXPECT_EQ(batch.fail, kNoItem) << "the index table is to blame, not the item";
  batch.starts[0] = 0;
  EXPECT_EQ(batch.run(), kBadValue);
  EXPECT_EQ(batch.fail, 0U);
  items.expect_nothing_copied();
}

}  // namespace memcpy_batch_test
