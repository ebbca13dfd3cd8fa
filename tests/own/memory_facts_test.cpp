// Facts of real device memory that programs see: sizes, page kinds, frees, figures.
#include <limits>

#include "support/blocks.h"
#include "support/settings.h"

namespace memory_facts_test {

using namespace belay_test;

class MemoryFacts : public OnDevice {};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

struct Figures {
  std::size_t free = 0, total = 0;
};

Figures figures(aclrtMemAttr attribute) {
  Figures figure;
  EXPECT_EQ(aclrtGetMemInfo(attribute, &figure.free, &figure.total), ACL_SUCCESS) << attribute;
  return figure;
}

using Allocate = aclError (*)(void**, std::size_t, aclrtMemMallocPolicy);

// What a block costs; it is freed again.
std::size_t cost(Allocate allocate, std::size_t size, unsigned policy) {
  const std::size_t before = free_bytes();
  void* block = nullptr;
  EXPECT_EQ(allocate(&block, size, policy_of(policy)), ACL_SUCCESS) << size << " " << policy;
  const std::size_t after = free_bytes();
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  return before - after;
}

const Allocate kPlain = [](void** p, std::size_t n, aclrtMemMallocPolicy k) { return aclrtMalloc(p, n, k); };
const Allocate kCached = [](void** p, std::size_t n, aclrtMemMallocPolicy k) {
  return aclrtMallocCached(p, n, k);
};
const Allocate kAlign = [](void** p, std::size_t n, aclrtMemMallocPolicy k) {
  return aclrtMallocAlign32(p, n, k);
};
const Allocate kCfg = [](void** p, std::size_t n, aclrtMemMallocPolicy k) {
  return aclrtMallocWithCfg(p, n, k, nullptr);
};
const Allocate kTask = [](void** p, std::size_t n, aclrtMemMallocPolicy k) {
  return aclrtMallocForTaskScheduler(p, n, k, nullptr);
};

TEST_F(MemoryFacts, D1_MallocAndCached_AddThePad_SeenAtTheEdgeOfAPage) {
  for (const Allocate allocate : {kPlain, kCached}) {
    EXPECT_EQ(cost(allocate, 4064, 2), 4096U);
    EXPECT_EQ(cost(allocate, 4065, 2), 8192U);
    EXPECT_EQ(cost(allocate, 2 * kMB - 32, 1), 2 * kMB);
    EXPECT_EQ(cost(allocate, 2 * kMB - 31, 1), 4 * kMB);
  }
}

TEST(MemoryFactsProducts, D1_On950_ThereIsNoPad) {
  in_fresh_process({{"BELAY_PRODUCT", "950"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const Allocate allocate : {kPlain, kCached}) {
      EXPECT_EQ(cost(allocate, 4096, 2), 4096U);
      EXPECT_EQ(cost(allocate, 4097, 2), 8192U);
      EXPECT_EQ(cost(allocate, 2 * kMB, 1), 2 * kMB);
    }
  });
}

TEST_F(MemoryFacts, D2_TheOthersAnd1G_HaveNoPad) {
  for (const Allocate allocate : {kAlign, kCfg, kTask}) {
    EXPECT_EQ(cost(allocate, 4096, 2), 4096U);
    EXPECT_EQ(cost(allocate, 4097, 2), 8192U);
    EXPECT_EQ(cost(allocate, 2 * kMB, 1), 2 * kMB);
    EXPECT_EQ(cost(allocate, 2 * kMB + 1, 1), 4 * kMB);
  }
  for (const Allocate allocate : {kPlain, kCached, kAlign, kCfg, kTask}) {
    EXPECT_EQ(cost(allocate, kGB, 6), kGB);
    EXPECT_EQ(cost(allocate, kGB + 1, 6), 2 * kGB);
  }
}

TEST_F(MemoryFacts, D3_OverflowSizeZeroAndNull_Are100000) {
  for (const Allocate allocate : {kPlain, kCached, kAlign}) {
    void* block = sentinel();
    EXPECT_EQ(allocate(&block, kMax, policy_of(2)), kBadArgument);
    EXPECT_EQ(allocate(&block, 0, policy_of(2)), kBadArgument);
    EXPECT_EQ(allocate(nullptr, 64, policy_of(2)), kBadArgument);
    EXPECT_EQ(block, sentinel());
  }
}

TEST(MemoryFactsFromTheStart, D17_FreshMemoryHoldsThePattern_OrWhatAnEarlierBlockLeft) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const unsigned policy : {1U, 2U}) {
      Device block{3 * kMB, policy};
      EXPECT_EQ(read_from(block.get(), 3 * kMB), Bytes(3 * kMB, 0xBE)) << "not zero, where nobody wrote";
      write_to(block.get(), Bytes(3 * kMB, 0x5A));
      block.free_now();
      Device next{3 * kMB, policy};
      for (const std::uint8_t byte : read_from(next.get(), 3 * kMB))
        ASSERT_TRUE(byte == 0xBE || byte == 0x5A);
    }
  });
}

TEST(MemoryFactsProducts, D49_InTheRcForm_DeviceMemoryHasPagesAsElsewhere_AndCopiesArePlain) {
  in_fresh_process({{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "RC"}, {"BELAY_HUGE", "4M"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Device small{kMB, 0}, huge{3 * kMB, 0}, fallen{3 * kMB, 0};
    EXPECT_EQ(page_of(small.get()), 4096U);
    EXPECT_EQ(page_of(huge.get()), 2 * kMB);
    EXPECT_EQ(page_of(fallen.get()), 4096U) << "huge pages have run out";
    Pinned host{4096};
    EXPECT_EQ(page_of(host.get()), 4096U);
    const Bytes bytes = pattern(4096);
    std::copy(bytes.begin(), bytes.end(), at(host.get(), 0));
    for (const int kind : {0, 1, 2, 3, 4}) {
      EXPECT_EQ(aclrtMemcpy(huge.get(), 4096, host.get(), 4096, kind_of(kind)), ACL_SUCCESS) << kind;
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(huge.get(), 0))) << kind;
    }
  });
}

TEST(MemoryFactsProducts, D24_1GPages_OnA2A3And950Only_RoundedUp_NoFallback) {
  for (const char* product : {"A2", "A3", "950"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_HBM", "4G"}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (const unsigned policy : {6U, 7U}) {
        EXPECT_EQ(cost(kPlain, 1, policy), kGB) << product;
        EXPECT_EQ(cost(kPlain, kGB + 1, policy), 2 * kGB) << product;
        void* block = sentinel();
        EXPECT_EQ(aclrtMalloc(&block, 4 * kGB + 1, policy_of(policy)), kShortage) << product;
        // Enough bytes, not enough whole pages.
        Device small{kMB};
        EXPECT_EQ(aclrtMalloc(&block, 3 * kGB + 1, policy_of(policy)), kShortage)
            << "no fallback, " << product;
        EXPECT_EQ(cost(kPlain, 3 * kGB, policy), 3 * kGB) << product;
      }
    });
  }
  for (const char* product : {"310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* block = sentinel();
      EXPECT_EQ(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE1G_ONLY), kUnsupported) << product;
      EXPECT_EQ(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P), kUnsupported) << product;
      EXPECT_EQ(block, sentinel());
    });
  }
}

TEST(MemoryFactsProducts, D25_P2PPolicies_ByProduct_OutOfTheSameMemory) {
  for (const char* product : {"950", "A3", "A2", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(cost(kAlign, 4096, 5), 4096U) << product;
      EXPECT_EQ(cost(kAlign, 1, 3), 2 * kMB) << product;
      EXPECT_EQ(cost(kAlign, 1, 4), 2 * kMB) << product;
    });
  }
  in_fresh_process({{"BELAY_PRODUCT", "310B"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const unsigned policy : {3U, 4U, 5U}) {
      void* block = sentinel();
      EXPECT_EQ(aclrtMalloc(&block, 64, policy_of(policy)), kUnsupported) << policy;
    }
  });
}

TEST_F(MemoryFacts, D47_FreeHostRefusesDeviceAndMallocMemory_FreeTakesPinnedMemory) {
  Device device{64};
  EXPECT_EQ(aclrtFreeHost(device.get()), kBadValue);
  const auto heap = std::make_unique<Bytes>(64);
  EXPECT_EQ(aclrtFreeHost(heap->data()), kBadValue);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  without_context([&] { EXPECT_EQ(aclrtFree(pinned), ACL_SUCCESS); });
  EXPECT_EQ(aclrtFreeHost(pinned), kBadValue) << "it was really freed";
}

TEST_F(MemoryFacts, D47_FreeTakesMemoryOfAnyDevice_WithoutAContext) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const std::size_t before = free_bytes();
  void *there = nullptr, *other = nullptr;
  ASSERT_EQ(aclrtMalloc(&there, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&other, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(there), ACL_SUCCESS);
  without_context([&] { EXPECT_EQ(aclrtFree(other), ACL_SUCCESS); });
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
  for (const int device : {0, 1, 1}) EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
}

TEST_F(MemoryFacts, D81_D82_WhatIsNoBlock_IsNotFreed) {
  EXPECT_EQ(aclrtFree(nullptr), kBadArgument);
  Device block{8192};
  for (const std::size_t offset : {1U, 64U, 4096U, 8191U})
    EXPECT_EQ(aclrtFree(block.get(offset)), kBadValue) << offset;
  EXPECT_TRUE(alive(block.get()));
  int on_stack = 0;
  EXPECT_EQ(aclrtFree(&on_stack), kBadValue);
  const auto on_heap = std::make_unique<int>(1);
  EXPECT_EQ(aclrtFree(on_heap.get()), kBadValue);
  // Addresses in the window that nothing occupies.
  for (const std::size_t far : {kGB, 64 * kGB, std::size_t{1} << 40U}) {
    EXPECT_EQ(aclrtFree(block.get(far)), kBadValue) << far;
  }
  Device gone{64};
  void* const was = gone.free_now();
  EXPECT_EQ(aclrtFree(was), kBadValue) << "double free";
  EXPECT_EQ(last_error(), kBadValue);
}

TEST_F(MemoryFacts, D50_1GPages_ArePartOfTheHugeOnes) {
  const Figures huge = figures(ACL_HBM_MEM_HUGE), giant = figures(ACL_HBM_MEM_HUGE1G);
  EXPECT_LE(giant.free, huge.free);
  EXPECT_LE(giant.total, huge.total);
  Device page{kGB, ACL_MEM_MALLOC_HUGE1G_ONLY};
  EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, huge.free - kGB);
  EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, giant.free - kGB);
}

TEST_F(MemoryFacts, D51_EveryAttributeIsItsOwnAmount) {
  Device normal{4096}, huge{1, 1};
  const Figures all = figures(ACL_HBM_MEM);
  for (const auto attribute : {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_P2P_HUGE, ACL_MEM_HUGE, ACL_MEM_P2P_HUGE}) {
    const Figures big = figures(attribute);
    for (const auto other :
         {ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_P2P_NORMAL, ACL_MEM_NORMAL, ACL_MEM_P2P_NORMAL}) {
      const Figures small = figures(other);
      EXPECT_EQ(big.free + small.free, all.free) << attribute << " " << other;
      EXPECT_EQ(big.total + small.total, all.total) << attribute << " " << other;
    }
  }
  std::size_t free = 1, total = 1;
  const int beyond = 18;
  EXPECT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(beyond), &free, &total), 107016);
  without_context([] {
    std::size_t f = 1, t = 1;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &f, &t), kNoContext);
    EXPECT_EQ(f, 1U);
  });
}

TEST(MemoryFactsProducts, D51_1GFigures_Answer207000_WithoutSuchPages) {
  for (const char* product : {"310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (const auto attribute :
           {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_HUGE1G, ACL_MEM_P2P_HUGE1G}) {
        std::size_t free = 1, total = 1;
        EXPECT_EQ(aclrtGetMemInfo(attribute, &free, &total), kUnsupported) << product << attribute;
      }
    });
  }
}

TEST(MemoryFactsProducts, D56_OnePoolServesEveryPageKind) {
  in_fresh_process({{"BELAY_HBM", "2050M"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const auto check = [] {
      const Figures all = figures(ACL_HBM_MEM);
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, all.free / (2 * kMB) * (2 * kMB));
      EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL).free, all.free % (2 * kMB));
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, all.free / kGB * kGB);
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).total + figures(ACL_HBM_MEM_NORMAL).total, 2050 * kMB);
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).total % (2 * kMB), 0U);
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).total % kGB, 0U);
      for (const auto attribute : {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_HUGE1G}) {
        EXPECT_LE(figures(attribute).free, figures(attribute).total) << attribute;
      }
    };
    check();
    {
      // The figure of normal pages is 0 here, and no limit.
      EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL).free, 0U);
      Device small{4096};
      check();
      EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL).free, 2 * kMB - 4096);
      Device large{1000 * kMB};
      check();
      Device huge{1, 1};
      check();
      Device giant{1, 6};
      check();
    }
    check();
    Device everything{2050 * kMB};
    check();
    void* block = sentinel();
    EXPECT_EQ(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE_ONLY), kShortage) << "normal pages took it all";
  });
}

TEST_F(MemoryFacts, D53_TheTotalIsAConstant_WhateverIsInUse) {
  const std::size_t total = figures(ACL_HBM_MEM).total;
  EXPECT_EQ(total, 65464696832U) << "of 64 GB that the card has";
  Device normal{4096}, huge{100 * kMB, 1}, giant{kGB, 6};
  Pinned host{kMB};
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(figures(ACL_HBM_MEM).total, total);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(figures(ACL_HBM_MEM).total, total);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(MemoryFactsProducts, D53_D59_UsableTotals) {
  struct Case {
    const char* product;
    std::size_t total;
  };
  for (const Case& test : {Case{"A2", 65464696832}, Case{"A3", 65787658240}}) {
    in_fresh_process({{"BELAY_PRODUCT", test.product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(figures(ACL_HBM_MEM).total, test.total) << test.product;
      EXPECT_EQ(figures(ACL_HBM_MEM).free, test.total) << test.product;
    });
  }
}

}  // namespace memory_facts_test
