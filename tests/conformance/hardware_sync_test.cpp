// The address for cores that wait for each other: for kernels, which do not run here.
#include <set>

#include "support/blocks.h"
#include "support/contexts.h"
#include "support/refusals.h"

namespace hardware_sync_test {

using namespace belay_test;

constexpr const char* kApi = "aclrtGetHardwareSyncAddr";

class HardwareSync : public OnDevice {
 protected:
  static void* address() {
    void* found = nullptr;
    EXPECT_EQ(aclrtGetHardwareSyncAddr(&found), ACL_SUCCESS);
    return found;
  }
};

TEST_F(HardwareSync, R274_TheSameInEveryCall) {
  void* const first = address();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(address(), first);
  without_context([first] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(address(), first) << "of the device, whoever asks";
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(address(), first) << "also in another context";
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(HardwareSync, R274_EachDeviceHasItsOwn) {
  std::uint32_t devices = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
  std::set<void*> seen;
  for (std::uint32_t device = 0; device < devices; ++device) {
    EXPECT_EQ(aclrtSetDevice(static_cast<std::int32_t>(device)), ACL_SUCCESS);
    EXPECT_TRUE(seen.insert(address()).second) << device;
    EXPECT_EQ(aclrtResetDevice(static_cast<std::int32_t>(device)), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(HardwareSync, R274_NoBlockEverHasIt) {
  void* const sync = address();
  EXPECT_FALSE(alive(sync));
  EXPECT_EQ(free_bytes(), free_before_) << "it takes no memory";
  char byte = 1;
  EXPECT_NE(aclrtFree(sync), ACL_SUCCESS);
  EXPECT_NE(aclrtMemcpy(sync, 1, &byte, 1, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_NE(aclrtMemcpy(&byte, 1, sync, 1, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(sync, 1, 0, 1), ACL_SUCCESS);
  EXPECT_EQ(byte, 1);
  last_error();
  EXPECT_EQ(address(), sync);
}

TEST_F(HardwareSync, R274_Arguments) {
  expect_stored(aclrtGetHardwareSyncAddr(nullptr), kBadValue, kApi);
  without_context([] {
    void* found = sentinel();
    expect_stored(aclrtGetHardwareSyncAddr(nullptr), kBadValue, kApi);
    expect_stored(aclrtGetHardwareSyncAddr(&found), kNoContext, kApi);
    EXPECT_EQ(found, sentinel());
  });
}

}  // namespace hardware_sync_test
