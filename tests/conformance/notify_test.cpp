// Notifies: flags that one stream sets and another takes.
#include <set>

#include "support/gates.h"
#include "support/notifies.h"
#include "support/refusals.h"

namespace notify_test {

using namespace belay_test;

class NotifyFlag : public OnDevice {};

int set_now(aclrtNotify notify) {
  EXPECT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  return finish(nullptr);
}

TEST_F(NotifyFlag, R206_Creating) {
  expect_not_stored(aclrtCreateNotify(nullptr, 0), kBadArgument, "aclrtCreateNotify");
  expect_not_stored(aclrtCreateNotify(nullptr, 77), kBadArgument, "aclrtCreateNotify");
  for (const std::uint64_t flag : {ACL_NOTIFY_DEFAULT, ACL_NOTIFY_DEVICE_USE_ONLY}) {
    aclrtNotify notify = nullptr;
    EXPECT_EQ(aclrtCreateNotify(&notify, flag), ACL_SUCCESS);
    EXPECT_NE(notify, nullptr);
    EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  }
  for (const std::uint64_t flag : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32,
                                   (std::uint64_t{1} << 32) + 1, ~std::uint64_t{0}}) {
    aclrtNotify notify = sentinel();
    expect_stored(aclrtCreateNotify(&notify, flag), kBadValue, "aclrtCreateNotify");
    EXPECT_EQ(notify, sentinel());
  }
  without_context([] {
    aclrtNotify notify = sentinel();
    expect_not_stored(aclrtCreateNotify(nullptr, 0), kBadArgument, "aclrtCreateNotify");
    expect_stored(aclrtCreateNotify(&notify, 0), kNoContext, "aclrtCreateNotify");
    EXPECT_EQ(notify, sentinel());
  });
}

TEST_F(NotifyFlag, R206_R210_TheLimitOfADevice) {
  std::vector<aclrtNotify> all = all_notifies();
  EXPECT_EQ(all.size(), 8192U);
  std::set<std::uint32_t> ids;
  for (const aclrtNotify notify : all) {
    std::uint32_t id = 0xDEADBEEF;
    EXPECT_EQ(aclrtGetNotifyId(notify, &id), ACL_SUCCESS);
    EXPECT_LT(id, 8192U);
    EXPECT_TRUE(ids.insert(id).second) << "two live notifies with number " << id;
  }
  const Elsewhere other{1};
  other.enter();
  { const Notify elsewhere; }
  other.leave();
  EXPECT_EQ(aclrtDestroyNotify(all.back()), ACL_SUCCESS);
  all.pop_back();
  { const Notify again; }
  destroy_notifies(all);
}

TEST_F(NotifyFlag, R207_R210_Nulls) {
  Stream stream;
  const Notify notify;
  std::uint32_t id = 42;
  const auto check = [&] {
    expect_not_stored(aclrtDestroyNotify(nullptr), kBadArgument, "aclrtDestroyNotify");
    expect_not_stored(aclrtRecordNotify(nullptr, stream), kBadArgument, "aclrtRecordNotify");
    expect_not_stored(aclrtRecordNotify(nullptr, sentinel()), kBadArgument, "aclrtRecordNotify");
    expect_not_stored(aclrtWaitAndResetNotify(nullptr, stream, 0), kBadArgument, "aclrtWaitAndResetNotify");
    expect_not_stored(aclrtGetNotifyId(nullptr, &id), kBadArgument, "aclrtGetNotifyId");
    expect_not_stored(aclrtGetNotifyId(notify, nullptr), kBadArgument, "aclrtGetNotifyId");
    expect_not_stored(aclrtGetNotifyId(sentinel(), nullptr), kBadArgument, "aclrtGetNotifyId");
    expect_not_stored(aclrtNotifyBatchReset(nullptr, 1), kBadArgument, "aclrtNotifyBatchReset");
    expect_not_stored(aclrtNotifyBatchReset(nullptr, 0), kBadArgument, "aclrtNotifyBatchReset");
  };
  check();
  without_context(check);
  EXPECT_EQ(id, 42U);
  aclrtNotify array[1] = {notify};
  expect_stored(aclrtNotifyBatchReset(array, 0), kBadValue, "aclrtNotifyBatchReset");
}

TEST_F(NotifyFlag, R207_R10_StaleHandles) {
  Stream stream, gone_stream;
  Notify gone;
  const Notify notify;
  const Event event{Kind::plain};
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone.destroy_now());
  wrong.push_back(gone_stream.destroy_now());
  wrong.push_back(event);
  std::uint32_t id = 42;
  for (void* const handle : wrong) {
    expect_stored(aclrtRecordNotify(handle, stream), kStale, "aclrtRecordNotify");
    expect_stored(aclrtRecordNotify(handle, nullptr), kStale, "aclrtRecordNotify");
    expect_stored(aclrtRecordNotify(notify, handle), kStale, "aclrtRecordNotify");
    expect_stored(aclrtWaitAndResetNotify(handle, stream, 0), kStale, "aclrtWaitAndResetNotify");
    expect_stored(aclrtWaitAndResetNotify(notify, handle, 0), kStale, "aclrtWaitAndResetNotify");
    expect_stored(aclrtGetNotifyId(handle, &id), kStale, "aclrtGetNotifyId");
    expect_stored(aclrtDestroyNotify(handle), kStale, "aclrtDestroyNotify");
    aclrtNotify array[2] = {notify, handle};
    expect_stored(aclrtNotifyBatchReset(array, 2), kStale, "aclrtNotifyBatchReset");
  }
  EXPECT_EQ(id, 42U);
  EXPECT_TRUE(idle(stream));
}

TEST_F(NotifyFlag, R207_Contexts) {
  const Stream stream;
  const Notify notify;
  without_context([&] {
    std::uint32_t id = 42;
    aclrtNotify array[1] = {notify};
    expect_stored(aclrtRecordNotify(notify, stream), kNoContext, "aclrtRecordNotify");
    expect_stored(aclrtRecordNotify(notify, nullptr), kNoContext, "aclrtRecordNotify");
    expect_stored(aclrtWaitAndResetNotify(notify, stream, 0), kNoContext, "aclrtWaitAndResetNotify");
    expect_stored(aclrtGetNotifyId(notify, &id), kNoContext, "aclrtGetNotifyId");
    expect_stored(aclrtNotifyBatchReset(array, 1), kNoContext, "aclrtNotifyBatchReset");
    expect_stored(aclrtDestroyNotify(notify), kNoContext, "aclrtDestroyNotify");
    EXPECT_EQ(id, 42U);
  });
  const Elsewhere other, other_device{1};
  for (const Elsewhere* const elsewhere : {&other, &other_device}) {
    const aclrtStream theirs = elsewhere->stream();
    expect_stored(aclrtRecordNotify(notify, theirs), kOtherContext, "aclrtRecordNotify");
    expect_stored(aclrtWaitAndResetNotify(notify, theirs, 0), kOtherContext, "aclrtWaitAndResetNotify");
  }
}

TEST_F(NotifyFlag, R207_R13_NullIsTheDefaultStream) {
  const Notify notify;
  EventGate gate;
  gate.hold(nullptr);
  Stream waiter;
  EXPECT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
  expect_held(waiter);
  gate.open();
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, nullptr, 0), ACL_SUCCESS);
  expect_held(nullptr);
  EXPECT_EQ(aclrtRecordNotify(notify, waiter), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
}

TEST_F(NotifyFlag, R208_SetBeforeOrAfterTheWait) {
  Stream recorder, waiter;
  const Notify notify;
  EXPECT_EQ(aclrtRecordNotify(notify, recorder), ACL_SUCCESS);
  EXPECT_EQ(finish(recorder), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
  EXPECT_EQ(finish(waiter), ACL_SUCCESS) << "it was set already";
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
  expect_held(waiter);
  EXPECT_EQ(aclrtRecordNotify(notify, recorder), ACL_SUCCESS);
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
}

TEST_F(NotifyFlag, R208_TwoRecordsCountAsOne) {
  Stream recorder, waiter;
  const Notify notify;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtRecordNotify(notify, recorder), ACL_SUCCESS);
  EXPECT_EQ(finish(recorder), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
  expect_held(waiter);
  EXPECT_EQ(set_now(notify), ACL_SUCCESS);
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
}

TEST_F(NotifyFlag, R208_RecordAndWaitAreInStreamOrder) {
  Stream recorder, waiter;
  EventGate gate;
  const Device block{64};
  write_to(block.get(), Bytes(64, 0));
  const Notify notify;
  gate.hold(recorder);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, recorder), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordNotify(notify, recorder), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemcpyAsync(block.get(32), 32, block.get(), 32, ACL_MEMCPY_DEVICE_TO_DEVICE, waiter),
            ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 2, 32, waiter), ACL_SUCCESS);
  expect_held(waiter);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0));
  gate.open();
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 32), Bytes(32, 2));
  EXPECT_EQ(read_from(block.get(32), 32), Bytes(32, 1));
}

// Each record lets exactly one of them go, whichever it is.
TEST_F(NotifyFlag, R208_OneWaiterPerRecord) {
  constexpr std::size_t kStreams = 4;
  Stream streams[kStreams];
  const Notify notify;
  for (Stream& stream : streams) EXPECT_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  const auto released = [&] {
    std::size_t count = 0;
    for (Stream& stream : streams) count += idle(stream) ? 1U : 0U;
    return count;
  };
  for (std::size_t round = 1; round <= kStreams; ++round) {
    EXPECT_EQ(set_now(notify), ACL_SUCCESS);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (released() < round && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(released(), round);
    for (Stream& stream : streams) {
      if (!idle(stream)) expect_held(stream);
    }
    EXPECT_EQ(released(), round) << "the others stay";
  }
}

TEST_F(NotifyFlag, R208_OneStreamWaitsTwice) {
  Stream stream;
  const Notify notify;
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  EXPECT_EQ(set_now(notify), ACL_SUCCESS);
  expect_held(stream);
  EXPECT_EQ(set_now(notify), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(NotifyFlag, R209_AnExpiredWaitFailsItsStream) {
  Stream stream;
  const Device block{64};
  const Notify notify;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stream, 1), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 8, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kTaskTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds{1});
  EXPECT_EQ(last_error(), kTaskTimeout);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "told once (R-16)";
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 8)) << "later tasks run (R-153)";
  EXPECT_EQ(set_now(notify), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stream, 1), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "the expired wait took nothing";
}

TEST_F(NotifyFlag, R209_ForEver) {
  Stream zero, most, long_time;
  const Notify first, second, third;
  EXPECT_EQ(aclrtWaitAndResetNotify(first, zero, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(second, most, 0xFFFFFFFF), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(third, long_time, 0xFFFFFFFE), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(zero, 1300), kStreamTimeout);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(most, kMoment), kStreamTimeout);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(long_time, kMoment), kStreamTimeout);
  for (const Notify* const notify : {&first, &second, &third}) EXPECT_EQ(set_now(*notify), ACL_SUCCESS);
  for (const Stream* const stream : {&zero, &most, &long_time}) EXPECT_EQ(finish(*stream), ACL_SUCCESS);
}

TEST_F(NotifyFlag, R210_BatchResetClearsAtOnce) {
  const Notify one, two, three;
  for (const Notify* const notify : {&one, &two, &three}) EXPECT_EQ(set_now(*notify), ACL_SUCCESS);
  aclrtNotify first_two[2] = {one, two};
  EventGate gate;
  gate.hold(nullptr);
  EXPECT_EQ(aclrtNotifyBatchReset(first_two, 2), ACL_SUCCESS) << "in no stream";
  Stream stream;
  EXPECT_EQ(aclrtWaitAndResetNotify(three, stream, 0), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "not in the list";
  EXPECT_EQ(aclrtWaitAndResetNotify(one, stream, 0), ACL_SUCCESS);
  expect_held(stream);
  gate.open();
  EXPECT_EQ(set_now(one), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(two, stream, 0), ACL_SUCCESS);
  expect_held(stream);
  EXPECT_EQ(set_now(two), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtNotifyBatchReset(first_two, 1), ACL_SUCCESS) << "one that is clear";
}

TEST_F(NotifyFlag, R163_R208_BetweenContextsAndDevices) {
  const Notify notify;
  Stream waiter;
  for (const std::int32_t device : {0, 1}) {
    const Elsewhere other{device};
    EXPECT_EQ(aclrtWaitAndResetNotify(notify, waiter, 0), ACL_SUCCESS);
    expect_held(waiter);
    const aclrtStream recorder = other.stream();
    other.enter();
    EXPECT_EQ(aclrtRecordNotify(notify, recorder), ACL_SUCCESS);
    other.leave();
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
  }
}

// Two streams hand a token to and fro; each is filled by a thread of its own.
TEST_F(NotifyFlag, R208_R18_PingPong) {
  constexpr int kRounds = 200;
  Stream ping, pong;
  const Notify there, back;
  const Device word{64};
  write_to(word.get(), Bytes(64, 0));
  std::thread one([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 1; i <= kRounds; ++i) {
      EXPECT_EQ(::aclrtMemsetAsync(word.get(), 64, i & 0x7F, 32, ping), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordNotify(there, ping), ACL_SUCCESS);
      EXPECT_EQ(aclrtWaitAndResetNotify(back, ping, 0), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  std::thread two([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int i = 1; i <= kRounds; ++i) {
      EXPECT_EQ(aclrtWaitAndResetNotify(there, pong, 0), ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemcpyAsync(word.get(32), 32, word.get(), 32, ACL_MEMCPY_DEVICE_TO_DEVICE, pong),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordNotify(back, pong), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  one.join();
  two.join();
  EXPECT_EQ(finish(ping), ACL_SUCCESS);
  EXPECT_EQ(finish(pong), ACL_SUCCESS);
  EXPECT_EQ(read_from(word.get(), 64), Bytes(64, kRounds & 0x7F));
}

}  // namespace notify_test
