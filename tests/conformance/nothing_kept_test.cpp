// What must not linger: after a failed call, after a fork, after the main thread's objects are gone.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"
#include "support/slices.h"

namespace nothing_kept_test {

using belay_test::in_fresh_process;

TEST(NothingKept, R69_TheParentsContextHandleMeansNothingInTheChild) {
  in_fresh_process([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext of_parent = nullptr;
    ASSERT_EQ(aclrtCreateContext(&of_parent, 0), ACL_SUCCESS);
    in_fresh_process([&] {
      EXPECT_EQ(aclrtSetCurrentContext(of_parent), ACL_ERROR_RT_PARAM_INVALID);
      aclrtContext own = nullptr;
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateContext(&own, 1), ACL_SUCCESS);
      EXPECT_NE(own, of_parent);
      EXPECT_EQ(aclrtSetCurrentContext(of_parent), ACL_ERROR_RT_PARAM_INVALID);
      EXPECT_EQ(aclrtDestroyContext(of_parent), ACL_ERROR_RT_CONTEXT_NULL);
    });
  });
}

TEST(NothingKept, R31_R30_AFailedInitLeavesNoDefaultDevice) {
  const belay_test::Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"defaultDevice": {"default_device": "3"}})");
  in_fresh_process([&] {
    const auto refuses = [](const char*, std::size_t, void*) -> aclError { return 77; };
    ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, refuses, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(file.c_str()), 77);
    ASSERT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, refuses), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST(NothingKept, R27_BracketsInStringsAreNoNesting_AndDeepFilesAreRefusedWithoutACrash) {
  const belay_test::Scratch scratch;
  const std::string many(20, '[');
  const std::string harmless = scratch.write("harmless.json", R"({"text": ")" + many + R"("})");
  const std::size_t deep = 2'000'000;
  const std::string hostile =
      scratch.write("hostile.json", "[\"" + std::string(deep, ']') + "\"," + std::string(deep, '[') +
                                        std::string(deep, ']') + "]");
  in_fresh_process([&] { EXPECT_EQ(aclInit(harmless.c_str()), ACL_SUCCESS); });
  in_fresh_process([&] { EXPECT_EQ(aclInit(hostile.c_str()), ACL_ERROR_PARSE_FILE); });
}

TEST(NothingKept, M292_ABatchItemWithoutAnAddressIsRefused) {
  in_fresh_process([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    char host[64] = {};
    for (const bool source : {true, false}) {
      void* to[2] = {block, source ? block : nullptr};
      void* from[2] = {host, source ? nullptr : static_cast<void*>(host)};
      std::size_t sizes[2] = {8, 8};
      std::size_t first = 0;
      std::size_t fail = 99;
      aclrtMemcpyBatchAttr attribute{};
      attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
      attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
      EXPECT_EQ(aclrtMemcpyBatch(to, sizes, from, sizes, 2, &attribute, &first, 1, &fail),
                ACL_ERROR_RT_PARAM_INVALID);
      EXPECT_EQ(fail, 1U);
    }
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST(NothingKept, R117_R120_ContextsEndWhileOtherThreadsAskAboutThem) {
  in_fresh_process([] {
    for (int round = 0; round < belay_test::slice(200, 5000); ++round) {
      aclrtContext context = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      std::thread other{[context] {
        if (aclrtSetCurrentContext(context) != ACL_SUCCESS) return;
        aclrtStream stream = nullptr;
        std::uint32_t cores = 0;
        while (aclrtCtxGetCurrentDefaultStream(&stream) == ACL_SUCCESS &&
               aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores) == ACL_SUCCESS) {
        }
        EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
      }};
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      other.join();
    }
  });
}

}  // namespace nothing_kept_test
