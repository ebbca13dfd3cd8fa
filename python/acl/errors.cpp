// acl.rt: the last error, failed tasks, limits on operators.
#include <utility>

#include "call.h"
#include "interpreter.h"

namespace belay::python {
namespace {

PyObject* g_listener = nullptr;  // guarded by the interpreter lock

void tell(aclrtExceptionInfo* information) {
  with_lock([&] {
    if (g_listener == nullptr) return;
    PyObject* listener = g_listener;
    Py_INCREF(listener);
    PyObject* address = to_python(static_cast<const void*>(information));
    PyObject* result =
        address != nullptr ? PyObject_CallFunctionObjArgs(listener, address, nullptr) : nullptr;
    if (result == nullptr) Py_XDECREF(tell_exception());
    Py_XDECREF(result);
    Py_XDECREF(address);
    Py_DECREF(listener);
  });
}

// With None, or nothing at all, nobody listens any more.
PyObject* set_exception_info_callback(PyObject*, PyObject* const* given, Py_ssize_t count) {
  PyObject* function = count == 0 ? Py_None : given[0];
  if (count > 1) return wrong_count("acl.rt.set_exception_info_callback", count);
  const bool listens = function != Py_None;
  if (listens && !can_be_called(function)) return nullptr;
  PyObject* old = std::exchange(g_listener, listens ? share(function).release() : nullptr);
  const aclError code = without_lock([&] { return aclrtSetExceptionInfoCallback(listens ? tell : nullptr); });
  if (code != ACL_SUCCESS) std::swap(old, g_listener);
  Py_XDECREF(old);
  return to_python(code);
}

}  // namespace

Functions errors() {
  return {
      row<"acl.rt.peek_at_last_error", aclrtPeekAtLastError, kHeld, I32>(R"((level: int) -> code: int

The last error of this thread; `level` is 0. It stays. [Y-66])"),
      row<"acl.rt.get_last_error", aclrtGetLastError, kHeld, I32>(R"((level: int) -> code: int

The last error of this thread; `level` is 0. It is cleared. [Y-66])"),
      {"acl.rt.set_exception_info_callback", guarded<set_exception_info_callback>,
       R"(([fn: Callable | None]) -> ret: int

Sets a function fn(info) that is called when a task fails; inside it, pass `info` to the functions below.
None removes it.)"},
      row<"acl.rt.get_task_id_from_exception_info", aclrtGetTaskIdFromExceptionInfo, kHeld, Ptr>(
          R"((info: int) -> id: int

The task that failed.)"),
      row<"acl.rt.get_stream_id_from_exception_info", aclrtGetStreamIdFromExceptionInfo, kHeld, Ptr>(
          R"((info: int) -> id: int

The stream of the task.)"),
      row<"acl.rt.get_thread_id_from_exception_info", aclrtGetThreadIdFromExceptionInfo, kHeld, Ptr>(
          R"((info: int) -> id: int

The thread that submitted the task.)"),
      row<"acl.rt.get_device_id_from_exception_info", aclrtGetDeviceIdFromExceptionInfo, kHeld, Ptr>(
          R"((info: int) -> id: int

The device of the task.)"),
      row<"acl.rt.get_error_code_from_exception_info", aclrtGetErrorCodeFromExceptionInfo, kHeld, Ptr>(
          R"((info: int) -> code: int

Why it failed.)"),
      row<"acl.rt.get_thread_last_task_id", aclrtGetThreadLastTaskId, kHeld, Out<std::uint32_t>>(
          R"(() -> (id: int, ret: int)

The last task that this thread submitted.)"),
      row<"acl.rt.set_op_execute_time_out", aclrtSetOpExecuteTimeOut, kHeld, U32>(
          R"((seconds: int) -> ret: int

How long an operator may run. Stored; no operator runs here.)"),
      row<"acl.rt.set_op_execute_timeout_v2", aclrtSetOpExecuteTimeOutV2, kHeld, U64, Out<std::uint64_t>>(
          R"((us: int) -> (actual: int, ret: int)

The same in microseconds; `actual` is the value in effect.)"),
      row<"acl.rt.get_op_execute_timeout", aclrtGetOpExecuteTimeout, kHeld, Out<std::uint32_t>>(
          R"(() -> (ms: int, ret: int)

How long an operator may run.)"),
      row<"acl.rt.get_op_timeout_interval", aclrtGetOpTimeOutInterval, kHeld, Out<std::uint64_t>>(
          R"(() -> (us: int, ret: int)

The steps in which that time can be set.)"),
  };
}

}  // namespace belay::python
