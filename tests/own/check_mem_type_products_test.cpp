// aclrtCheckMemType on a product whose media memory is device memory.
#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/on_product.h"

namespace check_mem_type_products_test {

using namespace belay_test;

constexpr std::uint32_t kDev = ACL_RT_MEM_TYPE_DEV, kDvpp = ACL_RT_MEM_TYPE_DVPP,
                        kRsvd = ACL_RT_MEM_TYPE_RSVD;

// The result for these addresses; the call itself must succeed.
std::uint32_t check(std::vector<void*> addresses, std::uint32_t types) {
  std::uint32_t result = 77;
  EXPECT_EQ(
      aclrtCheckMemType(addresses.data(), static_cast<std::uint32_t>(addresses.size()), types, &result, 0),
      ACL_SUCCESS);
  return result;
}

TEST(CheckMemTypeByProduct, M162_On950MediaMemoryIsDeviceMemory) {
  on_product("950", [] {
    const Block block(kMalloc, 64, kHugeFirst);
    EXPECT_EQ(check({block.get()}, kDev), 1U);
    EXPECT_EQ(check({block.get()}, kDvpp), 1U);
    EXPECT_EQ(check({block.get()}, kRsvd), 0U);
  });
}

}  // namespace check_mem_type_products_test
