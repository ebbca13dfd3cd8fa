// hi_mpi_dvpp_malloc and hi_mpi_dvpp_free: media memory, interface of version 2, and the limit of both.

#include <cstdlib>

#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"
#include "support/allocators.h"
#include "support/on_product.h"

namespace hi_dvpp_test {

using namespace belay_test;

class HiDvpp : public OnDevice {};

constexpr hi_s32 number(std::uint32_t value) { return static_cast<hi_s32>(value); }
constexpr hi_s32 kIllegal = number(0xA0028003), kNull = number(0xA0028006), kUnsupported = number(0xA0028008),
                 kNoMemory = number(0xA002800C), kNotReady = number(0xA0028010);

TEST_F(HiDvpp, M401_NumbersOfTheirOwn) {
  void* out = nullptr;
  EXPECT_EQ(hi_mpi_dvpp_malloc(0, nullptr, 64), kNull);
  EXPECT_EQ(hi_mpi_dvpp_malloc(0, nullptr, 0), kNull);
  EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 0), kIllegal);
  EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 1024 * kGB), kNoMemory);
  EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, UINT64_MAX), kNoMemory);
  EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, UINT64_MAX - 63), kNoMemory);
  EXPECT_EQ(hi_mpi_dvpp_free(nullptr), kNull);
  without_context([] {
    void* none = nullptr;
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, &none, 64), kNotReady);
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, nullptr, 64), kNull);
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, &none, 0), kIllegal);
    EXPECT_EQ(none, nullptr);
  });
}

TEST_F(HiDvpp, M401_FreeOfUnknownPointers) {
  void* block = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, 10000), 0);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  int local = 0;
  const std::size_t before = free_bytes();
  for (void* wrong :
       {static_cast<void*>(&local), pinned, static_cast<void*>(static_cast<char*>(block) + 128)}) {
    EXPECT_EQ(hi_mpi_dvpp_free(wrong), kIllegal) << wrong;
  }
  EXPECT_EQ(free_bytes(), before);
  without_context([&] { EXPECT_EQ(hi_mpi_dvpp_free(block), 0); });
  EXPECT_EQ(hi_mpi_dvpp_free(block), kIllegal);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_F(HiDvpp, M400_TheCurrentDeviceServesAndDevIdIsIgnored) {
  for (const hi_u32 id : {0U, 1U, 99U, UINT32_MAX}) {
    void* block = nullptr;
    ASSERT_EQ(hi_mpi_dvpp_malloc(id, &block, 64), 0) << id;
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.id, 0U);
    EXPECT_EQ(free_before_ - free_bytes(), 4096U);
    EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
  }
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, 64), 0);
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.id, 1U);
  EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(HiDvpp, M400_SamePaddingAndAlignment) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4064}, std::size_t{4065}, 2 * kMB, kGB}) {
    void* block = nullptr;
    ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, size), 0);
    EXPECT_EQ(free_before_ - free_bytes(), up_to(up_to(size, 32) + 32, 4096)) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0U);
    EXPECT_EQ(aclrtMemset(block, size, 1, 1), ACL_SUCCESS);
    EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
    EXPECT_EQ(free_bytes(), free_before_);
  }
}

// Media memory in blocks of exactly one gigabyte, from both allocators in turn.
void* gigabyte(int turn) {
  void* block = nullptr;
  if (turn % 2 == 0) {
    EXPECT_EQ(acldvppMalloc(&block, kGB - 32), ACL_SUCCESS) << turn;
  } else {
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, &block, kGB - 32), 0) << turn;
  }
  return block;
}

TEST(HiDvppLimit, M400_BothAllocatorsTogetherGiveSixteenGigabytes) {
  for (const char* product : {"A2", "A3", "310P"}) {
    on_product(product, {{"BELAY_HBM", "20G"}}, [] {
      const std::size_t before = free_bytes();
      std::vector<void*> blocks;
      for (int turn = 0; turn < 16; ++turn) blocks.push_back(gigabyte(turn));
      EXPECT_EQ(before - free_bytes(), 16 * kGB);
      void* out = nullptr;
      EXPECT_EQ(acldvppMalloc(&out, 1), ACL_ERROR_RT_MEMORY_ALLOCATION);
      EXPECT_EQ(acldvppMalloc(&out, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
      EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 1), kNoMemory);
      EXPECT_EQ(before - free_bytes(), 16 * kGB);
      EXPECT_EQ(take(kMalloc, kGB, kHugeOnly).code, ACL_SUCCESS);  // other memory is not meant

      EXPECT_EQ(aclrtFree(blocks.back()), ACL_SUCCESS);  // whoever frees it, the room comes back
      blocks.back() = gigabyte(0);
      EXPECT_EQ(acldvppFree(blocks.back()), ACL_SUCCESS);
      blocks.back() = gigabyte(1);
      EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 1), kNoMemory);
      for (void* block : blocks) EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), before);
    });
  }
}

TEST(HiDvppLimit, M400_OneBlockToTheByte) {
  on_product("A2", [] {
    void* out = nullptr;
    EXPECT_EQ(acldvppMalloc(&out, 16 * kGB - 31), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_EQ(out, nullptr);
    ASSERT_EQ(acldvppMalloc(&out, 16 * kGB - 32), ACL_SUCCESS);
    EXPECT_EQ(acldvppFree(out), ACL_SUCCESS);
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 16 * kGB - 31), kNoMemory);
    ASSERT_EQ(hi_mpi_dvpp_malloc(0, &out, 16 * kGB - 32), 0);
    EXPECT_EQ(hi_mpi_dvpp_free(out), 0);
  });
}

TEST(HiDvppLimit, M400_TheLimitIsOfTheProcessNotOfADevice) {
  on_product("A2", [] {
    void* all = nullptr;
    void* out = nullptr;
    ASSERT_EQ(acldvppMalloc(&all, 16 * kGB - 32), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(hi_mpi_dvpp_malloc(1, &out, 1), kNoMemory);
    EXPECT_EQ(acldvppFree(all), ACL_SUCCESS);
    EXPECT_EQ(hi_mpi_dvpp_malloc(1, &out, 1), 0);
    EXPECT_EQ(hi_mpi_dvpp_free(out), 0);
  });
}

TEST(HiDvppLimit, M400_OtherProductsHaveNone) {
  for (const char* product : {"310B", "910"}) {
    on_product(product, {{"BELAY_HBM", "20G"}}, [] {
      void* out = nullptr;
      ASSERT_EQ(acldvppMalloc(&out, 18 * kGB), ACL_SUCCESS);
      EXPECT_EQ(acldvppFree(out), ACL_SUCCESS);
    });
  }
}

TEST(HiDvppLimit, M401_ShortageOfTheDevice) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}}, [] {
    void* out = nullptr;
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 4 * kMB - 31), kNoMemory);
    ASSERT_EQ(hi_mpi_dvpp_malloc(0, &out, 4 * kMB - 32), 0);
    void* more = nullptr;
    EXPECT_EQ(hi_mpi_dvpp_malloc(0, &more, 1), kNoMemory);
    EXPECT_EQ(hi_mpi_dvpp_free(out), 0);
  });
}

TEST(HiDvppByProduct, M404_M403_OffProductCalls) {
  for (const char* product : {"910", "950", "IPV350"}) {
    on_product(product, [] {
      int mark = 0;
      void* out = &mark;
      EXPECT_EQ(hi_mpi_dvpp_malloc(0, &out, 64), kUnsupported);
      EXPECT_EQ(out, &mark);
      EXPECT_EQ(hi_mpi_dvpp_free(&mark), kUnsupported);
      EXPECT_EQ(hi_mpi_dvpp_malloc(0, nullptr, 64), kNull);
    });
  }
}

TEST(HiDvppByProduct, M404_M436_PresentOnFourFamilies) {
  for (const char* product : {"A3", "A2", "310B", "310P"}) {
    on_product(product, [] {
      void* block = nullptr;
      ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, 64), 0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0U);
      EXPECT_EQ(aclrtMemset(block, 64, 1, 64), ACL_SUCCESS);
      EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
    });
  }
}

}  // namespace hi_dvpp_test
