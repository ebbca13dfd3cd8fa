// Memory of this machine that freed blocks leave behind: kept for a while, up to a bound, then given back.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/blocks.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/waiting.h"
#include "support/worker.h"

namespace kept_memory_test {

using namespace belay_test;

// Bytes of a figure of /proc/self/status.
std::size_t status(const std::string& field) {
  std::ifstream file{"/proc/self/status"};
  for (std::string name; file >> name;) {
    if (name != field + ":") continue;
    std::size_t value = 0;
    file >> value;
    return value * kKB;
  }
  ADD_FAILURE() << field << " is not in /proc/self/status";
  return 0;
}
// The bytes of device memory are files in memory, of which not all need be mapped.
std::size_t of_contents() {
  std::size_t sum = 0;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code closed;
    const std::string leads_to = std::filesystem::read_symlink(each.path(), closed).string();
    struct stat about {};
    if (leads_to.rfind("/memfd:belay-device-memory", 0) == 0 && ::stat(each.path().c_str(), &about) == 0)
      sum += static_cast<std::size_t>(about.st_blocks) * 512;
  }
  return sum;
}

// Nobody promises when; much later than usual is a failure.
bool comes_down_to(std::size_t bytes) {
  return eventually([bytes] { return of_contents() <= bytes; }, 20s);
}

void with_keep(const std::string& keep, const std::function<void()>& body) {
  Settings settings{{"BELAY_LEAKS", "off"}, {"BELAY_PAGES", "small"}};
  if (!keep.empty()) settings.emplace_back("BELAY_KEEP", keep);
  in_fresh_process(settings, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    body();
  });
}

// Writes so many blocks entirely, and frees them.
void write_and_free(std::size_t count, std::size_t size, unsigned policy) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) {
    ASSERT_EQ(aclrtMallocAlign32(&block, size, policy_of(policy)), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(block, size, 7, size), ACL_SUCCESS);
  }
  for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
}

struct Shape {
  std::size_t count, size;
  unsigned policy;
};
constexpr Shape kShapes[] = {
    {16384, 4 * kKB, 2}, {512, 128 * kKB, 2}, {32, 2 * kMB, 1}, {4, 16 * kMB, 1}, {1, 64 * kMB, 0}};
// A part of that, where it is done several times.
constexpr Shape kSmallShapes[] = {
    {6144, 4 * kKB, 2}, {192, 128 * kKB, 2}, {12, 2 * kMB, 1}, {3, 8 * kMB, 1}, {1, 24 * kMB, 0}};
constexpr std::size_t kNear = 2 * kMB;

TEST(KeptMemory, D17_GivenBackAfterARest) {
  expect_all_clean(std::size(kShapes), [](int which) {
    const Shape& shape = kShapes[which];
    SCOPED_TRACE(std::to_string(shape.count) + " blocks of " + std::to_string(shape.size));
    with_keep("", [&] {
      const std::size_t before = of_contents();
      write_and_free(shape.count, shape.size, shape.policy);
      EXPECT_GT(of_contents(), before + 32 * kMB) << "kept, for now";
      EXPECT_TRUE(comes_down_to(before + kNear)) << of_contents() - before << " bytes are still kept";
    });
  });
}

TEST(KeptMemory, D17_GivenBackAfterARest_AlsoWhatIdleThreadsHaveAtHand) {
  with_keep("", [] {
    const std::size_t before = of_contents();
    std::vector<std::unique_ptr<Worker>> idle;
    for (int i = 0; i < 8; ++i) {
      idle.push_back(std::make_unique<Worker>());
      idle.back()->do_([] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (int round = 0; round < 3; ++round) {  // the second time they are at hand
          write_and_free(4, 2 * kMB, 1);
          write_and_free(8, 64 * kKB, 2);
        }
      });
    }
    EXPECT_GT(of_contents(), before + 16 * kMB);
    EXPECT_TRUE(comes_down_to(before + kNear)) << of_contents() - before << " bytes are still kept";
    // They may go on as if nothing had happened.
    for (auto& worker : idle) {
      worker->do_([] {
        Device block{2 * kMB, 1};
        for (const std::uint8_t byte : read_from(block.get(), 2 * kMB))
          ASSERT_TRUE(byte == 0xBE || byte == 7);
        write_to(block.get(), pattern(2 * kMB, 5));
        EXPECT_EQ(read_from(block.get(), 2 * kMB), pattern(2 * kMB, 5));
      });
    }
  });
}

TEST(KeptMemory, D17_GivenBackAgainAndAgain_AndBlocksThatLiveStay) {
  with_keep("", [] {
    Device living{4 * kMB, 1}, small{40 * kKB, 2};
    write_to(living.get(), pattern(4 * kMB, 1));
    write_to(small.get(), pattern(40 * kKB, 2));
    const std::size_t before = of_contents();
    for (int rest = 0; rest < 2; ++rest) {
      write_and_free(16, 2 * kMB, 1);
      write_and_free(100, 40 * kKB, 2);
      EXPECT_TRUE(comes_down_to(before + kNear)) << of_contents() - before << " bytes, rest " << rest;
      EXPECT_EQ(read_from(living.get(), 4 * kMB), pattern(4 * kMB, 1));
      EXPECT_EQ(read_from(small.get(), 40 * kKB), pattern(40 * kKB, 2));
    }
  });
}

// Resident memory as a whole: no tables or caches of ours take the place of what was given back.
TEST(KeptMemory, D17_TheProcessIsAsSmallAsBefore) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer keeps memory of its own";
  with_keep("", [] {
    write_and_free(1, 4 * kKB, 2);
    const std::size_t before = status("VmRSS");
    write_and_free(32, 2 * kMB, 1);
    const std::size_t contents = of_contents();
    EXPECT_TRUE(comes_down_to(contents - 60 * kMB));
    EXPECT_LT(status("VmRSS"), before + 8 * kMB);
  });
}

TEST(KeptMemory, D17_WithBELAY_KEEP_0_NothingIsKept) {
  for (const Shape& shape : whole() ? kShapes : kSmallShapes) {
    SCOPED_TRACE(std::to_string(shape.count) + " blocks of " + std::to_string(shape.size));
    with_keep("0", [&] {
      const std::size_t before = of_contents();
      for (int round = 0; round < 3; ++round) {
        write_and_free(shape.count, shape.size, shape.policy);
        EXPECT_LE(of_contents(), before + 64 * kKB) << "round " << round;
      }
      on_new_thread([&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        write_and_free(shape.count, shape.size, shape.policy);
        EXPECT_LE(of_contents(), before + 64 * kKB);
      });
    });
  }
}

TEST(KeptMemory, D17_NeverMoreThanBELAY_KEEP) {
  for (const Shape& shape : whole() ? kShapes : kSmallShapes) {
    SCOPED_TRACE(std::to_string(shape.count) + " blocks of " + std::to_string(shape.size));
    with_keep("16M", [&] {
      const std::size_t before = of_contents();
      for (int round = 0; round < 4; ++round) {
        write_and_free(shape.count, shape.size, shape.policy);
        EXPECT_LE(of_contents(), before + 16 * kMB + 64 * kKB) << "round " << round;
      }
    });
  }
}

TEST(KeptMemory, D17_WhatIsKept_CostsTheDeviceNothing) {
  with_keep("", [] {
    const std::size_t before = free_bytes();
    write_and_free(32, 2 * kMB, 1);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(KeptMemory, D17_NeverMoreThanBELAY_KEEP_HoweverManyThreads) {
  with_keep("16M", [] {
    const std::size_t before = of_contents();
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 30; ++i) {
      workers.push_back(std::make_unique<Worker>());
      workers.back()->do_([] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (int round = 0; round < 3; ++round) {
          std::vector<void*> blocks(20);
          for (void*& block : blocks) {
            ASSERT_EQ(aclrtMallocAlign32(&block, 64 * kKB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
            ASSERT_EQ(aclrtMemset(block, 64 * kKB, 1, 64 * kKB), ACL_SUCCESS);
          }
          for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
        }
      });
    }
    EXPECT_LE(of_contents() - before, 16 * kMB);
  });
}

}  // namespace kept_memory_test
