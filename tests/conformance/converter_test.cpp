// Sizes of data types, and half precision against a reference written down here.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/slices.h"

namespace converter_test {

using belay_test::as_enum;

TEST(Converter, R235_DataTypeSizes) {
  const std::map<aclDataType, std::size_t> sizes = {
      {ACL_DT_UNDEFINED, 0}, {ACL_STRING, 0},        {ACL_INT8, 1},        {ACL_UINT8, 1},
      {ACL_BOOL, 1},         {ACL_INT4, 1},          {ACL_UINT1, 1},       {ACL_HIFLOAT8, 1},
      {ACL_FLOAT8_E5M2, 1},  {ACL_FLOAT8_E4M3FN, 1}, {ACL_FLOAT8_E8M0, 1}, {ACL_FLOAT16, 2},
      {ACL_INT16, 2},        {ACL_UINT16, 2},        {ACL_BF16, 2},        {ACL_FLOAT, 4},
      {ACL_INT32, 4},        {ACL_UINT32, 4},        {ACL_COMPLEX32, 4},   {ACL_INT64, 8},
      {ACL_UINT64, 8},       {ACL_DOUBLE, 8},        {ACL_COMPLEX64, 8},   {ACL_FLOAT6_E3M2, 8},
      {ACL_FLOAT6_E2M3, 8},  {ACL_FLOAT4_E2M1, 8},   {ACL_FLOAT4_E1M2, 8}, {ACL_COMPLEX128, 16}};
  for (const auto& [type, size] : sizes) EXPECT_EQ(aclDataTypeSize(type), size) << type;
}

TEST(Converter, R235_UnknownTypesHave8Bytes) {
  for (const int number : {5, 14, 15, 18, 26, 28, 31, 32, 42, 100, 65536, -2, -100}) {
    EXPECT_EQ(aclDataTypeSize(as_enum<aclDataType>(number)), 8U) << number;
  }
}

// The value of a finite half, from its definition.
double half_value(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

TEST(Converter, R236_EveryHalfToFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const float value = aclFloat16ToFloat(half);
    const bool special = (bits & 0x7C00) == 0x7C00, fraction = (bits & 0x3FF) != 0;
    if (special && fraction) {
      ASSERT_EQ(std::fabs(value), 98304.0F) << "NaN " << bits;
    } else if (special) {
      ASSERT_EQ(value, (bits & 0x8000) != 0 ? -65536.0F : 65536.0F) << "infinity " << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), half_value(half)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
  }
  EXPECT_EQ(aclFloat16ToFloat(0x7E00), 98304.0F);
}

TEST(Converter, R236_EveryFiniteHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7C00) == 0x7C00) continue;
    const auto half = static_cast<aclFloat16>(bits);
    ASSERT_EQ(aclFloatToFloat16(aclFloat16ToFloat(half)), half) << bits;
  }
}

// Between two neighbours: the nearer one, and exactly half-way the even one. All numbers are exact as float.
TEST(Converter, R236_EveryMiddleRoundsToEven) {
  for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    const auto middle = static_cast<float>((half_value(low) + half_value(high)) / 2);
    const float infinity = std::numeric_limits<float>::infinity();
    const std::uint16_t even = (low & 1) == 0 ? low : high;
    for (const bool negative : {false, true}) {
      const float sign = negative ? -1.0F : 1.0F;
      const auto with_sign = [negative](std::uint16_t half) {
        return static_cast<std::uint16_t>(negative ? half | 0x8000 : half);
      };
      ASSERT_EQ(aclFloatToFloat16(sign * middle), with_sign(even)) << bits;
      ASSERT_EQ(aclFloatToFloat16(sign * std::nextafter(middle, -infinity)), with_sign(low)) << bits;
      ASSERT_EQ(aclFloatToFloat16(sign * std::nextafter(middle, infinity)), with_sign(high)) << bits;
    }
  }
}

TEST(Converter, R236_TooLargeSaturates) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {65504.0F, 65505.0F, 65519.0F, 65520.0F, 65535.0F, 65536.0F, 98304.0F, 1e6F, 3e38F,
                            infinity, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(aclFloatToFloat16(value), 0x7BFF) << value;
    EXPECT_EQ(aclFloatToFloat16(-value), 0xFBFF) << -value;
  }
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::quiet_NaN()), 0x7BFF);
  EXPECT_EQ(aclFloatToFloat16(std::bit_cast<float>(0x7F800001U)), 0x7BFF) << "a NaN with another fraction";
  EXPECT_EQ(aclFloatToFloat16(std::bit_cast<float>(0x7FFFFFFFU)), 0x7BFF);
}

TEST(Converter, R236_TooSmallBecomesZero) {
  EXPECT_EQ(aclFloatToFloat16(0.0F), 0x0000);
  EXPECT_EQ(aclFloatToFloat16(-0.0F), 0x8000);
  const float smallest = std::ldexp(1.0F, -24);
  EXPECT_EQ(aclFloatToFloat16(smallest), 0x0001);
  EXPECT_EQ(aclFloatToFloat16(smallest / 2), 0x0000) << "half-way, and 0 is even";
  EXPECT_EQ(aclFloatToFloat16(std::nextafter(smallest / 2, 1.0F)), 0x0001);
  EXPECT_EQ(aclFloatToFloat16(smallest * 1.5F), 0x0002);
  for (const float tiny : {1e-10F, 1e-38F, std::numeric_limits<float>::denorm_min()}) {
    EXPECT_EQ(aclFloatToFloat16(tiny), 0x0000);
    EXPECT_EQ(aclFloatToFloat16(-tiny), 0x8000);
  }
}

// A long walk through all exponents; the reference picks the nearest of the finite halves.
TEST(Converter, R236_AWalkThroughTheFloats) {
  auto bits = static_cast<std::uint32_t>(belay_test::test_seed());
  for (int i = 0, steps = belay_test::slice(200000, 20000000); i < steps; ++i) {
    bits = bits * 1664525U + 1013904223U;
    const auto value = std::bit_cast<float>(bits & 0x7FFFFFFFU);
    if (std::isnan(value)) continue;
    const std::uint16_t half = aclFloatToFloat16(value);
    ASSERT_LE(half, 0x7BFF) << value;
    const double error = std::fabs(half_value(half) - static_cast<double>(value));
    if (half > 0) {
      const double below =
          std::fabs(half_value(static_cast<std::uint16_t>(half - 1)) - static_cast<double>(value));
      ASSERT_LE(error, below) << value;
    }
    if (half < 0x7BFF) {
      const double above =
          std::fabs(half_value(static_cast<std::uint16_t>(half + 1)) - static_cast<double>(value));
      ASSERT_LE(error, above) << value;
    }
  }
}

}  // namespace converter_test
