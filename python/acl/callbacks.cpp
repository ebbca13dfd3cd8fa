// acl.rt: functions of the program in the order of a stream (Y-156 … Y-163).
#include <atomic>
#include <utility>

#include "belay/belay.h"
#include "call.h"
#include "interpreter.h"

namespace belay::python {
namespace {

struct Callback {
  PyObject* function;
  PyObject* data;
  Callback* next = nullptr;
};

// Those that will never run. Told by the runtime at a moment when nobody may wait for the interpreter; freed
// when a call comes back next.
std::atomic<Callback*> g_dropped{nullptr};

// Of the process_report that this thread is in: the first exception that a callback raised.
constinit thread_local PyObject* t_raised = nullptr;

void release(Callback* callback) {
  Py_DECREF(callback->function);
  Py_DECREF(callback->data);
  delete callback;
}

void run(void* argument) {
  auto* callback = static_cast<Callback*>(argument);
  with_lock([&] {
    PyObject* result = PyObject_CallFunctionObjArgs(callback->function, callback->data, nullptr);
    if (result == nullptr) {
      PyObject* exception = tell_exception();
      t_raised == nullptr ? void(t_raised = exception) : Py_DECREF(exception);
    }
    Py_XDECREF(result);
    release(callback);
  });
}

void drop(void (*function)(void*), void* argument) {
  if (function != run) return;  // of C code in the same process
  auto* callback = static_cast<Callback*>(argument);
  callback->next = g_dropped.load(std::memory_order_relaxed);
  while (!g_dropped.compare_exchange_weak(callback->next, callback, std::memory_order_release)) {
  }
}

PyObject* launch_callback(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Any, Any, I32, Ptr> parameters;
  if (!parse("acl.rt.launch_callback", given, count, parameters)) return nullptr;
  auto& [function, data, block, stream] = parameters;
  if (!can_be_called(function.object)) return nullptr;
  auto* callback = new Callback{share(function.object).release(), share(data.object).release()};
  const aclError code =
      without_lock([&] { return aclrtLaunchCallback(run, callback, block.number, stream.number); });
  if (code != ACL_SUCCESS) release(callback);
  return to_python(code);
}

PyObject* process_report(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<I32> timeout;
  if (!parse("acl.rt.process_report", given, count, timeout)) return nullptr;
  const aclError code = without_lock([&] { return aclrtProcessReport(std::get<0>(timeout).number); });
  if (t_raised == nullptr) return to_python(code);
  const Owned raised{std::exchange(t_raised, nullptr)};
  const Owned error{PyObject_CallFunction(
      PyExc_SystemError, "s", "<built-in function process_report> returned a result with an exception set")};
  if (!error) return nullptr;
  PyException_SetCause(error.get(), share(raised.get()).release());
  PyException_SetContext(error.get(), share(raised.get()).release());
  PyErr_SetObject(PyExc_SystemError, error.get());
  return nullptr;
}

}  // namespace

void free_dropped_callbacks() {
  if (g_dropped.load(std::memory_order_relaxed) == nullptr) return;
  Callback* next = g_dropped.exchange(nullptr, std::memory_order_acquire);
  while (next != nullptr) release(std::exchange(next, next->next));
}

Functions callbacks() {
  belay_on_dropped_callback(drop);
  return {
      row<"acl.rt.subscribe_report", aclrtSubscribeReport, kHeld, U64, Ptr>(
          R"((thread_id: int, stream: int) -> ret: int

Sets the thread that calls the callbacks of a stream: one of acl.util.start_thread, or threading.get_ident().
A thread may serve several streams of one device, a stream has one thread. [Y-156])"),
      row<"acl.rt.unsubscribe_report", aclrtUnSubscribeReport, kReleased, U64, Ptr>(
          R"((thread_id: int, stream: int) -> ret: int

Ends the subscription; also after the thread has ended. [Y-156, Y-163])"),
      {"acl.rt.launch_callback", guarded<launch_callback>,
       R"((fn: Callable, user_data: object, block_type: int, stream: int) -> ret: int

Queues fn(user_data) on a stream. The thread that subscribed calls it inside process_report(). With `block_type` 1
the stream waits until it has returned, with 0 it goes on. Both objects are kept until it has run. Without a
subscribed thread: 107015. [Y-157, Y-158, Y-159])"},
      {"acl.rt.process_report", guarded<process_report>, R"((ms: int) -> ret: int

Calls the callbacks that are due on this thread; waits for one at most `ms` milliseconds, -1 for ever.
507012: none came. 107012: this thread has subscribed to nothing. If a callback raises, its traceback is printed and
SystemError raised here. Other Python threads run meanwhile. [Y-160, Y-162])"},
  };
}

}  // namespace belay::python
