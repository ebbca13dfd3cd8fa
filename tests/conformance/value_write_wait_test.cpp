// aclrtValueWrite and aclrtValueWait: the checks, in their order, and writes.
#include "support/gates.h"
#include "support/mistakes.h"
#include "support/registered.h"
#include "support/slices.h"

namespace value_write_wait_test {

using namespace belay_test;

class ValueWord : public OnDevice {};

std::uint64_t word_at(const void* place) {
  std::uint64_t word = 0;
  EXPECT_EQ(aclrtMemcpy(&word, 8, place, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return word;
}

void put_word(void* place, std::uint64_t word) {
  EXPECT_EQ(aclrtMemcpy(place, 8, &word, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

struct Call {
  bool wait;
  void* place;
  std::uint64_t value;
  std::uint32_t flag;
  aclrtStream stream;
  Where where = Where::own;
  int run() const {
    return wait ? aclrtValueWait(place, value, flag, stream) : aclrtValueWrite(place, value, flag, stream);
  }
};

enum Argument : unsigned { kPlace = 1, kFlag = 2, kStream = 4, kWhere = 8 };

TEST_F(ValueWord, P31_P33_P34_P35_P36_P4_P6_TheFirstMistakeDecides) {
  const Contexts contexts;
  Device block{64};
  put_word(block.get(), 5);
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = gone.free_now();
  Pinned pinned{64};
  const aclrtStream stale = stale_stream();
  Stream stream;
  for (const bool wait : {false, true}) {
    const std::vector<Mistake<Call>> in_order = {
        {"P-31", kBadArgument, kPlace, [](Call& c) { c.place = nullptr; }},
        {"P-33", kStale, kStream, [&](Call& c) { c.stream = stale; }},
        {"P-34", kBadValue, kFlag, [](Call& c) { c.flag = 4; }},
        {"P-35", kBadValue, kPlace, [&](Call& c) { c.place = pinned.get(); }},
        {"P-35", kRefused, kPlace, [&](Call& c) { c.place = was; }},
        {"P-36", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
        {"P-36", kOtherContext, kWhere, [](Call& c) { c.where = Where::other; }}};
    expect_order(wait ? "aclrtValueWait" : "aclrtValueWrite", contexts,
                 Call{wait, block.get(), 0, 0, stream.get()}, in_order);
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(word_at(block.get()), 5U);
}

TEST_F(ValueWord, P4_P33_HandlesThatAreNoStream_Are107017) {
  Device block{64};
  aclrtContext const context = current_context();
  Event event;
  std::uint64_t garbage = 0;
  const aclrtStream stale = stale_stream();
  for (void* handle : {stale, context, event.get(), static_cast<void*>(&garbage), block.get(), sentinel()}) {
    EXPECT_EQ(aclrtValueWrite(block.get(), 1, 0, handle), kStale) << handle;
    EXPECT_EQ(aclrtValueWait(block.get(), 1, 0, handle), kStale) << handle;
    EXPECT_EQ(last_error(), kStale);
  }
}

TEST_F(ValueWord, P34_Flags) {
  Device block{64};
  put_word(block.get(), 6);
  Stream stream;
  for (const std::uint32_t flag : {1U, 2U, 3U, 4U, 0x100U, 0x80000000U, 0xFFFFFFFFU})
    EXPECT_EQ(aclrtValueWrite(block.get(), 1, flag, stream.get()), kBadValue) << flag;
  for (const std::uint32_t flag : {4U, 5U, 8U, 0x100U, 0x80000000U, 0xFFFFFFFFU})
    EXPECT_EQ(aclrtValueWait(block.get(), 6, flag, stream.get()), kBadValue) << flag;
  for (const std::uint32_t flag : {0U, 1U, 2U, 3U})
    EXPECT_EQ(aclrtValueWait(block.get(), 6, flag, stream.get()), ACL_SUCCESS) << flag;
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(word_at(block.get()), 6U);
}

TEST_F(ValueWord, P35_OnlyDeviceMemory_AlsoInTheMiddleOfABlock) {
  Device block{256};
  Pinned pinned{64};
  Registered registered;
  alignas(8) std::uint64_t plain[8] = {};
  Stream stream;
  for (void* place : {pinned.get(), pinned.get(8), registered.get(), static_cast<void*>(plain)}) {
    EXPECT_EQ(aclrtValueWrite(place, 1, 0, stream.get()), kBadValue);
    EXPECT_EQ(aclrtValueWait(place, 1, 0, stream.get()), kBadValue);
    EXPECT_EQ(last_error(), kBadValue);
  }
  EXPECT_EQ(aclrtValueWrite(block.get(kGB), 1, 0, stream.get()), kRefused) << "nothing is there";
  EXPECT_EQ(aclrtValueWait(block.get(kGB), 1, 0, stream.get()), kRefused);
  for (const std::size_t offset : {0U, 8U, 64U, 248U}) {
    EXPECT_EQ(aclrtValueWrite(block.get(offset), offset + 1, 0, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWait(block.get(offset), offset + 1, 1, stream.get()), ACL_SUCCESS);
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  for (const std::size_t offset : {0U, 8U, 64U, 248U}) EXPECT_EQ(word_at(block.get(offset)), offset + 1);
  EXPECT_EQ(plain[0], 0U);
}

TEST_F(ValueWord, P37_AnAddressThatIsNoMultipleOf8_Is107000) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  Stream stream;
  for (std::size_t offset = 1; offset < 8; ++offset) {
    EXPECT_EQ(aclrtValueWrite(block.get(offset), 1, 0, stream.get()), kBadValue) << offset;
    EXPECT_EQ(aclrtValueWait(block.get(offset), 0, 0, stream.get()), kBadValue) << offset;
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
}

TEST_F(ValueWord, P38_AWordThatReachesBeyondItsBlock_IsAccepted) {
  Device block{4};
  Stream stream;
  EXPECT_EQ(aclrtValueWrite(block.get(), 0x1122334455667788, 0, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(block.get(), 0x1122334455667788, 1, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(ValueWord, P39_MemoryOfAnotherDevice_IsAccepted) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  {
    Device there{64};
    put_word(there.get(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Stream stream;
    EXPECT_EQ(aclrtValueWrite(there.get(), 9, 0, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWait(there.get(), 9, 1, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(word_at(there.get()), 9U);
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ValueWord, P40_P41_AWriteIsQueued_AndStores64BitsLowByteFirst) {
  Device block{64};
  write_to(block.get(), pattern(64, 1));
  Stream stream;
  EventGate hold{stream};
  EXPECT_EQ(aclrtValueWrite(block.get(8), 0x8877665544332211, 0, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), pattern(64, 1));
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  Bytes expected = pattern(64, 1);
  for (std::size_t i = 0; i < 8; ++i) expected[8 + i] = static_cast<std::uint8_t>(0x11 * (i + 1));
  EXPECT_EQ(read_from(block.get(), 64), expected) << "the neighbours stay";
}

TEST_F(ValueWord, P40_P41_InOrderWithTheOtherTasksOfTheStream) {
  Device block{64};
  Pinned seen{10 * 8};
  Stream stream;
  EventGate hold{stream};
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(aclrtValueWrite(block.get(), i * 0x0101010101010101, 0, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(seen.get(i * 8), 8, block.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()),
              ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 4, 0xFF, 4, stream.get()), ACL_SUCCESS);
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(read_from(seen.get(i * 8), 8), Bytes(8, static_cast<std::uint8_t>(i))) << i;
  EXPECT_EQ(word_at(block.get()), 0x09090909FFFFFFFFU);
}

TEST_F(ValueWord, P41_NoWaiterSeesHalfAWrite) {
  Device block{64};
  constexpr std::uint64_t low = 0x00000000FFFFFFFF, high = 0xFFFFFFFF00000000;
  put_word(block.get(), low);
  Stream writer, waiter;
  // Either half of one value and the other half of the other would make all bits ones.
  EXPECT_EQ(aclrtValueWait(block.get(), ~0ULL, ACL_STREAM_WAIT_VALUE_EQ, waiter.get()), ACL_SUCCESS);
  for (int round = 0; round < slice(500, 20000); ++round) {
    EXPECT_EQ(aclrtValueWrite(block.get(), high, 0, writer.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWrite(block.get(), low, 0, writer.get()), ACL_SUCCESS);
  }
  EXPECT_EQ(finish(writer), ACL_SUCCESS);
  EXPECT_FALSE(idle(waiter));
  put_word(block.get(), ~0ULL);
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
}

TEST_F(ValueWord, P33_R13_NullIsTheDefaultStream) {
  Device block{64};
  put_word(block.get(), 0);
  EventGate hold{default_stream()};
  EXPECT_EQ(aclrtValueWrite(block.get(), 3, 0, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(block.get(), 3, 1, nullptr), ACL_SUCCESS);
  EXPECT_EQ(word_at(block.get()), 0U);
  hold.open();
  EXPECT_EQ(finish(aclrtStream{nullptr}), ACL_SUCCESS);
  EXPECT_EQ(word_at(block.get()), 3U);
}

TEST_F(ValueWord, P40_AWordFreedBeforeTheWriteRuns_IsNoCrash) {
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  Stream stream;
  {
    EventGate hold{stream};
    EXPECT_EQ(aclrtValueWrite(gone.get(), 3, 0, stream.get()), ACL_SUCCESS);
    gone.free_now();
  }
  const int answer = finish(stream);
  EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

}  // namespace value_write_wait_test
