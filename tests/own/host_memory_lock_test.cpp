// Pinned memory: what the kernel says of it, limits, and a product without.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include "support/blocks.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/waiting.h"

namespace host_memory_lock_test {

using namespace belay_test;

class HostMemoryLocked : public OnDevice {};

// Bytes that the kernel counts as locked for this process.
std::size_t locked_bytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmLck:" && status >> kilobytes) return kilobytes * kKB;
  }
  ADD_FAILURE() << "no VmLck in /proc/self/status";
  return 0;
}

bool resident(void* start, std::size_t size) {
  Bytes pages((size + 4095) / 4096);
  if (::mincore(start, size, pages.data()) != 0) return false;
  return std::all_of(pages.begin(), pages.end(), [](std::uint8_t page) { return (page & 1U) != 0; });
}

aclrtPtrAttributes attributes_of(const void* pointer) {
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
  return attributes;
}

TEST_F(HostMemoryLocked, M175_M431_PagesAreLockedAndResidentFromTheReturnOn) {
  constexpr std::size_t size = 3 * kMB + 5;
  const std::size_t before = locked_bytes();
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocHost(&block, size), ACL_SUCCESS);
  if (!kUnderASanitizer) {
    EXPECT_GE(locked_bytes(), before + size);
  }
  EXPECT_TRUE(resident(block, size)) << "a page is not in memory";
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return locked_bytes() < before + size; }))
      << "kept for a while, and no longer";
}

TEST(HostMemoryKept, TheNextBlockOfThatSizeHasThePagesOfTheLast_UnlessNothingIsKept) {
  for (const char* keep : {"256M", "0"}) {
    SCOPED_TRACE(keep);
    in_fresh_process({{"BELAY_KEEP", keep}, {"BELAY_PIN", "best-effort"}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void *first = nullptr, *second = nullptr;
      ASSERT_EQ(aclrtMallocHost(&first, kMB), ACL_SUCCESS);
      *at(first, 5) = 77;
      ASSERT_EQ(aclrtFreeHost(first), ACL_SUCCESS);
      ASSERT_EQ(aclrtMallocHost(&second, kMB), ACL_SUCCESS);
      if (keep[0] != '0') {
        EXPECT_EQ(second, first);
        EXPECT_EQ(*at(second, 5), 77);
      } else {
        EXPECT_EQ(*at(second, 5), 0xBE);
      }
      // It is no longer one that was freed.
      Device block{kMB};
      EXPECT_EQ(aclrtMemcpy(block.get(), kMB, second, kMB, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(second), ACL_SUCCESS);
      EXPECT_NE(aclrtFreeHost(second), ACL_SUCCESS);
    });
  }
}

// One between two that were freed.
TEST(HostMemoryKept, CopiesUseWhatIsAliveBetweenThem) {
  in_fresh_process({{"BELAY_PIN", "best-effort"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    constexpr std::size_t kBlocks = 9;
    void* blocks[kBlocks] = {};
    for (void*& each : blocks) ASSERT_EQ(aclrtMallocHost(&each, 8 * kKB), ACL_SUCCESS);
    for (std::size_t i = 0; i < kBlocks; i += 2) ASSERT_EQ(aclrtFreeHost(blocks[i]), ACL_SUCCESS);
    Device block{8 * kKB};
    for (std::size_t i = 1; i < kBlocks; i += 2) {
      EXPECT_EQ(aclrtMemcpy(block.get(), 8 * kKB, blocks[i], 8 * kKB, ACL_MEMCPY_HOST_TO_DEVICE),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(blocks[i], 8 * kKB, block.get(), 8 * kKB, ACL_MEMCPY_DEVICE_TO_HOST),
                ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(blocks[i]), ACL_SUCCESS);
    }
  });
}

TEST(HostMemoryKept, NoMoreThanBELAY_KEEP) {
  if (kUnderASanitizer) GTEST_SKIP() << "sanitizers lock nothing";
  in_fresh_process({{"BELAY_KEEP", "1M"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t before = locked_bytes();
    void* blocks[8] = {};
    for (void*& each : blocks) ASSERT_EQ(aclrtMallocHost(&each, 400 * kKB), ACL_SUCCESS);
    if (locked_bytes() < before + 8 * 400 * kKB) GTEST_SKIP() << "nothing may be locked here";
    for (void* each : blocks) ASSERT_EQ(aclrtFreeHost(each), ACL_SUCCESS);
    EXPECT_LE(locked_bytes(), before + kMB);
    void* large = nullptr;
    ASSERT_EQ(aclrtMallocHost(&large, 3 * kMB), ACL_SUCCESS);
    ASSERT_EQ(aclrtFreeHost(large), ACL_SUCCESS);
    EXPECT_LE(locked_bytes(), before + kMB);
  });
}

// Threads and sizes against each other; what a block holds is its owner's alone.
TEST(HostMemoryKept, ManyThreadsAtOnce_EachHasItsOwnPages) {
  in_fresh_process({{"BELAY_KEEP", "2M"}, {"BELAY_PIN", "best-effort"}}, [] {
    std::vector<std::thread> threads;
    for (std::uint8_t owner = 1; owner <= 4; ++owner) {
      threads.emplace_back([owner] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (std::size_t i = 0; i < 300; ++i) {
          const std::size_t bytes = (1 + i % 3) * 64 * kKB;
          void* block = nullptr;
          ASSERT_EQ(aclrtMallocHost(&block, bytes), ACL_SUCCESS);
          std::fill_n(at(block, 0), bytes, owner);
          std::this_thread::yield();
          ASSERT_EQ(static_cast<std::size_t>(std::count(at(block, 0), at(block, 0) + bytes, owner)), bytes);
          ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
        }
      });
    }
    for (std::thread& each : threads) each.join();
  });
}

// From here on only 64 KB may be locked. Root is exempt from the limit, so it becomes an ordinary user.
bool lower_the_limit() {
  const rlimit limit{64 * kKB, 64 * kKB};
  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
  if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return false;
  void* const probe = ::mmap(nullptr, kMB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool enforced = probe != MAP_FAILED && ::mlock(probe, kMB) != 0;
  ::munmap(probe, kMB);
  return enforced;
}

class HostMemoryLimit : public ::testing::Test {
 protected:
  void SetUp() override {
    const int status = run_in_fresh_process({}, [] { ::_exit(lower_the_limit() ? 0 : 1); });
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      GTEST_SKIP() << "RLIMIT_MEMLOCK cannot be enforced here";
  }
  static void where_little_may_be_locked(const Settings& settings, const std::function<void()>& body) {
    in_fresh_process(settings, [&] {
      ASSERT_TRUE(lower_the_limit());
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body();
    });
  }
};

TEST_F(HostMemoryLimit, M174_M431_D75_PagesThatCannotBeLocked_Are207001_AndTheMessageNamesTheLimit) {
  where_little_may_be_locked({{"BELAY_PIN", "strict"}}, [] {
    void* block = sentinel();
    EXPECT_EQ(aclrtMallocHost(&block, 4 * kMB), kShortage);
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(last_error(), kShortage);
    const std::string message = recent_message();
    EXPECT_TRUE(mentions(message, "memlock")) << message;
    block = sentinel();
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 4 * kMB, nullptr), kShortage);
    EXPECT_EQ(block, nullptr);
    // What the limit allows still works.
    EXPECT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  });
}

// What is kept is given up for what is asked for.
TEST_F(HostMemoryLimit, M174_M431_KeptPagesDoNotCountAgainstTheLimit) {
  where_little_may_be_locked({{"BELAY_PIN", "strict"}}, [] {
    for (const std::size_t bytes : {48 * kKB, 40 * kKB, 36 * kKB, 48 * kKB}) {
      void* block = nullptr;
      ASSERT_EQ(aclrtMallocHost(&block, bytes), ACL_SUCCESS) << bytes;
      ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    }
    void* own = ::mmap(nullptr, 60 * kKB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(aclrtHostRegisterV2(own, 60 * kKB, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(own), ACL_SUCCESS);
  });
}

// More than may be locked, several times and from a registration, too; what is said to stderr meanwhile.
std::string said_where_little_may_be_locked(const Settings& settings) {
  const Ending ending = run_captured(settings, [] {
    if (!lower_the_limit() || aclrtSetDevice(0) != ACL_SUCCESS) ::_exit(3);
    void* small = nullptr;
    if (aclrtMallocHost(&small, 4096) != ACL_SUCCESS) ::_exit(4);
    if (!kUnderASanitizer && locked_bytes() < 4096) ::_exit(5);
    for (int i = 0; i < 3; ++i) {
      void* block = nullptr;
      if (aclrtMallocHost(&block, 4 * kMB) != ACL_SUCCESS) ::_exit(6);
      *at(block, 4 * kMB - 1) = 7;
      if (attributes_of(block).location.type != ACL_MEM_LOCATION_TYPE_HOST) ::_exit(7);
      if (aclrtFreeHost(block) != ACL_SUCCESS) ::_exit(8);
    }
    void* own = ::mmap(nullptr, kMB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (aclrtHostRegisterV2(own, kMB, ACL_HOST_REG_PINNED) != ACL_SUCCESS) ::_exit(9);
    if (aclrtHostUnregister(own) != ACL_SUCCESS) ::_exit(10);
    if (aclrtFreeHost(small) != ACL_SUCCESS) ::_exit(11);
    ::_exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  return ending.err;
}

TEST_F(HostMemoryLimit, M431_C25_ByDefaultItIsHandedOutUnlocked_AndOneLineSaysSo) {
  ::unsetenv("BELAY_PIN");
  for (const Settings& settings : {Settings{}, Settings{{"BELAY_PIN", "auto"}}}) {
    const std::string said = said_where_little_may_be_locked(settings);
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
    EXPECT_TRUE(mentions(said, "4194304 bytes of pinned memory are not locked")) << said;
    EXPECT_TRUE(mentions(said, "64 KB (ulimit -l)")) << said;
    EXPECT_TRUE(mentions(said, "BELAY_PIN=best-effort")) << said;
  }
}

TEST_F(HostMemoryLimit, M431_BestEffort_SaysNothing) {
  EXPECT_EQ(said_where_little_may_be_locked({{"BELAY_PIN", "best-effort"}}), "");
}

TEST(HostMemoryProducts, M172_M8_M418_IPV_HasNone_AfterArgumentsAndContext) {
  in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = sentinel();
    EXPECT_EQ(aclrtMallocHost(nullptr, 64), kBadArgument);
    EXPECT_EQ(aclrtMallocHost(&block, 0), kBadArgument);
    EXPECT_EQ(aclrtMallocHost(&block, 64), kUnsupported);
    EXPECT_EQ(aclrtMallocHostWithCfg(&block, 64, nullptr), kUnsupported);
    EXPECT_EQ(block, sentinel());
    EXPECT_EQ(aclrtFreeHost(nullptr), kBadArgument);
    without_context([] {
      void* other = sentinel();
      EXPECT_EQ(aclrtMallocHost(&other, 64), kNoContext);
    });
  });
}

}  // namespace host_memory_lock_test
