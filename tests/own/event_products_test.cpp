// Which products have the functions of events, notifies and callbacks.
#include <set>

#include "support/callbacks.h"
#include "support/gates.h"
#include "support/refusals.h"
#include "support/settings.h"

namespace event_products_test {

using namespace belay_test;

const std::set<std::string> kAll = {"950", "A3", "A2", "310B", "310P", "910", "IPV350"};

struct Function {
  std::string name;
  std::function<int()> call;           // a handle that is none stands for what is looked at later
  std::function<int()> refused_first;  // breaks a 100000 rule; may be empty
  bool needs_context = true;
};

void* const kSome = sentinel();
std::uint32_t number32 = 0;
std::uint64_t number64 = 0;
void* handle = nullptr;
float ms = 0;

void expect_missing(const Function& function) {
  SCOPED_TRACE(function.name);
  last_error();
  if (function.refused_first) {
    expect_not_stored(function.refused_first(), kBadArgument, function.name);
  }
  if (function.needs_context) {
    EXPECT_EQ(function.call(), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  } else {
    expect_not_stored(function.call(), kUnsupported, function.name);
  }
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  if (function.refused_first) {
    expect_not_stored(function.refused_first(), kBadArgument, function.name);
  }
  expect_not_stored(function.call(), kUnsupported, function.name);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

void expect_present(const Function& function) {
  SCOPED_TRACE(function.name);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_NE(function.call(), kUnsupported);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

void expect_only_on(const std::set<std::string>& products, const std::vector<Function>& functions) {
  for (const std::string& product : kAll) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      SCOPED_TRACE(product);
      for (const Function& function : functions) {
        if (products.count(product) != 0) {
          expect_present(function);
        } else {
          expect_missing(function);
        }
      }
    });
  }
}

void expect_all_but_ipv(const std::vector<Function>& functions) {
  std::set<std::string> products = kAll;
  products.erase("IPV350");
  expect_only_on(products, functions);
}

int destroyed(int answer) {
  if (answer == ACL_SUCCESS) {
    EXPECT_EQ(aclrtDestroyEvent(handle), ACL_SUCCESS);
  }
  return answer;
}

TEST(EventProducts, R266_On950A3A2) {
  expect_only_on(
      {"950", "A3", "A2"},
      {
          {"aclrtRecordEventWithFlag", [] { return aclrtRecordEventWithFlag(kSome, nullptr, 0); },
           [] { return aclrtRecordEventWithFlag(nullptr, nullptr, 0); }},
          {"aclrtRecordEventWithFlag", [] { return aclrtRecordEventWithFlag(kSome, nullptr, 0); },
           [] { return aclrtRecordEventWithFlag(kSome, nullptr, 2); }},
          {"aclrtStreamWaitEventWithFlag", [] { return aclrtStreamWaitEventWithFlag(nullptr, kSome, 0, 0); },
           [] { return aclrtStreamWaitEventWithFlag(nullptr, kSome, 1, 1); }},
          {"aclrtNotifyBatchReset", [] { return aclrtNotifyBatchReset(&handle, 0); },
           [] { return aclrtNotifyBatchReset(nullptr, 0); }},
      });
}

TEST(EventProducts, R266_R175_TheDefaultWaitTime) {
  expect_only_on({"950", "A3", "A2", "310B", "910"},
                 {{"aclrtSetOpWaitTimeout", [] { return aclrtSetOpWaitTimeout(0); }, {}}});
}

TEST(EventProducts, R266_EventsAreMissingOnIpv) {
  expect_all_but_ipv({
      {"aclrtCreateEvent", [] { return destroyed(::aclrtCreateEvent(&handle)); },
       [] { return ::aclrtCreateEvent(nullptr); }},
      {"aclrtCreateEventWithFlag",
       [] { return destroyed(::aclrtCreateEventWithFlag(&handle, ACL_EVENT_SYNC)); },
       [] { return ::aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC); }},
      {"aclrtCreateEventExWithFlag",
       [] { return destroyed(::aclrtCreateEventExWithFlag(&handle, ACL_EVENT_SYNC)); },
       [] { return ::aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC); }},
      {"aclrtDestroyEvent", [] { return aclrtDestroyEvent(kSome); },
       [] { return aclrtDestroyEvent(nullptr); }, false},
      {"aclrtRecordEvent", [] { return aclrtRecordEvent(kSome, nullptr); },
       [] { return aclrtRecordEvent(nullptr, nullptr); }},
      {"aclrtResetEvent", [] { return aclrtResetEvent(kSome, nullptr); },
       [] { return aclrtResetEvent(nullptr, nullptr); }},
      {"aclrtStreamWaitEvent", [] { return ::aclrtStreamWaitEvent(nullptr, kSome); },
       [] { return ::aclrtStreamWaitEvent(nullptr, nullptr); }},
      {"aclrtStreamWaitEventWithTimeout",
       [] { return ::aclrtStreamWaitEventWithTimeout(nullptr, kSome, 0); },
       {}},
      {"aclrtGetEventAvailNum", [] { return aclrtGetEventAvailNum(&number32); },
       [] { return aclrtGetEventAvailNum(nullptr); }},
  });
}

TEST(EventProducts, R266_AskingEventsIsMissingOnIpv) {
  static aclrtEventStatus old = ACL_EVENT_STATUS_COMPLETE;
  static aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  static aclrtEventWaitStatus wait = ACL_EVENT_WAIT_STATUS_COMPLETE;
  expect_all_but_ipv({
      {"aclrtQueryEvent", [] { return query_event(kSome, &old); }, [] { return query_event(nullptr, &old); },
       false},
      {"aclrtQueryEventStatus", [] { return aclrtQueryEventStatus(kSome, &status); },
       [] { return aclrtQueryEventStatus(kSome, nullptr); }, false},
      {"aclrtQueryEventWaitStatus", [] { return aclrtQueryEventWaitStatus(kSome, &wait); },
       [] { return aclrtQueryEventWaitStatus(nullptr, &wait); }, false},
      {"aclrtSynchronizeEvent", [] { return ::aclrtSynchronizeEvent(kSome); },
       [] { return ::aclrtSynchronizeEvent(nullptr); }, false},
      {"aclrtSynchronizeEventWithTimeout", [] { return ::aclrtSynchronizeEventWithTimeout(kSome, 1); },
       [] { return ::aclrtSynchronizeEventWithTimeout(nullptr, 1); }, false},
      {"aclrtEventElapsedTime", [] { return aclrtEventElapsedTime(&ms, kSome, kSome); },
       [] { return aclrtEventElapsedTime(nullptr, kSome, kSome); }, false},
      {"aclrtEventGetTimestamp", [] { return aclrtEventGetTimestamp(kSome, &number64); },
       [] { return aclrtEventGetTimestamp(nullptr, &number64); }, false},
      {"aclrtGetEventId", [] { return aclrtGetEventId(kSome, &number32); },
       [] { return aclrtGetEventId(kSome, nullptr); }, false},
  });
}

TEST(EventProducts, R266_NotifiesAreMissingOnIpv) {
  expect_all_but_ipv({
      {"aclrtCreateNotify",
       [] {
         const int answer = aclrtCreateNotify(&handle, 0);
         if (answer == ACL_SUCCESS) {
           EXPECT_EQ(aclrtDestroyNotify(handle), ACL_SUCCESS);
         }
         return answer;
       },
       [] { return aclrtCreateNotify(nullptr, 0); }},
      {"aclrtDestroyNotify", [] { return aclrtDestroyNotify(kSome); },
       [] { return aclrtDestroyNotify(nullptr); }},
      {"aclrtRecordNotify", [] { return aclrtRecordNotify(kSome, nullptr); },
       [] { return aclrtRecordNotify(nullptr, nullptr); }},
      {"aclrtWaitAndResetNotify", [] { return aclrtWaitAndResetNotify(kSome, nullptr, 0); },
       [] { return aclrtWaitAndResetNotify(nullptr, nullptr, 0); }},
      {"aclrtGetNotifyId", [] { return aclrtGetNotifyId(kSome, &number32); },
       [] { return aclrtGetNotifyId(kSome, nullptr); }},
  });
}

TEST(EventProducts, R266_HostFunctionsAndLimitsAreMissingOnIpv) {
  static Body nothing = [] {};
  expect_all_but_ipv({
      {"aclrtLaunchHostFunc",
       [] {
         const int answer = launch(nullptr, nothing);
         if (answer == ACL_SUCCESS) {
           EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
         }
         return answer;
       },
       {}},
      {"aclrtGetThreadLastTaskId", [] { return aclrtGetThreadLastTaskId(&number32); },
       [] { return aclrtGetThreadLastTaskId(nullptr); }, false},
      {"aclrtGetOpTimeOutInterval", [] { return aclrtGetOpTimeOutInterval(&number64); },
       [] { return aclrtGetOpTimeOutInterval(nullptr); }, false},
      {"aclrtSetOpExecuteTimeOutV2", [] { return aclrtSetOpExecuteTimeOutV2(1, &number64); },
       [] { return aclrtSetOpExecuteTimeOutV2(1, nullptr); }, false},
      {"aclrtGetOpExecuteTimeout", [] { return aclrtGetOpExecuteTimeout(&number32); },
       [] { return aclrtGetOpExecuteTimeout(nullptr); }, false},
  });
}

// Seven products can do this; IPV350 has no function that makes a stream, so the default one serves.
TEST(EventProducts, R266_CallbacksOnEveryProduct) {
  for (const std::string& product : kAll) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product] {
      SCOPED_TRACE(product);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSubscribeReport(this_thread(), nullptr), ACL_SUCCESS);
      int calls = 0;
      Body body = [&] { ++calls; };
      EXPECT_EQ(launch_callback(nullptr, body), ACL_SUCCESS);
      EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
      EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      EXPECT_EQ(calls, 1);
      EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtProcessReport(1), kThreadSubscribed);
      EXPECT_EQ(::aclrtSetOpExecuteTimeOut(1), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

// The usual work with events on all products that have them.
TEST(EventProducts, R266_EventsWorkOnEveryOtherProduct) {
  for (const std::string& product : kAll) {
    if (product == "IPV350") continue;
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product] {
      SCOPED_TRACE(product);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (const Kind kind : all_kinds()) {
        Stream producer, consumer;
        NotifyGate gate;
        const Event event{kind};
        gate.hold(producer);
        EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
        EXPECT_EQ(::aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
        expect_held(consumer);
        gate.open();
        EXPECT_EQ(finish(consumer), ACL_SUCCESS);
        EXPECT_EQ(recorded(event), kComplete);
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

}  // namespace event_products_test
