// aclrtMallocPhysical and aclrtFreePhysical: the checks, in their order, sizes, and what is charged.
#include <cstring>
#include <limits>
#include <set>

#include "support/app_usage.h"
#include "support/as_enum.h"
#include "support/fresh_process.h"
#include "support/mistakes.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_physical_test {

using namespace belay_test;

class PhysicalMemory : public OnDevice {};

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

int create(aclrtDrvMemHandle* handle, std::size_t size, const aclrtPhysicalMemProp& prop) {
  return aclrtMallocPhysical(handle, size, &prop, 0);
}

struct Call {
  aclrtDrvMemHandle* result;
  std::size_t size = k2MB;
  aclrtPhysicalMemProp prop = of_device();
  bool no_prop = false;
  std::uint64_t flags = 0;
  Where where = Where::own;
  int run() const { return aclrtMallocPhysical(result, size, no_prop ? nullptr : &prop, flags); }
};

enum Argument : unsigned {
  kResult = 1,
  kProp = 2,
  kSize = 4,
  kFlags = 8,
  kHandleType = 16,
  kKind = 32,
  kPlace = 64,
  kAttribute = 128,
  kReserve = 256,
  kWhere = 512
};

TEST_F(PhysicalMemory, V99_V100_V101_V102_V103_V104_V105_V106_V107_V108_V109_TheFirstMistakeDecides) {
  const Contexts contexts;
  aclrtDrvMemHandle result = sentinel();
  const auto numa = [](Call& c) {
    c.prop.location = {0, ACL_MEM_LOCATION_TYPE_HOST_NUMA};
    c.where = Where::none;
  };
  const std::vector<Mistake<Call>> in_order = {
      {"V-99", kBadArgument, kResult, [](Call& c) { c.result = nullptr; }},
      {"V-100", kBadArgument, kProp, [](Call& c) { c.no_prop = true; }},
      {"V-101", kBadArgument, kSize, [](Call& c) { c.size = 0; }},
      {"V-102", kBadArgument, kFlags, [](Call& c) { c.flags = 1; }},
      {"V-103", kBadArgument, kHandleType, [](Call& c) { c.prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX; }},
      {"V-104", kBadArgument, kKind,
       [](Call& c) { c.prop.allocationType = as_enum<aclrtMemAllocationType>(1); }},
      {"V-105", kBadArgument, kPlace, [](Call& c) { c.prop.location.type = ACL_MEM_LOCATION_TYPE_MANAGED; }},
      {"V-106", kBadArgument, kAttribute | kPlace, [](Call& c) { c.prop.memAttr = ACL_DDR_MEM_NORMAL; }},
      {"V-107", kBadArgument, kAttribute, [](Call& c) { c.prop.memAttr = ACL_DDR_MEM; }},
      {"V-108", kBadDevice, kPlace, [](Call& c) { c.prop.location.id = 8; }},
      {"V-109", kNoContext, kPlace | kWhere, numa},
      {"V-111", kUnsupported, kAttribute, [](Call& c) { c.prop.memAttr = ACL_MEM_P2P_HUGE1G; }},
      {"V-112", kBadValue, kPlace, [](Call& c) { c.prop.location.type = as_enum<aclrtMemLocationType>(5); }},
      {"V-113", kBadValue, kReserve, [](Call& c) { c.prop.reserve = 1; }},
      {"V-118", kShortage, kSize, [](Call& c) { c.size = kTB; }}};
  expect_order("aclrtMallocPhysical", contexts, Call{&result}, in_order);
  EXPECT_EQ(result, sentinel()) << "V-17";
}

TEST_F(PhysicalMemory, V102_V103_V104_V105_V112_V113_D87_ValuesAroundTheAllowedOnes) {
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp good = of_device();
  for (const std::uint64_t flags : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 63U})
    EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &good, flags), kBadArgument) << flags;
  for (const int type : {-1, 1, 2, 3}) {
    aclrtPhysicalMemProp prop = good;
    prop.handleType = as_enum<aclrtMemHandleType>(type);
    EXPECT_EQ(create(&handle, k2MB, prop), kBadArgument) << type;
  }
  for (const int type : {-1, 1, 2}) {
    aclrtPhysicalMemProp prop = good;
    prop.allocationType = as_enum<aclrtMemAllocationType>(type);
    EXPECT_EQ(create(&handle, k2MB, prop), kBadArgument) << type;
  }
  for (const int type : {-1, 2, 3, 5, 99})
    EXPECT_EQ(create(&handle, k2MB, property(as_enum<aclrtMemLocationType>(type), 0, ACL_MEM_HUGE)),
              type == 2 || type == 3 ? kBadArgument : kBadValue)
        << type;
  for (const std::uint64_t reserve : {std::uint64_t{1}, std::uint64_t{1} << 40U}) {
    aclrtPhysicalMemProp prop = good;
    prop.reserve = reserve;
    EXPECT_EQ(create(&handle, k2MB, prop), kBadValue) << reserve;
  }
  EXPECT_EQ(free_bytes(), free_before_) << "V-18";
}

TEST_F(PhysicalMemory, V49_V50_V106_V107_V111_EveryAttributeAtEveryPlace) {
  const std::set<int> host_only = {2, 3, 6, 7}, both = {4, 5, 12, 13, 15, 16}, giant = {10, 14};
  for (int attribute = -1; attribute < 20; ++attribute) {
    for (const auto type :
         {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_LOCATION_TYPE_HOST_NUMA}) {
      SCOPED_TRACE("attribute " + std::to_string(attribute) + " at " + std::to_string(type));
      const bool device = type == ACL_MEM_LOCATION_TYPE_DEVICE;
      int expected = kBadArgument;
      if (both.contains(attribute) || (host_only.contains(attribute) && !device)) expected = ACL_SUCCESS;
      if (giant.contains(attribute)) expected = device ? static_cast<int>(ACL_SUCCESS) : kUnsupported;
      if (attribute == 17) expected = kUnsupported;  // A2 has no such pages for peers
      aclrtDrvMemHandle handle = nullptr;
      const int answer = create(&handle, k2MB, property(type, 0, as_enum<aclrtMemAttr>(attribute)));
      EXPECT_EQ(answer, expected);
      if (answer != ACL_SUCCESS) continue;
      const std::size_t charged = !device ? 0 : giant.contains(attribute) ? kGB : k2MB;
      EXPECT_EQ(free_before_ - free_bytes(), charged) << "V-37, V-45, V-46";
      EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), free_before_);
    }
  }
}

TEST_F(PhysicalMemory, V116_V117_V119_V37_D87_D88_SizesAreRoundedUpToPages) {
  for (const auto& [attribute, page] :
       {std::pair{ACL_MEM_NORMAL, k2MB}, {ACL_MEM_HUGE, k2MB}, {ACL_MEM_HUGE1G, kGB}}) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{512}, page - 1, page, page + 1, 2 * page - 1, 2 * page, 2 * page + 1}) {
      const std::size_t rounded = up_to(size, page);
      Physical memory{size, of_device(0, attribute)};
      EXPECT_EQ(free_before_ - free_bytes(), rounded) << size;
      const Reserved place{4 * kGB};
      EXPECT_EQ(map(place.get(), rounded + page, memory), kBadValue) << "V-144";
      if (rounded > page) {
        EXPECT_EQ(map(place.get(), rounded - page, memory), kBadValue) << "V-145";
      }
      const Mapped mapped{place.get(), rounded, memory};
      EXPECT_EQ(aclrtMemset(mapped.get(rounded - 1), 1, 1, 1), ACL_SUCCESS);
    }
  }
}

TEST_F(PhysicalMemory, V108_V25_V123_OnlyDevicesThatExistAndAreOpen) {
  aclrtDrvMemHandle handle = sentinel();
  for (const std::uint32_t id : {8U, 9U, 64U, 0x80000000U, 0xFFFFFFFFU})
    expect_stored(create(&handle, k2MB, of_device(id)), kBadDevice, "aclrtMallocPhysical");
  expect_stored(create(&handle, k2MB, of_device(2)), kStale, "aclrtMallocPhysical");
  EXPECT_EQ(handle, sentinel());
  const AlsoOpen other{2};
  const std::size_t before = other.free();
  const Physical memory{k2MB, of_device(2)};
  EXPECT_EQ(before - other.free(), k2MB);
  EXPECT_EQ(free_bytes(), free_before_) << "the current device pays nothing";
  without_context([&] {
    aclrtDrvMemHandle made = nullptr;
    EXPECT_EQ(create(&made, k2MB, of_device(2)), ACL_SUCCESS) << "no context is needed";
    EXPECT_EQ(aclrtFreePhysical(made), ACL_SUCCESS);
  });
}

TEST_F(PhysicalMemory, V109_V114_V115_D87_PlacesOnTheHost) {
  aclrtDrvMemHandle handle = nullptr;
  without_context([&] {
    EXPECT_EQ(create(&handle, k2MB, of_node()), kNoContext);
    EXPECT_EQ(create(&handle, k2MB, of_host()), ACL_SUCCESS) << "only HOST_NUMA needs a context";
    EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  });
  for (const std::uint32_t id : {1U, 63U, 0xFFFFFFFFU})
    EXPECT_EQ(create(&handle, k2MB, property(ACL_MEM_LOCATION_TYPE_HOST, id, ACL_MEM_HUGE)), kUnsupported)
        << id;
  for (const std::uint32_t node : {1023U, 0x7FFFFFFFU, 0xFFFFFFFEU})
    expect_stored(create(&handle, k2MB, of_node(node)), kRefused, "aclrtMallocPhysical");
  for (const std::uint32_t node : {0U, kAnyNode}) {
    const Physical memory{k2MB, of_node(node)};
    EXPECT_NE(memory.get(), nullptr);
  }
}

TEST_F(PhysicalMemory, V118_TooMuchIs207001) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  aclrtDrvMemHandle handle = sentinel();
  for (const std::size_t size : {total + 1, 8 * kTB, std::size_t{1} << 60U, kMost - k2MB, kMost - 1, kMost}) {
    EXPECT_EQ(create(&handle, size, of_device()), kShortage) << size;
    EXPECT_EQ(create(&handle, size, of_device(0, ACL_MEM_HUGE1G)), kShortage) << size;
    EXPECT_EQ(last_error(), kShortage);
  }
  for (const std::size_t size : {std::size_t{1} << 55U, kMost})
    EXPECT_EQ(create(&handle, size, of_host()), kShortage) << size;
  EXPECT_EQ(free_bytes(), free_before_);
  const Physical everything{free};
  EXPECT_EQ(free_bytes(), 0U);
  EXPECT_EQ(create(&handle, 1, of_device()), kShortage);
}

TEST_F(PhysicalMemory, V120_V124_V6_HandlesAreUnique_AndNoAddresses) {
  std::set<aclrtDrvMemHandle> all;
  for (int i = 0; i < 1000; ++i) {
    aclrtDrvMemHandle handle = nullptr;
    ASSERT_EQ(create(&handle, k2MB, i % 50 == 0 ? of_host() : of_device()), ACL_SUCCESS);
    EXPECT_NE(handle, nullptr);
    EXPECT_TRUE(all.insert(handle).second);
  }
  void* base = nullptr;
  EXPECT_EQ(aclrtMemGetAddressRange(*all.begin(), &base, nullptr), kBadValue) << "it leads to no block";
  for (aclrtDrvMemHandle handle : all) EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

TEST_F(PhysicalMemory, V121_ThePropertiesAreNeitherChangedNorKept) {
  aclrtPhysicalMemProp prop = of_device(0, ACL_MEM_P2P_HUGE);
  const aclrtPhysicalMemProp before = prop;
  aclrtDrvMemHandle handle = nullptr;
  ASSERT_EQ(create(&handle, k2MB, prop), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(&prop, &before, sizeof prop), 0);
  prop = of_host();
  aclrtPhysicalMemProp told{};
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &told), ACL_SUCCESS);
  EXPECT_EQ(told.memAttr, ACL_MEM_P2P_HUGE);
  EXPECT_EQ(told.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

TEST_F(PhysicalMemory, V126_V127_V35_WhatIsNoHandle) {
  expect_not_stored(aclrtFreePhysical(nullptr), kBadArgument, "aclrtFreePhysical");
  const Device block{64};
  const Reserved place{k2MB};
  std::vector<void*> wrong = garbage();
  wrong.insert(wrong.end(), {block.get(), place.get()});
  Physical memory;
  wrong.push_back(at(memory.get(), 1));
  for (void* handle : wrong) expect_stored(aclrtFreePhysical(handle), kBadValue, "aclrtFreePhysical");
  wrong = {memory.free_now()};
  expect_stored(aclrtFreePhysical(wrong[0]), kBadValue, "aclrtFreePhysical");
}

TEST_F(PhysicalMemory, V24_M151_ItCountsForApplications) {
  const std::uint64_t before = app_usage().current;
  {
    const Physical memory{3 * kMB};
    EXPECT_EQ(app_usage().current, before + 4 * kMB);
    const Physical host{k2MB, of_host()};
    EXPECT_EQ(app_usage().current, before + 4 * kMB);
  }
  EXPECT_EQ(app_usage().current, before);
}

TEST(PhysicalBeforeADevice, V15_Is107017_AfterTheArguments) {
  in_fresh_process([] {
    aclrtDrvMemHandle handle = sentinel();
    EXPECT_EQ(create(&handle, 0, of_device()), kBadArgument);
    EXPECT_EQ(create(&handle, k2MB, of_device(8)), kBadDevice);
    EXPECT_EQ(create(&handle, k2MB, of_device()), kStale);
    EXPECT_EQ(create(&handle, k2MB, of_host()), kStale);
    EXPECT_EQ(handle, sentinel());
  });
}

}  // namespace virtual_physical_test
