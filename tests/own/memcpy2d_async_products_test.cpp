// aclrtMemcpy2dAsync by product.
#include <limits>

#include "support/mistakes.h"
#include "support/settings.h"
#include "support/streams.h"

namespace memcpy2d_async_products_test {

using namespace belay_test;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr auto kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kInside = ACL_MEMCPY_DEVICE_TO_DEVICE, kByAddress = ACL_MEMCPY_DEFAULT;
constexpr std::size_t kMostRows = 5242880, kMostWidth = 5000000;

TEST(Memcpy2dAsyncProducts, M312_InsideTheDevice_On950A3A2_Elsewhere100000) {
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const std::string name = product;
      const bool allowed = name == "950" || name == "A3" || name == "A2";
      Stream stream;
      Device a{64}, b{64};
      write_to(a.get(), pattern(64, 1));
      write_to(b.get(), pattern(64, 2));
      EXPECT_EQ(::aclrtMemcpy2dAsync(b.get(), 8, a.get(), 8, 8, 8, kInside, stream.get()),
                allowed ? ACL_SUCCESS : kBadArgument)
          << product;
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      EXPECT_EQ(read_from(b.get(), 64), pattern(64, allowed ? 1 : 2)) << product;
      if (!allowed) {
        EXPECT_EQ(::aclrtMemcpy2dAsync(b.get(), 8, a.get(), 8, 8, kMostRows + 1, kInside, stream.get()),
                  kBadValue)
            << product << ": M-310 comes before";
        without_context([&] {
          EXPECT_EQ(::aclrtMemcpy2dAsync(b.get(), 8, a.get(), 8, 8, 8, kInside, stream.get()), kBadArgument)
              << product << ": before M-315";
        });
      }
    });
  }
}

TEST(Memcpy2dAsyncProducts, M321_WhereItIsMissing_Is207000) {
  for (const Settings& settings :
       {Settings{{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "OPEN_CTRL_CPU"}},
        Settings{{"BELAY_PRODUCT", "310B"}, {"BELAY_FORM", "RC"}}, Settings{{"BELAY_PRODUCT", "IPV350"}}}) {
    in_fresh_process(settings, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device device{64};
      const Bytes host = pattern(64, 2);
      write_to(device.get(), pattern(64, 1));
      EXPECT_EQ(::aclrtMemcpy2dAsync(device.get(), 16, host.data(), 16, 16, 4, kUp, nullptr), kUnsupported)
          << settings[0].second;
      EXPECT_EQ(last_error(), ACL_SUCCESS);
      EXPECT_EQ(read_from(device.get(), 64), pattern(64, 1));
      EXPECT_EQ(::aclrtMemcpy2dAsync(device.get(), 8, host.data(), 16, 16, 4, kUp, nullptr), kBadArgument);
      EXPECT_EQ(::aclrtMemcpy2dAsync(nullptr, 8, nullptr, 8, 0, 4, kUp, nullptr), ACL_SUCCESS);
    });
  }
}

}  // namespace memcpy2d_async_products_test
