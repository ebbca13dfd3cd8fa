// aclrtCheckMemType: is every address of one of these kinds?
#include <cstdlib>

#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"
#include "support/allocators.h"

namespace check_mem_type_test {

using namespace belay_test;

class CheckMemType : public OnDevice {};

constexpr std::uint32_t kDev = ACL_RT_MEM_TYPE_DEV, kDvpp = ACL_RT_MEM_TYPE_DVPP,
                        kRsvd = ACL_RT_MEM_TYPE_RSVD;

// The result for these addresses; the call itself must succeed.
std::uint32_t check(std::vector<void*> addresses, std::uint32_t types) {
  std::uint32_t result = 77;
  EXPECT_EQ(
      aclrtCheckMemType(addresses.data(), static_cast<std::uint32_t>(addresses.size()), types, &result, 0),
      ACL_SUCCESS);
  return result;
}

TEST_F(CheckMemType, M153_M154_NullArguments) {
  const Block block(kMalloc, 64, kHugeFirst);
  void* list[1] = {block.get()};
  std::uint32_t result = 77;
  EXPECT_EQ(aclrtCheckMemType(nullptr, 1, kDev, &result, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(aclrtCheckMemType(list, 1, kDev, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCheckMemType(nullptr, 0, 0xFF, &result, 9), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(result, 77U);  // it is not set to 0 yet
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(CheckMemType, M155_TheResultIsZeroAfterEveryLaterFailure) {
  const Block block(kMalloc, 64, kHugeFirst);
  void* list[1] = {block.get()};
  const auto failing = [&](std::uint32_t size, std::uint32_t types, std::uint32_t reserve, aclError code) {
    std::uint32_t result = 77;
    EXPECT_EQ(aclrtCheckMemType(list, size, types, &result, reserve), code);
    EXPECT_EQ(result, 0U);
  };
  failing(1, kDev, 1, ACL_ERROR_RT_PARAM_INVALID);
  failing(0, kDev, 0, ACL_ERROR_RT_PARAM_INVALID);
  failing(1, 1, 0, ACL_ERROR_RT_PARAM_INVALID);
  without_context([&] { failing(1, kDev, 0, ACL_ERROR_RT_CONTEXT_NULL); });
}

TEST_F(CheckMemType, M156_M157_M158_M159_M160_BadArgumentsInOrder) {
  const Block block(kMalloc, 64, kHugeFirst);
  std::vector<void*> list(1025, block.get());
  std::uint32_t result = 0;
  const auto answer = [&](std::uint32_t size, std::uint32_t types, std::uint32_t reserve) {
    return aclrtCheckMemType(list.data(), size, types, &result, reserve);
  };
  for (const std::uint32_t reserve : {1U, 0x80000000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(answer(1, kDev, reserve), ACL_ERROR_RT_PARAM_INVALID) << reserve;
  }
  EXPECT_EQ(answer(0, kDev, 0), ACL_ERROR_RT_PARAM_INVALID);
  for (std::uint32_t bit = 0; bit < 32; ++bit) {  // each bit alone, and next to a known one
    const std::uint32_t type = 1U << bit;
    const bool known = type == kDev || type == kDvpp || type == kRsvd;
    EXPECT_EQ(answer(1, type, 0), known ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID) << hex(type);
    EXPECT_EQ(answer(1, type | kDev, 0), known ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID) << hex(type);
  }
  EXPECT_EQ(answer(1024, kDev, 0), ACL_SUCCESS);
  EXPECT_EQ(result, 1U);
  EXPECT_EQ(answer(1025, kDev, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(result, 0U);
  without_context([&] {  // 107000 of the first three, then the context, then the number of addresses
    EXPECT_EQ(answer(1, kDev, 1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(answer(0, kDev, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(answer(1, 0x20, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(answer(1, kDev, 0), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(answer(1025, kDev, 0), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(CheckMemType, M161_M162_TheAllocatorDecidesTheKind) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kHuge1g}) {
      const Block block(allocator, 64, value);
      EXPECT_EQ(check({block.get()}, kDev), 1U) << allocator.name;
      EXPECT_EQ(check({block.get()}, kDvpp), 0U) << allocator.name;
      EXPECT_EQ(check({block.get()}, kRsvd), 0U) << allocator.name;
      EXPECT_EQ(check({block.get()}, kDev | kDvpp | kRsvd), 1U) << allocator.name;
      EXPECT_EQ(check({block.get()}, 0), 0U) << allocator.name;
    }
  }
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(acldvppMalloc(&first, 64), ACL_SUCCESS);
  ASSERT_EQ(hi_mpi_dvpp_malloc(0, &second, 64), 0);
  for (void* media : {first, second}) {
    EXPECT_EQ(check({media}, kDvpp), 1U);
    EXPECT_EQ(check({media}, kDev), 0U);
    EXPECT_EQ(check({media}, kRsvd), 0U);
    EXPECT_EQ(check({media}, kDev | kDvpp), 1U);
  }
  EXPECT_EQ(acldvppFree(first), ACL_SUCCESS);
  EXPECT_EQ(hi_mpi_dvpp_free(second), 0);
}

TEST_F(CheckMemType, M161_EveryAddressMustMatch) {
  const Block device(kMalloc, 5000, kHugeFirst);
  void* media = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 5000), ACL_SUCCESS);
  EXPECT_EQ(check({device.get(), media}, kDev), 0U);
  EXPECT_EQ(check({device.get(), media}, kDvpp), 0U);
  EXPECT_EQ(check({device.get(), media}, kDev | kDvpp), 1U);
  EXPECT_EQ(check({device.get(), nullptr}, kDev), 0U);
  std::vector<void*> many(1024, device.get());
  EXPECT_EQ(check(many, kDev), 1U);
  many.back() = media;
  EXPECT_EQ(check(many, kDev), 0U);
  EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);  // "no" is no failure
}

TEST_F(CheckMemType, M162_InteriorAddressesCountAndHostMemoryMatchesNothing) {
  Block block(kMalloc, 5000, kHugeFirst);
  EXPECT_EQ(check({block.bytes() + 1, block.bytes() + 4999}, kDev), 1U);
  EXPECT_EQ(check({block.bytes() + 512 * kGB}, kDev | kDvpp | kRsvd), 0U);
  int local = 0;
  void* heap = std::malloc(64);
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  for (void* host : {static_cast<void*>(&local), heap, pinned}) {
    EXPECT_EQ(check({host}, kDev | kDvpp | kRsvd), 0U);
    EXPECT_EQ(check({block.get(), host}, kDev), 0U);
  }
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  std::free(heap);
  void* freed = block.release();
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  EXPECT_EQ(check({freed}, kDev | kDvpp | kRsvd), 0U);
}

TEST_F(CheckMemType, M161_OnTheCurrentDeviceOnly) {
  const Block here(kMalloc, 64, kHugeFirst);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Block there(kMalloc, 64, kHugeFirst);
  EXPECT_EQ(check({there.get()}, kDev), 1U);
  EXPECT_EQ(check({here.get()}, kDev), 0U);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(check({here.get()}, kDev), 1U);
  EXPECT_EQ(check({there.get()}, kDev), 0U);
  EXPECT_EQ(check({here.get(), there.get()}, kDev), 0U);
  EXPECT_EQ(aclrtFree(there.release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace check_mem_type_test
