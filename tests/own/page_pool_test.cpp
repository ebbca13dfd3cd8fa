// Emulated huge pages on pages of the kernel's pools (BELAY_PAGES). A pool belongs to the whole machine, so
// these tests run alone; where no pool can be had they are skipped and say why.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "acl/ops/acl_dvpp.h"
#include "support/blocks.h"
#include "support/kernel_pool.h"
#include "support/members.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/stripes.h"

namespace page_pool_test {

using namespace belay_test;

constexpr std::size_t kPage = 2 * kMB;
constexpr std::size_t kPages = 16;  // in the pool of these tests
constexpr unsigned kHugeFirst = ACL_MEM_MALLOC_HUGE_FIRST, kHugeOnly = ACL_MEM_MALLOC_HUGE_ONLY,
                   kNormalOnly = ACL_MEM_MALLOC_NORMAL_ONLY, kGiant = ACL_MEM_MALLOC_HUGE1G_ONLY;

struct Figures {
  std::size_t free = 0, total = 0;
};
Figures figures(aclrtMemAttr attribute) {
  Figures got;
  EXPECT_EQ(aclrtGetMemInfo(attribute, &got.free, &got.total), ACL_SUCCESS) << attribute;
  return got;
}

// A request that must be refused for the sake of the pool, and take nothing.
void expect_pool_empty(std::size_t size, unsigned policy, const KernelPool& pool) {
  SCOPED_TRACE(std::to_string(size) + " bytes, policy " + std::to_string(policy));
  const std::size_t pool_before = pool.free(), device_before = free_bytes();
  last_error();
  recent_message();
  void* block = sentinel();
  EXPECT_EQ(::aclrtMallocAlign32(&block, size, policy_of(policy)), kShortage);
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(last_error(), kShortage);
  const std::string text = recent_message();
  EXPECT_TRUE(mentions(text, "BELAY_PAGES=hugetlb")) << text;
  EXPECT_TRUE(mentions(text, "EL0004")) << text;
  EXPECT_TRUE(mentions(text, policy == kGiant ? "hugepages-1048576kB" : "hugepages-2048kB")) << text;
  EXPECT_EQ(pool.free(), pool_before);
  EXPECT_EQ(free_bytes(), device_before);
}

void expect_bytes(const Device& block, unsigned seed) {
  const Bytes expected = stripes(block.size(), seed);
  write_to(block.get(), expected);
  EXPECT_EQ(read_from(block.get(), block.size()), expected);
}

// In kilobytes, over all mappings.
std::size_t smaps_sum(const std::string& name) {
  std::ifstream file{"/proc/self/smaps"};
  std::size_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) sum += std::stoul(line.substr(name.size() + 1));
  }
  return sum;
}

// The page size of the kernel at an address, in kilobytes; 0 if nothing is mapped there.
std::size_t kernel_page_at(const void* address) {
  std::ifstream file{"/proc/self/smaps"};
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t from = 0, to = 0;
    char dash = 0;
    std::istringstream head{line};
    if (head >> std::hex >> from >> dash >> to && dash == '-')
      here = from <= number(address) && number(address) < to;
    if (here && line.rfind("KernelPageSize:", 0) == 0) return std::stoul(line.substr(15));
  }
  return 0;
}

class PagePool : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!pool_.trouble().empty()) GTEST_SKIP() << pool_.trouble();
  }
  void TearDown() override {
    if (pool_.trouble().empty()) {
      EXPECT_EQ(pool_.free(), kPages) << "the process is gone, its pages are not";
    }
  }
  // With device 0 set, in a process of its own.
  void with(const char* pages, Settings more, const std::function<void()>& body) const {
    more.emplace_back("BELAY_PAGES", pages);
    more.emplace_back("BELAY_LEAKS", "off");
    in_fresh_process(more, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body();
    });
  }
  KernelPool pool_{kPage, kPages};
  KernelPool giants_{kGB, 0};  // as far as they can be held back, none is to be seen
};

class GigabytePool : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!pool_.trouble().empty()) GTEST_SKIP() << pool_.trouble();
  }
  void TearDown() override {
    if (pool_.trouble().empty()) {
      EXPECT_EQ(pool_.free(), 1U);
    }
  }
  void with(const char* pages, Settings more, const std::function<void()>& body) const {
    more.emplace_back("BELAY_PAGES", pages);
    more.emplace_back("BELAY_LEAKS", "off");
    in_fresh_process(more, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body();
    });
  }
  KernelPool small_{kPage, 0};  // first, as everywhere: two checkouts must not wait for each other
  KernelPool pool_{kGB, 1};
};

// ------------------------------------------------------------------ hugetlb: the pool is the device's

TEST_F(PagePool, M50_M86_HugeOnlyLastsExactlyAsLongAsThePool) {
  with("hugetlb", {}, [&] {
    std::vector<std::unique_ptr<Device>> blocks;
    for (std::size_t held = 1; held <= kPages; ++held) {
      blocks.push_back(std::make_unique<Device>(held % 2 == 0 ? 1 : kPage, kHugeOnly));
      EXPECT_EQ(pool_.free(), kPages - held);
      EXPECT_EQ(page_of(blocks.back()->get()), kPage);
    }
    EXPECT_EQ(smaps_sum("Private_Hugetlb"), kPages * kPage / kKB) << "they are the kernel's huge pages";
    for (const unsigned policy : {1U, 4U, 0x1001U, 0x100001U}) expect_pool_empty(1, policy, pool_);
    // Freed pages are back at once, and can be had again at once.
    blocks[3].reset();
    EXPECT_EQ(pool_.free(), 1U);
    expect_pool_empty(kPage + 1, kHugeOnly, pool_);
    blocks[3] = std::make_unique<Device>(kPage, kHugeOnly);
    expect_pool_empty(1, kHugeOnly, pool_);
    blocks.clear();
    EXPECT_EQ(pool_.free(), kPages);
    EXPECT_EQ(smaps_sum("Private_Hugetlb"), 0U);
  });
}

TEST_F(PagePool, M50_M86_ABlockGetsAllItsPagesOrNone) {
  with("hugetlb", {}, [&] {
    Device most{12 * kPage, kHugeOnly};
    EXPECT_EQ(pool_.free(), 4U);
    for (const std::size_t size : {4 * kPage + 1, 5 * kPage, 300 * kPage, 600 * kPage, 2000 * kPage})
      expect_pool_empty(size, kHugeOnly, pool_);
    Device rest{4 * kPage, kHugeOnly};
    EXPECT_EQ(pool_.free(), 0U);
    expect_bytes(most, 1);
    expect_bytes(rest, 2);
    EXPECT_EQ(read_from(most.get(), most.size()), stripes(most.size(), 1));
  });
}

TEST_F(PagePool, M48_M52_M421_HugeFirstFallsBackToNormalPages_AsAWhole) {
  with("hugetlb", {}, [&] {
    Device most{12 * kPage, kHugeOnly};
    for (const unsigned policy : {0U, 3U, 99U}) {
      {
        Device fits{4 * kPage, policy};
        EXPECT_EQ(page_of(fits.get()), kPage) << policy;
        EXPECT_EQ(pool_.free(), 0U);
        Device none{3 * kMB, policy};
        EXPECT_EQ(page_of(none.get()), 4096U) << policy;
        expect_bytes(none, 3);
      }
      const std::size_t before = free_bytes();
      Device larger{4 * kPage + 1, policy};
      EXPECT_EQ(page_of(larger.get()), 4096U) << policy;
      EXPECT_EQ(pool_.free(), 4U) << "not a page of the pool for a block of normal pages";
      EXPECT_EQ(before - free_bytes(), 4 * kPage + 4096);
      expect_bytes(larger, 4);
    }
    expect_bytes(most, 5);
  });
}

TEST_F(PagePool, M51_M54_NormalPagesAndMediaMemoryTakeNothingFromThePool) {
  with("hugetlb", {}, [&] {
    for (const unsigned policy : {2U, 5U, 0U}) {
      Device block{policy == 0 ? kMB : 9 * kMB, policy};
      expect_bytes(block, 6);
      EXPECT_EQ(pool_.free(), kPages);
    }
    void* media = nullptr;
    ASSERT_EQ(acldvppMalloc(&media, 5 * kMB), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(media, 5 * kMB, 1, 5 * kMB), ACL_SUCCESS);
    EXPECT_EQ(pool_.free(), kPages);
    EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
  });
}

TEST(PagePoolWithoutPages, M48_M50_M51_M55_D77_HugetlbWithAnEmptyPool_LeavesNormalPages) {
  const KernelPool pool{kPage, 0}, giants{kGB, 0};
  if (!pool.trouble().empty()) GTEST_SKIP() << pool.trouble();
  in_fresh_process({{"BELAY_PAGES", "hugetlb"}}, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    expect_pool_empty(1, kHugeOnly, pool);
    expect_pool_empty(100 * kMB, kHugeOnly, pool);
    if (giants.trouble().empty()) expect_pool_empty(1, kGiant, giants);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, 0U);
    EXPECT_EQ(figures(ACL_HBM_MEM_NORMAL).free, figures(ACL_HBM_MEM).free);
    for (const unsigned policy : {0U, 2U}) {
      Device block{5 * kMB, policy};
      EXPECT_EQ(page_of(block.get()), 4096U);
      expect_bytes(block, 7);
    }
  });
}

TEST(PagePoolWithoutPages, M50_M55_AutoNeverFailsForLackOfKernelPages) {
  const KernelPool pool{kPage, 0}, giants{kGB, 0};
  for (const std::string& trouble : {pool.trouble(), giants.trouble()})
    if (!trouble.empty()) GTEST_SKIP() << trouble;
  for (const char* pages : {"auto", "", "AUTO", "thp", "small"}) {
    in_fresh_process({{"BELAY_PAGES", pages}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_message();
      Device huge{10 * kMB, kHugeOnly}, giant{kGB, kGiant};
      EXPECT_EQ(page_of(huge.get()), kPage) << pages;
      EXPECT_EQ(page_of(giant.get()), kGB) << pages;
      expect_bytes(huge, 8);
      for (const std::size_t offset : {std::size_t{0}, 511 * kMB + 77, kGB - 1000}) {
        const Bytes bytes = stripes(1000, 9);
        write_to(giant.get(offset), bytes);
        EXPECT_EQ(read_from(giant.get(offset), 1000), bytes) << pages;
      }
    });
  }
}

TEST_F(PagePool, M430_TheFiguresFollowThePool) {
  with("hugetlb", {}, [&] {
    const Figures all = figures(ACL_HBM_MEM);
    const auto check = [&](std::size_t pages, bool alone = true) {
      for (const auto attribute : {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_P2P_HUGE, ACL_MEM_HUGE, ACL_MEM_P2P_HUGE}) {
        EXPECT_EQ(figures(attribute).free, pages * kPage) << attribute;
        if (alone) {
          EXPECT_EQ(figures(attribute).total, kPages * kPage) << attribute;
        }
      }
      for (const auto attribute : {ACL_HBM_MEM_NORMAL, ACL_MEM_NORMAL, ACL_MEM_P2P_NORMAL}) {
        EXPECT_EQ(figures(attribute).free + pages * kPage, figures(ACL_HBM_MEM).free) << attribute;
        EXPECT_EQ(figures(attribute).total + figures(ACL_HBM_MEM_HUGE).total, all.total) << attribute;
      }
    };
    check(kPages);
    {
      Device three{3 * kPage, kHugeOnly};
      check(kPages - 3);
      EXPECT_EQ(figures(ACL_HBM_MEM).free, all.free - 3 * kPage);
      Device normal{5 * kMB, kNormalOnly};
      check(kPages - 3);
      EXPECT_EQ(figures(ACL_HBM_MEM).free, all.free - 3 * kPage - 5 * kMB);
      Device fallen{30 * kPage, kHugeFirst};
      check(kPages - 3);
    }
    check(kPages);
    EXPECT_EQ(figures(ACL_HBM_MEM).free, all.free);
    {
      PoolNeighbour neighbour{kPage, 7};
      ASSERT_TRUE(neighbour.has_all());
      check(kPages - 7, false);
      EXPECT_EQ(figures(ACL_HBM_MEM).free, all.free) << "a neighbour's pages are not the device's memory";
    }
    check(kPages);
  });
}

TEST_F(PagePool, M430_FreeNeverExceedsTotal_WhoeverHoldsThePool) {
  with("hugetlb", {}, [&] {
    const auto check = [] {
      for (const auto attribute : {ACL_HBM_MEM, ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_HUGE1G}) {
        const Figures got = figures(attribute);
        EXPECT_LE(got.free, got.total) << attribute;
      }
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free + figures(ACL_HBM_MEM_NORMAL).free, figures(ACL_HBM_MEM).free);
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).total + figures(ACL_HBM_MEM_NORMAL).total,
                figures(ACL_HBM_MEM).total);
    };
    check();
    PoolNeighbour neighbour{kPage, kPages};
    ASSERT_TRUE(neighbour.has_all());
    check();
    Device block{4096};
    check();
  });
}

TEST_F(PagePool, M430_BELAY_HUGE_IsALimitBesideThePool) {
  with("hugetlb", {{"BELAY_HUGE", "8M"}}, [&] {
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, 8 * kMB);
    Device four{8 * kMB, kHugeOnly};
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, 0U);
    EXPECT_EQ(pool_.free(), kPages - 4);
    void* block = sentinel();
    EXPECT_EQ(aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE_ONLY), kShortage);
    EXPECT_FALSE(mentions(recent_message(), "hugetlb")) << "the pool is not what is short";
    EXPECT_EQ(pool_.free(), kPages - 4);
  });
  with("hugetlb", {{"BELAY_HUGE", "1G"}}, [&] {
    Device all{kPages * kPage, kHugeOnly};
    expect_pool_empty(1, kHugeOnly, pool_);
  });
}

TEST_F(PagePool, M50_WhatWasAllocatedIsThere_WhateverBecomesOfThePool) {
  for (const char* access : {"deny", "allow"}) {
    const Ending ending = run_captured(
        {{"BELAY_PAGES", "hugetlb"}, {"BELAY_HOST_ACCESS", access}, {"BELAY_LEAKS", "off"}}, [&] {
          ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          Device early{8 * kPage, kHugeOnly}, late{4 * kPage, kHugeOnly};
          write_to(early.get(), stripes(kPage, 10));  // the rest has never been touched
          PoolNeighbour drain{kPage, 4};
          ASSERT_TRUE(drain.has_all());
          ASSERT_EQ(pool_.free(), 0U);
          expect_pool_empty(1, kHugeOnly, pool_);
          expect_bytes(late, 11);
          expect_bytes(early, 12);
          EXPECT_EQ(aclrtMemset(late.get(), late.size(), 1, late.size()), ACL_SUCCESS);
          if (std::string{access} == "allow") std::memset(early.get(), 2, early.size());
        });
    EXPECT_TRUE(ending.clean()) << access << ": " << ending;
  }
}

TEST_F(PagePool, M50_ThePoolMayShrinkMeanwhile) {
  KernelPool& pool = pool_;
  const Ending ending = run_captured({{"BELAY_PAGES", "hugetlb"}, {"BELAY_LEAKS", "off"}}, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Device block{8 * kPage, kHugeOnly};
    if (!pool.shrink()) ::_exit(77);
    EXPECT_EQ(pool.free(), 0U);
    expect_pool_empty(1, kHugeOnly, pool);
    expect_bytes(block, 13);
  });
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
    GTEST_SKIP() << "only root can change the pool";
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_TRUE(pool_.refill()) << "the kernel finds the pages no more";
}

TEST_F(PagePool, WritesReadBack_HoweverThePagesAreUsedAgain) {
  with("hugetlb", {}, [&] {
    std::array<std::unique_ptr<Device>, 6> blocks;
    std::array<unsigned, 6> seeds{};
    for (unsigned round = 0; round < 30; ++round) {
      const std::size_t i = round * 5 % blocks.size();
      if (blocks[i] != nullptr) {
        EXPECT_EQ(read_from(blocks[i]->get(), blocks[i]->size()), stripes(blocks[i]->size(), seeds[i]))
            << round;
      }
      blocks[i].reset();
      blocks[i] =
          std::make_unique<Device>((1 + round % 2) * kPage - round * 1000, round % 3 == 0   ? kHugeFirst
                                                                           : round % 7 == 0 ? kNormalOnly
                                                                                            : kHugeOnly);
      seeds[i] = round + 1;
      write_to(blocks[i]->get(), stripes(blocks[i]->size(), seeds[i]));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
      EXPECT_EQ(read_from(blocks[i]->get(), blocks[i]->size()), stripes(blocks[i]->size(), seeds[i]));
    // Inside the pool and out of it, and overlapping.
    Device small{3 * kPage, kNormalOnly}, huge{3 * kPage, kHugeOnly};
    write_to(small.get(), stripes(small.size(), 100));
    const auto copy = [](void* to, const void* from, std::size_t bytes) {
      EXPECT_EQ(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    };
    copy(huge.get(), small.get(), huge.size());
    EXPECT_EQ(read_from(huge.get(), huge.size()), stripes(huge.size(), 100));
    copy(huge.get(kPage / 2), huge.get(), 2 * kPage);
    Bytes moved = stripes(huge.size(), 100);
    std::memmove(moved.data() + kPage / 2, moved.data(), 2 * kPage);
    EXPECT_EQ(read_from(huge.get(), huge.size()), moved);
  });
}

TEST_F(PagePool, M405_M406_TheResetOfADeviceReturnsItsPages) {
  with("hugetlb", {}, [&] {
    Device first{4 * kPage, kHugeOnly};
    EXPECT_EQ(aclrtMemset(first.get(), 100, 1, 100), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Device second{6 * kPage, kHugeOnly}, third{kPage, kHugeOnly};
    EXPECT_EQ(pool_.free(), kPages - 11);
    ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    second.forget();
    third.forget();
    EXPECT_EQ(pool_.free(), kPages - 4) << "only the device that was reset";
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    first.forget();
    EXPECT_EQ(pool_.free(), kPages);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Device again{kPages * kPage, kHugeOnly};
    EXPECT_EQ(pool_.free(), 0U);
  });
}

TEST_F(PagePool, M50_AProcessThatDiesReturnsItsPages_HoweverItDies) {
  const TestMachine machine{"1G", {{"BELAY_PAGES", "hugetlb"}}};
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT}) {
    const MemberPtr member = machine.join();
    const std::uint64_t block = member->allocate(10 * kPage, kHugeOnly);
    ASSERT_NE(block, 0U);
    EXPECT_EQ(member->write(block, 3 * kPage, 1), 0);
    EXPECT_EQ(pool_.free(), kPages - 10);
    member->die(signal);
    EXPECT_EQ(pool_.free(), kPages) << signal;
  }
  for (const Way way : {Way::exit, Way::quick}) {
    const MemberPtr member = machine.join();
    ASSERT_NE(member->allocate(10 * kPage, kHugeOnly), 0U);
    member->end(way);
    EXPECT_EQ(pool_.free(), kPages);
  }
}

TEST_F(PagePool, M430_TheProcessesOfAMachineShareThePool) {
  const TestMachine machine{"1G", {{"BELAY_PAGES", "hugetlb"}}};
  const MemberPtr one = machine.join(), other = machine.join();
  const std::uint64_t block = one->allocate(10 * kPage, kHugeOnly);
  ASSERT_NE(block, 0U);
  EXPECT_EQ(one->info(ACL_HBM_MEM_HUGE).free, 6 * kPage);
  EXPECT_EQ(other->info(ACL_HBM_MEM_HUGE).free, 6 * kPage);
  EXPECT_EQ(other->allocate(7 * kPage, kHugeOnly), 0U);
  EXPECT_TRUE(mentions(other->message(), "BELAY_PAGES=hugetlb"));
  const std::uint64_t rest = other->allocate(6 * kPage, kHugeOnly);
  EXPECT_NE(rest, 0U);
  EXPECT_EQ(other->write(rest, 6 * kPage, 2), 0);
  EXPECT_EQ(one->write(block, 10 * kPage, 3), 0);
  EXPECT_TRUE(other->verify(rest, 6 * kPage, 2));
  EXPECT_TRUE(one->verify(block, 10 * kPage, 3));
  EXPECT_EQ(one->free(block), 0);
  EXPECT_EQ(other->info(ACL_HBM_MEM_HUGE).free, 10 * kPage);
}

TEST_F(PagePool, R69_AForkedChildHoldsNoPages) {
  with("hugetlb", {}, [&] {
    Device block{10 * kPage, kHugeOnly};
    write_to(block.get(), stripes(kPage, 14));
    std::array<int, 2> gate{};
    ASSERT_EQ(::pipe(gate.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(gate[1]);
      char byte = 0;
      const bool waited = ::read(gate[0], &byte, 1) == 0;  // until the parent has looked
      ::_exit(waited ? 0 : 1);
    }
    ::close(gate[0]);
    EXPECT_EQ(read_from(block.get(), kPage), stripes(kPage, 14));
    write_to(block.get(), stripes(block.size(), 15));
    EXPECT_EQ(pool_.free(), kPages - 10) << "nothing was copied for the child";
    block.free_now();
    EXPECT_EQ(pool_.free(), kPages) << "while the child lives";
    ::close(gate[1]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

TEST_F(PagePool, M50_HostCodeTouchesTheKernelsPages_WhereItMay) {
  with("hugetlb", {{"BELAY_HOST_ACCESS", "allow"}}, [&] {
    Device block{3 * kPage, kHugeOnly};
    EXPECT_EQ(pool_.free(), kPages - 3);
    EXPECT_EQ(kernel_page_at(block.get()), kPage / kKB);
    EXPECT_EQ(kernel_page_at(block.get(3 * kPage - 1)), kPage / kKB);
    const Bytes bytes = stripes(block.size(), 16);
    std::memcpy(block.get(), bytes.data(), bytes.size());
    EXPECT_EQ(read_from(block.get(), block.size()), bytes);
    EXPECT_EQ(aclrtMemset(block.get(kPage), kPage, 7, kPage), ACL_SUCCESS);
    EXPECT_EQ(*static_cast<const std::uint8_t*>(block.get(kPage + 5)), 7);
    Device fallen{kPages * kPage, kHugeFirst};
    EXPECT_EQ(page_of(fallen.get()), 4096U);
    EXPECT_EQ(kernel_page_at(fallen.get()), 4U);
    std::memset(fallen.get(), 1, 100);
    const void* const was = block.free_now();
    EXPECT_EQ(pool_.free(), kPages);
    EXPECT_NE(kernel_page_at(was), kPage / kKB);
    Device again{kPages * kPage, kHugeOnly};
    std::memset(again.get(), 3, again.size());
    EXPECT_EQ(read_from(again.get(), 1000), Bytes(1000, 3));
  });
}

TEST_F(PagePool, M78_M427_AReadOnlyBlockOfThePool_CannotBeWrittenByTheHost) {
  const Ending ending =
      run_captured({{"BELAY_PAGES", "hugetlb"}, {"BELAY_HOST_ACCESS", "allow"}, {"BELAY_LEAKS", "off"}}, [&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        void* block = nullptr;
        for (int round = 0; round < 2; ++round) {
          ASSERT_EQ(::aclrtMallocAlign32(&block, kPage, policy_of(0x100001U)), ACL_SUCCESS);
          EXPECT_EQ(kernel_page_at(block), kPage / kKB);
          EXPECT_EQ(aclrtMemset(block, 1, 1, 1), kRefused);
          if (round == 0) {
            EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
            Device writable{kPage, kHugeOnly};  // the same page, to be written
            std::memset(writable.get(), 1, kPage);
          }
        }
        if (::testing::Test::HasFailure()) ::_exit(1);
        *static_cast<volatile char*>(block) = 1;
      });
  EXPECT_FALSE(ending.clean()) << ending;
  EXPECT_TRUE(kUnderASanitizer || ending.killed_by(SIGSEGV)) << ending;
}

TEST_F(PagePool, M11_M86_ThreadsNeverHoldMorePagesThanThereAre) {
  with("hugetlb", {}, [&] {
    constexpr int kThreads = 8, kRounds = 40;
    std::atomic<std::size_t> held{0}, most{0}, refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ASSERT_EQ(aclrtSetDevice(t % 2), ACL_SUCCESS);
        for (int i = 0; i < kRounds; ++i) {
          const std::size_t pages = 1 + static_cast<std::size_t>(i + t) % 4;
          void* block = nullptr;
          const int answer = ::aclrtMallocAlign32(&block, pages * kPage, policy_of(kHugeOnly));
          if (answer != ACL_SUCCESS) {
            EXPECT_EQ(answer, kShortage);
            ++refused;
            continue;
          }
          const std::size_t now = held += pages;
          std::size_t seen = most;
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          const auto value = static_cast<std::uint8_t>(t * 16 + i % 16);
          EXPECT_EQ(aclrtMemset(block, pages * kPage, value, pages * kPage), ACL_SUCCESS);
          EXPECT_EQ(read_from(at(block, pages * kPage - 64), 64), Bytes(64, value));
          held -= pages;
          EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(most, kPages);
    EXPECT_LT(refused, std::size_t{kThreads * kRounds});
    EXPECT_EQ(pool_.free(), kPages);
    Device all{kPages * kPage, kHugeOnly};
  });
}

// ------------------------------------------------------------------ auto, thp, small

TEST_F(PagePool, Auto_WritesUseThePool_AllocatingDoesNot) {
  with("auto", {}, [&] {
    Device block{8 * kPage, kHugeOnly};
    EXPECT_EQ(pool_.free(), kPages);
    EXPECT_EQ(read_from(block.get(5), 1000).size(), 1000U);
    EXPECT_EQ(pool_.free(), kPages) << "reading takes nothing";
    write_to(block.get(kPage + 1), stripes(1, 1));
    EXPECT_EQ(pool_.free(), kPages - 1) << "a whole page with its first byte";
    write_to(block.get(2 * kPage - 1), stripes(2, 1));
    EXPECT_EQ(pool_.free(), kPages - 2) << "one byte in the next page";
    expect_bytes(block, 17);
    EXPECT_EQ(pool_.free(), kPages - 8);
    EXPECT_EQ(smaps_sum("Private_Hugetlb"), 8 * kPage / kKB);
    Device normal{3 * kPage, kNormalOnly};
    expect_bytes(normal, 18);
    EXPECT_EQ(pool_.free(), kPages - 8);
  });
}

TEST_F(PagePool, Auto_GoesOnWithSmallPagesWhenThePoolIsEmpty) {
  with("auto", {}, [&] {
    Device block{(kPages + 9) * kPage, kHugeOnly};
    expect_bytes(block, 19);
    EXPECT_EQ(pool_.free(), 0U);
    Device more{3 * kPage, kHugeOnly};
    expect_bytes(more, 20);
    EXPECT_EQ(read_from(block.get(), block.size()), stripes(block.size(), 19));
    EXPECT_EQ(figures(ACL_HBM_MEM).free, figures(ACL_HBM_MEM).total - (kPages + 12) * kPage);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, figures(ACL_HBM_MEM).free) << "the pool is no limit here";
  });
}

TEST_F(PagePool, Auto_PagesBeyondBELAY_KEEP_GoBackAtTheFree) {
  for (const auto& [keep, left] :
       {std::pair{"0", kPages}, std::pair{"8M", kPages}, std::pair{"12M", kPages - 5}}) {
    with("auto", {{"BELAY_KEEP", keep}}, [&] {
      {
        Device block{5 * kPage, kHugeOnly};
        expect_bytes(block, 21);
        EXPECT_EQ(pool_.free(), kPages - 5);
      }
      EXPECT_EQ(pool_.free(), left) << keep;
      Device again{5 * kPage, kHugeOnly};
      expect_bytes(again, 22);
      EXPECT_EQ(pool_.free(), kPages - 5) << "kept or new, five are enough";
    });
    EXPECT_EQ(pool_.free(), kPages) << "at the end of the process";
  }
}

TEST_F(PagePool, Auto_ABlockThatIsHalfWrittenWhenThePoolFills_StaysRight) {
  with("auto", {}, [&] {
    Device block{4 * kPage, kHugeOnly};
    Bytes expected = read_from(block.get(), block.size());
    const auto put = [&](std::size_t offset, std::size_t count, unsigned seed) {
      const Bytes bytes = stripes(count, seed);
      write_to(block.get(offset), bytes);
      std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    {
      PoolNeighbour drain{kPage, kPages};
      ASSERT_TRUE(drain.has_all());
      put(100, 1000, 23);  // on a small page
    }
    put(3 * kPage - 10, 20, 24);
    put(50, 100, 25);
    EXPECT_EQ(aclrtMemset(block.get(kPage), kPage, 9, 3000), ACL_SUCCESS);
    std::fill_n(expected.begin() + kPage, 3000, std::uint8_t{9});
    EXPECT_EQ(read_from(block.get(), block.size()), expected);
  });
}

TEST_F(PagePool, ThpAndSmall_LeaveThePoolAlone) {
  for (const char* pages : {"thp", "small"}) {
    with(pages, {}, [&] {
      Device block{(kPages + 4) * kPage, kHugeOnly};
      expect_bytes(block, 26);
      EXPECT_EQ(pool_.free(), kPages) << pages;
    });
  }
}

// ------------------------------------------------------------------ pages of 1 GB

TEST_F(GigabytePool, M55_M86_Huge1GLastsExactlyAsLongAsThePool) {
  with("hugetlb", {}, [&] {
    const std::size_t before = free_bytes();
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, kGB);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).total, kGB);
    expect_pool_empty(kGB + 1, kGiant, pool_);
    {
      Device page{1, kGiant};
      EXPECT_EQ(pool_.free(), 0U);
      EXPECT_EQ(page_of(page.get()), kGB);
      EXPECT_EQ(before - free_bytes(), kGB);
      EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, 0U);
      expect_pool_empty(1, kGiant, pool_);
      for (const std::size_t offset : {std::size_t{0}, kGB / 2 - 500, kGB - 1000}) {
        write_to(page.get(offset), stripes(1000, 27));
        EXPECT_EQ(read_from(page.get(offset), 1000), stripes(1000, 27)) << offset;
      }
    }
    EXPECT_EQ(pool_.free(), 1U);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST_F(GigabytePool, D50_M430_1GPagesArePartOfTheHugeOnes) {
  with("hugetlb", {}, [&] {
    const Figures huge = figures(ACL_HBM_MEM_HUGE), giant = figures(ACL_HBM_MEM_HUGE1G);
    EXPECT_LE(giant.free, huge.free);
    EXPECT_LE(giant.total, huge.total);
    Device page{1, kGiant};
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free, huge.free - kGB);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE1G).free, giant.free - kGB);
    EXPECT_EQ(figures(ACL_HBM_MEM_HUGE).free + figures(ACL_HBM_MEM_NORMAL).free, figures(ACL_HBM_MEM).free);
  });
}

TEST_F(GigabytePool, M55_HostCodeTouchesThePageOfTheKernel_AndAResetReturnsIt) {
  with("hugetlb", {{"BELAY_HOST_ACCESS", "allow"}}, [&] {
    Device page{1, kGiant};
    EXPECT_EQ(kernel_page_at(page.get()), kGB / kKB);
    static_cast<char*>(page.get())[kGB - 1] = 42;
    EXPECT_EQ(read_from(page.get(kGB - 1), 1), Bytes{42});
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    page.forget();
    EXPECT_EQ(pool_.free(), 1U);
  });
}

TEST_F(GigabytePool, M55_AHeapThatHeldNormalPagesBefore_StartsAfresh_AndGivesTheirRoomBack) {
  // 100 MB of a large block of normal pages were written, and are kept for their next user. Then the same
  // addresses become a page of the pool, and the room must be there again.
  with("hugetlb", {{"BELAY_COMMIT", "100M"}}, [&] {
    void* was = nullptr;
    {
      Device normal{600 * kMB, kNormalOnly};
      EXPECT_EQ(aclrtMemset(normal.get(), 100 * kMB, 1, 100 * kMB), ACL_SUCCESS);
      was = normal.get();
    }
    {
      Device giant{1, kGiant};
      EXPECT_EQ(giant.get(), was) << "this test needs the same addresses";
      write_to(giant.get(99), stripes(1000, 28));
      EXPECT_EQ(read_from(giant.get(99), 1000), stripes(1000, 28));
    }
    Device other{600 * kMB, kNormalOnly};
    EXPECT_EQ(aclrtMemset(other.get(), 100 * kMB, 2, 100 * kMB), ACL_SUCCESS) << recent_message();
    EXPECT_EQ(read_from(other.get(100 * kMB - 10), 10), Bytes(10, 2));
  });
}

TEST_F(GigabytePool, Auto_TheFirstWriteTakesThePage_AndTheFreeBeyondBELAY_KEEP_ReturnsIt) {
  with("auto", {{"BELAY_KEEP", "0"}}, [&] {
    {
      Device two{2 * kGB, kGiant};
      EXPECT_EQ(pool_.free(), 1U);
      write_to(two.get(kGB - 500), stripes(1000, 29));  // the second gigabyte goes on small pages
      EXPECT_EQ(pool_.free(), 0U);
      EXPECT_EQ(read_from(two.get(kGB - 500), 1000), stripes(1000, 29));
    }
    EXPECT_EQ(pool_.free(), 1U);
  });
}

}  // namespace page_pool_test
