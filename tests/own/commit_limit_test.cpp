// How much memory of this machine the contents of device memory may take (BELAY_COMMIT), and what happens
// when the machine itself has no more. Nothing of a copy or fill that is refused has moved.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support/blocks.h"
#include "support/control_group.h"
#include "support/sanitizer.h"
#include "support/scratch.h"
#include "support/settings.h"
#include "support/stripes.h"

namespace commit_limit_test {

using namespace belay_test;

constexpr std::size_t kSmall = 4 * kKB;   // what the first byte in a normal page commits
constexpr std::size_t kLarge = 64 * kKB;  // and in a huge one
constexpr unsigned kHugeOnly = ACL_MEM_MALLOC_HUGE_ONLY;

// On a machine whose kernel has pools of huge pages, those are not counted: small pages only.
void with_limit(const std::string& limit, const std::function<void()>& body, Settings more = {}) {
  more.emplace_back("BELAY_COMMIT", limit);
  more.emplace_back("BELAY_PAGES", "small");
  more.emplace_back("BELAY_LEAKS", "off");
  in_fresh_process(more, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_message();
    body();
  });
}

int put(void* to, const Bytes& bytes) {
  return aclrtMemcpy(to, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE);
}
int fill(void* to, int value, std::size_t count) { return aclrtMemset(to, count, value, count); }
int copy(void* to, const void* from, std::size_t count) {
  return aclrtMemcpy(to, count, from, count, ACL_MEMCPY_DEVICE_TO_DEVICE);
}

// A call that must fail for lack of memory, and say so.
void expect_full(const std::function<int()>& call, const char* allowed) {
  last_error();
  recent_message();
  EXPECT_EQ(call(), kShortage);
  EXPECT_EQ(last_error(), kShortage);
  const std::string text = recent_message();
  EXPECT_TRUE(mentions(text, "EL0004")) << text;
  EXPECT_TRUE(mentions(text, "BELAY_COMMIT")) << text;
  EXPECT_TRUE(mentions(text, allowed)) << text;
  EXPECT_TRUE(mentions(text, "Solution")) << text;
}

TEST(CommitLimit, D79_IsExactToTheGranule) {
  with_limit("64K", [] {
    Device block{kMB};
    EXPECT_EQ(put(block.get(), stripes(16 * kSmall, 1)), ACL_SUCCESS);
    expect_full([&] { return put(block.get(16 * kSmall), Bytes(1)); }, "64 KB");
    expect_full([&] { return put(block.get(kMB - 1), Bytes(1)); }, "64 KB");
    expect_full([&] { return put(block.get(16 * kSmall - 1), Bytes(2)); }, "64 KB");
    // What is there can be read and written as before, what is not can be read.
    EXPECT_EQ(read_from(block.get(), 16 * kSmall), stripes(16 * kSmall, 1));
    EXPECT_EQ(put(block.get(), stripes(16 * kSmall, 2)), ACL_SUCCESS);
    EXPECT_EQ(fill(block.get(5), 7, 60000), ACL_SUCCESS);
    EXPECT_EQ(copy(block.get(), block.get(32 * kKB), 32 * kKB), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(16 * kSmall), 1000), Bytes(1000, 0xBE));
  });
  with_limit("256K", [] {
    Device block{4 * kMB, kHugeOnly};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(put(block.get(i * 5 * kLarge + 77), Bytes(1)), ACL_SUCCESS);
    expect_full([&] { return put(block.get(kLarge), Bytes(1)); }, "256 KB");
    EXPECT_EQ(put(block.get(5 * kLarge), stripes(kLarge, 3)), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(5 * kLarge), kLarge), stripes(kLarge, 3));
  });
}

TEST(CommitLimit, D79_NothingAtAll) {
  with_limit("0", [] {
    Device block{3 * kMB, kHugeOnly}, small{4096};
    for (const Device* each : {&block, &small}) {
      EXPECT_EQ(read_from(each->get(), each->size()), Bytes(each->size(), 0xBE));
      expect_full([&] { return put(each->get(), Bytes(1)); }, "0 bytes");
      expect_full([&] { return fill(each->get(), 1, each->size()); }, "0 bytes");
      expect_full([&] { return aclrtMemsetD32(each->get(), each->size(), 1, 10); }, "0 bytes");
    }
    expect_full([&] { return copy(block.get(), small.get(), 100); }, "0 bytes");
    // Host memory is no contents of a device.
    Pinned one{1000}, other{1000};
    EXPECT_EQ(aclrtMemset(one.get(), 1000, 5, 1000), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(other.get(), 1000, one.get(), 1000, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(100), 10), Bytes(10, 0xBE));
  });
}

TEST(CommitLimit, D79_NothingOfARefusedCopyOrFillHasMoved) {
  with_limit("64K", [] {
    Device block{kMB};
    const Bytes before = stripes(15 * kSmall, 4);
    ASSERT_EQ(put(block.get(), before), ACL_SUCCESS);
    const auto unchanged = [&] {
      EXPECT_EQ(read_from(block.get(), before.size()), before);
      EXPECT_EQ(read_from(block.get(before.size()), 10 * kSmall), Bytes(10 * kSmall, 0xBE));
    };
    // Two granules are missing, one is left.
    const Bytes other = stripes(17 * kSmall, 5);
    expect_full([&] { return put(block.get(), other); }, "64 KB");
    unchanged();
    expect_full([&] { return fill(block.get(), 1, 17 * kSmall); }, "64 KB");
    unchanged();
    expect_full([&] { return aclrtMemsetD32(block.get(), kMB, 1, 17 * kSmall / 4); }, "64 KB");
    unchanged();
    expect_full([&] { return copy(block.get(kSmall / 2), block.get(20 * kSmall), 16 * kSmall + 1); },
                "64 KB");
    unchanged();
    // Onto itself, forwards and backwards.
    expect_full([&] { return copy(block.get(2 * kSmall), block.get(), 15 * kSmall); }, "64 KB");
    unchanged();
    expect_full([&] { return copy(block.get(100), block.get(2 * kSmall), 17 * kSmall); }, "64 KB");
    unchanged();
    EXPECT_EQ(copy(block.get(kSmall), block.get(), 15 * kSmall), ACL_SUCCESS) << "with one it goes";
    EXPECT_EQ(read_from(block.get(kSmall), before.size()), before);
  });
}

TEST(CommitLimit, D79_NothingOfARefused2DCopyHasMoved) {
  with_limit("64K", [] {
    Device block{kMB};
    const Bytes from = stripes(20 * kSmall, 6);
    // 20 rows in 20 pages.
    expect_full(
        [&] {
          return aclrtMemcpy2d(block.get(), kSmall, from.data(), kSmall, 100, 20, ACL_MEMCPY_HOST_TO_DEVICE);
        },
        "64 KB");
    EXPECT_EQ(read_from(block.get(), 20 * kSmall), Bytes(20 * kSmall, 0xBE));
    {
      Device other{16 * kSmall};
      EXPECT_EQ(fill(other.get(), 1, other.size()), ACL_SUCCESS) << "what was refused has taken no room";
    }
    EXPECT_EQ(aclrtMemcpy2d(block.get(), kSmall, from.data(), kSmall, 100, 16, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
    // Rows that share pages need one page for all of them.
    EXPECT_EQ(aclrtMemcpy2d(block.get(), 100, from.data(), 100, 100, 600, ACL_MEMCPY_HOST_TO_DEVICE),
              ACL_SUCCESS);
  });
}

TEST(CommitLimit, D79_M300_NothingOfARefusedBatchHasMoved) {
  with_limit("64K", [] {
    Device block{kMB};
    Bytes from = stripes(20 * kSmall, 7);
    std::vector<void*> to, source;
    std::vector<std::size_t> sizes(20, 100);
    for (std::size_t i = 0; i < 20; ++i) {
      to.push_back(block.get(i * kSmall));
      source.push_back(from.data() + i * kSmall);
    }
    aclrtMemcpyBatchAttr attribute{};
    attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    std::size_t first = 0, fail = 0;
    const auto run = [&](std::size_t items) {
      return aclrtMemcpyBatch(to.data(), sizes.data(), source.data(), sizes.data(), items, &attribute, &first,
                              1, &fail);
    };
    expect_full([&] { return run(20); }, "64 KB");
    EXPECT_EQ(read_from(block.get(), 20 * kSmall), Bytes(20 * kSmall, 0xBE));
    {
      Device other{16 * kSmall};
      EXPECT_EQ(fill(other.get(), 1, other.size()), ACL_SUCCESS) << "what was refused has taken no room";
    }
    EXPECT_EQ(run(16), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(15 * kSmall), 100),
              Bytes(from.begin() + 15 * kSmall, from.begin() + 15 * kSmall + 100));
  });
}

TEST(CommitLimit, D79_AcrossTheBorderOfTwoGigabytes) {
  for (const unsigned policy : {1U, 2U, 6U}) {
    with_limit("128K", [&] {
      Device block{2 * kGB, policy};
      void* const across = block.get(kGB - kLarge);
      ASSERT_EQ(put(block.get(kGB), stripes(100, 8)), ACL_SUCCESS);
      const Bytes before = read_from(across, 4 * kLarge);
      expect_full([&] { return put(across, stripes(3 * kLarge, 9)); }, "128 KB");
      expect_full([&] { return fill(across, 1, 3 * kLarge); }, "128 KB");
      expect_full([&] { return copy(across, block.get(kGB - 2 * kLarge), 3 * kLarge); }, "128 KB");
      expect_full([&] { return copy(block.get(kGB - 2 * kLarge), across, 3 * kLarge); }, "128 KB");
      EXPECT_EQ(read_from(across, 4 * kLarge), before) << policy;
      EXPECT_EQ(put(across, stripes(2 * kLarge, 10)), ACL_SUCCESS) << "as much as is left";
      EXPECT_EQ(read_from(across, 2 * kLarge), stripes(2 * kLarge, 10)) << policy;
    });
  }
}

TEST(CommitLimit, D79_FreeingMakesRoomAgain) {
  for (const char* keep : {"0", "256M"}) {
    with_limit("8M",
               [&] {
                 for (const unsigned policy : {1U, 2U, 1U, 6U, 2U}) {
                   Device block{8 * kMB, policy};
                   EXPECT_EQ(fill(block.get(), 1, 8 * kMB), ACL_SUCCESS)
                       << "policy " << policy << " keep " << keep << recent_message();
                   EXPECT_EQ(read_from(block.get(8 * kMB - 10), 10), Bytes(10, 1));
                   Device more{4096};
                   expect_full([&] { return put(more.get(), Bytes(1)); }, "8 MB");
                 }
                 // Of other sizes, so that no address is used again.
                 for (std::size_t size = kMB; size < 8 * kMB; size += 3 * kLarge) {
                   Device block{size, size / kLarge % 2 == 0 ? 1U : 2U};
                   EXPECT_EQ(fill(block.get(), 1, size), ACL_SUCCESS) << size << " keep " << keep;
                 }
               },
               {{"BELAY_KEEP", keep}});
  }
}

TEST(CommitLimit, D79_M405_AResetMakesRoomAgain) {
  with_limit("1M", [] {
    for (int round = 0; round < 3; ++round) {
      Device block{kMB, 2};
      EXPECT_EQ(fill(block.get(), 1, kMB), ACL_SUCCESS) << round;
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      block.forget();
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
  });
}

TEST(CommitLimit, D79_CountsForAllDevicesOfTheProcessTogether) {
  with_limit("1M", [] {
    Device first{kMB};
    EXPECT_EQ(fill(first.get(), 1, kMB - kSmall), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Device second{kMB};
    EXPECT_EQ(put(second.get(), Bytes(1)), ACL_SUCCESS);
    expect_full([&] { return put(second.get(kSmall), Bytes(1)); }, "1 MB");
    expect_full([&] { return put(first.get(kMB - 1), Bytes(1)); }, "1 MB");
    void* media = nullptr;
    EXPECT_EQ(aclrtMalloc(&media, 60 * kGB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS) << "allocating is free";
    EXPECT_EQ(aclrtFree(media), ACL_SUCCESS);
  });
}

TEST(CommitLimit, D79_M11_ThreadsGetExactlyWhatThereIs) {
  with_limit("2M", [] {
    constexpr std::size_t kThreads = 4, kEach = 200;  // pages; 512 are allowed
    Device block{kThreads * kEach * kSmall};
    std::atomic<std::size_t> done{0}, full{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (std::size_t i = 0; i < kEach; ++i) {
          const int answer = put(block.get((i * kThreads + t) * kSmall), Bytes(10, 7));
          EXPECT_TRUE(answer == ACL_SUCCESS || answer == kShortage) << answer;
          ++(answer == ACL_SUCCESS ? done : full);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done, 512U);
    EXPECT_EQ(full, kThreads * kEach - 512);
  });
}

// Freed memory is kept, and must go again and again so that others can write: what lives stays right.
TEST(CommitLimit, D79_M11_ThreadsThatTakeRoomFromEachOther_ReadWhatTheyWrote) {
  with_limit("16M", [] {
    constexpr std::size_t kThreads = 4;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        ASSERT_EQ(aclrtSetDevice(static_cast<int>(t % 2)), ACL_SUCCESS);
        for (unsigned i = 0; i < 60; ++i) {
          const std::size_t size = kMB + (i * kThreads + t) % 8 * 3 * kLarge;
          Device block{size, i % 2 == 0 ? 2U : 1U};
          const Bytes bytes = stripes(size, i * 7 + static_cast<unsigned>(t));
          const int answer = put(block.get(), bytes);
          ASSERT_EQ(answer, ACL_SUCCESS) << "four of at most 2.4 MB live at a time" << recent_message();
          ASSERT_EQ(read_from(block.get(), size), bytes) << t << " " << i;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    Device all{16 * kMB};
    EXPECT_EQ(fill(all.get(), 1, all.size()), ACL_SUCCESS) << recent_message();
  });
}

TEST(CommitLimit, D79_WithoutASetting_OrWithTheWordAuto_TheMachineIsTheLimit) {
  for (const char* value : {"auto", "AUTO", ""}) {
    in_fresh_process({{"BELAY_COMMIT", value}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << value << recent_message();
      Device block{20 * kMB};
      EXPECT_EQ(fill(block.get(), 1, 20 * kMB), ACL_SUCCESS);
    });
  }
}

// ------------------------------------------------------------------ the machine's own limit

// Writes far more than the group may have, in large steps or in small ones; it must be told, and live.
void write_beyond(std::size_t step) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Device block{512 * kMB, step == kSmall ? 2U : 1U};
  std::size_t written = 0;
  int answer = ACL_SUCCESS;
  while (written < block.size() && (answer = fill(block.get(written), 3, step)) == ACL_SUCCESS)
    written += step;
  ASSERT_EQ(answer, kShortage) << "after " << written;
  EXPECT_TRUE(mentions(recent_message(), "memory of this machine"));
  EXPECT_GT(written, 8 * kMB) << "it is not refused long before";
  EXPECT_EQ(read_from(block.get(written - 100), 100), Bytes(100, 3));
  EXPECT_EQ(read_from(block.get(written), 100), Bytes(100, 0xBE));
  EXPECT_EQ(fill(block.get(), 4, written), ACL_SUCCESS) << "what is there can be written again";
  // Freed memory can be used by the next one.
  block.free_now();
  Device next{written / 2, 2};
  EXPECT_EQ(fill(next.get(), 5, next.size()), ACL_SUCCESS) << recent_message();
  Bytes own(4 * kMB, 1);  // and the program still has some for itself
  EXPECT_EQ(put(next.get(), own), ACL_SUCCESS);
}

TEST(CommitLimit, D79_InAControlGroup_TheLimitIsAnAnswer_NotTheEndOfTheProcess) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs more memory than the group has";
  const ControlGroup group{160 * kMB};
  if (!group.trouble().empty()) GTEST_SKIP() << group.trouble();
  for (const char* pages : {"auto", "small"}) {
    for (const std::size_t step : {kSmall, kLarge, 4 * kMB, 256 * kMB}) {
      const Ending ending = run_captured({{"BELAY_PAGES", pages}, {"BELAY_LEAKS", "off"}}, [&] {
        if (!group.join()) ::_exit(77);
        if (step == 256 * kMB) {
          ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          Device block{512 * kMB, 1};
          EXPECT_EQ(fill(block.get(), 1, step), kShortage);
          EXPECT_EQ(read_from(block.get(), 100), Bytes(100, 0xBE));
        } else {
          write_beyond(step);
        }
      });
      if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
        GTEST_SKIP() << "this process may not join a control group";
      EXPECT_TRUE(ending.clean()) << "steps of " << step << ", pages " << pages << ": " << ending;
    }
  }
}

TEST(CommitLimit, M174_D79_PinnedMemoryBeyondAControlGroup_IsRefused_NotTheEndOfTheProcess) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs more memory than the group has";
  const ControlGroup group{100 * kMB};
  if (!group.trouble().empty()) GTEST_SKIP() << group.trouble();
  const Ending ending = run_captured({{"BELAY_LEAKS", "off"}}, [&] {
    if (!group.join()) ::_exit(77);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_EQ(aclrtMallocHost(&block, 200 * kMB), kShortage);
    EXPECT_EQ(block, nullptr);
    EXPECT_TRUE(mentions(recent_message(), "control group")) << "what to do";
    // The program's own memory: what it has not touched yet would come with the lock.
    void* own = ::mmap(nullptr, 200 * kMB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(aclrtHostRegisterV2(own, 200 * kMB, ACL_HOST_REG_PINNED), kShortage);
    EXPECT_EQ(aclrtHostRegisterV2(own, 4 * kMB, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(own), ACL_SUCCESS);
    // In steps, up to what there is; then freed and had again.
    std::vector<void*> blocks;
    while (blocks.size() < 100 && aclrtMallocHost(&block, 2 * kMB) == ACL_SUCCESS) blocks.push_back(block);
    EXPECT_GT(blocks.size(), 8U);
    EXPECT_LT(blocks.size(), 50U);
    for (void* each : blocks) EXPECT_EQ(aclrtFreeHost(each), ACL_SUCCESS);
    EXPECT_EQ(aclrtMallocHost(&block, 8 * kMB), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  });
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
    GTEST_SKIP() << "this process may not join a control group";
  EXPECT_TRUE(ending.clean()) << ending;
}

// Each looks, and what it saw is gone a moment later: to others, who saw the same.
TEST(CommitLimit, D79_SixtyFourProcessesFillOneControlGroupAtOnce_NoneIsKilled) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs more memory than the group has";
  const ControlGroup group{1000 * kMB};
  if (!group.trouble().empty()) GTEST_SKIP() << group.trouble();
  const Scratch place;
  constexpr int kProcesses = 64;
  const Ending ending = run_captured(
      {{"BELAY_LEAKS", "off"}, {"BELAY_MACHINE", "crowd"}, {"BELAY_MACHINES", place.path()}}, [&] {
        if (!group.join()) ::_exit(77);
        // Closing the first lets all begin, closing the second lets all end; each closes the third when it
        // has been refused.
        int begin[2], end[2], refused[2];
        ASSERT_TRUE(::pipe(begin) == 0 && ::pipe(end) == 0 && ::pipe(refused) == 0);
        std::vector<pid_t> children;
        for (int i = 0; i < kProcesses; ++i) {
          const pid_t child = ::fork();
          if (child == 0) {
            if (aclrtSetDevice(0) != ACL_SUCCESS) ::_exit(70);
            void *block = nullptr, *pinned = nullptr;
            if (aclrtMalloc(&block, 512 * kMB, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) ::_exit(71);
            ::close(begin[1]);
            ::close(end[1]);
            char byte = 0;
            (void)!::read(begin[0], &byte, 1);
            std::size_t filled = 0;
            int answer = ACL_SUCCESS;
            const std::size_t step = i % 3 == 0 ? 100'000 : i % 3 == 1 ? 3 * kMB : 40 * kMB;
            while (filled + step <= 512 * kMB && answer == ACL_SUCCESS) {
              answer = i % 4 == 3 ? aclrtMallocHost(&pinned, step)
                                  : aclrtMemset(static_cast<char*>(block) + filled, step, 1, step);
              filled += answer == ACL_SUCCESS ? step : 0;
            }
            ::close(refused[1]);
            (void)!::read(end[0], &byte, 1);
            ::_exit(answer == kShortage ? 0 : 72);
          }
          children.push_back(child);
        }
        ::close(begin[1]);
        ::close(refused[1]);
        char byte = 0;
        (void)!::read(refused[0], &byte, 1);  // until each has closed it, or is dead
        ::close(end[1]);
        for (const pid_t child : children) {
          int status = 0;
          ASSERT_EQ(::waitpid(child, &status, 0), child);
          EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
          EXPECT_EQ(WEXITSTATUS(status), 0);
        }
      });
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
    GTEST_SKIP() << "this process may not join a control group";
  EXPECT_TRUE(ending.clean()) << ending;
}

}  // namespace commit_limit_test
