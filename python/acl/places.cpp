#include "places.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace belay::python {
namespace {

// --- the words --------------------------------------------------------------------------------------

// By number, from 1 on; only the first g_last_place are there. Pages that are not reached cost nothing.
constinit std::array<belayFrame, kMostPlaces + 1> g_place_words{};
constinit std::atomic<std::uint64_t> g_last_place{0};
constexpr std::uint64_t kOtherPlaces = 0;  // all that are more than are kept

const char* kept_for_ever(const std::string& text) {
  char* copy = ::strdup(text.c_str());
  if (copy == nullptr) throw std::bad_alloc{};
  return copy;
}

// Always valid UTF-8 and one line, whatever a file is called.
std::string words_of(const Owned& text) {
  const Owned bytes{text && PyUnicode_Check(text.get()) != 0
                        ? PyUnicode_AsEncodedString(text.get(), "utf-8", "backslashreplace")
                        : nullptr};
  const char* chars = bytes ? PyBytes_AsString(bytes.get()) : nullptr;
  std::string words{chars != nullptr ? chars : "?"};
  std::ranges::replace_if(
      words, [](char each) { return static_cast<unsigned char>(each) < ' '; }, '?');
  return words;
}

// As a user would write it.
std::string from_here(std::string file) {
  char here[PATH_MAX];
  if (::getcwd(here, sizeof here) == nullptr) return file;
  const std::string below = std::string{here} + "/";
  return file.starts_with(below) ? file.substr(below.size()) : file;
}

// Where the package belay lies, with a slash at the end; empty as long as nobody has imported it.
const std::string& own_directory() {
  static auto* directory = new std::string;
  if (!directory->empty()) return *directory;
  PyObject* modules = PySys_GetObject("modules");  // still answers when the interpreter ends
  PyObject* native = modules != nullptr && PyDict_Check(modules) != 0
                         ? PyDict_GetItemString(modules, "belay._native")
                         : nullptr;
  if (native == nullptr || PyModule_Check(native) == 0) return *directory;
  PyObject* file = PyDict_GetItemString(PyModule_GetDict(native), "__file__");
  const std::string path = words_of(share(file));
  if (const std::size_t slash = path.rfind('/'); slash != std::string::npos)
    *directory = path.substr(0, slash + 1);
  return *directory;
}

bool is_hidden(const std::string& file) {
  const std::string& ours = own_directory();
  return (!ours.empty() && file.starts_with(ours)) || file.starts_with("<frozen importlib.");
}

// --- the numbers ------------------------------------------------------------------------------------

struct Numbered {
  int at;
  std::uint32_t number;
};
using Numbers = std::vector<Numbered>;  // in the order of `at`

const Numbered* find_number(const Numbers& numbers, int at) {
  const auto found = std::ranges::lower_bound(numbers, at, {}, &Numbered::at);
  return found != numbers.end() && found->at == at ? &*found : nullptr;
}
void put_number(Numbers& numbers, int at, std::uint32_t number) {
  numbers.insert(std::ranges::lower_bound(numbers, at, {}, &Numbered::at), {at, number});
}

struct KnownCode {
  const char* function = nullptr;  // null: hidden
  const char* file = nullptr;
  Numbers by_line;
  // To find a line takes the longer the further down it is, since Python 3.11 a microsecond for 40 lines;
  // where in its code a frame is costs nothing.
  Numbers by_instruction;
};

// With the lock. Each has a reference to its code object, so that the address never becomes another's.
using Codes = std::unordered_map<PyObject*, KnownCode>;
Codes& codes() {
  static auto* all = new Codes;  // used until the very end
  return *all;
}

// Not in the headers of every Python that the module serves, or not in the limited API of the oldest; null
// where the interpreter does not have it.
struct FrameFunctions {
  PyObject* (*code)(PyObject* frame) = nullptr;   // 3.9
  int (*line)(PyObject* frame) = nullptr;         // each one
  int (*instruction)(PyObject* frame) = nullptr;  // 3.11
  bool qualified = false;                         // 3.11: code objects know in which class they are
};
FrameFunctions g_frame;

// Without an exception that would only be cleared: the interpreter may look for garbage when it makes one.
const char* name_attribute() { return g_frame.qualified ? "co_qualname" : "co_name"; }

KnownCode described(PyObject* code) {
  const std::string file = words_of(attribute(code, "co_filename"));
  if (is_hidden(file)) return {};
  KnownCode made;
  made.function = kept_for_ever(words_of(attribute(code, name_attribute())));
  made.file = kept_for_ever(from_here(file));
  return made;
}

std::uint32_t new_place(const KnownCode& code, int line) {
  const std::uint64_t number = g_last_place.load(std::memory_order_relaxed) + 1;
  g_place_words[number] = {code.function, code.file, static_cast<std::uint32_t>(std::max(line, 0))};
  g_last_place.store(number, std::memory_order_release);
  return static_cast<std::uint32_t>(number);
}

bool all_places_taken() { return g_last_place.load(std::memory_order_relaxed) == kMostPlaces; }

std::uint64_t number_at(KnownCode& code, PyObject* frame) {
  const bool quick = g_frame.instruction != nullptr;
  const int instruction = quick ? g_frame.instruction(frame) : 0;
  if (quick) {
    if (const Numbered* known = find_number(code.by_instruction, instruction)) return known->number;
  }
  const int line = g_frame.line(frame);
  const Numbered* known = find_number(code.by_line, line);
  if (known == nullptr && all_places_taken()) return kOtherPlaces;
  const std::uint32_t number = known != nullptr ? known->number : new_place(code, line);
  if (known == nullptr) put_number(code.by_line, line, number);
  if (quick) put_number(code.by_instruction, instruction, number);
  return number;
}

}  // namespace

void begin_places() {
  const auto look = [](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(RTLD_DEFAULT, name));
  };
  look(g_frame.code, "PyFrame_GetCode");
  look(g_frame.line, "PyFrame_GetLineNumber");
  look(g_frame.instruction, "PyFrame_GetLasti");
  PyObject* version = PySys_GetObject("hexversion");
  g_frame.qualified = version != nullptr && PyLong_AsLong(version) >= 0x030B0000;
  PyErr_Clear();
  // Code of an interpreter that was there before, in the same process, may have lain anywhere.
  codes().clear();
}

std::optional<std::uint64_t> place_of(PyObject* frame) {
  // Not by the attribute where there is another way: programs may have a function called for that one.
  const Owned code = g_frame.code != nullptr ? Owned{g_frame.code(frame)} : attribute(frame, "f_code");
  if (!code || g_frame.line == nullptr) return std::nullopt;
  auto found = codes().find(code.get());
  if (found == codes().end()) {
    if (all_places_taken()) return kOtherPlaces;
    found = codes().emplace(code.get(), described(code.get())).first;
    Py_INCREF(code.get());
  }
  if (found->second.function == nullptr) return std::nullopt;
  return number_at(found->second, frame);
}

int describe_place(std::uint64_t number, belayFrame* frame) {
  if (number == kOtherPlaces) {
    *frame = {"more lines of Python than belay keeps", nullptr, 0};
    return 0;
  }
  if (number > g_last_place.load(std::memory_order_acquire)) return -1;
  *frame = g_place_words[number];
  return 0;
}

}  // namespace belay::python
