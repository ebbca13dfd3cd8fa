// Policies that a product decodes differently.
#include "support/allocators.h"
#include "support/on_product.h"

namespace policy_decoding_products_test {

using namespace belay_test;

// Sizes at which the base policies differ from one another.
constexpr std::size_t kTelling[] = {1, kMB, kMB + 1, 2 * kMB - 1, 2 * kMB, 2 * kMB + 1};

void expect_same(const Allocator& allocator, std::uint32_t value, std::uint32_t as) {
  for (const std::size_t size : kTelling) {
    EXPECT_EQ(take(allocator, size, value), take(allocator, size, as))
        << allocator.name << "(" << size << ", " << hex(value) << ") is not as " << hex(as);
  }
}

TEST(PolicyDecodingOnIpv, M67_OneGigabyteIs100000AndP2pIs207000) {
  on_product("IPV350", [] {
    for (const Allocator& allocator : {kMalloc, kAlign32}) {
      EXPECT_EQ(take(allocator, 64, kHuge1g), refused(ACL_ERROR_INVALID_PARAM)) << allocator.name;
      EXPECT_EQ(take(allocator, 64, kHuge1gP2p), refused(ACL_ERROR_INVALID_PARAM)) << allocator.name;
      for (const std::uint32_t value : {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p}) {
        EXPECT_EQ(take(allocator, 64, value), refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT)) << allocator.name;
      }
      for (const std::uint32_t flag : {kLow, kHigh}) {
        for (const std::uint32_t base : {kHugeFirst, kHugeOnly, kNormalOnly}) {
          expect_same(allocator, base | flag, base);
        }
        EXPECT_EQ(take(allocator, 1, flag).bytes, 4096U);
        EXPECT_EQ(take(allocator, kMB + 1, flag).bytes, 2 * kMB);
      }
    }
    without_context([] {  // the 100000 of a wrong argument comes before the context, the 207000 behind it
      void* out = nullptr;
      EXPECT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE1G_ONLY), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_ONLY_P2P), ACL_ERROR_RT_CONTEXT_NULL);
    });
  });
}

}  // namespace policy_decoding_products_test
