// How many notifies each product has.
#include <set>

#include "support/notifies.h"
#include "support/settings.h"

namespace notify_products_test {

using namespace belay_test;

TEST(NotifyProducts, R206_Limits) {
  const std::vector<std::pair<std::string, std::set<std::size_t>>> products = {
      {"950", {65535}}, {"A3", {8192}}, {"A2", {8192}}, {"310P", {1024, 2048}}, {"910", {1024, 2048}}};
  for (const auto& [product, limits] : products) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product = product, &limits = limits] {
      SCOPED_TRACE(product);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const std::vector<aclrtNotify> all = all_notifies();
      EXPECT_EQ(limits.count(all.size()), 1U) << all.size();
      destroy_notifies(all);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

}  // namespace notify_products_test
