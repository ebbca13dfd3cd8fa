// ASCEND_RT_VISIBLE_DEVICES as it shows in functions that are not about it.
#include <cstdint>
#include <mutex>
#include <regex>
#include <string>
#include <vector>

#include "support/settings.h"
#include "support/streams.h"

namespace visible_devices_seen_test {

using namespace belay_test;

TEST(VisibleDevicesSeen, R99_R52_StateCallbacksGetTheIdsOfTheUser) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "3,5"}}, [] {
    static constexpr const char* kNames[] = {"set-pre", "set-post", "reset-pre", "reset-post"};
    std::string seen;
    const auto note = [](std::int32_t device, aclrtDeviceState state, void* text) {
      *static_cast<std::string*>(text) += std::to_string(device) + ':' + kNames[state] + ' ';
    };
    EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(seen, "1:set-pre 1:set-post 1:reset-pre 1:reset-post ");
  });
}

TEST(VisibleDevicesSeen, R221_R75_TheMessageNamesTheVariableAndItsValue) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "seven"}}, [] {
    std::uint32_t count = 0;
    recent_message();
    EXPECT_EQ(aclrtGetDeviceCount(&count), 207004);
    const std::string text = recent_message();
    EXPECT_TRUE(std::regex_search(text.substr(0, text.find('\n')), std::regex("\\(EE2002\\):"))) << text;
    for (const char* const word : {"aclrtGetDeviceCount", "ASCEND_RT_VISIBLE_DEVICES", "seven"}) {
      EXPECT_NE(text.find(word), std::string::npos) << word << ": " << text;
    }
  });
}

std::mutex mutex;
std::vector<std::uint32_t> failed_on;

void note_failure(aclrtExceptionInfo* info) {
  const std::lock_guard lock(mutex);
  failed_on.push_back(aclrtGetDeviceIdFromExceptionInfo(info));
}

TEST(VisibleDevicesSeen, R227_R52_TheDeviceOfAFailureIsTheOneOfTheUser) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "2,3,5"}}, [] {
    EXPECT_EQ(aclrtExceptionInfoCallbackRegister(note_failure), ACL_SUCCESS);
    for (const std::int32_t device : {2, 0, 1}) {
      EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      const Failing failing;
      const Stream stream;
      failing.queue(stream.get());
      EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
      EXPECT_EQ(failed_on, std::vector<std::uint32_t>{static_cast<std::uint32_t>(device)});
      failed_on.clear();
    }
  });
}

TEST(VisibleDevicesSeen, R246_CapabilitiesOfTheVisibleDevicesOnly) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "4,5"}}, [] {
    std::int64_t second = -77;
    EXPECT_EQ(aclGetDeviceCapability(1, ACL_DEVICE_INFO_L2_SIZE, &second), ACL_SUCCESS);
    EXPECT_EQ(aclGetDeviceCapability(2, ACL_DEVICE_INFO_L2_SIZE, &second), ACL_ERROR_INVALID_PARAM);
  });
}

TEST(VisibleDevicesSeen, R265_NoVisibleDeviceIs207004) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", ""}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_RT_NO_DEVICE);
  });
}

}  // namespace visible_devices_seen_test
