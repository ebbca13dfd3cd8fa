// aclrtPointerGetAttributes for managed, mapped and reserved addresses, beside plain ones.
#include <cstring>

#include "support/fresh_process.h"
#include "support/managed.h"
#include "support/registered.h"
#include "support/sanitizer.h"

namespace pointer_attributes_virtual_test {

using namespace belay_test;

class PointerAttributesVirtual : public OnTwoDevices {};

void expect_at(const void* pointer, int type, std::uint32_t id, std::uint32_t page, const char* what) {
  aclrtPtrAttributes got;
  std::memset(&got, 0xEE, sizeof got);
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &got), ACL_SUCCESS) << what;
  EXPECT_EQ(static_cast<int>(got.location.type), type) << what;
  EXPECT_EQ(got.location.id, id) << what;
  EXPECT_EQ(got.pageSize, page) << what;
  for (const std::uint32_t word : got.rsv) EXPECT_EQ(word, 0xEEEEEEEEU) << what << ": rsv was written";
}

int refusal_at(const void* pointer) {
  aclrtPtrAttributes got;
  std::memset(&got, 0xEE, sizeof got);
  const int answer = aclrtPointerGetAttributes(pointer, &got);
  if (answer != ACL_SUCCESS) {
    EXPECT_EQ(got.pageSize, 0xEEEEEEEEU) << "a failure writes nothing";
  }
  return answer;
}

constexpr std::uint32_t kSmall = 4096, kLarge = 2097152, kGiant = 1073741824;

// Physical memory of some place, mapped at the start of a reservation.
class Mapping {
 public:
  Mapping(int type, std::uint32_t id, aclrtMemAttr attribute, std::size_t size) {
    EXPECT_EQ(aclrtReserveMemAddress(&start_, 2 * size, 0, nullptr, 0), ACL_SUCCESS);
    aclrtPhysicalMemProp prop{};
    prop.memAttr = attribute;
    prop.location = {id, as_enum<aclrtMemLocationType>(type)};
    EXPECT_EQ(aclrtMallocPhysical(&handle_, size, &prop, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMapMem(start_, size, 0, handle_, 0), ACL_SUCCESS);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    unmap();
    EXPECT_EQ(aclrtFreePhysical(handle_), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(start_), ACL_SUCCESS);
  }
  void* get(std::size_t offset = 0) const { return at(start_, offset); }
  void unmap() {
    if (mapped_) {
      EXPECT_EQ(aclrtUnmapMem(start_), ACL_SUCCESS);
    }
    mapped_ = false;
  }

 private:
  void* start_ = nullptr;
  aclrtDrvMemHandle handle_ = nullptr;
  bool mapped_ = true;
};

TEST_F(PointerAttributesVirtual, V341_NullArguments_AndNoContext) {
  const Managed managed{64};
  aclrtPtrAttributes got{};
  EXPECT_EQ(aclrtPointerGetAttributes(nullptr, &got), kBadArgument);
  EXPECT_EQ(aclrtPointerGetAttributes(managed.get(), nullptr), kBadArgument);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  without_context([&] { expect_at(managed.get(), ACL_MEM_LOCATION_TYPE_MANAGED, 0, kLarge, "no context"); });
}

TEST_F(PointerAttributesVirtual, V342_V343_V344_V345_V354_PlainMemory) {
  const Device small{64}, large{64, ACL_MEM_MALLOC_HUGE_ONLY};
  const Pinned pinned{64};
  const Registered registered;
  static int fixed = 0;
  int local = 0;
  expect_at(small.get(), ACL_MEM_LOCATION_TYPE_DEVICE, 0, kSmall, "normal pages");
  expect_at(large.get(), ACL_MEM_LOCATION_TYPE_DEVICE, 0, kLarge, "huge pages");
  make_current(1);
  {
    const Device there{64};
    expect_at(there.get(), ACL_MEM_LOCATION_TYPE_DEVICE, 1, kSmall, "another device");
    expect_at(pinned.get(), ACL_MEM_LOCATION_TYPE_HOST, 0, kSmall, "pinned, seen from device 1");
  }
  make_current(0);
  expect_at(registered.get(), ACL_MEM_LOCATION_TYPE_HOST, 0, kSmall, "registered");
  expect_at(&local, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0, "stack");
  expect_at(&fixed, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0, "static");
}

TEST_F(PointerAttributesVirtual, V346_ManagedMemory_WhereverItsPagesAre) {
  const Managed block{3 * kManagedPage};
  expect_at(block.get(), ACL_MEM_LOCATION_TYPE_MANAGED, 0, kLarge, "never used");
  EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
  expect_at(block.get(), ACL_MEM_LOCATION_TYPE_MANAGED, 0, kLarge, "on device 0");
  make_current(1);
  EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
  expect_at(block.get(), ACL_MEM_LOCATION_TYPE_MANAGED, 0, kLarge, "on device 1");
  make_current(0);
  EXPECT_EQ(prefer(block.page(1), 1, host_side()), ACL_SUCCESS);
  expect_at(block.page(1), ACL_MEM_LOCATION_TYPE_MANAGED, 0, kLarge, "on the host");
}

TEST_F(PointerAttributesVirtual, V347_V353_MappedDeviceMemory) {
  for (const std::uint32_t device : {0U, 1U}) {
    for (const aclrtMemAttr attribute : {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL, ACL_MEM_P2P_HUGE}) {
      const Mapping mapping{ACL_MEM_LOCATION_TYPE_DEVICE, device, attribute, 2 * kManagedPage};
      for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, kManagedPage, 2 * kManagedPage - 1})
        expect_at(mapping.get(offset), ACL_MEM_LOCATION_TYPE_DEVICE, device, kLarge, "mapped");
      EXPECT_EQ(refusal_at(mapping.get(2 * kManagedPage)), kStale) << "V-350: the rest is only reserved";
    }
  }
}

TEST_F(PointerAttributesVirtual, V347_PagesOf1GB) {
  const Mapping mapping{ACL_MEM_LOCATION_TYPE_DEVICE, 1, ACL_HBM_MEM_HUGE1G, kGB};
  for (const std::size_t offset : {std::size_t{0}, kMB, kGB - 1})
    expect_at(mapping.get(offset), ACL_MEM_LOCATION_TYPE_DEVICE, 1, kGiant, "mapped");
}

TEST_F(PointerAttributesVirtual, V348_V354_MappedHostMemory_AlsoOfANode) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no addresses that host code can use";
  for (const int type : {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_HOST_NUMA}) {
    for (const aclrtMemAttr attribute : {ACL_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_NORMAL}) {
      const Mapping mapping{type, 0, attribute, kManagedPage};
      expect_at(mapping.get(), ACL_MEM_LOCATION_TYPE_HOST, 0, kSmall, "start");
      expect_at(mapping.get(kManagedPage - 1), ACL_MEM_LOCATION_TYPE_HOST, 0, kSmall, "last byte");
    }
  }
}

TEST_F(PointerAttributesVirtual, V350_ReservedAddresses) {
  void* reserved = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&reserved, 4 * kManagedPage, 0, nullptr, 0), ACL_SUCCESS);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, 4 * kManagedPage - 1})
    EXPECT_EQ(refusal_at(at(reserved, offset)), kStale) << offset;
  EXPECT_EQ(last_error(), kStale);
  EXPECT_EQ(aclrtReleaseMemAddress(reserved), ACL_SUCCESS);
  EXPECT_EQ(refusal_at(reserved), kRefused) << "V-351: nothing is there any more";
  Mapping mapping{ACL_MEM_LOCATION_TYPE_DEVICE, 0, ACL_HBM_MEM_HUGE, kManagedPage};
  mapping.unmap();
  EXPECT_EQ(refusal_at(mapping.get()), kStale) << "unmapped again";
}

TEST(PointerAttributesVirtualAtTheStart, V350_BeforeADeviceIsOpened) {
  in_fresh_process([] {
    int local = 0;
    EXPECT_EQ(refusal_at(&local), kStale);
    EXPECT_EQ(refusal_at(reinterpret_cast<void*>(std::uintptr_t{0x90000000000})), kStale);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(refusal_at(&local), ACL_SUCCESS);
  });
}

TEST_F(PointerAttributesVirtual, V351_FreedDeviceMemory) {
  Device block{64, ACL_MEM_MALLOC_HUGE_ONLY};
  void* const was = block.free_now();
  EXPECT_EQ(refusal_at(was), kRefused);
  EXPECT_EQ(refusal_at(at(was, kGB)), kRefused) << "never used";
}

TEST_F(PointerAttributesVirtual, V352_DeviceAddressesOfTheHost) {
  const Pages memory{1};
  void* device = nullptr;
  ASSERT_EQ(aclrtHostRegister(memory.get(), 4096, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  EXPECT_EQ(refusal_at(device), kRefused);
  EXPECT_EQ(aclrtHostUnregister(memory.get()), ACL_SUCCESS);
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig config{&attribute, 1};
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHostWithCfg(&host, 4096, &config), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  EXPECT_EQ(device, host);
  expect_at(device, ACL_MEM_LOCATION_TYPE_HOST, 0, kSmall, "the host address itself");
  EXPECT_EQ(aclrtHostUnregister(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
}

TEST_F(PointerAttributesVirtual, V353_InsideManagedBlocks) {
  const Managed block{kManagedPage + 1};
  for (const std::size_t offset : {std::size_t{1}, kManagedPage - 1, kManagedPage, 2 * kManagedPage - 1})
    expect_at(block.get(offset), ACL_MEM_LOCATION_TYPE_MANAGED, 0, kLarge, "up to the end of its last page");
}

}  // namespace pointer_attributes_virtual_test
