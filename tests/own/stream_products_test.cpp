// Which products have which functions of streams, and how many streams.
#include <cstdint>
#include <string>
#include <vector>

#include "support/products.h"
#include "support/settings.h"
#include "support/streams.h"

namespace stream_products_test {

using namespace belay_test;

std::uint32_t word = 0;
std::int32_t id = 0;
aclrtStream made = nullptr;
aclrtStreamStatus status{};
aclrtStreamAttrValue value{};
int garbage = 0;  // no stream: the product is looked at first

TEST(StreamProducts, R266_AbortAndOverflowOn950A3A2) {
  expect_only_on(
      {"950", "A3", "A2"},
      {
          {"aclrtStreamAbort", [] { return aclrtStreamAbort(nullptr); }, {}, true},
          {"aclrtStreamAbort of anything", [] { return aclrtStreamAbort(&garbage); }, {}, true},
          {"aclrtStreamStop", [] { return aclrtStreamStop(nullptr); }, {}, true},
          {"aclrtSetStreamOverflowSwitch", [] { return aclrtSetStreamOverflowSwitch(nullptr, 1); },
           [] { return aclrtSetStreamOverflowSwitch(nullptr, 2); }, true},
          {"aclrtGetStreamOverflowSwitch", [] { return aclrtGetStreamOverflowSwitch(nullptr, &word); },
           [] { return aclrtGetStreamOverflowSwitch(nullptr, nullptr); }, true},
          {"aclrtDeviceTaskAbort", [] { return aclrtDeviceTaskAbort(0, 1000); }, {}},
          {"aclrtDeviceTaskAbort for too long", [] { return aclrtDeviceTaskAbort(-1, 0xFFFFFFFF); }, {}},
          {"aclrtSetDeviceTaskAbortCallback",
           [] { return aclrtSetDeviceTaskAbortCallback("name", nullptr, nullptr); },
           [] { return aclrtSetDeviceTaskAbortCallback(nullptr, nullptr, nullptr); }},
      });
}

TEST(StreamProducts, R266_AllButIpvMakeStreams) {
  expect_all_but_ipv({
      {"aclrtCreateStream", [] { return ::aclrtCreateStream(&made); },
       [] { return ::aclrtCreateStream(nullptr); }, true},
      {"aclrtCreateStreamWithConfig", [] { return aclrtCreateStreamWithConfig(&made, 0, 0); },
       [] { return aclrtCreateStreamWithConfig(nullptr, 0, 0); }, true},
      {"aclrtDestroyStreamForce", [] { return aclrtDestroyStreamForce(&garbage); },
       [] { return aclrtDestroyStreamForce(nullptr); }, true},
      {"aclrtSynchronizeStreamWithTimeout",
       [] { return aclrtSynchronizeStreamWithTimeout(nullptr, 1000); },
       {},
       true},
      {"aclrtStreamQuery", [] { return aclrtStreamQuery(nullptr, &status); },
       [] { return aclrtStreamQuery(nullptr, nullptr); }, true},
      {"aclrtSynchronizeDevice", [] { return ::aclrtSynchronizeDevice(); }, {}, true},
      {"aclrtSynchronizeDeviceWithTimeout", [] { return aclrtSynchronizeDeviceWithTimeout(1000); }, {}, true},
      {"aclrtRegStreamStateCallback", [] { return aclrtRegStreamStateCallback("name", nullptr, nullptr); },
       [] { return aclrtRegStreamStateCallback(nullptr, nullptr, nullptr); }},
  });
}

TEST(StreamProducts, R266_R275_AllButIpvKnowTheirAttributes) {
  expect_all_but_ipv({
      {"aclrtStreamGetId", [] { return aclrtStreamGetId(nullptr, &id); },
       [] { return aclrtStreamGetId(nullptr, nullptr); }, true},
      {"aclrtStreamGetPriority", [] { return aclrtStreamGetPriority(nullptr, &word); },
       [] { return aclrtStreamGetPriority(nullptr, nullptr); }, true},
      {"aclrtStreamGetFlags", [] { return aclrtStreamGetFlags(nullptr, &word); },
       [] { return aclrtStreamGetFlags(nullptr, nullptr); }, true},
      {"aclrtGetStreamAvailableNum", [] { return aclrtGetStreamAvailableNum(&word); },
       [] { return aclrtGetStreamAvailableNum(nullptr); }, true},
      {"aclrtSetStreamAttribute",
       [] {
         value = {};
         return aclrtSetStreamAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value);
       },
       [] { return aclrtSetStreamAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, nullptr); }, true},
      {"aclrtGetStreamAttribute",
       [] { return aclrtGetStreamAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value); },
       [] { return aclrtGetStreamAttribute(nullptr, ACL_STREAM_ATTR_USER_CUSTOM_TAG, nullptr); }, true},
      {"aclrtSetStreamFailureMode", [] { return aclrtSetStreamFailureMode(nullptr, 0); }, {}, true},
      {"aclrtGetOverflowStatus", [] { return aclrtGetOverflowStatus(&garbage, 64, &garbage); },
       [] { return aclrtGetOverflowStatus(nullptr, 64, nullptr); }, true},
      {"aclrtResetOverflowStatus", [] { return aclrtResetOverflowStatus(nullptr); }, {}, true},
      {"aclrtGetFloatOverflowStatus",
       [] { return aclrtGetFloatOverflowStatus(&garbage, 63, &garbage); },
       {},
       true},
      {"aclrtResetFloatOverflowStatus", [] { return aclrtResetFloatOverflowStatus(&garbage); }, {}, true},
      {"aclrtNpuGetFloatOverFlowStatus",
       [] { return aclrtNpuGetFloatOverFlowStatus(nullptr, 64, 0, &garbage); },
       {},
       true},
      {"aclrtNpuClearFloatOverFlowStatus",
       [] { return aclrtNpuClearFloatOverFlowStatus(0, &garbage); },
       {},
       true},
      {"aclrtGetStreamResLimit",
       [] { return aclrtGetStreamResLimit(nullptr, ACL_RT_DEV_RES_CUBE_CORE, &word); },
       [] { return aclrtGetStreamResLimit(nullptr, ACL_RT_DEV_RES_CUBE_CORE, nullptr); }, true},
      {"aclrtSetStreamResLimit",
       [] { return aclrtSetStreamResLimit(nullptr, ACL_RT_DEV_RES_CUBE_CORE, 1); },
       {},
       true},
      {"aclrtResetStreamResLimit", [] { return aclrtResetStreamResLimit(nullptr); }, {}, true},
      {"aclrtUseStreamResInCurrentThread",
       [] { return aclrtUseStreamResInCurrentThread(nullptr); },
       {},
       true},
      {"aclrtUnuseStreamResInCurrentThread",
       [] { return aclrtUnuseStreamResInCurrentThread(nullptr); },
       {},
       true},
  });
}

void ignore(aclrtExceptionInfo*) {}

TEST(StreamProducts, R266_AllButIpvTellFailures) {
  expect_all_but_ipv({
      {"aclrtSetExceptionInfoCallback", [] { return aclrtSetExceptionInfoCallback(nullptr); }, {}},
      {"aclrtExceptionInfoCallbackRegister", [] { return aclrtExceptionInfoCallbackRegister(ignore); }, {}},
      {"aclrtExceptionInfoCallbackUnregister",
       [] { return aclrtExceptionInfoCallbackUnregister(ignore); },
       {}},
  });
}

TEST(StreamProducts, R266_EveryProductHasItsDefaultStream) {
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product] {
      SCOPED_TRACE(product);
      EXPECT_EQ(::aclrtSynchronizeStream(nullptr), kNoContext);
      EXPECT_EQ(aclrtDestroyStream(nullptr), kBadArgument);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      EXPECT_EQ(::aclrtSynchronizeStream(&garbage), kStale);
      EXPECT_EQ(aclrtDestroyStream(&garbage), kStale);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

TEST(StreamProducts, R157_NoProductHasStreamsOfModels) {
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product] {
      SCOPED_TRACE(product);
      EXPECT_EQ(aclrtPersistentTaskClean(nullptr), kUnsupported);
      EXPECT_EQ(aclrtActiveStream(nullptr, nullptr), kBadArgument);
      EXPECT_EQ(aclrtActiveStream(sentinel(), sentinel()), kUnsupported);
      EXPECT_EQ(
          aclrtSwitchStream(nullptr, ACL_RT_EQUAL, nullptr, ACL_RT_SWITCH_INT32, nullptr, nullptr, nullptr),
          kBadArgument);
      EXPECT_EQ(aclrtCreateStreamConfigHandle(), nullptr);
      EXPECT_EQ(aclrtDestroyStreamConfigHandle(nullptr), kUnsupported);
      EXPECT_EQ(aclrtSetStreamConfigOpt(nullptr, ACL_RT_STREAM_FLAG, nullptr, 0), kUnsupported);
      EXPECT_EQ(aclrtCreateStreamV2(nullptr, nullptr), kUnsupported);
      EXPECT_EQ(last_error(), ACL_SUCCESS);
    });
  }
}

// The default stream counts; one too many is refused, and a destroyed one makes room.
void expect_limit(std::uint32_t limit) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(streams_left(), limit - 1);
  std::vector<aclrtStream> all;
  aclrtStream stream = sentinel();
  while (all.size() < limit + 10 && ::aclrtCreateStream(&stream) == ACL_SUCCESS) {
    all.push_back(stream);
    stream = sentinel();
  }
  EXPECT_EQ(all.size(), limit - 1);
  EXPECT_EQ(stream, sentinel());
  EXPECT_EQ(streams_left(), 0U);
  recent_message();
  last_error();
  EXPECT_EQ(::aclrtCreateStream(&stream), kNoStream);
  EXPECT_EQ(last_error(), kNoStream);
  EXPECT_TRUE(mentions(recent_message(), "EL0009"));
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 7, ACL_STREAM_FAST_SYNC), kNoStream);
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateContext(&context, 0), kNoStream) << "a context needs one, too (R-107)";
  EXPECT_EQ(context, nullptr);
  // The limit is one of the device.
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(streams_left(), limit - 1);
  EXPECT_EQ(::aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  // Whichever goes, one comes.
  for (const std::size_t which : {std::size_t{0}, all.size() / 2, all.size() - 1}) {
    EXPECT_EQ(aclrtDestroyStream(all[which]), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1U);
    EXPECT_EQ(::aclrtCreateStream(&all[which]), ACL_SUCCESS);
    EXPECT_EQ(::aclrtCreateStream(&stream), kNoStream);
  }
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(streams_left(), limit - 1) << "a reset ends them all";
}

TEST(StreamProducts, R131_R148_TheLimitOfEachProduct) {
  struct Limit {
    const char* product;
    std::uint32_t streams;
  };
  for (const Limit& one : {Limit{"950", 1984}, Limit{"A3", 1984}, Limit{"A2", 1984}, Limit{"310B", 512},
                           Limit{"310P", 1024}, Limit{"910", 2048}}) {
    in_fresh_process({{"BELAY_PRODUCT", one.product}, {"BELAY_DEVICES", "2"}}, [&one] {
      SCOPED_TRACE(one.product);
      expect_limit(one.streams);
    });
  }
}

TEST(StreamProducts, R107_WhatAContextCosts) {
  in_fresh_process({}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1983U);
    aclrtContext one = nullptr, two = nullptr;
    EXPECT_EQ(aclrtCreateContext(&one, 0), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1982U) << "one each";
    EXPECT_EQ(aclrtCreateContext(&two, 0), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1981U);
    EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1982U);

    // A device that was never set.
    EXPECT_EQ(aclrtCreateContext(&one, 3), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1982U) << "two for the first";
    EXPECT_EQ(aclrtCreateContext(&two, 3), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1981U) << "one for the next";
    EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1982U);
    EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
    // All is closed: it begins anew.
    EXPECT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), 1983U);
  });
}

}  // namespace stream_products_test
