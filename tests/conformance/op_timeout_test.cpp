// Time limits of operators, which do nothing here, and the number of the last task of a thread.
#include "support/callbacks.h"
#include "support/gates.h"
#include "support/refusals.h"

namespace op_timeout_test {

using namespace belay_test;

class OpTimeout : public OnDevice {};

std::uint64_t interval() {
  std::uint64_t step = 0;
  EXPECT_EQ(aclrtGetOpTimeOutInterval(&step), ACL_SUCCESS);
  return step;
}

TEST_F(OpTimeout, R204_Nulls) {
  expect_not_stored(aclrtGetOpTimeOutInterval(nullptr), kBadArgument, "aclrtGetOpTimeOutInterval");
  expect_not_stored(aclrtSetOpExecuteTimeOutV2(1, nullptr), kBadArgument, "aclrtSetOpExecuteTimeOutV2");
  expect_not_stored(aclrtGetOpExecuteTimeout(nullptr), kBadArgument, "aclrtGetOpExecuteTimeout");
}

TEST_F(OpTimeout, R204_TheSetterTakesAnything_TheOneForMillisecondsIsOnNoProduct) {
  for (const std::uint32_t timeout : {0U, 1U, 254U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    EXPECT_EQ(::aclrtSetOpExecuteTimeOut(timeout), ACL_SUCCESS);
    Out<std::uint32_t> before, after;
    EXPECT_EQ(aclrtGetOpExecuteTimeout(before.get()), ACL_SUCCESS);
    EXPECT_FALSE(before.untouched());
    expect_not_stored(aclrtSetOpExecuteTimeOutWithMs(timeout ^ 7U), kUnsupported,
                      "aclrtSetOpExecuteTimeOutWithMs");
    EXPECT_EQ(aclrtGetOpExecuteTimeout(after.get()), ACL_SUCCESS);
    EXPECT_EQ(*before.get(), *after.get());
  }
}

TEST_F(OpTimeout, R204_RoundedUpToIntervals) {
  const std::uint64_t step = interval();
  ASSERT_GT(step, 0U);
  EXPECT_EQ(interval(), step) << "the same every time";
  const auto resulting = [](std::uint64_t asked) {
    std::uint64_t actual = 0xDEADBEEF;
    EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(asked, &actual), ACL_SUCCESS);
    return actual;
  };
  EXPECT_EQ(resulting(1), step);
  for (std::uint64_t count = 1; count <= 254; ++count) {
    EXPECT_EQ(resulting(count * step), count * step);
    if (step > 1) {
      EXPECT_EQ(resulting(count * step - 1), count * step);
    }
    EXPECT_EQ(resulting(count * step + 1), std::min<std::uint64_t>(count + 1, 254) * step);
  }
  for (const std::uint64_t asked :
       {255 * step, std::uint64_t{1} << 62, std::uint64_t{0} - step, ~std::uint64_t{0}}) {
    EXPECT_EQ(resulting(asked), 254 * step) << asked;
  }
}

TEST_F(OpTimeout, R204_NoContextIsNeeded) {
  without_context([] {
    std::uint64_t actual = 0;
    std::uint32_t milliseconds = 0;
    EXPECT_GT(interval(), 0U);
    EXPECT_EQ(::aclrtSetOpExecuteTimeOut(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1, &actual), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetOpExecuteTimeout(&milliseconds), ACL_SUCCESS);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    expect_not_stored(aclrtSetOpExecuteTimeOutWithMs(1), kUnsupported, "aclrtSetOpExecuteTimeOutWithMs");
  });
}

// A limit for kernels concerns no copy, wait or function of the program.
TEST_F(OpTimeout, R204_HasNoEffect) {
  std::uint64_t least = 0;
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1, &least), ACL_SUCCESS);
  Stream stream;
  NotifyGate gate;
  gate.hold(stream);
  Body body = [] { let_time_pass(std::chrono::milliseconds{kMoment}); };  // longer than the limit
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  expect_held(stream);
  gate.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(OpTimeout, R203_NullAndBeforeAnyTask) {
  expect_not_stored(aclrtGetThreadLastTaskId(nullptr), kBadArgument, "aclrtGetThreadLastTaskId");
  without_context([] {
    std::uint32_t id = 42;
    expect_not_stored(aclrtGetThreadLastTaskId(nullptr), kBadArgument, "aclrtGetThreadLastTaskId");
    EXPECT_EQ(aclrtGetThreadLastTaskId(&id), ACL_SUCCESS) << "no context is needed";
    EXPECT_EQ(id, 0xFFFFFFFF);
  });
}

std::uint32_t last_task() {
  std::uint32_t id = 0xDEADBEEF;
  EXPECT_EQ(aclrtGetThreadLastTaskId(&id), ACL_SUCCESS);
  return id;
}

TEST_F(OpTimeout, R203_EveryThreadHasItsOwn) {
  const Device block{64};
  Stream stream;
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, stream), ACL_SUCCESS);
  const std::uint32_t first = last_task();
  EXPECT_NE(first, 0xFFFFFFFF);
  EXPECT_EQ(last_task(), first) << "asking is no task";
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 2, 64, stream), ACL_SUCCESS);
  const std::uint32_t second = last_task();
  EXPECT_NE(second, first);
  without_context([&] {
    EXPECT_EQ(last_task(), 0xFFFFFFFF) << "this thread queued nothing";
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 3, 64, stream), ACL_SUCCESS);
    EXPECT_NE(last_task(), 0xFFFFFFFF);
    EXPECT_NE(last_task(), second);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(last_task(), second) << "what another thread queued is not this one's";
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(last_task(), second);
}

TEST_F(OpTimeout, R203_EventsNotifiesAndFunctionsAreTasks) {
  Stream stream;
  const Event event{Kind::plain};
  const Notify notify;
  Body body = [] {};
  std::uint32_t before = last_task();
  const auto expect_a_new_one = [&before](const char* what) {
    const std::uint32_t now = last_task();
    EXPECT_NE(now, before) << what;
    before = now;
  };
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  expect_a_new_one("aclrtRecordEvent");
  EXPECT_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
  expect_a_new_one("aclrtRecordNotify");
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  expect_a_new_one("aclrtWaitAndResetNotify");
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  expect_a_new_one("aclrtLaunchHostFunc");
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

}  // namespace op_timeout_test
