// aclrtMallocWithCfg and aclrtMallocForTaskScheduler: attributes, their order, and the labels they give.
#include <cstring>
#include <string>

#include "support/allocators.h"

namespace device_malloc_cfg_test {

using namespace belay_test;

class DeviceMallocCfg : public OnDevice {};

struct Function {
  const char* name;
  aclError (*call)(void**, std::size_t, aclrtMemMallocPolicy, aclrtMallocConfig*);
};

constexpr Function kBoth[] = {{"aclrtMallocWithCfg", &::aclrtMallocWithCfg},
                              {"aclrtMallocForTaskScheduler", &::aclrtMallocForTaskScheduler}};

aclrtMallocAttribute attribute(aclrtMallocAttrType type, std::uint32_t value) {
  aclrtMallocAttribute made{};
  std::memset(made.value.rsv, 0xEE, sizeof made.value.rsv);  // the rest of the union is nobody's business
  made.attr = type;
  if (type == ACL_RT_MEM_ATTR_MODULE_ID) {
    made.value.moduleId = static_cast<std::uint16_t>(value);
  } else {
    made.value.deviceId = value;
  }
  return made;
}

aclrtMallocAttribute module(std::uint32_t id) { return attribute(ACL_RT_MEM_ATTR_MODULE_ID, id); }
aclrtMallocAttribute device(std::uint32_t id) { return attribute(ACL_RT_MEM_ATTR_DEVICE_ID, id); }
aclrtMallocAttribute reserved() { return attribute(ACL_RT_MEM_ATTR_RSV, 12345); }

// The answer to these attributes; a block that comes is freed.
aclError answer(const Function& function, std::vector<aclrtMallocAttribute> attributes) {
  aclrtMallocConfig config{attributes.data(), attributes.size()};
  const std::size_t before = free_bytes();
  void* out = nullptr;
  const aclError code = function.call(&out, 64, policy(kNormalOnly), &config);
  EXPECT_EQ(before - free_bytes(), code == ACL_SUCCESS ? 4096U : 0U) << function.name;
  EXPECT_EQ(out != nullptr, code == ACL_SUCCESS);
  if (out != nullptr) {
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
  return code;
}

// Current use of a component by name, 0 if it is not listed.
std::uint64_t used_by(const char* name) {
  aclrtMemUsageInfo entries[300];
  std::size_t count = 0;
  EXPECT_EQ(aclrtGetMemUsageInfo(0, entries, 300, &count), ACL_SUCCESS);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::strcmp(entries[i].name, name) == 0) sum += entries[i].curMemSize;
  }
  return sum;
}

TEST_F(DeviceMallocCfg, M96_M97_M98_ArgumentsOfTheOuterLayer) {
  for (const Function& function : kBoth) {
    aclrtMallocConfig broken{nullptr, 1};
    int mark = 0;
    void* out = &mark;
    EXPECT_EQ(function.call(nullptr, 64, policy(kHugeFirst), nullptr), ACL_ERROR_INVALID_PARAM)
        << function.name;
    EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
    EXPECT_EQ(function.call(&out, 64, policy(kHugeFirst), &broken), ACL_ERROR_INVALID_PARAM) << function.name;
    EXPECT_EQ(function.call(&out, 0, policy(kHugeFirst), nullptr), ACL_ERROR_INVALID_PARAM) << function.name;
    EXPECT_EQ(out, &mark);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  }
}

TEST_F(DeviceMallocCfg, M99_AnEmptyConfigurationIs107000) {
  for (const Function& function : kBoth) {
    aclrtMallocConfig empty{nullptr, 0};
    int mark = 0;
    void* out = &mark;
    EXPECT_EQ(function.call(&out, 64, policy(kHugeFirst), &empty), ACL_ERROR_RT_PARAM_INVALID)
        << function.name;
    EXPECT_EQ(out, &mark);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
    aclrtMallocAttribute unused = module(3);
    aclrtMallocConfig none{&unused, 0};  // an array of which nothing counts
    EXPECT_EQ(function.call(&out, 64, policy(kHugeFirst), &none), ACL_SUCCESS) << function.name;
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

TEST_F(DeviceMallocCfg, M101_UnknownAttributesAreRefused) {
  for (const Function& function : kBoth) {
    EXPECT_EQ(answer(function, {attribute(ACL_RT_MEM_ATTR_VA_FLAG, 0)}), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(answer(function, {attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1)}), ACL_ERROR_RT_PARAM_INVALID);
    for (const std::uint32_t type : {4U, 99U, 0xFFFFFFFFU}) {
      EXPECT_EQ(answer(function, {attribute(std::bit_cast<aclrtMallocAttrType>(type), 0)}),
                ACL_ERROR_RT_PARAM_INVALID);
    }
    EXPECT_EQ(answer(function, {module(33), device(0), attribute(ACL_RT_MEM_ATTR_VA_FLAG, 0)}),
              ACL_ERROR_RT_PARAM_INVALID);  // wherever it stands
    EXPECT_EQ(answer(function, {reserved(), module(33), device(0)}), ACL_SUCCESS);
  }
}

TEST_F(DeviceMallocCfg, M102_TheDeviceMustBeTheCurrentOne) {
  for (const Function& function : kBoth) {
    EXPECT_EQ(answer(function, {device(0)}), ACL_SUCCESS);
    for (const std::uint32_t id : {1U, 7U, 8U, 64U, 0xFFFFFFFFU}) {
      EXPECT_EQ(answer(function, {device(id)}), ACL_ERROR_RT_PARAM_INVALID) << function.name << " " << id;
    }
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
    EXPECT_EQ(answer(function, {device(1)}), ACL_SUCCESS);
    EXPECT_EQ(answer(function, {device(0)}), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  aclrtResetDeviceForce(0);  // the sets of the loop
}

// Every combination of mistakes: the first in the order of the rules decides.
TEST_F(DeviceMallocCfg, M96_M97_M98_M99_M100_M101_M102_M103_M104_M105_TheFirstMistakeDecides) {
  enum class Config { none, null_array, empty, bad_type, bad_device, good };
  enum class Size { zero, wraps, too_large, good };
  for (const Function& function : kBoth)
    for (const bool null : {true, false})
      for (const Config kind : {Config::none, Config::null_array, Config::empty, Config::bad_type,
                                Config::bad_device, Config::good})
        for (const Size size : {Size::zero, Size::wraps, Size::too_large, Size::good})
          for (const bool context : {false, true})
            for (const bool supported : {false, true}) {
              aclrtMallocAttribute item = kind == Config::bad_type     ? attribute(ACL_RT_MEM_ATTR_VA_FLAG, 0)
                                          : kind == Config::bad_device ? device(5)
                                                                       : device(0);
              aclrtMallocConfig config{&item, 1};
              if (kind == Config::null_array) config = {nullptr, 2};
              if (kind == Config::empty) config = {nullptr, 0};
              const std::size_t bytes = size == Size::zero        ? 0
                                        : size == Size::wraps     ? SIZE_MAX - 30
                                        : size == Size::too_large ? SIZE_MAX - 31
                                                                  : 64;
              aclError expected = ACL_SUCCESS;
              if (null || kind == Config::null_array || size == Size::zero) {
                expected = ACL_ERROR_INVALID_PARAM;
              } else if (kind == Config::empty) {
                expected = ACL_ERROR_RT_PARAM_INVALID;
              } else if (!context) {
                expected = ACL_ERROR_RT_CONTEXT_NULL;
              } else if (kind == Config::bad_type || kind == Config::bad_device || size == Size::wraps) {
                expected = ACL_ERROR_RT_PARAM_INVALID;
              } else if (!supported) {
                expected = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
              } else if (size == Size::too_large) {
                expected = ACL_ERROR_RT_MEMORY_ALLOCATION;
              }
              const auto call = [&] {
                void* out = nullptr;
                EXPECT_EQ(function.call(null ? nullptr : &out, bytes,
                                        policy(supported ? kHugeFirst : kHuge1g | kReadOnly),
                                        kind == Config::none ? nullptr : &config),
                          expected)
                    << function.name << " null " << null << " config " << static_cast<int>(kind) << " bytes "
                    << bytes << " context " << context << " supported " << supported;
                if (out != nullptr) {
                  EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
                }
              };
              if (context) {
                call();
              } else {
                without_context(call);
              }
            }
  EXPECT_EQ(free_bytes(), free_before_);
}

TEST_F(DeviceMallocCfg, M106_NoConfigurationIsFine) {
  for (const Function& function : kBoth) {
    void* out = nullptr;
    const std::uint64_t app = used_by("APP");
    EXPECT_EQ(function.call(&out, 64, policy(kHugeOnly), nullptr), ACL_SUCCESS) << function.name;
    EXPECT_EQ(used_by("APP") - app, 2 * kMB);
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

TEST_F(DeviceMallocCfg, M107_TheLastOfARepeatedTypeWinsAndReservedOnesAreIgnored) {
  for (const Function& function : kBoth) {
    EXPECT_EQ(answer(function, {device(5), device(0)}), ACL_SUCCESS) << function.name;
    EXPECT_EQ(answer(function, {device(0), device(5)}), ACL_ERROR_RT_PARAM_INVALID) << function.name;
    EXPECT_EQ(answer(function, {reserved(), reserved()}), ACL_SUCCESS) << function.name;

    aclrtMallocAttribute twice[] = {module(3), reserved(), module(63), reserved()};
    aclrtMallocConfig config{twice, 4};
    const std::uint64_t hccl = used_by("HCCL"), op = used_by("OP");
    void* out = nullptr;
    ASSERT_EQ(function.call(&out, 64, policy(kNormalOnly), &config), ACL_SUCCESS);
    EXPECT_EQ(used_by("HCCL"), hccl);
    EXPECT_EQ(used_by("OP") - op, 4096U);
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

TEST_F(DeviceMallocCfg, M108_ModuleLabelsTheMemoryAndDefaultsToApp) {
  const struct {
    std::vector<aclrtMallocAttribute> attributes;
    const char* name;
  } cases[] = {{{module(33)}, "APP"},  {{module(3)}, "HCCL"},    {{module(45)}, "GE"},
               {{device(0)}, "APP"},   {{reserved()}, "APP"},    {{module(255)}, "UNKNOWN"},
               {{module(256)}, "APP"}, {{module(65535)}, "APP"}, {{module(0)}, "UNKNOWN"}};
  for (const Function& function : kBoth) {
    for (const auto& [attributes, name] : cases) {
      std::vector<aclrtMallocAttribute> copy = attributes;
      aclrtMallocConfig config{copy.data(), copy.size()};
      const std::uint64_t before = used_by(name);
      void* out = nullptr;
      ASSERT_EQ(function.call(&out, 64, policy(kHugeOnly), &config), ACL_SUCCESS);
      EXPECT_EQ(used_by(name) - before, 2 * kMB) << function.name << " " << name;
      EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
      EXPECT_EQ(used_by(name), before) << function.name << " " << name;
    }
  }
}

}  // namespace device_malloc_cfg_test
