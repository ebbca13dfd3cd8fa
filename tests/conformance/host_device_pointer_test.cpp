// What registration gives: device addresses, attributes, and the capability query.
#include <cstring>

#include "support/blocks.h"

namespace host_device_pointer_test {

using namespace belay_test;

class HostDevicePointer : public OnDevice {};

constexpr std::uint32_t kMapped = ACL_HOST_REG_MAPPED, kPinnedFlag = ACL_HOST_REG_PINNED;

aclrtPtrAttributes attributes_of(const void* pointer) {
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
  return attributes;
}

TEST_F(HostDevicePointer, M210_AddressLiesInARangeOfItsOwn) {
  Pages plain{2};
  Pinned pinned{8192};
  Device device{8192};
  std::vector<std::uintptr_t> seen;
  for (void* start : {plain.get(), pinned.get()}) {
    void* address = nullptr;
    ASSERT_EQ(aclrtHostRegister(start, 8192, ACL_HOST_REGISTER_MAPPED, &address), ACL_SUCCESS);
    EXPECT_NE(address, nullptr);
    for (void* other : {plain.get(), pinned.get(), device.get()}) {
      EXPECT_TRUE(number(address) + 8192 <= number(other) || number(other) + 8192 <= number(address));
    }
    for (const std::uintptr_t other : seen) EXPECT_NE(other, number(address));
    seen.push_back(number(address));
  }
  EXPECT_EQ(aclrtHostUnregister(plain.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(pinned.get()), ACL_SUCCESS);
}

TEST_F(HostDevicePointer, M210_M169_CopyingFillingOrAskingWithIt_Is507899_NothingChanges) {
  Pages memory{1};
  const Bytes before(at(memory.get(), 0), at(memory.get(), 4096));
  void* address = nullptr;
  ASSERT_EQ(aclrtHostRegister(memory.get(), 4096, ACL_HOST_REGISTER_MAPPED, &address), ACL_SUCCESS);
  Bytes local = pattern(64, 9);
  const Bytes kept = local;
  Device device{64};
  EXPECT_EQ(aclrtMemcpy(address, 64, local.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
  EXPECT_EQ(aclrtMemcpy(local.data(), 64, address, 64, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
  EXPECT_EQ(aclrtMemcpy(device.get(), 64, address, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
  EXPECT_EQ(aclrtMemcpy(at(address, 4095), 1, local.data(), 1, ACL_MEMCPY_DEFAULT), kRefused);
  EXPECT_EQ(aclrtMemset(address, 64, 1, 64), kRefused);
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(address, &attributes), kRefused);
  EXPECT_EQ(local, kept);
  EXPECT_EQ(std::memcmp(memory.get(), before.data(), 4096), 0);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(local.data(), 64, address, 64, ACL_MEMCPY_DEFAULT), kRefused)
      << "gone, and still no host";
}

TEST_F(HostDevicePointer, M211_V2Mapped_GivesTheAddress_OnBothWaysTheSame) {
  Pages memory{2};
  for (const std::uint32_t flag : {kMapped, kMapped | kPinnedFlag}) {
    ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 8192, flag), ACL_SUCCESS) << flag;
    void *first = nullptr, *second = nullptr;
    EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &first, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &second, 0), ACL_SUCCESS);
    EXPECT_NE(first, nullptr);
    EXPECT_EQ(first, second);
    EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
  }
  void *registered = nullptr, *asked = nullptr;
  ASSERT_EQ(aclrtHostRegister(memory.get(), 8192, ACL_HOST_REGISTER_MAPPED, &registered), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &asked, 0), ACL_SUCCESS);
  EXPECT_EQ(asked, registered);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostDevicePointer, M211_M218_PinnedAlone_GivesNoAddress) {
  Pages memory{1};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, kPinnedFlag), ACL_SUCCESS);
  void* address = sentinel();
  EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &address, 0), kBadValue);
  EXPECT_EQ(address, sentinel());
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostDevicePointer, M212_ReportsAsHost_WhileRegistered_WithEitherFlag) {
  Pages memory{3};
  for (const std::uint32_t flag : {kMapped, kPinnedFlag, kMapped | kPinnedFlag}) {
    EXPECT_EQ(attributes_of(memory.get(4096)).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    ASSERT_EQ(aclrtHostRegisterV2(memory.get(4096), 4096, flag), ACL_SUCCESS);
    for (const std::size_t offset : {4096U, 5000U, 8191U}) {
      const aclrtPtrAttributes attributes = attributes_of(memory.get(offset));
      EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST) << flag << " " << offset;
      EXPECT_EQ(attributes.location.id, 0U);
      EXPECT_EQ(attributes.pageSize, 4096U);
    }
    EXPECT_EQ(attributes_of(memory.get(4095)).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    EXPECT_EQ(attributes_of(memory.get(8192)).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    ASSERT_EQ(aclrtHostUnregister(memory.get(4096)), ACL_SUCCESS);
    EXPECT_EQ(attributes_of(memory.get(4096)).location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  }
}

TEST_F(HostDevicePointer, M212_RegisteredMemoryIsCopiedAndFilledLikePinnedMemory) {
  Pages memory{1};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, kMapped), ACL_SUCCESS);
  Device device{4096};
  const Bytes before(at(memory.get(), 0), at(memory.get(), 4096));
  EXPECT_EQ(aclrtMemcpy(device.get(), 4096, memory.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(device.get(), 4096), before);
  EXPECT_EQ(aclrtMemset(memory.get(), 4096, 0x3C, 4096), ACL_SUCCESS);
  EXPECT_EQ(*at(memory.get(), 4095), 0x3C);
  EXPECT_EQ(aclrtMemcpy(memory.get(), 4096, device.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(memory.get(), before.data(), 4096), 0);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostDevicePointer, M214_M215_M216_NullsAndFlag_Are100000_BeforeTheContext) {
  Pages memory{1};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, kMapped), ACL_SUCCESS);
  void* address = sentinel();
  const auto calls = [&] {
    EXPECT_EQ(aclrtHostGetDevicePointer(nullptr, &address, 0), kBadArgument);
    EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), nullptr, 0), kBadArgument);
    EXPECT_EQ(aclrtHostGetDevicePointer(nullptr, nullptr, 1), kBadArgument);
    for (const std::uint32_t flag : {1U, 2U, 0x80000000U, 0xFFFFFFFFU}) {
      EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &address, flag), kBadArgument) << flag;
      EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(64), &address, flag), kBadArgument) << flag;
    }
  };
  calls();
  without_context(calls);
  EXPECT_EQ(address, sentinel());
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostDevicePointer, M217_NoContext_Is107002_BeforeTheLookUp) {
  Pages memory{1};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(), 4096, kMapped), ACL_SUCCESS);
  without_context([&] {
    void* address = sentinel();
    EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(), &address, 0), kNoContext);
    EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(64), &address, 0), kNoContext);
    EXPECT_EQ(address, sentinel());
  });
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
}

TEST_F(HostDevicePointer, M218_NotTheStartOfAMappedRegistration_Is107000) {
  Pages memory{3};
  ASSERT_EQ(aclrtHostRegisterV2(memory.get(4096), 4096, kMapped), ACL_SUCCESS);
  void* address = sentinel();
  for (const std::size_t offset : {0U, 4095U, 4097U, 4160U, 8191U, 8192U}) {
    EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(offset), &address, 0), kBadValue) << offset;
  }
  Pinned pinned{4096};
  EXPECT_EQ(aclrtHostGetDevicePointer(pinned.get(), &address, 0), kBadValue);
  Device device{64};
  EXPECT_EQ(aclrtHostGetDevicePointer(device.get(), &address, 0), kBadValue);
  EXPECT_EQ(aclrtHostUnregister(memory.get(4096)), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostGetDevicePointer(memory.get(4096), &address, 0), kBadValue);
  EXPECT_EQ(address, sentinel());
  EXPECT_EQ(last_error(), kBadValue);
}

constexpr auto kAnyUnit = ACL_RT_HAC_TYPE_SDMA;

aclrtHacType unit_of(int value) { return static_cast<aclrtHacType>(value); }

TEST_F(HostDevicePointer, M223_Capabilities_NullOutput_Is100000_First) {
  EXPECT_EQ(aclrtHostMemMapCapabilities(0, kAnyUnit, nullptr), kBadArgument);
  EXPECT_EQ(aclrtHostMemMapCapabilities(999, unit_of(99), nullptr), kBadArgument);
  without_context([] { EXPECT_EQ(aclrtHostMemMapCapabilities(0, kAnyUnit, nullptr), kBadArgument); });
}

TEST_F(HostDevicePointer, M224_M225_M226_DeviceThenUnitThenContext) {
  std::uint32_t devices = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
  aclrtHostMemMapCapability answer = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;  // A2 would answer the other
  const auto calls = [&] {
    for (const std::uint32_t device : {devices, devices + 1, 64U, 0x80000000U, 0xFFFFFFFFU}) {
      EXPECT_EQ(aclrtHostMemMapCapabilities(device, kAnyUnit, &answer), kBadDevice) << device;
      EXPECT_EQ(aclrtHostMemMapCapabilities(device, unit_of(10), &answer), kBadDevice) << device;
    }
    for (const int unit : {10, 11, 100, -1}) {
      EXPECT_EQ(aclrtHostMemMapCapabilities(devices - 1, unit_of(unit), &answer), kBadValue) << unit;
    }
  };
  calls();
  without_context(calls);
  without_context([&] {
    for (int unit = 0; unit <= 9; ++unit) {
      EXPECT_EQ(aclrtHostMemMapCapabilities(0, unit_of(unit), &answer), kNoContext) << unit;
    }
  });
  EXPECT_EQ(answer, ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED);
}

}  // namespace host_device_pointer_test
