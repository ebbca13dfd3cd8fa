// Settings of streams without effect on memory: cores that a stream may use, and the overflow status.
#include <cstdint>
#include <vector>

#include "support/as_enum.h"
#include "support/gates.h"
#include "support/worker.h"

namespace stream_limits_test {

using namespace belay_test;

class StreamLimits : public OnDevice {};

constexpr aclrtDevResLimitType kCube = ACL_RT_DEV_RES_CUBE_CORE, kVector = ACL_RT_DEV_RES_VECTOR_CORE;

std::uint32_t limit_of(aclrtStream stream, aclrtDevResLimitType type) {
  std::uint32_t value = 777777;
  EXPECT_EQ(aclrtGetStreamResLimit(stream, type, &value), ACL_SUCCESS);
  return value;
}
std::uint32_t limit_here(aclrtDevResLimitType type) {
  std::uint32_t value = 777777;
  EXPECT_EQ(aclrtGetResInCurrentThread(type, &value), ACL_SUCCESS);
  return value;
}
std::uint32_t cores(aclrtDevAttr attribute) {
  std::int64_t value = -1;
  EXPECT_EQ(aclrtGetDeviceInfo(0, attribute, &value), ACL_SUCCESS);
  return static_cast<std::uint32_t>(value);
}

TEST_F(StreamLimits, R124_TheCoreCountUntilSet_AndAfterReset) {
  const Stream stream, other;
  const std::uint32_t cubes = cores(ACL_DEV_ATTR_CUBE_CORE_NUM),
                      vectors = cores(ACL_DEV_ATTR_VECTOR_CORE_NUM);
  EXPECT_EQ(limit_of(stream.get(), kCube), cubes);
  EXPECT_EQ(limit_of(stream.get(), kVector), vectors);
  EXPECT_EQ(aclrtSetStreamResLimit(stream.get(), kCube, 3), ACL_SUCCESS);
  EXPECT_EQ(limit_of(stream.get(), kCube), 3U);
  EXPECT_EQ(limit_of(stream.get(), kVector), vectors) << "the other kind stays";
  EXPECT_EQ(limit_of(other.get(), kCube), cubes) << "so does the other stream";
  EXPECT_EQ(limit_of(nullptr, kCube), cubes);
  EXPECT_EQ(aclrtSetStreamResLimit(stream.get(), kVector, 5), ACL_SUCCESS);
  EXPECT_EQ(limit_of(stream.get(), kVector), 5U);
  EXPECT_EQ(aclrtResetStreamResLimit(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(limit_of(stream.get(), kCube), cubes);
  EXPECT_EQ(limit_of(stream.get(), kVector), vectors);
}

TEST_F(StreamLimits, R124_NullIsTheDefaultStream) {
  const std::uint32_t cubes = limit_of(nullptr, kCube);
  EXPECT_EQ(aclrtSetStreamResLimit(nullptr, kCube, 2), ACL_SUCCESS);
  EXPECT_EQ(limit_of(default_stream(), kCube), 2U);
  EXPECT_EQ(limit_of(nullptr, kCube), 2U);
  EXPECT_EQ(aclrtUseStreamResInCurrentThread(nullptr), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), 2U);
  EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(nullptr), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), cubes);
  EXPECT_EQ(aclrtResetStreamResLimit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(limit_of(default_stream(), kCube), cubes);
}

TEST_F(StreamLimits, R124_Errors) {
  const Stream stream;
  std::uint32_t value = 77;
  for (const int wrong : {2, 3, -1, 100}) {
    const auto type = as_enum<aclrtDevResLimitType>(wrong);
    EXPECT_EQ(aclrtGetStreamResLimit(stream.get(), type, &value), kBadValue) << wrong;
    EXPECT_EQ(aclrtSetStreamResLimit(stream.get(), type, 1), kBadValue) << wrong;
    EXPECT_EQ(last_error(), kBadValue);
    EXPECT_EQ(aclrtGetStreamResLimit(stream.get(), type, nullptr), kBadArgument) << wrong;
  }
  EXPECT_EQ(aclrtGetStreamResLimit(stream.get(), kCube, nullptr), kBadArgument);
  aclrtStream const stale = stale_stream();
  EXPECT_EQ(aclrtGetStreamResLimit(stale, kCube, &value), kStale);
  EXPECT_EQ(aclrtSetStreamResLimit(stale, kCube, 1), kStale);
  EXPECT_EQ(aclrtResetStreamResLimit(stale), kStale);
  EXPECT_EQ(aclrtUseStreamResInCurrentThread(stale), kStale);
  EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(stale), kStale);
  EXPECT_EQ(value, 77U);
  without_context([&] {
    EXPECT_EQ(aclrtGetStreamResLimit(nullptr, kCube, &value), kNoContext) << "no default stream here";
    EXPECT_EQ(aclrtUseStreamResInCurrentThread(nullptr), kNoContext);
  });
}

TEST_F(StreamLimits, R124_TheStreamGoesBeforeTheProcess_AndThatBeforeTheHardware) {
  const std::uint32_t cubes = limit_here(kCube), vectors = limit_here(kVector);
  const Stream stream, other;
  EXPECT_EQ(aclrtSetStreamResLimit(stream.get(), kCube, 3), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), cubes) << "set, but not used";
  EXPECT_EQ(aclrtSetDeviceResLimit(0, kCube, 7), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), 7U);
  EXPECT_EQ(aclrtUseStreamResInCurrentThread(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), 3U);
  EXPECT_EQ(limit_here(kVector), vectors) << "the stream has no limit of this kind";
  on_new_thread([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(limit_here(kCube), 7U) << "used in this thread only";
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtSetStreamResLimit(stream.get(), kCube, 4), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), 4U) << "as it is now";
  EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), 7U);
  EXPECT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), cubes);
}

TEST_F(StreamLimits, R124_AStreamThatIsGoneIsNoLongerUsed) {
  const std::uint32_t cubes = limit_here(kCube);
  aclrtStream const stream = new_stream();
  EXPECT_EQ(aclrtSetStreamResLimit(stream, kCube, 3), ACL_SUCCESS);
  EXPECT_EQ(aclrtUseStreamResInCurrentThread(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(limit_here(kCube), cubes);
}

TEST_F(StreamLimits, R103_TheOverflowStatusIsZero) {
  Device block(256);
  for (aclrtStream stream : {aclrtStream{nullptr}, default_stream()}) {
    write_to(block.get(), Bytes(256, 0xAB));
    EXPECT_EQ(aclrtGetOverflowStatus(block.get(64), 64, stream), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0xAB));
    EXPECT_EQ(read_from(block.get(64), 64), Bytes(64, 0)) << "64 bytes";
    EXPECT_EQ(read_from(block.get(128), 128), Bytes(128, 0xAB)) << "and no more";
  }
}

TEST_F(StreamLimits, R103_R17_TheStatusIsWrittenInStreamOrder) {
  Device block(64);
  const Stream stream;
  const WordGate gate;
  write_to(block.get(), Bytes(64, 0xAB));
  gate.hold(stream.get());
  EXPECT_EQ(aclrtGetOverflowStatus(block.get(), 64, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetOverflowStatus(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 8, 9, 8, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0xAB));
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  Bytes expected(64, 0);
  std::fill_n(expected.begin(), 8, std::uint8_t{9});
  EXPECT_EQ(read_from(block.get(), 64), expected);
}

TEST_F(StreamLimits, R103_Arguments) {
  Device block(128);
  const Stream stream;
  EXPECT_EQ(aclrtGetOverflowStatus(nullptr, 64, stream.get()), kBadArgument);
  EXPECT_EQ(aclrtGetOverflowStatus(nullptr, 64, stale_stream()), kBadArgument);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  write_to(block.get(), Bytes(128, 0xAB));
  for (const std::size_t size : {std::size_t{0}, std::size_t{63}, std::size_t{65}, std::size_t{128}}) {
    EXPECT_EQ(aclrtGetOverflowStatus(block.get(), size, stream.get()), kBadArgument) << size << ": it is 64";
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 128), Bytes(128, 0xAB));
  EXPECT_EQ(aclrtResetOverflowStatus(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetOverflowStatus(stream.get()), ACL_SUCCESS);
}

}  // namespace stream_limits_test
