// The typed C++ overloads where host and device are one machine.
#include "acl/acl_rt_api.h"

#include "support/blocks.h"
#include "support/settings.h"

namespace cxx_overloads_forms_test {

using namespace belay_test;

// In the RC form the label shows: 7 for the function with a configuration, 33 for the one without.
TEST(CxxOverloadsForms, M414_TypedMallocHost_IsLabelledAsTheRuntime) {
  in_fresh_process({{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "RC"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    char* typed = nullptr;
    ASSERT_EQ(aclrtMallocHost(&typed, 4096), ACL_SUCCESS);
    aclrtMemUsageInfo entries[8]{};
    std::size_t count = 0;
    ASSERT_EQ(aclrtGetMemUsageInfo(0, entries, 8, &count), ACL_SUCCESS);
    ASSERT_GE(count, 1U);
    EXPECT_STREQ(entries[0].name, "RUNTIME");
    EXPECT_EQ(entries[0].curMemSize, 4096U);
    EXPECT_EQ(aclrtFreeHost(typed), ACL_SUCCESS);
  });
}

}  // namespace cxx_overloads_forms_test
