// Read-only device memory: every function that would write to it refuses.
#include "support/batch.h"

namespace readonly_copy_test {

using namespace belay_test;

class ReadOnlyCopy : public OnDevice {};

constexpr unsigned kFlag = ACL_MEM_ACCESS_USER_SPACE_READONLY;

TEST_F(ReadOnlyCopy, M78_M427_M239_CopiesIntoIt_Are507899_NothingWritten) {
  for (const unsigned base : {0U, 1U, 2U, 3U, 4U, 5U}) {
    Device block{4096, kFlag | base};
    const Bytes before = read_from(block.get(), 4096);
    Bytes host = before;
    for (auto& byte : host) byte = static_cast<std::uint8_t>(~byte);
    Device other{4096};
    write_to(other.get(), host);
    Pinned pinned{4096};
    write_to(pinned.get(), host);
    EXPECT_EQ(aclrtMemcpy(block.get(), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kRefused) << base;
    EXPECT_EQ(last_error(), kRefused);
    EXPECT_EQ(aclrtMemcpy(block.get(), 64, pinned.get(), 64, ACL_MEMCPY_DEFAULT), kRefused) << base;
    EXPECT_EQ(aclrtMemcpy(block.get(), 64, other.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused) << base;
    EXPECT_EQ(aclrtMemcpy(block.get(64), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused) << base;
    EXPECT_EQ(aclrtMemcpy(block.get(4095), 1, host.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE), kRefused) << base;
    EXPECT_EQ(read_from(block.get(), 4096), before) << base;
  }
}

TEST_F(ReadOnlyCopy, M78_CopiesOutOfIt_AreAllowed) {
  Device block{4096, kFlag};
  Device other{4096};
  Pinned pinned{4096};
  const Bytes contents = read_from(block.get(), 4096);
  EXPECT_EQ(aclrtMemcpy(other.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(other.get(), 4096), contents);
  EXPECT_EQ(aclrtMemcpy(pinned.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(Bytes(at(pinned.get(), 0), at(pinned.get(), 4096)), contents);
}

TEST_F(ReadOnlyCopy, M427_M371_D138_Fills_Are507899_NothingWritten) {
  for (const unsigned base : {0U, 1U, 2U}) {
    Device block{4096, kFlag | base};
    const Bytes before = read_from(block.get(), 4096);
    EXPECT_EQ(aclrtMemset(block.get(), 4096, ~before[0], 4096), kRefused) << base;
    EXPECT_EQ(aclrtMemset(block.get(100), 1, ~before[100], 1), kRefused) << base;
    EXPECT_EQ(aclrtMemsetD32(block.get(), 4096, 0x12345678, 1024), kRefused) << base;
    EXPECT_EQ(aclrtMemsetD32(block.get(4), 4, 0x87654321, 1), kRefused) << base;
    EXPECT_EQ(read_from(block.get(), 4096), before) << base;
  }
}

TEST_F(ReadOnlyCopy, M427_TwoDimensionalCopies_Are507899_NothingWritten) {
  Device block{4096, kFlag};
  const Bytes before = read_from(block.get(), 4096);
  Bytes host(4096, static_cast<std::uint8_t>(~before[0]));
  EXPECT_EQ(aclrtMemcpy2d(block.get(), 64, host.data(), 64, 16, 4, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
  EXPECT_EQ(read_from(block.get(), 4096), before);
  EXPECT_EQ(aclrtMemcpy2d(host.data(), 64, block.get(), 64, 16, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
}

TEST_F(ReadOnlyCopy, M427_M300_BatchCopies_Are507899_WithTheItem_NothingCopied) {
  Items items{4};
  Device block{4096, kFlag};
  const Bytes before = read_from(block.get(), 64);
  for (const std::size_t item : {0U, 1U, 3U}) {
    Batch batch = items.up();
    batch.dsts[item] = block.get();
    EXPECT_EQ(batch.run(), kRefused) << item;
    EXPECT_EQ(batch.fail, item);
    EXPECT_EQ(batch.run_v2(), kRefused) << item;
  }
  items.expect_nothing_copied();
  EXPECT_EQ(read_from(block.get(), 64), before);
  // Out of it is fine.
  Bytes host(64);
  Batch down;
  down.add(host.data(), block.get(), 64);
  down.describe(0, device_to_host());
  EXPECT_EQ(down.run(), ACL_SUCCESS);
  EXPECT_EQ(host, before);
}

TEST_F(ReadOnlyCopy, M427_FreedLikeAnyBlock) {
  const std::size_t before = free_bytes();
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, policy_of(kFlag | 1U)), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before - 2 * kMB);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(ReadOnlyCopy, M78_M427_AnAddressUsedAgain_IsWritableAgain) {
  for (int round = 0; round < 50; ++round) {
    Device fixed{4096, kFlag | 2U};
    const void* const was = fixed.free_now();
    Device plain{4096, 2U};
    EXPECT_EQ(aclrtMemset(plain.get(), 4096, round, 4096), ACL_SUCCESS) << (was == plain.get());
    EXPECT_EQ(read_from(plain.get(), 4096), Bytes(4096, static_cast<std::uint8_t>(round)));
  }
}

}  // namespace readonly_copy_test
