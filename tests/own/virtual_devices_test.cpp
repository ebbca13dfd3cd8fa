// Virtual memory with several devices, visible ones only, and a default device.
#include "support/on_product.h"
#include "support/scratch.h"
#include "support/virtual_memory.h"

namespace virtual_devices_test {

using namespace belay_test;

TEST(VirtualDevices, V25_V26_WithVisibleDevices_PropertiesCountThem_AccessNamesTheMachines) {
  on_product("A2", {{"ASCEND_RT_VISIBLE_DEVICES", "2,5"}}, [] {
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp beyond = of_device(2);
    EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &beyond, 0), kBadDevice) << "two are visible";
    const AlsoOpen other{1};
    const MappedBlock here{k2MB, of_device(0)}, there{k2MB, of_device(1)};
    EXPECT_EQ(access_of_device(here.get(), 2), 3U) << "user device 0 is device 2 of the machine";
    EXPECT_EQ(access_of_device(here.get(), 0), 0U);
    EXPECT_EQ(access_of_device(here.get(), 1), 0U);
    EXPECT_EQ(access_of_device(there.get(), 5), 3U);
    EXPECT_EQ(set_access(here.get(), k2MB, grant_device(5)), ACL_SUCCESS);
    EXPECT_EQ(access_of_device(here.get(), 5), 3U);
    EXPECT_EQ(access_of_device(here.get(), 1), 0U);
    aclrtPhysicalMemProp told{};
    EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(there.memory, &told), ACL_SUCCESS);
    EXPECT_EQ(told.location.id, 1U) << "properties are user ids";
    aclrtPtrAttributes attributes{};
    EXPECT_EQ(aclrtPointerGetAttributes(there.get(), &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.id, 1U);
  });
}

TEST(VirtualDevices, V83_V147_V154_EightDevicesEachWithASegmentOfItsOwn) {
  on_product("A2", [] {
    std::vector<std::unique_ptr<AlsoOpen>> open;
    std::vector<std::unique_ptr<MappedBlock>> segments;
    for (std::uint32_t device = 0; device < 8; ++device) {
      if (device != 0) open.push_back(std::make_unique<AlsoOpen>(static_cast<int>(device)));
      segments.push_back(std::make_unique<MappedBlock>(4 * kMB, of_device(device)));
      write_to(segments.back()->get(), pattern(5000, device));
    }
    for (std::uint32_t device = 0; device < 8; ++device) {
      EXPECT_EQ(read_from(segments[device]->get(), 5000), pattern(5000, device));
      for (std::uint32_t each = 0; each < 8; ++each)
        EXPECT_EQ(access_of_device(segments[device]->get(), each), each == device ? 3U : 0U);
    }
    segments.clear();  // before their devices close
  });
}

TEST(VirtualDevices, V148_V142_V98_TheBindingStays) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  on_product("A2", {{"BELAY_DEVICES", "2"}}, [] {
    const AlsoOpen other{1};
    Reserved place{64 * kMB};
    const Physical here, there{k2MB, of_device(1)}, host{k2MB, of_host()};
    { const Mapped mapped{place.get(62 * kMB), there}; }
    for (int round = 0; round < 10; ++round) {
      for (const std::size_t offset : {0U, 2U, 62U}) {
        EXPECT_EQ(map(place.get(offset * kMB), k2MB, here), kRefused);
        EXPECT_EQ(map(place.get(offset * kMB), k2MB, host), kRefused);
        const Mapped mapped{place.get(offset * kMB), there};
      }
    }
    void* const where = place.release_now();
    const Reserved again{64 * kMB, where};
    const Mapped mapped{again.get(), host};
    EXPECT_EQ(map(again.get(k2MB), k2MB, there), kRefused) << "now it is the host's";
  });
}

TEST(VirtualDevices, V154_M245_OneRangeOfTwoDevicesThereIsNot_ExceptInNoUc) {
  on_product("A3", {{"BELAY_DEVICES", "2"}}, [] {
    const AlsoOpen other{1};
    const MappedBlock here, there{k2MB, of_device(1)};
    write_to(here.get(), pattern(5000, 1));
    EXPECT_EQ(aclrtMemcpy(there.get(), 5000, here.get(), 5000, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS)
        << "A3 needs no peer access";
    EXPECT_EQ(read_from(there.get(), 5000), pattern(5000, 1));
  });
}

TEST(VirtualDevices, V179_M245_On310bNoDeviceCopiesToAnother) {
  on_product("310B", {{"BELAY_DEVICES", "2"}}, [] {
    const AlsoOpen other{1};
    const MappedBlock here, there{k2MB, of_device(1)};
    EXPECT_EQ(set_access(here.get(), k2MB, grant_device(1)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(there.get(), 50, here.get(), 50, ACL_MEMCPY_DEVICE_TO_DEVICE), kUnsupported);
  });
}

TEST(VirtualDevices, V16_V109_TheDefaultDeviceIsOpenedWhereAContextIsNeeded) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"defaultDevice": {"default_device": "1"}})");
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [&] {
    ASSERT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    without_context([] {
      const Physical node{k2MB, of_node()};
      const Physical there{k2MB, of_device(1)};
      std::int32_t device = -1;
      EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
      EXPECT_EQ(device, 1);
    });
  });
}

}  // namespace virtual_devices_test
