// Functions that the start and the end of the runtime call.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"

namespace init_callback_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::Scratch;

// What the callbacks saw, in the order of the calls.
struct Call {
  std::string name;
  std::string text;
  std::size_t length;
};
std::vector<Call> calls;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Call& call : calls) all.push_back(call.name);
  return all;
}

// userData is the name.
aclError note_init(const char* text, std::size_t length, void* name) {
  calls.push_back({static_cast<const char*>(name), text == nullptr ? "(null)" : text, length});
  return ACL_SUCCESS;
}
aclError note_init_again(const char* text, std::size_t length, void* name) {
  return note_init(text, length, name);
}
aclError fail_init(const char* text, std::size_t length, void* name) {
  note_init(text, length, name);
  return 424242;
}
aclError note_end(void* name) {
  calls.push_back({static_cast<const char*>(name), "", 0});
  return ACL_SUCCESS;
}
aclError note_end_again(void* name) { return note_end(name); }
aclError fail_end(void* name) {
  note_end(name);
  return 434343;
}

void on_init(aclRegisterCallbackType type, const char* name, aclInitCallbackFunc function = note_init) {
  EXPECT_EQ(aclInitCallbackRegister(type, function, const_cast<char*>(name)), ACL_SUCCESS) << name;
}
void on_end(aclRegisterCallbackType type, const char* name, aclFinalizeCallbackFunc function = note_end) {
  EXPECT_EQ(aclFinalizeCallbackRegister(type, function, const_cast<char*>(name)), ACL_SUCCESS) << name;
}

TEST(InitCallback, R31_TheOrderWithAConfiguration) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"note": 1})");
  in_fresh_process([&] {
    on_init(ACL_REG_TYPE_OTHER, "other");
    on_init(ACL_REG_TYPE_ACL_DVPP, "dvpp");
    on_init(ACL_REG_TYPE_ACL_TDT_QUEUE, "queue");
    on_init(ACL_REG_TYPE_ACL_TDT_CHANNEL, "channel");
    on_init(ACL_REG_TYPE_ACL_OP_COMPILER, "compiler");
    on_init(ACL_REG_TYPE_ACL_OP_CBLAS, "cblas");
    on_init(ACL_REG_TYPE_ACL_OP_EXECUTOR, "executor");
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    std::vector<std::string> order = names();
    ASSERT_EQ(order.size(), 8U);
    EXPECT_EQ(order.front(), "model");
    EXPECT_EQ(order[6], "dvpp");
    EXPECT_EQ(order[7], "other");
    std::sort(order.begin() + 1, order.begin() + 6);
    const std::vector<std::string> middle(order.begin() + 1, order.begin() + 6);
    EXPECT_EQ(middle, (std::vector<std::string>{"cblas", "channel", "compiler", "executor", "queue"}));
  });
}

TEST(InitCallback, R31_WithoutAConfigurationTheOperatorTypesAreLeftOut) {
  in_fresh_process([] {
    on_init(ACL_REG_TYPE_OTHER, "other");
    on_init(ACL_REG_TYPE_ACL_DVPP, "dvpp");
    on_init(ACL_REG_TYPE_ACL_TDT_CHANNEL, "channel");
    on_init(ACL_REG_TYPE_ACL_OP_EXECUTOR, "executor");
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(names(), (std::vector<std::string>{"model", "dvpp", "other"}));
  });
}

TEST(InitCallback, R31_TheFirstFailureIsTheAnswer) {
  in_fresh_process([] {
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    on_init(ACL_REG_TYPE_ACL_DVPP, "dvpp", fail_init);
    on_init(ACL_REG_TYPE_OTHER, "other");
    EXPECT_EQ(aclInit(nullptr), 424242);
    EXPECT_EQ(names(), (std::vector<std::string>{"model", "dvpp"}));
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE) << "the count is 0";
    EXPECT_EQ(aclInit(nullptr), 424242) << "it may be tried again";
    EXPECT_EQ(calls.size(), 4U);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, fail_init), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(calls.back().name, "other");
  });
}

TEST(InitCallback, R31_R28_AFailedStartSetsNoText) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"note": 1})");
  in_fresh_process([&] {
    on_init(ACL_REG_TYPE_OTHER, "other", fail_init);
    EXPECT_EQ(aclInit(file.c_str()), 424242);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, fail_init), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST(InitCallback, R31_R24_OnlyTheFirstInitCallsThem) {
  in_fresh_process([] {
    on_init(ACL_REG_TYPE_OTHER, "other");
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(calls.size(), 1U);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(calls.size(), 2U);
  });
}

TEST(InitCallback, R33_InitFromInsideACallback) {
  in_fresh_process([] {
    static aclError inner = -1;
    const aclInitCallbackFunc recurse = [](const char*, std::size_t, void*) -> aclError {
      inner = aclInit(nullptr);
      return ACL_SUCCESS;
    };
    EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, recurse, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(inner, ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  });
}

TEST(InitCallback, R40_TheOrderAtTheEnd) {
  in_fresh_process([] {
    on_end(ACL_REG_TYPE_OTHER, "other");
    on_end(ACL_REG_TYPE_ACL_DVPP, "dvpp");
    on_end(ACL_REG_TYPE_ACL_MODEL, "model");
    on_end(ACL_REG_TYPE_ACL_OP_COMPILER, "compiler");
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_TRUE(calls.empty());
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(names(), (std::vector<std::string>{"compiler", "model", "dvpp", "other"}));
  });
}

TEST(InitCallback, R40_TheFirstFailureLeavesTheCount) {
  in_fresh_process([] {
    on_end(ACL_REG_TYPE_ACL_MODEL, "model");
    on_end(ACL_REG_TYPE_ACL_DVPP, "dvpp", fail_end);
    on_end(ACL_REG_TYPE_OTHER, "other");
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalize(), 434343);
    EXPECT_EQ(names(), (std::vector<std::string>{"model", "dvpp"}));
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE) << "still running";
    std::uint64_t count = 0;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 3U);
    EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, fail_end), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  });
}

TEST(InitCallback, R40_R38_AFailureOfTheLastReference) {
  in_fresh_process([] {
    on_end(ACL_REG_TYPE_OTHER, "other", fail_end);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), 434343);
    EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, fail_end), ACL_SUCCESS);
    std::uint64_t count = 9;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS) << "the reference was not lost";
    EXPECT_EQ(count, 0U);
  });
}

TEST(InitCallback, R46_NullFunctions) {
  in_fresh_process([] {
    EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST(InitCallback, R47_OnePerTypeAndAnyNumberForOther) {
  in_fresh_process([] {
    on_init(ACL_REG_TYPE_ACL_MODEL, "first");
    char name[] = "second";
    EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, note_init_again, name),
              ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, note_init, name), ACL_ERROR_INTERNAL_ERROR);
    on_init(ACL_REG_TYPE_OTHER, "one");
    on_init(ACL_REG_TYPE_OTHER, "two", note_init_again);
    on_end(ACL_REG_TYPE_ACL_MODEL, "end first");  // a table of its own
    EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, note_end_again, name),
              ACL_ERROR_INTERNAL_ERROR);
    on_end(ACL_REG_TYPE_OTHER, "end one");
    on_end(ACL_REG_TYPE_OTHER, "end two", note_end_again);

    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    std::vector<std::string> seen = names();
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::string>{"first", "one", "two"}));
    calls.clear();
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    seen = names();
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::string>{"end first", "end one", "end two"}));
  });
}

TEST(InitCallback, R48_RegisteredLateItIsCalledAtOnce) {
  const Scratch scratch;
  const std::string json = R"({"note": "late"})";
  const std::string file = scratch.write("acl.json", json);
  in_fresh_process([&] {
    EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    on_init(ACL_REG_TYPE_ACL_DVPP, "dvpp");
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].text, json);
    EXPECT_EQ(calls[0].length, json.size());
    on_init(ACL_REG_TYPE_OTHER, "other", fail_init);  // its result counts for nothing
    EXPECT_EQ(calls.size(), 2U);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    EXPECT_EQ(calls.size(), 2U) << "no longer running, so not at once";
  });
}

TEST(InitCallback, R49_WhatACallbackGets) {
  const Scratch scratch;
  const std::string json = "{\"note\": \"\xc3\xa4\",\n \"err_msg_mode\": \"0\"}\n";
  const std::string file = scratch.write("acl.json", json);
  in_fresh_process([&] {
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    on_end(ACL_REG_TYPE_ACL_MODEL, "end");
    EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].text, json);
    EXPECT_EQ(calls[0].length, json.size());
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(calls.back().name, "end");
  });
  in_fresh_process([] {
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].text, "");
    EXPECT_EQ(calls[0].length, 0U);
  });
}

TEST(InitCallback, R50_OnlyRegisteredPairsCanBeTakenBack) {
  in_fresh_process([] {
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, note_init), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, note_end), ACL_ERROR_INTERNAL_ERROR);
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, note_init_again), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, note_init), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, note_init), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, note_init), ACL_SUCCESS);
    EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, note_init), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_TRUE(calls.empty());
    on_init(ACL_REG_TYPE_ACL_MODEL, "model");  // the place is free again
  });
}

TEST(InitCallback, R51_TypesOutsideTheEnum) {
  in_fresh_process([] {
    for (const int number : {8, 9, 100, 0xFFFE, 0x10000, -1}) {
      const auto type = as_enum<aclRegisterCallbackType>(number);
      EXPECT_EQ(aclInitCallbackRegister(type, note_init, nullptr), ACL_ERROR_INVALID_PARAM) << number;
      EXPECT_EQ(aclInitCallbackUnRegister(type, note_init), ACL_ERROR_INVALID_PARAM) << number;
      EXPECT_EQ(aclFinalizeCallbackRegister(type, note_end, nullptr), ACL_ERROR_INVALID_PARAM) << number;
      EXPECT_EQ(aclFinalizeCallbackUnRegister(type, note_end), ACL_ERROR_INVALID_PARAM) << number;
    }
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_TRUE(calls.empty());
  });
}

}  // namespace init_callback_test
