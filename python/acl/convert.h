// How arguments become C values and results become Python objects (Y-22 … Y-39).
//
// A parameter takes what it needs from the arguments (`read`), may look closer at it with errors of its own
// (`prepare`), gives the C call its arguments, and adds what it has to the result (`give`).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "acl/acl.h"
#include "python_api.h"

namespace belay::python {

// --- results --------------------------------------------------------------------------------------

template <class T>
requires std::is_enum_v<T> || std::is_integral_v<T> PyObject* to_python(T value) {
  if constexpr (std::is_enum_v<T> || std::is_signed_v<T>) {
    return PyLong_FromLongLong(static_cast<long long>(value));
  } else {
    return PyLong_FromUnsignedLongLong(value);
  }
}
inline PyObject* to_python(float value) { return PyFloat_FromDouble(static_cast<double>(value)); }
inline PyObject* to_python(const void* address) {
  return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(address));
}
// An independent copy; a null pointer is None (Y-34).
inline PyObject* to_python(const char* text) {
  if (text == nullptr) Py_RETURN_NONE;
  return PyUnicode_FromString(text);
}
PyObject* to_python(const aclrtPtrAttributes& attributes);
PyObject* to_python(const aclrtUtilizationInfo& rates);
PyObject* to_python(const aclrtUuid& uuid);
PyObject* to_python(const aclCANNPackageVersion& version);

// Fills a tuple from the left; null where a part could not be made.
class TupleMaker {
 public:
  explicit TupleMaker(Py_ssize_t size) : tuple_{PyTuple_New(size)} {}
  void add(PyObject* part) {
    if (part == nullptr) {
      tuple_.reset();
    } else if (!tuple_) {
      Py_DECREF(part);
    } else {
      PyTuple_SetItem(tuple_.get(), next_++, part);
    }
  }
  PyObject* take() { return tuple_.release(); }

 private:
  Owned tuple_;
  Py_ssize_t next_ = 0;
};

// --- parameters -----------------------------------------------------------------------------------

using Arguments = PyObject* const*;

struct Parameter {
  static constexpr Py_ssize_t kTakes = 1;                  // arguments
  static constexpr Py_ssize_t kGives = 0;                  // results
  static constexpr const char* kWants = "something else";  // for the note of an error
  static bool prepare() { return true; }
  static void give(TupleMaker&) {}
};

// Passed on as whatever number or pointer the C function takes.
template <class Number>
struct AnyNumber {
  Number value = 0;
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(static_cast<std::uintptr_t>(value));
    } else {
      return static_cast<T>(value);
    }
  }
};

bool read_u64(PyObject* object, std::uint64_t& value);  // int and subclasses, modulo 2^64
bool read_i32(PyObject* object, std::int32_t& value);   // int or __index__, within 32 bits
bool read_u32(PyObject* object, std::uint32_t& value);  // int or __index__, modulo 2^32

template <class Number, bool (*read_number)(PyObject*, Number&)>
struct NumberParameter : Parameter {
  static constexpr const char* kWants =
      std::is_signed_v<Number> ? "an int that fits 32 signed bits" : "an int";
  AnyNumber<Number> number;
  bool read(Arguments& at) { return read_number(*at++, number.value); }
  auto arguments() { return std::tuple{number}; }
};
using Ptr = NumberParameter<std::uint64_t, read_u64>;  // addresses, handles, sizes, counts
using U64 = NumberParameter<std::uint64_t, read_u64>;
using I32 = NumberParameter<std::int32_t, read_i32>;
using U32 = NumberParameter<std::uint32_t, read_u32>;

struct Bytes : Ptr {};  // how many are copied or filled

// An address that is handed back as it was given (Y-110).
struct Echo : Ptr {
  static constexpr Py_ssize_t kGives = 1;
  void give(TupleMaker& results) const { results.add(PyLong_FromUnsignedLongLong(number.value)); }
};

// What the C function writes. It keeps its initial value where the function writes nothing (Y-35).
template <class T, auto initial = 0>
struct Out : Parameter {
  static constexpr Py_ssize_t kTakes = 0;
  static constexpr Py_ssize_t kGives = 1;
  T value = [] {
    if constexpr (std::is_class_v<T> || std::is_pointer_v<T>) {
      return T{};
    } else {
      return static_cast<T>(initial);
    }
  }();
  static bool read(Arguments&) { return true; }
  auto arguments() { return std::tuple{&value}; }
  void give(TupleMaker& results) const { results.add(to_python(value)); }
};

// Any object, borrowed from the caller.
struct Any : Parameter {
  PyObject* object = nullptr;
  bool read(Arguments& at) {
    object = *at++;
    return true;
  }
};

// str without NUL (Y-25).
struct Str : Parameter {
  static constexpr const char* kWants = "a str without NUL";
  Owned bytes;
  char* text = nullptr;
  bool read(Arguments& at);
  auto arguments() { return std::tuple{text}; }
};

// A key that the C function writes into memory of the given length (Y-135).
struct KeyOut : Parameter {
  static constexpr Py_ssize_t kGives = 1;
  static constexpr const char* kWants = "an int";
  static constexpr std::size_t kMost = 1024;
  std::uint64_t length = 0;
  std::array<char, kMost> key{};
  bool read(Arguments& at) { return read_u64(*at++, length); }
  bool prepare() const;
  auto arguments() { return std::tuple{key.data(), static_cast<std::size_t>(length)}; }
  void give(TupleMaker& results) const { results.add(PyUnicode_FromString(key.data())); }
};

// A real list; C gets the numbers and how many there are (Y-31).
template <class Item>
struct ListOf : Any {
  std::vector<Item> items;
  bool prepare();
  auto arguments() { return std::tuple{items.data(), items.size()}; }
};
using PidList = ListOf<std::int32_t>;
using HandleList = ListOf<void*>;

// {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}, or {} for none (Y-94).
struct MallocConfig : Any {
  std::vector<aclrtMallocAttribute> attributes;
  aclrtMallocConfig config{};
  bool given = false;
  bool prepare();
  auto arguments() { return std::tuple{given ? &config : nullptr}; }

 private:
  static bool read_value(PyObject* dictionary, aclrtMallocAttrValue& value);
};

// {"handleType": 0, "allocationType": 0, "memAttr": 13, "location": {"id": 0, "type": 1}, "reserve": 0}; what
// is missing is 0 (Y-125, Y-126).
struct PhysicalMemProp : Any {
  aclrtPhysicalMemProp property{};
  bool prepare();
  auto arguments() { return std::tuple{&property}; }
};

template <>
bool PidList::prepare();
template <>
bool HandleList::prepare();

// --- dictionaries ---------------------------------------------------------------------------------

// What stands under a key; null where nothing does.
Owned entry_of(PyObject* dictionary, const char* key);

// The int under a key. What is missing or no int is ignored and leaves `value` as it is; what does not fit
// raises ValueError and answers false (Y-30).
bool read_field(PyObject* dictionary, const char* key, std::uint64_t most, std::uint64_t& value);

// A dict of what to_python makes of each value. Null, with the exception set, if one of them cannot be made.
struct Entry {
  const char* key;
  PyObject* value;  // taken over
};
PyObject* make_dict(std::initializer_list<Entry> entries);
template <class Numbers>
PyObject* make_list(const Numbers& numbers) {
  Owned list{PyList_New(0)};
  for (const auto& number : numbers) {
    const Owned item{to_python(number)};
    if (!list || !item || PyList_Append(list.get(), item.get()) != 0) return nullptr;
  }
  return list.release();
}

}  // namespace belay::python
