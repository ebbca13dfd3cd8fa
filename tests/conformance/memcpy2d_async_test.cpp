// aclrtMemcpy2dAsync: rows of bytes, queued on a stream.
#include <array>
#include <limits>

#include "support/gates.h"
#include "support/mistakes.h"
#include "support/stripes.h"

namespace memcpy2d_async_test {

using namespace belay_test;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr auto kUp = ACL_MEMCPY_HOST_TO_DEVICE, kDown = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kInside = ACL_MEMCPY_DEVICE_TO_DEVICE, kByAddress = ACL_MEMCPY_DEFAULT;
constexpr std::size_t kMostRows = 5242880, kMostWidth = 5000000;

struct Call {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, width, height;
  aclrtMemcpyKind kind;
  aclrtStream stream;
  Where where = Where::own;
  int run() const {
    return ::aclrtMemcpy2dAsync(to, to_pitch, from, from_pitch, width, height, kind, stream);
  }
};

enum Argument : unsigned {
  kTo = 1,
  kPitches = 2,
  kFrom = 4,
  kWidth = 8,
  kHeight = 16,
  kKind = 32,
  kStream = 64,
  kWhere = 128
};

class Memcpy2dAsync : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    block_ = std::make_unique<Device>(4096);
    pinned_ = std::make_unique<Pinned>(4096);
    stream_ = std::make_unique<Stream>();
    restore();
  }
  void TearDown() override {
    stream_.reset();
    block_.reset();
    pinned_.reset();
    OnDevice::TearDown();
  }
  void restore() {
    write_to(block_->get(), before_);
    write_to(pinned_->get(), bytes_);
    plain_ = plain_before_;
  }
  void expect_untouched() const {
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    EXPECT_EQ(read_from(block_->get(), 4096), before_);
    EXPECT_EQ(read_from(pinned_->get(), 4096), bytes_);
    EXPECT_EQ(plain_, plain_before_);
  }
  Call good() const { return {block_->get(), 64, pinned_->get(), 64, 32, 4, kUp, stream_->get()}; }
  const Bytes before_ = pattern(4096, 1), bytes_ = pattern(4096, 2), plain_before_ = pattern(4096, 3);
  Bytes plain_ = plain_before_;
  std::unique_ptr<Device> block_;
  std::unique_ptr<Pinned> pinned_;
  std::unique_ptr<Stream> stream_;
};

// What `to` holds after the copy, computed the plain way.
Bytes rows(Bytes to, std::size_t to_pitch, const Bytes& from, std::size_t from_pitch, std::size_t width,
           std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t i = 0; i < width; ++i) to[row * to_pitch + i] = from[row * from_pitch + i];
  }
  return to;
}

TEST_F(Memcpy2dAsync, M304_M305_M306_M307_M308_M310_M311_M313_M315_M317_M434_TheFirstMistakeDecides) {
  const Contexts contexts;
  Pinned second{4096};
  Device gone{4096, ACL_MEM_MALLOC_HUGE_ONLY}, fixed{4096, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  void* const was = gone.free_now();
  const aclrtStream stale = stale_stream();
  const std::vector<Mistake<Call>> in_order = {
      {"M-304", ACL_SUCCESS, kWidth, [](Call& c) { c.width = 0; }},
      {"M-304", ACL_SUCCESS, kHeight, [](Call& c) { c.height = 0; }},
      {"M-305", kBadArgument, kTo, [](Call& c) { c.to = nullptr; }},
      {"M-305", kBadArgument, kFrom, [](Call& c) { c.from = nullptr; }},
      {"M-306", kBadArgument, kPitches | kWidth, [](Call& c) { c.from_pitch = 31; }},
      {"M-306", kBadArgument, kPitches | kWidth, [](Call& c) { c.to_pitch = 31; }},
      {"M-307", kBadArgument, kKind, [](Call& c) { c.kind = ACL_MEMCPY_HOST_TO_HOST; }},
      {"M-308", kStale, kStream, [&](Call& c) { c.stream = stale; }},
      {"M-310", kBadValue, kHeight, [](Call& c) { c.height = kMostRows + 1; }},
      {"M-311", kBadValue, kPitches | kWidth,
       [](Call& c) { c.width = c.from_pitch = c.to_pitch = kMostWidth + 1; }},
      {"M-313", kBadValue, kTo | kFrom, [&](Call& c) { c.to = second.get(); }},
      {"M-313", kBadValue, kFrom | kKind,
       [&](Call& c) {
         c.from = plain_.data();
         c.kind = kDown;
       }},
      {"M-315", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"M-317", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }},
      {"M-434", kRefused, kTo, [&](Call& c) { c.to = was; }},
      {"M-427", kRefused, kTo, [&](Call& c) { c.to = fixed.get(); }}};
  expect_order("aclrtMemcpy2dAsync", contexts, good(), in_order);
  expect_untouched();
}

TEST_F(Memcpy2dAsync, M309_NoStreamAndNoContext_Is107000_AfterTheFirstLayer) {
  Call call = good();
  call.stream = nullptr;
  without_context([&] {
    EXPECT_EQ(call.run(), kBadValue);
    EXPECT_EQ(last_error(), kBadValue);
    Call worse = call;
    worse.kind = kind_of(7);
    EXPECT_EQ(worse.run(), kBadArgument);
    worse = call;
    worse.stream = stream_->get();
    EXPECT_EQ(worse.run(), kNoContext) << "with a stream it is M-315";
  });
  expect_untouched();
}

TEST_F(Memcpy2dAsync, M307_OtherKinds_Are100000) {
  Call call = good();
  for (const int kind : {0, 5, 6, 7, 8, -1, 99}) {
    call.kind = kind_of(kind);
    EXPECT_EQ(call.run(), kBadArgument) << kind;
  }
  expect_untouched();
}

TEST_F(Memcpy2dAsync, M310_MostRows_M311_WidestRow) {
  Device device{kMostRows};
  Pinned host{kMostRows};
  const Bytes bytes = pattern(kMostRows, 4);
  std::copy(bytes.begin(), bytes.end(), at(host.get(), 0));
  Call call{device.get(), 1, host.get(), 1, 1, kMostRows, kUp, stream_->get()};
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), kMostRows), bytes);
  for (const std::size_t height : {kMostRows + 1, kMax}) {
    call.height = height;
    EXPECT_EQ(call.run(), kBadValue) << height;
  }
  ASSERT_EQ(aclrtMemset(device.get(), kMostRows, 0, kMostRows), ACL_SUCCESS);
  call = {device.get(), kMostWidth, host.get(), kMostWidth, kMostWidth, 1, kUp, stream_->get()};
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), kMostWidth), Bytes(bytes.begin(), bytes.begin() + kMostWidth));
  for (const std::size_t width : {kMostWidth + 1, kMax}) {
    call.width = call.to_pitch = call.from_pitch = width;
    EXPECT_EQ(call.run(), kBadValue) << width;
  }
}

TEST_F(Memcpy2dAsync, M313_M322_M263_M266_TheWholeTable) {
  Pinned pinned{1024};
  Device device{1024};
  Bytes plain(1024);
  constexpr int ok = ACL_SUCCESS, no = kBadValue;
  struct Row {
    const char* name;
    void *to, *from;
    std::array<int, 4> answers;  // kinds 1 to 4
    bool waits;
  };
  for (const Row& row : {Row{"pinned to device", block_->get(), pinned_->get(), {ok, ok, ok, ok}, false},
                         Row{"device to pinned", pinned_->get(), block_->get(), {ok, ok, ok, ok}, false},
                         Row{"device to device", device.get(), block_->get(), {ok, ok, ok, ok}, false},
                         Row{"pinned to pinned", pinned.get(), pinned_->get(), {no, no, no, no}, false},
                         Row{"pageable to device", block_->get(), plain_.data(), {ok, no, ok, ok}, true},
                         Row{"device to pageable", plain_.data(), block_->get(), {no, ok, ok, ok}, true},
                         Row{"pinned to pageable", plain_.data(), pinned_->get(), {ok, no, no, no}, true},
                         Row{"pageable to pinned", pinned_->get(), plain_.data(), {no, ok, no, no}, true},
                         Row{"pageable to pageable", plain.data(), plain_.data(), {ok, ok, ok, no}, true}}) {
    for (int kind = 1; kind <= 4; ++kind) {
      SCOPED_TRACE(std::string{row.name} + ", kind " + std::to_string(kind));
      restore();
      const Bytes from = read_from(row.from, 1024), to = read_from(row.to, 1024);
      const int answer = row.answers[static_cast<std::size_t>(kind) - 1];
      EXPECT_EQ(::aclrtMemcpy2dAsync(row.to, 100, row.from, 90, 50, 10, kind_of(kind), stream_->get()),
                answer);
      const Bytes expected = answer == ok ? rows(to, 100, from, 90, 50, 10) : to;
      if (row.waits) {
        EXPECT_EQ(read_from(row.to, 1024), expected) << "at the return";
      }
      EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
      EXPECT_EQ(read_from(row.to, 1024), expected);
    }
  }
}

TEST_F(Memcpy2dAsync, M318_RowsArriveAtTheirPitch_TheGapsStay_InStreamOrder) {
  struct Shape {
    std::size_t to_pitch, from_pitch, width, height;
  };
  for (const Shape& s : {Shape{64, 64, 64, 4}, Shape{100, 64, 33, 5}, Shape{64, 100, 33, 5},
                         Shape{1, 1, 1, 300}, Shape{1300, 1000, 1000, 3}, Shape{17, 19, 17, 100}}) {
    for (const bool upwards : {true, false}) {
      restore();
      void *const to = upwards ? block_->get() : pinned_->get(), *const from =
                                                                     upwards ? pinned_->get() : block_->get();
      EventGate hold{*stream_};
      EXPECT_EQ(::aclrtMemcpy2dAsync(to, s.to_pitch, from, s.from_pitch, s.width, s.height,
                                     upwards ? kUp : kDown, stream_->get()),
                ACL_SUCCESS);
      EXPECT_EQ(read_from(to, 4096), upwards ? before_ : bytes_) << "only queued";
      hold.open();
      EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
      EXPECT_EQ(read_from(to, 4096), rows(upwards ? before_ : bytes_, s.to_pitch, upwards ? bytes_ : before_,
                                          s.from_pitch, s.width, s.height));
    }
  }
}

TEST_F(Memcpy2dAsync, M318_M271_LargeCopies_ArriveWhole) {
  constexpr std::size_t width = kMostWidth - 3, height = 14, pitch = kMostWidth;  // more than 64 MB
  Pinned source{pitch * height}, result{pitch * height};
  Device device{pitch * height};
  const Bytes bytes = stripes(pitch * height, 6);
  std::copy(bytes.begin(), bytes.end(), at(source.get(), 0));
  std::fill_n(at(result.get(), 0), pitch * height, std::uint8_t{7});
  EXPECT_EQ(
      ::aclrtMemcpy2dAsync(device.get(), width, source.get(), pitch, width, height, kUp, stream_->get()),
      ACL_SUCCESS);
  EXPECT_EQ(
      ::aclrtMemcpy2dAsync(result.get(), pitch, device.get(), width, width, height, kDown, stream_->get()),
      ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  for (std::size_t row = 0; row < height; ++row) {
    const std::uint8_t* const start = at(result.get(), row * pitch);
    EXPECT_TRUE(std::equal(start, start + width, bytes.begin() + static_cast<std::ptrdiff_t>(row * pitch)))
        << row;
    EXPECT_EQ(Bytes(start + width, start + pitch), Bytes(pitch - width, 7)) << row;
  }
}

TEST_F(Memcpy2dAsync, M320_M12_WithPageableMemory_TheCallWaitsForTheStream) {
  for (const bool upwards : {true, false}) {
    restore();
    EventGate hold{*stream_};
    EXPECT_EQ(aclrtMemsetAsync(block_->get(), 4096, 0x44, 4096, stream_->get()), ACL_SUCCESS);
    const OpensLater later{hold};
    EXPECT_EQ(
        ::aclrtMemcpy2dAsync(upwards ? block_->get() : plain_.data(), 64,
                             upwards ? plain_.data() : block_->get(), 64, 32, 64, kByAddress, stream_->get()),
        ACL_SUCCESS);
    EXPECT_TRUE(later.opening()) << "it did not wait";
    const Bytes filled(4096, 0x44);
    EXPECT_EQ(
        upwards ? read_from(block_->get(), 4096) : plain_,
        upwards ? rows(filled, 64, plain_before_, 64, 32, 64) : rows(plain_before_, 64, filled, 64, 32, 64));
  }
}

TEST_F(Memcpy2dAsync, M319_M434_TheLastRowNeedsItsWidthOnly_OneByteMoreIs507899_NothingCopied) {
  const auto up = [&](std::size_t offset, std::size_t width, std::size_t height) {
    return ::aclrtMemcpy2dAsync(block_->get(offset), 2000, pinned_->get(), 1000, width, height, kUp,
                                stream_->get());
  };
  EXPECT_EQ(up(0, 97, 3), kRefused);  // 2 * 2000 + 96 = 4096
  EXPECT_EQ(up(1, 96, 3), kRefused);
  EXPECT_EQ(up(0, 96, 4), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  for (const std::size_t pitch : {kMax, kMax / 2 + 1, std::size_t{1} << 62U}) {
    EXPECT_EQ(::aclrtMemcpy2dAsync(block_->get(), pitch, pinned_->get(), 8, 8, 2, kUp, stream_->get()),
              kRefused);
  }
  expect_untouched();
  EXPECT_EQ(up(0, 96, 3), ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(read_from(block_->get(), 4096), rows(before_, 2000, bytes_, 1000, 96, 3));
}

TEST_F(Memcpy2dAsync, M272_MemoryFreedBeforeTheTaskRuns_Is507899) {
  Device gone{4096, ACL_MEM_MALLOC_HUGE_ONLY};
  EventGate hold{*stream_};
  Call call = good();
  call.to = gone.get();
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  gone.free_now();
  hold.open();
  EXPECT_EQ(finish(*stream_), kRefused);
  expect_untouched();
}

}  // namespace memcpy2d_async_test
