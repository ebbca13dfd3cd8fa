// The Python C API, as far as it is the same in every Python from 3.8 on: one file serves them all (Y-8,
// Y-182).
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <memory>

namespace belay::python {

// Arguments as an array instead of a tuple. In the limited API only since 3.10, though every Python from 3.7
// on knows it with this number and this shape.
inline constexpr int kFastCall = 0x0080;
using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, Py_ssize_t count);

struct Release {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;

// For the few functions that let the interpreter parse, and complain, itself (Y-27).
inline Owned as_tuple(PyObject* const* arguments, Py_ssize_t count) {
  Owned tuple{PyTuple_New(count)};
  for (Py_ssize_t i = 0; tuple && i < count; ++i) {
    Py_INCREF(arguments[i]);
    PyTuple_SetItem(tuple.get(), i, arguments[i]);
  }
  return tuple;
}

// By a name that is the same object each time: the interpreter remembers the names that it looked up in a
// type, and a new object for each call would take another place there.
inline Owned attribute(PyObject* object, const char* name) {
  const Owned text{object != nullptr ? PyUnicode_InternFromString(name) : nullptr};
  return Owned{text ? PyObject_GetAttr(object, text.get()) : nullptr};
}

template <class... Arguments>
Owned call_method(PyObject* object, const char* name, Arguments*... arguments) {
  const Owned method = attribute(object, name);
  return Owned{method ? PyObject_CallFunctionObjArgs(method.get(), arguments..., nullptr) : nullptr};
}

inline Owned share(PyObject* object) {
  Py_XINCREF(object);
  return Owned{object};
}

}  // namespace belay::python
