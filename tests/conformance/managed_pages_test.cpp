// Where the pages of managed memory are: on the device that used them last, or on the host.
#include <cstring>

#include "support/gates.h"
#include "support/managed.h"

namespace managed_pages_test {

using namespace belay_test;

class ManagedPages : public OnTwoDevices {};

aclError fill(void* start, std::size_t count, int value = 5) {
  return aclrtMemset(start, count, value, count);
}

TEST_F(ManagedPages, V272_AFillMakesThePageOnTheCurrentDevice) {
  const Managed block{4 * kManagedPage};
  EXPECT_EQ(fill(block.get(), 1), ACL_SUCCESS);
  expect_pages(1, 0, "one byte");
  EXPECT_EQ(fill(block.get(kManagedPage - 1), 1), ACL_SUCCESS);
  expect_pages(1, 0, "the last byte of the same page");
  EXPECT_EQ(fill(block.get(2 * kManagedPage - 1), 2), ACL_SUCCESS);
  expect_pages(3, 0, "two bytes across a border");
  make_current(1);
  EXPECT_EQ(fill(block.page(3), 1), ACL_SUCCESS);
  expect_pages(3, 1, "the fourth page, by device 1");
}

TEST_F(ManagedPages, V272_V273_OnlyThePagesOfTheRangeMove) {
  const Managed block{5 * kManagedPage};
  EXPECT_EQ(fill(block.get(), 5 * kManagedPage), ACL_SUCCESS);
  expect_pages(5, 0, "all by device 0");
  make_current(1);
  EXPECT_EQ(fill(block.page(1), 2 * kManagedPage), ACL_SUCCESS);
  expect_pages(3, 2, "two of them by device 1");
  EXPECT_EQ(fill(block.get(3 * kManagedPage - 1), 1), ACL_SUCCESS);
  expect_pages(3, 2, "again");
  EXPECT_EQ(fill(block.get(3 * kManagedPage - 1), 2), ACL_SUCCESS);
  expect_pages(2, 3, "one byte further");
}

TEST_F(ManagedPages, V273_AReadByADeviceMovesThePageToo) {
  const Managed block{kManagedPage};
  EXPECT_EQ(fill(block.get(), 64, 0x31), ACL_SUCCESS);
  make_current(1);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0x31));
  expect_pages(0, 1, "a copy out of it by device 1");
}

TEST_F(ManagedPages, V273_EveryKindOfCopyButHostToHostIsTheDevices) {
  const Managed block{kManagedPage};
  Bytes bytes(64, 7);
  for (const aclrtMemcpyKind kind : {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST,
                                     ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
    for (const bool into : {true, false}) {
      EXPECT_EQ(aclrtMemcpy(block.get(), 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
      expect_pages(0, 0, "by the host");
      EXPECT_EQ(into ? aclrtMemcpy(block.get(), 64, bytes.data(), 64, kind)
                     : aclrtMemcpy(bytes.data(), 64, block.get(), 64, kind),
                ACL_SUCCESS);
      expect_pages(1, 0, into ? "into it" : "out of it");
    }
  }
  EXPECT_EQ(aclrtMemcpy(bytes.data(), 64, block.get(), 64, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
  expect_pages(0, 0, "read by the host");
}

TEST_F(ManagedPages, V273_BothEndsOfACopyMove) {
  const Managed from{kManagedPage}, to{2 * kManagedPage};
  EXPECT_EQ(fill(from.get(), kManagedPage, 0x44), ACL_SUCCESS);
  make_current(1);
  EXPECT_EQ(aclrtMemcpy(to.get(kManagedPage / 2), kManagedPage, from.get(), kManagedPage,
                        ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_SUCCESS);
  expect_pages(0, 3, "three pages took part");
  EXPECT_EQ(read_from(to.get(kManagedPage / 2), kManagedPage), Bytes(kManagedPage, 0x44));
}

TEST_F(ManagedPages, V272_AFirstStoreOfTheProgramMakesAPageOfTheHost) {
  const Managed block{2 * kManagedPage};
  std::memset(block.get(), 1, 1);
  expect_pages(0, 0, "a store costs no device memory");
  EXPECT_EQ(prefer(block.page(0), 1, device_side(0)), kRefused) << "V-301: it is on the host";
  EXPECT_EQ(prefer(block.page(1), 1, device_side(0)), ACL_SUCCESS) << "nobody has used this one";
  expect_pages(1, 0, "which is made on the device");
}

TEST_F(ManagedPages, V272_AStoreAnywhereInThePageCounts) {
  for (const std::size_t offset : {std::size_t{0}, std::size_t{4096}, kMB - 1, kManagedPage - 1}) {
    const Managed block{3 * kManagedPage};
    *at(block.page(1), offset) = 1;
    EXPECT_EQ(prefer(block.page(1), 1, device_side(0)), kRefused) << offset;
    EXPECT_EQ(prefer(block.page(0), 1, device_side(0)), ACL_SUCCESS) << offset;
    EXPECT_EQ(prefer(block.page(2), 1, device_side(0)), ACL_SUCCESS) << offset;
  }
}

TEST_F(ManagedPages, V273_AFillAfterAStoreMovesThePageToTheDevice) {
  const Managed block{kManagedPage};
  std::memset(block.get(), 0x21, 128);
  EXPECT_EQ(fill(block.get(), 64, 0x22), ACL_SUCCESS);
  expect_pages(1, 0, "by device 0");
  EXPECT_EQ(prefer(block.get(), 1, host_side()), kRefused);
  EXPECT_EQ(*at(block.get(), 63), 0x22);
  EXPECT_EQ(*at(block.get(), 64), 0x21) << "the rest came along";
}

TEST_F(ManagedPages, V273_V274_OneSequenceOfValuesForAllSides) {
  const Managed block{2 * kManagedPage};
  std::uint8_t* const bytes = at(block.get(), kManagedPage - 8);
  const Device copy{64};
  for (int round = 0; round < 8; ++round) {
    make_current(round % 2);
    std::memset(bytes, 0x10 + round, 16);  // the host writes
    EXPECT_EQ(read_from(bytes, 16), Bytes(16, static_cast<std::uint8_t>(0x10 + round))) << "a device reads";
    EXPECT_EQ(fill(bytes, 16, 0x50 + round), ACL_SUCCESS) << "it writes";
    for (int i = 0; i < 16; ++i) EXPECT_EQ(bytes[i], 0x50 + round) << "and the host reads";
    make_current(0);
    EXPECT_EQ(aclrtMemcpy(copy.get(), 16, bytes, 16, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(read_from(copy.get(), 16), Bytes(16, static_cast<std::uint8_t>(0x50 + round)));
  }
}

TEST_F(ManagedPages, V272_V273_QueuedWorkCountsWhenItRuns_ForTheDeviceOfItsStream) {
  const Managed block{2 * kManagedPage};
  make_current(1);
  {
    Stream stream;
    EventGate hold{stream};
    EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 3, 64, stream), ACL_SUCCESS);
    expect_pages(0, 0, "it is only queued");
    hold.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    expect_pages(0, 1, "it has run");
    EXPECT_EQ(aclrtMemsetAsync(block.page(1), 64, 4, 64, stream), ACL_SUCCESS);
    make_current(0);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    expect_pages(0, 2, "waited for under device 0");
    make_current(1);
  }
  make_current(0);
  EXPECT_EQ(read_from(block.page(1), 64), Bytes(64, 4));
  expect_pages(1, 1, "and read there");
}

TEST_F(ManagedPages, V273_AFreedBlockGivesItsPagesBack_OnAllDevices) {
  Managed block{4 * kManagedPage};
  EXPECT_EQ(fill(block.get(), 3 * kManagedPage), ACL_SUCCESS);
  make_current(1);
  EXPECT_EQ(fill(block.page(2), 2 * kManagedPage), ACL_SUCCESS);
  expect_pages(2, 2, "two each");
  block.free_now();
  expect_pages(0, 0, "freed");
}

TEST_F(ManagedPages, V273_ANewBlockAtTheSameAddressStartsAfresh) {
  for (int round = 0; round < 3; ++round) {
    Managed block{kManagedPage};
    expect_pages(0, 0, "a new block has no page");
    EXPECT_EQ(prefer(block.get(), 1, round == 1 ? host_side() : device_side(1)), ACL_SUCCESS)
        << "whatever the one before had: " << round;
    expect_pages(0, round == 1 ? 0 : 1, "where it was wished");
  }
}

TEST_F(ManagedPages, V275_TheHostMayTouchAPageThatQueuedWorkUses) {
  const Managed block{kManagedPage};
  Stream stream;
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(aclrtMemsetAsync(block.get(), kKB, round, kKB, stream), ACL_SUCCESS);
    *at(block.get(), kMB) = static_cast<std::uint8_t>(round);  // other bytes of the same page
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(*at(block.get(), kMB), 199);
  EXPECT_EQ(read_from(block.get(), kKB), Bytes(kKB, 199));
}

}  // namespace managed_pages_test
