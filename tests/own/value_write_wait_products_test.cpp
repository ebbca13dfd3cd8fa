// aclrtValueWrite and aclrtValueWait on each product.
#include <cstring>

#include "support/mistakes.h"
#include "support/settings.h"

namespace value_write_wait_products_test {

using namespace belay_test;

std::uint64_t word_at(const void* place) {
  std::uint64_t word = 0;
  EXPECT_EQ(aclrtMemcpy(&word, 8, place, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return word;
}

void put_word(void* place, std::uint64_t word) {
  EXPECT_EQ(aclrtMemcpy(place, 8, &word, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

TEST(ValueWordProducts, P9_P32_OnlyOn950A3A2_Elsewhere207000WithoutALastError) {
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const std::string name = product;
      const bool has_it = name == "950" || name == "A3" || name == "A2";
      Device block{64};
      put_word(block.get(), 1);
      const int answer = has_it ? ACL_SUCCESS : kUnsupported;
      EXPECT_EQ(aclrtValueWrite(block.get(), 2, 0, nullptr), answer) << product;
      EXPECT_EQ(aclrtValueWait(block.get(), 2, 1, nullptr), answer) << product;
      EXPECT_EQ(last_error(), ACL_SUCCESS) << product;
      EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << product;
      EXPECT_EQ(word_at(block.get()), has_it ? 2U : 1U) << product;
      EXPECT_EQ(aclrtValueWrite(nullptr, 2, 0, nullptr), kBadArgument) << product;
      if (has_it) return;
      int garbage = 0;
      EXPECT_EQ(aclrtValueWrite(block.get(), 2, 7, &garbage), kUnsupported)
          << product << ": P-33, P-34 later";
      EXPECT_EQ(aclrtValueWait(block.get(), 2, 7, &garbage), kUnsupported) << product;
      without_context(
          [&] { EXPECT_EQ(aclrtValueWrite(block.get(), 2, 0, nullptr), kUnsupported) << product; });
    });
  }
}

}  // namespace value_write_wait_products_test
