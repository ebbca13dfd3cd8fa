// aclrtCmoAsync: checks in their order, and its place in the stream. It changes no byte.
#include "support/gates.h"
#include "support/managed.h"
#include "support/mistakes.h"
#include "support/refusals.h"

namespace cmo_async_test {

using namespace belay_test;

class CmoAsync : public OnDevice {};

int operate(void* start, std::size_t size, int type, aclrtStream stream) {
  return aclrtCmoAsync(start, size, as_enum<aclrtCmoType>(type), stream);
}

struct Call {
  void* start;
  std::size_t size;
  int type;
  aclrtStream stream;
  Where where = Where::own;
  int run() const { return operate(start, size, type, stream); }
};

enum Argument : unsigned { kStart = 1, kSize = 2, kType = 4, kStream = 8, kWhere = 16 };

TEST_F(CmoAsync, V355_V356_V358_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Device block{4096};
  Stream stream;
  const aclrtStream stale = stale_stream();
  const std::vector<Mistake<Call>> in_order = {
      {"V-355", kBadArgument, kStart, [](Call& c) { c.start = nullptr; }},
      {"V-355", kBadArgument, kSize, [](Call& c) { c.size = 0; }},
      {"V-356", kUnsupported, kType, [](Call& c) { c.type = 4; }},
      {"V-358", kStale, kStream, [&](Call& c) { c.stream = stale; }},
      {"V-358", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"V-358", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }}};
  expect_order("aclrtCmoAsync", contexts, Call{block.get(), 4096, 0, stream}, in_order);
}

TEST_F(CmoAsync, V356_FourTypes) {
  const Device block{4096};
  for (int type = 0; type < 4; ++type)
    EXPECT_EQ(operate(block.get(), 64, type, nullptr), ACL_SUCCESS) << type;
  for (const int type : {4, 5, 100, 0x7FFFFFFF, -1})
    EXPECT_EQ(operate(block.get(), 64, type, nullptr), kUnsupported) << type;
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(CmoAsync, V358_HandlesThatAreNoStream) {
  const Device block{4096};
  const Event event{Kind::plain};
  std::vector<void*> wrong = garbage();
  wrong.push_back(stale_stream());
  wrong.push_back(event);
  wrong.push_back(current_context());
  for (void* const handle : wrong)
    expect_stored(operate(block.get(), 64, 0, handle), kStale, "aclrtCmoAsync");
}

TEST_F(CmoAsync, V358_R13_NullIsTheDefaultStream_AndTheOperationTakesItsTurn) {
  const Device block{4096};
  EventGate hold{default_stream()};
  EXPECT_EQ(operate(block.get(), 4096, 0, nullptr), ACL_SUCCESS) << "the call does not wait";
  EXPECT_FALSE(idle(default_stream()));
  hold.open();
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(CmoAsync, V355_V356_NoByteChanges) {
  const Device block{4096};
  write_to(block.get(), pattern(4096, 12));
  Stream stream;
  for (int type = 0; type < 4; ++type) EXPECT_EQ(operate(block.get(), 4096, type, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 4096), pattern(4096, 12));
}

TEST_F(CmoAsync, V359_EveryKindOfStream) {
  const Device block{4096};
  for (const std::uint32_t flags :
       {0U, static_cast<unsigned>(ACL_STREAM_FAST_LAUNCH), static_cast<unsigned>(ACL_STREAM_FAST_SYNC),
        static_cast<unsigned>(ACL_STREAM_PERSISTENT)}) {
    Stream stream{flags};
    EXPECT_EQ(operate(block.get(), 4096, 0, stream), ACL_SUCCESS) << flags;
  }
}

TEST_F(CmoAsync, V360_LengthsAround32Bits) {
  const Device block{4096};
  for (const std::size_t size : {std::size_t{1}, std::size_t{0xFFFFFFFF}, std::size_t{0x100000000},
                                 std::size_t{0x100000001}, ~std::size_t{0}}) {
    EXPECT_EQ(operate(block.get(), size, 0, nullptr), ACL_SUCCESS) << size;
  }
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(CmoAsync, V361_AnyAddress) {
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  const Pinned pinned{64};
  const Managed managed{64};
  int local = 5;
  Stream stream;
  for (void* const start : {was, pinned.get(), managed.get(), static_cast<void*>(&local), sentinel()})
    EXPECT_EQ(operate(start, 64, 0, stream), ACL_SUCCESS) << start;
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(local, 5);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(CmoAsync, V361_MemoryOfAnotherDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  void* there = nullptr;
  EXPECT_EQ(aclrtMalloc(&there, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(operate(there, 64, 0, nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(there), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

}  // namespace cmo_async_test
