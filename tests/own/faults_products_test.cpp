// Which products can say what is damaged.
#include "support/products.h"

namespace faults_products_test {

using namespace belay_test;

aclrtMemUceInfo place{};
aclrtErrorInfo info{};
std::size_t count = 0;

TEST(FaultsProducts, R270_R271_R272_On950A3A2) {
  expect_only_on(
      {"950", "A3", "A2"},
      {
          {"aclrtGetMemUceInfo", [] { return aclrtGetMemUceInfo(0, &place, 1, &count); },
           [] { return aclrtGetMemUceInfo(0, nullptr, 1, &count); }},
          {"aclrtGetMemUceInfo of no device", [] { return aclrtGetMemUceInfo(-1, &place, 1, &count); },
           [] { return aclrtGetMemUceInfo(0, &place, 1, nullptr); }},
          {"aclrtMemUceRepair", [] { return aclrtMemUceRepair(0, &place, 1); },
           [] { return aclrtMemUceRepair(0, nullptr, 1); }},
          {"aclrtMemUceRepair of no device", [] { return aclrtMemUceRepair(-1, &place, 1); },
           [] { return aclrtMemUceRepair(0, &place, 21); }},
          {"aclrtGetErrorVerbose", [] { return aclrtGetErrorVerbose(0, &info); },
           [] { return aclrtGetErrorVerbose(0, nullptr); }},
          {"aclrtGetErrorVerbose of no device", [] { return aclrtGetErrorVerbose(-1, &info); }, {}},
          {"aclrtRepairError", [] { return aclrtRepairError(0, &info); },
           [] { return aclrtRepairError(0, nullptr); }},
          {"aclrtRepairError of no device", [] { return aclrtRepairError(-1, &info); }, {}},
      });
}

}  // namespace faults_products_test
