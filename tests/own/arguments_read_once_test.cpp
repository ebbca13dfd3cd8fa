// Arguments behind pointers that change while a call runs: an output lies over an input, or another thread
// writes. What was checked must be what is used.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "support/batch.h"
#include "support/captured_process.h"
#include "support/sanitizer.h"
#include "support/slices.h"

namespace arguments_read_once_test {

using namespace belay_test;

class ArgumentsReadOnce : public OnDevice {};

// Writes two values into a place by turns, as long as it lives. Each stays for a while: of two stores in a
// row only the second would ever be seen.
class Flipping {
 public:
  Flipping(std::size_t& place, std::size_t one, std::size_t other)
      : thread_{[this, &place, one, other] {
          std::atomic_ref<std::size_t> flipped{place};
          while (!over_.load(std::memory_order_relaxed)) {
            for (int i = 0; i < 20; ++i) flipped.store(one, std::memory_order_relaxed);
            for (int i = 0; i < 20; ++i) flipped.store(other, std::memory_order_relaxed);
          }
        }} {}
  Flipping(const Flipping&) = delete;
  Flipping& operator=(const Flipping&) = delete;
  ~Flipping() {
    over_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

constexpr std::uint8_t kGuard = 0xA5;

bool untouched(const std::uint8_t* first, std::size_t bytes) {
  return std::all_of(first, first + bytes, [](std::uint8_t byte) { return byte == kGuard; });
}

// A list of so many entries with guard bytes behind them.
struct GuardedList {
  explicit GuardedList(std::size_t entries) : bytes(entries * sizeof(aclrtMemUsageInfo) + kBehind, kGuard) {}
  aclrtMemUsageInfo* list() { return reinterpret_cast<aclrtMemUsageInfo*>(bytes.data()); }
  bool whole() const { return untouched(bytes.data() + bytes.size() - kBehind, kBehind); }
  static constexpr std::size_t kBehind = 64 * sizeof(aclrtMemUsageInfo);
  std::vector<std::uint8_t> bytes;
};

TEST_F(ArgumentsReadOnce, M150_TheCountOfEntriesMayLieInTheirList) {
  const Ending ending = run_captured([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* here = nullptr;  // so that the size that is written over the count is large
    ASSERT_EQ(aclrtMalloc(&here, 4 * kMB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    for (std::size_t offset = 0; offset + sizeof(std::size_t) <= sizeof(aclrtMemUsageInfo); offset += 8) {
      GuardedList answers{1};
      std::size_t* const count = reinterpret_cast<std::size_t*>(answers.bytes.data() + offset);
      EXPECT_EQ(aclrtGetMemUsageInfo(0, answers.list(), 1, count), ACL_SUCCESS);
      EXPECT_EQ(*count, 1U) << "the count is stored last, at " << offset;
      EXPECT_TRUE(answers.whole()) << "written behind the list, at " << offset;
    }
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST_F(ArgumentsReadOnce, M150_ACountThatAnotherThreadWritesBoundsNothing) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "two threads write one word on purpose";
  const Device block{kMB};
  GuardedList answers{1};
  std::size_t count = 0;
  {
    const Flipping others{count, 60, 1};
    for (int i = 0; i < slice(20'000, 1'000'000, 10); ++i)
      ASSERT_EQ(aclrtGetMemUsageInfo(0, answers.list(), 1, &count), ACL_SUCCESS);
  }
  EXPECT_TRUE(answers.whole());
}

TEST_F(ArgumentsReadOnce, M281_M299_TheFailIndexMayLieInTheSizes) {
  Items items{3};
  for (std::size_t at = 0; at < 3; ++at) {
    Batch batch = items.up();
    EXPECT_EQ(aclrtMemcpyBatch(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(),
                               3, batch.attributes.data(), batch.starts.data(), 1, &batch.sizes[at]),
              ACL_SUCCESS);
    EXPECT_EQ(batch.sizes[at], kNoItem);
    items.expect_all_up();
    items.restore();
    Batch queued = items.up();
    EXPECT_EQ(aclrtMemcpyBatchAsync(queued.dsts.data(), queued.rooms.data(), queued.srcs.data(),
                                    queued.sizes.data(), 3, queued.attributes.data(), queued.starts.data(), 1,
                                    &queued.sizes[at], nullptr),
              ACL_SUCCESS);
    EXPECT_EQ(queued.sizes[at], kNoItem);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    items.expect_all_up();
    items.restore();
  }
}

// Many items, so that there is time between the check of the first size and its use.
constexpr std::size_t kItems = 4096;

void copies_no_more_than_was_checked(bool queued) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "a thread writes what another reads on purpose";
  constexpr std::size_t kRoom = 64, kTooMuch = 128;
  const Device device{kItems * kTooMuch};
  std::vector<std::uint8_t> host(kItems * kTooMuch, kGuard);
  Batch batch;
  for (std::size_t i = 0; i < kItems; ++i)
    batch.add(host.data() + i * kTooMuch, device.get(i * kTooMuch), kRoom);
  batch.describe(0, device_to_host());
  int copied = 0;
  {
    const Flipping others{batch.sizes[0], kRoom, kTooMuch};
    for (int i = 0; i < slice(2'000, 50'000, 10); ++i) {
      const int answer = queued
                             ? aclrtMemcpyBatchAsync(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(),
                                                     batch.sizes.data(), kItems, batch.attributes.data(),
                                                     batch.starts.data(), 1, &batch.fail, nullptr)
                             : batch.run();
      if (answer == ACL_SUCCESS) ++copied;
      if (queued) ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    }
  }
  EXPECT_TRUE(untouched(host.data() + kRoom, kTooMuch - kRoom)) << "of " << copied << " copies";
}

TEST_F(ArgumentsReadOnce, M281_ASizeThatGrowsAfterItsCheckCopiesNoMore) {
  copies_no_more_than_was_checked(false);
}

TEST_F(ArgumentsReadOnce, M281_InAsync_ASizeThatGrowsAfterItsCheckCopiesNoMore) {
  copies_no_more_than_was_checked(true);
}

// Whoever looks at the list twice walks through NULL.
TEST_F(ArgumentsReadOnce, M97_M101_AConfigurationIsTakenAsItWasAtOnce) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "a thread writes what another reads on purpose";
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attribute.value.moduleId = 3;
  aclrtMallocConfig config{&attribute, 1};
  std::size_t& pointer = reinterpret_cast<std::size_t&>(config.attrs);
  const Flipping others{pointer, 0, reinterpret_cast<std::size_t>(&attribute)};
  for (int i = 0; i < slice(5'000, 500'000, 10); ++i) {
    void* block = nullptr;
    const int answer = aclrtMallocWithCfg(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &config);
    if (answer == ACL_SUCCESS) {
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    } else {
      ASSERT_EQ(answer, ACL_ERROR_INVALID_PARAM) << "a list of one entry at NULL";
    }
    const int on_host = aclrtMallocHostWithCfg(&block, 64, &config);
    if (on_host == ACL_SUCCESS) {
      ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    } else {
      ASSERT_EQ(on_host, ACL_ERROR_RT_PARAM_INVALID) << "a list at NULL";
    }
  }
}

}  // namespace arguments_read_once_test
