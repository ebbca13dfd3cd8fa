// Where device memory lies. Each test runs in a process of its own that has never used the library.
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "acl/ops/acl_dvpp.h"
#include "support/blocks.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace device_window_test {

using namespace belay_test;

constexpr std::uintptr_t kTB = std::uintptr_t{1} << 40U;
constexpr std::uintptr_t kWindow = 0x100000000000, kOrdinary = 0x12C000000000, kEnd = 0x180000000000;
constexpr std::uintptr_t kOrdinaryLength = kEnd - kOrdinary;  // 5.25 TB

struct Span {
  std::uintptr_t start, end;
};

void expect_disjoint(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  for (std::size_t i = 1; i < spans.size(); ++i)
    EXPECT_LE(spans[i - 1].end, spans[i].start) << std::hex << spans[i].start;
}

// Blocks of every policy and several sizes on four devices.
std::vector<Span> ordinary_blocks() {
  std::vector<Span> spans;
  for (int device = 0; device < 4; ++device) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    for (const unsigned policy : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 0x100000U}) {
      for (const std::size_t size : {std::size_t{1}, kMB + 1, 5 * kMB}) {
        void* block = nullptr;
        EXPECT_EQ(aclrtMalloc(&block, size, policy_of(policy)), ACL_SUCCESS) << policy << " " << size;
        spans.push_back({number(block), number(block) + size});
      }
    }
  }
  return spans;
}

const Settings kQuiet{{"BELAY_LEAKS", "off"}};

TEST(DeviceWindow, D31_OrdinaryMemory_LiesInOneWindow_AtTheDocumentedPlace) {
  in_fresh_process(kQuiet, [] {
    const std::vector<Span> spans = ordinary_blocks();
    std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max(), high = 0;
    for (const Span& span : spans) {
      low = std::min(low, span.start);
      high = std::max(high, span.end);
    }
    EXPECT_LE(high - low, kOrdinaryLength);
    if (!kUnderASanitizer) {
      EXPECT_GE(low, kOrdinary) << std::hex << low;
      EXPECT_LE(high, kEnd) << std::hex << high;
    }
    expect_disjoint(spans);
  });
}

TEST(DeviceWindow, D31_MediaMemory_LiesInTheFirst2TB) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* ordinary = nullptr;
    ASSERT_EQ(aclrtMalloc(&ordinary, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    for (const std::size_t size : {std::size_t{1}, 3 * kMB}) {
      void* media = nullptr;
      ASSERT_EQ(acldvppMalloc(&media, size), ACL_SUCCESS);
      if (!kUnderASanitizer) {
        EXPECT_GE(number(media), kWindow) << media;
        EXPECT_LE(number(media) + size, kWindow + 2 * kTB) << media;
      }
      EXPECT_LT(number(media), number(ordinary));
      EXPECT_LT(number(ordinary) - number(media), 8 * kTB);
    }
  });
}

TEST(DeviceWindow, D33_DeviceAndPinnedAddresses_AreUniqueOverHostAndAllDevices) {
  in_fresh_process(kQuiet, [] {
    std::vector<Span> spans = ordinary_blocks();
    for (int device = 0; device < 4; ++device) {
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, kMB / 2}) {
        void *host = nullptr, *media = nullptr;
        ASSERT_EQ(aclrtMallocHost(&host, size), ACL_SUCCESS);
        ASSERT_EQ(acldvppMalloc(&media, size), ACL_SUCCESS);
        spans.push_back({number(host), number(host) + size});
        spans.push_back({number(media), number(media) + size});
      }
    }
    expect_disjoint(spans);
  });
}

TEST(DeviceWindow, D31_M14_TheWholeWindowIsDeviceSpace_AlsoWhereNothingWasAllocated) {
  in_fresh_process(kQuiet, [] {
    if (kUnderASanitizer) return;  // the place differs there
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const std::uintptr_t address : {kOrdinary + 4 * kTB, kOrdinary + 4096 * 5, kEnd - 4096, kEnd - 1}) {
      aclrtPtrAttributes attributes{};
      EXPECT_EQ(aclrtPointerGetAttributes(reinterpret_cast<void*>(address), &attributes), kRefused)
          << std::hex << address;
      EXPECT_EQ(aclrtMemset(reinterpret_cast<void*>(address), 1, 0, 1), kRefused) << std::hex << address;
    }
  });
}

std::size_t resident_bytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes * kKB;
  }
  return 0;
}

TEST(DeviceWindow, D36_TheWindowIsReserved_NotCommitted) {
  in_fresh_process(kQuiet, [] {
    const std::size_t before = resident_bytes();
    ASSERT_NE(before, 0U);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 32 * kGB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    EXPECT_LT(resident_bytes(), before + 256 * kMB);
    // Its far end is there all the same.
    EXPECT_EQ(aclrtMemset(at(block, 32 * kGB - 4096), 4096, 1, 4096), ACL_SUCCESS);
    EXPECT_LT(resident_bytes(), before + 256 * kMB);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST(DeviceWindow, D36_WhereThePlaceIsTaken_TheWindowMoves_AndTheMappingStays) {
  if (kUnderASanitizer) GTEST_SKIP() << "the window lies elsewhere under a sanitizer";
  for (const std::uintptr_t place : {kOrdinary, kOrdinary + 2 * kTB, kEnd - 2 * kMB}) {
    in_fresh_process(kQuiet, [&] {
      void* const wished = reinterpret_cast<void*>(place);
      void* const mine = ::mmap(wished, 2 * kMB, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      ASSERT_EQ(mine, wished) << "the process has used the window already";
      std::fill_n(at(mine, 0), 2 * kMB, std::uint8_t{0x77});
      const std::vector<Span> spans = ordinary_blocks();
      expect_disjoint(spans);
      std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max(), high = 0;
      for (const Span& span : spans) {
        EXPECT_TRUE(span.end <= place || span.start >= place + 2 * kMB) << std::hex << span.start;
        low = std::min(low, span.start);
        high = std::max(high, span.end);
      }
      EXPECT_LE(high - low, kOrdinaryLength) << "still one window";
      EXPECT_EQ(static_cast<std::size_t>(std::count(at(mine, 0), at(mine, 2 * kMB), 0x77)), 2 * kMB);
      // What was there is plain host memory to the library.
      aclrtPtrAttributes attributes{};
      EXPECT_EQ(aclrtPointerGetAttributes(mine, &attributes), ACL_SUCCESS);
      EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
      void* const block = reinterpret_cast<void*>(spans[0].start);
      EXPECT_EQ(aclrtMemcpy(block, 1, mine, 1, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(read_from(block, 1), Bytes{0x77});
    });
  }
}

TEST(DeviceWindow, D38_ARequestBeyondTheWindow_Is207001) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t before = free_bytes();
    for (const std::size_t size : {std::size_t{8 * kTB}, std::size_t{8 * kTB + 1}, std::size_t{64 * kTB},
                                   std::size_t{1} << 60U, std::numeric_limits<std::size_t>::max() / 2}) {
      for (const unsigned policy : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 99U}) {
        void* block = sentinel();
        EXPECT_EQ(aclrtMalloc(&block, size, policy_of(policy)), kShortage) << size << " " << policy;
        EXPECT_EQ(block, nullptr);
        block = sentinel();
        EXPECT_EQ(aclrtMallocWithCfg(&block, size, policy_of(policy), nullptr), kShortage)
            << size << " " << policy;
        EXPECT_EQ(block, nullptr);
      }
    }
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(DeviceWindow, D39_FreedAddresses_AreUsedAgainSoon) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const unsigned policy : {1U, 2U}) {
      std::vector<void*> seen;
      for (int round = 0; round < 1000; ++round) {
        void* block = nullptr;
        ASSERT_EQ(aclrtMalloc(&block, 3000, policy_of(policy)), ACL_SUCCESS);
        seen.push_back(block);
        ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
      std::sort(seen.begin(), seen.end());
      const auto different = std::unique(seen.begin(), seen.end()) - seen.begin();
      EXPECT_LT(different, 1000) << "no address ever came back";
    }
  });
}

}  // namespace device_window_test
