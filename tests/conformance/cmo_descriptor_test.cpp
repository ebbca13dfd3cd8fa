// Descriptors of cache operations: their size, how they are written, and the operation that takes one.
#include <cstring>

#include "support/as_enum.h"
#include "support/gates.h"
#include "support/mistakes.h"
#include "support/refusals.h"

namespace cmo_descriptor_test {

using namespace belay_test;

class CmoDescriptor : public OnDevice {};

int operate(void* descriptor, int type, aclrtStream stream, const void* reserve = nullptr) {
  return aclrtCmoAsyncWithDesc(descriptor, as_enum<aclrtCmoType>(type), stream, reserve);
}

// What stands in a descriptor of 32 bytes.
Bytes descriptor_of(const void* source, std::uint32_t length) {
  Bytes bytes(32);
  const std::uint64_t address = number(source);
  std::memcpy(&bytes[12], &length, 4);
  std::memcpy(&bytes[16], &address, 8);
  return bytes;
}

TEST_F(CmoDescriptor, V373_V374_TheSizeIs32) {
  std::size_t size = 77;
  EXPECT_EQ(aclrtCmoGetDescSize(&size), ACL_SUCCESS);
  EXPECT_EQ(size, 32U);
  expect_stored(aclrtCmoGetDescSize(nullptr), kBadValue, "aclrtCmoGetDescSize");
  without_context([] {
    std::size_t there = 77;
    EXPECT_EQ(aclrtCmoGetDescSize(&there), ACL_SUCCESS) << "no context is needed";
    EXPECT_EQ(there, 32U);
  });
}

struct Set {
  void* descriptor;
  void* source;
  std::size_t size;
  Where where = Where::own;
  int run() const { return aclrtCmoSetDesc(descriptor, source, size); }
};

enum Argument : unsigned {
  kDescriptor = 1,
  kSource = 2,
  kSize = 4,
  kType = 8,
  kStream = 16,
  kReserve = 32,
  kWhere = 64
};

TEST_F(CmoDescriptor, V375_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Device block{4096};
  write_to(block.get(), pattern(64, 2));
  const std::vector<Mistake<Set>> in_order = {
      {"V-375", kBadValue, kDescriptor, [](Set& c) { c.descriptor = nullptr; }},
      {"V-375", kBadValue, kSource, [](Set& c) { c.source = nullptr; }},
      {"V-375", kBadValue, kSize, [](Set& c) { c.size = 0; }},
      {"V-375", kNoContext, kWhere, [](Set& c) { c.where = Where::none; }}};
  expect_order("aclrtCmoSetDesc", contexts, Set{block.get(), block.get(64), 64}, in_order);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 2)) << "nothing was written";
}

TEST_F(CmoDescriptor, V376_V7_WrittenDuringTheCall_AndNothingBehindIt) {
  const Device block{4096}, source{4096};
  EventGate hold{default_stream()};  // no stream has a part in it
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{0xFFFFFFFF},
                                 std::size_t{0x100000000}, std::size_t{0x123456789}}) {
    write_to(block.get(), pattern(96, 3));
    EXPECT_EQ(aclrtCmoSetDesc(block.get(32), source.get(7), size), ACL_SUCCESS) << size;
    Bytes expected = pattern(96, 3);
    const Bytes made = descriptor_of(source.get(7), static_cast<std::uint32_t>(size));
    std::copy(made.begin(), made.end(), expected.begin() + 32);
    EXPECT_EQ(read_from(block.get(), 96), expected) << size;
  }
}

TEST_F(CmoDescriptor, V376_AnyOtherContextOfTheDevice) {
  const Device block{4096};
  const OwnContext context;
  EXPECT_EQ(aclrtCmoSetDesc(block.get(), block.get(64), 64), ACL_SUCCESS);
  context.leave();
  EXPECT_EQ(read_from(block.get(), 32), descriptor_of(block.get(64), 64));
}

TEST_F(CmoDescriptor, V377_OnlyDeviceMemory) {
  const Device block{4096};
  const Pinned pinned{64};
  std::memset(pinned.get(), 0x5A, 64);
  Bytes plain(64, 0x5A);
  for (void* const place : {pinned.get(), static_cast<void*>(plain.data())})
    expect_stored(aclrtCmoSetDesc(place, block.get(), 64), kBadValue, "aclrtCmoSetDesc");
  EXPECT_EQ(plain, Bytes(64, 0x5A));
  EXPECT_EQ(*at(pinned.get(), 16), 0x5A);
}

struct Operate {
  void* descriptor;
  int type;
  aclrtStream stream;
  const void* reserve;
  Where where = Where::own;
  int run() const { return operate(descriptor, type, stream, reserve); }
};

TEST_F(CmoDescriptor, V378_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Device block{4096};
  Stream stream;
  const aclrtStream stale = stale_stream();
  ASSERT_EQ(aclrtCmoSetDesc(block.get(), block.get(64), 64), ACL_SUCCESS);
  const std::vector<Mistake<Operate>> in_order = {
      {"V-378", kBadValue, kReserve, [&](Operate& c) { c.reserve = block.get(); }},
      {"V-378", kStale, kStream, [&](Operate& c) { c.stream = stale; }},
      {"V-378", kBadValue, kDescriptor, [](Operate& c) { c.descriptor = nullptr; }},
      {"V-378", kBadValue, kType, [](Operate& c) { c.type = 4; }},
      {"V-378", kNoContext, kWhere, [](Operate& c) { c.where = Where::none; }},
      {"V-378", kOtherContext, kWhere, [](Operate& c) { c.where = Where::other; }}};
  expect_order("aclrtCmoAsyncWithDesc", contexts, Operate{block.get(), 0, stream, nullptr}, in_order);
}

TEST_F(CmoDescriptor, V378_V380_NullIsTheDefaultStream_EveryOtherStreamWillDo) {
  const Device block{4096};
  ASSERT_EQ(aclrtCmoSetDesc(block.get(), block.get(64), 64), ACL_SUCCESS);
  EventGate hold{default_stream()};
  EXPECT_EQ(operate(block.get(), 0, nullptr), ACL_SUCCESS);
  EXPECT_FALSE(idle(default_stream()));
  hold.open();
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
  for (int type = 0; type < 4; ++type) {
    Stream stream;
    EXPECT_EQ(operate(block.get(), type, stream), ACL_SUCCESS) << type;
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << type;
  }
  for (const int type : {4, 5, 100, -1}) EXPECT_EQ(operate(block.get(), type, nullptr), kBadValue) << type;
}

TEST_F(CmoDescriptor, V379_AnyAlignment) {
  const Device block{4096};
  for (const std::size_t offset : {1U, 8U, 32U, 63U}) {
    EXPECT_EQ(aclrtCmoSetDesc(block.get(offset), block.get(1024), 64), ACL_SUCCESS) << offset;
    EXPECT_EQ(operate(block.get(offset), 0, nullptr), ACL_SUCCESS) << offset;
  }
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
}

TEST_F(CmoDescriptor, V381_OnlyTheFirst8BytesChange_DuringTheCall) {
  const Device block{4096};
  write_to(block.get(), pattern(96, 4));
  ASSERT_EQ(aclrtCmoSetDesc(block.get(32), block.get(1024), 640), ACL_SUCCESS);
  const Bytes before = read_from(block.get(), 96);
  Stream stream;
  EventGate hold{stream};
  EXPECT_EQ(operate(block.get(32), ACL_RT_CMO_TYPE_FLUSH, stream), ACL_SUCCESS);
  const Bytes at_once = read_from(block.get(), 96);
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 96), at_once) << "the task itself writes nothing";
  for (std::size_t i = 0; i < 96; ++i) {
    if (i < 32 || i >= 40) {
      EXPECT_EQ(at_once[i], before[i]) << i;
    }
  }
}

TEST_F(CmoDescriptor, V381_ADescriptorThatGoesBeforeTheTaskRuns_IsNoCrash) {
  Device block{4096, ACL_MEM_MALLOC_HUGE_ONLY};
  const Marks marks;
  ASSERT_EQ(aclrtCmoSetDesc(block.get(), block.get(64), 64), ACL_SUCCESS);
  Stream stream;
  {
    EventGate hold{stream};
    EXPECT_EQ(operate(block.get(), 0, stream), ACL_SUCCESS);
    block.free_now();
  }
  const int answer = finish(stream);
  EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
  marks.queue(stream);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

}  // namespace cmo_descriptor_test
