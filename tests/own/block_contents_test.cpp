// What a block reads: what its owner wrote, or what nobody can mind. Never the bytes of another block that
// lives.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "support/blocks.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/slices.h"

namespace block_contents_test {

using namespace belay_test;

// With nothing kept, with little, with what is usual.
const std::vector<Settings> kKeeps = {{{"BELAY_KEEP", "0"}}, {{"BELAY_KEEP", "1M"}}, {}};

void with_each_keep(const std::function<void()>& body, const Settings& more = {}) {
  for (Settings settings : kKeeps) {
    SCOPED_TRACE("BELAY_KEEP=" + (settings.empty() ? "default" : settings[0].second));
    settings.insert(settings.end(), more.begin(), more.end());
    settings.emplace_back("BELAY_LEAKS", "off");
    in_fresh_process(settings, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body();
    });
  }
}

// A word that says whose it is, which of his blocks, and where in it.
std::uint64_t word_of(std::uint64_t owner, std::uint64_t number, std::uint64_t at) {
  return owner << 56 | (number & 0xFFFFFF) << 32 | at;
}
void stamp(std::vector<std::uint64_t>& words, std::uint64_t owner, std::uint64_t number) {
  std::uint64_t* to = words.data();
  for (std::size_t i = 0, end = words.size(); i < end; ++i) to[i] = word_of(owner, number, i);
}

struct Owned {
  void* start;
  std::size_t bytes, written;
  std::uint64_t owner, number;
};

struct Faults {
  std::atomic<int> calls{0}, bytes{0}, full{0}, done{0};
};

constexpr std::size_t kSizes[] = {4 * kKB, 12 * kKB, 64 * kKB, 200 * kKB, 2 * kMB};

// Whatever of the block was written reads as it was written.
bool reads_well(const Owned& block, Faults& faults) {
  std::vector<std::uint64_t> expected(block.written / 8), seen(block.written / 8);
  stamp(expected, block.owner, block.number);
  const aclError answer =
      aclrtMemcpy(seen.data(), block.written, block.start, block.written, ACL_MEMCPY_DEVICE_TO_HOST);
  faults.calls += answer != ACL_SUCCESS;
  const bool well = answer == ACL_SUCCESS && seen == expected;
  if (answer == ACL_SUCCESS && !well && ++faults.bytes == 1) {
    const auto at = static_cast<std::size_t>(std::mismatch(seen.begin(), seen.end(), expected.begin()).first -
                                             seen.begin());
    ADD_FAILURE() << "a block of " << block.bytes << " bytes: word " << at << " is " << std::hex << seen[at]
                  << ", not " << expected[at];
  }
  return well;
}

// Allocates, writes, reads, frees at random; `may_be_full`: a write may find no room on this machine.
void work(std::uint64_t owner, int steps, std::size_t most, bool may_be_full, Faults& faults) {
  if (aclrtSetDevice(0) != ACL_SUCCESS) ++faults.calls;
  std::mt19937 random = test_random(owner);
  std::vector<Owned> mine;
  std::uint64_t number = 0;
  const auto let_go = [&](std::size_t which) {
    std::swap(mine[which], mine.back());
    reads_well(mine.back(), faults);
    faults.calls += aclrtFree(mine.back().start) != ACL_SUCCESS;
    mine.pop_back();
  };
  for (int step = 0; step < steps; ++step) {
    if (mine.size() < most && random() % 2 == 0) {
      Owned block{nullptr, kSizes[random() % std::size(kSizes)], 0, owner, ++number};
      faults.calls += aclrtMallocAlign32(&block.start, block.bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS;
      block.written =
          random() % 3 == 0 ? block.bytes : std::min<std::size_t>(block.bytes, (random() % 2000 + 1) * 8);
      std::vector<std::uint64_t> words(block.written / 8);
      stamp(words, owner, block.number);
      const aclError answer =
          aclrtMemcpy(block.start, block.bytes, words.data(), block.written, ACL_MEMCPY_HOST_TO_DEVICE);
      if (may_be_full && answer == kShortage) {
        ++faults.full;
        faults.calls += aclrtFree(block.start) != ACL_SUCCESS;
        continue;
      }
      faults.calls += answer != ACL_SUCCESS;
      ++faults.done;
      reads_well(block, faults);
      mine.push_back(block);
    } else if (!mine.empty()) {
      let_go(random() % mine.size());
    }
  }
  while (!mine.empty()) let_go(mine.size() - 1);
}

Faults& in_threads(std::size_t threads, int steps, std::size_t most, bool may_be_full) {
  static Faults faults;
  std::vector<std::thread> running;
  for (std::size_t i = 1; i <= threads; ++i)
    running.emplace_back([=] { work(i, steps, most, may_be_full, faults); });
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(faults.calls, 0);
  EXPECT_EQ(faults.bytes, 0);
  EXPECT_GT(faults.done, steps / 10);
  return faults;
}

TEST(BlockContents, M11_M13_EveryBlockReadsWhatItsOwnerWrote_WhileAnotherThreadDoesTheSame) {
  with_each_keep([] { in_threads(2, slice(250, 6000, 5), 6, false); });
}
TEST(BlockContents, M11_M13_EveryBlockReadsWhatItsOwnerWrote_WithManyThreads) {
  with_each_keep([] { in_threads(40, slice(20, 400, 4), 4, false); });
}

// So little room that what is kept must be given up all the time.
TEST(BlockContents, M11_M13_D79_EveryBlockReadsWhatItsOwnerWrote_WithHardlyAnyRoom) {
  for (const char* room : {"8M", "3M"}) {
    SCOPED_TRACE(std::string{"BELAY_COMMIT="} + room);
    const std::size_t all = (room[0] - '0') * kMB;
    with_each_keep(
        [=] {
          in_threads(3, slice(150, 5000, 5), 3, true);
          // None of the room was lost: it is there to the last page, and no more.
          Device block{all};
          EXPECT_EQ(aclrtMemset(block.get(), all, 1, all), ACL_SUCCESS) << recent_message();
          Device more{4 * kKB};  // before, it might have come with what was there before it
          EXPECT_EQ(aclrtMemset(more.get(), 1, 1, 1), kShortage);
        },
        {{"BELAY_COMMIT", room}, {"BELAY_PAGES", "small"}});
  }
}

// Blocks of one thread, written and freed by others: what was written before a block was handed over is
// there.
TEST(BlockContents, M11_M13_HandedOver_ReadsWhatTheLastOwnerWrote) {
  with_each_keep([] {
    std::mutex lock;
    std::deque<Owned> offered;
    Faults faults;
    std::vector<std::thread> running;
    for (std::uint64_t owner = 1; owner <= 3; ++owner) {
      running.emplace_back([&, owner] {
        if (aclrtSetDevice(0) != ACL_SUCCESS) ++faults.calls;
        std::mt19937 random = test_random(owner);
        for (std::uint64_t number = 1, most = slice(300U, 10000U, 5); number <= most; ++number) {
          Owned block{nullptr, kSizes[random() % 4], 0, owner, number};
          block.written = block.bytes;
          faults.calls +=
              aclrtMallocAlign32(&block.start, block.bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS;
          std::vector<std::uint64_t> words(block.bytes / 8);
          stamp(words, owner, number);
          faults.calls += aclrtMemcpy(block.start, block.bytes, words.data(), block.bytes,
                                      ACL_MEMCPY_DEFAULT) != ACL_SUCCESS;
          {
            const std::lock_guard guard{lock};
            offered.push_back(block);
            if (offered.size() < 8) continue;
            std::swap(offered[random() % offered.size()], offered.front());
            block = offered.front();
            offered.pop_front();
          }
          reads_well(block, faults);
          faults.calls += aclrtFree(block.start) != ACL_SUCCESS;
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    for (const Owned& block : offered) {
      EXPECT_TRUE(reads_well(block, faults));
      EXPECT_EQ(aclrtFree(block.start), ACL_SUCCESS);
    }
    EXPECT_EQ(faults.calls, 0);
    EXPECT_EQ(faults.bytes, 0);
  });
}

// Of one size: some live as long as the test and hold one byte, the others hold another byte when they are
// freed.
TEST(BlockContents, M13_D17_AllocatedAgain_FreshOrAsLeft_NeverWhatALivingBlockHolds) {
  constexpr std::uint64_t kEach = 0x0101010101010101, kFresh = 0xBE * kEach, kLiving = 0xA1, kLeft = 0x17;
  with_each_keep([=] {
    for (const std::size_t size : {4 * kKB, 64 * kKB, 2 * kMB}) {
      std::atomic<int> wrong{0}, calls{0}, as_left{0};
      std::vector<std::thread> running;
      for (unsigned thread = 0; thread < 3; ++thread) {
        running.emplace_back([&, thread] {
          calls += aclrtSetDevice(0) != ACL_SUCCESS;
          std::mt19937 random = test_random(thread);
          std::vector<void*> living;
          std::vector<std::uint64_t> seen(size / 8);
          for (int round = 0, rounds = size > kMB ? slice(20, 400, 4) : slice(200, 4000, 10); round < rounds;
               ++round) {
            void* block = nullptr;
            calls += aclrtMallocAlign32(&block, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS;
            calls += aclrtMemcpy(seen.data(), size, block, size, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS;
            const std::uint64_t* word = seen.data();
            for (std::size_t i = 0; i < size / 8; ++i) wrong += word[i] != kFresh && word[i] != kLeft * kEach;
            as_left += seen[0] == kLeft * kEach;
            const bool stays = random() % 20 == 0;
            const std::size_t part = stays ? size : (random() % (size / 8) + 1) * 8;
            calls += aclrtMemset(block, size, stays ? kLiving : kLeft, part) != ACL_SUCCESS;
            if (stays) {
              living.push_back(block);
            } else {
              calls += aclrtFree(block) != ACL_SUCCESS;
            }
          }
          for (void* block : living) {
            calls += aclrtMemcpy(seen.data(), size, block, size, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS;
            wrong += seen != std::vector<std::uint64_t>(size / 8, kLiving * kEach);
            calls += aclrtMemset(block, size, kLeft, size) != ACL_SUCCESS;
            calls += aclrtFree(block) != ACL_SUCCESS;
          }
        });
      }
      for (std::thread& thread : running) thread.join();
      EXPECT_EQ(wrong, 0) << size;
      EXPECT_EQ(calls, 0) << size;
    }
  });
}

// What a write does not cover is no zero and nothing else that nobody wrote.
TEST(BlockContents, M13_M112_PartlyWrittenAgain_TheRestIsFreshOrAsLeft) {
  with_each_keep([] {
    for (const std::size_t size : {4 * kKB, 64 * kKB, 2 * kMB}) {
      const Bytes fresh(size, 0xBE);
      for (unsigned round = 0; round < 20; ++round) {
        Device block{size, ACL_MEM_MALLOC_HUGE_FIRST};
        const std::size_t from = (round * 977) % (size - 64);
        write_to(block.get(from), Bytes(64, 0x33));
        Bytes seen = read_from(block.get(), size);
        ASSERT_TRUE(std::equal(seen.begin() + static_cast<std::ptrdiff_t>(from),
                               seen.begin() + static_cast<std::ptrdiff_t>(from) + 64,
                               Bytes(64, 0x33).begin()));
        // What an earlier block may have left does not count.
        for (unsigned earlier = 0; earlier <= round; ++earlier)
          std::memset(seen.data() + (earlier * 977) % (size - 64), 0xBE, 64);
        ASSERT_EQ(seen, fresh) << size << " bytes, round " << round;
      }
    }
  });
}

// What is kept is given up while a block that lies in its midst is written and read.
TEST(BlockContents, M13_M241_ReadsWhatWasWritten_WhileKeptMemoryIsGivenUp) {
  in_fresh_process({{"BELAY_COMMIT", "1M"}, {"BELAY_PAGES", "small"}, {"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::atomic<bool> over{false};
    std::atomic<int> wrong{0};
    std::atomic<int> done{0};
    std::thread owner{[&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Bytes bytes(4096, 0x11);
      Bytes seen(4096);
      while (!over) {
        void* block = nullptr;
        EXPECT_EQ(aclrtMallocAlign32(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        ++bytes[0];
        // Where the other thread has all of the host's room, the copy is refused.
        if (aclrtMemcpy(block, 4096, bytes.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS) {
          for (int i = 0; i < 4; ++i) {
            EXPECT_EQ(aclrtMemcpy(seen.data(), 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
            wrong += seen != bytes;
          }
          ++done;
        }
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
    }};
    const int rounds = slice(100, 5000, 2);
    for (int round = 0; round < rounds || done < rounds; ++round) {
      std::vector<void*> blocks(56);
      for (void*& block : blocks) {
        EXPECT_EQ(aclrtMallocAlign32(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        (void)aclrtMemset(block, 4096, 1, 4096);
      }
      for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      void* big = nullptr;
      EXPECT_EQ(aclrtMallocAlign32(&big, 1000 * kKB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      (void)aclrtMemset(big, 1000 * kKB, 1, 1000 * kKB);  // needs what the blocks left
      EXPECT_EQ(aclrtFree(big), ACL_SUCCESS);
    }
    over = true;
    owner.join();
    EXPECT_EQ(wrong, 0);
  });
}

}  // namespace block_contents_test
