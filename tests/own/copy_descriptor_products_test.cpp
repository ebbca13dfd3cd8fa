// The size of a copy descriptor on each product.
#include <gtest/gtest.h>

#include <array>

#include "acl/acl.h"
#include "support/device_fixture.h"
#include "support/settings.h"

namespace copy_descriptor_products_test {

using belay_test::in_fresh_process;
using belay_test::kGB;

constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
const auto kUnknown = static_cast<aclrtMemcpyKind>(8);

TEST(CopyDescriptorSize, M325_M327_ByProduct_WithoutAContext) {
  struct Case {
    const char* product;
    aclError code;
    std::size_t size;
  };
  for (const Case c : {Case{"A2", 0, 32}, Case{"A3", 0, 32}, Case{"310B", 0, 32}, Case{"950", 0, 64},
                       Case{"310P", 207000, 9}, Case{"910", 207000, 9}, Case{"IPV350", 207000, 9}}) {
    in_fresh_process({{"BELAY_PRODUCT", c.product}}, [&] {
      std::size_t size = 9;
      EXPECT_EQ(aclrtGetMemcpyDescSize(kInner, &size), c.code) << c.product;
      EXPECT_EQ(size, c.size) << c.product;
      std::array<char, 64> nothing{};
      if (c.code != 0)
        EXPECT_EQ(
            aclrtSetMemcpyDesc(nothing.data(), kInner, nothing.data(), nothing.data(), 5 * kGB, nullptr),
            207000)
            << "M-333 before M-334";
    });
  }
}

}  // namespace copy_descriptor_products_test
