// aclrtMemcpy2d by product.
#include <limits>

#include "support/blocks.h"
#include "support/settings.h"

namespace memcpy2d_products_test {

using namespace belay_test;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr auto kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kInside = ACL_MEMCPY_DEVICE_TO_DEVICE, kByAddress = ACL_MEMCPY_DEFAULT;
constexpr std::size_t kMostRows = 5242880, kMostWidth = 5000000;

void check_product(const Settings& settings, bool has_it) {
  in_fresh_process(settings, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Device device{64};
    const Bytes host = pattern(64, 2);
    ASSERT_EQ(aclrtMemset(device.get(), 64, 0, 64), ACL_SUCCESS);
    const int answer = has_it ? ACL_SUCCESS : kUnsupported;
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 16, host.data(), 16, 16, 4, kUp), answer) << settings[0].second;
    EXPECT_EQ(read_from(device.get(), 64), has_it ? host : Bytes(64));
    EXPECT_EQ(aclrtMemcpy2d(device.get(), 8, host.data(), 16, 16, 4, kUp), kBadArgument)
        << "outer checks first";
    EXPECT_EQ(aclrtMemcpy2d(nullptr, 8, nullptr, 8, 0, 4, kUp), ACL_SUCCESS);
    without_context(
        [&] { EXPECT_EQ(aclrtMemcpy2d(device.get(), 16, host.data(), 16, 16, 4, kUp), kNoContext); });
  });
}

TEST(Memcpy2dProducts, M321_WhereItIsMissing_Is207000) {
  check_product({{"BELAY_PRODUCT", "IPV350"}}, false);
  check_product({{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "OPEN_CTRL_CPU"}}, false);
  check_product({{"BELAY_PRODUCT", "310B"}, {"BELAY_FORM", "RC"}}, false);
}

TEST(Memcpy2dProducts, M321_ElsewhereItWorks) {
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910"})
    check_product({{"BELAY_PRODUCT", product}}, true);
}

}  // namespace memcpy2d_products_test
