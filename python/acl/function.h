// One function of the module: where it stands, what it does, what help() says.
#pragma once

#include <new>
#include <vector>

#include "python_api.h"

namespace belay::python {

// No exception of C++ reaches the interpreter. Not catch (...): a thread that the interpreter ends is unwound
// too.
template <FastFunction function>
PyObject* guarded(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  try {
    return function(self, arguments, count);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

struct Function {
  const char* path;  // "acl.rt.malloc"
  FastFunction call;
  const char* help;  // "(size: int, policy: int) -> (ptr: int, ret: int)", then sentences
};
using Functions = std::vector<Function>;

// All of them, as long as the process lives.
const Functions& all_functions();

// The chapters. A new function is a line in one of them.
Functions start_and_end();
Functions devices();
Functions contexts();
Functions streams();
Functions events();
Functions notifies();
Functions callbacks();
Functions errors();
Functions device_memory();
Functions host_memory();
Functions virtual_memory();
Functions sharing();
Functions copies();
Functions data();
Functions tensors();
Functions media_memory();
Functions addresses();
Functions threads();
Functions absent();

}  // namespace belay::python
