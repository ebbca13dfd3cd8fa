#include "config/amounts.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "base/words.h"

namespace belay {
namespace amounts_test {

TEST(Amounts, AreReadAsPeopleWriteThem) {
  using config::parse_amount;
  EXPECT_EQ(parse_amount("0"), 0U);
  EXPECT_EQ(parse_amount("4096"), 4096U);
  EXPECT_EQ(parse_amount("64K"), 64_KiB);
  EXPECT_EQ(parse_amount("64kb"), 64_KiB);
  EXPECT_EQ(parse_amount("4G"), 4_GiB);
  EXPECT_EQ(parse_amount("4GiB"), 4_GiB);
  EXPECT_EQ(parse_amount("16777215T"), 16777215 * 1_TiB);
  for (const char* wrong :
       {"", "G", "-1", "4X", "4 G", "1.5G", "4GG", "16777216T", "18446744073709551616", "0x10"}) {
    EXPECT_EQ(parse_amount(wrong), std::nullopt) << wrong;
  }
}

TEST(Amounts, AreSaidInTheLargestUnitThatFits) {
  EXPECT_EQ(amount(0), "0 bytes");
  EXPECT_EQ(amount(1), "1 byte");
  EXPECT_EQ(amount(1023), "1023 bytes");
  EXPECT_EQ(amount(4_KiB), "4 KB");
  EXPECT_EQ(amount(2_MiB), "2 MB");
  EXPECT_EQ(amount(1_MiB + 4_KiB), "1.00 MB");
  EXPECT_EQ(amount(1_TiB), "1 TB");
  EXPECT_EQ(amount(1_GiB - 1), "1.00 GB");
  EXPECT_EQ(amount(1_GiB - 5_KiB), "1.00 GB") << "not 1024.00 MB";
  EXPECT_EQ(amount(1_GiB - 20_KiB), "1023.98 MB");
}

TEST(Sizes, M33_AlignUpFollowsItsFormula_AndNeverWraps) {
  for (const std::size_t k : {32U, 64U, 128U, 4096U}) {
    for (std::size_t len = 1; len < 10000; ++len) ASSERT_EQ(round_up(len, k), ((len - 1) / k + 1) * k);
  }
  EXPECT_EQ(round_up(SIZE_MAX - 31, 32), SIZE_MAX - 31);
  EXPECT_EQ(round_up(SIZE_MAX - 30, 32), std::nullopt);
  EXPECT_EQ(add(SIZE_MAX, 0), SIZE_MAX);
  EXPECT_EQ(add(SIZE_MAX, 1), std::nullopt);
}

}  // namespace amounts_test
}  // namespace belay
