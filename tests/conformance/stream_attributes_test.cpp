// What can be asked of a stream and set on it.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/as_enum.h"
#include "support/streams.h"
#include "support/worker.h"

namespace stream_attributes_test {

using namespace belay_test;

class StreamAttributes : public OnDevice {};

constexpr aclrtStreamAttr kAll[] = {ACL_STREAM_ATTR_FAILURE_MODE, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
                                    ACL_STREAM_ATTR_USER_CUSTOM_TAG, ACL_STREAM_ATTR_CACHE_OP_INFO,
                                    ACL_STREAM_ATTR_PRIORITY};

aclError set(aclrtStream stream, aclrtStreamAttr attribute, std::uint64_t number_) {
  aclrtStreamAttrValue value{};
  value.failureMode = number_;
  return aclrtSetStreamAttribute(stream, attribute, &value);
}

std::uint32_t get(aclrtStream stream, aclrtStreamAttr attribute) {
  aclrtStreamAttrValue value{};
  EXPECT_EQ(aclrtGetStreamAttribute(stream, attribute, &value), ACL_SUCCESS);
  return value.userCustomTag;
}

TEST_F(StreamAttributes, R146_Ids) {
  std::set<std::int32_t> ids = {id_of(nullptr)};
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 200; ++i) {
    streams.push_back(std::make_unique<Stream>());
    ids.insert(id_of(streams.back()->get()));
    EXPECT_EQ(id_of(streams.back()->get()), id_of(streams.back()->get())) << "the same every time";
  }
  {
    const OwnContext context;  // of the same device
    ids.insert(id_of(nullptr));
    const Stream another;
    ids.insert(id_of(another.get()));
    EXPECT_EQ(ids.size(), 203U) << "unique on the device";
  }
  EXPECT_GE(*ids.begin(), 0);
  EXPECT_LT(*ids.rbegin(), 65536) << "small";
}

TEST_F(StreamAttributes, R146_AnIdNeedsAContextOnlyForTheDefaultStream) {
  const Stream stream;
  const std::int32_t known = id_of(stream.get());
  EXPECT_EQ(aclrtStreamGetId(stream.get(), nullptr), kBadArgument);
  EXPECT_EQ(aclrtStreamGetId(nullptr, nullptr), kBadArgument);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  aclrtStream const stale = stale_stream();
  std::int32_t id = -5;
  EXPECT_EQ(aclrtStreamGetId(stale, &id), kStale);
  without_context([&] {
    EXPECT_EQ(id_of(stream.get()), known);
    EXPECT_EQ(aclrtStreamGetId(nullptr, &id), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtStreamGetId(stale, &id), kStale);
  });
  EXPECT_EQ(id, -5);
}

TEST_F(StreamAttributes, R147_PriorityAndFlags) {
  aclrtStream stream = nullptr;
  constexpr std::uint32_t kFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 5, kFlags), ACL_SUCCESS);
  std::uint32_t value = 77;
  EXPECT_EQ(aclrtStreamGetPriority(stream, nullptr), kBadArgument);
  EXPECT_EQ(aclrtStreamGetFlags(stream, nullptr), kBadArgument);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  without_context([&] {
    EXPECT_EQ(aclrtStreamGetPriority(stream, &value), kNoContext) << "even for a real handle";
    EXPECT_EQ(aclrtStreamGetFlags(stream, &value), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtStreamGetPriority(stream, nullptr), kBadArgument);
  });
  EXPECT_EQ(value, 77U);
  EXPECT_EQ(aclrtStreamGetPriority(stream, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 5U);
  EXPECT_EQ(aclrtStreamGetFlags(stream, &value), ACL_SUCCESS);
  EXPECT_EQ(value, kFlags);
  for (aclrtStream own : {default_stream(), aclrtStream{nullptr}}) {
    value = 77;
    EXPECT_EQ(aclrtStreamGetPriority(own, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0U);
    value = 77;
    EXPECT_EQ(aclrtStreamGetFlags(own, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 0U);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(StreamAttributes, R148_HowManyAreLeft) {
  std::uint32_t count = 77;
  EXPECT_EQ(aclrtGetStreamAvailableNum(nullptr), kBadArgument);
  without_context([&] {
    EXPECT_EQ(aclrtGetStreamAvailableNum(nullptr), kBadArgument);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetStreamAvailableNum(&count), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
  EXPECT_EQ(count, 77U);
  const std::uint32_t before = streams_left();
  {
    const Stream one, two;
    EXPECT_EQ(streams_left(), before - 2);
    const OwnContext context;
    EXPECT_EQ(streams_left(), before - 3) << "with its default stream";
    const Stream three;
    EXPECT_EQ(streams_left(), before - 4) << "of the device, not of the context";
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_GT(streams_left(), before - 4) << "of the current device";
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    context.enter();
  }
  EXPECT_EQ(streams_left(), before);
}

TEST_F(StreamAttributes, R149_Arguments) {
  const Stream stream;
  aclrtStreamAttrValue value{};
  value.failureMode = 0x5A5A5A5A5A5A5A5A;
  for (const aclrtStreamAttr attribute : kAll) {
    EXPECT_EQ(aclrtSetStreamAttribute(stream.get(), attribute, nullptr), kBadArgument);
    EXPECT_EQ(aclrtGetStreamAttribute(stream.get(), attribute, nullptr), kBadArgument);
    without_context([&] {
      EXPECT_EQ(aclrtGetStreamAttribute(stream.get(), attribute, &value), kNoContext);
      EXPECT_EQ(set(stream.get(), attribute, 0), kNoContext);
      EXPECT_EQ(last_error(), kNoContext);
    });
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  for (const int unknown : {0, 6, 7, -1, 100, 0x7FFFFFFF}) {
    const auto attribute = as_enum<aclrtStreamAttr>(unknown);
    EXPECT_EQ(aclrtSetStreamAttribute(stream.get(), attribute, &value), kBadValue) << unknown;
    EXPECT_EQ(last_error(), kBadValue);
    EXPECT_EQ(aclrtGetStreamAttribute(stream.get(), attribute, &value), kBadValue) << unknown;
    EXPECT_EQ(aclrtGetStreamAttribute(nullptr, attribute, &value), kBadValue) << unknown;
    EXPECT_EQ(aclrtGetStreamAttribute(stream.get(), attribute, nullptr), kBadArgument) << unknown;
  }
  aclrtStream const stale = stale_stream();
  for (const aclrtStreamAttr attribute : kAll) {
    EXPECT_EQ(aclrtGetStreamAttribute(stale, attribute, &value), kStale);
    EXPECT_EQ(set(stale, attribute, 0), kStale);
  }
  EXPECT_EQ(value.failureMode, 0x5A5A5A5A5A5A5A5A) << "nothing was written";
}

TEST_F(StreamAttributes, R149_WhatIsSetIsRead_EachStreamHasItsOwn) {
  const Stream stream, other;
  const std::vector<aclrtStreamAttr> plain = {ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
                                              ACL_STREAM_ATTR_USER_CUSTOM_TAG, ACL_STREAM_ATTR_CACHE_OP_INFO};
  for (const aclrtStreamAttr attribute : plain) {
    EXPECT_EQ(get(stream.get(), attribute), 0U) << attribute << " at first";
    EXPECT_EQ(set(stream.get(), attribute, 1), ACL_SUCCESS) << attribute;
    EXPECT_EQ(get(stream.get(), attribute), 1U) << attribute;
    EXPECT_EQ(get(other.get(), attribute), 0U) << attribute;
    EXPECT_EQ(get(nullptr, attribute), 0U) << attribute;
  }
  EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), 0U) << "the attributes do not mix";
  EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_PRIORITY), 0U);
  for (const std::uint32_t tag : {7U, 0x80000000U, 0xFFFFFFFFU, 0U}) {
    EXPECT_EQ(set(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG, tag), ACL_SUCCESS);
    EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_USER_CUSTOM_TAG), tag);
  }
  for (const aclrtStreamAttr attribute : plain) EXPECT_EQ(set(stream.get(), attribute, 0), ACL_SUCCESS);
  for (const aclrtStreamAttr attribute : plain) EXPECT_EQ(get(stream.get(), attribute), 0U) << attribute;
}

TEST_F(StreamAttributes, R149_NullIsTheDefaultStream_ButNotForItsPriority) {
  for (const aclrtStreamAttr attribute : {ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
                                          ACL_STREAM_ATTR_USER_CUSTOM_TAG, ACL_STREAM_ATTR_CACHE_OP_INFO}) {
    EXPECT_EQ(set(nullptr, attribute, 1), ACL_SUCCESS);
    EXPECT_EQ(get(default_stream(), attribute), 1U);
    EXPECT_EQ(set(default_stream(), attribute, 0), ACL_SUCCESS);
    EXPECT_EQ(get(nullptr, attribute), 0U);
  }
  EXPECT_EQ(set(nullptr, ACL_STREAM_ATTR_FAILURE_MODE, 0), ACL_SUCCESS);
  last_error();
  EXPECT_EQ(set(nullptr, ACL_STREAM_ATTR_PRIORITY, 3), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(get(nullptr, ACL_STREAM_ATTR_PRIORITY), 0U);
}

TEST_F(StreamAttributes, R150_ThePriorityIsCutOffAtSeven) {
  const Stream stream;
  for (const std::uint32_t asked : {1U, 0U, 6U, 7U, 8U, 1000U, 0xFFFFFFFFU, 4U}) {
    const std::uint32_t stored = asked < 7 ? asked : 7;
    EXPECT_EQ(set(stream.get(), ACL_STREAM_ATTR_PRIORITY, asked), ACL_SUCCESS);
    EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_PRIORITY), stored);
    std::uint32_t read = 77;
    EXPECT_EQ(aclrtStreamGetPriority(stream.get(), &read), ACL_SUCCESS);
    EXPECT_EQ(read, stored);
  }
  aclrtStream made = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&made, 6, 0), ACL_SUCCESS);
  EXPECT_EQ(get(made, ACL_STREAM_ATTR_PRIORITY), 6U) << "the one of creation";
  EXPECT_EQ(aclrtDestroyStream(made), ACL_SUCCESS);
}

TEST_F(StreamAttributes, R151_TheOverflowSwitch) {
  const Stream stream;
  std::uint32_t flag = 77;
  EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream.get(), nullptr), kBadArgument);
  for (const std::uint32_t wrong : {2U, 3U, 256U, 0xFFFFFFFFU})
    EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream.get(), wrong), kBadArgument) << wrong;
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream.get(), &flag), ACL_SUCCESS);
  EXPECT_EQ(flag, 0U);
  for (aclrtStream one : {stream.get(), aclrtStream{nullptr}}) {
    for (const std::uint32_t value : {1U, 1U, 0U}) {
      EXPECT_EQ(aclrtSetStreamOverflowSwitch(one, value), ACL_SUCCESS);
      EXPECT_EQ(aclrtGetStreamOverflowSwitch(one, &flag), ACL_SUCCESS);
      EXPECT_EQ(flag, value);
      EXPECT_EQ(get(one, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), value) << "the same as the attribute";
    }
  }
  aclrtStream const stale = stale_stream();
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stale, 2), kBadArgument) << "the flag is looked at first";
  without_context([&] {
    EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream.get(), 1), kNoContext);
    EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream.get(), &flag), kNoContext);
    EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream.get(), 2), kBadArgument);
  });
}

TEST_F(StreamAttributes, R152_TheFailureModeIsOneBit_AndStopIsForGood) {
  for (const bool by_attribute : {false, true}) {
    const Stream stream, other;
    const auto mode = [&](std::uint64_t value) {
      return by_attribute ? set(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE, value)
                          : aclrtSetStreamFailureMode(stream.get(), value);
    };
    EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), ACL_CONTINUE_ON_FAILURE);
    EXPECT_EQ(mode(ACL_CONTINUE_ON_FAILURE), ACL_SUCCESS);
    EXPECT_EQ(mode(0xFFFFFFFFFFFFFFFE), ACL_SUCCESS) << "only bit 0 matters";
    EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), ACL_CONTINUE_ON_FAILURE);
    EXPECT_EQ(mode(ACL_STOP_ON_FAILURE), ACL_SUCCESS);
    EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), ACL_STOP_ON_FAILURE);
    EXPECT_EQ(mode(ACL_STOP_ON_FAILURE), ACL_SUCCESS) << "the same again";
    EXPECT_EQ(mode(0x8000000000000001), ACL_SUCCESS);
    last_error();
    EXPECT_EQ(mode(ACL_CONTINUE_ON_FAILURE), kUnsupported);
    EXPECT_EQ(mode(2), kUnsupported);
    EXPECT_EQ(last_error(), ACL_SUCCESS) << "not supported is no last error (R-20)";
    EXPECT_EQ(get(stream.get(), ACL_STREAM_ATTR_FAILURE_MODE), ACL_STOP_ON_FAILURE);
    EXPECT_EQ(get(other.get(), ACL_STREAM_ATTR_FAILURE_MODE), ACL_CONTINUE_ON_FAILURE);
  }
}

TEST_F(StreamAttributes, R152_TheDefaultStreamIsAllowed) {
  const OwnContext context;
  EXPECT_EQ(aclrtSetStreamFailureMode(nullptr, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  EXPECT_EQ(get(default_stream(), ACL_STREAM_ATTR_FAILURE_MODE), ACL_STOP_ON_FAILURE);
  EXPECT_EQ(aclrtSetStreamFailureMode(nullptr, ACL_CONTINUE_ON_FAILURE), kUnsupported);
  const Stream stream;
  without_context([&] {
    EXPECT_EQ(aclrtSetStreamFailureMode(stream.get(), 1), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
}

}  // namespace stream_attributes_test
