// Every error name: its number and the form it is declared in.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "acl/acl.h"
#include "pin.h"

// Inside the table macros below, #name is the name as written and TEXT_OF(name)
// is what it expands to: they differ for a macro and agree for a constant.
#define TEXT_OF(x) #x

namespace {

TEST(ErrorCodes, R263_EveryNameHasItsNumber) {
#define ACL_CODE(name, number) PIN(name, number);
#define RT_CODE(name, number) PIN(name, number);
#define GE_CODE(name, number) PIN(name, number);
#include "error_codes.inc"
#undef ACL_CODE
#undef RT_CODE
#undef GE_CODE
}

TEST(ErrorCodes, R263_TheTableIsComplete) {
  int acl = 0;
  int rt = 0;
  int ge = 0;
#define ACL_CODE(name, number) ++acl;
#define RT_CODE(name, number) ++rt;
#define GE_CODE(name, number) ++ge;
#include "error_codes.inc"
#undef ACL_CODE
#undef RT_CODE
#undef GE_CODE
  EXPECT_EQ(acl, 2 + 69);  // two names of zero
  EXPECT_EQ(rt, 1 + 144);  // one name of zero
  EXPECT_EQ(ge, 38);
}

TEST(ErrorCodes, R4_AclLayerNamesAreConstInt) {
#define ACL_CODE(name, number)                                     \
  static_assert(std::is_same_v<decltype(name), const int>, #name); \
  EXPECT_EQ(std::string_view(TEXT_OF(name)), #name);
#define RT_CODE(name, number)
#define GE_CODE(name, number)
#include "error_codes.inc"
#undef ACL_CODE
#undef RT_CODE
#undef GE_CODE
}

TEST(ErrorCodes, R4_RuntimeLayerNamesAreMacros) {
#define ACL_CODE(name, number)
#define RT_CODE(name, number)                                \
  static_assert(std::is_same_v<decltype(name), int>, #name); \
  EXPECT_NE(std::string_view(TEXT_OF(name)), #name);         \
  EXPECT_EQ(std::string_view(TEXT_OF(name)), #number) << #name;
#define GE_CODE(name, number)
#include "error_codes.inc"
#undef ACL_CODE
#undef RT_CODE
#undef GE_CODE
}

TEST(ErrorCodes, R4_GraphEngineNamesAreConstUint32) {
#define ACL_CODE(name, number)
#define RT_CODE(name, number)
#define GE_CODE(name, number)                                           \
  static_assert(std::is_same_v<decltype(name), const uint32_t>, #name); \
  EXPECT_EQ(std::string_view(TEXT_OF(name)), #name);
#include "error_codes.inc"
#undef ACL_CODE
#undef RT_CODE
#undef GE_CODE
}

#if !defined(ACL_ERROR_RT_CONTEXT_NULL) || ACL_ERROR_RT_CONTEXT_NULL != 107002
#error "runtime-layer names must work in preprocessor conditions"
#endif

const char* kind_of(aclError error) {
  switch (error) {
    case ACL_RT_SUCCESS:
      return "success";
    case ACL_ERROR_RT_PARAM_INVALID:
      return "argument";
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      return "memory";
    case ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
      return "registered";
    default:
      return "other";
  }
}

TEST(ErrorCodes, R4_RuntimeLayerNamesWorkAsCaseLabels) {
  EXPECT_STREQ(kind_of(0), "success");
  EXPECT_STREQ(kind_of(107000), "argument");
  EXPECT_STREQ(kind_of(207001), "memory");
  EXPECT_STREQ(kind_of(507910), "registered");
  EXPECT_STREQ(kind_of(100000), "other");
}

TEST(ErrorCodes, R264_SecondNamesMeanTheFirst) {
  PIN(ACL_ERROR_RT_DEVIDE_OOM, 207018);
  PIN(ACL_ERROR_RT_DEVICE_OOM, 207018);
  PIN(ACL_ERROR_GE_DEVICE_MEMORY_ALLOCATION_FAILED, 245002);
  PIN(ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED, 245002);
}

}  // namespace
