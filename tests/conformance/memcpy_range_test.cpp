// Which device ranges may be copied: by page, of live blocks, and the same for every copy function.
#include <algorithm>
#include <limits>

#include "support/blocks.h"

namespace memcpy_range_test {

using namespace belay_test;

class MemcpyRange : public OnDevice {};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr unsigned kNormal = ACL_MEM_MALLOC_NORMAL_ONLY, kHuge = ACL_MEM_MALLOC_HUGE_ONLY;

aclError copy_in(void* to, const void* from, std::size_t count) {
  return aclrtMemcpy(to, count, from, count, ACL_MEMCPY_HOST_TO_DEVICE);
}
aclError copy_out(void* to, const void* from, std::size_t count) {
  return aclrtMemcpy(to, count, from, count, ACL_MEMCPY_DEVICE_TO_HOST);
}

void* before(const Device& block) { return static_cast<std::uint8_t*>(block.get()) - 1; }

// The only block of the process: what lies around it is free.
void check_ends(std::size_t size, unsigned policy, std::size_t footprint) {
  Device guard{size, policy};
  Device block{size, policy};
  const bool space_before = number(guard.free_now()) < number(block.get());
  Bytes host = pattern(footprint + 2, 4);
  const Bytes kept = host;
  EXPECT_EQ(copy_in(block.get(), host.data(), size), ACL_SUCCESS);
  EXPECT_EQ(copy_in(block.get(), host.data(), footprint - 1), ACL_SUCCESS);
  EXPECT_EQ(copy_in(block.get(), host.data(), footprint), ACL_SUCCESS) << "inside the last page";
  EXPECT_EQ(read_from(block.get(), footprint), Bytes(kept.begin(), kept.end() - 2));
  EXPECT_EQ(copy_in(block.get(), host.data() + 1, footprint + 1), kRefused);
  EXPECT_EQ(copy_in(block.get(footprint - 1), host.data() + 1, 2), kRefused);
  EXPECT_EQ(copy_in(block.get(footprint), host.data() + 1, 1), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  if (space_before) {
    EXPECT_EQ(copy_in(before(block), host.data() + 1, 2), kRefused);
    EXPECT_EQ(copy_in(before(block), host.data() + 1, 1), kRefused);
    EXPECT_EQ(copy_out(host.data(), before(block), 1), kRefused);
    EXPECT_EQ(copy_out(host.data(), before(block), 2), kRefused);
  }
  EXPECT_EQ(read_from(block.get(), footprint), Bytes(kept.begin(), kept.end() - 2)) << "nothing was copied";
  EXPECT_EQ(copy_out(host.data(), block.get(), footprint + 1), kRefused);
  EXPECT_EQ(copy_out(host.data(), block.get(footprint - 1), 2), kRefused);
  EXPECT_EQ(copy_out(host.data(), block.get(footprint), 1), kRefused);
  EXPECT_EQ(host, kept);
}

TEST_F(MemcpyRange, M239_M242_M434_NormalPages_TheLastPageCounts) {
  check_ends(1, kNormal, 4096);
  check_ends(100, kNormal, 4096);
  check_ends(4095, kNormal, 4096);
  check_ends(4096, kNormal, 4096);
  check_ends(4097, kNormal, 8192);
}

TEST_F(MemcpyRange, M242_M434_HugePages_AreJudgedBy2MB) {
  check_ends(1, kHuge, 2 * kMB);
  check_ends(2 * kMB, kHuge, 2 * kMB);
  check_ends(2 * kMB + 1, kHuge, 4 * kMB);
}

TEST_F(MemcpyRange, M242_OnePastTheLine_32BytesMoreThanAsked_MakeAnotherPage) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);  // takes 4128 bytes
  const Bytes host = pattern(8193, 1);
  EXPECT_EQ(copy_in(block, host.data(), 8192), ACL_SUCCESS);
  EXPECT_EQ(copy_in(block, host.data(), 8193), kRefused);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(MemcpyRange, M239_FreedAddress_Is507899_AtEitherEnd) {
  for (const unsigned policy : {kNormal, kHuge}) {
    Device gone{4096, policy};
    void* const was = gone.free_now();
    Device other{64, policy == kNormal ? kHuge : kNormal};
    Bytes host = pattern(64, 2);
    const Bytes kept = host;
    EXPECT_EQ(copy_in(was, host.data(), 64), kRefused);
    EXPECT_EQ(copy_out(host.data(), was, 64), kRefused);
    EXPECT_EQ(aclrtMemcpy(other.get(), 64, was, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
    EXPECT_EQ(aclrtMemcpy(was, 64, other.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
    EXPECT_EQ(host, kept);
  }
}

TEST_F(MemcpyRange, M239_M14_AddressNeverAllocated_Is507899_TheValueTellsTheDevice) {
  Device block{4096};
  Bytes host = pattern(64, 2);
  const Bytes kept = host;
  for (const std::size_t far : {64 * kMB, kGB, 64 * kGB}) {
    EXPECT_EQ(copy_in(block.get(far), host.data(), 64), kRefused) << far;
    EXPECT_EQ(copy_out(host.data(), block.get(far), 64), kRefused) << far;
  }
  EXPECT_EQ(host, kept);
}

TEST_F(MemcpyRange, M239_CountsNearTheTopOfTheAddressSpace_Are507899) {
  Device block{4096};
  write_to(block.get(), pattern(4096, 3));
  Bytes host = pattern(64, 2);
  for (const std::size_t count : {kMax, kMax - 1, kMax - 4095, kMax / 2, std::size_t{0} - number(block.get()),
                                  std::size_t{1} - number(block.get()), std::size_t{1} << 47U}) {
    EXPECT_EQ(copy_in(block.get(), host.data(), count), kRefused) << count;
    EXPECT_EQ(copy_out(host.data(), block.get(), count), kRefused) << count;
  }
  EXPECT_EQ(read_from(block.get(), 4096), pattern(4096, 3));
  EXPECT_EQ(host, pattern(64, 2));
}

TEST_F(MemcpyRange, M434_NeighbouringBlocksMakeOneRange) {
  // Two blocks side by side: among many of one size there are some.
  std::vector<void*> blocks(64);
  for (auto& block : blocks) ASSERT_EQ(aclrtMallocAlign32(&block, 4096, policy_of(kNormal)), ACL_SUCCESS);
  std::sort(blocks.begin(), blocks.end());
  const auto pair = std::adjacent_find(blocks.begin(), blocks.end(),
                                       [](void* a, void* b) { return number(b) - number(a) == 4096; });
  if (pair == blocks.end()) {
    for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    GTEST_SKIP() << "no two blocks came to lie side by side";
  }
  void *const first = *pair, *const second = *(pair + 1);
  const Bytes bytes = pattern(8192, 6);
  EXPECT_EQ(copy_in(first, bytes.data(), 8192), ACL_SUCCESS);
  EXPECT_EQ(read_from(second, 4096), Bytes(bytes.begin() + 4096, bytes.end()));
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
  EXPECT_EQ(copy_in(first, bytes.data(), 4097), kRefused) << "the neighbour is gone";
  for (void* block : blocks) {
    if (block != second) {
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  }
}

TEST_F(MemcpyRange, M434_HostAddressesAreNotChecked_OnlyTheDeviceEndIs) {
  Device block{4096};
  Bytes host = pattern(4096, 3);
  // Half of a vector, the inside of a string, a global: all host.
  EXPECT_EQ(copy_in(block.get(), host.data() + 2048, 2048), ACL_SUCCESS);
  static std::uint8_t global[64];
  EXPECT_EQ(copy_out(global, block.get(), 64), ACL_SUCCESS);
  EXPECT_TRUE(std::equal(global, global + 64, host.begin() + 2048));
}

TEST_F(MemcpyRange, M239_FreshDeviceMemory_CanBeRead) {
  for (const unsigned policy : {0U, kHuge, kNormal, 5U}) {
    Device block{3 * kMB, policy};
    Bytes host(3 * kMB);
    EXPECT_EQ(copy_out(host.data(), block.get(), host.size()), ACL_SUCCESS) << policy;
    EXPECT_EQ(copy_out(host.data(), block.get(), host.size()), ACL_SUCCESS) << policy;
  }
}

TEST_F(MemcpyRange, M240_EveryOffsetAndLengthAroundAPage_CopiesExactly) {
  Device block{4 * 4096};
  Bytes expected = pattern(4 * 4096, 1);
  write_to(block.get(), expected);
  unsigned seed = 10;
  for (const std::size_t offset : {0U, 1U, 31U, 4095U, 4096U, 4097U, 8000U}) {
    for (const std::size_t length : {1U, 2U, 31U, 32U, 33U, 4095U, 4096U, 4097U}) {
      const Bytes bytes = pattern(length, ++seed);
      ASSERT_EQ(copy_in(block.get(offset), bytes.data(), length), ACL_SUCCESS);
      std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      ASSERT_EQ(read_from(block.get(), expected.size()), expected) << offset << " " << length;
      Bytes part(length);
      ASSERT_EQ(copy_out(part.data(), block.get(offset), length), ACL_SUCCESS);
      ASSERT_EQ(part, bytes);
    }
  }
}

}  // namespace memcpy_range_test
