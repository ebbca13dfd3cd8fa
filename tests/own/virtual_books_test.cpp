// Small devices: what aclrtGetMemInfo says after every step, to the byte.
#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace virtual_books_test {

using namespace belay_test;

void expect_free(std::size_t bytes, const char* after) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(free, bytes) << "after " << after;
  EXPECT_EQ(total, 64 * kMB);
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(free, bytes / k2MB * k2MB) << "after " << after;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM_NORMAL, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(free, bytes % k2MB) << "after " << after;
}

const Settings kSmall{{"BELAY_HBM", "64M"}, {"BELAY_DEVICES", "2"}};

TEST(VirtualBooks, V37_V32_V33_V29_AfterEveryStep) {
  on_product("A2", kSmall, [] {
    std::size_t expected = 64 * kMB;
    expect_free(expected, "nothing");
    Reserved place{kTB};
    expect_free(expected, "reserving");
    Physical first{5 * kMB};
    expect_free(expected -= 6 * kMB, "creating");
    Physical second{1};
    expect_free(expected -= 2 * kMB, "creating a second");
    Physical host{32 * kMB, of_host()};
    expect_free(expected, "creating on the host");
    Mapped one{place.get(), 6 * kMB, first}, alias{place.get(6 * kMB), 6 * kMB, first},
        two{place.get(12 * kMB), k2MB, second};
    expect_free(expected, "mapping");
    EXPECT_EQ(aclrtMemset(place.get(), 14 * kMB, 1, 14 * kMB), ACL_SUCCESS);
    expect_free(expected, "writing");
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 5000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    expect_free(expected -= 8192, "a block beside it");
    aclrtDrvMemHandle retained = nullptr;
    ASSERT_EQ(aclrtMemRetainAllocationHandle(one.get(), &retained), ACL_SUCCESS);
    first.free_now();
    one.unmap_now();
    alias.unmap_now();
    expect_free(expected, "all but the retained reference");
    EXPECT_EQ(aclrtFreePhysical(retained), ACL_SUCCESS);
    expect_free(expected += 6 * kMB, "the last reference");
    second.free_now();
    expect_free(expected, "a free while mapped");
    two.unmap_now();
    expect_free(expected += 2 * kMB, "the unmapping");
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    expect_free(64 * kMB, "everything");
    place.release_now();
    expect_free(64 * kMB, "the release");
  });
}

TEST(VirtualBooks, V118_V456_V457_ToTheLastPage_TogetherWithBlocks) {
  on_product("A2", kSmall, [] {
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp prop = of_device();
    EXPECT_EQ(aclrtMallocPhysical(&handle, 64 * kMB + 1, &prop, 0), kShortage);
    {
      const Physical everything{64 * kMB - 1};
      expect_free(0, "all of it");
      EXPECT_EQ(aclrtMallocPhysical(&handle, 1, &prop, 0), kShortage);
      void* block = nullptr;
      EXPECT_EQ(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_NORMAL_ONLY), kShortage);
    }
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    EXPECT_EQ(aclrtMallocPhysical(&handle, 64 * kMB, &prop, 0), kShortage) << "4 KB are missing";
    expect_free(64 * kMB - 4096, "a refusal");
    const Physical rest{62 * kMB};
    expect_free(2 * kMB - 4096, "what fits");
    EXPECT_EQ(aclrtMallocPhysical(&handle, 1, &prop, 0), kShortage);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    const Physical last{1};
    expect_free(0, "the last page");
  });
}

TEST(VirtualBooks, V37_V25_EachDeviceHasItsOwn) {
  on_product("A2", kSmall, [] {
    const AlsoOpen other{1};
    const Physical here{8 * kMB}, there{20 * kMB, of_device(1)};
    EXPECT_EQ(free_bytes(), 56 * kMB);
    EXPECT_EQ(other.free(), 44 * kMB);
  });
}

TEST(VirtualBooks, V73_V81_BetweenWishesTheBooksStay) {
  on_product("A2", kSmall, [] {
    for (int i = 0; i < 50; ++i) {
      void* place = nullptr;
      ASSERT_EQ(reserve(&place, 72 * kMB, nullptr, 1), ACL_SUCCESS) << "more than the device has";
      EXPECT_EQ(reserve(&place, 900 * kTB, nullptr, 1), kShortage);
    }
    expect_free(64 * kMB, "50 reservations");
  });
}

}  // namespace virtual_books_test
