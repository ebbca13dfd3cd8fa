// Facts about device memory that a program can see: sizes, page kinds, addresses, frees, figures.

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/on_product.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace device_facts_test {

using namespace belay_test;

class DeviceFacts : public OnDevice {};

TEST_F(DeviceFacts, D1_D2_ThePadOfTheProductAndTheFunctionsWithoutOne) {
  for (const Allocator& allocator : all_allocators()) {
    EXPECT_EQ(take(allocator, 4096 - 32, kNormalOnly).bytes, 4096U) << allocator.name;
    EXPECT_EQ(take(allocator, 4096, kNormalOnly).bytes, allocator.pads ? 8192U : 4096U) << allocator.name;
    EXPECT_EQ(take(allocator, kGB, kHuge1g).bytes, kGB) << allocator.name;
  }
}

TEST(DeviceFactsByProduct, D1_NoPadOn950) {
  on_product("950", [] {
    EXPECT_EQ(take(kMalloc, 4096, kNormalOnly).bytes, 4096U);
    EXPECT_EQ(take(kCached, 4097, kNormalOnly).bytes, 8192U);
  });
}

TEST_F(DeviceFacts, D3_OverflowZeroAndNullAre100000) {
  void* out = nullptr;
  for (const Allocator& allocator : {kMalloc, kAlign32, kCached}) {
    EXPECT_EQ(allocator.call(&out, SIZE_MAX - allocator.headroom + 1, policy(kHugeFirst)),
              ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(allocator.call(&out, 0, policy(kHugeFirst)), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(allocator.call(nullptr, 64, policy(kHugeFirst)), ACL_ERROR_INVALID_PARAM);
  }
}

TEST(DeviceFactsByProduct, D24_D25_PageKindsOfTheProducts) {
  for (const char* product : {"A2", "A3", "950"}) {
    on_product(product, {{"BELAY_HBM", "3G"}}, [] {
      EXPECT_EQ(take(kMalloc, kGB + 1, kHuge1g), served(2 * kGB, kPage1G));
      EXPECT_EQ(take(kMalloc, 3 * kGB + 1, kHuge1g), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));
      const Block two(kMalloc, 2 * kGB, kHuge1g);
      EXPECT_EQ(take(kMalloc, kGB + 1, kHuge1g), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));  // no fallback
    });
  }
  on_product("310P", [] {
    EXPECT_EQ(take(kMalloc, 1, kHuge1g), refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT));
    EXPECT_EQ(take(kMalloc, 1, kHugeOnlyP2p), served(2 * kMB, kPage2M));  // paid by its only memory
  });
  on_product("310B",
             [] { EXPECT_EQ(take(kMalloc, 1, kHugeOnlyP2p), refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT)); });
}

constexpr std::uintptr_t kWindow = 0x100000000000, kOrdinary = 0x12C000000000,
                         kTera = std::uintptr_t{1} << 40;

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// In builds where the usual place is taken the window lies elsewhere, but keeps its shape.
TEST_F(DeviceFacts, D31_MediaMemoryAndOrdinaryMemoryInOneWindow) {
  void* media = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 64), ACL_SUCCESS);
  std::vector<void*> blocks;
  for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kHuge1g}) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, policy(value)), ACL_SUCCESS);
    EXPECT_GT(number(block), number(media));
    EXPECT_LT(number(block) - number(media), 8 * kTera);
    if (!belay_test::kUnderASanitizer) {
      EXPECT_GE(number(block), kOrdinary);
      EXPECT_LT(number(block), kWindow + 8 * kTera);
    }
    blocks.push_back(block);
  }
  if (!belay_test::kUnderASanitizer) {
    EXPECT_GE(number(media), kWindow);
    EXPECT_LT(number(media), kWindow + 2 * kTera);
  }
  for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
}

TEST_F(DeviceFacts, D33_AddressesAreUniqueOverHostAndAllDevices) {
  std::set<void*> seen;
  std::vector<void*> device, pinned;
  for (std::int32_t id = 0; id < 8; ++id) {
    ASSERT_EQ(aclrtSetDevice(id), ACL_SUCCESS);
    for (int i = 0; i < 4; ++i) {
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      device.push_back(block);
      EXPECT_TRUE(seen.insert(block).second);
      ASSERT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
      pinned.push_back(block);
      EXPECT_TRUE(seen.insert(block).second);
    }
  }
  for (void* block : device) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  for (void* block : pinned) EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  for (std::int32_t id = 0; id < 8; ++id) EXPECT_EQ(aclrtResetDevice(id), ACL_SUCCESS);
}

TEST(DeviceFactsAtTheStart, D36_TheWindowGoesAroundAnExistingMapping) {
  if (belay_test::kUnderASanitizer) GTEST_SKIP() << "the sanitizer owns the place where the window would be";
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    void* wanted = reinterpret_cast<void*>(kOrdinary);
    void* mine = ::mmap(wanted, 8192, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_NE(mine, MAP_FAILED);
    std::memset(mine, 0x77, 8192);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Block block(kMalloc, 5 * kGB, kHugeOnly);
    EXPECT_EQ(aclrtMemset(block.get(), 4096, 1, 4096), ACL_SUCCESS);
    EXPECT_TRUE(block.bytes() >= static_cast<char*>(mine) + 8192 || block.bytes() + 5 * kGB <= mine);
    for (int i = 0; i < 8192; ++i) ASSERT_EQ(static_cast<char*>(mine)[i], 0x77);
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(mine, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  });
}

TEST(DeviceFactsAtTheStart, D36_TheWindowIsReservedWithoutBeingCommitted) {
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const auto resident = [] {
      long pages = 0, all = 0;
      std::FILE* file = std::fopen("/proc/self/statm", "r");
      EXPECT_EQ(std::fscanf(file, "%ld %ld", &all, &pages), 2);
      std::fclose(file);
      return static_cast<std::size_t>(pages) * 4096;
    };
    const std::size_t before = resident();
    const Block block(kMalloc, 40 * kGB, kHugeOnly);
    EXPECT_LT(resident(), before + 64 * kMB);
  });
}

TEST_F(DeviceFacts, D38_MoreThanTheWindowIs207001) {
  for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly, kHuge1g}) {
    for (const std::size_t size :
         {8 * kTera, 8 * kTera + 1, 64 * kTera, std::size_t{1} << 48, std::size_t{1} << 63}) {
      EXPECT_EQ(take(kAlign32, size, value), refused(ACL_ERROR_RT_MEMORY_ALLOCATION)) << value << " " << size;
    }
  }
}

TEST_F(DeviceFacts, D47_FreeAndFreeHostOnEachOthersMemory) {
  Block block(kMalloc, 64, kHugeFirst);
  EXPECT_EQ(aclrtFreeHost(block.get()), ACL_ERROR_RT_PARAM_INVALID);
  void* heap = std::malloc(64);
  EXPECT_EQ(aclrtFreeHost(heap), ACL_ERROR_RT_PARAM_INVALID);
  std::free(heap);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  void* start = block.release();
  without_context([&] {
    EXPECT_EQ(aclrtFree(pinned), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(start), ACL_SUCCESS);
  });
}

TEST_F(DeviceFacts, D81_D82_PointersThatFreeRefuses) {
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  Block block(kMalloc, 64, kHugeFirst);
  int local = 0;
  void* heap = std::malloc(64);
  EXPECT_EQ(aclrtFree(block.bytes() + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(block.bytes() + kTera), ACL_ERROR_RT_PARAM_INVALID);  // in the window, in no block
  EXPECT_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(heap), ACL_ERROR_RT_PARAM_INVALID);
  void* start = block.release();
  EXPECT_EQ(aclrtFree(start), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(start), ACL_ERROR_RT_PARAM_INVALID);
  std::free(heap);
}

std::size_t free_of(aclrtMemAttr attr) {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(attr, &free, &total), ACL_SUCCESS);
  return free;
}

TEST(DeviceFactsByProduct, D50_D51_ThreeAmountsLieBehindTheFigures) {
  on_product("A2", {{"BELAY_HBM", "3072M"}}, [] {
    const Block odd(kAlign32, 4096, kNormalOnly);
    EXPECT_EQ(free_of(ACL_HBM_MEM), free_of(ACL_HBM_MEM_HUGE) + free_of(ACL_HBM_MEM_NORMAL));
    EXPECT_EQ(free_of(ACL_HBM_MEM_HUGE), 3070 * kMB);
    EXPECT_EQ(free_of(ACL_HBM_MEM_HUGE1G), 2 * kGB);  // a part of the huge ones
    EXPECT_EQ(free_of(ACL_HBM_MEM_P2P_HUGE), free_of(ACL_HBM_MEM_HUGE));
    EXPECT_EQ(free_of(ACL_HBM_MEM_P2P_HUGE1G), free_of(ACL_HBM_MEM_HUGE1G));
    std::size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(std::bit_cast<aclrtMemAttr>(18), &free, &total),
              ACL_ERROR_RT_INVALID_MEMORY_TYPE);
    without_context(
        [&] { EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL); });
  });
  on_product("910", [] {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM_HUGE1G, &free, &total), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  });
}

TEST(DeviceFactsByProduct, D59_UsableTotals) {
  const auto total_of = [](const char* product, std::size_t bytes) {
    on_product(product, [&] {
      std::size_t free = 0, total = 0;
      EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
      EXPECT_EQ(total, bytes);
    });
  };
  total_of("A2", 65464696832);
  total_of("A3", 65787658240);
}

TEST_F(DeviceFacts, R222_AMemoryFailureAlwaysLeavesAMessage) {
  const auto has = [](const std::string& message, const std::string& word) {
    return message.find(word) != std::string::npos;
  };
  void* out = nullptr;
  for (const Allocator& allocator : all_allocators()) {
    EXPECT_EQ(allocator.call(&out, 1024 * kGB, policy(kHugeOnly)), ACL_ERROR_RT_MEMORY_ALLOCATION);
    const std::string message = recent_message();
    EXPECT_TRUE(has(message, "EL0004")) << message;
    EXPECT_TRUE(has(message, std::to_string(1024 * kGB))) << message;  // the size
    EXPECT_TRUE(has(message, "APP")) << message;                       // the module
  }
  int local = 0;
  EXPECT_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  std::string message = recent_message();
  EXPECT_TRUE(has(message, "EE1003") || has(message, "EE1011")) << message;
  char address[32];
  std::snprintf(address, sizeof address, "%lx", static_cast<unsigned long>(number(&local)));
  EXPECT_TRUE(has(message, address)) << message;  // the pointer
  char bytes[4] = {};
  EXPECT_EQ(aclrtMemcpy(bytes, 2, &local, 4, ACL_MEMCPY_HOST_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  message = recent_message();
  EXPECT_TRUE(has(message, "EE1003") || has(message, "EE1011")) << message;
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_TRUE(has(recent_message(), "EH0002"));
}

}  // namespace device_facts_test
