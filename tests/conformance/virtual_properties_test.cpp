// aclrtMemGetAllocationPropertiesFromHandle.
#include <cstring>

#include "support/as_enum.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_properties_test {

using namespace belay_test;

class Properties : public OnDevice {};

const std::string kApi = "aclrtMemGetAllocationPropertiesFromHandle";

TEST_F(Properties, V196_NullIs100000) {
  const Physical memory;
  aclrtPhysicalMemProp prop{};
  expect_not_stored(aclrtMemGetAllocationPropertiesFromHandle(nullptr, &prop), kBadArgument, kApi);
  expect_not_stored(aclrtMemGetAllocationPropertiesFromHandle(memory, nullptr), kBadArgument, kApi);
}

TEST_F(Properties, V197_V35_WhatIsNoHandleIs100000) {
  Physical memory;
  const Reserved place{k2MB};
  std::vector<void*> wrong = garbage();
  wrong.insert(wrong.end(), {memory.free_now(), place.get()});
  aclrtPhysicalMemProp prop, before;
  std::memset(&prop, 0x5A, sizeof prop);
  std::memcpy(&before, &prop, sizeof prop);
  for (void* handle : wrong)
    EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &prop), kBadArgument) << handle;
  EXPECT_EQ(std::memcmp(&prop, &before, sizeof prop), 0) << "V-17";
}

TEST_F(Properties, V198_V199_TheAttributeIsMadeAnew_TheRestIsAsCreated) {
  struct Row {
    int made_with, device, host;  // -1: cannot be created there
  };
  for (const Row& row :
       {Row{2, -1, 13}, Row{3, -1, 12}, Row{4, 4, 4}, Row{5, 5, 5}, Row{6, -1, 16}, Row{7, -1, 7},
        Row{10, 10, -1}, Row{12, 5, 12}, Row{13, 4, 13}, Row{14, 10, -1}, Row{15, 15, 7}, Row{16, 16, 16}}) {
    for (const aclrtPhysicalMemProp& place : {of_device(), of_host(), of_node(0), of_node()}) {
      const bool device = place.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
      const int expected = device ? row.device : row.host;
      if (expected < 0) continue;
      SCOPED_TRACE("made with " + std::to_string(row.made_with) + " at " +
                   std::to_string(place.location.type));
      aclrtPhysicalMemProp wanted = place;
      wanted.memAttr = as_enum<aclrtMemAttr>(row.made_with);
      const Physical memory{k2MB, wanted};
      aclrtPhysicalMemProp told;
      std::memset(&told, 0xFF, sizeof told);
      EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(memory, &told), ACL_SUCCESS);
      EXPECT_EQ(static_cast<int>(told.memAttr), expected);
      EXPECT_EQ(told.handleType, ACL_MEM_HANDLE_TYPE_NONE);
      EXPECT_EQ(told.allocationType, ACL_MEM_ALLOCATION_TYPE_PINNED);
      EXPECT_EQ(told.location.type, place.location.type);
      EXPECT_EQ(told.location.id, place.location.id);
      EXPECT_EQ(told.reserve, 0U);
    }
  }
}

TEST_F(Properties, V199_V25_TheDeviceIsTheOneItWasMadeOn) {
  const AlsoOpen other{5};
  const Physical there{k2MB, of_device(5)};
  const Reserved place{k2MB};
  const Mapped mapped{place.get(), there};
  aclrtPhysicalMemProp told{};
  without_context([&] { EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(there, &told), ACL_SUCCESS); });
  EXPECT_EQ(told.location.id, 5U);
  EXPECT_EQ(told.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
}

}  // namespace virtual_properties_test
