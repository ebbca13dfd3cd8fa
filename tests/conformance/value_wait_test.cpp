// aclrtValueWait: what releases a stream that waits for a word, and what does not.
#include <cstring>

#include "support/gates.h"

namespace value_wait_test {

using namespace belay_test;

constexpr auto kGeq = ACL_STREAM_WAIT_VALUE_GEQ, kEq = ACL_STREAM_WAIT_VALUE_EQ,
               kAnd = ACL_STREAM_WAIT_VALUE_AND, kNor = ACL_STREAM_WAIT_VALUE_NOR;
constexpr std::uint64_t kOnes = ~0ULL, kTop = 1ULL << 63U;

class ValueWait : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    word_ = std::make_unique<Device>(64);
    stream_ = std::make_unique<Stream>();
    put(0);
  }
  void TearDown() override {
    stream_.reset();
    word_.reset();
    OnDevice::TearDown();
  }
  void put(std::uint64_t word) const {
    EXPECT_EQ(aclrtMemcpy(word_->get(), 8, &word, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  std::uint64_t get() const {
    std::uint64_t word = 0;
    EXPECT_EQ(aclrtMemcpy(&word, 8, word_->get(), 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return word;
  }
  int wait_for(std::uint64_t value, std::uint32_t flag) const {
    return aclrtValueWait(word_->get(), value, flag, stream_->get());
  }
  // A wait that should not be over would be by now.
  void expect_waiting() const {
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_->get(), 20), kStreamTimeout);
    EXPECT_FALSE(idle(*stream_));
    last_error();
    recent_message();
  }
  std::unique_ptr<Device> word_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(ValueWait, P42_P43_P44_P45_TheFourConditions) {
  struct Case {
    std::uint32_t flag;
    std::uint64_t word, value;
    bool passes;
    std::uint64_t passing_word;  // one that passes, where there is any
  };
  constexpr std::uint64_t smallest = kTop, largest = kTop - 1;  // as signed numbers
  const Case cases[] = {{kGeq, 5, 5, true, 0},
                        {kGeq, 6, 5, true, 0},
                        {kGeq, 4, 5, false, 5},
                        {kGeq, 0, kOnes, true, 0},  // the difference wraps to 1
                        {kGeq, kOnes, 0, false, 0},
                        {kGeq, largest, 0, true, 0},  // P-45: any word whose top bit is clear
                        {kGeq, kTop, 0, false, largest},
                        // P-44: here a plain signed comparison would answer the other way round.
                        {kGeq, smallest, largest, true, 0},
                        {kGeq, largest, smallest, false, smallest},
                        {kGeq, largest, kOnes, false, kOnes},
                        {kGeq, smallest, 1, true, 0},
                        {kEq, 7, 7, true, 0},
                        {kEq, kOnes, kOnes, true, 0},
                        {kEq, 8, 7, false, 7},
                        {kEq, 7 | kTop, 7, false, 7},
                        {kEq, 0x100000000, 0, false, 0},  // all 64 bits count
                        {kAnd, 6, 2, true, 0},
                        {kAnd, 6, 3, true, 0},
                        {kAnd, 5, 2, false, 2},
                        {kAnd, kTop, kTop, true, 0},
                        {kAnd, 0, kOnes, false, 1},
                        {kAnd, 0xFFFFFFFF, 0xFFFFFFFF00000000, false, 1ULL << 32U},
                        {kNor, 0, 0, true, 0},
                        {kNor, 1, 2, true, 0},
                        {kNor, kOnes - 1, 0, true, 0},
                        {kNor, kOnes - 1, 1, false, 0},
                        {kNor, kOnes, 0, false, 0},
                        {kNor, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, false, 0}};
  for (const Case& test : cases) {
    SCOPED_TRACE(::testing::Message()
                 << "flag " << test.flag << ", word " << test.word << ", value " << test.value);
    put(test.word);
    ASSERT_EQ(wait_for(test.value, test.flag), ACL_SUCCESS);
    if (!test.passes) {
      expect_waiting();
      EXPECT_EQ(get(), test.word) << "nothing is written";
      put(test.passing_word);
    }
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
    EXPECT_EQ(get(), test.passes ? test.word : test.passing_word) << "the word is not reset";
  }
}

TEST_F(ValueWait, P45_P46_WaitsThatNothingEnds_AreNoError_AndAbortGetsOut) {
  for (const auto& [value, flag] : {std::pair{std::uint64_t{0}, kAnd}, std::pair{kOnes, kNor}}) {
    EXPECT_EQ(wait_for(value, flag), ACL_SUCCESS);
    for (const std::uint64_t word : {std::uint64_t{0}, kOnes, kTop, std::uint64_t{1}}) {
      put(word);
      expect_waiting();
    }
    EXPECT_EQ(aclrtStreamAbort(stream_->get()), ACL_SUCCESS);
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS) << "usable again";
  }
}

TEST_F(ValueWait, P46_SynchroniseWithATimeout_Is507046_AndThereIsNoOtherTimeout) {
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  EXPECT_EQ(wait_for(1, kEq), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_->get(), 1500), kStreamTimeout);
  put(1);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS) << "that setting is for events";
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
}

TEST_F(ValueWait, P46_AbortReleasesWhoeverSynchronises_With107023) {
  EXPECT_EQ(wait_for(1, kEq), ACL_SUCCESS);
  Waiting waiting{[this] { return finish(*stream_); }};
  // The waiter may not have got as far yet: then it finds an empty stream.
  let_time_pass(20ms);
  EXPECT_EQ(aclrtStreamAbort(stream_->get()), ACL_SUCCESS);
  const int answer = waiting.fetch();
  EXPECT_TRUE(answer == kAborted || answer == ACL_SUCCESS) << answer;
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
}

TEST_F(ValueWait, P40_P42_OnlyTheOwnStreamStops_AndNothingOvertakes) {
  Stream other;
  Marks marks;
  const OwnContext context;
  Stream there;
  context.leave();
  marks.queue(stream_->get(), 0);
  EXPECT_EQ(wait_for(1, kEq), ACL_SUCCESS);
  marks.queue(stream_->get(), 1);
  marks.queue(other.get(), 2);
  EXPECT_EQ(finish(other), ACL_SUCCESS) << "another stream runs on";
  EXPECT_TRUE(marks.set(2));
  EXPECT_EQ(aclrtMemsetAsync(word_->get(32), 8, 1, 8, nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(default_stream()), ACL_SUCCESS) << "so does the default stream";
  context.enter();
  marks.queue(there.get(), 3);
  EXPECT_EQ(finish(there), ACL_SUCCESS) << "and another context";
  EXPECT_EQ(aclrtDestroyStream(there.forget()), ACL_SUCCESS);
  context.leave();
  expect_waiting();
  EXPECT_TRUE(marks.set(0)) << "what was queued before the wait has run";
  EXPECT_FALSE(marks.set(1));
  put(1);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(1));
}

TEST_F(ValueWait, P47_AnyWriteReleases) {
  Stream other;
  Pinned one{64};
  Device from{64};
  write_to(one.get(), Bytes(64, 1));
  write_to(from.get(), Bytes(64, 1));
  constexpr std::uint64_t ones = 0x0101010101010101;
  void* const word = word_->get();
  const std::function<int()> writes[] = {
      [&] { return aclrtValueWrite(word, ones, 0, other.get()); },
      [&] { return aclrtMemcpy(word, 8, one.get(), 8, ACL_MEMCPY_HOST_TO_DEVICE); },
      [&] { return aclrtMemcpy(word, 8, from.get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE); },
      [&] { return aclrtMemset(word, 8, 1, 8); },
      [&] { return aclrtMemsetD32(word, 8, 0x01010101, 2); },
      [&] { return aclrtMemcpy2d(word, 4, one.get(), 4, 4, 2, ACL_MEMCPY_HOST_TO_DEVICE); },
      [&] { return aclrtMemcpyAsync(word, 8, one.get(), 8, ACL_MEMCPY_HOST_TO_DEVICE, other.get()); },
      [&] { return aclrtMemcpyAsync(word, 8, from.get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other.get()); },
      [&] { return aclrtMemsetAsync(word, 8, 1, 8, other.get()); },
      [&] { return aclrtMemsetD32Async(word, 8, 0x01010101, 2, other.get()); },
      [&] {
        return aclrtMemcpy2dAsync(word, 4, one.get(), 4, 4, 2, ACL_MEMCPY_HOST_TO_DEVICE, other.get());
      }};
  for (std::size_t i = 0; i < std::size(writes); ++i) {
    put(0);
    EXPECT_EQ(wait_for(ones, kEq), ACL_SUCCESS);
    EXPECT_FALSE(idle(*stream_)) << i;
    EXPECT_EQ(writes[i](), ACL_SUCCESS) << i;
    EXPECT_EQ(finish(*stream_), ACL_SUCCESS) << i;
    EXPECT_EQ(finish(other), ACL_SUCCESS);
  }
}

TEST_F(ValueWait, P47_AWriteOfAPeerReleases) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(wait_for(0x0202020202020202, kEq), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  {
    Device there{64};
    Stream on_the_peer;
    write_to(there.get(), Bytes(64, 2));
    EXPECT_EQ(
        aclrtMemcpyAsync(word_->get(), 8, there.get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, on_the_peer.get()),
        ACL_SUCCESS);
    EXPECT_EQ(finish(on_the_peer), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ValueWait, P47_TwoStreamsThatAnswerEachOther) {
  Device words{128};
  ASSERT_EQ(aclrtMemset(words.get(), 128, 0, 128), ACL_SUCCESS);
  void *const ping = words.get(), *const pong = words.get(64);
  Stream other;
  for (std::uint64_t round = 1; round <= 300; ++round) {
    EXPECT_EQ(aclrtValueWait(pong, round - 1, kGeq, stream_->get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWrite(ping, round, 0, stream_->get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWait(ping, round, kGeq, other.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWrite(pong, round, 0, other.get()), ACL_SUCCESS);
  }
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(finish(other), ACL_SUCCESS);
  EXPECT_EQ(read_from(pong, 8), (Bytes{300 - 256, 1, 0, 0, 0, 0, 0, 0}));
}

TEST_F(ValueWait, P47_OneWriteReleasesEveryWaiter) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 8; ++i) {
    streams.push_back(std::make_unique<Stream>());
    EXPECT_EQ(aclrtValueWait(word_->get(), 1, kEq, streams.back()->get()), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtValueWrite(word_->get(), 1, 0, stream_->get()), ACL_SUCCESS);
  for (const auto& stream : streams) EXPECT_EQ(finish(*stream), ACL_SUCCESS);
}

TEST_F(ValueWait, P49_AWordThatIsFreed_CountsAsWritten) {
  Marks marks;
  {
    Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
    ASSERT_EQ(aclrtMemset(gone.get(), 64, 0, 64), ACL_SUCCESS);
    EXPECT_EQ(aclrtValueWait(gone.get(), 1, kEq, stream_->get()), ACL_SUCCESS);
    marks.queue(stream_->get());
    EXPECT_FALSE(idle(*stream_));
    gone.free_now();
  }
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

TEST_F(ValueWait, P49_FreedBeforeTheWaitIsReached) {
  Device gone{64, ACL_MEM_MALLOC_HUGE_ONLY};
  EventGate hold{*stream_};
  EXPECT_EQ(aclrtValueWait(gone.get(), 1, kEq, stream_->get()), ACL_SUCCESS);
  gone.free_now();
  hold.open();
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
}

TEST_F(ValueWait, P49_AWordThatGoesWithItsDevice_CountsAsWritten) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Device there{64};
  ASSERT_EQ(aclrtMemset(there.get(), 64, 0, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(there.get(), 1, kEq, stream_->get()), ACL_SUCCESS);
  EXPECT_FALSE(idle(*stream_));
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  there.forget();
  EXPECT_EQ(finish(*stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ValueWait, P47_M11_WaitersWritersAndAllocatorsAtOnce) {
  // Copies from pinned memory release waits while other threads allocate and free pinned memory.
  aclrtContext const context = current_context();
  std::atomic<bool> over{false};
  std::thread allocator{[&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    while (!over) {
      void* block = nullptr;
      EXPECT_EQ(::aclrtMallocHost(&block, 4096), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    }
  }};
  std::vector<std::thread> pairs;
  for (int pair = 0; pair < 2; ++pair) {
    pairs.emplace_back([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      Stream waiter, writer;
      Device word{64};
      Pinned values{512};
      EXPECT_EQ(aclrtMemset(word.get(), 64, 0, 64), ACL_SUCCESS);
      for (std::uint64_t i = 1; i <= 60; ++i) std::memcpy(values.get(i * 8), &i, 8);
      for (int round = 0; round < 4; ++round) {
        for (std::uint64_t i = 1; i <= 60; ++i) {
          EXPECT_EQ(aclrtMemcpyAsync(word.get(), 8, values.get(i * 8), 8, kind_of(1), writer.get()),
                    ACL_SUCCESS);
          EXPECT_EQ(aclrtValueWait(word.get(), i, kEq, waiter.get()), ACL_SUCCESS);
          EXPECT_EQ(aclrtValueWrite(word.get(8), i, 0, waiter.get()), ACL_SUCCESS);
          EXPECT_EQ(aclrtValueWait(word.get(8), i, kEq, writer.get()), ACL_SUCCESS);
        }
      }
      EXPECT_EQ(finish(waiter), ACL_SUCCESS);
      EXPECT_EQ(finish(writer), ACL_SUCCESS);
    });
  }
  for (std::thread& pair : pairs) pair.join();
  over = true;
  allocator.join();
}

}  // namespace value_wait_test
