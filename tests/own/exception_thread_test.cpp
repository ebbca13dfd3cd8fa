// What a function that hears of a failed task finds on its thread, whoever ran the task.
#include "support/contexts.h"
#include "support/gates.h"
#include "support/settings.h"

namespace exception_thread_test {

using namespace belay_test;

struct Found {
  aclrtContext context = nullptr;
  int last_error = -1, allocated = -1, refused = -1;
  std::thread::id thread;
};
std::vector<Found> found;

void look_around(aclrtExceptionInfo*) {
  Found one;
  one.last_error = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtGetCurrentContext(&one.context), ACL_SUCCESS);
  void* block = nullptr;
  one.allocated = ::aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  one.refused = aclrtFree(block);
  one.thread = std::this_thread::get_id();
  found.push_back(one);
}

TEST(ExceptionThread, R201_R226_R228_TheStreamsContext_NoLastError_NotTheProgramsThread) {
  for (const char* const schedule : {"eager", "fifo", "lazy", "seed:3"}) {
    SCOPED_TRACE(schedule);
    in_fresh_process({{"BELAY_SCHEDULE", schedule}}, [] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetExceptionInfoCallback(look_around), ACL_SUCCESS);
      for (const bool own_context : {false, true}) {
        const std::unique_ptr<OwnContext> context{own_context ? new OwnContext : nullptr};
        const aclrtContext expected = current_context();
        for (int round = 0; round < 20; ++round) {
          const Failing failing;
          const Stream stream;
          // A last error of the program's own; and it keeps it.
          int no_block = 0;
          EXPECT_EQ(aclrtFree(&no_block), ACL_ERROR_RT_PARAM_INVALID);
          found.clear();
          failing.queue(stream.get());
          EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
          ASSERT_EQ(found.size(), 1U);
          EXPECT_EQ(found[0].context, expected);
          EXPECT_EQ(found[0].last_error, ACL_SUCCESS);
          EXPECT_EQ(found[0].allocated, ACL_SUCCESS);
          EXPECT_EQ(found[0].refused, ACL_ERROR_RT_PARAM_INVALID);
          EXPECT_NE(found[0].thread, std::this_thread::get_id());
          EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kRefused) << "of the program's own call";
          EXPECT_EQ(current_context(), expected);
        }
      }
      EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

}  // namespace exception_thread_test
