// Data buffers: pairs of address and size.
#include <cstdint>
#include <string>
#include <vector>

#include "support/device_fixture.h"
#include "support/fresh_process.h"

// The 32-bit getter is deprecated and tested all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace data_buffer_test {

using belay_test::in_fresh_process;

void expect_pair(const aclDataBuffer* buffer, const void* data, std::size_t size) {
  EXPECT_EQ(aclGetDataBufferAddr(buffer), data);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), size);
  EXPECT_EQ(aclGetDataBufferSize(buffer), static_cast<std::uint32_t>(size));
}

TEST(DataBuffer, R231_NothingIsChecked) {
  in_fresh_process([] {  // no device, no context, no aclInit
    int here = 0;
    struct {
      void* data;
      std::size_t size;
    } const pairs[] = {{nullptr, 0},      {nullptr, 100},
                       {&here, 0},        {&here, sizeof here},
                       {&here, SIZE_MAX}, {reinterpret_cast<void*>(std::uintptr_t{1}), 1}};
    for (const auto& [data, size] : pairs) {
      aclDataBuffer* const buffer = aclCreateDataBuffer(data, size);
      ASSERT_NE(buffer, nullptr);
      expect_pair(buffer, data, size);
      EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
    }
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  });
}

TEST(DataBuffer, R231_EveryPairIsItsOwn) {
  std::vector<aclDataBuffer*> buffers;
  std::vector<int> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i) buffers.push_back(aclCreateDataBuffer(&data[i], i));
  for (std::size_t i = 0; i < data.size(); ++i) expect_pair(buffers[i], &data[i], i);
  for (aclDataBuffer* const buffer : buffers) EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

class DataBufferOnDevice : public belay_test::OnDevice {};

TEST_F(DataBufferOnDevice, R232_TheMemoryStaysTheCallers) {
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(aclrtMalloc(&first, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&second, 8192, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  aclDataBuffer* const buffer = aclCreateDataBuffer(first, 4096);
  ASSERT_NE(buffer, nullptr);
  const std::size_t free_now = belay_test::free_bytes();

  EXPECT_EQ(aclUpdateDataBuffer(buffer, second, 8192), ACL_SUCCESS);
  expect_pair(buffer, second, 8192);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, 0), ACL_SUCCESS);
  expect_pair(buffer, nullptr, 0);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, second, 8192), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);

  EXPECT_EQ(belay_test::free_bytes(), free_now) << "nothing was freed";
  EXPECT_EQ(aclrtMemset(first, 4096, 1, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(second, 8192, 1, 8192), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
}

TEST(DataBuffer, R233_WhatIsNoLiveDataBuffer_CannotBeDestroyed) {
  int here = 0;
  aclDataBuffer* const buffer = aclCreateDataBuffer(&here, 4);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_ERROR_INVALID_PARAM) << "destroyed twice";
  EXPECT_EQ(aclDestroyDataBuffer(reinterpret_cast<aclDataBuffer*>(&here)), ACL_ERROR_INVALID_PARAM);
  const char* const words = aclGetRecentErrMsg();
  ASSERT_NE(words, nullptr);
  EXPECT_NE(std::string{words}.find("is not a live data buffer"), std::string::npos) << words;
}

TEST(DataBuffer, R233_Null) {
  int here = 0;
  EXPECT_EQ(aclDestroyDataBuffer(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclUpdateDataBuffer(nullptr, &here, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclUpdateDataBuffer(nullptr, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
  EXPECT_EQ(aclGetDataBufferSize(nullptr), 0U);
  EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0U);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST(DataBuffer, R234_TheOldSizeHas32Bits) {
  aclDataBuffer* const buffer = aclCreateDataBuffer(nullptr, (std::size_t{1} << 32) + 5);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 5U);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), (std::size_t{1} << 32) + 5);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, std::size_t{7} << 32), ACL_SUCCESS);
  EXPECT_EQ(aclGetDataBufferSize(buffer), 0U);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, UINT32_MAX), ACL_SUCCESS);
  EXPECT_EQ(aclGetDataBufferSize(buffer), UINT32_MAX);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
}

}  // namespace data_buffer_test
