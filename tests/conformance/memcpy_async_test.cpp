// aclrtMemcpyAsync and aclrtMemcpyAsyncWithCondition: the checks, in their order.
#include <limits>

#include "support/gates.h"
#include "support/mistakes.h"

namespace memcpy_async_test {

using namespace belay_test;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // aclrtMemcpyAsyncWithCondition is one of two

using Function = aclError (*)(void*, std::size_t, const void*, std::size_t, aclrtMemcpyKind, aclrtStream);

struct Named {
  const char* name;
  Function call;
};

const Named kFunctions[] = {{"aclrtMemcpyAsync", ::aclrtMemcpyAsync},
                            {"aclrtMemcpyAsyncWithCondition", ::aclrtMemcpyAsyncWithCondition}};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

struct Call {
  Function function;
  void* to;
  std::size_t room;
  const void* from;
  std::size_t count;
  aclrtMemcpyKind kind;
  aclrtStream stream;
  Where where = Where::own;
  int run() const { return function(to, room, from, count, kind, stream); }
};

enum Argument : unsigned { kTo = 1, kRoom = 2, kFrom = 4, kCount = 8, kKind = 16, kStream = 32, kWhere = 64 };

class MemcpyAsync : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    block_ = std::make_unique<Device>(256);
    pinned_ = std::make_unique<Pinned>(256);
    stream_ = std::make_unique<Stream>();
    write_to(block_->get(), before_);
    write_to(pinned_->get(), bytes_);
  }
  void TearDown() override {
    stream_.reset();
    block_.reset();
    pinned_.reset();
    OnDevice::TearDown();
  }
  void expect_untouched() const {
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    EXPECT_EQ(read_from(block_->get(), 256), before_);
    EXPECT_EQ(read_from(pinned_->get(), 256), bytes_);
    EXPECT_EQ(plain_, plain_before_);
  }
  Call good(Function function) const {
    return {function, block_->get(), 256, pinned_->get(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream_->get()};
  }
  const Bytes before_ = pattern(256, 1), bytes_ = pattern(256, 2), plain_before_ = pattern(256, 3);
  Bytes plain_ = plain_before_;
  std::unique_ptr<Device> block_;
  std::unique_ptr<Pinned> pinned_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(MemcpyAsync, M248_M249_M250_M251_M252_M253_M255_M256_M257_M258_M259_M262_M434_TheFirstMistakeDecides) {
  const Contexts contexts;
  Pinned second{256};
  Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY}, fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  void* const was = gone.free_now();
  const aclrtStream stale = stale_stream();
  for (const Named& function : kFunctions) {
    expect_order<Call>(function.name, contexts, good(function.call),
                       {{"M-248", ACL_SUCCESS, kCount, [](Call& c) { c.count = 0; }},
                        {"M-249", kBadArgument, kTo, [](Call& c) { c.to = nullptr; }},
                        {"M-250", kBadArgument, kFrom, [](Call& c) { c.from = nullptr; }},
                        {"M-251", kBadArgument, kKind, [](Call& c) { c.kind = kind_of(6); }},
                        {"M-252", kStale, kStream, [&](Call& c) { c.stream = stale; }},
                        {"M-253", kBadValue, kRoom, [](Call& c) { c.room = 255; }},
                        {"M-255", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
                        {"M-256", kBadValue, kKind | kTo | kFrom,
                         [&](Call& c) {
                           c.kind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
                           c.to = pinned_->get();
                           c.from = block_->get();
                         }},
                        {"M-257", kBadValue, kKind | kFrom,
                         [&](Call& c) {
                           c.kind = ACL_MEMCPY_DEVICE_TO_HOST;
                           c.from = plain_.data();
                         }},
                        {"M-258", kUnsupported, kTo | kFrom, [&](Call& c) { c.to = second.get(); }},
                        {"M-259", ACL_SUCCESS, kTo | kFrom, [&](Call& c) { c.from = c.to = was; }},
                        {"M-262", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }},
                        {"M-434", kRefused, kTo, [&](Call& c) { c.to = was; }},
                        {"M-427", kRefused, kTo, [&](Call& c) { c.to = fixed.get(); }}});
    expect_untouched();
  }
}

TEST_F(MemcpyAsync, M248_M5_CountZero_Is0_WhateverElseIsWrong) {
  int garbage = 0;
  const auto calls = [&] {
    for (const Named& function : kFunctions) {
      EXPECT_EQ(function.call(nullptr, 1, nullptr, 0, kind_of(0x7FFFFFFF), &garbage), ACL_SUCCESS);
      EXPECT_EQ(function.call(nullptr, 0, nullptr, 0, kind_of(-1), nullptr), ACL_SUCCESS);
      EXPECT_EQ(function.call(block_->get(kGB), kMax, plain_.data(), 0, kind_of(5), block_->get()),
                ACL_SUCCESS);
    }
  };
  calls();
  without_context(calls);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  expect_untouched();
}

TEST_F(MemcpyAsync, M251_KindsOutside0To5_Are100000) {
  for (const Named& function : kFunctions) {
    Call call = good(function.call);
    for (const int kind : {6, 7, 8, 100, -1, 0x7FFFFFFF, std::numeric_limits<int>::min()}) {
      call.kind = kind_of(kind);
      EXPECT_EQ(call.run(), kBadArgument) << kind;
    }
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  expect_untouched();
}

TEST_F(MemcpyAsync, M252_M4_HandlesThatAreNoStream_Are107017) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  const aclrtStream stale = stale_stream();
  std::uint64_t garbage = 0;
  for (const Named& function : kFunctions) {
    Call call = good(function.call);
    for (void* handle : {stale, context, event, static_cast<void*>(&garbage), block_->get(), pinned_->get(),
                         reinterpret_cast<void*>(std::uintptr_t{1}), sentinel()}) {
      call.stream = handle;
      EXPECT_EQ(call.run(), kStale) << handle;
      EXPECT_EQ(last_error(), kStale);
    }
  }
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  expect_untouched();
}

TEST_F(MemcpyAsync, M253_TooLittleRoom_Is107000_ExactlyEnoughIsFine) {
  for (const Named& function : kFunctions) {
    Call call = good(function.call);
    call.count = 64;
    for (const std::size_t room : {0U, 1U, 63U}) {
      call.room = room;
      EXPECT_EQ(call.run(), kBadValue) << room;
    }
    call.count = kMax;
    call.room = kMax - 1;
    EXPECT_EQ(call.run(), kBadValue);
    expect_untouched();
    call.count = 64;
    for (const std::size_t room : {std::size_t{64}, std::size_t{65}, kMax}) {
      call.room = room;
      write_to(block_->get(), before_);
      EXPECT_EQ(call.run(), ACL_SUCCESS) << room;
      EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
      Bytes expected = before_;
      std::copy_n(bytes_.begin(), 64, expected.begin());
      EXPECT_EQ(read_from(block_->get(), 256), expected) << "and not a byte more";
    }
    write_to(block_->get(), before_);
  }
}

TEST_F(MemcpyAsync, M255_AContextThatWasDestroyedCountsAsNone) {
  std::thread{[&] {
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    for (const Named& function : kFunctions) {
      Call call = good(function.call);
      EXPECT_EQ(call.run(), kNoContext);
      call.stream = nullptr;
      EXPECT_EQ(call.run(), kNoContext);
    }
  }}.join();
  expect_untouched();
}

TEST_F(MemcpyAsync, M259_SameAddress_IsDoneAtOnce_WhateverIsThere) {
  EventGate hold{*stream_};
  for (const Named& function : kFunctions) {
    Call call = good(function.call);
    for (void* place : {block_->get(), block_->get(kGB)}) {
      call.to = place;
      call.from = place;
      EXPECT_EQ(call.run(), ACL_SUCCESS);
    }
    call.to = plain_.data();
    call.from = plain_.data();
    EXPECT_EQ(call.run(), ACL_SUCCESS) << "pageable: the stream is not even waited for";
    call.to = pinned_->get();
    call.from = pinned_->get();
    EXPECT_EQ(call.run(), kUnsupported) << "M-258 comes before";
  }
  hold.open();
  expect_untouched();
}

TEST_F(MemcpyAsync, M434_M272_RangesByPage_AreRefusedAtTheCall_AndTheStreamStaysFine) {
  Pinned much{8192};
  Device block{100};
  write_to(block.get(), pattern(4096, 5));
  for (const Named& function : kFunctions) {
    const auto up = [&](std::size_t offset, std::size_t count) {
      return function.call(block.get(offset), kMax, much.get(), count, ACL_MEMCPY_HOST_TO_DEVICE,
                           stream_->get());
    };
    const auto down = [&](std::size_t offset, std::size_t count) {
      return function.call(much.get(), kMax, block.get(offset), count, ACL_MEMCPY_DEVICE_TO_HOST,
                           stream_->get());
    };
    EXPECT_EQ(up(0, 4097), kRefused);
    EXPECT_EQ(up(1, 4096), kRefused);
    EXPECT_EQ(down(0, 4097), kRefused);
    EXPECT_EQ(down(4095, 2), kRefused);
    EXPECT_EQ(down(0, kMax), kRefused) << "a length that wraps";
    EXPECT_EQ(last_error(), kRefused);
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS) << "nothing was queued";
    EXPECT_EQ(read_from(block.get(), 4096), pattern(4096, 5));
    EXPECT_EQ(down(0, 4096), ACL_SUCCESS) << "the last page belongs to the block";
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    EXPECT_EQ(read_from(much.get(), 4096), pattern(4096, 5));
  }
}

TEST_F(MemcpyAsync, M427_OutOfReadOnlyMemoryIsFine) {
  Device fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  for (const Named& function : kFunctions) {
    EXPECT_EQ(function.call(block_->get(), 256, fixed.get(), 256, ACL_MEMCPY_DEFAULT, stream_->get()),
              ACL_SUCCESS);
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    EXPECT_EQ(read_from(block_->get(), 256), read_from(fixed.get(), 256));
  }
}

TEST_F(MemcpyAsync, M268_AnyAlignmentIsAccepted) {
  Device other{512};
  for (const Named& function : kFunctions) {
    for (const std::size_t shift : {1U, 2U, 7U, 31U, 63U}) {
      for (const std::size_t count : {1U, 3U, 64U, 129U}) {
        Bytes expected = before_;
        write_to(block_->get(), before_);
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(shift), count,
                    expected.begin() + static_cast<std::ptrdiff_t>(shift / 2));
        EXPECT_EQ(
            function.call(other.get(shift), count, pinned_->get(shift), count, kind_of(1), stream_->get()),
            ACL_SUCCESS);
        EXPECT_EQ(
            function.call(block_->get(shift / 2), count, other.get(shift), count, kind_of(3), stream_->get()),
            ACL_SUCCESS);
        EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
        EXPECT_EQ(read_from(block_->get(), 256), expected) << shift << " " << count;
      }
    }
  }
}

}  // namespace memcpy_async_test
