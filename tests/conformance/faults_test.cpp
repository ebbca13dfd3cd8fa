// What is damaged on a device: nothing, on every device that there is.
#include <cstring>
#include <vector>

#include "support/as_enum.h"
#include "support/blocks.h"
#include "support/refusals.h"

namespace faults_test {

using namespace belay_test;

class Faults : public OnDevice {};

constexpr std::size_t kMost = ACL_RT_MAX_RECORD_PA_NUM_PER_DEV;

template <typename T>
bool all_bytes(const T& object, unsigned char value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &object, sizeof bytes);
  for (const unsigned char byte : bytes) {
    if (byte != value) return false;
  }
  return true;
}

std::int32_t devices() {
  std::uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  return static_cast<std::int32_t>(count);
}

TEST_F(Faults, R270_NoMemoryIsDamaged) {
  aclrtMemUceInfo found[kMost + 1];
  std::memset(found, 0x5A, sizeof found);
  for (std::int32_t device = 0; device < devices(); ++device) {
    for (const std::size_t room : {std::size_t{0}, std::size_t{1}, kMost - 1, kMost, kMost + 1, SIZE_MAX}) {
      std::size_t count = 77;
      EXPECT_EQ(aclrtGetMemUceInfo(device, found, room, &count), ACL_SUCCESS) << device << ", " << room;
      EXPECT_EQ(count, 0U);
    }
  }
  EXPECT_TRUE(all_bytes(found, 0x5A));
}

TEST_F(Faults, R270_Arguments) {
  aclrtMemUceInfo found{};
  std::size_t count = 77;
  expect_not_stored(aclrtGetMemUceInfo(0, nullptr, 1, &count), kBadArgument, "aclrtGetMemUceInfo");
  expect_not_stored(aclrtGetMemUceInfo(0, nullptr, 0, &count), kBadArgument, "aclrtGetMemUceInfo");
  expect_not_stored(aclrtGetMemUceInfo(0, &found, 1, nullptr), kBadArgument, "aclrtGetMemUceInfo");
  expect_not_stored(aclrtGetMemUceInfo(-1, nullptr, 1, nullptr), kBadArgument, "aclrtGetMemUceInfo");
  for (const std::int32_t device : {-1, devices(), devices() + 1, INT32_MIN, INT32_MAX}) {
    expect_stored(aclrtGetMemUceInfo(device, &found, 1, &count), kBadDevice, "aclrtGetMemUceInfo");
  }
  EXPECT_EQ(count, 77U);
}

TEST_F(Faults, R271_ThereIsNothingToRepair) {
  std::vector<aclrtMemUceInfo> list(kMost + 1);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMost - 1, kMost}) {
    EXPECT_EQ(aclrtMemUceRepair(0, list.data(), size), ACL_SUCCESS) << size;
  }
  for (const std::size_t size : {kMost + 1, std::size_t{128}, SIZE_MAX}) {
    expect_not_stored(aclrtMemUceRepair(0, list.data(), size), kBadArgument, "aclrtMemUceRepair");
  }
}

// What is named is neither read nor written: memory in use, memory that was freed, anything.
TEST_F(Faults, R271_NoAddressIsLookedAt) {
  Device block{64}, gone{64};
  write_to(block.get(), Bytes(64, 0xAB));
  aclrtMemUceInfo list[4] = {};
  list[0].addr = block.get();
  list[0].len = 64;
  list[1].addr = gone.free_now();
  list[1].len = 64;
  list[2].addr = sentinel();
  list[2].len = SIZE_MAX;
  EXPECT_EQ(aclrtMemUceRepair(0, list, 4), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0xAB));
  EXPECT_TRUE(alive(block.get()));
}

TEST_F(Faults, R271_ReservedWordsAreZero) {
  for (const std::size_t entry : {std::size_t{0}, std::size_t{1}, kMost - 1}) {
    for (std::size_t word = 0; word < UCE_INFO_RESERVED_SIZE; ++word) {
      std::vector<aclrtMemUceInfo> list(kMost);
      list[entry].reserved[word] = word % 2 == 0 ? 1 : SIZE_MAX;
      expect_not_stored(aclrtMemUceRepair(0, list.data(), kMost), kBadArgument, "aclrtMemUceRepair");
      EXPECT_EQ(aclrtMemUceRepair(0, list.data(), entry), ACL_SUCCESS) << "beyond the list";
    }
  }
}

TEST_F(Faults, R271_Arguments) {
  aclrtMemUceInfo one{};
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMost + 1}) {
    expect_not_stored(aclrtMemUceRepair(0, nullptr, size), kBadArgument, "aclrtMemUceRepair");
    expect_not_stored(aclrtMemUceRepair(-1, nullptr, size), kBadArgument, "aclrtMemUceRepair");
  }
  for (const std::int32_t device : {-1, devices(), INT32_MAX}) {
    expect_stored(aclrtMemUceRepair(device, &one, 1), kBadDevice, "aclrtMemUceRepair");
    expect_not_stored(aclrtMemUceRepair(device, &one, kMost + 1), kBadArgument, "aclrtMemUceRepair");
  }
}

TEST_F(Faults, R272_NoDeviceHasAnError) {
  for (std::int32_t device = 0; device < devices(); ++device) {
    aclrtErrorInfo info;
    std::memset(&info, 0x5A, sizeof info);
    EXPECT_EQ(aclrtGetErrorVerbose(device, &info), ACL_SUCCESS) << device;
    EXPECT_TRUE(all_bytes(info, 0)) << "ACL_RT_NO_ERROR, nothing to repair, no detail";
    EXPECT_EQ(aclrtRepairError(device, &info), ACL_SUCCESS) << device;
  }
}

TEST_F(Faults, R272_RepairingWhatIsNotDamaged) {
  for (const int type : {0, 1, 2, 3, 4, 5, 6, 0xFFFF, -1}) {
    aclrtErrorInfo info;
    std::memset(&info, 0xFF, sizeof info);
    info.errorType = as_enum<aclrtErrorType>(type);
    EXPECT_EQ(aclrtRepairError(0, &info), ACL_SUCCESS) << type;
  }
}

TEST_F(Faults, R272_Arguments) {
  aclrtErrorInfo info;
  std::memset(&info, 0x5A, sizeof info);
  for (const std::int32_t device : {-1, 0, devices()}) {
    expect_not_stored(aclrtGetErrorVerbose(device, nullptr), kBadArgument, "aclrtGetErrorVerbose");
    expect_not_stored(aclrtRepairError(device, nullptr), kBadArgument, "aclrtRepairError");
    if (device == 0) continue;
    expect_stored(aclrtGetErrorVerbose(device, &info), kBadDevice, "aclrtGetErrorVerbose");
    expect_stored(aclrtRepairError(device, &info), kBadDevice, "aclrtRepairError");
  }
  EXPECT_TRUE(all_bytes(info, 0x5A));
}

TEST_F(Faults, R270_R271_R272_NoContextIsNeeded) {
  without_context([] {
    aclrtMemUceInfo one{};
    std::size_t count = 77;
    aclrtErrorInfo info{};
    EXPECT_EQ(aclrtGetMemUceInfo(0, &one, 1, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemUceRepair(0, &one, 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetErrorVerbose(0, &info), ACL_SUCCESS);
    EXPECT_EQ(aclrtRepairError(0, &info), ACL_SUCCESS);
  });
}

}  // namespace faults_test
