// belay._native: what the package belay needs from the library, and the buffer protocol for its classes.
#define PY_SSIZE_T_CLEAN
// The buffer protocol is in the limited API since 3.11, and the same since 3.9: headers only do not say so
// when they are asked for 3.9, as they must be for a file that 3.9 can load too.
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
#ifndef Py_bf_getbuffer  // headers from 3.11 on know them
#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2
#endif

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "belay/belay.h"

namespace {

PyObject* no_such_device(int device) {
  return PyErr_Format(PyExc_ValueError, "there is no device %d; this process sees %u", device,
                      belay_device_count());
}

// Other Python threads run as long as it lives: callbacks that are waited for need the lock, and naming
// functions and lines takes a while.
class WithoutLock {
 public:
  WithoutLock() : state_{PyEval_SaveThread()} {}
  ~WithoutLock() { PyEval_RestoreThread(state_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

template <class Function>
auto without_lock(Function&& function) {
  const WithoutLock unlocked;
  return function();
}

// No exception may leave for C.
template <class Function>
PyObject* or_no_memory(Function&& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// Adds the item, and gives up its own reference to it; false with an exception set, also where there is none.
bool append(PyObject* list, PyObject* item) {
  const bool done = list != nullptr && item != nullptr && PyList_Append(list, item) == 0;
  Py_XDECREF(item);
  return done;
}

// File names in it may be anything.
PyObject* text_of(const char* text, std::size_t length) {
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(length), "replace");
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
    if (!append(list, item)) {
      Py_XDECREF(list);
      return nullptr;
    }
  }
  return list;
}

PyObject* blocks(PyObject*, PyObject* arguments) {
  return or_no_memory([&] { return list_blocks(arguments); });
}

PyObject* host_may_touch(PyObject*, PyObject*) { return PyBool_FromLong(belay_host_may_touch_devices()); }

// --- findings -------------------------------------------------------------------------------------

PyObject* item_of(const belayFinding& finding) {
  PyObject* text = text_of(finding.text, std::char_traits<char>::length(finding.text));
  if (text == nullptr) return nullptr;
  return Py_BuildValue("(ssssNKN)", finding.id, finding.className, finding.rule, finding.function, text,
                       static_cast<unsigned long long>(finding.count), PyBool_FromLong(finding.fails));
}

PyObject* list_findings(PyObject* arguments) {
  Py_ssize_t from = 0;
  if (PyArg_ParseTuple(arguments, "n:findings", &from) == 0) return nullptr;
  if (from < 0) return PyErr_Format(PyExc_ValueError, "findings are numbered from 0, not %zd", from);
  const auto first = static_cast<std::size_t>(from);
  std::vector<belayFinding> found;
  for (;;) {  // more may come between the two looks
    const std::size_t all = belay_findings(first, found.data(), found.size());
    const std::size_t there = all > first ? all - first : 0;
    const bool complete = there <= found.size();
    found.resize(there);
    if (complete) break;
  }
  PyObject* list = PyList_New(0);
  for (const belayFinding& finding : found) {
    if (!append(list, item_of(finding))) {
      Py_XDECREF(list);
      return nullptr;
    }
  }
  return list;
}

PyObject* findings(PyObject*, PyObject* arguments) {
  return or_no_memory([&] { return list_findings(arguments); });
}

PyObject* accept_finding(PyObject*, PyObject* arguments) {
  Py_ssize_t number = 0;
  unsigned long long times = 0;
  if (PyArg_ParseTuple(arguments, "nK:accept_finding", &number, &times) == 0) return nullptr;
  return PyLong_FromUnsignedLongLong(belay_accept_finding(static_cast<std::size_t>(number), times));
}

PyObject* end_of_test(PyObject*, PyObject*) {
  without_lock(belay_end_of_test);
  Py_RETURN_NONE;
}

PyObject* mark(PyObject*, PyObject*) { return PyLong_FromSize_t(without_lock(belay_mark)); }

PyObject* range_push(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  if (PyArg_ParseTuple(arguments, "s:range_push", &name) == 0) return nullptr;
  belay_range_push(name);
  Py_RETURN_NONE;
}

PyObject* range_pop(PyObject*, PyObject*) {
  belay_range_pop();
  Py_RETURN_NONE;
}

PyObject* label(PyObject*, PyObject* arguments) {
  unsigned long long address = 0;
  const char* name = nullptr;
  if (PyArg_ParseTuple(arguments, "Ks:label", &address, &name) == 0) return nullptr;
  return PyLong_FromLong(belay_label(reinterpret_cast<const void*>(address), name));
}

PyObject* trace(PyObject*, PyObject* arguments) {
  const char* file = nullptr;
  unsigned long long limit = 0;
  if (PyArg_ParseTuple(arguments, "zK:trace", &file, &limit) == 0) return nullptr;
  return PyLong_FromLong(without_lock([=] { return belay_trace(file, limit); }));
}

PyObject* check_segments(PyObject*, PyObject* arguments) {
  unsigned long long base = 0;
  PyObject* plan = nullptr;
  if (PyArg_ParseTuple(arguments, "KO:check_segments", &base, &plan) == 0) return nullptr;
  return or_no_memory([&]() -> PyObject* {
    PyObject* pairs = PySequence_Tuple(plan);
    if (pairs == nullptr) return nullptr;
    std::vector<belaySegment> segments(static_cast<std::size_t>(PyTuple_Size(pairs)));
    for (std::size_t i = 0; i < segments.size(); ++i) {
      PyObject* pair = PySequence_Tuple(PyTuple_GetItem(pairs, static_cast<Py_ssize_t>(i)));
      Py_ssize_t offset = 0, bytes = 0;
      const bool read = pair != nullptr && PyArg_ParseTuple(pair, "nn:check_segments", &offset, &bytes) != 0;
      Py_XDECREF(pair);
      if (read && (offset < 0 || bytes < 0))
        PyErr_SetString(PyExc_ValueError, "offsets and sizes must not be negative");
      if (!read || offset < 0 || bytes < 0) {
        Py_DECREF(pairs);
        return nullptr;
      }
      segments[i] = {static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes)};
    }
    Py_DECREF(pairs);
    // With the lock, so that a finding can tell the line of Python; nothing in there takes long.
    return PyLong_FromLong(
        belay_check_segments(reinterpret_cast<const void*>(base), segments.data(), segments.size()));
  });
}

PyObject* block_site(PyObject*, PyObject* arguments) {
  unsigned long long address = 0;
  if (PyArg_ParseTuple(arguments, "K:block_site", &address) == 0) return nullptr;
  return or_no_memory([address] {
    std::string text;
    const std::size_t length = without_lock([&] {
      const auto* block = reinterpret_cast<const void*>(address);
      text.resize(4096);
      std::size_t needed = belay_block_site(block, text.data(), text.size());
      if (needed < text.size()) return needed;
      text.resize(needed + 1);
      return std::min(belay_block_site(block, text.data(), text.size()), needed);
    });
    return text_of(text.data(), length);
  });
}

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
    {"findings", findings, METH_VARARGS,
     "(from) -> [(id, class, rule, function, text, count, fails)], from this number on."},
    {"accept_finding", accept_finding, METH_VARARGS,
     "(number, times) -> what is left: takes so many off the count of a finding."},
    {"end_of_test", end_of_test, METH_NOARGS, "Looks for what can only be seen at an end."},
    {"mark", mark, METH_NOARGS,
     "Sets a mark; gives the number of objects made since the last and still alive."},
    {"range_push", range_push, METH_VARARGS, "(name): begins a range of this thread."},
    {"range_pop", range_pop, METH_NOARGS, "Ends the last one."},
    {"label", label, METH_VARARGS, "(address, name) -> 0, or -1 where no block is."},
    {"trace", trace, METH_VARARGS, "(file, limit) -> a code; None in place of the file ends the trace."},
    {"check_segments", check_segments, METH_VARARGS,
     "(base, [(offset, bytes)]) -> a code: 0 if the plan keeps to the rule."},
    {"block_site", block_site, METH_VARARGS,
     "(address) -> lines that say where its block was allocated and freed; empty if that is not known."},
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
