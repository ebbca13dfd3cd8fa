// Very many mappings at once.
#include <chrono>

#include "support/on_product.h"
#include "support/sanitizer.h"
#include "support/slices.h"
#include "support/virtual_memory.h"

namespace virtual_many_test {

using namespace belay_test;

constexpr std::size_t kMany = 100'000;

std::uint64_t word_at(void* where) {
  std::uint64_t word = 0;
  EXPECT_EQ(aclrtMemcpy(&word, 8, where, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return word;
}

TEST(ManyMappings, V147_V150_V203_100000OfOneReservation_EachIsFound) {
  on_product("A2", {{"BELAY_HBM", "255G"}}, [] {
    const std::size_t before = free_bytes();
    const Reserved place{(kMany + 1) * k2MB};
    std::vector<aclrtDrvMemHandle> handles(kMany);
    const aclrtPhysicalMemProp prop = of_device();
    for (std::size_t i = 0; i < kMany; ++i) {
      ASSERT_EQ(aclrtMallocPhysical(&handles[i], k2MB, &prop, 0), ACL_SUCCESS) << i;
      ASSERT_EQ(map(place.get(i * k2MB), k2MB, handles[i]), ACL_SUCCESS) << i;
    }
    EXPECT_EQ(before - free_bytes(), kMany * k2MB);
    std::mt19937 random = test_random();
    for (int round = 0; round < slice(3000, 100'000); ++round) {
      const std::size_t i = random() % kMany, inside = random() % k2MB;
      void* base = nullptr;
      std::size_t size = 0;
      ASSERT_EQ(aclrtMemGetAddressRange(place.get(i * k2MB + inside), &base, &size), ACL_SUCCESS);
      ASSERT_EQ(base, place.get(i * k2MB));
      ASSERT_EQ(size, k2MB);
      aclrtDrvMemHandle handle = nullptr;
      ASSERT_EQ(aclrtMemRetainAllocationHandle(base, &handle), ACL_SUCCESS);
      ASSERT_EQ(handle, handles[i]);
      ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
      ASSERT_EQ(access_of_device(base, 0), 3U);
    }
    for (std::size_t i = 0; i < kMany; i += kMany / 500) {  // a word of some of them, over borders
      const std::uint64_t word = i * 0x0101010101010101;
      ASSERT_EQ(aclrtMemcpy(place.get((i + 1) * k2MB - 4), 8, &word, 8, ACL_MEMCPY_HOST_TO_DEVICE),
                i + 1 == kMany ? kRefused : static_cast<int>(ACL_SUCCESS));
    }
    for (std::size_t i = 0; i < kMany; i += kMany / 500)
      ASSERT_EQ(word_at(place.get((i + 1) * k2MB - 4)), i * 0x0101010101010101);
    for (std::size_t i = 0; i < kMany; ++i) {  // in another order than they came
      const std::size_t which = i * 7919 % kMany;
      ASSERT_EQ(aclrtUnmapMem(place.get(which * k2MB)), ACL_SUCCESS) << which;
      ASSERT_EQ(aclrtFreePhysical(handles[which]), ACL_SUCCESS);
    }
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(ManyMappings, V150_V29_OneHandleAt20000Addresses) {
  on_product("A2", [] {
    constexpr std::size_t count = 20'000;
    const Reserved place{count * k2MB};
    Physical memory;
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(map(place.get(i * k2MB), k2MB, memory), ACL_SUCCESS) << i;
    write_to(place.get(12'345 * k2MB + 77), pattern(64, 1));
    for (std::size_t i = 0; i < count; i += 97)
      ASSERT_EQ(read_from(place.get(i * k2MB + 77), 64), pattern(64, 1));
    const std::size_t before = free_bytes();
    memory.free_now();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(free_bytes(), before) << i;
      ASSERT_EQ(aclrtUnmapMem(place.get(i * k2MB)), ACL_SUCCESS) << i;
    }
    EXPECT_EQ(free_bytes(), before + k2MB);
  });
}

TEST(ManyMappings, V66_V120_ManyReservationsAndHandles) {
  on_product("A2", {{"BELAY_HBM", "255G"}}, [] {
    constexpr std::size_t count = 20'000;
    std::vector<void*> places(count), handles(count);
    const aclrtPhysicalMemProp prop = of_device();
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(reserve(&places[i], k2MB), ACL_SUCCESS) << i;
      ASSERT_EQ(aclrtMallocPhysical(&handles[i], k2MB, &prop, 0), ACL_SUCCESS) << i;
      ASSERT_EQ(map(places[i], k2MB, handles[i]), ACL_SUCCESS) << i;
    }
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(aclrtUnmapMem(places[i]), ACL_SUCCESS);
      ASSERT_EQ(aclrtReleaseMemAddress(places[i]), ACL_SUCCESS);
      ASSERT_EQ(aclrtFreePhysical(handles[i]), ACL_SUCCESS);
    }
  });
}

}  // namespace virtual_many_test
