// aclrtMemcpyAsyncWithDesc: copies that read a descriptor when they run.
#include "support/gates.h"
#include "support/mistakes.h"
#include "support/registered.h"

namespace copy_desc_async_test {

using namespace belay_test;

constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

struct Call {
  void* descriptor;
  aclrtMemcpyKind kind;
  aclrtStream stream;
  Where where = Where::own;
  int run() const { return aclrtMemcpyAsyncWithDesc(descriptor, kind, stream); }
};

enum Argument : unsigned { kDescriptor = 1, kKind = 2, kStream = 4, kWhere = 8 };

// A descriptor and two blocks of 256 bytes with different contents.
struct Blocks {
  Device descriptor{4096}, from{256}, to{256}, third{256};
  Blocks() {
    restore();
    EXPECT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, from.get(), to.get(), 256, nullptr), ACL_SUCCESS);
  }
  void restore() const {
    write_to(from.get(), pattern(256, 1));
    write_to(to.get(), pattern(256, 2));
    write_to(third.get(), pattern(256, 3));
  }
};

class CopyDescAsync : public OnDevice {};

TEST_F(CopyDescAsync, M342_M343_M344_M346_M347_M348_M349_M350_TheFirstMistakeDecides) {
  const Contexts contexts;
  Blocks blocks;
  Pinned pinned{64};
  const aclrtStream stale = stale_stream();
  Stream stream;
  const std::vector<Mistake<Call>> in_order = {
      {"M-342", kBadArgument, kDescriptor, [](Call& c) { c.descriptor = nullptr; }},
      {"M-343", kBadArgument, kKind, [](Call& c) { c.kind = kind_of(8); }},
      {"M-344", kBadArgument, kStream, [](Call& c) { c.stream = nullptr; }},
      {"M-346", kStale, kStream, [&](Call& c) { c.stream = stale; }},
      {"M-347", kUnsupported, kKind, [](Call& c) { c.kind = ACL_MEMCPY_DEVICE_TO_DEVICE; }},
      {"M-348", kBadValue, kDescriptor, [&](Call& c) { c.descriptor = pinned.get(); }},
      {"M-349", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"M-350", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }}};
  expect_order("aclrtMemcpyAsyncWithDesc", contexts, Call{blocks.descriptor.get(), kInner, stream.get()},
               in_order);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 2));
}

TEST_F(CopyDescAsync, M343_M347_EveryKind) {
  Blocks blocks;
  Stream stream;
  for (const int kind : {-1, 8, 9, 0x7FFFFFFF})
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kind_of(kind), stream.get()), kBadArgument)
        << kind;
  for (const int kind : {0, 1, 2, 3, 4, 5, 7})
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kind_of(kind), stream.get()), kUnsupported)
        << kind;
}

TEST_F(CopyDescAsync, M344_NullIsNotTheDefaultStream_ItsHandleWorks) {
  Blocks blocks;
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kInner, nullptr), kBadArgument);
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kInner, default_stream()), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 1));
}

TEST_F(CopyDescAsync, M348_DescriptorsThatAreNotInDeviceMemory) {
  Blocks blocks;
  Stream stream;
  Pinned pinned{64};
  Registered registered;
  alignas(64) std::uint8_t plain[64] = {};
  for (void* place : {pinned.get(), registered.get(), static_cast<void*>(plain)})
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(place, kInner, stream.get()), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  EXPECT_NE(aclrtMemcpyAsyncWithDesc(was, kInner, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(CopyDescAsync, M341_TheDescriptorIsReadWhenTheTaskRuns) {
  Blocks blocks;
  Stream stream;
  EventGate hold{stream};
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kInner, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 2)) << "queued";
  EXPECT_EQ(aclrtSetMemcpyDesc(blocks.descriptor.get(), kInner, blocks.from.get(), blocks.third.get(), 100,
                               nullptr),
            ACL_SUCCESS);
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 2)) << "the old destination";
  Bytes expected = pattern(256, 3);
  std::copy_n(pattern(256, 1).begin(), 100, expected.begin());
  EXPECT_EQ(read_from(blocks.third.get(), 256), expected) << "the new destination and length";
}

TEST_F(CopyDescAsync, M341_OneDescriptorManyTimes_ChangedInStreamOrder) {
  Blocks blocks;
  Stream stream;
  // Two descriptors made beforehand, copied one after the other over a third by the stream itself.
  Device other{4096};
  EXPECT_EQ(aclrtSetMemcpyDesc(other.get(), kInner, blocks.from.get(), blocks.third.get(), 256, nullptr),
            ACL_SUCCESS);
  Device used{4096};
  EventGate hold{stream};
  for (void* which : {blocks.descriptor.get(), other.get(), other.get()}) {
    EXPECT_EQ(aclrtMemcpyAsync(used.get(), 64, which, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(used.get(), kInner, stream.get()), ACL_SUCCESS);
  }
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 1));
  EXPECT_EQ(read_from(blocks.third.get(), 256), pattern(256, 1));
}

TEST_F(CopyDescAsync, M351_ADescriptorThatWasNeverSet_FailsAtTheSynchronisation) {
  Device block{4096};
  Stream stream;
  for (const int fill : {0x00, 0xFF, 0x5A}) {
    ASSERT_EQ(aclrtMemset(block.get(), 4096, fill, 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block.get(), kInner, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), kRefused) << fill;
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << "told once";
  }
  // What an old use of the memory has left there makes no descriptor either.
  Blocks blocks;
  ASSERT_EQ(aclrtMemset(block.get(), 4096, 0, 4096), ACL_SUCCESS);
  void* addresses[2] = {blocks.from.get(), blocks.to.get()};
  ASSERT_EQ(aclrtMemcpy(block.get(16), 16, addresses, 16, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block.get(), kInner, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kRefused);
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 2));
}

TEST_F(CopyDescAsync, M341_M427_M434_WhatIsWrongWhenTheTaskRuns_FailsAtTheSynchronisation) {
  Stream stream;
  Device descriptor{4096}, from{256};
  write_to(from.get(), pattern(256, 1));
  Device fixed{256, ACL_MEM_ACCESS_USER_SPACE_READONLY};
  const Bytes before = read_from(fixed.get(), 256);
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, from.get(), fixed.get(), 256, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kRefused) << "read-only";
  EXPECT_EQ(read_from(fixed.get(), 256), before);
  for (const int which : {0, 1, 2}) {  // the source, the destination, or the descriptor goes away
    Device gone{256, ACL_MEM_MALLOC_HUGE_ONLY}, other{256};
    write_to(other.get(), pattern(256, 2));
    void* const written = which == 2 ? gone.get() : descriptor.get();
    ASSERT_EQ(aclrtSetMemcpyDesc(written, kInner, which == 0 ? gone.get() : from.get(),
                                 which == 1 ? gone.get() : other.get(), 256, nullptr),
              ACL_SUCCESS);
    {
      EventGate hold{stream};
      EXPECT_EQ(aclrtMemcpyAsyncWithDesc(written, kInner, stream.get()), ACL_SUCCESS);
      gone.free_now();
    }
    EXPECT_EQ(finish(stream), kRefused) << which;
    EXPECT_EQ(read_from(other.get(), 256), pattern(256, 2));
  }
  // Past the end of the block.
  Device to{256};
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, from.get(), to.get(), kGB, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kRefused);
}

TEST_F(CopyDescAsync, M341_M434_AddressesThatTheProgramHasSpoilt_FailAtTheSynchronisation) {
  Blocks blocks;
  Stream stream;
  Bytes host = pattern(256, 5);
  for (const std::size_t at_byte : {16U, 24U}) {  // M-340: source, destination
    for (void* address : {static_cast<void*>(nullptr), sentinel(), static_cast<void*>(host.data())}) {
      ASSERT_EQ(aclrtSetMemcpyDesc(blocks.descriptor.get(), kInner, blocks.from.get(), blocks.to.get(), 256,
                                   nullptr),
                ACL_SUCCESS);
      ASSERT_EQ(aclrtMemcpy(blocks.descriptor.get(at_byte), 8, &address, 8, ACL_MEMCPY_HOST_TO_DEVICE),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpyAsyncWithDesc(blocks.descriptor.get(), kInner, stream.get()), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), kRefused) << "not device memory: " << address;
    }
  }
  EXPECT_EQ(host, pattern(256, 5));
  EXPECT_EQ(read_from(blocks.to.get(), 256), pattern(256, 2));
}

}  // namespace copy_desc_async_test
