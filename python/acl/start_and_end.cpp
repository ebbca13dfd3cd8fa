// acl.init … acl.finalize, versions, names, messages, log.
#include <array>
#include <string>

#include "call.h"

namespace belay::python {
namespace {

PyObject* init(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Str> path;
  if (count != 0 && !parse("acl.init", given, count, path)) return nullptr;
  // A copy: a thread that ends meanwhile must leave no object behind.
  const std::string text = count == 0 ? "" : std::get<0>(path).text;
  std::get<0>(path).bytes.reset();
  return to_python(without_lock([&] { return aclInit(count == 0 ? nullptr : text.c_str()); }));
}

PyObject* app_log(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<I32, Str> parameters;
  if (!parse("acl.app_log", given, count, parameters)) return nullptr;
  auto& [level, text] = parameters;
  aclAppLog(level.number, "app_log", "python", 0, "%s", text.text);
  Py_RETURN_NONE;
}

PyObject* get_cann_attribute_list(PyObject*, PyObject* const*, Py_ssize_t) {
  const aclCannAttr* list = nullptr;
  std::size_t count = 0;
  const aclError code = aclGetCannAttributeList(&list, &count);
  TupleMaker results{3};
  results.add(make_list(std::vector<aclCannAttr>(list, list + (list == nullptr ? 0 : count))));
  results.add(to_python(count));
  results.add(to_python(code));
  return results.take();
}

PyObject* get_version_str(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Str> package;
  if (!parse("acl.get_version_str", given, count, package)) return nullptr;
  std::array<char, ACL_PKG_VERSION_MAX_SIZE + 1> version{};
  const aclError code = aclsysGetVersionStr(std::get<0>(package).text, version.data());
  TupleMaker results{2};
  results.add(PyUnicode_FromString(version.data()));
  results.add(to_python(code));
  return results.take();
}

}  // namespace

Functions start_and_end() {
  return {
      {"acl.init", guarded<init>, R"(([config_path: str]) -> ret: int

Initialises the runtime of this process, once, before anything else. `config_path` names a JSON file; without
it, or with "", the defaults apply. None is refused. A second call returns 100002, which may be ignored; one
finalize() undoes any number of them. [Y-48, Y-49])"},
      row<"acl.finalize", aclFinalize, kReleased>(R"(() -> ret: int

Undoes init(). Devices should be reset before. Safe at interpreter shutdown, also from __del__. A second call
returns 100037. [Y-50])"),
      row<"acl.finalize_reference", aclFinalizeReference, kReleased, Out<std::uint64_t>>(
          R"(() -> (count: int, ret: int)

Decreases the count of init() by one, and finalizes at zero. `count` is what is left. [Y-51])"),
      row<"acl.get_version", aclrtGetVersion, kHeld, Out<std::int32_t>, Out<std::int32_t>, Out<std::int32_t>>(
          R"(() -> (major: int, minor: int, patch: int, ret: int)

The version of the interface. [Y-52])"),
      {"acl.get_version_str", guarded<get_version_str>, R"((package: str) -> (version: str, ret: int)

The version of an installed package such as "runtime"; "" and a code if it is not installed.)"},
      row<"acl.get_cann_version", aclsysGetCANNVersion, kHeldUnsigned, U32, Out<aclCANNPackageVersion>>(
          R"((name: int) -> (version: dict, ret: int)

The version of a package by its number (0 is CANN), with the keys version, major_version, minor_version,
release_version, patch_version and reserved. The code is unsigned. [Y-37])"),
      row<"acl.get_cann_attribute", aclGetCannAttribute, kHeld, I32, Out<std::int32_t>>(
          R"((attr: int) -> (value: int, ret: int)

Whether the software has a feature.)"),
      {"acl.get_cann_attribute_list", guarded<get_cann_attribute_list>,
       R"(() -> (attrs: list, count: int, ret: int)

All features that get_cann_attribute() knows.)"},
      row<"acl.get_device_capability", aclGetDeviceCapability, kHeld, U32, I32, Out<std::int64_t>>(
          R"((dev: int, info: int) -> (value: int, ret: int)

How much of something, such as cores, a device has.)"),
      row<"acl.get_soc_name", aclrtGetSocName, kHeld>(R"(() -> name: str | None

The name of the chip, such as "Ascend910B1"; None if there is none. It is here, not in acl.rt. [Y-53])"),
      row<"acl.get_recent_err_msg", aclGetRecentErrMsg, kHeld>(R"(() -> text: str | None

What went wrong in the last failed calls of this thread: the values, the rule, what to do. None when
nothing is pending. Reading clears it. [Y-54])"),
      {"acl.app_log", guarded<app_log>, R"((level: int, text: str) -> None

Writes a line of the program's own to the log. Levels: 0 debug, 1 info, 2 warning, 3 error. [Y-55])"},
  };
}

}  // namespace belay::python
