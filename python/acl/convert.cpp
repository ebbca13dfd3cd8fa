#include "convert.h"

#include <cstring>

namespace belay::python {

bool read_u64(PyObject* object, std::uint64_t& value) {
  if (PyLong_Check(object) == 0) return false;  // numpy integers too: so it is on hardware (Y-23)
  value = PyLong_AsUnsignedLongLongMask(object);
  return true;
}

namespace {

// An int, made from __index__ where it is none. Never from __int__: 3.8 and 3.9 would do that by themselves.
Owned as_int(PyObject* object) {
  return PyLong_Check(object) != 0 ? share(object) : Owned{PyNumber_Index(object)};
}

}  // namespace

bool read_i32(PyObject* object, std::int32_t& value) {
  const Owned number = as_int(object);
  if (!number) return false;
  int overflow = 0;
  const long wide = PyLong_AsLongAndOverflow(number.get(), &overflow);
  value = static_cast<std::int32_t>(wide);
  return overflow == 0 && wide == value;
}

bool read_u32(PyObject* object, std::uint32_t& value) {
  const Owned number = as_int(object);
  if (!number) return false;
  value = static_cast<std::uint32_t>(PyLong_AsUnsignedLongLongMask(number.get()));
  return true;
}

bool Str::read(Arguments& at) {
  PyObject* object = *at++;
  if (PyUnicode_Check(object) == 0) return false;
  bytes.reset(PyUnicode_AsUTF8String(object));
  return bytes && PyBytes_AsStringAndSize(bytes.get(), &text, nullptr) == 0;
}

bool KeyOut::prepare() const {
  if (length < kMost) return true;
  PyErr_SetString(PyExc_ValueError, "key len should be less than 1024");
  return false;
}

namespace {

// Each item of a list to `take`, which answers whether it can use it.
template <class Take>
bool read_list(PyObject* list, const char* not_a_list, Take&& take) {
  if (PyList_Check(list) == 0) {
    PyErr_SetString(PyExc_ValueError, not_a_list);
    return false;
  }
  const Py_ssize_t size = PyList_Size(list);
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (take(PyList_GetItem(list, i))) continue;
    PyErr_SetString(PyExc_ValueError, "get values from PyList failed");
    return false;
  }
  return true;
}

}  // namespace

template <>
bool PidList::prepare() {
  items.reserve(1);  // an empty list is no NULL
  return read_list(object, "argument 2 only support the format of list", [&](PyObject* item) {
    std::int32_t pid = 0;
    if (PyLong_Check(item) == 0 || !read_i32(item, pid)) return false;
    items.push_back(pid);
    return true;
  });
}

template <>
bool HandleList::prepare() {
  return read_list(object, "argument 1 only support the format of list", [&](PyObject* item) {
    std::uint64_t handle = 0;
    if (!read_u64(item, handle)) return false;
    items.push_back(reinterpret_cast<void*>(handle));
    return true;
  });
}

// --- dictionaries ---------------------------------------------------------------------------------

// Shared, not borrowed: looking up another key may run Python, which may take this value out.
Owned entry_of(PyObject* dictionary, const char* key) { return share(PyDict_GetItemString(dictionary, key)); }

bool read_field(PyObject* dictionary, const char* key, std::uint64_t most, std::uint64_t& value) {
  const Owned object = entry_of(dictionary, key);
  if (!object || PyLong_Check(object.get()) == 0) return true;
  const std::uint64_t number =
      PyLong_AsUnsignedLongLong(object.get());  // refuses what is negative or too large
  if (PyErr_Occurred() == nullptr && number <= most) {
    value = number;
    return true;
  }
  PyErr_SetString(PyExc_ValueError, "PyLong_AsUnsignedLong failed");
  return false;
}

namespace {

bool no_dict(const char* text) {
  PyErr_SetString(PyExc_TypeError, text);
  return false;
}

}  // namespace

bool MallocConfig::read_value(PyObject* dictionary, aclrtMallocAttrValue& value) {
  std::uint64_t number = 0;
  if (entry_of(dictionary, "moduleId")) {
    if (!read_field(dictionary, "moduleId", std::numeric_limits<std::uint16_t>::max(), number)) return false;
    value.moduleId = static_cast<std::uint16_t>(number);
    return true;
  }
  if (entry_of(dictionary, "deviceId")) {
    if (!read_field(dictionary, "deviceId", std::numeric_limits<std::uint32_t>::max(), number)) return false;
    value.deviceId = static_cast<std::uint32_t>(number);
    return true;
  }
  const Owned reserved = entry_of(dictionary, "rsv");
  if (!reserved) {
    PyErr_SetString(PyExc_KeyError, "No valid key found in aclrtMallocAttrValue");
    return false;
  }
  if (PyList_Check(reserved.get()) == 0) return true;
  for (Py_ssize_t i = 0; i < PyList_Size(reserved.get()) && i < 8; ++i) {
    std::uint64_t byte = 0;
    if (read_u64(PyList_GetItem(reserved.get(), i), byte)) value.rsv[i] = static_cast<std::uint8_t>(byte);
  }
  return true;
}

bool MallocConfig::prepare() {
  if (PyDict_Check(object) == 0) return no_dict("pyCfg is not dict!");
  if (PyDict_Size(object) == 0) return true;
  constexpr const char* kNoValue = "the aclrtMallocAttrValue argument is not dict";
  const Owned list = entry_of(object, "attrs");
  if (!list || PyList_Check(list.get()) == 0) return no_dict(kNoValue);
  const Owned said = entry_of(object, "numAttrs");
  const Py_ssize_t count = PyList_Size(list.get());
  if (!said || PyLong_Check(said.get()) == 0 ||
      PyLong_AsUnsignedLongLongMask(said.get()) != static_cast<std::uint64_t>(count)) {
    PyErr_SetString(PyExc_KeyError, "The numAttrs inputed does not match the expected numAttrs");
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Owned item = share(PyList_GetItem(list.get(), i));  // null where the list became shorter meanwhile
    PyErr_Clear();
    if (!item || PyDict_Check(item.get()) == 0) return no_dict(kNoValue);
    aclrtMallocAttribute attribute{};
    std::uint64_t kind = 0;
    if (!read_field(item.get(), "attr", std::numeric_limits<std::int32_t>::max(), kind)) return false;
    attribute.attr = static_cast<aclrtMallocAttrType>(kind);
    if (const Owned value = entry_of(item.get(), "value")) {
      if (PyDict_Check(value.get()) == 0) return no_dict(kNoValue);
      if (!read_value(value.get(), attribute.value)) return false;
    }
    attributes.push_back(attribute);
  }
  config = {attributes.data(), attributes.size()};
  given = true;
  return true;
}

namespace {

// A number of an enum of C, whether the enum has it or not.
template <class Enum>
bool read_enum(PyObject* dictionary, const char* key, Enum& value) {
  std::uint64_t number = 0;
  if (!read_field(dictionary, key, std::numeric_limits<std::int32_t>::max(), number)) return false;
  value = static_cast<Enum>(number);
  return true;
}

}  // namespace

bool PhysicalMemProp::prepare() {
  if (PyDict_Check(object) == 0) return no_dict("the aclrtPhysicalMemProp argument is not dict");
  std::uint64_t id = 0, reserve = 0;
  if (!read_enum(object, "handleType", property.handleType) ||
      !read_enum(object, "allocationType", property.allocationType) ||
      !read_enum(object, "memAttr", property.memAttr) ||
      !read_field(object, "reserve", std::numeric_limits<std::uint64_t>::max(), reserve))
    return false;
  property.reserve = reserve;
  const Owned location = entry_of(object, "location");
  if (!location) return true;
  if (PyDict_Check(location.get()) == 0) return no_dict("the aclrtMemLocation argument is not dict");
  if (!read_field(location.get(), "id", std::numeric_limits<std::uint32_t>::max(), id) ||
      !read_enum(location.get(), "type", property.location.type))
    return false;
  property.location.id = static_cast<std::uint32_t>(id);
  return true;
}

PyObject* make_dict(std::initializer_list<Entry> entries) {
  Owned dictionary{PyDict_New()};
  for (const Entry& entry : entries) {
    const Owned value{entry.value};
    if (dictionary && (!value || PyDict_SetItemString(dictionary.get(), entry.key, value.get()) != 0))
      dictionary.reset();
  }
  return dictionary.release();
}

PyObject* to_python(const aclrtPtrAttributes& attributes) {
  return make_dict({{"location", make_dict({{"id", to_python(attributes.location.id)},
                                            {"type", to_python(attributes.location.type)}})},
                    {"page_size", to_python(attributes.pageSize)},
                    {"rsv", make_list(attributes.rsv)}});
}

PyObject* to_python(const aclrtUtilizationInfo& rates) {
  return make_dict({{"cube_utilization", to_python(rates.cubeUtilization)},
                    {"vector_utilization", to_python(rates.vectorUtilization)},
                    {"aicpu_utilization", to_python(rates.aicpuUtilization)},
                    {"memory_utilization", to_python(rates.memoryUtilization)},
                    {"utilization_extend", to_python(static_cast<const void*>(rates.utilizationExtend))}});
}

PyObject* to_python(const aclrtUuid& uuid) {
  std::array<unsigned char, sizeof uuid.bytes> bytes{};
  std::memcpy(bytes.data(), uuid.bytes, bytes.size());
  return make_dict({{"bytes", make_list(bytes)}});
}

PyObject* to_python(const aclCANNPackageVersion& version) {
  return make_dict({{"version", to_python(version.version)},
                    {"major_version", to_python(version.majorVersion)},
                    {"minor_version", to_python(version.minorVersion)},
                    {"release_version", to_python(version.releaseVersion)},
                    {"patch_version", to_python(version.patchVersion)},
                    {"reserved", to_python(version.reserved)}});
}

}  // namespace belay::python
