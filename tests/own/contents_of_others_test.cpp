// Memory that others than device work may write counts as written: belay check cannot know what they did
// (docs/check.md). Memory that only device work writes, beside it, does not.
#include <vector>

#include "belay/belay.h"
#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace contents_of_others_test {

using namespace belay_test;

// How many findings there are when all of it has been read.
std::size_t found_in(const void* memory, std::size_t bytes) {
  std::vector<char> host(bytes);
  const std::size_t before = belay_findings(0, nullptr, 0);
  EXPECT_EQ(aclrtMemcpy(host.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return belay_findings(0, nullptr, 0) - before;
}

void on_checked(const char* product, const char* form, const std::function<void()>& body) {
  on_product(product,
             {{"BELAY_CHECK", "all,classes=contents"}, {"BELAY_FORM", form}, {"BELAY_PIN", "best-effort"}},
             body);
}

TEST(ContentsOfOthers, M417_OfADevice_NobodyElseWrites) {
  on_checked("A2", "", [] {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(found_in(block, kMB), 1U);
    const MappedBlock mapped;
    EXPECT_EQ(found_in(mapped.get(), mapped.size()), 1U);
  });
}

TEST(ContentsOfOthers, M417_ManagedMemory) {
  on_checked("A2", "", [] {
    void* managed = nullptr;
    ASSERT_EQ(aclrtMemAllocManaged(&managed, kMB, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
    EXPECT_EQ(found_in(managed, kMB), 0U);
  });
}

TEST(ContentsOfOthers, M417_V153_MemoryOfTheHostThatIsMapped) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  on_checked("A2", "", [] {
    const MappedBlock mapped{k2MB, of_host()};
    EXPECT_EQ(found_in(mapped.get(), mapped.size()), 0U);
  });
}

// The host may have written before it was read; and another mapping of the same memory shows the same.
TEST(ContentsOfOthers, M417_MemoryOfADeviceThatTheHostWasLetIn) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  on_checked("A2", "", [] {
    const MappedBlock mapped;
    ASSERT_EQ(set_access(mapped.get(), mapped.size(), grant_host()), ACL_SUCCESS);
    EXPECT_EQ(found_in(mapped.get(), mapped.size()), 0U);
    const Reserved elsewhere{k2MB};
    const Mapped again{elsewhere.get(), mapped.memory};
    EXPECT_EQ(found_in(again.get(), again.size()), 0U);
  });
}

TEST(ContentsOfOthers, M417_M76_MemoryThatOnlyKernelsWrite) {
  on_checked("A2", "", [] {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kMB,
                          static_cast<aclrtMemMallocPolicy>(ACL_MEM_MALLOC_HUGE_FIRST |
                                                            ACL_MEM_ACCESS_USER_SPACE_READONLY)),
              ACL_SUCCESS);
    EXPECT_EQ(found_in(block, kMB), 0U);
  });
}

TEST(ContentsOfOthers, M417_M438_WhereHostAndDeviceAreOne) {
  on_checked("310B", "RC", [] {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(found_in(block, kMB), 0U);
  });
}

}  // namespace contents_of_others_test
