// Contexts on one thread: making, binding, asking, destroying.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/device_fixture.h"
#include "support/worker.h"

namespace context_test {

using belay_test::on_new_thread;

class Context : public ::testing::Test {
 protected:
  void SetUp() override { aclrtGetLastError(ACL_RT_THREAD_LEVEL); }
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

aclrtContext current() {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  return context;
}

std::int32_t current_device() {
  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  return device;
}

aclrtContext made_on(std::int32_t device) {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateContext(&context, device), ACL_SUCCESS);
  return context;
}

aclrtStream default_stream() {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
  return stream;
}

aclError allocate() {
  void* block = nullptr;
  const aclError answer = aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  if (answer == ACL_SUCCESS) {
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
  return answer;
}

TEST_F(Context, R105_ANewBindingReplacesTheOld) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext primary = current();
  const aclrtContext one = made_on(0);
  EXPECT_EQ(current(), one);
  const aclrtContext two = made_on(1);
  EXPECT_EQ(current(), two);
  EXPECT_EQ(aclrtSetCurrentContext(one), ACL_SUCCESS);
  EXPECT_EQ(current(), one);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_EQ(current(), primary);
  EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
  EXPECT_EQ(current(), primary);
}

TEST_F(Context, R105_R116_ThereIsNoStack) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext one = made_on(0);
  const aclrtContext two = made_on(0);
  EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
  aclrtContext none = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL)
      << "neither one nor the default context";
  EXPECT_EQ(aclrtSetCurrentContext(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
}

TEST_F(Context, R106_CreatingOpensAndBinds) {
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  aclrtContext context = nullptr;
  for (const std::int32_t device : {-1, 8, 64}) {
    EXPECT_EQ(aclrtCreateContext(&context, device), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(context, nullptr);
  }
  ASSERT_EQ(aclrtCreateContext(&context, 5), ACL_SUCCESS) << "no aclrtSetDevice before";
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(current(), context);
  EXPECT_EQ(current_device(), 5);
  EXPECT_EQ(allocate(), ACL_SUCCESS);
  EXPECT_NE(default_stream(), nullptr);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(Context, R106_AFailedCreationKeepsTheBinding) {
  const aclrtContext context = made_on(1);
  aclrtContext other = nullptr;
  EXPECT_EQ(aclrtCreateContext(&other, 99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(current(), context);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(Context, R106_AllHandlesAreDifferent) {
  std::set<aclrtContext> all;
  for (int i = 0; i < 100; ++i) all.insert(made_on(i % 8));
  EXPECT_EQ(all.size(), 100U);
  for (const aclrtContext context : all) EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(Context, R109_Binding) {
  const aclrtContext zero = made_on(0);
  const aclrtContext three = made_on(3);
  EXPECT_EQ(aclrtSetCurrentContext(zero), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(aclrtSetCurrentContext(three), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 3) << "the device of the context";
  EXPECT_EQ(aclrtSetCurrentContext(three), ACL_SUCCESS) << "again";
  EXPECT_EQ(aclrtDestroyContext(zero), ACL_SUCCESS);

  int garbage = 0;
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(&garbage), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetCurrentContext(reinterpret_cast<aclrtContext>(std::uintptr_t{0x10})),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetCurrentContext(zero), ACL_ERROR_RT_PARAM_INVALID) << "destroyed";
  EXPECT_EQ(aclrtSetCurrentContext(default_stream()), ACL_ERROR_RT_PARAM_INVALID) << "a stream is no context";
  EXPECT_EQ(current(), three) << "failures keep the binding";
  EXPECT_EQ(aclrtDestroyContext(three), ACL_SUCCESS);
}

TEST_F(Context, R109_R110_TheDefaultContextsHandleWorksToo) {
  EXPECT_EQ(aclrtSetDevice(2), ACL_SUCCESS);
  const aclrtContext primary = current();
  const aclrtContext other = made_on(0);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_EQ(current(), primary);
  EXPECT_EQ(current_device(), 2);
  on_new_thread([primary] {
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    EXPECT_EQ(current_device(), 2);
    EXPECT_EQ(allocate(), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(2), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(2), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << "binding counts for nothing";
}

TEST_F(Context, R110_Current) {
  aclrtContext context = this;
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(context, this);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(current(), context) << "the same every time";
}

TEST_F(Context, R111_DefaultStreams) {
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(nullptr), ACL_ERROR_INVALID_PARAM);
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(stream, nullptr);

  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtStream primary = default_stream();
  EXPECT_NE(primary, nullptr);
  const aclrtContext context = made_on(0);
  const aclrtStream own = default_stream();
  EXPECT_NE(own, nullptr);
  EXPECT_NE(own, primary) << "every context has its own";
  EXPECT_EQ(default_stream(), own) << "and keeps it";
  on_new_thread([context, own] {
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(default_stream(), own);
  });
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(default_stream(), primary);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

std::int32_t state_of(std::int32_t device) {
  std::int32_t active = -77;
  EXPECT_EQ(aclrtGetPrimaryCtxState(device, nullptr, &active), ACL_SUCCESS);
  return active;
}

TEST_F(Context, R112_PrimaryState) {
  EXPECT_EQ(state_of(0), 0);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(state_of(0), 1);
  EXPECT_EQ(state_of(1), 0);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(state_of(0), 1);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(state_of(0), 0);
  const aclrtContext context = made_on(1);
  EXPECT_EQ(state_of(1), 0) << "an explicit context is no default context";
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(Context, R112_PrimaryStateErrors) {
  std::uint32_t flags = 0;
  std::int32_t active = 77;
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, &flags, &active), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetPrimaryCtxState(-1, &flags, &active), ACL_ERROR_INVALID_PARAM) << "before the id";
  EXPECT_EQ(aclrtGetPrimaryCtxState(-1, nullptr, &active), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetPrimaryCtxState(8, nullptr, &active), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(active, 77);
}

TEST_F(Context, R113_R115_HandlesThatCannotBeDestroyed) {
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
  int garbage = 0;
  EXPECT_EQ(aclrtDestroyContext(&garbage), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtDestroyContext(reinterpret_cast<aclrtContext>(std::uintptr_t{0x10})),
            ACL_ERROR_RT_CONTEXT_NULL);
  const aclrtContext context = made_on(0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(Context, R114_DefaultContextsCannotBeDestroyed) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext primary = current();
  EXPECT_EQ(aclrtDestroyContext(primary), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(current(), primary) << "it is still there";
  EXPECT_EQ(allocate(), ACL_SUCCESS);
  const aclrtContext other = made_on(1);
  EXPECT_EQ(aclrtDestroyContext(primary), ACL_ERROR_RT_CONTEXT_NULL) << "not when another is current either";
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  EXPECT_EQ(state_of(0), 1);
}

TEST_F(Context, R116_R54_DestroyingTheOwnContextLeavesNone) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext context = made_on(0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(allocate(), ACL_ERROR_RT_CONTEXT_NULL);
  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(state_of(0), 1) << "the device is still set";
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(allocate(), ACL_SUCCESS);
}

TEST_F(Context, R116_R121_TheUsualOrderOfAProgram) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext context = made_on(0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS) << "a reset needs no context";

  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  context = made_on(0);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS) << "the other order is accepted";
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(Context, R121_AfterAForcedReset) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext one = made_on(0), two = made_on(0);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
}

TEST_F(Context, R105_R116_DestroyingAnotherContextKeepsTheOwn) {
  const aclrtContext one = made_on(0), two = made_on(1);
  EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
  EXPECT_EQ(current(), two);
  EXPECT_EQ(allocate(), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
}

}  // namespace context_test
