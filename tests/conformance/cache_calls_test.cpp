// aclrtMemFlush and aclrtMemInvalidate: two calls that check their arguments and do nothing.
#include "support/allocators.h"

namespace cache_calls_test {

using namespace belay_test;

class CacheCalls : public OnDevice {};

constexpr aclError (*kBoth[])(void*, std::size_t) = {&aclrtMemFlush, &aclrtMemInvalidate};

TEST_F(CacheCalls, M125_M126_NullAndZero) {
  const Block block(kCached, 64, kHugeFirst);
  for (const auto call : kBoth) {
    EXPECT_EQ(call(nullptr, 64), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
    EXPECT_EQ(call(block.get(), 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(call(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(CacheCalls, M127_ContextComesBehindTheArguments) {
  const Block block(kCached, 64, kHugeFirst);
  without_context([&] {
    for (const auto call : kBoth) {
      EXPECT_EQ(call(nullptr, 64), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(call(block.get(), 0), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(call(block.get(), 64), ACL_ERROR_RT_CONTEXT_NULL);
    }
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(CacheCalls, M129_NothingHappens) {
  const Block block(kCached, 5000, kHugeFirst);
  ASSERT_EQ(aclrtMemset(block.get(), 5000, 3, 5000), ACL_SUCCESS);
  const std::size_t before = free_bytes();
  for (const auto call : kBoth) {
    EXPECT_EQ(call(block.get(), 5000), ACL_SUCCESS);
    EXPECT_EQ(call(block.bytes() + 17, 1), ACL_SUCCESS);
  }
  EXPECT_EQ(contents(block.get(), 5000), std::vector<unsigned char>(5000, 3));
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(recent_message(), "");
}

TEST_F(CacheCalls, M130_TheRangeNeedNotBeAllocated) {
  Block block(kCached, 64, kHugeFirst);
  int local = 5;
  for (const auto call : kBoth) {
    EXPECT_EQ(call(block.get(), 100 * kGB), ACL_SUCCESS);  // far behind the end
    EXPECT_EQ(call(block.bytes() + 512 * kGB, 64), ACL_SUCCESS);
    EXPECT_EQ(call(&local, sizeof local), ACL_SUCCESS);
    EXPECT_EQ(call(reinterpret_cast<void*>(1), SIZE_MAX), ACL_SUCCESS);
  }
  EXPECT_EQ(local, 5);
  void* freed = block.release();
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  for (const auto call : kBoth) EXPECT_EQ(call(freed, 64), ACL_SUCCESS);
}

}  // namespace cache_calls_test
