// Options of a context and of the process, and core limits.
#include <array>
#include <cstdint>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/worker.h"

namespace parameter_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::on_new_thread;

class Parameter : public belay_test::OnDevice {};

constexpr std::array<aclSysParamOpt, 3> kContextOptions = {ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_DEBUG_KERNEL,
                                                           ACL_OPT_STRONG_CONSISTENCY};

std::int64_t of_context(aclSysParamOpt option) {
  std::int64_t value = -77;
  EXPECT_EQ(aclrtCtxGetSysParamOpt(option, &value), ACL_SUCCESS) << option;
  return value;
}

std::int64_t of_process(aclSysParamOpt option) {
  std::int64_t value = -77;
  EXPECT_EQ(aclrtGetSysParamOpt(option, &value), ACL_SUCCESS) << option;
  return value;
}

// Works in a context of its own, where nothing has been set.
TEST_F(Parameter, R122_AnOptionThatWasNeverSetHasNoValue) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  for (const aclSysParamOpt option : kContextOptions) {
    std::int64_t value = 77;
    EXPECT_EQ(aclrtCtxGetSysParamOpt(option, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    EXPECT_EQ(value, 77);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 1), ACL_SUCCESS);
    EXPECT_EQ(of_context(option), 1);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 0), ACL_SUCCESS);
    EXPECT_EQ(of_context(option), 0) << "the last one wins";
  }
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(Parameter, R122_ValuesOutsideTheRange) {
  for (std::int64_t value = 0; value < 4; ++value) {
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, value), ACL_SUCCESS);
    EXPECT_EQ(of_context(ACL_OPT_DETERMINISTIC), value);
  }
  for (const std::int64_t value :
       {std::int64_t{4}, std::int64_t{-1}, INT64_MAX, INT64_MIN, std::int64_t{1} << 32}) {
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, value), ACL_ERROR_RT_PARAM_INVALID) << value;
    EXPECT_EQ(of_context(ACL_OPT_DETERMINISTIC), 3);
  }
  for (const aclSysParamOpt option : {ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY}) {
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 1), ACL_SUCCESS);
    for (const std::int64_t value : {2, 3, -1}) {
      EXPECT_EQ(aclrtCtxSetSysParamOpt(option, value), ACL_ERROR_RT_PARAM_INVALID) << option << " " << value;
    }
    EXPECT_EQ(of_context(option), 1);
  }
}

TEST_F(Parameter, R122_OptionsOutsideTheEnum) {
  std::int64_t value = 77;
  for (const int number : {3, 4, 100, -1}) {
    const auto option = as_enum<aclSysParamOpt>(number);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 0), ACL_ERROR_INVALID_PARAM) << number;
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 99), ACL_ERROR_INVALID_PARAM) << number;
    EXPECT_EQ(aclrtCtxGetSysParamOpt(option, &value), ACL_ERROR_INVALID_PARAM) << number;
  }
  EXPECT_EQ(value, 77);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Parameter, R122_R11_AContextIsNeeded) {
  on_new_thread([] {
    std::int64_t value = 77;
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(value, 77);
  });
}

TEST_F(Parameter, R122_EveryContextHasItsOwn) {
  aclrtContext one = nullptr, two = nullptr;
  ASSERT_EQ(aclrtCreateContext(&one, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&two, 0), ACL_SUCCESS);
  std::int64_t value = 77;
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(one), ACL_SUCCESS);
  EXPECT_EQ(of_context(ACL_OPT_DETERMINISTIC), 2);
  on_new_thread([two] {
    EXPECT_EQ(aclrtSetCurrentContext(two), ACL_SUCCESS);
    EXPECT_EQ(of_context(ACL_OPT_DETERMINISTIC), 3);
  });
  EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
}

constexpr std::array<aclSysParamOpt, 4> kProcessOptions = {ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_DEBUG_KERNEL,
                                                           ACL_OPT_STRONG_CONSISTENCY,
                                                           ACL_OPT_ENABLE_KERNEL_EARLY_START};

TEST(ProcessParameter, R123_ZeroUntilSet) {
  in_fresh_process([] {
    for (const aclSysParamOpt option : kProcessOptions) {
      EXPECT_EQ(of_process(option), 0) << "no context needed";
      EXPECT_EQ(aclrtSetSysParamOpt(option, 1), ACL_SUCCESS);
      EXPECT_EQ(of_process(option), 1);
      on_new_thread([option] { EXPECT_EQ(of_process(option), 1); });
    }
  });
}

TEST(ProcessParameter, R123_TheSameRanges) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, -1), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(of_process(ACL_OPT_DETERMINISTIC), 3);
    for (const aclSysParamOpt option :
         {ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY, ACL_OPT_ENABLE_KERNEL_EARLY_START}) {
      EXPECT_EQ(aclrtSetSysParamOpt(option, 2), ACL_ERROR_RT_PARAM_INVALID) << option;
      EXPECT_EQ(of_process(option), 0);
    }
    std::int64_t value = 77;
    for (const int number : {4, 100, -1}) {
      EXPECT_EQ(aclrtSetSysParamOpt(as_enum<aclSysParamOpt>(number), 0), ACL_ERROR_INVALID_PARAM) << number;
      EXPECT_EQ(aclrtGetSysParamOpt(as_enum<aclSysParamOpt>(number), &value), ACL_ERROR_INVALID_PARAM)
          << number;
    }
    EXPECT_EQ(value, 77);
    EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

TEST(ProcessParameter, R123_R122_TheTwoLevelsAreSeparate) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
    std::int64_t value = 77;
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2), ACL_SUCCESS);
    EXPECT_EQ(of_process(ACL_OPT_DETERMINISTIC), 1);
    EXPECT_EQ(of_context(ACL_OPT_DETERMINISTIC), 2);
  });
}

std::uint32_t core_limit(aclrtDevResLimitType type, std::int32_t device = 0) {
  std::uint32_t value = 777777;
  EXPECT_EQ(aclrtGetDeviceResLimit(device, type, &value), ACL_SUCCESS);
  return value;
}

std::int64_t cores(aclrtDevAttr kind) {
  std::int64_t value = -1;
  EXPECT_EQ(aclrtGetDeviceInfo(0, kind, &value), ACL_SUCCESS);
  return value;
}

TEST(CoreLimit, R124_TheCoreCountUntilSet) {
  in_fresh_process([] {
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_CUBE_CORE), cores(ACL_DEV_ATTR_CUBE_CORE_NUM));
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_VECTOR_CORE), cores(ACL_DEV_ATTR_VECTOR_CORE_NUM));
  });
}

TEST(CoreLimit, R124_SetGetReset) {
  in_fresh_process([] {
    const std::uint32_t cubes = core_limit(ACL_RT_DEV_RES_CUBE_CORE);
    const std::uint32_t vectors = core_limit(ACL_RT_DEV_RES_VECTOR_CORE);
    ASSERT_GT(cubes, 4U);
    EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 4), ACL_SUCCESS);
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_CUBE_CORE), 4U);
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_VECTOR_CORE), vectors) << "the other kind stays";
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_CUBE_CORE, 1), cubes) << "so does the other device";
    EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 2), ACL_SUCCESS);
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_VECTOR_CORE), 2U);
    on_new_thread([] { EXPECT_EQ(core_limit(ACL_RT_DEV_RES_CUBE_CORE), 4U); });
    EXPECT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_CUBE_CORE), cubes);
    EXPECT_EQ(core_limit(ACL_RT_DEV_RES_VECTOR_CORE), vectors);
  });
}

TEST(CoreLimit, R124_TheThreadSeesTheLimitOfItsDevice) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    std::uint32_t value = 777777;
    EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
    EXPECT_EQ(value, cores(ACL_DEV_ATTR_CUBE_CORE_NUM));
    EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 3), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 3U);
    EXPECT_EQ(aclrtGetResInCurrentThread(as_enum<aclrtDevResLimitType>(2), &value),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

TEST(CoreLimit, R124_R8_Errors) {
  in_fresh_process([] {
    std::uint32_t value = 77;
    for (const int number : {2, 100, -1}) {
      const auto type = as_enum<aclrtDevResLimitType>(number);
      EXPECT_EQ(aclrtGetDeviceResLimit(0, type, &value), ACL_ERROR_RT_PARAM_INVALID) << number;
      EXPECT_EQ(aclrtSetDeviceResLimit(0, type, 1), ACL_ERROR_RT_PARAM_INVALID) << number;
      EXPECT_EQ(aclrtGetDeviceResLimit(0, type, nullptr), ACL_ERROR_INVALID_PARAM) << number;
    }
    for (const std::int32_t device : {-1, 8, 99}) {
      EXPECT_EQ(aclrtGetDeviceResLimit(device, ACL_RT_DEV_RES_CUBE_CORE, &value),
                ACL_ERROR_RT_INVALID_DEVICEID);
      EXPECT_EQ(aclrtSetDeviceResLimit(device, ACL_RT_DEV_RES_CUBE_CORE, 1), ACL_ERROR_RT_INVALID_DEVICEID);
      EXPECT_EQ(aclrtResetDeviceResLimit(device), ACL_ERROR_RT_INVALID_DEVICEID);
      EXPECT_EQ(aclrtGetDeviceResLimit(device, ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
    }
    EXPECT_EQ(value, 77U);
  });
}

TEST_F(Parameter, R125_R20_NoFloatOverflowAddress) {
  void* address = this;
  EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(&address), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(address, this);
  EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(nullptr), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  on_new_thread([] {
    EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(nullptr), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
}

}  // namespace parameter_test
