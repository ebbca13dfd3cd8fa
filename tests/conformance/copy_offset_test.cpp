// aclrtMemcpyAsyncWithOffset: copies between addresses that device memory holds.
#include <limits>

#include "support/copy_offset.h"
#include "support/gates.h"

namespace copy_offset_test {

using namespace belay_test;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max(), kFarthest = 0xFFFFFFFFFFFF;

enum Argument : unsigned {
  kTo = 1,
  kRoom = 2,
  kOffset = 4,
  kFrom = 8,
  kCount = 16,
  kKind = 32,
  kStream = 64,
  kWhere = 128
};

class CopyOffset : public OnDevice {};

TEST_F(CopyOffset, M352_M353_M355_M356_M357_M358_M359_M360_M361_M363_TheFirstMistakeDecides) {
  const Contexts contexts;
  OffsetBlocks blocks;
  const aclrtStream stale = stale_stream();
  Stream stream;
  const std::vector<Mistake<OffsetCopy>> in_order = {
      {"M-352", ACL_SUCCESS, kCount, [](OffsetCopy& c) { c.count = 0; }},
      {"M-353", kBadValue, kKind, [](OffsetCopy& c) { c.kind = ACL_MEMCPY_DEVICE_TO_DEVICE; }},
      {"M-355", kStale, kStream, [&](OffsetCopy& c) { c.stream = stale; }},
      {"M-356", kBadValue, kTo, [](OffsetCopy& c) { c.to = nullptr; }},
      {"M-356", kBadValue, kFrom, [](OffsetCopy& c) { c.from = nullptr; }},
      {"M-357", kBadValue, kRoom, [](OffsetCopy& c) { c.room = 255; }},
      {"M-358", kBadValue, kCount | kRoom,
       [](OffsetCopy& c) {
         c.count = 4 * kGB + 1;
         c.room = kMax;
       }},
      {"M-359", kBadValue, kOffset, [](OffsetCopy& c) { c.from_offset = kFarthest + 1; }},
      {"M-360", kBadValue, kOffset, [](OffsetCopy& c) { c.to_offset = 1; }},
      {"M-361", kNoContext, kWhere, [](OffsetCopy& c) { c.where = Where::none; }},
      {"M-363", kOtherContext, kWhere, [](OffsetCopy& c) { c.where = Where::other; }}};
  expect_order("aclrtMemcpyAsyncWithOffset", contexts, blocks.call(stream), in_order);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(blocks.now(), pattern(256, 2));
}

TEST_F(CopyOffset, M352_M5_CountZero_Is0_WhateverElseIsWrong) {
  int garbage = 0;
  const auto calls = [&] {
    EXPECT_EQ(aclrtMemcpyAsyncWithOffset(nullptr, 0, kMax, nullptr, 0, kMax, kind_of(99), &garbage),
              ACL_SUCCESS);
  };
  calls();
  without_context(calls);
}

TEST_F(CopyOffset, M353_EveryOtherKind_Is107000_AndIsTheLastError) {
  OffsetBlocks blocks;
  Stream stream;
  OffsetCopy call = blocks.call(stream);
  for (const int kind : {0, 1, 2, 3, 4, 5, 7, 8, -1, 0x7FFFFFFF}) {
    call.kind = kind_of(kind);
    EXPECT_EQ(call.run(), kBadValue) << kind;
    EXPECT_EQ(last_error(), kBadValue);
  }
}

TEST_F(CopyOffset, M358_FourGigabytesAndNotOneMore) {
  OffsetBlocks blocks;
  Stream stream;
  OffsetCopy call = blocks.call(stream, 4 * kGB + 1);
  call.room = kMax;
  EXPECT_EQ(call.run(), kBadValue);
  call.count = 4 * kGB;
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kRefused) << "the blocks are not that long, as the task finds out";
}

TEST_F(CopyOffset, M359_TheFarthestOffsets) {
  OffsetBlocks blocks;
  Stream stream;
  for (const std::size_t offset : {kFarthest + 1, kMax}) {
    OffsetCopy call = blocks.call(stream, 1);
    call.from_offset = offset;
    EXPECT_EQ(call.run(), kBadValue) << offset;
    call = blocks.call(stream, 1);
    call.to_offset = offset;
    call.room = kMax;
    EXPECT_EQ(call.run(), kBadValue) << offset;
  }
  OffsetCopy call = blocks.call(stream, 1);
  call.from_offset = kFarthest;
  EXPECT_EQ(call.run(), ACL_SUCCESS) << "accepted; M-365 checks no room there";
  EXPECT_EQ(finish(stream), kRefused);
  call = blocks.call(stream, 1);
  call.to_offset = kFarthest;
  call.room = kMax;
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kRefused);
  EXPECT_EQ(blocks.now(), pattern(256, 2));
}

TEST_F(CopyOffset, M357_M360_TheRoomBehindTheOffset) {
  OffsetBlocks blocks;
  Stream stream;
  struct Case {
    std::size_t room, offset, count;
    bool fits;
  };
  for (const Case& test :
       {Case{256, 0, 256, true}, Case{256, 1, 255, true}, Case{256, 1, 256, false}, Case{256, 255, 1, true},
        Case{256, 255, 2, false}, Case{256, 256, 1, false}, Case{256, 257, 1, false}, Case{100, 50, 50, true},
        Case{100, 50, 51, false}, Case{100, 100, 1, false}, Case{0, 0, 1, false}, Case{1, 0, 1, true}}) {
    write_to(blocks.to.get(), pattern(256, 2));
    OffsetCopy call = blocks.call(stream, test.count);
    call.room = test.room;
    call.to_offset = test.offset;
    EXPECT_EQ(call.run(), test.fits ? ACL_SUCCESS : kBadValue)
        << test.room << " " << test.offset << " " << test.count;
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    Bytes expected = pattern(256, 2);
    if (test.fits)
      std::copy_n(pattern(256, 1).begin(), test.count,
                  expected.begin() + static_cast<std::ptrdiff_t>(test.offset));
    EXPECT_EQ(blocks.now(), expected) << test.room << " " << test.offset << " " << test.count;
  }
}

TEST_F(CopyOffset, M364_BothOffsetsAreAdded_AndTheCallOnlyQueues) {
  OffsetBlocks blocks;
  Stream stream;
  EventGate hold{stream};
  OffsetCopy call = blocks.call(stream, 40);
  call.to_offset = 7;
  call.from_offset = 101;
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(blocks.now(), pattern(256, 2));
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  Bytes expected = pattern(256, 2);
  const Bytes source = pattern(256, 1);
  std::copy_n(source.begin() + 101, 40, expected.begin() + 7);
  EXPECT_EQ(blocks.now(), expected);
}

TEST_F(CopyOffset, M364_TheAddressesAreReadWhenTheTaskRuns) {
  OffsetBlocks blocks;
  Device other_from{256}, other_to{256};
  write_to(other_from.get(), pattern(256, 3));
  write_to(other_to.get(), pattern(256, 4));
  Stream stream;
  EventGate hold{stream};
  put_address(blocks.from_cell(), sentinel());
  put_address(blocks.to_cell(), nullptr);
  EXPECT_EQ(blocks.call(stream).run(), ACL_SUCCESS) << "what the words hold now does not matter";
  put_address(blocks.from_cell(), other_from.get());
  put_address(blocks.to_cell(), other_to.get());
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(other_to.get(), 256), pattern(256, 3));
  EXPECT_EQ(blocks.now(), pattern(256, 2));
}

TEST_F(CopyOffset, M364_TheStreamItselfMayWriteTheAddresses) {
  OffsetBlocks blocks;
  Stream stream;
  put_address(blocks.to_cell(), nullptr);
  EventGate hold{stream};
  EXPECT_EQ(aclrtValueWrite(blocks.to_cell(), number(blocks.to.get()), 0, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(blocks.call(stream).run(), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWrite(blocks.to_cell(), 0, 0, stream.get()), ACL_SUCCESS);
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(blocks.now(), pattern(256, 1));
}

TEST_F(CopyOffset, M365_TheRoomAtTheSourceIsNotCheckedAtTheCall) {
  OffsetBlocks blocks;
  Stream stream;
  OffsetCopy call = blocks.call(stream, 16);
  call.from_offset = 4096 - 16;  // in the last page of the block, though behind its end (M-242)
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  call.from_offset = 1 * kGB;
  EXPECT_EQ(call.run(), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kRefused);
}

TEST_F(CopyOffset, M364_M427_M434_WhatIsWrongWhenTheTaskRuns_FailsAtTheSynchronisation) {
  OffsetBlocks blocks;
  Stream stream;
  Device fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY}, gone{256, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  for (void* address : {static_cast<void*>(nullptr), sentinel(), was, fixed.get()}) {
    put_address(blocks.to_cell(), address);
    EXPECT_EQ(blocks.call(stream).run(), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), kRefused) << address;
    EXPECT_EQ(last_error(), kRefused);
  }
  put_address(blocks.to_cell(), blocks.to.get());
  for (void* address : {static_cast<void*>(nullptr), sentinel(), was}) {
    put_address(blocks.from_cell(), address);
    EXPECT_EQ(blocks.call(stream).run(), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), kRefused) << address;
  }
  EXPECT_EQ(blocks.now(), pattern(256, 2));
  // The words themselves may go away too.
  {
    Device cells{256, ACL_MEM_MALLOC_HUGE_ONLY};
    put_address(cells.get(), blocks.from.get());
    OffsetCopy call = blocks.call(stream);
    call.from = cells.get();
    EventGate hold{stream};
    EXPECT_EQ(call.run(), ACL_SUCCESS);
    cells.free_now();
  }
  EXPECT_EQ(finish(stream), kRefused);
}

}  // namespace copy_offset_test
