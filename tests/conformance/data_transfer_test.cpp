// The data-transfer flow: every direction, blocks of 1 MB, each freed by its own function.
#include <cstdlib>

#include "support/blocks.h"

namespace data_transfer_test {

using namespace belay_test;

class DataTransfer : public OnDevice {};

constexpr std::size_t kSize = kMB;

TEST_F(DataTransfer, M440_HostHostDeviceDeviceHost_EveryByteArrives) {
  void *host = nullptr, *first = nullptr, *second = nullptr, *back = nullptr;
  void* const plain = std::malloc(kSize);
  ASSERT_NE(plain, nullptr);
  ASSERT_EQ(aclrtMallocHost(&host, kSize), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&back, kSize), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&first, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&second, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  const Bytes bytes = pattern(kSize, 40);
  std::copy(bytes.begin(), bytes.end(), at(plain, 0));
  EXPECT_EQ(aclrtMemcpy(host, kSize, plain, kSize, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(first, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(second, kSize, first, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back, kSize, second, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(back, 0)));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(host, 0)));
  EXPECT_EQ(aclrtFree(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(back), ACL_SUCCESS);
  std::free(plain);
}

TEST_F(DataTransfer, M440_TheSameWithPlainHostMemoryOnly) {
  Bytes source = pattern(kSize, 41), back(kSize);
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(device, kSize, source.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back.data(), kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back, source);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(DataTransfer, M440_WithInitAndFinalizeAroundIt) {
  const aclError init = aclInit(nullptr);
  EXPECT_TRUE(init == ACL_SUCCESS || init == ACL_ERROR_REPEAT_INITIALIZE) << init;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtRunMode mode = ACL_DEVICE;
  ASSERT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_HOST);
  {
    Pinned host{kSize};
    Device device{kSize};
    ASSERT_EQ(aclrtMemset(host.get(), kSize, 0x6B, kSize), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device.get(), kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(read_from(device.get(), kSize), Bytes(kSize, 0x6B));
  }
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace data_transfer_test
