// aclrtPointerGetAttributes: where an address is.
#include <cstdlib>
#include <cstring>

#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"
#include "support/allocators.h"
#include "support/fresh_process.h"

namespace pointer_attributes_test {

using namespace belay_test;

class PointerAttributes : public OnDevice {};

constexpr aclError kNowhere = ACL_ERROR_RT_DRV_INTERNAL_ERROR;

aclError ask(const void* pointer) {
  aclrtPtrAttributes attributes{};
  return aclrtPointerGetAttributes(pointer, &attributes);
}

void expect_place(const void* pointer, aclrtMemLocationType type, std::uint32_t id, std::uint32_t page) {
  aclrtPtrAttributes attributes;
  std::memset(&attributes, 0xEE, sizeof attributes);
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, type);
  EXPECT_EQ(attributes.location.id, id);
  EXPECT_EQ(attributes.pageSize, page);
  for (const std::uint32_t word : attributes.rsv) EXPECT_EQ(word, 0xEEEEEEEEU) << "rsv was written";
}

void expect_device(const void* pointer, std::uint32_t id, std::uint32_t page) {
  expect_place(pointer, ACL_MEM_LOCATION_TYPE_DEVICE, id, page);
}

TEST_F(PointerAttributes, M163_M164_NullArguments) {
  const Block block(kMalloc, 64, kHugeFirst);
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(nullptr, &attributes), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(aclrtPointerGetAttributes(block.get(), nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPointerGetAttributes(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(PointerAttributes, M165_ADeviceAddressInNoLiveBlock) {
  Block block(kMalloc, 64, kHugeFirst);
  const Block other(kMalloc, 64, kHugeFirst);
  for (const std::size_t away : {64 * kGB, 512 * kGB}) EXPECT_EQ(ask(block.bytes() + away), kNowhere);
  void* freed = block.release();
  expect_device(freed, 0, kPage4K);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  EXPECT_EQ(ask(freed), kNowhere);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kNowhere);
  expect_device(other.get(), 0, kPage4K);  // though another block is near
}

TEST_F(PointerAttributes, M165_M166_AFailureWritesNothing) {
  const Block block(kMalloc, 64, kHugeFirst);
  aclrtPtrAttributes attributes, untouched;
  std::memset(&attributes, 0xEE, sizeof attributes);
  std::memset(&untouched, 0xEE, sizeof untouched);
  EXPECT_EQ(aclrtPointerGetAttributes(block.bytes() + 512 * kGB, &attributes), kNowhere);
  EXPECT_EQ(std::memcmp(&attributes, &untouched, sizeof attributes), 0);
}

TEST(PointerAttributesAtTheStart, M165_NoPointerIsKnownBeforeADeviceIsOpened) {
  in_fresh_process([] {
    int local = 0;
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(ask(&local), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(ask(reinterpret_cast<void*>(0x120000000000)), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtPointerGetAttributes(nullptr, &attributes), ACL_ERROR_INVALID_PARAM);  // arguments first
    EXPECT_EQ(aclrtPointerGetAttributes(&local, nullptr), ACL_ERROR_INVALID_PARAM);
    without_context([] { EXPECT_EQ(aclrtSetDevice(3), ACL_SUCCESS); });  // any device, any thread
    expect_place(&local, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  });
  in_fresh_process([] {
    int local = 0;
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    EXPECT_EQ(ask(&local), ACL_SUCCESS);
  });
}

TEST_F(PointerAttributes, M166_M167_DeviceMemoryWithItsPageSize) {
  for (const Allocator& allocator : all_allocators()) {
    const Block normal(allocator, 64, kNormalOnly), huge(allocator, 64, kHugeOnly),
        giga(allocator, 64, kHuge1g);
    expect_device(normal.get(), 0, 4096);
    expect_device(huge.get(), 0, 2097152);
    expect_device(giga.get(), 0, 0x40000000);
  }
  const Block read_only(kMalloc, 64, kReadOnly | kHugeOnly);
  expect_device(read_only.get(), 0, 2097152);
}

TEST_F(PointerAttributes, M167_M428_MediaMemoryReportsHugePages) {
  void* block = nullptr;
  ASSERT_EQ(acldvppMalloc(&block, 64), ACL_SUCCESS);
  expect_device(block, 0, 2097152);
  EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
  ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, 3 * kMB), 0);
  expect_device(block, 0, 2097152);
  EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
}

TEST_F(PointerAttributes, M167_TheDeviceNumberIsThatOfTheOwner) {
  std::vector<void*> blocks;
  for (const std::int32_t device : {7, 1, 0}) {
    ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    blocks.push_back(block);
  }
  expect_device(blocks[0], 7, 4096);
  expect_device(blocks[1], 1, 4096);
  expect_device(blocks[2], 0, 4096);
  for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  for (const std::int32_t device : {7, 1, 0}) EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
}

TEST_F(PointerAttributes, M167_HostMemory) {
  void* pinned = nullptr;
  void* configured = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHostWithCfg(&configured, 64, nullptr), ACL_SUCCESS);
  expect_place(pinned, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  expect_place(configured, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  EXPECT_EQ(aclrtFreeHost(configured), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  int local = 0;
  static int global = 0;
  void* heap = std::malloc(64);
  for (const void* pointer :
       {static_cast<const void*>(&local), static_cast<const void*>(&global), static_cast<const void*>(heap),
        static_cast<const void*>("text"), reinterpret_cast<const void*>(1)}) {
    expect_place(pointer, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  }
  std::free(heap);
}

TEST_F(PointerAttributes, M167_RegisteredHostMemoryWhileItIsRegistered) {
  void* heap = std::aligned_alloc(4096, 8192);
  void* device = nullptr;
  expect_place(heap, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  ASSERT_EQ(aclrtHostRegister(heap, 8192, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  expect_place(heap, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  expect_place(static_cast<char*>(heap) + 8191, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  ASSERT_EQ(aclrtHostUnregister(heap), ACL_SUCCESS);
  expect_place(heap, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  std::free(heap);
}

TEST_F(PointerAttributes, M168_InteriorPointersAndNoContext) {
  const Block block(kMalloc, 3 * kMB, kHugeFirst);
  for (const std::size_t inside : {std::size_t{1}, std::size_t{4095}, 2 * kMB, 3 * kMB - 1}) {
    expect_device(block.bytes() + inside, 0, kPage2M);
  }
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  expect_place(static_cast<char*>(pinned) + 63, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
  without_context([&] {
    expect_device(block.get(), 0, kPage2M);
    expect_place(pinned, ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
    expect_place(&pinned, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0);
  });
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST_F(PointerAttributes, M169_TheDeviceAddressOfARegistration) {
  void* heap = std::aligned_alloc(4096, 8192);
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(heap, 8192, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  EXPECT_EQ(ask(device), kNowhere);
  EXPECT_EQ(ask(static_cast<char*>(device) + 5000), kNowhere);
  ASSERT_EQ(aclrtHostUnregister(heap), ACL_SUCCESS);
  std::free(heap);
}

}  // namespace pointer_attributes_test
