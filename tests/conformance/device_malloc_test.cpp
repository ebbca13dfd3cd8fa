// aclrtMalloc, aclrtMallocAlign32 and aclrtMallocCached: their checks in order, and what a success gives.
#include <string>

#include "support/allocators.h"

namespace device_malloc_test {

using namespace belay_test;

class DeviceMalloc : public OnDevice {};

const Allocator kThree[] = {kMalloc, kAlign32, kCached};

TEST_F(DeviceMalloc, M81_NullOutput) {
  for (const Allocator& allocator : kThree) {
    EXPECT_EQ(allocator.call(nullptr, 64, policy(kHugeFirst)), ACL_ERROR_INVALID_PARAM) << allocator.name;
    const std::string message = recent_message();
    EXPECT_NE(message.find("EH0002"), std::string::npos) << message;
    EXPECT_NE(message.find(allocator.name), std::string::npos) << message;
  }
}

TEST_F(DeviceMalloc, M82_SizeZero) {
  for (const Allocator& allocator : kThree) {
    int mark = 0;
    void* out = &mark;
    EXPECT_EQ(allocator.call(&out, 0, policy(kHugeFirst)), ACL_ERROR_INVALID_PARAM) << allocator.name;
    EXPECT_EQ(out, &mark);
    EXPECT_NE(recent_message().find(allocator.name), std::string::npos);
    EXPECT_EQ(allocator.call(&out, 1, policy(kHugeFirst)), ACL_SUCCESS) << allocator.name;
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

// Every combination of mistakes: the first in the order of the rules decides.
TEST_F(DeviceMalloc, M81_M82_M83_M84_M85_M86_M87_TheFirstMistakeDecides) {
  enum class Size { zero, wraps, too_large, good };
  for (const Allocator& allocator : kThree) {
    for (const bool null : {true, false}) {
      for (const Size size : {Size::zero, Size::wraps, Size::too_large, Size::good}) {
        for (const bool context : {false, true}) {
          for (const bool supported : {false, true}) {
            if (!supported && allocator.policies == Policies::cached) continue;  // refuses no policy here
            const std::size_t bytes = size == Size::zero        ? 0
                                      : size == Size::wraps     ? SIZE_MAX - 3
                                      : size == Size::too_large ? SIZE_MAX - 100
                                                                : 64;
            const aclError expected = null || size == Size::zero || size == Size::wraps
                                          ? ACL_ERROR_INVALID_PARAM
                                      : !context                ? ACL_ERROR_RT_CONTEXT_NULL
                                      : !supported              ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT
                                      : size == Size::too_large ? ACL_ERROR_RT_MEMORY_ALLOCATION
                                                                : ACL_SUCCESS;
            const auto call = [&] {
              void* out = nullptr;
              EXPECT_EQ(allocator.call(null ? nullptr : &out, bytes,
                                       policy(supported ? kHugeFirst : kHuge1g | kReadOnly)),
                        expected)
                  << allocator.name << " null " << null << " bytes " << bytes << " context " << context
                  << " supported " << supported;
              EXPECT_EQ(out != nullptr, expected == ACL_SUCCESS);
              if (out != nullptr) {
                EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
              }
            };
            if (context) {
              call();
            } else {
              without_context(call);
            }
            EXPECT_EQ(free_bytes(), free_before_);
          }
        }
      }
    }
  }
}

TEST_F(DeviceMalloc, M81_NullIsSeenBeforeTheSize) {
  EXPECT_EQ(aclrtMalloc(nullptr, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(aclrtMalloc(nullptr, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
}

TEST_F(DeviceMalloc, M84_MessageTellsWhatToCall) {
  without_context([] {
    void* out = nullptr;
    EXPECT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    const std::string message = recent_message();
    EXPECT_NE(message.find("EE1018"), std::string::npos) << message;
    EXPECT_NE(message.find("aclrtSetDevice"), std::string::npos) << message;
  });
}

TEST_F(DeviceMalloc, M87_SuccessStoresTheStartOfADeviceBlock) {
  for (const Allocator& allocator : kThree) {
    void* out = nullptr;
    ASSERT_EQ(allocator.call(&out, 100, policy(kNormalOnly)), ACL_SUCCESS);
    ASSERT_NE(out, nullptr);
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(out, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(attributes.location.id, 0U);
    EXPECT_EQ(aclrtFree(static_cast<char*>(out) + 32),
              ACL_ERROR_RT_PARAM_INVALID);  // it is the start, not inside
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
  EXPECT_NE(recent_message(), "");  // from the wrong frees only
  EXPECT_EQ(take(kMalloc, 64, kHugeFirst).code, ACL_SUCCESS);
  EXPECT_EQ(recent_message(), "");
}

std::size_t free_of(std::int32_t device) {
  EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  return free_bytes();
}

TEST_F(DeviceMalloc, M88_MemoryComesFromTheDeviceOfTheCurrentContext) {
  for (const Allocator& allocator : all_allocators()) {
    const std::size_t zero = free_of(0), one = free_of(1), two = free_of(2);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Block there(allocator, 64, kHugeOnly);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 2), ACL_SUCCESS);
    Block elsewhere(allocator, 64, kNormalOnly);
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);

    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(there.get(), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.id, 1U) << allocator.name;
    EXPECT_EQ(aclrtPointerGetAttributes(elsewhere.get(), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.id, 2U) << allocator.name;
    EXPECT_EQ(free_of(0), zero);
    EXPECT_EQ(one - free_of(1), 2 * kMB) << allocator.name;
    EXPECT_EQ(two - free_of(2), 4096U) << allocator.name;
  }
  aclrtResetDeviceForce(1);
  aclrtResetDeviceForce(2);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceMalloc, M91_CachedMemoryNeedsNoCacheCalls) {
  std::vector<unsigned char> host(10000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7);
  const Block cached(kCached, host.size(), kHugeFirst);
  const Block plain(kMalloc, host.size(), kHugeFirst);
  EXPECT_EQ(page_of(cached.get()), page_of(plain.get()));
  EXPECT_EQ(aclrtMemcpy(cached.get(), host.size(), host.data(), host.size(), ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(contents(cached.get(), host.size()), host);  // no flush, no invalidate
  EXPECT_EQ(aclrtMemcpy(plain.get(), host.size(), cached.get(), host.size(), ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_SUCCESS);
  EXPECT_EQ(contents(plain.get(), host.size()), host);
}

TEST_F(DeviceMalloc, M93_BothFreeFunctionsTakeTheBlocks) {
  for (const Allocator& allocator : kThree) {
    void* out = nullptr;
    ASSERT_EQ(allocator.call(&out, 64, policy(kHugeFirst)), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS) << allocator.name;
    ASSERT_EQ(allocator.call(&out, 64, policy(kHugeFirst)), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeWithDevSync(out), ACL_SUCCESS) << allocator.name;
    EXPECT_EQ(free_bytes(), free_before_);
  }
}

}  // namespace device_malloc_test
