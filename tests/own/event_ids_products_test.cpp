// How many numbers for events each product has.
#include "support/answers.h"
#include "support/event_numbers.h"
#include "support/settings.h"

namespace event_ids_products_test {

using namespace belay_test;

TEST(EventIdsProducts, R160_R187_Limits) {
  const std::vector<std::pair<std::string, std::uint32_t>> products = {
      {"950", 65536}, {"A3", 65536}, {"A2", 65536}, {"310P", 1023}, {"910", 65535}};
  for (const auto& [product, limit] : products) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product = product, limit = limit] {
      SCOPED_TRACE(product);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(events_left(), limit);
      {
        const TakenEvents all{0};
        EXPECT_EQ(all.events().size(), limit);
        aclrtEvent event = nullptr;
        EXPECT_EQ(::aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), kNoEvents);
        for (const aclrtEvent taken : {all.events().front(), all.events().back()})
          EXPECT_LT(event_id(taken), limit);
      }
      EXPECT_EQ(events_left(), limit);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

}  // namespace event_ids_products_test
