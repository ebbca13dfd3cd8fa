// acl.rt: streams.
#include "call.h"

namespace belay::python {
namespace {

// Which member of the value an attribute means (Y-80).
enum class Member : unsigned char { FailureMode, OverflowSwitch, UserCustomTag, Reserved };
Member member_of(std::int32_t attribute) {
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return Member::FailureMode;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return Member::OverflowSwitch;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      return Member::UserCustomTag;
    default:
      return Member::Reserved;
  }
}

struct AttributeValue : Any {
  bool prepare() const {
    if (PyDict_Check(object) != 0) return true;
    PyErr_SetString(PyExc_TypeError, "the aclrtStreamAttrValue argument is not dict");
    return false;
  }
  bool fill(Member member, aclrtStreamAttrValue& value) const {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    std::uint64_t number = 0;
    switch (member) {
      case Member::FailureMode:
        if (!read_field(object, "failureMode", std::numeric_limits<std::uint64_t>::max(), number))
          return false;
        value.failureMode = number;
        return true;
      case Member::OverflowSwitch:
        if (!read_field(object, "overflowSwitch", kMost, number)) return false;
        value.overflowSwitch = static_cast<std::uint32_t>(number);
        return true;
      case Member::UserCustomTag:
        if (!read_field(object, "userCustomTag", kMost, number)) return false;
        value.userCustomTag = static_cast<std::uint32_t>(number);
        return true;
      case Member::Reserved:
        break;
    }
    const Owned list = entry_of(object, "reserved");
    if (!list || PyList_Check(list.get()) == 0) return true;
    for (Py_ssize_t i = 0; i < PyList_Size(list.get()) && i < 4; ++i) {
      std::uint64_t word = 0;
      if (read_u64(PyList_GetItem(list.get(), i), word)) value.reserve[i] = static_cast<std::uint32_t>(word);
    }
    return true;
  }
};

PyObject* set_stream_attribute(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr, I32, AttributeValue> parameters;
  if (!parse("acl.rt.set_stream_attribute", given, count, parameters)) return nullptr;
  auto& [stream, attribute, dictionary] = parameters;
  aclrtStreamAttrValue value{};
  if (!dictionary.fill(member_of(attribute.number.value), value)) return nullptr;
  return to_python(aclrtSetStreamAttribute(stream.number, attribute.number, &value));
}

PyObject* get_stream_attribute(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Ptr, I32> parameters;
  if (!parse("acl.rt.get_stream_attribute", given, count, parameters)) return nullptr;
  auto& [stream, attribute] = parameters;
  aclrtStreamAttrValue value{};
  const aclError code = aclrtGetStreamAttribute(stream.number, attribute.number, &value);
  TupleMaker results{2};
  switch (member_of(attribute.number.value)) {
    case Member::FailureMode:
      results.add(make_dict({{"failureMode", to_python(value.failureMode)}}));
      break;
    case Member::OverflowSwitch:
      results.add(make_dict({{"overflowSwitch", to_python(value.overflowSwitch)}}));
      break;
    case Member::UserCustomTag:
      results.add(make_dict({{"userCustomTag", to_python(value.userCustomTag)}}));
      break;
    case Member::Reserved:
      results.add(make_dict({{"reserved", make_list(value.reserve)}}));
      break;
  }
  results.add(to_python(code));
  return results.take();
}

}  // namespace

Functions streams() {
  return {
      row<"acl.rt.create_stream", aclrtCreateStream, kHeld, Out<void*>>(R"(() -> (stream: int, ret: int)

Makes a stream in the current context. Work on it runs in order, and independently of other streams. [Y-72])"),
      row<"acl.rt.create_stream_with_config", aclrtCreateStreamWithConfig, kHeld, Out<void*>, I32, I32>(
          R"((priority: int, flag: int) -> (stream: int, ret: int)

The same with a priority from 0 (most urgent) to 7, and flags. [Y-73])"),
      row<"acl.rt.destroy_stream", aclrtDestroyStream, kReleased, Ptr>(R"((stream: int) -> ret: int

Waits for the work of the stream, then ends it. [Y-74])"),
      row<"acl.rt.destroy_stream_force", aclrtDestroyStreamForce, kReleased, Ptr>(R"((stream: int) -> ret: int

Drops the work of the stream and ends it. [Y-74])"),
      row<"acl.rt.stream_abort", aclrtStreamAbort, kReleased, Ptr>(R"((stream: int) -> ret: int

Drops the work of the stream; the stream stays. [Y-74])"),
      row<"acl.rt.set_stream_failure_mode", aclrtSetStreamFailureMode, kHeld, Ptr, U32>(
          R"((stream: int, mode: int) -> ret: int

0: go on after a failed task. 1: stop all streams of the context. [Y-74])"),
      row<"acl.rt.synchronize_stream", aclrtSynchronizeStream, kReleased, Ptr>(R"((stream: int) -> ret: int

Waits until all work of the stream is done; 0 is the default stream of the current context. Other Python
threads run meanwhile. [Y-75, Y-43])"),
      row<"acl.rt.synchronize_stream_with_timeout", aclrtSynchronizeStreamWithTimeout, kReleased, Ptr, I32>(
          R"((stream: int, ms: int) -> ret: int

The same for at most `ms` milliseconds, -1 for ever; then 507046, and the work goes on. [Y-76])"),
      row<"acl.rt.stream_query", aclrtStreamQuery, kReleased, Ptr, Out<aclrtStreamStatus, 65535>>(
          R"((stream: int) -> (status: int, ret: int)

0 all done, 1 not yet; never waits. [Y-78])"),
      row<"acl.rt.stream_get_id", aclrtStreamGetId, kHeld, Ptr, Out<std::int32_t>>(
          R"((stream: int) -> (id: int, ret: int)

The number of the stream. [Y-79])"),
      row<"acl.rt.get_stream_available_num", aclrtGetStreamAvailableNum, kHeld, Out<std::uint32_t>>(
          R"(() -> (n: int, ret: int)

How many streams can still be made. [Y-79])"),
      {"acl.rt.set_stream_attribute", guarded<set_stream_attribute>,
       R"((stream: int, attr: int, value: dict) -> ret: int

Sets an attribute. `value` has one key: failureMode, overflowSwitch, userCustomTag, or reserved (a list).
[Y-80])"},
      {"acl.rt.get_stream_attribute", guarded<get_stream_attribute>,
       R"((stream: int, attr: int) -> (value: dict, ret: int)

An attribute, under the key that set_stream_attribute() takes. [Y-80])"},
      row<"acl.rt.set_stream_overflow_switch", aclrtSetStreamOverflowSwitch, kHeld, Ptr, U32>(
          R"((stream: int, flag: int) -> ret: int

1: look for overflows in work that comes from now on.)"),
      row<"acl.rt.get_stream_overflow_switch", aclrtGetStreamOverflowSwitch, kHeld, Ptr, Out<std::uint32_t>>(
          R"((stream: int) -> (flag: int, ret: int)

Whether overflows are looked for.)"),
      row<"acl.rt.get_stream_res_limit", aclrtGetStreamResLimit, kHeld, Ptr, I32, Out<std::uint32_t>>(
          R"((stream: int, type: int) -> (value: int, ret: int)

How many cores of a type the stream may use.)"),
      row<"acl.rt.set_stream_res_limit", aclrtSetStreamResLimit, kHeld, Ptr, I32, U32>(
          R"((stream: int, type: int, value: int) -> ret: int

Sets how many cores of a type the stream may use.)"),
      row<"acl.rt.reset_stream_res_limit", aclrtResetStreamResLimit, kHeld, Ptr>(R"((stream: int) -> ret: int

Restores the limits of the device.)"),
  };
}

}  // namespace belay::python
