// The peak of a process is the most it had at one instant, whatever it had before and whichever thread had
// it.
#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "support/allocators.h"
#include "support/app_usage.h"
#include "support/on_product.h"
#include "support/slices.h"
#include "support/worker.h"

namespace usage_peak_test {

using namespace belay_test;

struct Piece {
  void* start;
  std::size_t footprint;
};

Piece allocated(const Allocator& allocator, std::size_t size, std::uint32_t value) {
  Piece piece{nullptr, documented(allocator, size, value).bytes};
  EXPECT_EQ(allocator.call(&piece.start, size, policy(value)), ACL_SUCCESS) << size;
  return piece;
}

std::size_t pair_of(std::size_t size, std::uint32_t value) {
  const Piece piece = allocated(kMalloc, size, value);
  EXPECT_EQ(aclrtFree(piece.start), ACL_SUCCESS);
  return piece.footprint;
}

// What the process has and had, counted along.
class Model {
 public:
  void take(std::size_t bytes) {
    current_ += bytes;
    peak_ = std::max(peak_, current_);
  }
  void give(std::size_t bytes) { current_ -= bytes; }
  Usage now() const { return {current_, peak_}; }

 private:
  std::uint64_t current_ = 0, peak_ = 0;
};

TEST(UsagePeak, M151_TwoKindsOfPagesInTurn_TheMaximumOfTheSum_NotTheSumOfTheMaxima) {
  on_product("A2", [] {
    Model model;
    for (int round = 0; round < 300; ++round) {
      for (const std::size_t size : {std::size_t{900 * kKB}, 3 * kMB, std::size_t{4000}, 2 * kMB - 32}) {
        const std::size_t taken = pair_of(size, kHugeFirst);
        model.take(taken);
        model.give(taken);
        ASSERT_EQ(app_usage(), model.now()) << "round " << round << ", " << size;
      }
    }
    EXPECT_EQ(app_usage().peak, 4 * kMB);
    // Both at once, after so many times in turn.
    const Piece small = allocated(kMalloc, 900 * kKB, kHugeFirst),
                huge = allocated(kMalloc, 3 * kMB, kHugeFirst);
    EXPECT_EQ(app_usage(), (Usage{small.footprint + huge.footprint, small.footprint + huge.footprint}));
    EXPECT_EQ(aclrtFree(small.start), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(huge.start), ACL_SUCCESS);
    EXPECT_EQ(app_usage(), (Usage{0, small.footprint + huge.footprint}));
  });
}

// Each time one block more than ever, and each time freed by way of the shortest path.
TEST(UsagePeak, M151_GrowsBlockByBlock) {
  on_product("A2", [] {
    for (const std::uint32_t value : {kNormalOnly, kHugeOnly}) {
      Model model;
      std::vector<Piece> held;
      const std::uint64_t before = app_usage().peak;
      for (std::size_t most = 1; most <= 60; ++most) {
        for (int again = 0; again < 3; ++again) {
          while (held.size() < most) {
            held.push_back(allocated(kMalloc, 5000, value));
            model.take(held.back().footprint);
            ASSERT_EQ(app_usage().current, model.now().current);
            ASSERT_EQ(app_usage().peak, std::max(before, model.now().peak)) << most << " " << held.size();
          }
          while (!held.empty()) {
            ASSERT_EQ(aclrtFree(held.back().start), ACL_SUCCESS);
            model.give(held.back().footprint);
            held.pop_back();
          }
          ASSERT_EQ(app_usage().current, 0U);
        }
      }
    }
  });
}

constexpr std::uint16_t kHccl = 3;

Piece labelled(std::uint16_t module, std::size_t size, std::uint32_t value) {
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attribute.value.moduleId = module;
  aclrtMallocConfig config{&attribute, 1};
  Piece piece{nullptr, documented(kWithCfg, size, value).bytes};
  EXPECT_EQ(aclrtMallocWithCfg(&piece.start, size, policy(value), &config), ACL_SUCCESS);
  return piece;
}

// Every step is compared, so a peak that is noticed late is found as well.
void against_a_model(std::uint32_t round, std::size_t threads, bool other_modules) {
  SCOPED_TRACE(seed_text() + ", round " + std::to_string(round));
  std::mt19937 random = test_random(round);
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>());
    ASSERT_EQ(workers.back()->ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  }
  struct Held : Piece {
    bool other;
  };
  std::vector<Held> held;
  Model app, hccl;
  const std::vector<Allocator> allocators = all_allocators();
  constexpr std::size_t kSizes[] = {1,   4000,    4096,         64 * kKB, 900 * kKB,
                                    kMB, kMB + 1, 2 * kMB - 32, 2 * kMB,  3 * kMB};
  for (int step = 0; step < 3000; ++step) {
    Worker& worker = *workers[random() % threads];
    // Now few, now many, so that the peak is left and reached again.
    const std::size_t most = step / 300 % 2 == 0 ? 4 : 12;
    if (held.size() < most && random() % 2 == 0) {
      const std::size_t size = kSizes[random() % std::size(kSizes)];
      const std::uint32_t value = random() % 6;
      const bool other = other_modules && random() % 4 == 0;
      const Allocator& allocator = allocators[random() % allocators.size()];
      const Piece piece = worker.ask(
          [&] { return other ? labelled(kHccl, size, value) : allocated(allocator, size, value); });
      (other ? hccl : app).take(piece.footprint);
      held.push_back({piece, other});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      ASSERT_EQ(worker.ask([&] { return aclrtFree(held.back().start); }), ACL_SUCCESS);
      (held.back().other ? hccl : app).give(held.back().footprint);
      held.pop_back();
    }
    ASSERT_EQ(app_usage(), app.now()) << "step " << step;
    if (other_modules) {
      ASSERT_EQ(usage_of("HCCL"), hccl.now()) << "step " << step;
    }
  }
  for (const Held& block : held) EXPECT_EQ(aclrtFree(block.start), ACL_SUCCESS);
  EXPECT_EQ(app_usage(), (Usage{0, app.now().peak}));
}

TEST(UsagePeak, M150_M151_OneThread_AgainstAModel) {
  for (std::uint32_t i = 0; i < slice(3U, 60U); ++i) on_product("A2", [=] { against_a_model(i, 1, false); });
}
TEST(UsagePeak, M150_M151_BlocksThatWanderBetweenThreads_AgainstAModel) {
  for (std::uint32_t i = 0; i < slice(3U, 60U); ++i) on_product("A2", [=] { against_a_model(i, 3, false); });
}
TEST(UsagePeak, M108_M150_M151_WithBlocksOfAnotherModule_AgainstAModel) {
  for (std::uint32_t i = 0; i < slice(3U, 60U); ++i) on_product("A2", [=] { against_a_model(i, 2, true); });
}

// What another module had is at hand for the next request, which nobody needs to ask the machine for. Nobody
// looks before it is over.
TEST(UsagePeak, M108_M151_BlocksInThePlaceOfAnotherModules_AreAPeakOfTheirOwn) {
  for (const bool by_another_thread : {false, true}) {
    on_product("A2", [=] {
      Worker other;
      std::uint64_t peak = 0;
      for (const std::size_t size : {64 * kKB, 2 * kMB}) {
        const std::uint32_t value = size < kMB ? kNormalOnly : kHugeOnly;
        for (std::size_t count = 1; count <= 10; ++count) {
          const Piece before = allocated(kAlign32, size, value);
          EXPECT_EQ(aclrtFree(before.start), ACL_SUCCESS);
          std::vector<Piece> pieces;
          for (std::size_t i = 0; i < count; ++i) pieces.push_back(labelled(kHccl, size, value));
          for (const Piece& piece : pieces) {
            const auto free = [&] { return aclrtFree(piece.start); };
            EXPECT_EQ(by_another_thread ? other.ask(free) : free(), ACL_SUCCESS);
          }
          pieces.clear();
          for (std::size_t i = 0; i < count; ++i) pieces.push_back(allocated(kAlign32, size, value));
          for (const Piece& piece : pieces) EXPECT_EQ(aclrtFree(piece.start), ACL_SUCCESS);
          peak = std::max<std::uint64_t>(peak, count * size);
          ASSERT_EQ(app_usage(), (Usage{0, peak})) << count << " blocks of " << size;
        }
      }
      EXPECT_EQ(usage_of("HCCL"), (Usage{0, 20 * kMB}));
    });
  }
}

TEST(UsagePeak, M150_M151_EachDeviceHasAPeakOfItsOwn) {
  on_product("A2", [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Model of[2];
    for (int round = 0; round < 200; ++round) {
      const std::int32_t device = round / 3 % 2;
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      const std::size_t taken =
          pair_of(static_cast<std::size_t>(round % 7 + 1) * (device == 0 ? kMB : 100 * kKB), 0);
      of[device].take(taken);
      of[device].give(taken);
      ASSERT_EQ(app_usage(0), of[0].now()) << round;
      ASSERT_EQ(app_usage(1), of[1].now()) << round;
    }
  });
}

// One thread has a block of 1 MB or one of 2 MB, never both. Another one looks for a new peak all the time,
// because its blocks come from a function that has nothing at hand.
TEST(UsagePeak, M151_WhileAThreadChangesFromOneKindOfPagesToTheOther_NoPeakThatNeverWas) {
  on_product("A2", [] {
    std::atomic<int> wrong{0};
    std::atomic<bool> over{false};
    std::thread changes{[&] {
      wrong += aclrtSetDevice(0) != ACL_SUCCESS;
      while (!over) {
        for (const std::size_t size : {kMB, 2 * kMB}) {
          void* block = nullptr;
          wrong += aclrtMallocAlign32(&block, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS;
          wrong += aclrtFree(block) != ACL_SUCCESS;
        }
      }
    }};
    for (int i = 0, rounds = slice(300000, 5000000); i < rounds; ++i) {
      void* block = nullptr;
      wrong += aclrtMallocWithCfg(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY, nullptr) != ACL_SUCCESS;
      wrong += aclrtFree(block) != ACL_SUCCESS;
    }
    over = true;
    changes.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(app_usage().current, 0U);
    EXPECT_GE(app_usage().peak, 2 * kMB);
    EXPECT_LE(app_usage().peak, 2 * kMB + 4096);
  });
}

}  // namespace usage_peak_test
