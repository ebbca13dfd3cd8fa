// The shape of an error message, and which code goes with which answer.
//
// Only what programs may rely on is matched: the code, the name of the function, the value, the labels.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"
#include "support/worker.h"

namespace error_catalogue_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::on_new_thread;
using belay_test::recent_message;
using belay_test::Scratch;

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The code of the headline, "" if it has none.
std::string headline_code(const std::string& text) {
  std::smatch found;
  const std::string line = text.substr(0, text.find('\n'));
  return std::regex_search(line, found, std::regex("\\(([EWI][A-Z][0-9]{4})\\):")) ? found[1].str() : "";
}

class ErrorCatalogue : public belay_test::OnDevice {};

TEST_F(ErrorCatalogue, R217_Codes) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF), ACL_ERROR_RT_PARAM_INVALID);
  const std::string text = recent_message();
  const std::regex code("\\b([EWI])([A-Z])([0-9]{4})\\b");
  std::string modules;
  for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) {
    if (std::stoi((*i)[3]) < 9000) modules += (*i)[2].str();
  }
  EXPECT_TRUE(has(modules, "L")) << "the driver spoke of the device: " << text;
  EXPECT_TRUE(has(modules, "H")) << "the ACL layer spoke of NULL: " << text;
  EXPECT_TRUE(has(modules, "E")) << "the runtime spoke of the mode: " << text;
}

TEST_F(ErrorCatalogue, R218_TheHeadline) {
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string text = recent_message();
  const std::regex shape(
      "\\[PID: ([0-9]+)\\] "
      "([0-9]{4})-([0-9]{2})-([0-9]{2})-([0-9]{2}):([0-9]{2}):([0-9]{2})\\.[0-9]{3}\\.[0-9]{3} "
      "[A-Za-z0-9]+(_[A-Za-z0-9]+)*\\(EL0002\\): \\S.*");
  const std::string line = lines_of(text).at(0);
  std::smatch found;
  ASSERT_TRUE(std::regex_match(line, found, shape)) << line;
  EXPECT_EQ(found[1], std::to_string(::getpid()));
  std::tm time{};
  time.tm_year = std::stoi(found[2]) - 1900;
  time.tm_mon = std::stoi(found[3]) - 1;
  time.tm_mday = std::stoi(found[4]);
  time.tm_hour = std::stoi(found[5]);
  time.tm_min = std::stoi(found[6]);
  time.tm_sec = std::stoi(found[7]);
  time.tm_isdst = -1;
  EXPECT_NEAR(std::difftime(std::time(nullptr), std::mktime(&time)), 0.0, 120.0) << "local time";
}

TEST_F(ErrorCatalogue, R218_R220_TheLabels) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, std::size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  const std::string text = recent_message();
  const std::vector<std::string> lines = lines_of(text);
  std::size_t cause = 0, solution = 0, trace = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].substr(0, 8), "        ") << "lines below the headline are indented: " << lines[i];
    if (lines[i].rfind("        Possible Cause: ", 0) == 0) cause = i;
    if (lines[i].rfind("        Solution: ", 0) == 0) solution = i;
    if (lines[i] == "        TraceBack (most recent call last):") trace = i;
  }
  EXPECT_GT(cause, 0U) << text;
  EXPECT_GT(solution, cause) << text;
  EXPECT_GT(trace, solution) << text;
}

// One call that fails, and what its message must contain.
struct Failure {
  std::string call;
  std::function<aclError()> run;
  aclError answer;
  std::string codes;  // those that are right, separated by |
  std::vector<std::string> words;
};

void expect_message(const Failure& failure) {
  SCOPED_TRACE(failure.call);
  recent_message();
  EXPECT_EQ(failure.run(), failure.answer);
  const std::string text = recent_message();
  EXPECT_TRUE(std::regex_match(headline_code(text), std::regex(failure.codes))) << text;
  EXPECT_TRUE(has(text, failure.call)) << "names the function: " << text;
  for (const std::string& word : failure.words) EXPECT_TRUE(has(text, word)) << word << ": " << text;
}

constexpr const char* kNull = "EH0002|EH0008";
constexpr const char* kFirstLayerValue = "EH0001|EH0007|EH0009|EH0012";
constexpr const char* kRuntimeValue = "EE1003|EE1011";

std::int32_t number = 0;
std::int64_t wide = 0;
void* block = nullptr;

TEST_F(ErrorCatalogue, R221_R220_Null) {
  const std::vector<Failure> failures = {
      {"aclrtGetDevice", [] { return aclrtGetDevice(nullptr); }, 100000, kNull, {}},
      {"aclrtGetDeviceCount", [] { return aclrtGetDeviceCount(nullptr); }, 100000, kNull, {}},
      {"aclrtGetRunMode", [] { return aclrtGetRunMode(nullptr); }, 100000, kNull, {}},
      {"aclrtCreateContext", [] { return aclrtCreateContext(nullptr, 0); }, 100000, kNull, {}},
      {"aclrtSetCurrentContext", [] { return aclrtSetCurrentContext(nullptr); }, 100000, kNull, {}},
      {"aclrtDestroyContext", [] { return aclrtDestroyContext(nullptr); }, 100000, kNull, {}},
      {"aclrtDeviceGetUuid", [] { return aclrtDeviceGetUuid(0, nullptr); }, 100000, kNull, {}},
      {"aclrtRegDeviceStateCallback",
       [] { return aclrtRegDeviceStateCallback(nullptr, nullptr, nullptr); },
       100000,
       kNull,
       {}},
      {"aclDestroyDataBuffer", [] { return aclDestroyDataBuffer(nullptr); }, 100000, kNull, {}},
      {"aclrtMalloc", [] { return aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST); }, 100000, kNull, {}},
  };
  for (const Failure& failure : failures) expect_message(failure);
}

TEST_F(ErrorCatalogue, R221_R220_ValuesTheFirstLayerRefuses) {
  const std::vector<Failure> failures = {
      {"aclrtSetTsDevice",
       [] { return aclrtSetTsDevice(as_enum<aclrtTsId>(4711)); },
       100000,
       kFirstLayerValue,
       {"4711"}},
      {"aclrtDeviceSetLimit",
       [] { return aclrtDeviceSetLimit(as_enum<aclrtDeviceLimit>(4711), 1); },
       100000,
       kFirstLayerValue,
       {"4711"}},
      {"aclrtCtxSetSysParamOpt",
       [] { return aclrtCtxSetSysParamOpt(as_enum<aclSysParamOpt>(4711), 1); },
       100000,
       kFirstLayerValue,
       {"4711"}},
      {"aclrtGetLastError",
       [] { return aclrtGetLastError(as_enum<aclrtLastErrLevel>(4711)); },
       100000,
       kFirstLayerValue,
       {"4711"}},
  };
  for (const Failure& failure : failures) expect_message(failure);
}

TEST_F(ErrorCatalogue, R221_R220_ValuesTheRuntimeRefuses) {
  const std::vector<Failure> failures = {
      {"aclrtSetDeviceSatMode",
       [] { return aclrtSetDeviceSatMode(as_enum<aclrtFloatOverflowMode>(4711)); },
       107000,
       kRuntimeValue,
       {"4711"}},
      {"aclrtCtxSetSysParamOpt",
       [] { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4711); },
       107000,
       kRuntimeValue,
       {"4711"}},
      {"aclrtSetDeviceResLimit",
       [] { return aclrtSetDeviceResLimit(0, as_enum<aclrtDevResLimitType>(4711), 1); },
       107000,
       kRuntimeValue,
       {"4711"}},
      {"aclrtGetDeviceCapability",
       [] { return aclrtGetDeviceCapability(0, as_enum<aclrtDevFeatureType>(4711), &number); },
       107000,
       kRuntimeValue,
       {"4711"}},
      {"aclrtGetDeviceInfo",
       [] { return aclrtGetDeviceInfo(0, as_enum<aclrtDevAttr>(4711), &wide); },
       107000,
       kRuntimeValue,
       {"4711"}},
  };
  for (const Failure& failure : failures) expect_message(failure);
}

TEST_F(ErrorCatalogue, R221_R220_DeviceIds) {
  const std::vector<Failure> failures = {
      {"aclrtSetDevice", [] { return aclrtSetDevice(-4711); }, 107001, "EL0002", {"-4711"}},
      {"aclrtResetDevice", [] { return aclrtResetDevice(4711); }, 107001, "EL0002", {"4711"}},
      {"aclrtCreateContext",
       [] {
         aclrtContext c = nullptr;
         return aclrtCreateContext(&c, 4711);
       },
       107001,
       "EL0002",
       {"4711"}},
      {"aclrtGetPrimaryCtxState",
       [] { return aclrtGetPrimaryCtxState(4711, nullptr, &number); },
       107001,
       "EL0002",
       {"4711"}},
      {"aclrtDeviceCanAccessPeer",
       [] { return aclrtDeviceCanAccessPeer(&number, 0, 4711); },
       107001,
       "EL0002",
       {"4711"}},
  };
  for (const Failure& failure : failures) expect_message(failure);
}

TEST_F(ErrorCatalogue, R221_OrderOfCalls) {
  expect_message({"aclrtResetDevice", [] { return aclrtResetDevice(7); }, 507007, "EE1018", {}});
  on_new_thread([] {
    expect_message({"aclrtCtxGetCurrentDefaultStream",
                    [] {
                      aclrtStream stream = nullptr;
                      return aclrtCtxGetCurrentDefaultStream(&stream);
                    },
                    107002,
                    "EE1018",
                    {"aclrtSetDevice"}});
  });
  expect_message({"aclrtDeviceEnablePeerAccess",
                  [] { return aclrtDeviceEnablePeerAccess(1, 4711); },
                  200006,
                  "EH0006|EH0011",
                  {}});
}

TEST(ErrorCatalogueAlone, R221_Files) {
  const Scratch scratch;
  const std::string missing = scratch.sub("missing.json"), broken = scratch.write("broken.json", "{");
  const std::string refused = scratch.write("refused.json", R"({"err_msg_mode": "4711"})");
  in_fresh_process([&] {
    expect_message({"aclInit", [&] { return aclInit(missing.c_str()); }, 100003, "EH0003", {missing}});
    expect_message({"aclInit", [&] { return aclInit(broken.c_str()); }, 100006, "EH0004", {broken}});
    recent_message();
    EXPECT_EQ(aclInit(refused.c_str()), ACL_ERROR_INVALID_PARAM);
    EXPECT_TRUE(has(recent_message(), "4711"));
  });
}

std::string hex(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(pointer)));
  return text;
}

TEST_F(ErrorCatalogue, R222_R221_OutOfMemory) {
  const std::size_t size = std::size_t{1} << 50;
  expect_message({"aclrtMalloc",
                  [&] { return aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST); },
                  207001,
                  "EL0004",
                  {std::to_string(size)}});
  expect_message({"aclrtMallocAlign32",
                  [&] { return aclrtMallocAlign32(&block, size, ACL_MEM_MALLOC_HUGE_ONLY); },
                  207001,
                  "EL0004",
                  {std::to_string(size)}});
}

TEST_F(ErrorCatalogue, R222_BadFreeAndBadCopy) {
  static int here = 0;
  expect_message({"aclrtFree", [] { return aclrtFree(&here); }, 107000, kRuntimeValue, {hex(&here)}});
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  expect_message({"aclrtMemcpy",
                  [] {
                    char bytes[8] = {};
                    return aclrtMemcpy(block, 4, bytes, 8, ACL_MEMCPY_HOST_TO_DEVICE);
                  },
                  107000,
                  kRuntimeValue,
                  {}});
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  expect_message({"aclrtFree", [] { return aclrtFree(block); }, 107000, kRuntimeValue, {hex(block)}});
  expect_message({"aclrtFree", [] { return aclrtFree(nullptr); }, 100000, kNull, {}});
  expect_message({"aclrtMemcpy",
                  [] { return aclrtMemcpy(nullptr, 8, &here, 8, ACL_MEMCPY_HOST_TO_DEVICE); },
                  100000,
                  kNull,
                  {}});
  recent_message();
  char byte = 0;
  EXPECT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_TRUE(has(recent_message(), hex(block))) << "a freed block";
}

}  // namespace error_catalogue_test
