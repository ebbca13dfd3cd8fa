// Copy descriptors: size and writing. (Copies that run through them need a stream.)
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "acl/acl.h"
#include "support/device_fixture.h"

namespace copy_descriptor_test {

using belay_test::kGB;
using belay_test::kKB;

constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
const auto kUnknown = static_cast<aclrtMemcpyKind>(8);

class CopyDescriptor : public belay_test::OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    for (void** block : {&descriptor_, &from_, &to_})
      ASSERT_EQ(aclrtMalloc(block, 64 * kKB, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  }
  void TearDown() override {
    for (void* block : {descriptor_, from_, to_}) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    OnDevice::TearDown();
  }
  aclError set(void* descriptor, void* from, void* to, std::size_t count = 100, aclrtMemcpyKind kind = kInner,
               void* config = nullptr) {
    return aclrtSetMemcpyDesc(descriptor, kind, from, to, count, config);
  }
  std::array<unsigned char, 64> read() {
    std::array<unsigned char, 64> bytes{};
    EXPECT_EQ(aclrtMemcpy(bytes.data(), bytes.size(), descriptor_, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return bytes;
  }
  void *descriptor_ = nullptr, *from_ = nullptr, *to_ = nullptr;
};

TEST_F(CopyDescriptor, M323_M324_M326_SizeChecksInOrder) {
  std::size_t size = 77;
  EXPECT_EQ(aclrtGetMemcpyDescSize(kUnknown, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemcpyDescSize(kUnknown, &size), ACL_ERROR_INVALID_PARAM);
  for (int kind = 0; kind < 8; ++kind) {
    const aclError expected = kind == kInner ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    EXPECT_EQ(aclrtGetMemcpyDescSize(static_cast<aclrtMemcpyKind>(kind), &size), expected) << kind;
    if (kind < kInner) EXPECT_EQ(size, 77U);
  }
}

TEST_F(CopyDescriptor, M328_M329_M330_M331_M332_FirstLayer_InOrder) {
  EXPECT_EQ(set(nullptr, nullptr, nullptr, 0, kUnknown, this), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(belay_test::recent_message().find("M-328"), std::string::npos);
  EXPECT_EQ(set(descriptor_, nullptr, nullptr, 0, kUnknown, this), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(belay_test::recent_message().find("M-329"), std::string::npos);
  EXPECT_EQ(set(descriptor_, nullptr, nullptr, 0, kInner, this), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(belay_test::recent_message().find("srcAddr"), std::string::npos);
  EXPECT_EQ(set(descriptor_, from_, nullptr, 0, kInner, this), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(belay_test::recent_message().find("dstAddr"), std::string::npos);
  EXPECT_EQ(set(descriptor_, from_, to_, 0, kInner, this), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(belay_test::recent_message().find("M-331"), std::string::npos);
  EXPECT_EQ(set(descriptor_, from_, to_, 1, ACL_MEMCPY_DEFAULT, this), ACL_ERROR_INVALID_PARAM)
      << "M-332 before M-333";
  EXPECT_NE(belay_test::recent_message().find("M-332"), std::string::npos);
}

TEST_F(CopyDescriptor, M333_OtherKindsHaveNoDescriptor) {
  EXPECT_EQ(set(descriptor_, from_, to_, 5 * kGB, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(CopyDescriptor, M334_FourGigabytesAndNotOneMore) {
  EXPECT_EQ(set(descriptor_, from_, to_, 4 * kGB), ACL_SUCCESS);
  EXPECT_EQ(set(descriptor_, from_, to_, 4 * kGB + 1), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyDescriptor, M335_M336_M337_M338_SecondLayer) {
  char* base = static_cast<char*>(descriptor_);
  for (const int off : {1, 32, 63}) EXPECT_EQ(set(base + off, from_, to_), ACL_ERROR_RT_PARAM_INVALID) << off;
  EXPECT_EQ(set(base + 64, from_, to_), ACL_SUCCESS);

  void* gone = nullptr;
  ASSERT_EQ(aclrtMalloc(&gone, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(gone), ACL_SUCCESS);
  EXPECT_EQ(set(gone, from_, to_), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(set(descriptor_, gone, to_), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(set(descriptor_, from_, gone), ACL_ERROR_RT_DRV_INTERNAL_ERROR);

  alignas(64) std::array<char, 64> host{};
  EXPECT_EQ(set(host.data(), from_, to_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(set(descriptor_, host.data(), to_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(set(descriptor_, from_, host.data()), ACL_ERROR_RT_PARAM_INVALID);

  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  void* elsewhere = nullptr;
  ASSERT_EQ(aclrtMalloc(&elsewhere, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(set(descriptor_, elsewhere, to_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(elsewhere), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(CopyDescriptor, M339_WithoutAContext) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(set(descriptor_, from_, to_), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(set(static_cast<char*>(descriptor_) + 1, from_, to_), ACL_ERROR_RT_PARAM_INVALID)
      << "M-335 before M-339";
}

TEST_F(CopyDescriptor, M340_AddressesStandAtBytes16And24_AtOnce_AndNothingBehindIsTouched) {
  ASSERT_EQ(aclrtMemset(descriptor_, 64 * kKB, 0x5A, 64 * kKB), ACL_SUCCESS);
  ASSERT_EQ(set(descriptor_, from_, to_, 1234), ACL_SUCCESS);
  const std::array<unsigned char, 64> bytes = read();
  void* address = nullptr;
  std::memcpy(&address, bytes.data() + 16, sizeof address);
  EXPECT_EQ(address, from_);
  std::memcpy(&address, bytes.data() + 24, sizeof address);
  EXPECT_EQ(address, to_);
  for (std::size_t i = 32; i < 64; ++i) EXPECT_EQ(bytes[i], 0x5A) << i;
  ASSERT_EQ(set(descriptor_, to_, from_, 1234), ACL_SUCCESS);
  EXPECT_NE(read(), bytes) << "a second call changes it at once";
}

}  // namespace copy_descriptor_test
