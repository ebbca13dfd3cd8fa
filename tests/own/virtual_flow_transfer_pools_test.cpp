// A library that moves data between machines: pools of device and host memory with fall-backs where a
// product or a driver lacks something.
#include "support/client_flows.h"
#include "support/sanitizer.h"

namespace virtual_flow_transfer_pools_test {

using namespace belay_test;

constexpr std::uintptr_t kTB = std::uintptr_t{1} << 40U;

constexpr std::size_t kPool = 64 * kMB;

// A host pool: the first of these kinds that works.
struct Kind {
  aclrtMemLocationType place;
  aclrtMemAttr attribute;
};
constexpr Kind kKinds[] = {{ACL_MEM_LOCATION_TYPE_HOST_NUMA, ACL_MEM_P2P_HUGE1G},
                           {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_P2P_HUGE1G},
                           {ACL_MEM_LOCATION_TYPE_HOST_NUMA, ACL_MEM_P2P_HUGE},
                           {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_P2P_HUGE}};

void use_a_host_pool() {
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  aclrtDrvMemHandle handle = nullptr;
  std::size_t tried = 0;
  for (const Kind& kind : kKinds) {
    const auto prop = memory_at(kind.place, 0, kind.attribute);
    const aclError code = aclrtMallocPhysical(&handle, kPool, &prop, 0);
    if (code == ACL_SUCCESS) break;
    EXPECT_EQ(code, kUnsupported) << tried;
    ++tried;
  }
  ASSERT_EQ(tried, 2U) << "host memory has no 1 GB pages";
  EXPECT_EQ(books.taken(), 0U);

  void* pool = nullptr;
  FLOW_STEP(aclrtReserveMemAddress(&pool, kPool, 0, nullptr, 1));
  FLOW_STEP(aclrtMapMem(pool, kPool, 0, handle, 0));
  aclrtMemAccessDesc access{};
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  access.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  FLOW_STEP(aclrtMemSetAccess(pool, kPool, &access, 1));
  for (aclrtMemLocation place :
       {aclrtMemLocation{0, ACL_MEM_LOCATION_TYPE_DEVICE}, aclrtMemLocation{0, ACL_MEM_LOCATION_TYPE_HOST}}) {
    std::uint64_t granted = 0;
    FLOW_STEP(aclrtMemGetAccess(pool, &place, &granted));
    EXPECT_EQ(granted, std::uint64_t{ACL_RT_MEM_ACCESS_FLAGS_READWRITE}) << place.type;
  }

  // Blocks of the pool are copied to the device and back; the last one ends with the pool.
  aclrtStream stream = nullptr;
  FLOW_STEP(aclrtCreateStream(&stream));
  constexpr std::size_t kBytes = 64 * kKB;
  Device device{kBytes};
  for (const std::size_t offset : {std::size_t{0}, 2 * kMB - 512, kPool - kBytes}) {
    const Bytes bytes = pattern(kBytes, static_cast<unsigned>(offset));
    write_to(at(pool, offset), bytes);
    FLOW_STEP(
        aclrtMemcpyAsync(device.get(), kBytes, at(pool, offset), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    FLOW_STEP(aclrtSynchronizeStream(stream));
    FLOW_STEP(aclrtMemset(at(pool, offset), kBytes, 0, kBytes));
    FLOW_STEP(
        aclrtMemcpyAsync(at(pool, offset), kBytes, device.get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    FLOW_STEP(aclrtSynchronizeStream(stream));
    EXPECT_EQ(read_from(at(pool, offset), kBytes), bytes) << offset;
  }
  FLOW_STEP(aclrtDestroyStream(stream));

  // Its order: the address goes before the memory.
  FLOW_STEP(aclrtUnmapMem(pool));
  FLOW_STEP(aclrtReleaseMemAddress(pool));
  FLOW_STEP(aclrtFreePhysical(handle));
  EXPECT_EQ(aclrtFreePhysical(handle), kBadValue);
}

TEST(VirtualFlowTransferPools, V509_V510_V180_AHostPool_IsMadeOfTheFirstKindThatWorks) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no addresses that host code can use";
  on_a2_and_a3({{"BELAY_PIN", "best-effort"}}, use_a_host_pool);
}

TEST(VirtualFlowTransferPools, V509_V441_ADevicePool_IsGivenBackAddressFirst) {
  on_a2_and_a3({}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    const auto prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, 0, ACL_HBM_MEM_HUGE);
    aclrtDrvMemHandle handle = nullptr;
    void* pool = nullptr;
    FLOW_STEP(aclrtMallocPhysical(&handle, 8 * kMB, &prop, 0));
    FLOW_STEP(aclrtReserveMemAddress(&pool, 8 * kMB, 0, nullptr, 1));
    FLOW_STEP(aclrtMapMem(pool, 8 * kMB, 0, handle, 0));
    const Bytes bytes = pattern(64 * kKB, 2);
    write_to(at(pool, 8 * kMB - bytes.size()), bytes);
    EXPECT_EQ(read_from(at(pool, 8 * kMB - bytes.size()), bytes.size()), bytes);
    FLOW_STEP(aclrtUnmapMem(pool));
    FLOW_STEP(aclrtReleaseMemAddress(pool));
    EXPECT_EQ(books.taken(), 8 * kMB);
    FLOW_STEP(aclrtFreePhysical(handle));
    EXPECT_EQ(books.taken(), 0U);
  });
}

// Maps memory of both devices into it, far apart where there is room.
void use_addresses(void* start, std::size_t size, bool bound) {
  const MemoryBooks books;
  std::vector<aclrtDrvMemHandle> handles(2);
  const std::size_t places[] = {0, size - 2 * kFlowPage};
  for (std::uint32_t device = 0; device < 2; ++device) {
    const std::uint32_t of = bound ? 0 : device;
    const auto prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, of, ACL_HBM_MEM_HUGE);
    FLOW_STEP(aclrtMallocPhysical(&handles[device], kFlowPage, &prop, 0));
    FLOW_STEP(aclrtMapMem(at(start, places[device]), kFlowPage, 0, handles[device], 0)) << device;
    FLOW_STEP(aclrtSetDevice(static_cast<std::int32_t>(of)));
    write_to(at(start, places[device]), pattern(1000, device));
    aclrtPtrAttributes attributes{};
    FLOW_STEP(aclrtPointerGetAttributes(at(start, places[device]), &attributes));
    EXPECT_EQ(attributes.location.id, of);
  }
  for (unsigned device = 0; device < 2; ++device) {
    EXPECT_EQ(read_from(at(start, places[device]), 1000), pattern(1000, device)) << device;
    FLOW_STEP(aclrtUnmapMem(at(start, places[device])));
  }
  FLOW_STEP(aclrtReleaseMemAddress(start));
  for (const aclrtDrvMemHandle handle : handles) FLOW_STEP(aclrtFreePhysical(handle));
  FLOW_STEP(aclrtSetDevice(0));
  EXPECT_EQ(books.taken(), 0U);
}

void reserve_with_a_fall_back(aclError expected) {
  FLOW_STEP(aclrtSetDevice(1));
  FLOW_STEP(aclrtSetDevice(0));
  void* const wished = reinterpret_cast<void*>(40 * kTB);
  void* start = nullptr;
  const aclError code = aclrtReserveMemAddressNoUCMemory(&start, 32 * kTB, 0, wished, 1);
  ASSERT_EQ(code, expected);
  if (code == ACL_SUCCESS) {
    EXPECT_EQ(start, wished);
    use_addresses(start, 32 * kTB, false);
  } else {
    FLOW_STEP(aclrtReserveMemAddress(&start, 64 * kGB, 0, nullptr, 1));
    use_addresses(start, 64 * kGB, true);
  }
}

TEST(VirtualFlowTransferPools, V511_V92_OnA3_32TBAreReservedAt40TB) {
  if (kUnderASanitizer) GTEST_SKIP() << "the sanitizers use some of these addresses";
  on_each({"A3"}, {}, [] { reserve_with_a_fall_back(ACL_SUCCESS); });
}

// The pool is set up once in a process; whoever tries again is told.
TEST(VirtualFlowTransferPools, V89_OnA3_AddressesThatAreReserved_AreNotReservedAgain) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << "this sanitizer leaves no such addresses";
  on_each({"A3"}, {}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    void *first = nullptr, *second = nullptr;
    void* const wished = reinterpret_cast<void*>(64 * kTB);
    FLOW_STEP(aclrtReserveMemAddressNoUCMemory(&first, 4 * kGB, 0, wished, 1));
    for (const std::size_t offset : {std::size_t{0}, kGB, 3 * kGB}) {
      EXPECT_EQ(aclrtReserveMemAddressNoUCMemory(&second, kGB, 0, at(wished, offset), 1), kShortage)
          << offset;
    }
    EXPECT_EQ(
        aclrtReserveMemAddressNoUCMemory(&second, 2 * kGB, 0, reinterpret_cast<void*>(64 * kTB - kGB), 1),
        kShortage)
        << "it begins before the other";
    FLOW_STEP(aclrtReserveMemAddressNoUCMemory(&second, kGB, 0, at(wished, 4 * kGB), 1));
    EXPECT_EQ(second, at(wished, 4 * kGB)) << "right behind it";
    FLOW_STEP(aclrtReleaseMemAddress(second));
    FLOW_STEP(aclrtReleaseMemAddress(first));
    EXPECT_EQ(aclrtReleaseMemAddress(first), kBadValue);
    FLOW_STEP(aclrtReserveMemAddressNoUCMemory(&first, 4 * kGB, 0, wished, 1));
    FLOW_STEP(aclrtReleaseMemAddress(first));
  });
}

TEST(VirtualFlowTransferPools, V511_V90_OnA2_TheOrdinaryReservationServes) {
  on_each({"A2"}, {}, [] { reserve_with_a_fall_back(ACL_ERROR_RT_FEATURE_NOT_SUPPORT); });
}

}  // namespace virtual_flow_transfer_pools_test
