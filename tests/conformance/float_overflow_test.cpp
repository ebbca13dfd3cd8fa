// Whether a computation overflowed: none runs here, so none did.
#include <cstdint>
#include <functional>
#include <vector>

#include "support/contexts.h"
#include "support/gates.h"
#include "support/refusals.h"
#include "support/streams.h"

namespace float_overflow_test {

using namespace belay_test;

class FloatOverflow : public OnDevice {};

struct Getter {
  const char* name;
  std::function<int(void*, std::uint64_t, aclrtStream)> call;
};
struct Clearer {
  const char* name;
  std::function<int(aclrtStream)> call;
};

std::vector<Getter> getters() {
  std::vector<Getter> all{{"aclrtGetFloatOverflowStatus", aclrtGetFloatOverflowStatus}};
  for (const std::uint32_t mode : {0U, 1U, 2U, 0x80000000U, 0xFFFFFFFFU}) {
    all.push_back(
        {"aclrtNpuGetFloatOverFlowStatus", [mode](void* to, std::uint64_t bytes, aclrtStream stream) {
           return aclrtNpuGetFloatOverFlowStatus(to, bytes, mode, stream);
         }});
  }
  return all;
}
std::vector<Clearer> clearers() {
  std::vector<Clearer> all{{"aclrtResetFloatOverflowStatus", aclrtResetFloatOverflowStatus}};
  for (const std::uint32_t mode : {0U, 1U, 0xFFFFFFFFU}) {
    all.push_back({"aclrtNpuClearFloatOverFlowStatus",
                   [mode](aclrtStream stream) { return aclrtNpuClearFloatOverFlowStatus(mode, stream); }});
  }
  return all;
}

TEST_F(FloatOverflow, R275_TheStatusIsZero) {
  const Device block{256};
  const Stream stream;
  for (const Getter& get : getters()) {
    for (const aclrtStream each : {aclrtStream{nullptr}, default_stream(), stream.get()}) {
      write_to(block.get(), Bytes(256, 0xAB));
      EXPECT_EQ(get.call(block.get(64), 64, each), ACL_SUCCESS) << get.name;
      EXPECT_EQ(finish(each), ACL_SUCCESS);
      EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0xAB));
      EXPECT_EQ(read_from(block.get(64), 64), Bytes(64, 0)) << "64 bytes";
      EXPECT_EQ(read_from(block.get(128), 128), Bytes(128, 0xAB)) << "and no more";
    }
  }
}

TEST_F(FloatOverflow, R275_R17_WrittenInStreamOrder) {
  const Device block{64};
  const Stream stream;
  for (const Getter& get : getters()) {
    EventGate gate{stream};
    write_to(block.get(), Bytes(64, 0xAB));
    EXPECT_EQ(get.call(block.get(), 64, stream), ACL_SUCCESS);
    for (const Clearer& clear : clearers()) EXPECT_EQ(clear.call(stream), ACL_SUCCESS) << clear.name;
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 8, 9, 8, stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0xAB));
    gate.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    Bytes expected(64, 0);
    std::fill_n(expected.begin(), 8, std::uint8_t{9});
    EXPECT_EQ(read_from(block.get(), 64), expected);
  }
}

TEST_F(FloatOverflow, R275_Arguments) {
  const Device block{256};
  const Stream stream;
  write_to(block.get(), Bytes(256, 0xAB));
  for (const Getter& get : getters()) {
    expect_stored(get.call(nullptr, 64, stream), kBadValue, get.name);
    expect_stored(get.call(nullptr, 0, stale_stream()), kBadValue, get.name);
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{65},
                                     std::uint64_t{128}, (std::uint64_t{1} << 32) + 64, UINT64_MAX}) {
      expect_stored(get.call(block.get(), size, stream), kBadValue, get.name);
    }
    expect_stored(get.call(block.get(), 64, stale_stream()), kStale, get.name);
    without_context([&] {
      expect_stored(get.call(nullptr, 64, nullptr), kBadValue, get.name);
      expect_stored(get.call(block.get(), 63, nullptr), kBadValue, get.name);
      expect_stored(get.call(block.get(), 64, nullptr), kNoContext, get.name);
    });
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 256), Bytes(256, 0xAB));
}

TEST_F(FloatOverflow, R275_ClearingNeedsOnlyAStream) {
  const Stream stream;
  const Elsewhere other;
  for (const Clearer& clear : clearers()) {
    EXPECT_EQ(clear.call(nullptr), ACL_SUCCESS);
    EXPECT_EQ(clear.call(stream), ACL_SUCCESS);
    expect_stored(clear.call(stale_stream()), kStale, clear.name);
    expect_stored(clear.call(other.stream()), kOtherContext, clear.name);
    without_context([&] { expect_stored(clear.call(nullptr), kNoContext, clear.name); });
  }
}

// Freed before its turn: the task fails, and nobody else's memory is written.
TEST_F(FloatOverflow, R275_R16_MemoryThatWasFreed) {
  const Stream stream;
  for (const Getter& get : getters()) {
    Device block{64};
    EventGate gate{stream};
    EXPECT_EQ(get.call(block.get(), 64, stream), ACL_SUCCESS);
    block.free_now();
    gate.open();
    EXPECT_EQ(finish(stream), kRefused) << get.name;
    last_error();
  }
}

}  // namespace float_overflow_test
