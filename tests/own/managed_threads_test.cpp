// Threads that allocate, advise, prefetch, ask, copy and free managed memory at random, all at once.
#include <atomic>
#include <random>

#include "support/managed.h"
#include "support/on_product.h"
#include "support/slices.h"
#include "support/streams.h"

namespace managed_threads_test {

using namespace belay_test;

// One thread's part: blocks of its own, and one that all of them share.
class Part {
 public:
  Part(unsigned number, void* shared)
      : random_{test_random(number)}, mark_{static_cast<std::uint8_t>(number + 1)} {
    EXPECT_EQ(aclrtSetDevice(pick(2)), ACL_SUCCESS);
    EXPECT_EQ(::aclrtCreateStream(&stream_), ACL_SUCCESS);
    shared_ = shared;
  }
  void step() {
    if (blocks_.size() < 3) {
      blocks_.push_back(std::make_unique<Managed>(kManagedPage * static_cast<std::size_t>(1 + pick(4))));
      EXPECT_EQ(aclrtMemset(blocks_.back()->get(), 64, mark_, 64), ACL_SUCCESS);
      return;
    }
    const std::size_t which = static_cast<std::size_t>(pick(3));
    const Managed& block = *blocks_[which];
    const bool together = pick(3) == 0;
    void* const start = together ? shared_ : block.get();
    const std::size_t size = 1 + static_cast<std::size_t>(pick(static_cast<int>(kManagedPage)));
    std::int32_t value = 0;
    switch (pick(8)) {
      case 0:
        EXPECT_EQ(read_from(block.get(), 64), Bytes(64, mark_));
        EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(which));
        break;
      case 1:
      case 2: {
        const int answer = advise(start, size, pick(6), any_side());
        EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;  // it may be elsewhere (V-301)
        break;
      }
      case 3:
      case 4:
        EXPECT_EQ(::aclrtMemManagedPrefetchAsync(start, size, any_side(), 0, stream_), ACL_SUCCESS);
        break;
      case 5:
        EXPECT_EQ(query(1 + pick(8), start, size, &value, 4), ACL_SUCCESS);
        break;
      case 6:
        EXPECT_EQ(aclrtMemsetAsync(at(start, 4096 * mark_), 64, mark_, 64, stream_), ACL_SUCCESS);
        break;
      default:
        EXPECT_EQ(aclrtMemset(block.get(), 64, mark_, 64), ACL_SUCCESS);
    }
    last_error();
  }
  void end() {
    EXPECT_EQ(finish(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    blocks_.clear();
  }

 private:
  int pick(int choices) { return static_cast<int>(random_() % static_cast<unsigned>(choices)); }
  aclrtMemManagedLocation any_side() {
    const aclrtMemManagedLocation all[] = {device_side(0), device_side(1), host_side(), node_side(0),
                                           this_node_side()};
    return all[pick(5)];
  }
  std::mt19937 random_;
  std::uint8_t mark_;
  aclrtStream stream_ = nullptr;
  void* shared_ = nullptr;
  std::vector<std::unique_ptr<Managed>> blocks_;
};

void in_threads(std::size_t mb, int rounds) {
  on_product("A2", {{"BELAY_HBM", std::to_string(mb) + "M"}, {"BELAY_DEVICES", "2"}}, [&] {
    SCOPED_TRACE(seed_text());
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    {
      const Managed shared{2 * kManagedPage};
      std::vector<std::thread> threads;
      for (unsigned number = 0; number < 8; ++number) {
        threads.emplace_back([&, number] {
          Part part{number, shared.get()};
          for (int round = 0; round < rounds; ++round) part.step();
          part.end();
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    EXPECT_EQ(free_on(0), mb * kMB) << "every page came back";
    EXPECT_EQ(free_on(1), mb * kMB);
  });
}

TEST(ManagedThreads, V19_V273_V297_EightThreads_NothingIsLost) { in_threads(512, slice(4000, 200000, 40)); }

TEST(ManagedThreads, V19_V273_OnDevicesThatAreTooSmallForAllPages) {
  in_threads(16, slice(4000, 200000, 40));
}

// One thread frees what the others are busy with: each call finds it or does not.
TEST(ManagedThreads, V19_V277_V325_ABlockThatIsFreedMeanwhile) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_DEVICES", "2"}}, [] {
    for (int round = 0, rounds = slice(600, 20000, 40); round < rounds; ++round) {
      void* block = nullptr;
      ASSERT_EQ(::aclrtMemAllocManaged(&block, 2 * kManagedPage, 1), ACL_SUCCESS);
      std::atomic<int> ready{0};
      const auto together = [&] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
      };
      std::thread freeing{[&] {
        together();
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      }};
      std::thread advising{[&] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        together();
        const int answer = read_mostly(block, 2 * kManagedPage);
        EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }};
      std::thread prefetching{[&] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        together();
        EXPECT_EQ(::aclrtMemManagedPrefetchAsync(block, kManagedPage, device_side(0), 0, nullptr),
                  ACL_SUCCESS);
        EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }};
      std::thread filling{[&] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        together();
        const int answer = aclrtMemset(block, 64, 1, 64);
        EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }};
      for (std::thread* thread : {&freeing, &advising, &prefetching, &filling}) thread->join();
      ASSERT_EQ(free_bytes(), 64 * kMB) << round;
    }
  });
}

}  // namespace managed_threads_test
