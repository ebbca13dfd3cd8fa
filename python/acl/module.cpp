// Puts the chapters together: acl, and its nine submodules (Y-8 … Y-16).
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "frames.h"
#include "function.h"

namespace belay::python {
namespace {

constexpr std::array kSubmodules{"rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv"};

Functions gathered() {
  Functions all;
  for (const auto chapter : {start_and_end, devices, contexts, streams, events, notifies, callbacks, errors,
                             device_memory, host_memory, virtual_memory, sharing, copies, data, tensors,
                             media_memory, addresses, threads, absent}) {
    const Functions some = chapter();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// The interpreter keeps pointers into these for ever.
struct Definitions {
  std::vector<std::string> helps;
  std::vector<PyMethodDef> methods;
};

PyCFunction as_method(FastFunction function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

bool add_submodules(PyObject* module) {
  PyObject* loaded = PyImport_GetModuleDict();
  for (const char* name : kSubmodules) {
    const std::string full = std::string{"acl."} + name;
    const Owned part{PyModule_New(full.c_str())};
    // In sys.modules too, so that "import acl.rt" finds it although acl is no package (Y-10, Y-11).
    if (!part || PyObject_SetAttrString(module, name, part.get()) != 0 ||
        PyDict_SetItemString(loaded, full.c_str(), part.get()) != 0)
      return false;
  }
  return true;
}

bool add_functions(PyObject* module) {
  auto* kept =
      new Definitions;  // one for each time that the file is loaded, which may be under several names
  const Functions& all = all_functions();
  kept->helps.reserve(all.size());
  kept->methods.reserve(all.size());
  for (const Function& function : all) {
    std::string_view path{function.path};
    path.remove_prefix(std::string_view{"acl."}.size());
    Owned place = share(module);
    if (const std::size_t dot = path.find('.'); dot != std::string_view::npos) {
      place.reset(PyObject_GetAttrString(module, std::string{path.substr(0, dot)}.c_str()));
      path.remove_prefix(dot + 1);
    }
    const std::string& help = kept->helps.emplace_back(std::string{path} + function.help);
    PyMethodDef& method = kept->methods.emplace_back(
        PyMethodDef{path.data(), as_method(function.call), kFastCall, help.c_str()});
    const Owned made{PyCFunction_NewEx(&method, nullptr, nullptr)};  // belongs to no module (Y-13)
    if (!place || !made || PyObject_SetAttrString(place.get(), path.data(), made.get()) != 0) return false;
  }
  return true;
}

PyModuleDef g_definition{
    PyModuleDef_HEAD_INIT,
    "acl",
    "AscendCL from Python: devices, streams, memory, copies.\n\n"
    "Calls return codes; a failure at run time raises no exception. 0 is success, and\n"
    "acl.get_recent_err_msg() says what was wrong. Addresses, handles and streams are ints;\n"
    "results come first, the code last. Arguments are positional. See help(acl.rt), help(acl.util).",
    -1,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    nullptr};

}  // namespace

const Functions& all_functions() {
  static const auto* all = new Functions{gathered()};
  return *all;
}

}  // namespace belay::python

PyMODINIT_FUNC PyInit_acl() {
  using namespace belay::python;
  Owned module{PyModule_Create(&g_definition)};
  if (!module || !add_submodules(module.get()) || !add_functions(module.get())) return nullptr;
  begin_frames();
  return module.release();
}
