// Pages of 1 GB by product, and the limits of page kinds.
#include "support/on_product.h"
#include "support/virtual_memory.h"

namespace virtual_pages_test {

using namespace belay_test;

int granularity(const aclrtPhysicalMemProp& prop, std::size_t* result) {
  aclrtPhysicalMemProp copy = prop;
  return aclrtMemGetAllocationGranularity(&copy, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, result);
}

TEST(VirtualPages, V46_V49_V52_V61_V111_WhichProductHasPagesOf1GB) {
  struct Row {
    const char* product;
    bool hbm, plain, peers;
  };
  for (const Row& row : {Row{"950", true, false, false}, Row{"A3", true, true, true},
                         Row{"A2", true, true, false}, Row{"310B", false, false, false},
                         Row{"310P", false, false, false}, Row{"910", false, false, false}}) {
    on_product(row.product, [&] {
      for (const auto& [attribute, has_it] : {std::pair{ACL_HBM_MEM_HUGE1G, row.hbm},
                                              {ACL_MEM_HUGE1G, row.plain},
                                              {ACL_MEM_P2P_HUGE1G, row.peers}}) {
        SCOPED_TRACE(attribute);
        std::size_t unit = 77;
        const int expected = has_it ? static_cast<int>(ACL_SUCCESS) : kUnsupported;
        EXPECT_EQ(granularity(of_device(0, attribute), &unit), expected);
        EXPECT_EQ(unit, has_it ? kGB : 77);
        const std::size_t before = free_bytes();
        aclrtDrvMemHandle handle = nullptr;
        const aclrtPhysicalMemProp prop = of_device(0, attribute);
        EXPECT_EQ(aclrtMallocPhysical(&handle, 1, &prop, 0), expected);
        EXPECT_EQ(before - free_bytes(), has_it ? kGB : 0);
        if (has_it) {
          EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
        }
        for (const aclrtPhysicalMemProp& host : {of_host(attribute), of_node(0, attribute)}) {
          EXPECT_EQ(granularity(host, &unit), kUnsupported);
          EXPECT_EQ(aclrtMallocPhysical(&handle, kGB, &host, 0), kUnsupported);
        }
        EXPECT_EQ(free_bytes(), before);
      }
    });
  }
}

TEST(VirtualPages, V198_OnA3PeerPagesOf1GBAreReportedAsTheyAre) {
  on_product("A3", [] {
    const Physical memory{kGB, of_device(0, ACL_MEM_P2P_HUGE1G)};
    aclrtPhysicalMemProp told{};
    EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(memory, &told), ACL_SUCCESS);
    EXPECT_EQ(told.memAttr, ACL_MEM_P2P_HUGE1G);
    const Reserved place{2 * kGB};
    EXPECT_EQ(map(place.get(k2MB), kGB, memory), kRefused);
    const Mapped mapped{place.get(kGB), memory};
    write_to(mapped.get(kGB - 10), pattern(10, 1));
    EXPECT_EQ(read_from(mapped.get(kGB - 10), 10), pattern(10, 1));
  });
}

TEST(VirtualPages, V45_V37_M430_TheLimitsOfPageKindsHold) {
  on_product("A2", {{"BELAY_HBM", "8G"}, {"BELAY_HUGE", "8M"}, {"BELAY_HUGE1G", "2G"}}, [] {
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp normal = of_device(0, ACL_MEM_NORMAL), giant = of_device(0, ACL_MEM_HUGE1G);
    EXPECT_EQ(aclrtMallocPhysical(&handle, 10 * kMB, &normal, 0), kShortage) << "NORMAL means 2 MB pages too";
    const Physical all{8 * kMB, normal};
    EXPECT_EQ(aclrtMallocPhysical(&handle, 1, &normal, 0), kShortage);
    const Physical one{kGB, giant}, two{1, giant};
    EXPECT_EQ(aclrtMallocPhysical(&handle, 1, &giant, 0), kShortage);
    EXPECT_EQ(free_bytes(), 6 * kGB - 8 * kMB);
  });
}

TEST(VirtualPages, V37_M430_PeerMemoryCountsAgainstItsLimit) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_P2P", "4M"}}, [] {
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp peers = of_device(0, ACL_MEM_P2P_HUGE);
    const Physical one{k2MB, peers}, two{k2MB, peers};
    EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &peers, 0), kShortage);
    const Physical plain{32 * kMB};
    EXPECT_EQ(free_bytes(), 28 * kMB);
  });
}

}  // namespace virtual_pages_test
