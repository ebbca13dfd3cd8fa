// What becomes of memory when a device is reset, a context is destroyed, or the runtime is finalised.
#include "acl/ops/acl_dvpp.h"
#include "support/blocks.h"
#include "support/settings.h"

namespace reset_memory_test {

using namespace belay_test;

const Settings kQuiet{{"BELAY_LEAKS", "off"}};

void* allocate(std::size_t size = 4096, unsigned policy = ACL_MEM_MALLOC_NORMAL_ONLY) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, size, policy_of(policy)), ACL_SUCCESS);
  return block;
}

TEST(ResetMemory, M405_NothingHappensBeforeTheCountIsZero) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* const block = allocate();
    write_to(block, pattern(4096, 1));
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      EXPECT_TRUE(alive(block));
      EXPECT_EQ(read_from(block, 4096), pattern(4096, 1));
    }
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST(ResetMemory, M405_M406_TheForcedReset_SkipsTheCount) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* const block = allocate();
    ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), kBadValue);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::size_t free = 0, total = 0;
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    EXPECT_EQ(free, total);
  });
}

TEST(ResetMemory, M405_AnExplicitContext_KeepsTheDeviceAndItsMemory) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    void* const block = allocate();
    write_to(block, pattern(4096, 1));
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_TRUE(alive(block));
    EXPECT_EQ(read_from(block, 4096), pattern(4096, 1)) << "the explicit context is still bound";
    // The last context closes the device.
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), kBadValue);
  });
}

TEST(ResetMemory, M406_M408_EveryKindOfDeviceBlockGoes) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::vector<void*> blocks;
    for (const unsigned policy : {0U, 1U, 2U, 4U, 6U, 0x100000U, 0x100002U})
      blocks.push_back(allocate(64, policy));
    blocks.push_back(allocate(3 * kMB, 0));
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocCached(&block, 64, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    blocks.push_back(block);
    ASSERT_EQ(acldvppMalloc(&block, 64), ACL_SUCCESS);
    blocks.push_back(block);
    ASSERT_EQ(aclrtMallocWithCfg(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY, nullptr), ACL_SUCCESS);
    blocks.push_back(block);
    ASSERT_EQ(aclrtMallocForTaskScheduler(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr), ACL_SUCCESS);
    blocks.push_back(block);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    for (void* gone : blocks) EXPECT_EQ(aclrtFree(gone), kBadValue);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::size_t free = 0, total = 0;
    ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    EXPECT_EQ(free, total) << "all of it was given back";
    Bytes host(64);
    for (void* gone : blocks) {
      EXPECT_EQ(aclrtFree(gone), kBadValue);
      EXPECT_EQ(aclrtMemcpy(host.data(), 64, gone, 64, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
      EXPECT_EQ(aclrtMemcpy(gone, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
      EXPECT_EQ(aclrtMemset(gone, 64, 0, 64), kRefused);
    }
  });
}

TEST(ResetMemory, M406_OnlyTheDeviceThatIsReset) {
  in_fresh_process({{"BELAY_LEAKS", "off"}, {"BELAY_DEVICES", "2"}}, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    void* const there = allocate();
    write_to(there, pattern(4096, 1));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* const here = allocate();
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(here), kBadValue);
    EXPECT_TRUE(alive(there));
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(read_from(there, 4096), pattern(4096, 1));
    EXPECT_EQ(aclrtFree(there), ACL_SUCCESS);
  });
}

TEST(ResetMemory, M407_D43_PinnedHostMemorySurvives) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void *first = nullptr, *second = nullptr;
    ASSERT_EQ(aclrtMallocHost(&first, 4096), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&second, 4096), ACL_SUCCESS);
    const Bytes bytes = pattern(4096, 2);
    std::copy(bytes.begin(), bytes.end(), at(first, 0));
    ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(first, 0)));
    *at(second, 4095) = 1;
    EXPECT_EQ(aclrtFreeHost(first), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(first), kBadValue);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(second, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ(aclrtFreeHost(second), ACL_SUCCESS);
  });
}

TEST(ResetMemory, M408_TheAddressMayBeUsedAgain_AndIsAlive) {
  in_fresh_process(kQuiet, [] {
    bool again = false;
    for (int round = 0; round < 200 && !again; ++round) {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* const lost = allocate();
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* const fresh = allocate();
      again = fresh == lost;
      write_to(fresh, pattern(4096, 1));
      EXPECT_EQ(read_from(fresh, 4096), pattern(4096, 1));
      EXPECT_EQ(aclrtFree(fresh), ACL_SUCCESS);
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }
  });
}

std::string digits(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number(pointer)));
  return text;
}

// Allocates four blocks, frees one, says on stdout where they were.
std::vector<void*> three_lost_and_one_freed() {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::vector<void*> blocks{allocate(64), allocate(5000), allocate(3 * kMB, 0), allocate(77)};
  EXPECT_EQ(aclrtFree(blocks[3]), ACL_SUCCESS);
  for (void* block : blocks) std::printf("%s\n", digits(block).c_str());
  std::fflush(stdout);
  return blocks;
}

void expect_listed(const Ending& ending) {
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_TRUE(mentions(ending.err, "leak")) << ending;
  std::size_t line = 0, start = 0;
  for (std::size_t end; (end = ending.out.find('\n', start)) != std::string::npos; start = end + 1, ++line) {
    const std::string address = ending.out.substr(start, end - start);
    if (address.size() < 8 || address.size() > 16) continue;
    EXPECT_EQ(mentions(ending.err, address), line < 3) << address << " " << ending;
  }
}

TEST(ResetMemory, M409_TheLastReset_ListsEveryBlockStillAlive) {
  ::unsetenv("BELAY_LEAKS");
  const Ending ending = run_captured({}, [] {
    three_lost_and_one_freed();
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  expect_listed(ending);
}

TEST(ResetMemory, M409_NothingIsListed_WhenNothingIsLeft) {
  ::unsetenv("BELAY_LEAKS");
  const Ending ending = run_captured({}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(allocate()), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.err, "") << ending;
}

TEST(ResetMemory, M411_ProcessExit_ListsThemToo) {
  ::unsetenv("BELAY_LEAKS");
  const Ending ending = run_captured({}, [] {
    three_lost_and_one_freed();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  expect_listed(ending);
}

TEST(ResetMemory, M410_DestroyingAContext_FreesNothing) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    const std::size_t before = free_bytes();
    void* const block = allocate();
    write_to(block, pattern(4096, 1));
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_TRUE(alive(block));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), before - 8192);
    EXPECT_EQ(read_from(block, 4096), pattern(4096, 1));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(ResetMemory, M412_Finalize_FreesNoMemory) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* const block = allocate();
    void* host = nullptr;
    ASSERT_EQ(aclrtMallocHost(&host, 64), ACL_SUCCESS);
    write_to(block, pattern(4096, 1));
    const std::size_t before = free_bytes();
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_TRUE(alive(block));
    EXPECT_EQ(free_bytes(), before);
    EXPECT_EQ(read_from(block, 4096), pattern(4096, 1));
    *at(host, 63) = 1;
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  });
}

}  // namespace reset_memory_test
