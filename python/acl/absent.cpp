// What programs for models, operators and media processing name, and belay does not run: there, and answered
// (C-22). The rows come from absent.table.
#include <cstring>
#include <iterator>
#include <utility>

#include "belay/belay.h"
#include "call.h"

namespace belay::python {
namespace {

struct Absent {
  const char* path;
  const char* kinds;     // of what is returned, a letter each
  const char* function;  // of C
  const char* help;
};
constexpr Absent kAbsent[] = {
#define ABSENT(path, kinds, function, help) {path, kinds, function, help},
#include "absent_rows.inc"
#undef ABSENT
};

PyObject* value_of(char kind, long code) {
  switch (kind) {
    case 'r':
      return PyLong_FromLong(code);
    case 'd':
      return PyDict_New();
    case 'l':
      return PyList_New(0);
    case 'f':
      return PyFloat_FromDouble(0);
    case 'u':  // undefined, of a type or a format
      return PyLong_FromLong(-1);
    case 'n':
      return share(Py_None).release();
    default:
      return PyLong_FromLong(0);
  }
}

PyObject* answer(const Absent& row) {
  const long code = belay_not_run(row.function);
  const auto count = static_cast<Py_ssize_t>(std::strlen(row.kinds));
  if (count == 1) return value_of(row.kinds[0], code);
  Owned all{PyTuple_New(count)};
  for (Py_ssize_t i = 0; all && i < count; ++i) {
    PyObject* value = value_of(row.kinds[i], code);
    if (value == nullptr || PyTuple_SetItem(all.get(), i, value) != 0) return nullptr;
  }
  return all.release();
}

// The interpreter tells a function nothing of which one it is, so each row has its own.
template <std::size_t number>
PyObject* answer_of(PyObject*, PyObject* const*, Py_ssize_t) {
  return answer(kAbsent[number]);
}
template <std::size_t... numbers>
Functions all_of(std::index_sequence<numbers...>) {
  return {Function{kAbsent[numbers].path, guarded<answer_of<numbers>>, kAbsent[numbers].help}...};
}

}  // namespace

Functions absent() { return all_of(std::make_index_sequence<std::size(kAbsent)>{}); }

}  // namespace belay::python
