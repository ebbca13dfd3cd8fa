// For which SoC a program may have been built (aclrtCheckArchCompatibility).
#include <map>
#include <string>

#include "support/products.h"
#include "support/refusals.h"
#include "support/settings.h"

namespace architecture_test {

using namespace belay_test;

constexpr const char* kApi = "aclrtCheckArchCompatibility";

// A SoC of each architecture, and the products that have it.
const std::map<std::string, std::set<std::string>> kTaken = {
    {"Ascend910B3", {"A2", "A3"}},
    {"Ascend910B1", {"A2", "A3"}},
    {"Ascend910_9391", {"A2", "A3"}},
    {"Ascend950PR_9599", {"950"}},
    {"Ascend950DT_9591", {"950"}},
    {"Ascend310P3", {"310P"}},
    {"Ascend310P1", {"310P"}},
    {"Ascend310B4", {"310B"}},
    {"Ascend910A", {"910"}},
    {"Ascend910", {"910"}},
    {"IPV350", {}},
    {"Ascend910B", {"A2", "A3"}},
    {"Ascend910_93", {"A2", "A3"}},
    {"Ascend310P", {"310P"}},
    {"ascend910b3", {"A2", "A3"}},
};

std::int32_t answered(const char* soc) {
  std::int32_t answer = 77;
  EXPECT_EQ(aclrtCheckArchCompatibility(soc, &answer), ACL_SUCCESS) << soc;
  return answer;
}

void on_each_product(const std::function<void(const std::string&)>& body) {
  for (const std::string& product : kProducts) {
    if (product == "IPV350") continue;
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      SCOPED_TRACE(product);
      body(product);
    });
  }
}

TEST(Architecture, R273_EveryProductTakesItsOwn) {
  on_each_product([](const std::string& product) {
    for (const auto& [soc, takers] : kTaken) {
      EXPECT_EQ(answered(soc.c_str()), takers.count(product) != 0 ? 1 : 0) << soc;
    }
    EXPECT_EQ(answered(aclrtGetSocName()), 1);
    EXPECT_EQ(last_error(), ACL_SUCCESS) << "no context is needed";
  });
}

TEST(Architecture, R273_NamesThatAreNone) {
  on_each_product([](const std::string&) {
    for (const std::string name :
         {"", " ", "Ascend", "Ascend910B33", "Ascend910B3 ", " Ascend910B3", "A2", "%s", "Ascend310"}) {
      std::int32_t answer = 77;
      EXPECT_EQ(aclrtCheckArchCompatibility(name.c_str(), &answer), kBadValue) << name;
      EXPECT_EQ(last_error(), kBadValue);
      EXPECT_TRUE(mentions(recent_message(), "'" + name + "'")) << name;
      EXPECT_EQ(answer, 77);
    }
    std::int32_t answer = 77;
    expect_stored(aclrtCheckArchCompatibility(std::string(100000, 'x').c_str(), &answer), kBadValue, kApi);
    expect_stored(aclrtCheckArchCompatibility(nullptr, &answer), kBadValue, kApi);
    expect_stored(aclrtCheckArchCompatibility("Ascend910B3", nullptr), kBadValue, kApi);
    expect_stored(aclrtCheckArchCompatibility("", nullptr), kBadValue, kApi);
    expect_stored(aclrtCheckArchCompatibility(nullptr, nullptr), kBadValue, kApi);
    EXPECT_EQ(answer, 77);
  });
}

TEST(Architecture, R273_R266_MissingOnIpv) {
  static std::int32_t answer = 0;
  expect_all_but_ipv({{kApi, [] { return aclrtCheckArchCompatibility("Ascend910B3", &answer); }, {}},
                      {"of nothing", [] { return aclrtCheckArchCompatibility(nullptr, nullptr); }, {}}});
}

}  // namespace architecture_test
