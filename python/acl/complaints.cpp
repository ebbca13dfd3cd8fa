// The text of a TypeError for each function. Some differ for no reason; programs may match them (Y-26), so
// what belay has to add goes into a note of the exception, which leaves the text alone.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "call.h"
#include "function.h"

namespace belay::python {
namespace {

using namespace std::string_view_literals;

constexpr std::array kWithExclamationMark{
    "acl.rt.malloc_with_cfg"sv,
    "acl.rt.malloc_for_task_scheduler"sv,
    "acl.rt.set_stream_attribute"sv,
    "acl.rt.get_stream_attribute"sv,
    "acl.rt.stream_query"sv,
    "acl.rt.set_stream_failure_mode"sv,
    "acl.rt.synchronize_event_with_timeout"sv,
    "acl.rt.synchronize_device_with_timeout"sv,
    "acl.rt.set_op_wait_timeout"sv,
    "acl.rt.peek_at_last_error"sv,
    "acl.rt.get_last_error"sv,
    "acl.rt.cmo_async"sv,
    "acl.rt.get_overflow_status"sv,
    "acl.rt.reset_overflow_status"sv,
};

bool is_emphatic(std::string_view path) {
  return path.starts_with("acl.media.") || path.starts_with("acl.himpi.") ||
         std::ranges::find(kWithExclamationMark, path) != kWithExclamationMark.end();
}

std::string complaint(std::string_view path) {
  if (path == "acl.rt.get_devices_topo") path = "acl.rt.reset_device_res_limit";
  const bool short_form = path == "acl.rt.host_get_device_pointer" || path.ends_with("_stream_res_limit");
  return std::string{path} + (short_form ? " parse failed" : " args parse failed") +
         (is_emphatic(path) ? "!" : "");
}

// Parameters of a function, as its help has them.
struct Names {
  std::vector<std::string_view> all;
  bool optional = false;
};

// "([config_path: str]) -> ret: int" has one, which may be left out.
Names names_of(std::string_view path) {
  Names names;
  const auto found = std::ranges::find(all_functions(), path, [](const Function& each) { return each.path; });
  if (found == all_functions().end()) return names;
  std::string_view help = found->help;
  names.optional = help.starts_with("([");
  help = help.substr(names.optional ? 2 : 1);
  for (help = help.substr(0, help.find_first_of("])")); !help.empty();) {
    const std::string_view one = help.substr(0, help.find(", "));
    names.all.push_back(one.substr(0, one.find(':')));
    help.remove_prefix(std::min(one.size() + 2, help.size()));
  }
  return names;
}

std::string utf8(const Owned& text) {
  const Owned bytes{text ? PyUnicode_AsUTF8String(text.get()) : nullptr};
  const char* chars = bytes ? PyBytes_AsString(bytes.get()) : nullptr;
  PyErr_Clear();
  return chars != nullptr ? chars : "?";
}

// Only what cannot run code of the program, and stays short, is shown in full.
std::string description(PyObject* object) {
  if (object == Py_None) return "None";
  const std::string type = utf8(attribute(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  constexpr Py_ssize_t kShort = 40;
  const bool is_text = PyUnicode_CheckExact(object) != 0 || PyBytes_CheckExact(object) != 0;
  if (PyLong_CheckExact(object) != 0) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 ? std::to_string(number) : "an int of more than 63 bits";
  }
  if (PyFloat_CheckExact(object) != 0 || (is_text && PyObject_Size(object) <= kShort))
    return utf8(Owned{PyObject_Repr(object)}) + " (" + type + ")";
  return "an object of type " + type;
}

PyObject* parse_failed(const char* path, const std::string& note) {
  const Owned error{PyObject_CallFunction(PyExc_TypeError, "s", complaint(path).c_str())};
  const Owned notes{error ? Py_BuildValue("[s]", note.c_str()) : nullptr};
  // Tracebacks show notes since 3.11; any exception may carry them.
  if (notes && PyObject_SetAttrString(error.get(), "__notes__", notes.get()) == 0)
    PyErr_SetObject(PyExc_TypeError, error.get());
  return nullptr;
}

}  // namespace

PyObject* wrong_count(const char* path, Py_ssize_t given) {
  const Names names = names_of(path);
  std::string list;
  for (const std::string_view name : names.all) (list += list.empty() ? "" : ", ") += name;
  return parse_failed(path, (names.optional ? "takes at most " : "takes ") +
                                std::to_string(names.all.size()) +
                                (names.all.size() == 1 ? " argument (" : " arguments (") + list + "); " +
                                std::to_string(given) + (given == 1 ? " was given" : " were given"));
}

PyObject* wrong_argument(const char* path, Py_ssize_t position, PyObject* given, const char* wanted) {
  // What a user's own __index__ raised gives way like any detail; an interrupt does not.
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;
  PyErr_Clear();
  const Names names = names_of(path);
  const auto index = static_cast<std::size_t>(position - 1);
  const std::string name = index < names.all.size() ? " (" + std::string{names.all[index]} + ")" : "";
  return parse_failed(path, "argument " + std::to_string(position) + name + " takes " + wanted + "; " +
                                description(given) + " was given");
}

bool can_be_called(PyObject* object) {
  if (PyCallable_Check(object) != 0) return true;
  PyErr_SetString(PyExc_TypeError, "parameter must be callable");
  return false;
}

}  // namespace belay::python
