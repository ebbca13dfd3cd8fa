// aclrtMemGetAllocationGranularity: the checks, in their order, and what every attribute gives.
#include <cstring>

#include "support/as_enum.h"
#include "support/fresh_process.h"
#include "support/mistakes.h"
#include "support/virtual_memory.h"

namespace virtual_granularity_test {

using namespace belay_test;

class Granularity : public OnDevice {};

struct Call {
  aclrtPhysicalMemProp prop = of_device();
  int option = ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
  bool no_prop = false, no_result = false;
  Where where = Where::own;
  std::size_t result = 77;
  int run() {
    return aclrtMemGetAllocationGranularity(no_prop ? nullptr : &prop,
                                            as_enum<aclrtMemGranularityOptions>(option),
                                            no_result ? nullptr : &result);
  }
};

int granularity(const aclrtPhysicalMemProp& prop, int option, std::size_t* result) {
  Call call;
  call.prop = prop;
  call.option = option;
  const int answer = call.run();
  *result = call.result;
  return answer;
}

enum Argument : unsigned { kProp = 1, kResult = 2, kAttribute = 4, kPlace = 8, kOption = 16, kReserve = 32 };

TEST_F(Granularity, V53_V54_V55_V56_V57_V58_V59_V60_V61_V62_V10_V22_TheFirstMistakeDecides) {
  const Contexts contexts;
  const std::vector<Mistake<Call>> in_order = {
      {"V-53", kBadArgument, kProp, [](Call& c) { c.no_prop = true; }},
      {"V-54", kBadArgument, kResult, [](Call& c) { c.no_result = true; }},
      {"V-55", kBadArgument, kAttribute | kPlace, [](Call& c) { c.prop.memAttr = ACL_DDR_MEM_HUGE; }},
      {"V-56", kBadArgument, kAttribute, [](Call& c) { c.prop.memAttr = ACL_HBM_MEM; }},
      {"V-57", kBadDevice, kPlace, [](Call& c) { c.prop.location.id = 8; }},
      {"V-58", kUnsupported, kOption, [](Call& c) { c.option = ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF; }},
      {"V-59", kBadValue, kPlace, [](Call& c) { c.prop.location.type = ACL_MEM_LOCATION_TYPE_MANAGED; }},
      {"V-60", kBadValue, kPlace, [](Call& c) { c.prop.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED; }},
      {"V-61", kUnsupported, kAttribute, [](Call& c) { c.prop.memAttr = ACL_MEM_P2P_HUGE1G; }},
      {"V-62", kBadValue, kReserve, [](Call& c) { c.prop.reserve = 1; }}};
  expect_order("aclrtMemGetAllocationGranularity", contexts, Call{}, in_order);
}

// What V-49 says of an attribute at a place: a page, or the code that refuses it.
std::int64_t expected_of(int attribute, aclrtMemLocationType type) {
  const bool device = type == ACL_MEM_LOCATION_TYPE_DEVICE;
  switch (attribute) {
    case 2:
    case 3:
    case 6:
    case 7:
      return device ? -kBadArgument : 2 * static_cast<std::int64_t>(kMB);
    case 4:
    case 5:
    case 12:
    case 13:
    case 15:
    case 16:
      return 2 * kMB;
    case 10:
    case 14:
      return device ? static_cast<std::int64_t>(kGB) : -kUnsupported;
    case 17:
      return -kUnsupported;  // A2 has no such pages for peers
    default:
      return -kBadArgument;
  }
}

TEST_F(Granularity, V45_V46_V49_V52_V58_V63_D86_EveryAttributeAtEveryPlaceWithEveryOption) {
  for (int attribute = -1; attribute < 20; ++attribute) {
    for (const auto type :
         {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_LOCATION_TYPE_HOST_NUMA}) {
      SCOPED_TRACE("attribute " + std::to_string(attribute) + " at " + std::to_string(type));
      const std::int64_t expected = expected_of(attribute, type);
      const aclrtPhysicalMemProp prop = property(type, 0, as_enum<aclrtMemAttr>(attribute));
      for (const int option : {0, 1}) {
        std::size_t result = 0;
        const int answer = granularity(prop, option, &result);
        EXPECT_EQ(answer, expected > 0 ? 0 : -expected) << option;
        EXPECT_EQ(result, expected > 0 ? static_cast<std::size_t>(expected) : 77U) << option;
      }
      for (const int option : {2, -1, 0xFFFE, 0xFFFF, 0x10000}) {
        std::size_t result = 0;
        const int answer = granularity(prop, option, &result);
        EXPECT_EQ(answer, expected == -kBadArgument ? kBadArgument : kUnsupported) << option;
      }
    }
  }
}

TEST_F(Granularity, V57_V25_OnlyDevicesThatExist) {
  std::uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  std::size_t result = 0;
  EXPECT_EQ(granularity(of_device(count - 1), 0, &result), ACL_SUCCESS) << "it need not be open";
  for (const std::uint32_t id : {count, count + 1, 64U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU})
    EXPECT_EQ(granularity(of_device(id), 0, &result), kBadDevice) << id;
}

TEST_F(Granularity, V59_V60_OtherPlaces) {
  for (const int type : {2, 3, 5, 6, 64, -1}) {
    std::size_t result = 0;
    EXPECT_EQ(granularity(property(as_enum<aclrtMemLocationType>(type), 0, ACL_MEM_HUGE), 0, &result),
              kBadValue)
        << type;
  }
}

TEST_F(Granularity, V64_V17_TypesAndSmallHostIdsAreNotChecked_AndNothingIsChanged) {
  aclrtPhysicalMemProp prop = of_host();
  prop.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  prop.allocationType = as_enum<aclrtMemAllocationType>(9);
  for (const std::uint32_t id : {0U, 1U, 63U}) {
    prop.location.id = id;
    aclrtPhysicalMemProp passed = prop;
    std::size_t result = 0;
    EXPECT_EQ(aclrtMemGetAllocationGranularity(&passed, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &result),
              ACL_SUCCESS)
        << id;
    EXPECT_EQ(result, k2MB);
    EXPECT_EQ(std::memcmp(&passed, &prop, sizeof prop), 0);
  }
}

TEST_F(Granularity, V65_V47_MemoryOfThisSizeFitsEveryMultipleOfIt) {
  for (const aclrtMemAttr attribute : {ACL_HBM_MEM_NORMAL, ACL_MEM_HUGE, ACL_MEM_HUGE1G}) {
    std::size_t unit = 0;
    ASSERT_EQ(granularity(of_device(0, attribute), 0, &unit), ACL_SUCCESS);
    Reserved place{4 * kGB};
    for (const std::size_t count : {1U, 2U, 3U}) {
      Physical memory{count * unit, of_device(0, attribute)};
      for (const std::size_t offset : {std::size_t{0}, unit, 4 * kGB - count * unit}) {
        const Mapped mapped{place.get(offset), memory};
        EXPECT_EQ(aclrtMemset(mapped.get(count * unit - 1), 1, 5, 1), ACL_SUCCESS)
            << attribute << " " << offset;
      }
    }
  }
}

TEST(GranularityBeforeADevice, V15_V14_NeedsNoOpenDeviceAndNoInit) {
  in_fresh_process([] {
    std::size_t result = 0;
    EXPECT_EQ(granularity(of_device(3), 0, &result), ACL_SUCCESS);
    EXPECT_EQ(result, k2MB);
    EXPECT_EQ(granularity(of_node(0), 1, &result), ACL_SUCCESS);
    EXPECT_EQ(granularity(of_device(99), 1, &result), kBadDevice);
  });
}

}  // namespace virtual_granularity_test
