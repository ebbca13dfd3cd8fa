// aclrtMemSetAccess and aclrtMemGetAccess.
#include <cstring>

#include "support/as_enum.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_access_test {

using namespace belay_test;

class Access : public OnDevice {};

const std::string kSet = "aclrtMemSetAccess", kGet = "aclrtMemGetAccess";

TEST_F(Access, V168_V169_V11_NullAndNoneAre107000) {
  const MappedBlock here;
  aclrtMemAccessDesc desc = grant_device(1);
  expect_stored(aclrtMemSetAccess(nullptr, k2MB, &desc, 1), kBadValue, kSet);
  expect_stored(aclrtMemSetAccess(here.get(), k2MB, nullptr, 1), kBadValue, kSet);
  expect_stored(aclrtMemSetAccess(here.get(), k2MB, &desc, 0), kBadValue, kSet);
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;  // 207000 by itself
  expect_stored(aclrtMemSetAccess(nullptr, k2MB, &desc, 1), kBadValue, kSet);
  expect_stored(aclrtMemSetAccess(here.get(), k2MB, &desc, 0), kBadValue, kSet);
  expect_stored(aclrtMemSetAccess(here.get(1), k2MB, nullptr, 1), kBadValue, kSet);
  expect_stored(aclrtMemSetAccess(here.get(1), k2MB, &desc, 0), kBadValue, kSet);
}

TEST_F(Access, V170_D96_OnlyReadWriteCanBeGranted) {
  const MappedBlock here;
  for (const int flags : {0, 1, 2, 4, 5, 7, 8, 0x100, -1, 0x7FFFFFFF}) {
    aclrtMemAccessDesc desc = grant_device(1);
    desc.flags = as_enum<aclrtMemAccessFlags>(flags);
    const int expected = flags == 0 || flags == 1 ? kUnsupported : kBadValue;
    EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, &desc, 1), expected) << flags;
    EXPECT_EQ(aclrtMemSetAccess(here.get(4096), k2MB, &desc, 1), expected) << "before V-174, " << flags;
    EXPECT_EQ(access_of_device(here.get(), 1), 0U);
  }
}

TEST_F(Access, V171_V172_V173_V27_V187_PlacesThatThereAreNot) {
  const MappedBlock here;
  std::vector<aclrtMemLocation> wrong;
  for (const int type : {2, 3, 4, 5, -1}) wrong.push_back({0, as_enum<aclrtMemLocationType>(type)});
  for (const std::uint32_t id : {1U, 63U, 64U, 0xFFFFFFFFU})
    wrong.push_back({id, ACL_MEM_LOCATION_TYPE_HOST});
  for (const std::uint32_t id : {64U, 65U, 0x80000000U, 0xFFFFFFFFU})
    wrong.push_back({id, ACL_MEM_LOCATION_TYPE_DEVICE});
  for (aclrtMemLocation& place : wrong) {
    SCOPED_TRACE("type " + std::to_string(place.type) + ", id " + std::to_string(place.id));
    for (const std::size_t offset : {0U, 4096U}) {  // before V-174 and V-188 too
      expect_stored(set_access(here.get(offset), k2MB, grant_to(place.type, place.id)), kBadValue, kSet);
    }
    std::uint64_t flag = 77;
    expect_stored(aclrtMemGetAccess(here.get(), &place, &flag), kBadValue, kGet);
    expect_stored(aclrtMemGetAccess(sentinel(), &place, &flag), kBadValue, kGet);
    EXPECT_EQ(flag, 77U) << "V-17";
  }
}

TEST_F(Access, V174_D96_ExactlyOneMapping) {
  const Reserved place{16 * kMB};
  const Physical memory{4 * kMB}, second{4 * kMB};
  const Mapped first{place.get(), memory}, next{place.get(4 * kMB), second};
  const Device block{64};
  for (const std::size_t size : {std::size_t{0}, k2MB, 4 * kMB - 1, 4 * kMB + 1, 8 * kMB, 16 * kMB})
    expect_stored(set_access(place.get(), size, grant_device(1)), kRefused, kSet);
  for (void* where : {place.get(1), place.get(k2MB), place.get(8 * kMB), block.get(), sentinel()})
    expect_stored(set_access(where, 4 * kMB, grant_device(1)), kRefused, kSet);
  for (void* where : {place.get(), place.get(4 * kMB)}) EXPECT_EQ(access_of_device(where, 1), 0U);
  EXPECT_EQ(set_access(place.get(4 * kMB), 4 * kMB, grant_device(1)), ACL_SUCCESS);
  EXPECT_EQ(access_of_device(place.get(4 * kMB), 1), 3U);
  EXPECT_EQ(access_of_device(place.get(), 1), 0U) << "the other mapping has nothing of it";
}

TEST_F(Access, V177_V178_V175_D96_AgainIsNoMistake) {
  const MappedBlock here;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(set_access(here.get(), k2MB, grant_device(0)), ACL_SUCCESS) << "the owner";
    EXPECT_EQ(set_access(here.get(), k2MB, grant_device(1)), ACL_SUCCESS);
  }
  aclrtMemAccessDesc twice[2] = {grant_device(2), grant_device(2)};
  EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, twice, 2), ACL_SUCCESS);
  for (const std::uint32_t device : {0U, 1U, 2U}) EXPECT_EQ(access_of_device(here.get(), device), 3U);
  EXPECT_EQ(access_of_device(here.get(), 3), 0U);
}

TEST_F(Access, V179_M245_AGrantNeedsNoPeerAccess_ACopyDoes) {
  const AlsoOpen other{1};
  const MappedBlock here, there{k2MB, of_device(1)};
  ASSERT_EQ(set_access(here.get(), k2MB, grant_device(1)), ACL_SUCCESS);
  ASSERT_EQ(set_access(there.get(), k2MB, grant_device(0)), ACL_SUCCESS);
  EXPECT_EQ(access_of_device(here.get(), 1), 3U);
  write_to(here.get(), pattern(64, 1));
  EXPECT_EQ(aclrtMemcpy(there.get(), 64, here.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(there.get(), 64, here.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_from(there.get(), 64), pattern(64, 1));
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
}

TEST_F(Access, V180_V190_HostAndDeviceMemoryBothWays) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  const MappedBlock device, host{k2MB, of_host()}, node{k2MB, of_node()};
  for (const MappedBlock* segment : {&host, &node}) {
    EXPECT_EQ(access_of_host(segment->get()), 3U) << "the owner";
    EXPECT_EQ(access_of_device(segment->get(), 0), 0U);
    EXPECT_EQ(set_access(segment->get(), k2MB, grant_device(0)), ACL_SUCCESS);
    EXPECT_EQ(access_of_device(segment->get(), 0), 3U);
    EXPECT_EQ(access_of_device(segment->get(), 1), 0U);
  }
  EXPECT_EQ(access_of_host(device.get()), 0U);
  EXPECT_EQ(set_access(device.get(), k2MB, grant_host()), ACL_SUCCESS);
  EXPECT_EQ(access_of_host(device.get()), 3U);
}

TEST_F(Access, V181_V182_V18_SeveralTakeEffectInOrder_24BytesApart) {
  const MappedBlock here;
  aclrtMemAccessDesc good[3] = {grant_device(1), grant_device(2),
                                kHostCanBeMapped ? grant_host() : grant_device(3)};
  std::memset(good[0].rsv, 0xFF, sizeof good[0].rsv);  // V-183
  ASSERT_EQ(aclrtMemSetAccess(here.get(), k2MB, good, 3), ACL_SUCCESS);
  for (const std::uint32_t device : {0U, 1U, 2U})
    EXPECT_EQ(access_of_device(here.get(), device), 3U) << device;
  EXPECT_EQ(access_of_host(here.get()), kHostCanBeMapped ? 3U : 0U);
  aclrtMemAccessDesc bad[3] = {grant_device(4), grant_device(5), grant_device(6)};
  bad[1].flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, bad, 3), kUnsupported);
  EXPECT_EQ(access_of_device(here.get(), 4), 3U) << "those before it stay";
  EXPECT_EQ(access_of_device(here.get(), 5), 0U);
  EXPECT_EQ(access_of_device(here.get(), 6), 0U) << "those after it were not looked at";
}

TEST_F(Access, V183_TheReservedBytesAreNotLookedAt) {
  const MappedBlock here;
  aclrtMemAccessDesc desc = grant_device(1);
  std::memset(desc.rsv, 0xA5, sizeof desc.rsv);
  EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, &desc, 1), ACL_SUCCESS);
}

TEST_F(Access, V185_NothingTakesAGrantBack) {
  const MappedBlock here;
  ASSERT_EQ(set_access(here.get(), k2MB, grant_device(1)), ACL_SUCCESS);
  aclrtMemAccessDesc none = grant_device(1);
  none.flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
  EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, &none, 1), kUnsupported);
  none.location.id = 0;
  EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, &none, 1), kUnsupported);
  EXPECT_EQ(access_of_device(here.get(), 1), 3U);
  EXPECT_EQ(access_of_device(here.get(), 0), 3U);
}

TEST_F(Access, V186_NullIs100000) {
  const MappedBlock here;
  aclrtMemLocation place{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::uint64_t flag = 77;
  expect_not_stored(aclrtMemGetAccess(nullptr, &place, &flag), kBadArgument, kGet);
  expect_not_stored(aclrtMemGetAccess(here.get(), nullptr, &flag), kBadArgument, kGet);
  place.id = 99;  // 107000 by itself
  expect_not_stored(aclrtMemGetAccess(here.get(), &place, nullptr), kBadArgument, kGet);
  EXPECT_EQ(flag, 77U);
}

TEST_F(Access, V188_OutsideAMapping) {
  const Reserved place{8 * kMB};
  const Physical memory;
  const Mapped mapped{place.get(k2MB), memory};
  const Device block{64};
  aclrtMemLocation owner{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::uint64_t flag = 77;
  for (void* where : {place.get(), place.get(k2MB - 1), place.get(2 * k2MB), block.get(), sentinel()})
    expect_stored(aclrtMemGetAccess(where, &owner, &flag), kRefused, kGet);
  EXPECT_EQ(flag, 77U);
}

TEST_F(Access, V189_V190_V152_AnyAddressOfTheMapping_64Bits) {
  const MappedBlock here{4 * kMB};
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, k2MB, 4 * kMB - 1}) {
    aclrtMemLocation place{0, ACL_MEM_LOCATION_TYPE_DEVICE};
    std::uint64_t flag = ~std::uint64_t{0};
    EXPECT_EQ(aclrtMemGetAccess(here.get(offset), &place, &flag), ACL_SUCCESS);
    EXPECT_EQ(flag, 3U) << "the owner, without a grant";
    place.id = 7;
    flag = ~std::uint64_t{0};
    EXPECT_EQ(aclrtMemGetAccess(here.get(offset), &place, &flag), ACL_SUCCESS);
    EXPECT_EQ(flag, 0U);
  }
}

}  // namespace virtual_access_test
