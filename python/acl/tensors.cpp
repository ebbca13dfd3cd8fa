// acl: descriptions of tensors, as far as memory programs use them: to know how many bytes a tensor takes
// (Y-56). There is no such thing in the C library, so the records live here; the interpreter lock guards
// them.
#include <limits>
#include <memory>
#include <unordered_map>

#include "call.h"

namespace belay::python {
namespace {

struct Tensor {
  std::size_t bytes;
};

std::unordered_map<std::uint64_t, std::unique_ptr<Tensor>>& tensors_made() {
  static auto* all =
      new std::unordered_map<std::uint64_t, std::unique_ptr<Tensor>>;  // used until the very end
  return *all;
}

// 0 where a dimension is not known yet (negative), or where no memory could hold it.
std::size_t bytes_of_shape(std::size_t element, const std::vector<std::int64_t>& dimensions) {
  std::size_t bytes = element;
  for (const std::int64_t dimension : dimensions) {
    if (dimension < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(dimension), &bytes)) return 0;
  }
  return bytes;
}

struct Dimensions : Parameter {
  static constexpr const char* kWants = "a list of ints";
  std::vector<std::int64_t> sizes;
  bool read(Arguments& at) {
    PyObject* list = *at++;
    if (PyList_Check(list) == 0) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
      PyObject* item = PyList_GetItem(list, i);
      if (PyLong_Check(item) == 0) return false;
      const long long size = PyLong_AsLongLong(item);
      if (PyErr_Occurred() != nullptr) return false;
      sizes.push_back(size);
    }
    return true;
  }
};

PyObject* create_tensor_desc(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<I32, Dimensions, I32> parameters;
  if (!parse("acl.create_tensor_desc", given, count, parameters)) return nullptr;
  auto& [type, dimensions, format] = parameters;
  auto tensor =
      std::make_unique<Tensor>(Tensor{bytes_of_shape(aclDataTypeSize(type.number), dimensions.sizes)});
  const auto handle = reinterpret_cast<std::uint64_t>(tensor.get());
  tensors_made()[handle] = std::move(tensor);
  return to_python(handle);
}

PyObject* get_tensor_desc_size(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr> handle;
  if (!parse("acl.get_tensor_desc_size", given, count, handle)) return nullptr;
  const auto found = tensors_made().find(std::get<0>(handle).number.value);
  return to_python(found == tensors_made().end() ? std::size_t{0} : found->second->bytes);
}

PyObject* destroy_tensor_desc(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr> handle;
  if (!parse("acl.destroy_tensor_desc", given, count, handle)) return nullptr;
  tensors_made().erase(std::get<0>(handle).number.value);
  Py_RETURN_NONE;
}

PyObject* set_tensor_const(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr, Ptr, Ptr> parameters;
  if (!parse("acl.set_tensor_const", given, count, parameters)) return nullptr;
  auto& [handle, data, length] = parameters;
  const bool good =
      tensors_made().contains(handle.number.value) && data.number.value != 0 && length.number.value != 0;
  return to_python(aclError{good ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM});
}

}  // namespace

Functions tensors() {
  return {
      {"acl.create_tensor_desc", guarded<create_tensor_desc>,
       R"((type: int, dims: list, format: int) -> handle: int

Describes a tensor; memory programs use it to ask for its size. [Y-56])"},
      {"acl.get_tensor_desc_size", guarded<get_tensor_desc_size>, R"((handle: int) -> size: int

Bytes that the tensor takes; 0 where a dimension is not known. [Y-56])"},
      {"acl.destroy_tensor_desc", guarded<destroy_tensor_desc>, R"((handle: int) -> None

Frees the description. [Y-56])"},
      {"acl.set_tensor_const", guarded<set_tensor_const>, R"((handle: int, ptr: int, length: int) -> ret: int

Says that the tensor is constant and where its data is. Accepted; no operator runs here that would use it.)"},
  };
}

}  // namespace belay::python
