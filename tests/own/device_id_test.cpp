// User, logical and physical device numbers, and the number of the process.
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/device_fixture.h"
#include "support/settings.h"

namespace device_id_test {

using belay_test::in_fresh_process;

using Translation = aclError (*)(const std::int32_t, std::int32_t* const);

struct Named {
  const char* name;
  Translation function;
};

const std::vector<Named>& translations() {
  static const std::vector<Named> all = {
      {"aclrtGetLogicDevIdByUserDevId", aclrtGetLogicDevIdByUserDevId},
      {"aclrtGetUserDevIdByLogicDevId", aclrtGetUserDevIdByLogicDevId},
      {"aclrtGetLogicDevIdByPhyDevId", aclrtGetLogicDevIdByPhyDevId},
      {"aclrtGetPhyDevIdByLogicDevId", aclrtGetPhyDevIdByLogicDevId},
      {"aclrtGetUserDevIdByPhyDevId", aclrtGetUserDevIdByPhyDevId},
      {"aclrtGetPhyDevIdByUserDevId", aclrtGetPhyDevIdByUserDevId},
  };
  return all;
}

void expect_translated(Translation function, std::int32_t from, std::int32_t to) {
  std::int32_t number = -77;
  EXPECT_EQ(function(from, &number), ACL_SUCCESS) << from;
  EXPECT_EQ(number, to) << from;
}

void expect_refused(Translation function, std::int32_t from, aclError answer) {
  std::int32_t number = -77;
  EXPECT_EQ(function(from, &number), answer) << from;
  EXPECT_EQ(number, -77) << "the output stays";
}

TEST(DeviceId, R87_AllNumbersAreTheSameByDefault) {
  for (const Named& translation : translations()) {
    SCOPED_TRACE(translation.name);
    for (std::int32_t device = 0; device < 8; ++device)
      expect_translated(translation.function, device, device);
  }
}

TEST(DeviceId, R87_UserNumbersAreIndexes) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "1,2,6"}}, [] {
    const std::vector<std::int32_t> visible = {1, 2, 6};
    for (std::int32_t user = 0; user < 3; ++user) {
      const std::int32_t logical = visible[static_cast<std::size_t>(user)];
      expect_translated(aclrtGetLogicDevIdByUserDevId, user, logical);
      expect_translated(aclrtGetUserDevIdByLogicDevId, logical, user);
      expect_translated(aclrtGetPhyDevIdByUserDevId, user, logical);
      expect_translated(aclrtGetUserDevIdByPhyDevId, logical, user);
    }
  });
}

TEST(DeviceId, R88_TheLogicNamesTranslateUserNumbers) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "1,2,6"}}, [] {
    expect_translated(aclrtGetLogicDevIdByPhyDevId, 1, 0);
    expect_translated(aclrtGetLogicDevIdByPhyDevId, 2, 1);
    expect_translated(aclrtGetLogicDevIdByPhyDevId, 6, 2);
    expect_translated(aclrtGetPhyDevIdByLogicDevId, 0, 1);
    expect_translated(aclrtGetPhyDevIdByLogicDevId, 1, 2);
    expect_translated(aclrtGetPhyDevIdByLogicDevId, 2, 6);
  });
}

TEST(DeviceId, R89_NullAndNegative) {
  for (const Named& translation : translations()) {
    SCOPED_TRACE(translation.name);
    EXPECT_EQ(translation.function(0, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(translation.function(-1, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(translation.function(99, nullptr), ACL_ERROR_INVALID_PARAM);
    expect_refused(translation.function, -1, ACL_ERROR_RT_PARAM_INVALID);
    expect_refused(translation.function, INT32_MIN, ACL_ERROR_RT_PARAM_INVALID);
  }
}

TEST(DeviceId, R89_OutOfRange) {
  for (const Named& translation : translations()) {
    SCOPED_TRACE(translation.name);
    expect_refused(translation.function, 8, ACL_ERROR_RT_INVALID_DEVICEID);
    expect_refused(translation.function, 64, ACL_ERROR_RT_INVALID_DEVICEID);
    expect_refused(translation.function, INT32_MAX, ACL_ERROR_RT_INVALID_DEVICEID);
  }
}

TEST(DeviceId, R89_NotVisible) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "1,2,6"}}, [] {
    // The machine's own numbers: the device is there, but hidden.
    for (const std::int32_t hidden : {0, 3, 7}) {
      expect_refused(aclrtGetUserDevIdByLogicDevId, hidden, ACL_ERROR_RT_INVALID_DEVICEID);
      expect_refused(aclrtGetUserDevIdByPhyDevId, hidden, ACL_ERROR_RT_INVALID_DEVICEID);
      expect_refused(aclrtGetLogicDevIdByPhyDevId, hidden, ACL_ERROR_RT_INVALID_DEVICEID);
    }
    // User numbers end at the count.
    for (const std::int32_t beyond : {3, 6, 7}) {
      expect_refused(aclrtGetLogicDevIdByUserDevId, beyond, ACL_ERROR_RT_INVALID_DEVICEID);
      expect_refused(aclrtGetPhyDevIdByUserDevId, beyond, ACL_ERROR_RT_INVALID_DEVICEID);
      expect_refused(aclrtGetPhyDevIdByLogicDevId, beyond, ACL_ERROR_RT_INVALID_DEVICEID);
    }
  });
}

// The process as the outermost visible name space numbers it; outside containers that is getpid().
std::int32_t outermost_pid() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("NSpid:", 0) != 0) continue;
    std::istringstream words(line.substr(6));
    std::int32_t pid = 0;
    if (words >> pid) return pid;
  }
  return static_cast<std::int32_t>(::getpid());
}

TEST(DeviceId, R90_TheNumberOfTheProcess) {
  EXPECT_EQ(aclrtDeviceGetBareTgid(nullptr), ACL_ERROR_INVALID_PARAM);
  std::int32_t pid = -1;
  EXPECT_EQ(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
  EXPECT_EQ(pid, outermost_pid());
  in_fresh_process({}, [pid] {
    std::int32_t own = -1;
    EXPECT_EQ(aclrtDeviceGetBareTgid(&own), ACL_SUCCESS);
    EXPECT_EQ(own, outermost_pid());
    EXPECT_NE(own, pid);
  });
}

}  // namespace device_id_test
