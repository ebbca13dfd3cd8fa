#include "frames.h"

#include <dlfcn.h>

#include <algorithm>
#include <new>

#include "places.h"
#include "python_api.h"

namespace belay::python {

constinit thread_local const FramesOfCall* t_frames_of_call = nullptr;

namespace {

// Newer than the oldest Python that the module serves, or private in some; null where the interpreter does
// not have it.
struct StateFunctions {
  PyThreadState* (*current)() = nullptr;           // of the thread that holds the lock; null: none
  PyInterpreterState* (*interpreter)() = nullptr;  // of the calling thread
  PyObject* (*back)(PyObject* frame) = nullptr;    // 3.9
  int (*stop_collecting)() = nullptr;              // 3.10
  int (*collect_again)() = nullptr;
};
StateFunctions g_state;
std::int64_t g_interpreter = -1;  // in which the module was loaded

template <class Function>
void look_up(Function*& function, const char* name) {
  if (function == nullptr) function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// PyGILState_Check answers yes to everybody once there has been a second interpreter. A thread without the
// lock finds another thread's state in `current`, or none.
bool holds_lock() {
  if (g_state.current == nullptr) return false;
  const PyThreadState* holder = g_state.current();
  return holder != nullptr && holder == PyGILState_GetThisThreadState();
}

// Interpreters beside the first may have locks of their own, and take their code with them when they end.
bool in_our_interpreter() {
  return g_state.interpreter != nullptr && PyInterpreterState_GetID(g_state.interpreter()) == g_interpreter;
}

// Looking is not noticed: no garbage is collected, which would run code of the program in the middle of a
// call, and an exception that is set stays. Python before 3.10 makes nothing here that it collects.
class Unnoticed {
 public:
  Unnoticed() : collects_{g_state.stop_collecting != nullptr && g_state.stop_collecting() == 1} {
    PyErr_Fetch(&type_, &value_, &traceback_);
  }
  ~Unnoticed() {
    PyErr_Restore(type_, value_, traceback_);
    if (collects_) g_state.collect_again();
  }
  Unnoticed(const Unnoticed&) = delete;
  Unnoticed& operator=(const Unnoticed&) = delete;

 private:
  const bool collects_;
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

Owned caller_of(const Owned& frame) {
  if (g_state.back != nullptr) return Owned{g_state.back(frame.get())};
  Owned caller = attribute(frame.get(), "f_back");
  return caller.get() == Py_None ? Owned{} : std::move(caller);
}

// With the lock. Innermost first.
std::size_t look_at_frames(std::uint64_t* numbers, std::size_t room) noexcept {
  if (!in_our_interpreter()) return 0;
  const Unnoticed unnoticed;
  std::size_t count = 0;
  try {
    Owned frame = share(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    for (; frame && count < room; frame = caller_of(frame)) {
      if (const std::optional<std::uint64_t> place = place_of(frame.get())) numbers[count++] = *place;
    }
  } catch (const std::bad_alloc&) {  // what was seen so far is better than nothing
  }
  return count;
}

std::size_t frames_here(std::uint64_t* numbers, std::size_t room) {
  if (holds_lock()) return look_at_frames(numbers, room);
  return t_frames_of_call == nullptr ? 0 : t_frames_of_call->copy_to(numbers, room);
}

}  // namespace

void begin_frames() {
  look_up(g_state.current, "PyThreadState_GetUnchecked");   // 3.13
  look_up(g_state.current, "_PyThreadState_UncheckedGet");  // its name before
  look_up(g_state.interpreter, "PyInterpreterState_Get");   // 3.9
  look_up(g_state.interpreter, "_PyInterpreterState_Get");
  look_up(g_state.back, "PyFrame_GetBack");
  look_up(g_state.stop_collecting, "PyGC_Disable");
  look_up(g_state.collect_again, "PyGC_Enable");
  if (g_state.interpreter != nullptr) g_interpreter = PyInterpreterState_GetID(g_state.interpreter());
  begin_places();
  belay_on_frame(describe_place);
  belay_on_call_site(frames_here);
}

void FramesOfCall::look() noexcept {
  looked_ = true;
  around_ = t_frames_of_call;
  const int wanted = belay_stack_frames();
  const std::size_t room = wanted < 0 ? numbers_.size() : static_cast<std::size_t>(wanted);
  count_ = look_at_frames(numbers_.data(), std::min(room, numbers_.size()));
  t_frames_of_call = this;
}

std::size_t FramesOfCall::copy_to(std::uint64_t* numbers, std::size_t room) const {
  const std::size_t count = std::min(count_, room);
  std::copy_n(numbers_.begin(), count, numbers);
  return count;
}

}  // namespace belay::python
