// belay._native: what the package belay needs from the library, and the buffer protocol for its classes.
#define PY_SSIZE_T_CLEAN
#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#else
// The buffer protocol is in the limited API since 3.11, and the same since 3.9: older headers only do not say
// so.
#define Py_LIMITED_API 0x03090000
#include <Python.h>
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char* format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void* internal;
};
extern "C" int PyBuffer_FillInfo(Py_buffer* view, PyObject* of, void* start, Py_ssize_t bytes, int read_only,
                                 int flags);
inline constexpr int Py_bf_getbuffer = 1;
inline constexpr int Py_bf_releasebuffer = 2;
#endif

#include <cstdint>
#include <new>
#include <vector>

#include "acl/acl.h"
#include "belay/belay.h"

namespace {

PyObject* no_such_device(int device) {
  return PyErr_Format(PyExc_ValueError, "there is no device %d; this process sees %u", device,
                      belay_device_count());
}

// Other Python threads run meanwhile: callbacks that are waited for need the lock.
int without_lock(int (*function)()) {
  PyThreadState* state = PyEval_SaveThread();
  const int code = function();
  PyEval_RestoreThread(state);
  return code;
}

PyObject* restart(PyObject*, PyObject*) { return PyLong_FromLong(without_lock(belay_restart)); }

PyObject* end(PyObject*, PyObject*) { return PyLong_FromLong(without_lock(belay_end)); }

PyObject* generation(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(belay_generation()); }

PyObject* device_count(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(belay_device_count()); }

PyObject* use(PyObject*, PyObject* arguments) {
  int device = 0;
  if (PyArg_ParseTuple(arguments, "i:use", &device) == 0) return nullptr;
  belayUse found{};
  if (belay_memory_use(device, &found) != 0) return no_such_device(device);
  return Py_BuildValue("(nnn)", static_cast<Py_ssize_t>(found.blocks), static_cast<Py_ssize_t>(found.bytes),
                       static_cast<Py_ssize_t>(found.peakBytes));
}

PyObject* reset_peak(PyObject*, PyObject* arguments) {
  int device = 0;
  if (PyArg_ParseTuple(arguments, "i:reset_peak", &device) == 0) return nullptr;
  if (belay_reset_peak(device) != 0) return no_such_device(device);
  Py_RETURN_NONE;
}

PyObject* list_blocks(PyObject* arguments) {
  int device = 0;
  if (PyArg_ParseTuple(arguments, "i:blocks", &device) == 0) return nullptr;
  std::vector<belayBlock> found;
  for (;;) {  // more may come between the two looks
    const std::size_t there = belay_blocks(device, found.data(), found.size());
    if (there == SIZE_MAX) return no_such_device(device);
    const bool all = there <= found.size();
    found.resize(there);
    if (all) break;
  }
  PyObject* list = PyList_New(0);
  for (const belayBlock& block : found) {
    PyObject* item =
        Py_BuildValue("(KnnnK)", static_cast<unsigned long long>(block.address),
                      static_cast<Py_ssize_t>(block.asked), static_cast<Py_ssize_t>(block.bytes),
                      static_cast<Py_ssize_t>(block.pageSize), static_cast<unsigned long long>(block.serial));
    if (list == nullptr || item == nullptr || PyList_Append(list, item) != 0) {
      Py_XDECREF(item);
      Py_XDECREF(list);
      return nullptr;
    }
    Py_DECREF(item);
  }
  return list;
}

PyObject* blocks(PyObject*, PyObject* arguments) {
  try {
    return list_blocks(arguments);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* host_may_touch(PyObject*, PyObject*) { return PyBool_FromLong(belay_host_may_touch_devices()); }

// --- Buffer ---------------------------------------------------------------------------------------

struct Buffer {
  PyObject_HEAD Py_ssize_t exports;
};

Buffer& as_buffer(PyObject* self) { return *reinterpret_cast<Buffer*>(self); }

// Asks the Python side where the bytes are, and whether the host may touch them.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  PyObject* where = PyObject_CallMethod(self, "_host_bytes", nullptr);
  if (where == nullptr) {
    view->obj = nullptr;
    return -1;
  }
  unsigned long long address = 0;
  Py_ssize_t bytes = 0;
  int read_only = 0;
  const bool told = PyArg_ParseTuple(where, "Knp:_host_bytes", &address, &bytes, &read_only) != 0;
  Py_DECREF(where);
  if (!told ||
      PyBuffer_FillInfo(view, self, reinterpret_cast<void*>(address), bytes, read_only, flags) != 0) {
    view->obj = nullptr;
    return -1;
  }
  ++as_buffer(self).exports;
  return 0;
}

void release_buffer(PyObject* self, Py_buffer*) { --as_buffer(self).exports; }

PyObject* get_exports(PyObject* self, void*) { return PyLong_FromSsize_t(as_buffer(self).exports); }

PyGetSetDef g_properties[]{
    {"_exports", get_exports, nullptr, "How many views of the memory are alive.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot g_slots[]{
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {Py_tp_getset, g_properties},
    {Py_tp_doc, const_cast<char*>("Base class of memory that memoryview() and numpy can look into.")},
    {0, nullptr}};
PyType_Spec g_buffer{"belay._native.Buffer", sizeof(Buffer), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     g_slots};

PyMethodDef g_methods[]{
    {"end", end, METH_NOARGS, "Ends everything; the next call starts anew. Gives a code."},
    {"restart", restart, METH_NOARGS,
     "Ends everything and starts anew with the settings of the environment. Gives a code."},
    {"generation", generation, METH_NOARGS, "Rises with every end and restart, and in a forked child."},
    {"device_count", device_count, METH_NOARGS, "Devices that this process sees."},
    {"use", use, METH_VARARGS, "(device) -> (blocks, bytes, peak_bytes); -1 is page-locked host memory."},
    {"reset_peak", reset_peak, METH_VARARGS, "(device): the peak begins anew at what is held now."},
    {"blocks", blocks, METH_VARARGS, "(device) -> [(address, asked, bytes, page_bytes, serial)]"},
    {"host_may_touch", host_may_touch, METH_NOARGS, "Whether host code may read and write device memory."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef g_definition{PyModuleDef_HEAD_INIT,
                         "belay._native",
                         "What belay needs from the library.",
                         -1,
                         g_methods,
                         nullptr,
                         nullptr,
                         nullptr,
                         nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native() {
  PyObject* module = PyModule_Create(&g_definition);
  PyObject* type = PyType_FromSpec(&g_buffer);
  if (module == nullptr || type == nullptr || PyModule_AddObject(module, "Buffer", type) != 0) {
    Py_XDECREF(type);
    Py_XDECREF(module);
    return nullptr;
  }
  belay_watch();
  return module;
}
