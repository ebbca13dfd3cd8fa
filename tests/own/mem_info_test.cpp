// aclrtGetMemInfo: free and total bytes by kind of memory and page.

#include <rapidcheck.h>

#include <random>

#include "support/allocators.h"
#include "support/on_product.h"
#include "support/properties.h"
#include "support/settings.h"

namespace mem_info_test {

using namespace belay_test;

class MemInfo : public OnDevice {};

struct Figures {
  std::size_t free, total;
  bool operator==(const Figures&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Figures& figures) {
  return out << "{free " << figures.free << ", total " << figures.total << "}";
}

aclrtMemAttr attr(std::uint32_t value) { return std::bit_cast<aclrtMemAttr>(value); }

Figures figures(std::uint32_t value) {
  Figures got{1, 1};
  EXPECT_EQ(aclrtGetMemInfo(attr(value), &got.free, &got.total), ACL_SUCCESS) << value;
  return got;
}

aclError answer(std::uint32_t value) {
  std::size_t free = 0, total = 0;
  return aclrtGetMemInfo(attr(value), &free, &total);
}

constexpr std::uint32_t kGigabyteAttributes[] = {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_HUGE1G,
                                                 ACL_MEM_P2P_HUGE1G};

TEST_F(MemInfo, M131_M132_NullOutputs) {
  std::size_t number = 9;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &number, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(attr(99), nullptr, nullptr), ACL_ERROR_INVALID_PARAM);  // before the attribute
  EXPECT_EQ(number, 9U);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(MemInfo, M133_AttributesOutsideTheEnum) {
  for (std::uint32_t value = 0; value <= 17; ++value) EXPECT_EQ(answer(value), ACL_SUCCESS) << value;
  for (const std::uint32_t value : {18U, 99U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(answer(value), ACL_ERROR_RT_INVALID_MEMORY_TYPE) << value;
  }
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
}

TEST_F(MemInfo, M134_D84_ContextComesBehindTheAttribute) {
  without_context([] {
    EXPECT_EQ(answer(18), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    for (std::uint32_t value = 0; value <= 17; ++value)
      EXPECT_EQ(answer(value), ACL_ERROR_RT_CONTEXT_NULL) << value;
  });
}

TEST(MemInfoByProduct, M135_M140_GigabyteAttributesWhereThereAreNoSuchPages) {
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    on_product(product, [] {
      for (const std::uint32_t value : kGigabyteAttributes) {
        std::size_t free = 11, total = 12;
        EXPECT_EQ(aclrtGetMemInfo(attr(value), &free, &total), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << value;
        EXPECT_EQ(free, 11U);
        EXPECT_EQ(total, 12U);
      }
      without_context([] { EXPECT_EQ(answer(ACL_HBM_MEM_HUGE1G), ACL_ERROR_RT_CONTEXT_NULL); });
    });
  }
}

TEST(MemInfoByProduct, M142_GigabyteAttributesOnTheOthers) {
  for (const char* product : {"A2", "A3", "950"}) {
    on_product(product, {{"BELAY_HBM", "3070M"}}, [] {
      for (const std::uint32_t value : kGigabyteAttributes) {
        EXPECT_EQ(figures(value), (Figures{2 * kGB, 2 * kGB})) << value;
      }
    });
  }
}

TEST(MemInfoByProduct, M136_M143_UsableTotalsOfTheDefaultCards) {
  const auto usable = [](const char* product, std::size_t megabytes, std::size_t installed) {
    on_product(product, [&] {
      EXPECT_EQ(figures(ACL_HBM_MEM), (Figures{megabytes * kMB, megabytes * kMB}));
      EXPECT_LT(figures(ACL_HBM_MEM).total, installed);  // without what the system keeps
    });
  };
  usable("A2", 62432, 64 * kGB);
  usable("A3", 62740, 64 * kGB);
  for (const char* product : {"950", "310P", "310B", "910", "IPV350"}) {
    on_product(product, [] {
      const std::size_t total = figures(ACL_HBM_MEM).total + figures(ACL_DDR_MEM).total;
      EXPECT_GT(total, 0U);
      EXPECT_EQ(total % (2 * kMB), 0U);
    });
  }
}

TEST_F(MemInfo, M136_TheFiguresAreThoseOfTheCurrentDevice) {
  const std::size_t zero = free_bytes();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const std::size_t one = free_bytes();
  {
    const Block block(kMalloc, 64, kHugeOnly);
    EXPECT_EQ(one - free_bytes(), 2 * kMB);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), zero);
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// What must hold at any moment on a product whose main memory has these three attributes.
void expect_coherent(std::uint32_t all, std::uint32_t huge, std::uint32_t normal) {
  const Figures whole = figures(all), big = figures(huge), small = figures(normal);
  EXPECT_EQ(whole.free, big.free + small.free);
  EXPECT_EQ(whole.total, big.total + small.total);
  EXPECT_LE(whole.free, whole.total);
  EXPECT_LE(big.free, big.total);
  EXPECT_LE(small.free, small.total);
  EXPECT_EQ(big.free % (2 * kMB), 0U);
  EXPECT_EQ(big.total % (2 * kMB), 0U);
}

TEST_F(MemInfo, M137_M138_M430_AttributesOnAnHbmCard) {
  const Block odd(kMalloc, 3 * 4096, kNormalOnly);  // so that normal and huge differ
  const Figures all = figures(ACL_HBM_MEM), huge = figures(ACL_HBM_MEM_HUGE),
                normal = figures(ACL_HBM_MEM_NORMAL);
  EXPECT_EQ(all.free, all.total - 16384);
  EXPECT_EQ(huge.free, all.free / (2 * kMB) * (2 * kMB));
  EXPECT_EQ(normal.free, 2 * kMB - 16384);
  EXPECT_EQ(figures(ACL_MEM_HUGE), huge);
  EXPECT_EQ(figures(ACL_MEM_NORMAL), normal);
  EXPECT_EQ(figures(ACL_HBM_MEM_P2P_HUGE), huge);
  EXPECT_EQ(figures(ACL_HBM_MEM_P2P_NORMAL), normal);
  EXPECT_EQ(figures(ACL_MEM_P2P_HUGE), huge);
  EXPECT_EQ(figures(ACL_MEM_P2P_NORMAL), normal);
  const Figures gigabytes{all.free / kGB * kGB, all.total / kGB * kGB};
  for (const std::uint32_t value : kGigabyteAttributes) EXPECT_EQ(figures(value), gigabytes) << value;
  expect_coherent(ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL);
}

TEST(MemInfoByProduct, M141_MemoryTheHardwareLacksIsZero) {
  for (const char* product : {"A2", "A3"}) {
    on_product(product, [] {
      const Block block(kMalloc, 64, kHugeOnly);
      for (const std::uint32_t value : {ACL_DDR_MEM, ACL_DDR_MEM_HUGE, ACL_DDR_MEM_NORMAL,
                                        ACL_DDR_MEM_P2P_HUGE, ACL_DDR_MEM_P2P_NORMAL}) {
        EXPECT_EQ(figures(value), (Figures{0, 0})) << value;
      }
    });
  }
}

TEST(MemInfoByProduct, M139_M140_M138_AttributesOnADdrChip) {
  for (const char* product : {"310P", "310B"}) {
    on_product(product, {{"BELAY_HBM", "256M"}}, [] {
      const Block odd(kAlign32, 4096, kNormalOnly);
      EXPECT_EQ(figures(ACL_DDR_MEM), (Figures{256 * kMB - 4096, 256 * kMB}));
      EXPECT_EQ(figures(ACL_HBM_MEM), figures(ACL_DDR_MEM));
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE), figures(ACL_DDR_MEM_HUGE));
      EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL), figures(ACL_DDR_MEM_NORMAL));
      EXPECT_EQ(figures(ACL_HBM_MEM_P2P_HUGE), figures(ACL_DDR_MEM_P2P_HUGE));
      EXPECT_EQ(figures(ACL_HBM_MEM_P2P_NORMAL), figures(ACL_DDR_MEM_P2P_NORMAL));
      EXPECT_EQ(figures(ACL_MEM_NORMAL), figures(ACL_DDR_MEM_NORMAL));
      EXPECT_EQ(figures(ACL_MEM_HUGE), figures(ACL_DDR_MEM_HUGE));
      EXPECT_EQ(figures(ACL_MEM_P2P_NORMAL), figures(ACL_DDR_MEM_P2P_NORMAL));
      EXPECT_EQ(figures(ACL_MEM_P2P_HUGE), figures(ACL_DDR_MEM_P2P_HUGE));
      expect_coherent(ACL_DDR_MEM, ACL_DDR_MEM_HUGE, ACL_DDR_MEM_NORMAL);
    });
  }
}

// ---------------------------------------------------------------- exact books

TEST_F(MemInfo, M143_M430_FreeMovesByTheFootprintOfEveryBlock) {
  const std::vector<Allocator> allocators = all_allocators();
  const bool always = holds("free falls and rises by the footprint", 100, 1000, [&] {
    std::vector<std::pair<void*, std::size_t>> live;
    std::size_t used = 0;
    const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
    for (const std::uint32_t step : steps) {
      std::mt19937 random(step);
      if (random() % 3 == 0 && !live.empty()) {
        const std::size_t which = random() % live.size();
        RC_ASSERT(aclrtFree(live[which].first) == ACL_SUCCESS);
        used -= live[which].second;
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        const Allocator& allocator = allocators[random() % allocators.size()];
        const std::size_t size = 1 + random() % (random() % 4 == 0 ? kGB / 4 : 3 * kMB);
        const auto value = static_cast<std::uint32_t>(random() % 6);
        void* block = nullptr;
        RC_ASSERT(allocator.call(&block, size, policy(value)) == ACL_SUCCESS);
        live.emplace_back(block, documented(allocator, size, value).bytes);
        used += live.back().second;
      }
      RC_ASSERT(free_before_ - free_bytes() == used);
      expect_coherent(ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL);
    }
    for (const auto& [block, bytes] : live) RC_ASSERT(aclrtFree(block) == ACL_SUCCESS);
    RC_ASSERT(free_bytes() == free_before_);
  });
  EXPECT_TRUE(always);
}

TEST(MemInfoWithLimits, M430_TheFigureOfALimitedKindMovesAndDecidesShortage) {
  const Settings limits{{"BELAY_HBM", "96M"}, {"BELAY_HUGE", "64M"}, {"BELAY_NORMAL", "32M"}};
  on_product("A2", limits, [] {
    EXPECT_EQ(figures(ACL_HBM_MEM), (Figures{96 * kMB, 96 * kMB}));
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE), (Figures{64 * kMB, 64 * kMB}));
    EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL), (Figures{32 * kMB, 32 * kMB}));
    const Block huge(kAlign32, 6 * kMB, kHugeOnly);
    const Block normal(kAlign32, 5 * 4096, kNormalOnly);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE), (Figures{58 * kMB, 64 * kMB}));
    EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL), (Figures{32 * kMB - 5 * 4096, 32 * kMB}));
    EXPECT_EQ(figures(ACL_MEM_HUGE), figures(ACL_HBM_MEM_HUGE));
    EXPECT_EQ(figures(ACL_MEM_NORMAL), figures(ACL_HBM_MEM_NORMAL));
    expect_coherent(ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL);
    EXPECT_EQ(take(kAlign32, 58 * kMB, kHugeOnly), served(58 * kMB, kPage2M));
    EXPECT_EQ(take(kAlign32, 58 * kMB + 1, kHugeOnly), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));
    const std::size_t rest = 32 * kMB - 5 * 4096;
    EXPECT_EQ(take(kAlign32, rest, kNormalOnly), served(rest, kPage4K));
    EXPECT_EQ(take(kAlign32, rest + 1, kNormalOnly), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));
  });
}

TEST(MemInfoWithLimits, M430_OneLimitAlone) {
  on_product("A2", {{"BELAY_HBM", "96M"}, {"BELAY_HUGE", "64M"}}, [] {
    const std::size_t before = figures(ACL_HBM_MEM_HUGE).free;
    EXPECT_EQ(before, 64 * kMB);
    const Block block(kAlign32, 1, kHugeOnly);
    EXPECT_EQ(before - figures(ACL_HBM_MEM_HUGE).free, 2 * kMB);
    expect_coherent(ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL);
  });
  on_product("A2", {{"BELAY_HBM", "4G"}, {"BELAY_HUGE1G", "3G"}}, [] {
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, 3 * kGB);
    const Block block(kAlign32, 1, kHuge1g);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, 2 * kGB);
    EXPECT_EQ(figures(ACL_HBM_MEM).free, 3 * kGB);
    expect_coherent(ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL);
  });
}

TEST(MemInfoWithLimits, M430_M423_P2pFiguresFollowAP2pLimit) {
  on_product("A2", {{"BELAY_HBM", "96M"}, {"BELAY_P2P", "8M"}}, [] {
    const auto p2p = [] { return figures(ACL_HBM_MEM_P2P_HUGE).free; };
    EXPECT_EQ(p2p(), 8 * kMB);
    {
      const Block plain(kAlign32, 1, kHugeOnly);
      EXPECT_EQ(p2p(), 8 * kMB);  // not its business
      const Block shared(kAlign32, 1, kHugeOnlyP2p);
      EXPECT_EQ(p2p(), 6 * kMB);
      EXPECT_EQ(figures(ACL_MEM_P2P_HUGE), figures(ACL_HBM_MEM_P2P_HUGE));
      EXPECT_LE(figures(ACL_HBM_MEM_P2P_NORMAL).free, 6 * kMB);
      const Block small(kAlign32, 1, kNormalOnlyP2p);
      EXPECT_LT(p2p(), 6 * kMB);
    }
    EXPECT_EQ(p2p(), 8 * kMB);
    EXPECT_EQ(figures(ACL_HBM_MEM).free, 96 * kMB);
  });
}

}  // namespace mem_info_test
