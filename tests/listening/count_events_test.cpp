// What is told of count notifies.
#include "api/door.h"
#include "support/count_notifies.h"
#include "support/recorder.h"

namespace count_events_test {

using namespace belay_test;
using belay::observe::Object;
using belay::observe::Operation;
using belay::observe::What;

std::uint64_t number(const void* handle) { return reinterpret_cast<std::uint64_t>(handle); }

void expect_queued(const std::vector<Heard>& all, What what, Operation operation, const void* notify,
                   std::uint64_t value, std::uint32_t flag) {
  const std::vector<Heard> some = only(all, belay::observe::bit(what));
  ASSERT_EQ(some.size(), 1U);
  EXPECT_EQ(some[0].event.operation, operation);
  EXPECT_EQ(some[0].details.object, number(notify));
  EXPECT_EQ(some[0].details.value, value);
  EXPECT_EQ(some[0].details.flag, flag);
  EXPECT_EQ(some[0].details.record, 0U) << "several records may have made it";
  EXPECT_TRUE(some[0].touches.empty());
}

TEST(CountEvents, R277_R278_MadeAndEnded) {
  on_product("950", [] {
    Recorder recorder;
    belay::running().memory().listeners_changed();
    aclrtCntNotify notify = nullptr;
    ASSERT_EQ(aclrtCntNotifyCreate(&notify, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCntNotifyDestroy(notify), ACL_SUCCESS);
    const std::vector<Heard> all = recorder.take();
    ASSERT_EQ(all.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(all[i].event.what, i == 0 ? What::Created : What::Destroyed);
      EXPECT_EQ(all[i].event.object, Object::CountNotify);
      EXPECT_EQ(all[i].event.serial, number(notify));
    }
    EXPECT_STREQ(all[0].event.function_name(), "aclrtCntNotifyCreate");
  });
}

TEST(CountEvents, R279_R280_ARecordIsDoneBeforeTheWaitThatItEnds) {
  on_product("950", [] {
    const Stream waits, records;
    const CountNotify notify;
    Recorder recorder;
    belay::running().memory().listeners_changed();
    await(notify, waits, kBiggerOrEqual, 5, true);
    record(notify, records, kAdd, 7);
    ASSERT_EQ(finish(waits), ACL_SUCCESS);
    ASSERT_EQ(finish(records), ACL_SUCCESS);
    const std::vector<Heard> done = only(recorder.take(), belay::observe::bit(What::Done));
    ASSERT_EQ(done.size(), 2U);
    EXPECT_EQ(done[0].event.operation, Operation::ChangeCount);
    EXPECT_EQ(done[1].event.operation, Operation::WaitCount);
  });
}

TEST(CountEvents, R279_R280_EachRecordAndWaitOnce) {
  on_product("950", [] {
    const Stream stream;
    const CountNotify notify;
    Recorder recorder;
    belay::running().memory().listeners_changed();
    record(notify, stream, kAdd, 7);
    ASSERT_EQ(finish(stream), ACL_SUCCESS);
    std::vector<Heard> all = recorder.take();
    for (const What what : {What::Submitted, What::Begun, What::Done})
      expect_queued(all, what, Operation::ChangeCount, notify, 7, kAdd);
    await(notify, stream, kBiggerOrEqual, 5, true);
    ASSERT_EQ(finish(stream), ACL_SUCCESS);
    all = recorder.take();
    for (const What what : {What::Submitted, What::Begun, What::Done})
      expect_queued(all, what, Operation::WaitCount, notify, 5, kBiggerOrEqual);
    ASSERT_EQ(aclrtCntNotifyReset(notify, stream), ACL_SUCCESS);
    ASSERT_EQ(finish(stream), ACL_SUCCESS);
    all = recorder.take();
    expect_queued(all, What::Submitted, Operation::ChangeCount, notify, 0, kSet);
    EXPECT_STREQ(only(all, belay::observe::bit(What::Submitted))[0].event.function_name(),
                 "aclrtCntNotifyReset");
    await(notify, stream, kEqual, 9);
    ASSERT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
    expect_queued(recorder.take(), What::Dropped, Operation::WaitCount, notify, 9, kEqual);
  });
}

}  // namespace count_events_test
