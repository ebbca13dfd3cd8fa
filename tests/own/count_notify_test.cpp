// Count notifies: what they answer, what records and waits do, in every order that work may have.
#include <set>
#include <thread>

#include "support/count_notifies.h"
#include "support/events.h"
#include "support/gates.h"
#include "support/products.h"

namespace count_notify_test {

using namespace belay_test;

constexpr std::uint32_t kMost = 0xFFFFFFFF;

TEST(CountNotifies, R277_Create) {
  on_product("950", [] {
    aclrtCntNotify notify = sentinel();
    for (const std::uint64_t flag :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32, UINT64_MAX}) {
      expect_stored(aclrtCntNotifyCreate(&notify, flag), kBadValue, "aclrtCntNotifyCreate");
      expect_stored(aclrtCntNotifyCreate(nullptr, flag), kBadValue, "aclrtCntNotifyCreate");
    }
    expect_stored(aclrtCntNotifyCreate(nullptr, 0), kBadValue, "aclrtCntNotifyCreate");
    without_context([&] {
      expect_stored(aclrtCntNotifyCreate(&notify, 1), kBadValue, "aclrtCntNotifyCreate");
      expect_stored(aclrtCntNotifyCreate(&notify, 0), kNoContext, "aclrtCntNotifyCreate");
      expect_stored(aclrtCntNotifyCreate(nullptr, 0), kNoContext, "aclrtCntNotifyCreate");
    });
    EXPECT_EQ(notify, sentinel());
    const CountNotify made;
    expect_count(made, 0);
  });
}

TEST(CountNotifies, R277_R278_TheLimitOfADevice) {
  on_product("950", [] {
    std::vector<aclrtCntNotify> all;
    std::set<std::uint32_t> ids;
    int answer = ACL_SUCCESS;
    for (;;) {
      aclrtCntNotify notify = nullptr;
      answer = aclrtCntNotifyCreate(&notify, 0);
      if (answer != ACL_SUCCESS || all.size() > 70000) break;
      all.push_back(notify);
      std::uint32_t id = kMost;
      EXPECT_EQ(aclrtCntNotifyGetId(notify, &id), ACL_SUCCESS);
      EXPECT_LT(id, 65535U);
      EXPECT_TRUE(ids.insert(id).second) << id;
    }
    EXPECT_EQ(all.size(), 65535U);
    expect_stored(answer, kNoNotifies, "aclrtCntNotifyCreate");
    { const Notify plain; }  // counted apart
    {
      const Elsewhere other{1};
      other.enter();
      { const CountNotify elsewhere; }
      other.leave();
    }
    EXPECT_EQ(aclrtCntNotifyDestroy(all.back()), ACL_SUCCESS);
    { const CountNotify again; }
    all.pop_back();
    for (const aclrtCntNotify each : all) EXPECT_EQ(aclrtCntNotifyDestroy(each), ACL_SUCCESS);
  });
}

TEST(CountNotifies, R278_Nulls) {
  on_product("950", [] {
    const Stream stream;
    const CountNotify notify;
    std::uint32_t id = 42;
    const auto check = [&] {
      for (const aclrtCntNotify each : {aclrtCntNotify{notify}, aclrtCntNotify{nullptr}, sentinel()}) {
        expect_not_stored(aclrtCntNotifyRecord(each, stream, nullptr), kBadArgument, "aclrtCntNotifyRecord");
        expect_not_stored(aclrtCntNotifyWaitWithTimeout(each, stream, nullptr), kBadArgument,
                          "aclrtCntNotifyWaitWithTimeout");
      }
      expect_stored(try_record(nullptr, stream, kSet, 1), kBadValue, "aclrtCntNotifyRecord");
      expect_stored(try_await(nullptr, stream, kEqual, 1), kBadValue, "aclrtCntNotifyWaitWithTimeout");
      expect_stored(aclrtCntNotifyReset(nullptr, stream), kBadValue, "aclrtCntNotifyReset");
      expect_stored(aclrtCntNotifyDestroy(nullptr), kBadValue, "aclrtCntNotifyDestroy");
      expect_stored(aclrtCntNotifyGetId(nullptr, &id), kBadValue, "aclrtCntNotifyGetId");
      expect_stored(aclrtCntNotifyGetId(notify, nullptr), kBadValue, "aclrtCntNotifyGetId");
      expect_stored(aclrtCntNotifyGetId(nullptr, nullptr), kBadValue, "aclrtCntNotifyGetId");
    };
    check();
    without_context(check);
    EXPECT_EQ(id, 42U);
  });
}

TEST(CountNotifies, R278_R10_StaleHandles) {
  on_product("950", [] {
    Stream stream, gone_stream;
    CountNotify gone;
    const CountNotify notify;
    const Event event;
    const Notify plain;
    const Device block{64};
    std::vector<void*> wrong = garbage();
    for (void* const each : {gone.destroy_now(), gone_stream.destroy_now(), aclrtEvent{event},
                             aclrtNotify{plain}, block.get(), aclrtStream{stream}}) {
      wrong.push_back(each);
    }
    std::uint32_t id = 42;
    for (void* const handle : wrong) {
      expect_stored(try_record(handle, stream, kSet, 1), kStale, "aclrtCntNotifyRecord");
      expect_stored(try_await(handle, nullptr, kEqual, 1), kStale, "aclrtCntNotifyWaitWithTimeout");
      expect_stored(aclrtCntNotifyReset(handle, stream), kStale, "aclrtCntNotifyReset");
      expect_stored(aclrtCntNotifyDestroy(handle), kStale, "aclrtCntNotifyDestroy");
      expect_stored(aclrtCntNotifyGetId(handle, &id), kStale, "aclrtCntNotifyGetId");
      if (handle == stream) continue;
      expect_stored(try_record(notify, handle, kSet, 1), kStale, "aclrtCntNotifyRecord");
      expect_stored(try_await(notify, handle, kEqual, 1), kStale, "aclrtCntNotifyWaitWithTimeout");
      expect_stored(aclrtCntNotifyReset(notify, handle), kStale, "aclrtCntNotifyReset");
    }
    EXPECT_EQ(id, 42U);
    // And a count notify is no notify, stream or event.
    expect_stored(aclrtRecordNotify(notify, stream), kStale, "aclrtRecordNotify");
    expect_stored(aclrtDestroyNotify(notify), kStale, "aclrtDestroyNotify");
    expect_stored(aclrtDestroyEvent(notify), kStale, "aclrtDestroyEvent");
    EXPECT_TRUE(idle(stream));
    expect_count(notify, 0);
  });
}

TEST(CountNotifies, R278_Contexts) {
  on_product("950", [] {
    const Stream stream;
    const CountNotify notify;
    without_context([&] {
      std::uint32_t id = 42;
      for (const aclrtStream each : {aclrtStream{stream}, aclrtStream{nullptr}}) {
        expect_stored(try_record(notify, each, kSet, 1), kNoContext, "aclrtCntNotifyRecord");
        expect_stored(try_await(notify, each, kEqual, 1), kNoContext, "aclrtCntNotifyWaitWithTimeout");
        expect_stored(aclrtCntNotifyReset(notify, each), kNoContext, "aclrtCntNotifyReset");
      }
      expect_stored(aclrtCntNotifyGetId(notify, &id), kNoContext, "aclrtCntNotifyGetId");
      expect_stored(aclrtCntNotifyDestroy(notify), kNoContext, "aclrtCntNotifyDestroy");
      EXPECT_EQ(id, 42U);
    });
    const Elsewhere other, other_device{1};
    for (const Elsewhere* const elsewhere : {&other, &other_device}) {
      const aclrtStream theirs = elsewhere->stream();
      expect_stored(try_record(notify, theirs, kSet, 1), kOtherContext, "aclrtCntNotifyRecord");
      expect_stored(try_await(notify, theirs, kEqual, 1), kOtherContext, "aclrtCntNotifyWaitWithTimeout");
      expect_stored(aclrtCntNotifyReset(notify, theirs), kOtherContext, "aclrtCntNotifyReset");
    }
  });
}

TEST(CountNotifies, R278_R279_R280_BetweenContextsAndDevices) {
  with_counts([] {
    const CountNotify notify;
    const Stream waiter;
    std::uint32_t round = 0;
    for (const std::int32_t device : {0, 1}) {
      const Elsewhere other{device};
      await(notify, waiter, kEqual, ++round);
      expect_held(waiter);
      const aclrtStream recorder = other.stream();
      other.enter();
      record(notify, recorder, kAdd, 1);
      other.leave();
      EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    }
  });
}

TEST(CountNotifies, R279_R280_ModesThatAreNone) {
  on_product("950", [] {
    const CountNotify notify;
    for (const int mode : {3, 5, 6, 100, -1, INT32_MIN}) {
      expect_stored(try_record(notify, nullptr, mode, 1), kBadValue, "aclrtCntNotifyRecord");
      expect_stored(try_record(notify, sentinel(), mode, 1), kBadValue, "aclrtCntNotifyRecord");
      if (mode == 3) continue;
      expect_stored(try_await(notify, nullptr, mode, 0), kBadValue, "aclrtCntNotifyWaitWithTimeout");
    }
    expect_count(notify, 0);
  });
}

TEST(CountNotifies, R279_Records) {
  with_counts([] {
    const CountNotify notify;
    record_now(notify, kSet, 12);
    expect_count(notify, 12);
    record_now(notify, kAdd, 30);
    expect_count(notify, 42);
    record_now(notify, kOr, 5);
    expect_count(notify, 47);
    record_now(notify, kAnd, 0xF0);
    expect_count(notify, 0x20);
    record_now(notify, kSet, kMost);
    expect_count(notify, kMost);
    record_now(notify, kAdd, 0);
    expect_count(notify, kMost);
    record_now(notify, kAdd, 1);
    expect_count(notify, 0);
    record_now(notify, kSet, 2);
    record_now(notify, kAdd, kMost);
    expect_count(notify, 1);
    EXPECT_EQ(aclrtCntNotifyReset(notify, nullptr), ACL_SUCCESS);
    EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
    expect_count(notify, 0);
  });
}

bool model_reached(std::uint32_t count, std::uint32_t value, int mode) {
  const bool answers[] = {count<value, count == value, count> value, count >= value,
                          (count & value) == value};
  return answers[mode];
}

// Each comparison at its borders: what is reached already passes, what is not waits for the next record.
TEST(CountNotifies, R280_EveryModeAtItsBorders) {
  with_counts([] {
    const Stream waiter;
    for (int mode = kLess; mode <= kBitmask; ++mode) {
      for (const std::uint32_t value : {0U, 1U, 2U, 0x7FFFFFFFU, 0x80000000U, kMost - 1, kMost}) {
        for (const std::uint32_t count : {value - 1, value, value + 1, 0U, kMost}) {
          const CountNotify notify;
          record_now(notify, kSet, count);
          await(notify, waiter, mode, value, false, 60);
          if (!model_reached(count, value, mode)) {
            const bool never = mode == kLess && value == 0;
            const bool never_more = mode == kBigger && value == kMost;
            if (never || never_more) {
              EXPECT_FALSE(idle(waiter)) << mode << " " << value << " " << count;
              EXPECT_EQ(aclrtStreamAbort(waiter), ACL_SUCCESS);
              continue;
            }
            EXPECT_FALSE(idle(waiter)) << mode << " " << value << " " << count;
            record_now(notify, kSet, mode == kLess ? value - 1 : mode == kBigger ? value + 1 : value);
          }
          EXPECT_EQ(finish(waiter), ACL_SUCCESS) << mode << " " << value << " " << count;
        }
      }
    }
  });
}

TEST(CountNotifies, R280_ClearingIsOneStepWithTheEndOfTheWait) {
  with_counts([] {
    const CountNotify notify;
    const Stream waiter;
    record_now(notify, kSet, 7);
    await(notify, waiter, kEqual, 7, false);
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    expect_count(notify, 7);
    await(notify, waiter, kEqual, 7, true);
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    expect_count(notify, 0);
    await(notify, waiter, kBigger, 0, true);
    expect_held(waiter);
    record_now(notify, kAdd, 9);
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    expect_count(notify, 0);
  });
}

// One record lets one of them go: the others find the count cleared.
TEST(CountNotifies, R280_EachClearingWaitTakesItsOwn) {
  with_counts([] {
    constexpr std::size_t kStreams = 4;
    const Stream streams[kStreams];
    const CountNotify notify;
    for (const Stream& stream : streams) await(notify, stream, kBiggerOrEqual, 1, true);
    const auto released = [&] {
      std::size_t count = 0;
      for (const Stream& stream : streams) count += idle(stream) ? 1U : 0U;
      return count;
    };
    for (std::size_t round = 1; round <= kStreams; ++round) {
      record_now(notify, kAdd, 1);
      EXPECT_TRUE(eventually([&] { return released() >= round; }));
      expect_count(notify, 0);
      EXPECT_EQ(released(), round) << "the others stay";
    }
  });
}

// A wait that clears is what another waits for: less than, or 0.
TEST(CountNotifies, R280_ClearingLetsOthersGo) {
  with_counts([] {
    const CountNotify notify;
    const Stream low, zero, high;
    record_now(notify, kSet, 5);
    await(notify, low, kLess, 3);
    await(notify, zero, kEqual, 0);
    expect_held(low);
    expect_held(zero);
    await(notify, high, kBigger, 4, true);
    for (const Stream* const each : {&high, &low, &zero}) EXPECT_EQ(finish(*each), ACL_SUCCESS);
    // The same when it is a record that ends the clearing wait.
    record_now(notify, kSet, 5);
    await(notify, low, kLess, 3);
    await(notify, high, kEqual, 6, true);
    expect_held(low);
    expect_held(high);
    record_now(notify, kAdd, 1);
    for (const Stream* const each : {&high, &low}) EXPECT_EQ(finish(*each), ACL_SUCCESS);
    expect_count(notify, 0);
  });
}

TEST(CountNotifies, R281_AnExpiredWaitFailsItsStream) {
  for (const char* const schedule : {"eager", "lazy", "seed:3"}) {
    on_product("950", {{"BELAY_SCHEDULE", schedule}}, [] {
      const Stream stream, plain_stream;
      const Device block{64};
      const CountNotify notify;
      const Notify plain;
      record_now(notify, kSet, 3);
      const auto start = std::chrono::steady_clock::now();
      await(notify, stream, kEqual, 4, true, 1);
      EXPECT_EQ(aclrtWaitAndResetNotify(plain, plain_stream, 1), ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 8, 64, stream), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), kTaskTimeout);
      EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds{1});
      EXPECT_EQ(last_error(), kTaskTimeout);
      const std::string text = recent_message();
      EXPECT_TRUE(mentions(text, "the wait for a count notify timed out after 1 s")) << text;
      EXPECT_TRUE(mentions(text, "EE1002")) << text;
      EXPECT_EQ(finish(stream), ACL_SUCCESS) << "told once (R-16)";
      EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 8)) << "later tasks run (R-153)";
      expect_count(notify, 3);
      EXPECT_EQ(finish(plain_stream), kTaskTimeout) << "a notify fails with the same number and words";
      EXPECT_TRUE(mentions(recent_message(), "the wait for a notify timed out after 1 s"));
      last_error();
      record_now(notify, kSet, 4);
      expect_count(notify, 4);
    });
  }
}

TEST(CountNotifies, R281_ForEver) {
  on_product("950", [] {
    const Stream zero, most;
    const CountNotify notify;
    await(notify, zero, kEqual, 1, false, 0);
    await(notify, most, kEqual, 1, false, kMost);
    EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(zero, 1300), kStreamTimeout);
    EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(most, kMoment), kStreamTimeout);
    record_now(notify, kSet, 1);
    EXPECT_EQ(finish(zero), ACL_SUCCESS);
    EXPECT_EQ(finish(most), ACL_SUCCESS);
  });
}

TEST(CountNotifies, R278_DestroyedWhileWaitedFor) {
  with_counts([] {
    const Stream waiter, recorder;
    EventGate gate{recorder};
    CountNotify notify;
    await(notify, waiter, kEqual, 2);
    record(notify, recorder, kAdd, 1);
    record(notify, recorder, kAdd, 1);
    const aclrtCntNotify was = notify.destroy_now();
    expect_stored(try_record(was, nullptr, kSet, 2), kStale, "aclrtCntNotifyRecord");
    expect_held(waiter);
    gate.open();
    EXPECT_EQ(finish(waiter), ACL_SUCCESS) << "what was queued before still happens";
  });
}

TEST(CountNotifies, R278_R154_AbortedAndForgotten) {
  with_counts([] {
    const CountNotify notify;
    Stream aborted, stays, forced;
    for (const Stream* const each : {&aborted, &stays, &forced}) await(notify, *each, kEqual, 1, true);
    for (const Stream* const each : {&aborted, &stays, &forced}) expect_held(*each);
    EXPECT_EQ(aclrtStreamAbort(aborted), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStreamForce(forced.forget()), ACL_SUCCESS);
    record_now(notify, kSet, 1);
    EXPECT_EQ(finish(stays), ACL_SUCCESS) << "those that were dropped take nothing";
    expect_count(notify, 0);
    EXPECT_TRUE(idle(aborted));
  });
}

TEST(CountNotifies, R278_R69_HandlesOfTheParentProcess) {
  on_product("950", [] {
    const CountNotify notify;
    in_fresh_process([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(try_record(notify, nullptr, kSet, 1), kStale);
      const CountNotify own;
      record_now(own, kSet, 1);
    });
    expect_count(notify, 0);
  });
}

TEST(CountNotifies, R279_R17_RecordsAreInStreamOrder) {
  with_counts([] {
    const CountNotify notify;
    const Stream stream, waiter;
    EventGate gate{stream};
    record(notify, stream, kSet, 1);
    EXPECT_EQ(aclrtCntNotifyReset(notify, stream), ACL_SUCCESS);
    record(notify, stream, kAdd, 6);
    await(notify, waiter, kEqual, 6);
    expect_held(waiter);
    expect_count(notify, 0);
    gate.open();
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    expect_count(notify, 6);
  });
}

// Each stream fills its part and sets its bit; who waits for all bits sees all parts.
TEST(CountNotifies, R282_WhatCameBeforeTheRecordsIsDone) {
  with_counts([] {
    constexpr std::size_t kStreams = 6, kPart = 64;
    const Stream streams[kStreams], waiter;
    const Device parts{kStreams * kPart}, seen{kStreams * kPart};
    const CountNotify bits, sum;
    for (int round = 1; round <= 20; ++round) {
      await(bits, waiter, kBitmask, (1U << kStreams) - 1, true);
      await(sum, waiter, kBiggerOrEqual, kStreams, true);
      EXPECT_EQ(::aclrtMemcpyAsync(seen.get(), seen.size(), parts.get(), parts.size(),
                                   ACL_MEMCPY_DEVICE_TO_DEVICE, waiter),
                ACL_SUCCESS);
      for (std::size_t i = 0; i < kStreams; ++i) {
        EXPECT_EQ(::aclrtMemsetAsync(parts.get(i * kPart), kPart, round, kPart, streams[i]), ACL_SUCCESS);
        record(bits, streams[i], kOr, 1U << i);
        record(sum, streams[i], kAdd, 1);
      }
      EXPECT_EQ(finish(waiter), ACL_SUCCESS);
      EXPECT_EQ(read_from(seen.get(), seen.size()), Bytes(seen.size(), static_cast<std::uint8_t>(round)));
      expect_count(bits, 0);
      expect_count(sum, 0);
    }
  });
}

TEST(CountNotifies, R279_R280_R18_Threads) {
  for (const char* const schedule : {"eager", "fifo", "lazy", "seed:5"}) {
    on_product("950", {{"BELAY_SCHEDULE", schedule}}, [] {
      constexpr std::uint32_t kThreads = 4, kRounds = 300;
      const Stream waiter;
      const Marks marks;
      const CountNotify sum, turns;
      await(sum, waiter, kEqual, kThreads * kRounds);
      marks.queue(waiter);
      std::vector<std::thread> threads;
      for (std::uint32_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          {
            const Stream stream;
            for (std::uint32_t i = 0; i < kRounds; ++i) {
              // The streams have their turns one after the other, over and over.
              await(turns, stream, kEqual, t);
              record(sum, stream, kAdd, 1);
              record(turns, stream, kSet, (t + 1) % kThreads);
              if (i % 50 == 0) {
                const CountNotify passing;
                record(passing, stream, kAdd, i);
              }
            }
            EXPECT_EQ(finish(stream), ACL_SUCCESS);
          }
          EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
        });
      }
      for (std::thread& each : threads) each.join();
      EXPECT_EQ(finish(waiter), ACL_SUCCESS);
      EXPECT_TRUE(marks.set());
      expect_count(sum, kThreads * kRounds);
      expect_count(turns, 0);
    });
  }
}

TEST(CountNotifies, R119_R278_AContextThatEndsDropsWhatWaits) {
  with_counts([] {
    const CountNotify notify;
    {
      const Elsewhere other;
      const aclrtStream stream = other.stream();
      other.enter();
      await(notify, stream, kEqual, 1, true);
      other.leave();
    }
    record_now(notify, kSet, 1);
    expect_count(notify, 1);
  });
}

// --- products -------------------------------------------------------------------------------------

TEST(CountNotifies, R277_R278_R266_Only950) {
  static aclrtCntNotify made = nullptr;
  static std::uint32_t id = 0;
  expect_only_on(
      {"950"},
      {
          {"aclrtCntNotifyCreate", [] { return aclrtCntNotifyCreate(&made, 0); }, {}, true},
          {"aclrtCntNotifyCreate with a flag", [] { return aclrtCntNotifyCreate(nullptr, 1); }, {}, true},
          {"aclrtCntNotifyDestroy", [] { return aclrtCntNotifyDestroy(sentinel()); }, {}, true},
          {"aclrtCntNotifyDestroy of NULL", [] { return aclrtCntNotifyDestroy(nullptr); }, {}, true},
          {"aclrtCntNotifyRecord", [] { return try_record(sentinel(), nullptr, 9, 1); },
           [] { return aclrtCntNotifyRecord(nullptr, nullptr, nullptr); }, true},
          {"aclrtCntNotifyWaitWithTimeout", [] { return try_await(sentinel(), nullptr, 9, 1); },
           [] { return aclrtCntNotifyWaitWithTimeout(nullptr, nullptr, nullptr); }, true},
          {"aclrtCntNotifyReset", [] { return aclrtCntNotifyReset(nullptr, nullptr); }, {}, true},
          {"aclrtCntNotifyGetId", [] { return aclrtCntNotifyGetId(nullptr, &id); }, {}, true},
      });
}

}  // namespace count_notify_test
