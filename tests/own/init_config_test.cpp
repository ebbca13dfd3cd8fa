// The keys of the aclInit configuration, and a chip name that cannot be had.
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/device_fixture.h"
#include "support/scratch.h"
#include "support/settings.h"
#include "support/worker.h"

namespace init_config_test {

using belay_test::in_fresh_process;
using belay_test::on_new_thread;
using belay_test::recent_message;
using belay_test::Scratch;
using belay_test::Settings;

// What aclInit answers to a configuration, in a process of its own.
void expect_answer(const std::string& json, aclError expected, const Settings& settings = {}) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", json);
  in_fresh_process(settings, [&] {
    EXPECT_EQ(aclInit(file.c_str()), expected) << json;
    std::uint64_t count = 9;
    const aclError then = expected == ACL_SUCCESS ? ACL_SUCCESS : ACL_ERROR_REPEAT_FINALIZE;
    EXPECT_EQ(aclFinalizeReference(&count), then) << json;
    EXPECT_EQ(count, 0U);
  });
}

TEST(InitConfig, R29_MessageMode) {
  expect_answer(R"({"err_msg_mode": "0"})", ACL_SUCCESS);
  expect_answer(R"({"err_msg_mode": "1"})", ACL_SUCCESS);
  expect_answer(R"({"err_msg_mode": "2"})", ACL_ERROR_INVALID_PARAM);
  expect_answer(R"({"err_msg_mode": "-1"})", ACL_ERROR_INVALID_PARAM);
  expect_answer(R"({"err_msg_mode": "thread"})", ACL_ERROR_INVALID_PARAM);
  expect_answer(R"({"err_msg_mode": "10"})", ACL_ERROR_INVALID_PARAM);
}

TEST(InitConfig, R29_GraphEventMode) {
  expect_answer(R"({"acl_graph": {"event_mode": "0"}})", ACL_SUCCESS);
  expect_answer(R"({"acl_graph": {"event_mode": "1"}})", ACL_SUCCESS);
  expect_answer(R"({"acl_graph": {"event_mode": "2"}})", ACL_ERROR_INVALID_PARAM);
  expect_answer(R"({"acl_graph": {"event_mode": "yes"}})", ACL_ERROR_INVALID_PARAM);
}

TEST(InitConfig, R29_StackSizes) {
  for (const char* key : {"aicore_stack_size", "simt_stack_size", "simt_divergence_stack_size"}) {
    const auto with = [key](const std::string& value) {
      return R"({"StackSize": {")" + std::string(key) + R"(": )" + value + "}}";
    };
    expect_answer(with("32768"), ACL_SUCCESS);
    expect_answer(with("-1"), ACL_ERROR_FAILURE);
    expect_answer(with("0"), ACL_ERROR_FAILURE);
    expect_answer(with(R"("many")"), ACL_ERROR_FAILURE);
    expect_answer(with("[1]"), ACL_ERROR_FAILURE);
  }
}

TEST(InitConfig, R29_OtherKeysHaveNoEffect) {
  expect_answer(R"({"dump": {"dump_path": "/tmp", "dump_mode": "all"}, "profiler": {"switch": "off"},
                    "max_opqueue_num": "20000"})",
                ACL_SUCCESS);
  expect_answer(R"({"no_such_key": {"a": [1, 2, 3]}, "another": null, "err_msg_mode": "0"})", ACL_SUCCESS);
}

std::string default_device(const std::string& value) {
  return R"({"defaultDevice": {"default_device": )" + value + "}}";
}

TEST(InitConfig, R30_OnlyPlainDecimalStrings) {
  for (const char* good : {R"("0")", R"("3")", R"("7")"}) expect_answer(default_device(good), ACL_SUCCESS);
  for (const char* bad : {R"("")", R"("01")", R"("00")", R"("-1")", R"("+1")", R"(" 1")", R"("1 ")",
                          R"("0x1")", R"("one")", R"("1.0")", "0"}) {
    expect_answer(default_device(bad), ACL_ERROR_FAILURE);
  }
}

TEST(InitConfig, R30_ADeviceThatDoesNotExist) {
  expect_answer(default_device(R"("8")"), ACL_ERROR_RT_INVALID_DEVICEID);
  expect_answer(default_device(R"("10")"), ACL_ERROR_RT_INVALID_DEVICEID);
  expect_answer(default_device(R"("4294967296")"), ACL_ERROR_RT_INVALID_DEVICEID);
  expect_answer(default_device(R"("99999999999999999999999")"), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST(InitConfig, R30_R52_TheDefaultDeviceIsAUserId) {
  const Settings two = {{"ASCEND_RT_VISIBLE_DEVICES", "4,6"}};
  expect_answer(default_device(R"("1")"), ACL_SUCCESS, two);
  expect_answer(default_device(R"("2")"), ACL_ERROR_RT_INVALID_DEVICEID, two);
}

TEST(InitConfig, R30_ThreadsWithoutAContextGetTheDefaultDevice) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", default_device(R"("2")"));
  in_fresh_process({}, [&] {
    EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    on_new_thread([] {
      std::int32_t device = -1;
      EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
      EXPECT_EQ(device, 2);
    });
    on_new_thread([] {
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      aclrtPtrAttributes attributes{};
      EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
      EXPECT_EQ(attributes.location.id, 2U);
      std::int32_t device = -1, active = -1;
      EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
      EXPECT_EQ(device, 2);
      EXPECT_EQ(aclrtGetPrimaryCtxState(2, nullptr, &active), ACL_SUCCESS);
      EXPECT_EQ(active, 1) << "the device counts as set";
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    });
    on_new_thread([] {
      aclrtStream stream = nullptr;
      EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
      EXPECT_NE(stream, nullptr);
    });
    EXPECT_EQ(aclrtResetDeviceForce(2), ACL_SUCCESS);
  });
}

TEST(InitConfig, R30_AnExplicitChoiceWins) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", default_device(R"("2")"));
  in_fresh_process({}, [&] {
    EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(5), ACL_SUCCESS);
    std::int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, 5);
    EXPECT_EQ(aclrtResetDevice(5), ACL_SUCCESS);
  });
}

TEST(InitConfig, R30_R11_WithoutTheKeyThereIsNoDefault) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"defaultDevice": {}})");
  in_fresh_process({}, [&] {
    EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    std::int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

// A machine that cannot be understood has no chip name; the message says which setting is wrong.
struct WrongSetting {
  Settings settings;
  std::string name, value;
  std::vector<std::string> accepted;
};

const std::vector<WrongSetting>& wrong_settings() {
  static const std::vector<WrongSetting> all = {
      {{{"BELAY_PRODUCT", "nonsense"}}, "BELAY_PRODUCT", "nonsense", {"A2", "A3", "950", "310P"}},
      {{{"BELAY_FORM", "sideways"}}, "BELAY_FORM", "sideways", {"EP", "RC"}},
      {{{"BELAY_DEVICES", "several"}}, "BELAY_DEVICES", "several", {}},
      {{{"BELAY_DEVICES", "-1"}}, "BELAY_DEVICES", "-1", {}},
      {{{"BELAY_HBM", "plenty"}}, "BELAY_HBM", "plenty", {}},
      {{{"BELAY_HBM", "64Q"}}, "BELAY_HBM", "64Q", {}},
      {{{"BELAY_PRODUCT", "A2"}, {"BELAY_FORM", "RC"}}, "BELAY_FORM", "RC", {}},
  };
  return all;
}

TEST(InitConfig, R32_R77_NoChipNameNoInit) {
  for (const WrongSetting& wrong : wrong_settings()) {
    in_fresh_process(wrong.settings, [&] {
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INTERNAL_ERROR) << wrong.name << "=" << wrong.value;
      EXPECT_EQ(aclrtGetSocName(), nullptr);
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INTERNAL_ERROR) << "again";
      EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE) << "nothing was counted";
    });
  }
}

TEST(InitConfig, R32_NoDeviceCanBeOpenedEither) {
  for (const WrongSetting& wrong : wrong_settings()) {
    in_fresh_process(wrong.settings, [&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR) << wrong.name << "=" << wrong.value;
      std::uint32_t count = 77;
      EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_RT_DEV_SETUP_ERROR);
      EXPECT_EQ(count, 77U);
      int mark = 0;
      aclrtContext context = &mark;
      EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_ERROR_RT_DEV_SETUP_ERROR);
      EXPECT_EQ(context, &mark);
      EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
    });
  }
}

TEST(InitConfig, R32_R220_TheMessageNamesSettingValueAndWhatIsAccepted) {
  using Call = aclError (*)();
  const std::vector<Call> calls = {[] { return aclInit(nullptr); }, [] { return aclrtSetDevice(0); }};
  for (const WrongSetting& wrong : wrong_settings()) {
    for (const Call call : calls) {
      in_fresh_process(wrong.settings, [&] {
        EXPECT_NE(call(), ACL_SUCCESS);
        const std::string text = recent_message();
        EXPECT_NE(text.find(wrong.name), std::string::npos) << text;
        EXPECT_NE(text.find(wrong.value), std::string::npos) << text;
        for (const std::string& word : wrong.accepted) {
          EXPECT_NE(text.find(word), std::string::npos) << word << " is accepted: " << text;
        }
      });
    }
  }
}

}  // namespace init_config_test
