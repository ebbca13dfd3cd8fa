// Functions that every CANN has had and belay does not run: there, and answered.
#include <functional>
#include <type_traits>

#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_dvpp.h"
#include "support/blocks.h"
#include "support/settings.h"

namespace absent_test {

using namespace belay_test;

struct Row {
  const char* name;
  std::function<bool()> answers_as_it_should;  // called with zeros for everything
};
template <class Result, class... Arguments, class... Answer>
Row row(const char* name, Result (*function)(Arguments...), Answer... answer) {
  return {name, [=] {
            if constexpr (std::is_void_v<Result>) {
              function(Arguments{}...);
              return true;
            } else if constexpr (std::is_same_v<Result, aclError>) {
              return function(Arguments{}...) == kUnsupported;
            } else if constexpr (sizeof...(Answer) == 0) {
              return function(Arguments{}...) == Result{};
            } else {
              return (... && (function(Arguments{}...) == answer));
            }
          }};
}
const Row kAll[] = {
#define ABSENT(name, ...) row(#name, &name __VA_OPT__(, ) __VA_ARGS__),
#include "absent_names.inc"
#undef ABSENT
};

TEST(Absent, C22_EachAnswers207000_Or_Null_OrNothing_AndLeavesAMessage) {
  EXPECT_GT(std::size(kAll), 400U);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  (void)aclGetRecentErrMsg();
  for (const Row& row : kAll) {
    EXPECT_TRUE(row.answers_as_it_should()) << row.name;
    const std::string message = recent_message();
    EXPECT_TRUE(mentions(message, row.name) && mentions(message, "C-22")) << row.name << ": " << message;
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS) << "not supported is not remembered";
}

TEST(Absent, C22_WhereTheReferenceHasAWordForUndefined_ItIsThat) {
  EXPECT_EQ(aclGetTensorDescType(nullptr), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescFormat(nullptr), ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescDim(nullptr, 0), -1);
  EXPECT_EQ(aclmdlGetInputDataType(nullptr, 0), ACL_DT_UNDEFINED);
  EXPECT_EQ(acltdtGetTensorTypeFromItem(nullptr), ACL_TENSOR_DATA_UNDEFINED);
  EXPECT_EQ(aclmdlGetNumInputs(nullptr), 0U);
}

// The memory part of a program runs, and a person is told once, whatever the program prints.
TEST(Absent, C22_C25_OneLineSaysWhatIsMissing_AndMemoryWorks) {
  const Ending ending = run_captured({{"BELAY_LEAKS", "off"}}, [] {
    std::uint32_t model = 77;
    void* block = nullptr;
    bool well = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS;
    for (int i = 0; i < 3; ++i)
      well = well && aclmdlLoadFromFile("model.om", &model) == kUnsupported && model == 77;
    well = well && aclopCreateAttr() == nullptr && acldvppCreateChannelDesc() == nullptr;
    well = well && aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
    well = well && aclrtMemset(block, 4096, 1, 4096) == ACL_SUCCESS && aclrtFree(block) == ACL_SUCCESS;
    ::_exit(well ? 0 : 1);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(std::ranges::count(ending.err, '\n'), 1) << ending.err;
  EXPECT_TRUE(mentions(ending.err, "aclmdlLoadFromFile")) << ending.err;
  EXPECT_TRUE(mentions(ending.err, "belay runs no models, operators or media processing")) << ending.err;
  EXPECT_EQ(ending.out, "");
}

}  // namespace absent_test
