// Blocks that one thread allocates and another frees, with fewer threads and with more than have books of
// their own.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "support/allocators.h"
#include "support/app_usage.h"
#include "support/on_product.h"
#include "support/slices.h"
#include "support/worker.h"

namespace handed_over_test {

using namespace belay_test;

class HandedOver : public OnDevice {};

struct Piece {
  void* start = nullptr;
  std::size_t footprint = 0;
  std::uint32_t page = 0;
};

Piece random_piece(std::mt19937& random) {
  static constexpr std::size_t kSizes[] = {100, 4000,    4065,         20000,  300 * kKB,
                                           kMB, kMB + 1, 2 * kMB - 32, 5 * kMB};
  static const Allocator kThree[] = {kMalloc, kAlign32, kCached};
  const Allocator& allocator = kThree[random() % 3];
  const std::size_t size = kSizes[random() % std::size(kSizes)];
  const std::uint32_t value = random() % 3;
  const Taken rule = documented(allocator, size, value);
  Piece piece{nullptr, rule.bytes, rule.page};
  EXPECT_EQ(allocator.call(&piece.start, size, policy(value)), ACL_SUCCESS);
  return piece;
}

// Every thread allocates some; when all are held at one instant, the books are looked at; then each thread
// frees what another one has allocated.
void allocate_hand_over_and_free(std::size_t threads) {
  SCOPED_TRACE(std::to_string(threads) + " threads");
  on_product("A2", [=] {
    const std::size_t before = free_bytes();
    std::vector<std::vector<Piece>> pieces(threads);
    std::uint64_t peak = 0;
    bool held = false;
    const auto look = [&]() noexcept {
      held = !held;
      std::uint64_t sum = 0;
      if (held) {
        for (const auto& of_thread : pieces) {
          for (const Piece& piece : of_thread) sum += piece.footprint;
        }
      }
      peak = std::max(peak, sum);
      std::size_t free = 0, total = 0;  // by whichever thread came last; all have set the device
      EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
      EXPECT_EQ(before - free, sum);
      EXPECT_EQ(app_usage(), (Usage{sum, peak}));
    };
    std::barrier all{static_cast<std::ptrdiff_t>(threads), look};
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        std::mt19937 random = test_random(i);
        for (std::size_t round = 0, rounds = slice(30, 300); round < rounds; ++round) {
          pieces[i].clear();
          for (std::size_t count = random() % 12; count > 0; --count)
            pieces[i].push_back(random_piece(random));
          all.arrive_and_wait();
          for (const Piece& piece : pieces[(i + round) % threads])
            EXPECT_EQ(aclrtFree(piece.start), ACL_SUCCESS);
          all.arrive_and_wait();
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_GT(peak, 0U);
    EXPECT_EQ(free_bytes(), before);
    EXPECT_EQ(app_usage(), (Usage{0, peak}));
  });
}

TEST(HandedOverAtOnce, M11_M113_M430_M150_M151_OneThread_BooksAreExact) { allocate_hand_over_and_free(1); }
TEST(HandedOverAtOnce, M11_M113_M430_M150_M151_TwoThreads_BooksAreExact) { allocate_hand_over_and_free(2); }
TEST(HandedOverAtOnce, M11_M113_M430_M150_M151_EightThreads_BooksAreExact) { allocate_hand_over_and_free(8); }
TEST(HandedOverAtOnce, M11_M113_M430_M150_M151_FortyThreads_BooksAreExact) {
  allocate_hand_over_and_free(40);
}

// No order at all: whoever finds a block frees it.
TEST_F(HandedOver, M11_M430_ThroughAHeap_FreeMemoryIsWhereItWas) {
  for (const std::size_t threads : {2U, 8U, 40U}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    std::mutex lock;
    std::vector<Piece> heap;
    std::set<void*> live;
    std::atomic<int> wrong{0};
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        wrong += aclrtSetDevice(0) != ACL_SUCCESS;
        std::mt19937 random = test_random(i);
        for (std::size_t step = 0, steps = slice(16000, 200000) / threads; step < steps; ++step) {
          if (random() % 2 == 0) {
            const Piece piece = random_piece(random);
            const std::lock_guard guard{lock};
            wrong += !live.insert(piece.start).second;  // two live blocks never have the same address
            heap.push_back(piece);
          } else {
            Piece piece;
            {
              const std::lock_guard guard{lock};
              if (heap.empty()) continue;
              std::swap(heap[random() % heap.size()], heap.back());
              piece = heap.back();
              heap.pop_back();
              live.erase(piece.start);
            }
            wrong += aclrtFree(piece.start) != ACL_SUCCESS;
          }
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(wrong, 0);
    std::size_t held = 0;
    for (const Piece& piece : heap) held += piece.footprint;
    EXPECT_EQ(free_before_ - free_bytes(), held);
    EXPECT_EQ(app_usage().current, held);
    for (const Piece& piece : heap) EXPECT_EQ(aclrtFree(piece.start), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), free_before_);
    EXPECT_EQ(app_usage().current, 0U);
  }
}

// Both had freed and allocated that very block before, so both know it well.
TEST_F(HandedOver, M11_M111_TwoThreadsFreeOneBlockAtOnce_ExactlyOneSucceeds) {
  for (const std::size_t size : {std::size_t{64}, 3 * kMB}) {
    std::atomic<void*> block{nullptr};
    std::atomic<int> freed{0}, refused_{0}, other{0};
    const int rounds = slice(4000, 40000, 2);
    std::barrier both{2};
    const auto free_it = [&](int me) {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int round = 0; round < rounds; ++round) {
        if (round % 2 == me) {
          void* made = nullptr;
          EXPECT_EQ(aclrtMalloc(&made, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
          block = made;
        }
        both.arrive_and_wait();
        const aclError answer = aclrtFree(block);
        ++(answer == ACL_SUCCESS ? freed : answer == ACL_ERROR_RT_PARAM_INVALID ? refused_ : other);
        both.arrive_and_wait();
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    };
    std::thread second{free_it, 1};
    free_it(0);
    second.join();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(freed, rounds);
    EXPECT_EQ(refused_, rounds);
    EXPECT_EQ(other, 0);
    EXPECT_EQ(free_bytes(), free_before_);
    EXPECT_EQ(app_usage().current, 0U);
  }
}

TEST_F(HandedOver, M111_ASecondFreeByTheSameThread_IsRefusedHoweverOftenItWentWell) {
  for (int round = 0; round < 1000; ++round) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 5000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_EQ(free_bytes(), free_before_);
  }
}

TEST_F(HandedOver, M111_OtherPlacesOfABlock_AreNotItsStart) {
  for (const std::uint32_t value : {kNormalOnly, kHugeOnly}) {
    for (int round = 0; round < 50; ++round) {
      void* block = nullptr;
      ASSERT_EQ(aclrtMallocAlign32(&block, 4 * kMB, policy(value)), ACL_SUCCESS);
      for (const std::size_t offset :
           {std::size_t{1}, std::size_t{64}, std::size_t{4096}, 2 * kMB, 4 * kMB - 1})
        ASSERT_EQ(aclrtFree(static_cast<char*>(block) + offset), ACL_ERROR_RT_PARAM_INVALID) << offset;
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  }
}

TEST_F(HandedOver, M11_M113_BlocksOutliveTheThreadThatAllocatedThem) {
  std::vector<Piece> pieces;
  for (std::uint32_t i = 0; i < 50;
       ++i) {  // more threads, one after the other, than there are books for at once
    std::thread{[&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      std::mt19937 random = test_random(i);
      for (int k = 0; k < 20; ++k) pieces.push_back(random_piece(random));
      for (int k = 0; k < 10; ++k) {
        ASSERT_EQ(aclrtFree(pieces.back().start), ACL_SUCCESS);
        pieces.pop_back();
      }
    }}.join();
  }
  std::size_t held = 0;
  std::set<void*> starts;
  for (const Piece& piece : pieces) {
    held += piece.footprint;
    EXPECT_TRUE(starts.insert(piece.start).second);
    EXPECT_EQ(page_of(piece.start), piece.page);
  }
  EXPECT_EQ(free_before_ - free_bytes(), held);
  EXPECT_EQ(app_usage().current, held);
  for (const Piece& piece : pieces) EXPECT_EQ(aclrtFree(piece.start), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), free_before_);
}

// It frees first and allocates never; what it frees is there for the others, to the page.
TEST(HandedOverOnASmallDevice, M113_M86_ThreadsThatOnlyFree_AndNeverSetADevice) {
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {
    Worker frees_only, frees_too;
    for (int round = 0; round < 30; ++round) {
      std::vector<void*> blocks;
      for (void* block = nullptr;
           aclrtMallocAlign32(&block, 200 * kKB, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS;)
        blocks.push_back(block);
      ASSERT_EQ(blocks.size(), 64 * kMB / (200 * kKB)) << "round " << round;
      for (std::size_t i = 0; i < blocks.size(); ++i)
        ASSERT_EQ((i % 3 == 0 ? frees_too : frees_only).ask([&] { return aclrtFree(blocks[i]); }),
                  ACL_SUCCESS);
      ASSERT_EQ(free_bytes(), 64 * kMB);
      // All of it, in one block of the other kind.
      void* all = nullptr;
      ASSERT_EQ(aclrtMallocAlign32(&all, 64 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS)
          << recent_message();
      ASSERT_EQ(free_bytes(), 0U);
      ASSERT_EQ(frees_only.ask([&] { return aclrtFree(all); }), ACL_SUCCESS);
    }
    std::int32_t device = -1;
    EXPECT_EQ(frees_only.ask([&] { return aclrtGetDevice(&device); }), ACL_ERROR_RT_CONTEXT_NULL);
    void* none = nullptr;
    EXPECT_EQ(frees_only.ask([&] { return aclrtMalloc(&none, 64, ACL_MEM_MALLOC_HUGE_FIRST); }),
              ACL_ERROR_RT_CONTEXT_NULL);
  });
}

// What idle threads keep at hand is free memory: others get all of it while they idle, and after they ended.
TEST(HandedOverOnASmallDevice, M86_M430_WhatIdleThreadsFreed_IsHadToThePage) {
  on_product("A2", {{"BELAY_HBM", "32M"}}, [] {
    std::vector<std::unique_ptr<Worker>> idle;
    for (std::size_t i = 0; i < 40; ++i) {
      idle.push_back(std::make_unique<Worker>());
      idle.back()->do_([&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        std::vector<void*> blocks(20);
        for (void*& block : blocks)
          ASSERT_EQ(aclrtMallocAlign32(&block, (i % 4 + 1) * 4 * kKB, policy(i % 2 == 0 ? 2 : 5)),
                    ACL_SUCCESS);
        for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      });
    }
    for (const bool ended : {false, true}) {
      if (ended) idle.clear();
      ASSERT_EQ(free_bytes(), 32 * kMB);
      std::vector<void*> pages;
      for (void* page = nullptr;
           aclrtMallocAlign32(&page, 4 * kKB, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS;)
        pages.push_back(page);
      EXPECT_EQ(pages.size(), 32 * kMB / (4 * kKB)) << (ended ? "after they ended" : "while they idle");
      EXPECT_EQ(free_bytes(), 0U);
      for (void* page : pages) ASSERT_EQ(aclrtFree(page), ACL_SUCCESS);
    }
  });
}

// Each thread never holds more than its share, of whatever pages; what one does not use is there for the
// others.
TEST(HandedOverOnASmallDevice, M86_M430_WhoStaysWithinItsShare_IsNeverRefused) {
  for (const std::size_t threads : {2U, 4U, 40U}) {
    on_product("A2", {{"BELAY_HBM", std::to_string(threads * 4) + "M"}}, [=] {
      std::atomic<int> refused_{0}, wrong{0};
      std::vector<std::thread> running;
      for (std::size_t i = 0; i < threads; ++i) {
        running.emplace_back([&, i] {
          wrong += aclrtSetDevice(0) != ACL_SUCCESS;
          std::mt19937 random = test_random(i);
          static constexpr std::uint32_t kPolicies[] = {kNormalOnly, kHugeOnly, kNormalOnlyP2p, kHugeOnlyP2p};
          for (std::size_t round = 0, rounds = slice(80000, 1000000, 20) / threads; round < rounds; ++round) {
            void* blocks[2] = {};
            for (void*& block : blocks)
              refused_ += aclrtMallocAlign32(&block, 2 * kMB, policy(kPolicies[random() % 4])) != ACL_SUCCESS;
            for (void* block : blocks) wrong += block != nullptr && aclrtFree(block) != ACL_SUCCESS;
          }
        });
      }
      for (std::thread& thread : running) thread.join();
      EXPECT_EQ(refused_, 0) << threads << " threads";
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(free_bytes(), threads * 4 * kMB);
    });
  }
}

// More of them than stay at hand, all at once and in both directions.
TEST_F(HandedOver, M11_M430_ThousandsOfOneSize_AllocatedByOneAndFreedByAnother) {
  Worker other;
  ASSERT_EQ(other.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  for (const std::size_t size : {std::size_t{4000}, 20 * kKB, 2 * kMB - 32}) {
    for (int round = 0; round < 6; ++round) {
      std::vector<void*> blocks(2000);
      const auto allocate = [&] {
        for (void*& block : blocks)
          ASSERT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      };
      const auto free = [&] {
        for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      };
      round % 2 == 0 ? allocate() : other.do_(allocate);
      EXPECT_EQ(free_before_ - free_bytes(), 2000 * documented(kMalloc, size, kHugeFirst).bytes);
      EXPECT_EQ((std::set<void*>{blocks.begin(), blocks.end()}.size()), blocks.size());
      round / 2 % 2 == 0 ? other.do_(free) : free();
      ASSERT_EQ(free_bytes(), free_before_);
    }
  }
  EXPECT_EQ(other.ask([] { return aclrtResetDevice(0); }), ACL_SUCCESS);
}

}  // namespace handed_over_test
