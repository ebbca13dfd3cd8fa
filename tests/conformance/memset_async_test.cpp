// aclrtMemsetAsync and aclrtMemsetD32Async: device memory is filled in stream order, host memory at once.
#include <cstring>
#include <limits>

#include "support/gates.h"
#include "support/mistakes.h"
#include "support/registered.h"

namespace memset_async_test {

using namespace belay_test;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

Bytes words(std::uint32_t value, std::size_t count) {
  Bytes bytes(count * 4);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * 4, &value, 4);
  return bytes;
}

struct Call {
  bool d32;
  void* to;
  std::size_t room, count;  // for D32 the count is in words
  aclrtStream stream;
  Where where = Where::own;
  int run() const {
    return d32 ? aclrtMemsetD32Async(to, room, 0x01020304, count, stream)
               : aclrtMemsetAsync(to, room, 0x5A, count, stream);
  }
};

enum Argument : unsigned { kTo = 1, kRoom = 2, kCount = 4, kStream = 8, kWhere = 16 };

class MemsetAsync : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    block_ = std::make_unique<Device>(256);
    write_to(block_->get(), before_);
    stream_ = std::make_unique<Stream>();
  }
  void TearDown() override {
    stream_.reset();
    block_.reset();
    OnDevice::TearDown();
  }
  Bytes now() const { return read_from(block_->get(), 256); }
  void expect_untouched() const {
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    EXPECT_EQ(now(), before_);
  }
  const Bytes before_ = pattern(256, 1);
  std::unique_ptr<Device> block_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(MemsetAsync, M372_M373_M374_M375_M376_M377_M434_TheFirstMistakeDecides) {
  const Contexts contexts;
  Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY}, fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  void* const was = gone.free_now();
  const aclrtStream stale = stale_stream();
  const std::vector<Mistake<Call>> in_order = {
      {"M-372", ACL_SUCCESS, kCount, [](Call& c) { c.count = 0; }},
      {"M-373", kBadArgument, kTo, [](Call& c) { c.to = nullptr; }},
      {"M-374", kStale, kStream, [&](Call& c) { c.stream = stale; }},
      {"M-375", kBadValue, kRoom, [](Call& c) { c.room = 255; }},
      {"M-376", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"M-377", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }},
      {"M-434", kRefused, kTo, [&](Call& c) { c.to = was; }},
      {"M-427", kRefused, kTo, [&](Call& c) { c.to = fixed.get(); }}};
  expect_order("aclrtMemsetAsync", contexts, Call{false, block_->get(), 256, 256, stream_->get()}, in_order);
  expect_untouched();
  // The same rows for host memory, which no stream fills: none of these calls writes.
  Pinned pinned{256};
  write_to(pinned.get(), before_);
  Bytes plain = before_;
  const std::vector<Mistake<Call>> for_host(in_order.begin(), in_order.begin() + 6);
  for (void* place : {pinned.get(), static_cast<void*>(plain.data())})
    expect_order("aclrtMemsetAsync", contexts, Call{false, place, 256, 256, stream_->get()}, for_host);
  EXPECT_EQ(read_from(pinned.get(), 256), before_);
  EXPECT_EQ(plain, before_);
}

TEST_F(MemsetAsync, M382_M383_M384_M385_M386_M387_M388_M389_TheFirstMistakeDecides_D32) {
  const Contexts contexts;
  Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY}, fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  void* const was = gone.free_now();
  alignas(4) std::uint8_t plain[256] = {};
  const aclrtStream stale = stale_stream();
  const std::vector<Mistake<Call>> in_order = {
      {"M-382", ACL_SUCCESS, kCount, [](Call& c) { c.count = 0; }},
      {"M-383", kBadArgument, kTo, [](Call& c) { c.to = nullptr; }},
      {"M-384", kBadArgument, kTo, [&](Call& c) { c.to = at(was, 2); }},
      {"M-385", kBadArgument, kRoom, [](Call& c) { c.room = 255; }},
      {"M-386", kRefused, kTo, [&](Call& c) { c.to = was; }},
      {"M-387", kBadArgument, kTo, [&](Call& c) { c.to = plain; }},
      {"M-388", kStale, kStream, [&](Call& c) { c.stream = stale; }},
      {"M-389", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"M-4", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }},
      {"M-427", kRefused, kTo, [&](Call& c) { c.to = fixed.get(); }}};
  expect_order("aclrtMemsetD32Async", contexts, Call{true, block_->get(), 256, 64, stream_->get()}, in_order);
  expect_untouched();
  EXPECT_EQ(plain[0], 0);
}

TEST_F(MemsetAsync, M372_M382_M5_NothingToFill_Is0_WhateverElseIsWrong) {
  int garbage = 0;
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemsetAsync(nullptr, 0, 1, 0, &garbage), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(block_->get(kGB), kMax, 1, 0, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32Async(nullptr, 0, 1, 0, &garbage), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32Async(block_->get(1), 0, 1, 0, nullptr), ACL_SUCCESS);
  };
  calls();
  without_context(calls);
  expect_untouched();
}

TEST_F(MemsetAsync, M375_M385_RoomAndCount) {
  struct Case {
    std::size_t room, count;
    bool fits, fits_words;
  };
  for (const Case& test :
       {Case{0, 1, false, false}, Case{3, 1, true, false}, Case{4, 1, true, true}, Case{7, 2, true, false},
        Case{8, 2, true, true}, Case{256, 64, true, true}, Case{255, 64, true, false},
        Case{256, 257, false, false}, Case{63, 64, false, false}, Case{kMax - 1, kMax, false, false}}) {
    const Call bytes{false, block_->get(), test.room, test.count, stream_->get()};
    EXPECT_EQ(bytes.run(), test.fits ? ACL_SUCCESS : kBadValue) << test.room << " " << test.count;
    const Call in_words{true, block_->get(), test.room, test.count, stream_->get()};
    EXPECT_EQ(in_words.run(), test.fits_words ? ACL_SUCCESS : kBadArgument) << test.room << " " << test.count;
  }
  for (const std::size_t count : {kMax, (kMax >> 2U) + 1, (kMax >> 2U) + 2, (kMax >> 1U) + 1}) {
    EXPECT_EQ(aclrtMemsetD32Async(block_->get(), 256, 1, count, stream_->get()), kBadArgument)
        << "the product wraps";
    EXPECT_EQ(aclrtMemsetD32Async(block_->get(), kMax, 1, count, stream_->get()), kBadArgument);
  }
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
}

TEST_F(MemsetAsync, M434_RangesByPage_AreRefusedAtTheCall) {
  Device block{100};
  write_to(block.get(), pattern(4096, 3));
  EXPECT_EQ(aclrtMemsetAsync(block.get(), kMax, 1, 4097, stream_->get()), kRefused);
  EXPECT_EQ(aclrtMemsetAsync(block.get(4095), kMax, 1, 2, stream_->get()), kRefused);
  EXPECT_EQ(aclrtMemsetD32Async(block.get(), kMax, 1, 1025, stream_->get()), kRefused);
  EXPECT_EQ(aclrtMemsetD32Async(block.get(4092), kMax, 1, 2, stream_->get()), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 4096), pattern(4096, 3));
  EXPECT_EQ(aclrtMemsetAsync(block.get(), kMax, 1, 4096, stream_->get()), ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
}

TEST_F(MemsetAsync, M378_M380_M12_D139_DeviceMemory_IsQueued_ExactlyTheBytesAskedFor) {
  for (const int value : {0, 1, 0x5A, 0xFF, 0x1FF, -1, 0x12345680}) {
    write_to(block_->get(), before_);
    EventGate hold{*stream_};
    EXPECT_EQ(aclrtMemsetAsync(block_->get(3), 200, value, 100, stream_->get()), ACL_SUCCESS);
    EXPECT_EQ(now(), before_);
    hold.open();
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    Bytes expected = before_;
    std::fill_n(expected.begin() + 3, 100, static_cast<std::uint8_t>(value));
    EXPECT_EQ(now(), expected) << value;
  }
}

TEST_F(MemsetAsync, M391_M12_Words_DeviceMemory_IsQueued_ExactlyTheWordsAskedFor) {
  for (const std::uint32_t value : {0U, 1U, 0x01020304U, 0x80000000U, 0xFFFFFFFFU}) {
    write_to(block_->get(), before_);
    EventGate hold{*stream_};
    EXPECT_EQ(aclrtMemsetD32Async(block_->get(4), 200, value, 25, stream_->get()), ACL_SUCCESS);
    EXPECT_EQ(now(), before_);
    hold.open();
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    Bytes expected = before_;
    const Bytes filled = words(value, 25);
    std::copy(filled.begin(), filled.end(), expected.begin() + 4);
    EXPECT_EQ(now(), expected) << value;
  }
}

TEST_F(MemsetAsync, M380_M391_D139_HostMemory_IsFilledDuringTheCall_OutOfStreamOrder) {
  Pinned pinned{256};
  Registered registered;
  Bytes plain(256);
  EventGate hold{*stream_};
  for (void* place : {pinned.get(), registered.get(), static_cast<void*>(plain.data())}) {
    std::fill_n(at(place, 0), 256, std::uint8_t{9});
    EXPECT_EQ(aclrtMemsetAsync(at(place, 1), 254, 0x33, 254, stream_->get()), ACL_SUCCESS);
    Bytes expected(256, 0x33);
    expected.front() = expected.back() = 9;
    EXPECT_EQ(Bytes(at(place, 0), at(place, 256)), expected) << "while the stream is held";
  }
  for (void* place : {pinned.get(), registered.get()}) {
    EXPECT_EQ(aclrtMemsetD32Async(place, 256, 0xCAFEBABE, 64, stream_->get()), ACL_SUCCESS);
    EXPECT_EQ(Bytes(at(place, 0), at(place, 256)), words(0xCAFEBABE, 64));
  }
  plain.assign(256, 9);
  void* const aligned = at(plain.data(), (4 - number(plain.data()) % 4) % 4);
  EXPECT_EQ(aclrtMemsetD32Async(aligned, 64, 1, 16, stream_->get()), kBadArgument) << "M-387";
  EXPECT_EQ(plain, Bytes(256, 9));
  hold.open();
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(Bytes(at(pinned.get(), 0), at(pinned.get(), 256)), words(0xCAFEBABE, 64)) << "and not once more";
}

TEST_F(MemsetAsync, M391_R13_NullIsTheDefaultStream) {
  EventGate hold{default_stream()};
  EXPECT_EQ(aclrtMemsetAsync(block_->get(), 128, 7, 128, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetD32Async(block_->get(128), 128, 0x07070707, 32, nullptr), ACL_SUCCESS);
  EXPECT_EQ(now(), before_);
  hold.open();
  EXPECT_EQ(finish(aclrtStream{nullptr}), ACL_SUCCESS);
  EXPECT_EQ(now(), Bytes(256, 7));
}

TEST_F(MemsetAsync, M272_M434_MemoryFreedBeforeTheFillRuns_Is507899) {
  for (const bool d32 : {false, true}) {
    Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY};
    EventGate hold{*stream_};
    EXPECT_EQ((Call{d32, gone.get(), 256, 64, stream_->get()}.run()), ACL_SUCCESS);
    gone.free_now();
    hold.open();
    EXPECT_EQ(finish(*stream_), kRefused);
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS) << "told once";
  }
}

TEST_F(MemsetAsync, M380_AcrossPages_LargeFillsArriveWhole) {
  constexpr std::size_t size = 64 * kMB + 12;  // more than one message
  Device big{size + 64};
  ASSERT_EQ(aclrtMemset(big.get(size), 64, 0x11, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(big.get(), size, 0x44, size, stream_->get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetD32Async(big.get(4), size - 8, 0x55667788, (size - 8) / 4, stream_->get()),
            ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(read_from(big.get(), 4), Bytes(4, 0x44));
  EXPECT_EQ(read_from(big.get(4), size - 8), words(0x55667788, (size - 8) / 4));
  EXPECT_EQ(read_from(big.get(size - 4), 4), Bytes(4, 0x44));
  EXPECT_EQ(read_from(big.get(size), 64), Bytes(64, 0x11));
}

}  // namespace memset_async_test
