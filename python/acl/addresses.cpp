// acl.util: addresses of bytes and numpy arrays, and the way back.
//
// numpy is loaded when one of its functions is called, and only through Python: so one file works with numpy
// 1 and 2, and without it (Y-14, Y-183, Y-184).
#include <limits>
#include <string>
#include <string_view>

#include "belay/belay.h"
#include "call.h"

namespace belay::python {
namespace {

PyObject* raise(PyObject* type, const char* text) {
  PyErr_SetString(type, text);
  return nullptr;
}

PyObject* bytes_to_ptr(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Any> data;
  if (!parse("acl.util.bytes_to_ptr", given, count, data)) return nullptr;
  PyObject* object = std::get<0>(data).object;
  if (PyBytes_Check(object) == 0) return raise(PyExc_ValueError, "needs an byte as argument");
  return to_python(static_cast<const void*>(PyBytes_AsString(object)));
}

PyObject* ptr_to_bytes(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr, Ptr> parameters;
  if (!parse("acl.util.ptr_to_bytes", given, count, parameters)) return nullptr;
  const auto& [pointer, size] = parameters;
  const char* failed = "convert c pointer to bytes failed";
  if (size.number.value > static_cast<std::uint64_t>(std::numeric_limits<Py_ssize_t>::max()))
    return raise(PyExc_ValueError, failed);
  const auto* from = reinterpret_cast<const char*>(pointer.number.value);
  if (size.number.value != 0 && belay_host_may_touch(from) == 0) {
    // On a card the process would die here, and on a board it would not; words are better than either
    // (Y-146).
    return raise(PyExc_ValueError, (std::string{failed} +
                                    ": the address is device memory, which host code cannot read; copy it to "
                                    "host memory with acl.rt.memcpy first")
                                       .c_str());
  }
  PyObject* bytes = PyBytes_FromStringAndSize(from, static_cast<Py_ssize_t>(size.number.value));
  if (bytes == nullptr) return raise(PyExc_ValueError, failed);
  return bytes;
}

// --- numpy ----------------------------------------------------------------------------------------

Owned numpy() { return Owned{PyImport_ImportModule("numpy")}; }

bool is_array(PyObject* module, PyObject* object) {
  const Owned type = attribute(module, "ndarray");
  const int answer = type ? PyObject_IsInstance(object, type.get()) : -1;
  if (answer == 0) PyErr_SetString(PyExc_ValueError, "needs an ndarray as argument");
  return answer == 1;
}

// -1 with an exception.
int is_contiguous(PyObject* array) {
  const Owned flags = attribute(array, "flags");
  const Owned contiguous = attribute(flags.get(), "c_contiguous");
  return contiguous ? PyObject_IsTrue(contiguous.get()) : -1;
}

PyObject* address_of(PyObject* array) {
  const Owned interface = attribute(array, "__array_interface__");
  PyObject* data =
      interface ? PyDict_GetItemString(interface.get(), "data") : nullptr;  // (address, read only)
  PyObject* address = data != nullptr ? PyTuple_GetItem(data, 0) : nullptr;
  if (address == nullptr && PyErr_Occurred() == nullptr)
    PyErr_SetString(PyExc_ValueError, "the array does not give its address");
  return share(address).release();
}

bool warn_of_deprecation(const char* name, const char* instead) {
  const std::string text =
      std::string{"acl.util."} + name + " will be deprecated, please use acl.util." + instead;
  return PyErr_WarnEx(PyExc_Warning, text.c_str(), 1) == 0;
}

// The one argument of both functions that take an array.
struct ArrayGiven {
  Owned module;
  PyObject* object = nullptr;
  bool contiguous = false;

  bool read(const char* name, PyObject* const* given, Py_ssize_t count) {
    std::tuple<Any> array;
    if (!parse((std::string{"acl.util."} + name).c_str(), given, count, array)) return false;
    object = std::get<0>(array).object;
    module = numpy();
    if (!module || !is_array(module.get(), object) || !warn_of_deprecation(name, "bytes_to_ptr"))
      return false;
    const int answer = is_contiguous(object);
    contiguous = answer == 1;
    return answer >= 0;
  }
};

PyObject* numpy_to_ptr(PyObject*, PyObject* const* given, Py_ssize_t count) {
  ArrayGiven array;
  if (!array.read("numpy_to_ptr", given, count)) return nullptr;
  if (!array.contiguous && PyErr_WarnEx(PyExc_Warning,
                                        "acl.util.numpy_to_ptr: the array is not C-contiguous, so its "
                                        "elements are not one after another at the address; use "
                                        "acl.util.bytes_to_ptr(array.tobytes())",
                                        1) != 0)
    return nullptr;
  return address_of(array.object);
}

PyObject* numpy_contiguous_to_ptr(PyObject*, PyObject* const* given, Py_ssize_t count) {
  ArrayGiven array;
  if (!array.read("numpy_contiguous_to_ptr", given, count)) return nullptr;
  Owned usable = array.contiguous ? share(array.object)
                                  : call_method(array.module.get(), "ascontiguousarray", array.object);
  if (!usable) return nullptr;
  TupleMaker results{2};
  results.add(address_of(usable.get()));
  results.add(usable.release());
  return results.take();
}

// numpy's letter for its number of a type; 0 where there is none (Y-149).
char letter_of(std::int32_t type) {
  constexpr std::string_view kLetters = "?bBhHiIlLqQfdgFDG";
  if (type == 23) return 'e';
  return type >= 0 && static_cast<std::size_t>(type) < kLetters.size()
             ? kLetters[static_cast<std::size_t>(type)]
             : '\0';
}

// A tuple of plain ints that numpy can take; it does not check the length of a shape itself (32 in numpy 1).
Owned checked_shape(PyObject* given) {
  constexpr Py_ssize_t kMostDimensions = 32;
  const auto refuse = [](PyObject* type, const char* text) -> Owned {
    PyErr_SetString(type, text);
    return nullptr;
  };
  if (PyTuple_Check(given) == 0) return refuse(PyExc_ValueError, "shape is empty");
  const Py_ssize_t dimensions = PyTuple_Size(given);
  if (dimensions > kMostDimensions) return refuse(PyExc_ValueError, "shape has more than 32 dimensions");
  Owned shape{PyTuple_New(dimensions)};
  for (Py_ssize_t i = 0; shape && i < dimensions; ++i) {
    PyObject* item = PyTuple_GetItem(given, i);
    if (PyLong_Check(item) == 0) return refuse(PyExc_TypeError, "the second argument is not list of int");
    int overflow = 0;
    const long long size = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow != 0 || size < 0) return refuse(PyExc_ValueError, "shape is negative or too large");
    PyObject* number = PyLong_FromLongLong(size);  // a bool becomes an int
    if (number == nullptr) return nullptr;
    PyTuple_SetItem(shape.get(), i, number);
  }
  return shape;
}

// An array over memory that numpy does not own, described by an object with an __array_interface__.
Owned view_of(PyObject* module, std::uint64_t address, PyObject* shape, PyObject* type) {
  // Nowhere: an array of its own, not initialised, as ptr_to_bytes makes bytes of it (Y-145).
  if (address == 0) return call_method(module, "empty", shape, type);
  const Owned letters = attribute(type, "str");
  const Owned interface {
    letters ? Py_BuildValue("{s:(KO),s:O,s:O,s:i}", "data", static_cast<unsigned long long>(address),
                            Py_False, "shape", shape, "typestr", letters.get(), "version", 3)
            : nullptr
  };
  const Owned types{interface ? PyImport_ImportModule("types") : nullptr};
  const Owned holder = call_method(types.get(), "SimpleNamespace");
  if (!holder || PyObject_SetAttrString(holder.get(), "__array_interface__", interface.get()) != 0)
    return nullptr;
  Owned array = call_method(module, "asarray", holder.get());
  // Types of equal size have one description; the array gets the one that was asked for.
  return call_method(array.get(), "view", type);
}

PyObject* ptr_to_numpy(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr, Any, I32> parameters;
  if (!parse("acl.util.ptr_to_numpy", given, count, parameters)) return nullptr;
  auto& [pointer, shape, number] = parameters;
  const Owned module = numpy();
  if (!module) return nullptr;
  const Owned sizes = checked_shape(shape.object);
  if (!sizes) return nullptr;
  const char letter = letter_of(number.number.value);
  if (letter == '\0') return raise(PyExc_ValueError, "npy_type is not a number of a numpy type");
  if (!warn_of_deprecation("ptr_to_numpy", "ptr_to_bytes")) return nullptr;
  const Owned text{PyUnicode_FromStringAndSize(&letter, 1)};
  const Owned type{text ? call_method(module.get(), "dtype", text.get()).release() : nullptr};
  if (!type) return nullptr;
  Owned array = view_of(module.get(), pointer.number.value, sizes.get(), type.get());
  if (!array && PyErr_ExceptionMatches(PyExc_MemoryError) != 0)
    return raise(PyExc_ValueError, "shape is negative or too large");
  return array.release();
}

}  // namespace

Functions addresses() {
  return {
      {"acl.util.bytes_to_ptr", guarded<bytes_to_ptr>, R"((data: bytes) -> ptr: int

The address of the object's own bytes; nothing is copied. Keep `data` as long as the address is used. A copy into it
changes `data`, which is how results come back; never do that to an empty or one-byte object, which the whole
interpreter shares. [Y-142, Y-143, Y-144])"},
      {"acl.util.ptr_to_bytes", guarded<ptr_to_bytes>, R"((ptr: int, size: int) -> data: bytes

A copy of `size` bytes of host memory. Device memory must be copied to the host first: ValueError. [Y-145, Y-146])"},
      {"acl.util.numpy_to_ptr", guarded<numpy_to_ptr>, R"((arr: numpy.ndarray) -> ptr: int

The address of the array's first element; nothing is copied. Warns: use bytes_to_ptr(arr.tobytes()). [Y-147])"},
      {"acl.util.numpy_contiguous_to_ptr", guarded<numpy_contiguous_to_ptr>,
       R"((arr: numpy.ndarray) -> (ptr: int, arr: numpy.ndarray)

The address of the array, and the array to keep: `arr` itself if it is C-contiguous, else a copy that is. [Y-148])"},
      {"acl.util.ptr_to_numpy", guarded<ptr_to_numpy>,
       R"((ptr: int, shape: tuple, npy_type: int) -> arr: numpy.ndarray

An array over that memory: writable, not its owner. It does not notice when the memory is freed. Types by numpy's
numbers: 0 bool, 1 int8, 2 uint8, 3 int16, 4 uint16, 5 int32, 6 uint32, 7 int64, 8 uint64, 11 float32, 12 float64,
23 float16. [Y-149])"},
  };
}

}  // namespace belay::python
