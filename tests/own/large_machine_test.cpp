// Devices that are larger than the machine that emulates them: what is only allocated costs nothing, and
// without contents (BELAY_BACKING=none) nothing does. Where pinned host memory lies (BELAY_HOST_NODE).
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "support/batch.h"
#include "support/blocks.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace large_machine_test {

using namespace belay_test;

// Resident memory of this process in bytes, shared memory included.
std::size_t resident() {
  std::size_t all = 0, here = 0;
  std::ifstream{"/proc/self/statm"} >> all >> here;
  return here * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// A sanitizer keeps books of its own for every address that is used.
const std::size_t kSmallChange = (kUnderASanitizer ? 512 : 64) * kMB;
const char* const kMemory = kUnderASanitizer ? "8G" : "64G";
const std::size_t kEach = (kUnderASanitizer ? 8 : 64) * kGB;

// All of every device, in blocks of every kind.
std::vector<void*> fill_up(int device) {
  EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  std::vector<void*> blocks;
  const auto take = [&](std::size_t size, unsigned policy) {
    void* block = nullptr;
    EXPECT_EQ(::aclrtMallocAlign32(&block, size, policy_of(policy)), ACL_SUCCESS) << recent_message();
    blocks.push_back(block);
  };
  take(kEach - 3 * kGB, ACL_MEM_MALLOC_HUGE_FIRST);
  take(kGB, ACL_MEM_MALLOC_HUGE1G_ONLY);
  take(kGB, ACL_MEM_MALLOC_NORMAL_ONLY);
  for (int i = 0; i < 16; ++i) take(64 * kMB, i % 2 == 0 ? 1U : 2U);
  EXPECT_EQ(free_bytes(), 0U) << device;
  void* block = nullptr;
  EXPECT_EQ(::aclrtMallocAlign32(&block, 1, policy_of(2)), kShortage);
  return blocks;
}

TEST(LargeMachine, EightDevicesOf64GB_CostNothingUntilTheyAreTouched) {
  in_fresh_process({{"BELAY_HBM", kMemory}, {"BELAY_DEVICES", "8"}, {"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t before = resident();
    std::vector<std::vector<void*>> all;
    for (int device = 0; device < 8; ++device) all.push_back(fill_up(device));
    EXPECT_LT(resident() - before, kSmallChange);
    // Reading commits nothing, and a byte commits little.
    for (int device = 0; device < 8; ++device) {
      for (void* const block : all[static_cast<std::size_t>(device)]) {
        EXPECT_EQ(read_from(at(block, 63 * kMB), 100), Bytes(100, 0xBE));
        EXPECT_EQ(aclrtMemset(at(block, 64 * kMB - 1), 1, device, 1), ACL_SUCCESS);
      }
    }
    EXPECT_LT(resident() - before, kSmallChange);
    for (int device = 0; device < 8; ++device) {
      for (void* const block : all[static_cast<std::size_t>(device)]) {
        EXPECT_EQ(read_from(at(block, 64 * kMB - 1), 1), Bytes(1, static_cast<std::uint8_t>(device)));
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), kEach);
    }
  });
}

// ------------------------------------------------------------------ without contents

void without_contents(const std::function<void()>& body, Settings more = {}) {
  more.emplace_back("BELAY_BACKING", "none");
  more.emplace_back("BELAY_LEAKS", "off");
  in_fresh_process(more, [&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_message();
    body();
  });
}

TEST(WithoutContents, M13_WritesAreForgotten_AndEverythingReadsAsFresh) {
  without_contents([] {
    for (const unsigned policy : {1U, 2U}) {
      Device block{3 * kMB, policy}, other{3 * kMB, policy};
      write_to(block.get(1000), pattern(5000));
      EXPECT_EQ(aclrtMemset(block.get(), 100, 7, 100), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemsetD32(block.get(), 400, 7, 100), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemcpy(other.get(), 6000, block.get(), 6000, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(read_from(block.get(), 3 * kMB), Bytes(3 * kMB, 0xBE)) << policy;
      EXPECT_EQ(read_from(other.get(), 3 * kMB), Bytes(3 * kMB, 0xBE)) << policy;
      Bytes rows(300, 1);
      EXPECT_EQ(aclrtMemcpy2d(rows.data(), 100, block.get(), 1000, 50, 3, ACL_MEMCPY_DEVICE_TO_HOST),
                ACL_SUCCESS);
      Bytes expected(300, 1);
      for (std::size_t row = 0; row < 3; ++row) {
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(row * 100), 50, std::uint8_t{0xBE});
      }
      EXPECT_EQ(rows, expected) << "not a byte beside the rows";
    }
    // Host memory is real.
    Pinned pinned{1000};
    const Bytes bytes = pattern(1000);
    EXPECT_EQ(aclrtMemcpy(pinned.get(), 1000, bytes.data(), 1000, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(read_from(pinned.get(), 1000), bytes);
  });
}

TEST(WithoutContents, M239_M371_M427_M245_WrongCopiesAndFills_AreRefusedAsAlways) {
  without_contents([] {
    Device block{4096}, small{100};
    void* read_only = nullptr;
    ASSERT_EQ(aclrtMalloc(&read_only, 100, policy_of(0x100002U)), ACL_SUCCESS);
    Bytes host(9000);
    const auto up = [&](void* to, std::size_t count) {
      return aclrtMemcpy(to, count, host.data(), count, ACL_MEMCPY_HOST_TO_DEVICE);
    };
    EXPECT_EQ(up(read_only, 10), kRefused);
    EXPECT_EQ(aclrtMemset(read_only, 10, 1, 10), kRefused);
    EXPECT_EQ(aclrtMemcpy(host.data(), 10, read_only, 10, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    void* const far = block.get(kGB);
    EXPECT_EQ(up(far, 1), kRefused);
    EXPECT_EQ(aclrtMemset(far, 1, 1, 1), kRefused);
    EXPECT_EQ(aclrtMemcpy(host.data(), 1, far, 1, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
    EXPECT_EQ(aclrtMemcpy(block.get(), 1, far, 1, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
    EXPECT_EQ(up(block.get(), 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(block.get(), 10, host.data(), 11, ACL_MEMCPY_HOST_TO_DEVICE), kBadValue);
    EXPECT_EQ(aclrtMemset(block.get(), 10, 1, 11), kBadValue);
    EXPECT_EQ(aclrtMemcpy(nullptr, 10, host.data(), 10, ACL_MEMCPY_HOST_TO_DEVICE), kBadArgument);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Device peer{100};
    EXPECT_EQ(aclrtMemcpy(peer.get(), 10, block.get(), 10, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused)
        << "peer access is not on";
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* const freed = small.free_now();
    EXPECT_EQ(up(freed, 1), kRefused);
    EXPECT_EQ(aclrtFree(freed), kBadValue);
    EXPECT_EQ(aclrtFree(read_only), ACL_SUCCESS);
    // Batches, item by item.
    Batch batch;
    batch.add(block.get(), host.data(), 64);
    batch.add(far, host.data(), 64);
    batch.describe(0, host_to_device());
    EXPECT_EQ(batch.run(), kBadValue);
    EXPECT_EQ(batch.fail, 1U);
  });
}

TEST(WithoutContents, M430_MemoryIsCountedAsAlways) {
  without_contents(
      [] {
        Device huge{3 * kMB, 1}, normal{5000, 2};
        EXPECT_EQ(free_bytes(), 64 * kMB - 4 * kMB - 8192);
        void* block = nullptr;
        EXPECT_EQ(aclrtMalloc(&block, 60 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), kShortage);
        EXPECT_EQ(page_of(huge.get()), 2 * kMB);
      },
      {{"BELAY_HBM", "64M"}});
  // The kernel's pool does not matter where nothing is kept.
  without_contents(
      [] {
        Device huge{100 * kMB, 1};
        std::size_t free = 0, total = 0;
        EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &free, &total), ACL_SUCCESS);
        EXPECT_EQ(free, free_bytes());
      },
      {{"BELAY_PAGES", "hugetlb"}});
}

TEST(WithoutContents, EightDevicesOf64GB_AllWritten_TakeNoHostMemory) {
  without_contents(
      [] {
        const std::size_t before = resident();
        const Bytes piece(16 * kMB, 5);
        const std::size_t with_piece = resident();
        for (int device = 0; device < 8; ++device) {
          const std::vector<void*> blocks = fill_up(device);
          for (void* const block : blocks) EXPECT_EQ(aclrtMemset(block, kGB, 1, 64 * kMB), ACL_SUCCESS);
          void* const large = blocks.front();
          const std::size_t size = kEach - 3 * kGB;
          EXPECT_EQ(aclrtMemset(large, size, 1, size), ACL_SUCCESS);
          EXPECT_EQ(aclrtMemcpy(large, size / 2, at(large, size / 2), size / 2, ACL_MEMCPY_DEVICE_TO_DEVICE),
                    ACL_SUCCESS);
          for (std::size_t offset = 0; offset < size; offset += 64 * piece.size())
            EXPECT_EQ(aclrtMemcpy(at(large, offset), piece.size(), piece.data(), piece.size(),
                                  ACL_MEMCPY_HOST_TO_DEVICE),
                      ACL_SUCCESS);
          EXPECT_EQ(read_from(at(large, size - 1000), 1000), Bytes(1000, 0xBE));
        }
        EXPECT_LT(resident() - with_piece, kSmallChange);
        EXPECT_LT(resident() - before, 16 * kMB + kSmallChange);
      },
      {{"BELAY_HBM", kMemory}, {"BELAY_DEVICES", "8"}});
}

TEST(WithoutContents, TheSummaryCountsWhatWouldHaveMoved) {
  const Ending ending =
      run_captured({{"BELAY_BACKING", "none"}, {"BELAY_SUMMARY", "on"}, {"BELAY_LEAKS", "off"}}, [] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        Device one{3 * kMB, 1}, other{3 * kMB, 1};
        Bytes host(2 * kMB);
        const auto move = [](void* to, const void* from, std::size_t count) {
          EXPECT_EQ(aclrtMemcpy(to, count, from, count, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
        };
        move(one.get(), host.data(), 2 * kMB);
        move(one.get(), host.data(), kMB);
        move(other.get(), one.get(), kMB);
        move(host.data(), other.get(), kMB);
        EXPECT_EQ(aclrtMemset(one.get(), kMB, 1, kMB), ACL_SUCCESS);
        void* refused = nullptr;
        EXPECT_EQ(aclrtMalloc(&refused, 100 * kGB, ACL_MEM_MALLOC_HUGE_ONLY), kShortage);
        one.free_now();
        other.free_now();
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
      });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::string text = single_spaced(ending.out + ending.err);
  for (const char* expected :
       {"0 2 MB 8 MB 2 2 0 6 MB 8 MB 25.0 %", "host to device 2 3 MB", "device to device 1 1 MB",
        "device to host 1 1 MB", "filled 1 1 MB", "aclrtMalloc 1 207001 ACL_ERROR_RT_MEMORY_ALLOCATION"})
    EXPECT_TRUE(mentions(text, expected)) << expected << " in " << text;
}

TEST(WithoutContents, M438_WhereHostCodeMayTouch_ItIsRefusedInWords) {
  const Settings forms[] = {{{"BELAY_HOST_ACCESS", "allow"}},
                            {{"BELAY_PRODUCT", "310B"}, {"BELAY_FORM", "RC"}},
                            {{"BELAY_PRODUCT", "310P"}, {"BELAY_FORM", "OPEN_CTRL_CPU"}}};
  for (Settings settings : forms) {
    settings.emplace_back("BELAY_BACKING", "none");
    in_fresh_process(settings, [] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
      const std::string text = recent_message();
      for (const char* word : {"BELAY_BACKING", "none", "EE2002", "BELAY_HOST_ACCESS"})
        EXPECT_TRUE(mentions(text, word)) << text;
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INTERNAL_ERROR);
    });
  }
  in_fresh_process({{"BELAY_HOST_ACCESS", "allow"}, {"BELAY_BACKING", "BYTES"}},
                   [] { EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
}

// ------------------------------------------------------------------ where pinned host memory lies

bool is_node(int node) {
  return ::access(("/sys/devices/system/node/node" + std::to_string(node)).c_str(), F_OK) == 0;
}

// "N0=2": how many pages of the mapping at an address lie on which node.
std::string placement(const void* address) {
  std::ifstream file{"/proc/self/numa_maps"};
  std::ostringstream start;
  start << std::hex << number(address);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(start.str() + " ", 0) == 0) return line;
  }
  return "";
}

TEST(HostNode, Node0_IsEverywhere_AndItsMemoryIsUsable) {
  in_fresh_process({{"BELAY_HOST_NODE", "0"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_message();
    for (const std::size_t size : {std::size_t{1}, 100000 * std::size_t{10}}) {
      Pinned pinned{size};
      std::memset(pinned.get(), 5, size);
      Device device{size};
      EXPECT_EQ(aclrtMemcpy(device.get(), size, pinned.get(), size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(read_from(device.get(), size), Bytes(size, 5));
    }
  });
}

TEST(HostNode, ANodeThatDoesNotExist_IsRefusedInWords) {
  int nodes = 0;
  while (is_node(nodes)) ++nodes;
  if (nodes == 0) nodes = 1;
  for (const std::string& value : {std::to_string(nodes), std::string{"4711"}, std::string{"-1"},
                                   std::string{"all"}, std::string{"0,1"}, std::string{"99999999999"}}) {
    in_fresh_process({{"BELAY_HOST_NODE", value}}, [&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR) << value;
      const std::string text = recent_message();
      EXPECT_TRUE(mentions(text, "BELAY_HOST_NODE")) << text;
      EXPECT_TRUE(mentions(text, value)) << text;
      EXPECT_TRUE(mentions(text, std::to_string(nodes))) << text;
    });
  }
}

TEST(HostNode, PagesLieOnTheNodeAskedFor) {
  if (!is_node(1)) GTEST_SKIP() << "this machine has one node of memory";
  for (int node = 0; is_node(node); ++node) {
    in_fresh_process({{"BELAY_HOST_NODE", std::to_string(node)}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_message();
      Pinned pinned{256 * kKB};
      const std::string where = placement(pinned.get());
      if (where.empty()) GTEST_SKIP() << "the kernel does not tell where pages lie";
      for (int other = 0; is_node(other); ++other) {
        const bool here = mentions(where, " N" + std::to_string(other) + "=");
        EXPECT_EQ(here, other == node) << where;
      }
    });
  }
}

}  // namespace large_machine_test
