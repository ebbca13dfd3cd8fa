// acl.rt: contexts and options.
#include "call.h"

namespace belay::python {
namespace {

// The one function whose results stand in another order than in C (Y-33). There are no flags: C wants no
// place for them (R-112), and Python gets 0.
PyObject* get_primary_ctx_state(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<I32> device;
  if (!parse("acl.rt.get_primary_ctx_state", given, count, device)) return nullptr;
  std::int32_t active = 0;
  const aclError code = aclrtGetPrimaryCtxState(std::get<0>(device).number, nullptr, &active);
  TupleMaker results{3};
  results.add(to_python(active));
  results.add(to_python(0));
  results.add(to_python(code));
  return results.take();
}

}  // namespace

Functions contexts() {
  return {
      row<"acl.rt.create_context", aclrtCreateContext, kReleased, Out<void*>, I32>(
          R"((dev: int) -> (ctx: int, ret: int)

Makes a context on a device and makes it current for this thread. [Y-67])"),
      row<"acl.rt.destroy_context", aclrtDestroyContext, kReleased, Ptr>(R"((ctx: int) -> ret: int

Ends a context that create_context() made, with its streams; waits for their work. [Y-68, Y-71])"),
      row<"acl.rt.set_context", aclrtSetCurrentContext, kHeld, Ptr>(R"((ctx: int) -> ret: int

Makes a context current for this thread. A thread begins without one. [Y-68, Y-45])"),
      row<"acl.rt.get_context", aclrtGetCurrentContext, kHeld, Out<void*>>(R"(() -> (ctx: int, ret: int)

The context of this thread; 0 and 107002 without one. [Y-68])"),
      row<"acl.rt.ctx_get_current_default_stream", aclrtCtxGetCurrentDefaultStream, kHeld, Out<void*>>(
          R"(() -> (stream: int, ret: int)

The stream that 0 means in the current context. [Y-69])"),
      {"acl.rt.get_primary_ctx_state", guarded<get_primary_ctx_state>,
       R"((dev: int) -> (active: int, flags: int, ret: int)

Whether the default context of a device is in use; `flags` is 0. [Y-70])"},
      row<"acl.rt.ctx_set_sys_param_opt", aclrtCtxSetSysParamOpt, kHeld, I32, U64>(
          R"((opt: int, value: int) -> ret: int

Sets an option of the current context.)"),
      row<"acl.rt.ctx_get_sys_param_opt", aclrtCtxGetSysParamOpt, kHeld, I32, Out<std::int64_t>>(
          R"((opt: int) -> (value: int, ret: int)

An option of the current context.)"),
      row<"acl.rt.set_sys_param_opt", aclrtSetSysParamOpt, kHeld, I32, U64>(
          R"((opt: int, value: int) -> ret: int

Sets an option of the process.)"),
      row<"acl.rt.get_sys_param_opt", aclrtGetSysParamOpt, kHeld, I32, Out<std::int64_t>>(
          R"((opt: int) -> (value: int, ret: int)

An option of the process.)"),
      row<"acl.rt.use_stream_res_in_current_thread", aclrtUseStreamResInCurrentThread, kHeld, Ptr>(
          R"((stream: int) -> ret: int

This thread uses the core limits of a stream.)"),
      row<"acl.rt.unuse_stream_res_in_current_thread", aclrtUnuseStreamResInCurrentThread, kHeld, Ptr>(
          R"((stream: int) -> ret: int

Ends the use of these limits.)"),
      row<"acl.rt.get_res_in_current_thread", aclrtGetResInCurrentThread, kHeld, I32, Out<std::uint32_t>>(
          R"((type: int) -> (value: int, ret: int)

How many cores of a type this thread may use.)"),
  };
}

}  // namespace belay::python
