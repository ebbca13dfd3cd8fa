// Which product has which policy, in every form.

#include <map>

#include "support/allocators.h"
#include "support/on_product.h"

namespace policy_products_test {

using namespace belay_test;

constexpr aclError kNo = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

struct Product {
  const char* name;
  aclError p2p, one_gigabyte;
  bool read_only;
  std::vector<Allocator> allocators;
};

std::vector<Product> products() {
  return {
      {"950", ACL_SUCCESS, ACL_SUCCESS, true, decoding_allocators()},
      {"A3", ACL_SUCCESS, ACL_SUCCESS, true, decoding_allocators()},
      {"A2", ACL_SUCCESS, ACL_SUCCESS, true, decoding_allocators()},
      {"310B", kNo, kNo, true, decoding_allocators()},
      {"310P", ACL_SUCCESS, kNo, true, decoding_allocators()},
      {"910", ACL_SUCCESS, kNo, true, decoding_allocators()},
      {"IPV350", kNo, ACL_ERROR_INVALID_PARAM, false, {kMalloc, kAlign32}},
  };
}

void on_every_product(const std::function<void(const Product&)>& body) {
  for (const Product& product : products()) {
    on_product(product.name, [&] { body(product); });
  }
}

// A refusal takes nothing and leaves the output alone.
void expect_answer(const Allocator& allocator, std::uint32_t value, aclError code) {
  int mark = 0;
  void* out = &mark;
  const std::size_t before = free_bytes();
  EXPECT_EQ(allocator.call(&out, 64, policy(value)), code) << allocator.name << " " << hex(value);
  if (code == ACL_SUCCESS) {
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  } else {
    EXPECT_EQ(out, &mark);
  }
  EXPECT_EQ(free_bytes(), before);
}

TEST(PolicyProducts, M68_M426_TheThreePlainPoliciesWorkEverywhere) {
  on_every_product([](const Product& product) {
    for (const Allocator& allocator : product.allocators) {
      for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly}) {
        expect_answer(allocator, value, ACL_SUCCESS);
      }
    }
  });
}

TEST(PolicyProducts, M426_MallocAlign32AndMallocHostExistOnTheFiveFamiliesAnd950) {
  for (const char* product : {"A3", "A2", "310B", "310P", "910", "950"}) {
    on_product(product, [] {
      void* device = nullptr;
      void* pinned = nullptr;
      EXPECT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
      EXPECT_EQ(aclrtMallocAlign32(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
      EXPECT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
    });
  }
}

TEST(PolicyProducts, M69_M74_M85_M104_P2pPolicies) {
  on_every_product([](const Product& product) {
    for (const Allocator& allocator : product.allocators) {
      for (const std::uint32_t value : {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p}) {
        expect_answer(allocator, value, product.p2p);
        expect_answer(allocator, value | kHigh, product.p2p);
      }
    }
  });
}

TEST(PolicyProducts, M70_M74_M85_M104_OneGigabytePolicies) {
  on_every_product([](const Product& product) {
    for (const Allocator& allocator : product.allocators) {
      expect_answer(allocator, kHuge1g, product.one_gigabyte);
      expect_answer(allocator, kHuge1gP2p, product.one_gigabyte);
    }
    if (product.one_gigabyte == kNo) {  // aclrtMallocCached knows 6, but 7 is outside its enum
      expect_answer(kCached, kHuge1g, kNo);
      expect_answer(kCached, kHuge1gP2p, ACL_SUCCESS);
    }
  });
}

TEST(PolicyProducts, M71_BandwidthItemsAreAcceptedEverywhere) {
  on_every_product([](const Product& product) {
    for (const Allocator& allocator : product.allocators) {
      for (const std::uint32_t flag : {kLow, kHigh}) {
        for (const std::uint32_t base : {kHugeFirst, kHugeOnly, kNormalOnly}) {
          for (const std::size_t size : {std::size_t{1}, kMB, kMB + 1}) {
            EXPECT_EQ(take(allocator, size, base | flag), take(allocator, size, base)) << allocator.name;
          }
        }
      }
    }
  });
}

TEST(PolicyProducts, M72_ReadOnlyWorksEverywhereButOnIpvWhereItIsIgnored) {
  on_every_product([](const Product& product) {
    for (const Allocator& allocator : product.allocators) {
      for (const std::uint32_t base : {kHugeFirst, kHugeOnly, kNormalOnly}) {
        const Block block(allocator, 64, kReadOnly | base);
        EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64),
                  product.read_only ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_SUCCESS)
            << allocator.name << hex(base);
      }
    }
  });
}

TEST(PolicyProducts, M73_P2pIsMissingOn310bInEveryForm) {
  for (const char* form : {"EP", "RC", "OPEN_CTRL_CPU"}) {
    on_product("310B", {{"BELAY_FORM", form}}, [] {
      for (const Allocator& allocator : decoding_allocators()) {
        for (const std::uint32_t value : {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p}) {
          expect_answer(allocator, value, kNo);
        }
      }
    });
  }
}

TEST(PolicyProducts, M85_TheRefusalComesBehindTheContextAndBeforeTheShortage) {
  on_product("310B", [] {
    void* out = nullptr;
    EXPECT_EQ(aclrtMalloc(&out, 0, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMalloc(&out, SIZE_MAX, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMalloc(&out, SIZE_MAX - 64, ACL_MEM_MALLOC_HUGE_ONLY_P2P), kNo);
    EXPECT_EQ(aclrtMalloc(&out, SIZE_MAX - 64, ACL_MEM_MALLOC_HUGE1G_ONLY), kNo);
    EXPECT_EQ(aclrtMallocWithCfg(&out, SIZE_MAX - 30, ACL_MEM_MALLOC_HUGE1G_ONLY, nullptr),
              ACL_ERROR_RT_PARAM_INVALID);
    without_context([&] {
      EXPECT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_ERROR_RT_CONTEXT_NULL);
      EXPECT_EQ(aclrtMallocWithCfg(&out, 64, ACL_MEM_MALLOC_HUGE_ONLY_P2P, nullptr),
                ACL_ERROR_RT_CONTEXT_NULL);
    });
    EXPECT_EQ(out, nullptr);
  });
}

}  // namespace policy_products_test
