// Statements of the founding documents (docs/seeds.md) that no other test shows by themselves.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>

#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/on_product.h"

namespace seed_statements_test {

using namespace belay_test;
using namespace std::chrono_literals;

constexpr aclError kShort = ACL_ERROR_RT_MEMORY_ALLOCATION;
constexpr aclError kRefused = ACL_ERROR_RT_DRV_INTERNAL_ERROR;

// ---------------------------------------------------------------- the kind of memory

struct Chip {
  const char* product;
  bool hbm, one_gigabyte, p2p;
};

constexpr Chip kChips[] = {
    {"950", true, true, true},  {"A3", true, true, true},     {"A2", true, true, true},
    {"910", true, false, true}, {"310P", false, false, true}, {"310B", false, false, false},
};

struct Kinds {
  std::size_t hbm, ddr;
  bool operator==(const Kinds&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Kinds& kinds) {
  return out << "{HBM " << kinds.hbm << ", DDR " << kinds.ddr << "}";
}

Kinds free_by_kind() {
  Kinds kinds{};
  std::size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &kinds.hbm, &total), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &kinds.ddr, &total), ACL_SUCCESS);
  return kinds;
}

// The memory that the chip has pays for the request. A chip without HBM answers for HBM what it answers for
// DDR (M-139), one without DDR has none of it to pay with (M-141).
void expect_paid_by(const Chip& chip, const Allocator& allocator, std::size_t size, std::uint32_t value,
                    std::size_t bytes) {
  const Kinds before = free_by_kind();
  const Block block(allocator, size, value);
  const Kinds after = free_by_kind();
  const Kinds paid{before.hbm - after.hbm, before.ddr - after.ddr};
  EXPECT_EQ(paid, (Kinds{bytes, chip.hbm ? 0 : bytes})) << allocator.name << " " << hex(value);
}

TEST(SeedStatements, M59_M68_EverySingleItemIsServedByTheKindOfMemoryThatTheChipHas) {
  for (const Chip& chip : kChips) {
    on_product(chip.product, [&] {
      std::vector<std::uint32_t> items{kHugeFirst, kHugeOnly, kNormalOnly, kReadOnly};
      if (chip.p2p) items.insert(items.end(), {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p});
      if (chip.one_gigabyte) items.insert(items.end(), {kHuge1g, kHuge1gP2p});
      for (const std::uint32_t item : items) {
        const bool gigabyte = item == kHuge1g || item == kHuge1gP2p;
        expect_paid_by(chip, kAlign32, 2 * kMB, item, gigabyte ? kGB : 2 * kMB);
      }
    });
  }
}

// LOW comes out of low-bandwidth memory and HIGH out of high-bandwidth memory where the chip has it; where it
// has only the other kind the item changes nothing.
TEST(SeedStatements, M57_M71_M425_ABandwidthItemNeverMovesTheRequestToOtherMemory) {
  for (const Chip& chip : kChips) {
    on_product(chip.product, [&] {
      for (const std::uint32_t item : {kLow, kHigh}) {
        for (const std::uint32_t base : {kHugeFirst, kHugeOnly, kNormalOnly}) {
          for (const std::size_t size : {std::size_t{1}, kMB, kMB + 1, 5 * kMB}) {
            const std::size_t bytes = documented(kAlign32, size, base).bytes;
            expect_paid_by(chip, kAlign32, size, base | item, bytes);
          }
        }
      }
    });
  }
}

// ---------------------------------------------------------------- P2P policies

// A block of the policy on each of two devices, and copies between them in both directions.
void expect_copies_between_devices(std::uint32_t value, std::uint32_t page,
                                   const std::vector<std::string>& names) {
  constexpr std::size_t kSize = 5000;
  for (const std::string& product : names) {
    on_product(product, {{"BELAY_DEVICES", "2"}}, [&] {
      ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
      const Block here(kAlign32, kSize, value);
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
      const Block there(kAlign32, kSize, value);
      EXPECT_EQ(page_of(here.get()), page);
      EXPECT_EQ(page_of(there.get()), page);
      ASSERT_EQ(aclrtMemset(here.get(), kSize, 21, kSize), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemset(there.get(), kSize, 0, kSize), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(there.get(), kSize, here.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(contents(there.get(), kSize), std::vector<unsigned char>(kSize, 21));
      ASSERT_EQ(aclrtMemset(there.get(), kSize, 22, kSize), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(here.get(), kSize, there.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(contents(here.get(), kSize), std::vector<unsigned char>(kSize, 22));
    });
  }
}

TEST(SeedStatements, M52_M423_HugeFirstP2p_ServesCopiesBetweenTwoDevices) {
  expect_copies_between_devices(kHugeFirstP2p, kPage2M, {"A3", "A2", "310P", "910"});
}

TEST(SeedStatements, M53_M423_HugeOnlyP2p_ServesCopiesBetweenTwoDevices) {
  expect_copies_between_devices(kHugeOnlyP2p, kPage2M, {"A3", "A2", "310P", "910"});
}

TEST(SeedStatements, M54_M423_NormalOnlyP2p_ServesCopiesBetweenTwoDevices) {
  expect_copies_between_devices(kNormalOnlyP2p, kPage4K, {"A3", "A2", "310P", "910"});
}

TEST(SeedStatements, M56_M423_Huge1gOnlyP2p_ServesCopiesBetweenTwoDevices) {
  expect_copies_between_devices(kHuge1gP2p, kPage1G, {"A3", "A2"});
}

void expect_short(const Allocator& allocator, std::size_t size, std::uint32_t value) {
  int mark = 0;
  void* out = &mark;
  EXPECT_EQ(allocator.call(&out, size, policy(value)), kShort) << allocator.name << " " << hex(value);
  EXPECT_EQ(out, nullptr);
}

// What a communicator meets: P2P memory that it takes first is its own, taken last it may be gone.
TEST(SeedStatements, M69_M423_On310P_P2pMemoryMustBeTakenBeforeOtherMemory) {
  for (const std::uint32_t value : {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p}) {
    on_product("310P", {{"BELAY_HBM", "64M"}}, [&] {
      {
        const Block communicator(kAlign32, 8 * kMB, value);
        const Block others(kAlign32, 56 * kMB, kHugeOnly);
        EXPECT_EQ(free_bytes(), 0U);
        EXPECT_EQ(aclrtMemset(communicator.get(), 8 * kMB, 3, 8 * kMB), ACL_SUCCESS);
        EXPECT_EQ(contents(communicator.bytes() + 8 * kMB - 1, 1)[0], 3);
      }
      const Block others(kAlign32, 60 * kMB, kHugeOnly);
      expect_short(kAlign32, 8 * kMB, value);
      EXPECT_EQ(free_bytes(), 4 * kMB);
    });
    on_product("310P", {{"BELAY_HBM", "64M"}, {"BELAY_P2P", "8M"}}, [&] {
      const Block others(kAlign32, 6 * kMB, value);  // under a limit even though the device is nearly empty
      expect_short(kAlign32, 4 * kMB, value);
      EXPECT_EQ(free_bytes(), 58 * kMB);
    });
  }
}

// The Chinese pages call A3 and A2 by their chips.
TEST(SeedStatements, M69_M70_M426_The910CAndThe910BHaveEveryPolicyOfThePage) {
  for (const char* product : {"910C", "910B"}) {
    on_product(product, [&] {
      const std::string soc = aclrtGetSocName();
      EXPECT_EQ(soc.rfind(product == std::string("910C") ? "Ascend910_93" : "Ascend910B", 0), 0U) << soc;
      for (std::uint32_t value = kHugeFirst; value <= kHuge1gP2p; ++value) {
        for (const std::size_t size : {std::size_t{1}, 2 * kMB + 1, kGB + 1}) {
          EXPECT_EQ(take(kAlign32, size, value), documented(kAlign32, size, value)) << value << " " << size;
        }
      }
    });
  }
}

// ---------------------------------------------------------------- read-only memory

TEST(SeedStatements, M75_M78_M427_NoKindNoPeerNoDescriptorAndNoSystemCallChangesReadOnlyMemory) {
  constexpr std::size_t kSize = 4096;
  on_product("A2", {{"BELAY_DEVICES", "2"}, {"BELAY_HOST_ACCESS", "allow"}}, [&] {
    const Block block(kAlign32, kSize, kReadOnly | kNormalOnly);
    const Block plain(kAlign32, kSize, kNormalOnly);
    const std::vector<unsigned char> before = contents(block.get(), kSize);
    std::vector<unsigned char> other(kSize);
    for (std::size_t i = 0; i < kSize; ++i) other[i] = static_cast<unsigned char>(~before[i]);

    for (int kind = ACL_MEMCPY_HOST_TO_HOST; kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE; ++kind) {
      EXPECT_NE(aclrtMemcpy(block.get(), kSize, other.data(), kSize, static_cast<aclrtMemcpyKind>(kind)),
                ACL_SUCCESS)
          << kind;
    }
    EXPECT_EQ(contents(block.get(), kSize), before);

    EXPECT_EQ(aclrtSetMemcpyDesc(plain.get(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, plain.get(), plain.get(), 64,
                                 nullptr),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtSetMemcpyDesc(block.get(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, plain.get(), plain.get(), 64,
                                 nullptr),
              kRefused);
    EXPECT_EQ(contents(block.get(), kSize), before);

    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
    {
      const Block there(kAlign32, kSize, kNormalOnly);
      ASSERT_EQ(aclrtMemcpy(there.get(), kSize, other.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(plain.get(), kSize, there.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(block.get(), kSize, there.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
    }
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(contents(block.get(), kSize), before);

    const int zeros = ::open("/dev/zero", O_RDONLY);
    ASSERT_GE(zeros, 0);
    EXPECT_EQ(::read(zeros, plain.get(), kSize), static_cast<ssize_t>(kSize));
    EXPECT_EQ(::read(zeros, block.get(), kSize), -1);
    ::close(zeros);
    EXPECT_EQ(contents(block.get(), kSize), before);
  });
}

// ---------------------------------------------------------------- fresh memory

TEST(SeedStatements, M13_FreshMemoryIsNotCleared) {
  constexpr std::size_t kSize = 10000;
  on_product("A2", [&] {
    const auto expect_uncleared = [](const void* block, const char* what) {
      const std::vector<unsigned char> bytes = contents(block, kSize);
      EXPECT_LT(std::count(bytes.begin(), bytes.end(), 0), static_cast<std::ptrdiff_t>(kSize)) << what;
    };
    for (const Allocator& allocator : all_allocators()) {
      for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly, kHuge1g}) {
        const Block block(allocator, kSize, value);
        expect_uncleared(block.get(), allocator.name);
      }
    }
    void* pinned = nullptr;
    ASSERT_EQ(aclrtMallocHost(&pinned, kSize), ACL_SUCCESS);
    expect_uncleared(pinned, "aclrtMallocHost");
    EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
    void* media = nullptr;
    ASSERT_EQ(acldvppMalloc(&media, kSize), ACL_SUCCESS);
    expect_uncleared(media, "acldvppMalloc");
    EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
  });
}

// ---------------------------------------------------------------- nobody waits

// A host page that stops whoever reads it until the test lets go.
struct StoppingPage {
  static inline char* page = nullptr;
  static inline int reached[2] = {-1, -1}, let_go[2] = {-1, -1};

  static void stop(int, siginfo_t* info, void*) {
    const char* at = static_cast<const char*>(info->si_addr);
    if (at < page || at >= page + 4096) {
      ::signal(SIGSEGV, SIG_DFL);
      return;
    }
    char byte = 0;
    if (::write(reached[1], "x", 1) != 1 || ::read(let_go[0], &byte, 1) != 1) ::_exit(9);
    ::mprotect(page, 4096, PROT_READ | PROT_WRITE);
  }

  static void set_up() {
    ASSERT_EQ(::pipe(reached), 0);
    ASSERT_EQ(::pipe(let_go), 0);
    page = static_cast<char*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(page, MAP_FAILED);
    struct sigaction action {};
    action.sa_sigaction = &stop;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGSEGV, &action, nullptr), 0);
  }

  static bool is_reached() {
    pollfd waiting{reached[0], POLLIN, 0};
    return ::poll(&waiting, 1, 20000) == 1;
  }

  static void release() { ASSERT_EQ(::write(let_go[1], "x", 1), 1); }
};

// A copy to device 0 is under way and comes to no end; allocations on that device succeed or fail meanwhile.
TEST(SeedStatements, M12_M90_WorkUnderWayOnTheSameDeviceHoldsUpNoAllocation) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_FAULTS", "off"}}, [] {
    StoppingPage::set_up();
    const Block target(kAlign32, 4096, kNormalOnly);
    std::atomic<bool> copied{false};
    std::thread copier([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(target.get(), 4096, StoppingPage::page, 4096, ACL_MEMCPY_HOST_TO_DEVICE),
                ACL_SUCCESS);
      copied = true;
    });
    const bool under_way = StoppingPage::is_reached();
    EXPECT_TRUE(under_way) << "the copy never reads its source";

    auto calls = std::async(std::launch::async, [] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (const Allocator& allocator : all_allocators()) {
        for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly}) {
          void* block = nullptr;
          EXPECT_EQ(allocator.call(&block, 2 * kMB, policy(value)), ACL_SUCCESS) << allocator.name;
          EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
          expect_short(allocator, 64 * kMB, value);
        }
      }
      void* pinned = nullptr;
      EXPECT_EQ(aclrtMallocHost(&pinned, kMB), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
      EXPECT_EQ(aclrtMallocHost(&pinned, SIZE_MAX - 31), kShort);
    });
    EXPECT_EQ(calls.wait_for(20s), std::future_status::ready) << "an allocation waits for the copy";
    EXPECT_FALSE(copied) << "the copy was over before";
    if (under_way) StoppingPage::release();
    copier.join();
    calls.wait();
    EXPECT_EQ(contents(target.get(), 4096), std::vector<unsigned char>(4096, 0));
  });
}

// ---------------------------------------------------------------- host memory where host and device are one

TEST(SeedStatements, M44_M438_InTheRcFormHostMemoryComesFromNormalPagesOnly) {
  for (const char* product : {"310B", "310P", "910"}) {
    for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
      on_product(product, {{"BELAY_FORM", form}, {"BELAY_HBM", "64M"}, {"BELAY_NORMAL", "1M"}}, [] {
        const std::size_t before = free_bytes();
        int mark = 0;
        void* block = &mark;
        EXPECT_EQ(aclrtMallocHost(&block, kMB + 1), kShort);
        EXPECT_EQ(block, nullptr);
        ASSERT_EQ(aclrtMallocHost(&block, kMB), ACL_SUCCESS);
        EXPECT_EQ(before - free_bytes(), kMB);
        void* more = &mark;
        EXPECT_EQ(aclrtMallocHost(&more, 1), kShort);  // though huge pages are left
        EXPECT_EQ(take(kAlign32, 1, kHugeOnly).bytes, 2 * kMB);
        expect_short(kAlign32, 1, kNormalOnly);  // they are the same pages
        EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
        EXPECT_EQ(take(kAlign32, kMB, kNormalOnly).bytes, kMB);
      });
    }
  }
}

// Whoever needs a multiple of 64 asks for 63 bytes more and starts at the next one.
TEST(SeedStatements, M44_M439_InTheRcFormACallerCanAlignByItself) {
  for (const char* product : {"310B", "310P", "910"}) {
    on_product(product, {{"BELAY_FORM", "RC"}}, [] {
      for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{4033}, std::size_t{4096}}) {
        void* block = nullptr;
        ASSERT_EQ(aclrtMallocHost(&block, size + 63), ACL_SUCCESS);
        char* aligned = reinterpret_cast<char*>(up_to(reinterpret_cast<std::uintptr_t>(block), 64));
        ASSERT_LE(aligned + size, static_cast<char*>(block) + size + 63);
        EXPECT_EQ(aclrtMemset(aligned, size, 7, size), ACL_SUCCESS);
        EXPECT_EQ(contents(aligned, size), std::vector<unsigned char>(size, 7));
        EXPECT_EQ(std::count(aligned, aligned + size, 7), static_cast<std::ptrdiff_t>(size));
        EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
      }
    });
  }
}

}  // namespace seed_statements_test
