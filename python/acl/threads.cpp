// acl.util: threads that run a Python function (Y-150 … Y-155).
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <map>
#include <memory>
#include <string>

#include "call.h"
#include "interpreter.h"

namespace belay::python {
namespace {

constexpr int kNoSuchThread = ESRCH;

struct Thread {
  pid_t process = 0;   // a forked child has none of its parent's threads
  std::string raised;  // the type of the exception that ended it
  bool awaited = false;
  std::atomic<bool> begun{false};
};

// By handle; guarded by the interpreter lock, and used until the very end.
std::map<std::uint64_t, std::shared_ptr<Thread>>& threads_made() {
  static auto* all = new std::map<std::uint64_t, std::shared_ptr<Thread>>;
  return *all;
}

struct Start {
  PyObject* function;
  PyObject* argument;
  std::shared_ptr<Thread> thread;
};

std::string name_of_type(PyObject* exception) {
  const Owned name{PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(exception)), "__name__")};
  const Owned bytes{name ? PyUnicode_AsUTF8String(name.get()) : nullptr};
  const char* text = bytes ? PyBytes_AsString(bytes.get()) : nullptr;
  PyErr_Clear();
  return text != nullptr ? text : "Exception";
}

// Without with_lock(): where the interpreter ends this thread, it may as well end, for somebody may wait for
// it.
void* body(void* argument) {
  auto* start = static_cast<Start*>(argument);
  const std::shared_ptr<Thread> thread = start->thread;
  const auto tell = [&] {
    thread->begun.store(true);
    thread->begun.notify_all();
  };
  struct AtTheLatest {  // also where the interpreter ends this thread before it has begun
    decltype(tell)& act;
    ~AtTheLatest() { act(); }
  } const at_the_latest{tell};
  const PyGILState_STATE state = PyGILState_Ensure();
  threads_made()[::pthread_self()] = thread;  // a handle comes again only after its thread was awaited
  tell();
  PyObject* result = start->argument == Py_None
                         ? PyObject_CallObject(start->function, nullptr)
                         : PyObject_CallFunctionObjArgs(start->function, start->argument, nullptr);
  if (result == nullptr) {
    PyObject* exception = tell_exception();
    thread->raised = name_of_type(exception);
    Py_DECREF(exception);
  }
  Py_XDECREF(result);
  Py_DECREF(start->function);
  Py_DECREF(start->argument);
  delete start;
  PyGILState_Release(state);
  return nullptr;
}

bool interpreter_ends() {
  PyObject* ask = PySys_GetObject("is_finalizing");
  const Owned answer{ask != nullptr ? PyObject_CallObject(ask, nullptr) : nullptr};
  PyErr_Clear();
  return answer.get() == Py_True;
}

// At the end of the interpreter a thread that needs it ends too, or, from Python 3.14 on, stands still for
// ever.
int join(pthread_t thread, bool at_the_end) {
  if (!at_the_end) return ::pthread_join(thread, nullptr);
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 2;
  return ::pthread_timedjoin_np(thread, nullptr, &until);
}

PyObject* start_thread(PyObject*, PyObject* const* given, Py_ssize_t count) {
  PyObject* function = nullptr;
  PyObject* argument = nullptr;
  {
    const Owned arguments = as_tuple(given, count);
    if (!arguments || PyArg_ParseTuple(arguments.get(), "OO", &function, &argument) == 0) return nullptr;
  }
  if (!can_be_called(function)) return nullptr;
  auto thread = std::make_shared<Thread>();
  thread->process = ::getpid();
  auto* start = new Start{share(function).release(), share(argument).release(), thread};
  pthread_t handle{};
  // Waits until the thread has its place in the interpreter: a thread that asked for one after the
  // interpreter's end would find none.
  const bool at_the_end = interpreter_ends();
  const int trouble = without_lock([&] {
    const int failed = ::pthread_create(&handle, nullptr, body, start);
    if (failed == 0 && !at_the_end) thread->begun.wait(false);
    return failed;
  });
  if (trouble != 0) {
    Py_DECREF(start->function);
    Py_DECREF(start->argument);
    delete start;
    handle = 0;
  }
  TupleMaker results{2};
  results.add(to_python(static_cast<std::uint64_t>(handle)));
  results.add(to_python(trouble));
  return results.take();
}

PyObject* stop_thread(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<U64> handle;
  if (!parse("acl.util.stop_thread", given, count, handle)) return nullptr;
  const std::uint64_t id = std::get<0>(handle).number.value;
  const auto found = threads_made().find(id);
  if (found == threads_made().end() || found->second->awaited || found->second->process != ::getpid())
    return to_python(kNoSuchThread);
  const std::shared_ptr<Thread> thread = found->second;
  thread->awaited = true;
  const bool at_the_end = interpreter_ends();
  const int trouble = without_lock([&] { return join(id, at_the_end); });
  if (trouble != 0) {  // the thread waits for itself, or will never end
    thread->awaited = false;
    return to_python(trouble);
  }
  // Another thread may have the same handle by now.
  if (const auto mine = threads_made().find(id); mine != threads_made().end() && mine->second == thread)
    threads_made().erase(mine);
  if (thread->raised.empty()) return to_python(0);
  PyErr_SetString(PyExc_RuntimeError, ("exception=" + thread->raised + ",msg=thread call failed;").c_str());
  return nullptr;
}

}  // namespace

Functions threads() {
  return {
      {"acl.util.start_thread", guarded<start_thread>,
       R"((fn: Callable, args: object) -> (thread_id: int, err: int)

Starts a thread that calls fn(args), with the one object, or fn() if it is None. The number is that of
threading.get_ident() inside it. The thread has no context: call acl.rt.set_context in it. `err` is 0 or an errno
value. [Y-150, Y-151])"},
      {"acl.util.stop_thread", guarded<stop_thread>, R"((thread_id: int) -> err: int

Waits until the thread has ended; it does not stop it. RuntimeError if its function raised, 3 if there is no such
thread (any more). [Y-152, Y-153, Y-155])"},
  };
}

}  // namespace belay::python
