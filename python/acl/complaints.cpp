// The text of a TypeError for each function. Some differ for no reason; programs may match them (Y-26).
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "call.h"

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

}  // namespace

PyObject* parse_failed(const char* path) {
  // What a user's own __index__ raised gives way like any detail; an interrupt does not.
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;
  PyErr_SetString(PyExc_TypeError, complaint(path).c_str());
  return nullptr;
}

bool can_be_called(PyObject* object) {
  if (PyCallable_Check(object) != 0) return true;
  PyErr_SetString(PyExc_TypeError, "parameter must be callable");
  return false;
}

}  // namespace belay::python
