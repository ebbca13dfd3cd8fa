// Cache operations on each product.
#include <cstring>

#include "support/as_enum.h"
#include "support/on_product.h"
#include "support/products.h"
#include "support/streams.h"

namespace cmo_products_test {

using namespace belay_test;

int g_local = 0;
int operate(void* start, int type, aclrtStream stream) {
  return aclrtCmoAsync(start, 4, as_enum<aclrtCmoType>(type), stream);
}
int with_descriptor(void* descriptor, int type, aclrtStream stream, const void* reserve = nullptr) {
  return aclrtCmoAsyncWithDesc(descriptor, as_enum<aclrtCmoType>(type), stream, reserve);
}

TEST(CmoProducts, V357_M418_OnlyOn950A3A2) {
  expect_only_on({"950", "A3", "A2"}, {{"aclrtCmoAsync", [] { return operate(&g_local, 0, nullptr); },
                                        [] { return operate(nullptr, 0, nullptr); }, true}});
}

TEST(CmoProducts, V357_BeforeTheStreamIsLookedAt) {
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    on_product(product, [] { EXPECT_EQ(operate(&g_local, 9, &g_local), kUnsupported); });
  }
}

TEST(CmoProducts, V373_V375_V378_Descriptors_OnlyOn950A3A2_BeforeAnythingElseIsLookedAt) {
  for (const std::string& product : kProducts) {
    const bool has_it = product == "950" || product == "A3" || product == "A2";
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      SCOPED_TRACE(product);
      std::size_t size = 77;
      EXPECT_EQ(aclrtCmoGetDescSize(nullptr), has_it ? kBadValue : kUnsupported);
      EXPECT_EQ(aclrtCmoGetDescSize(&size), has_it ? ACL_SUCCESS : kUnsupported);
      EXPECT_EQ(size, !has_it ? 77U : product == "950" ? 64U : 32U) << "V-374";
      EXPECT_EQ(aclrtCmoSetDesc(nullptr, &g_local, 4), has_it ? kBadValue : kUnsupported);
      EXPECT_EQ(aclrtCmoSetDesc(&g_local, &g_local, 4), has_it ? kNoContext : kUnsupported);
      EXPECT_EQ(with_descriptor(&g_local, 0, nullptr, &g_local), kBadValue) << "reserve comes first";
      EXPECT_EQ(with_descriptor(nullptr, 9, &g_local), has_it ? kStale : kUnsupported);
      EXPECT_EQ(with_descriptor(nullptr, 0, nullptr), has_it ? kBadValue : kUnsupported);
      last_error();
      if (has_it) return;
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtCmoSetDesc(&g_local, &g_local, 4), kUnsupported);
      EXPECT_EQ(with_descriptor(&g_local, 0, nullptr), kUnsupported);
      EXPECT_EQ(last_error(), ACL_SUCCESS) << "a missing function is no last error";
    });
  }
}

// What aclrtCmoSetDesc writes, by V-7.
Bytes descriptor_of(const std::string& product, const void* source, std::uint32_t length) {
  Bytes bytes(product == "950" ? 64 : 32);
  const std::uint64_t address = number(source);
  std::memcpy(&bytes[product == "950" ? 32 : 16], &address, 8);
  std::memcpy(&bytes[product == "950" ? 48 : 12], &length, 4);
  return bytes;
}

TEST(CmoProducts, V376_V7_V380_V381_TheDescriptorOfEachProduct) {
  for (const char* product : {"950", "A3", "A2"}) {
    on_product(product, [&] {
      const Device block{4096};
      write_to(block.get(), pattern(128, 5));
      EXPECT_EQ(aclrtCmoSetDesc(block.get(), block.get(1024), 0x700000123), ACL_SUCCESS);
      Bytes expected = pattern(128, 5);
      const Bytes made = descriptor_of(product, block.get(1024), 0x123);
      std::copy(made.begin(), made.end(), expected.begin());
      EXPECT_EQ(read_from(block.get(), 128), expected) << product;
      Stream stream;
      EXPECT_EQ(with_descriptor(block.get(), ACL_RT_CMO_TYPE_FLUSH, stream), ACL_SUCCESS) << product;
      EXPECT_EQ(finish(stream), ACL_SUCCESS) << product;
      const Bytes after = read_from(block.get(), 128);
      const std::size_t may_change = std::string{product} == "950" ? 0 : 8;
      for (std::size_t i = may_change; i < 128; ++i)
        EXPECT_EQ(after[i], expected[i]) << product << " at " << i;
    });
  }
}

}  // namespace cmo_products_test
