// Calling Python from threads that the interpreter may not know, at any time, the end of the process
// included.
#pragma once

#include <unistd.h>

#include "frames.h"
#include "python_api.h"

namespace belay::python {

// There is nothing left to return to: the thread sleeps until the process is gone.
[[noreturn]] inline void rest_for_ever() {
  for (;;) ::pause();
}

// Where Python code runs below, a thread may be unwound from inside it, without the lock: what is held there
// are plain pointers, which are then lost, and no Owned, which would be let go.

// Runs `act` with the interpreter lock. A thread that asks for the lock while the interpreter ends is unwound
// by the interpreter; the runtime, whose frames lie below, is not made for that, so the unwinding stops here.
template <class Act>
void with_lock(Act&& act) {
  if (Py_IsInitialized() == 0) rest_for_ever();
  try {
    const PyGILState_STATE state = PyGILState_Ensure();
    const InProgram elsewhere;
    act();
    PyGILState_Release(state);
  } catch (...) {  // that unwinding; nothing in there throws
    rest_for_ever();
  }
}

// The exception that is set, with its traceback; it is not set any more.
inline Owned take_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != nullptr && traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Owned{value};
}

// Its traceback on standard error, as the interpreter writes it.
inline void print_exception(PyObject* exception) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(exception));
  const Owned traceback{PyException_GetTraceback(exception)};
  PyErr_Display(type, exception, traceback ? traceback.get() : Py_None);
}

// Both, for calls from threads of the runtime. A function of its own: their frames must hold nothing that a
// thread which is unwound would leave half-way, in the eyes of the address sanitizer too.
[[gnu::noinline]] inline PyObject* tell_exception() {
  PyObject* exception = take_exception().release();
  print_exception(exception);
  return exception;
}

}  // namespace belay::python
