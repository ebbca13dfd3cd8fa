// Makes a Python function of a C function: one line of a chapter says which, and how each parameter is
// passed.
//
//   call<"acl.rt.malloc", aclrtMalloc, kHeld, Out<void*>, Ptr, I32>
//
// The parameters stand in the order of C. Those that are only written are left out of the Python arguments
// and come back in front of the code, in a tuple (Y-32, Y-33).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "convert.h"
#include "frames.h"
#include "function.h"

namespace belay::python {

template <std::size_t size>
struct Text {
  consteval Text(const char (&text)[size]) { std::copy_n(text, size, chars); }  // NOLINT
  char chars[size]{};
};

// Whether other Python threads run meanwhile. They do around every call that may wait or copy, so that nobody
// waits for a callback that needs the lock (Y-43, Y-44). Copies of a few bytes that wait for nothing are over
// before the lock would be free.
enum class Lock : unsigned char { Held, Released, ReleasedIfLong };
enum class Code : unsigned char { Signed, Unsigned };  // Y-37
struct How {
  Lock lock = Lock::Held;
  Code code = Code::Signed;
};
inline constexpr How kHeld{};
inline constexpr How kReleased{Lock::Released};
inline constexpr How kReleasedIfLong{Lock::ReleasedIfLong};
inline constexpr How kHeldUnsigned{Lock::Held, Code::Unsigned};
inline constexpr std::uint64_t kLongCopy = 16 * 1024;

// TypeError in the words that programs know, with a note that tells what is wrong (Y-26). Always null.
PyObject* wrong_count(const char* path, Py_ssize_t given);
PyObject* wrong_argument(const char* path, Py_ssize_t position, PyObject* given, const char* wanted);
// Whether an object can be called; raises TypeError if not (Y-41).
bool can_be_called(PyObject* object);

// Callbacks that the runtime has dropped meanwhile (callbacks.cpp).
void free_dropped_callbacks();

// The lock is no guard object: a thread that comes back while the interpreter ends is unwound from inside
// PyEval_RestoreThread, which no destructor may do.
template <class Act>
auto without_lock(Act&& act) {
  const FramesOfCall frames;
  PyThreadState* state = PyEval_SaveThread();
  auto result = act();
  PyEval_RestoreThread(state);
  free_dropped_callbacks();
  return result;
}

// Afterwards `at` is behind the last argument that was looked at.
template <class... Parameters>
bool read_all(Arguments& at, std::tuple<Parameters...>& parameters) {
  return std::apply([&](auto&... each) { return (each.read(at) && ...); }, parameters);
}

// What the argument at a position, the first is 1, should have been.
template <class... Parameters>
const char* wanted_at(Py_ssize_t position) {
  const char* wanted = "";
  const auto look = [&](Py_ssize_t takes, const char* wants) {
    if (takes != 0 && position-- == 1) wanted = wants;
  };
  (look(Parameters::kTakes, Parameters::kWants), ...);
  return wanted;
}

// For functions that are written by hand: reads the arguments, or raises.
template <class... Parameters>
bool parse(const char* path, Arguments arguments, Py_ssize_t count, std::tuple<Parameters...>& into) {
  constexpr Py_ssize_t kWanted = (Parameters::kTakes + ... + 0);
  if constexpr (kWanted != 0) {  // none wanted: ignored (Y-28)
    if (count != kWanted) return wrong_count(path, count) != nullptr;
    Arguments at = arguments;
    if (!read_all(at, into)) {
      const Py_ssize_t position = at - arguments;
      return wrong_argument(path, position, at[-1], wanted_at<Parameters...>(position)) != nullptr;
    }
  }
  return std::apply([](auto&... each) { return (each.prepare() && ...); }, into);
}

template <class Parameter>
std::uint64_t bytes_of(const Parameter& parameter) {
  if constexpr (std::is_same_v<Parameter, Bytes>) {
    return parameter.number.value;
  } else {
    return 0;
  }
}

template <Text path, auto function, How how, class... Parameters>
PyObject* call(PyObject*, PyObject* const* given, Py_ssize_t count) {
  std::tuple<Parameters...> parameters;
  if (!parse(path.chars, given, count, parameters)) return nullptr;

  auto arguments = std::apply([](auto&... each) { return std::tuple_cat(each.arguments()...); }, parameters);
  const auto act = [&] { return std::apply(function, arguments); };
  bool release = how.lock == Lock::Released;
  if constexpr (how.lock == Lock::ReleasedIfLong) {
    release = std::apply([](auto&... each) { return (bytes_of(each) + ...); }, parameters) >= kLongCopy;
  }
  const auto result = release ? without_lock(act) : act();

  const auto answer = [&] {
    if constexpr (how.code == Code::Unsigned) {
      return to_python(static_cast<std::uint32_t>(result));
    } else {
      return to_python(result);
    }
  };
  constexpr Py_ssize_t kResults = (Parameters::kGives + ... + 0);
  if constexpr (kResults == 0) {
    return answer();
  } else {
    TupleMaker results{kResults + 1};
    std::apply([&](auto&... each) { (each.give(results), ...); }, parameters);
    results.add(answer());
    return results.take();
  }
}

template <Text path, auto function, How how, class... Parameters>
Function row(const char* help) {
  return {path.chars, guarded<call<path, function, how, Parameters...>>, help};
}

}  // namespace belay::python
