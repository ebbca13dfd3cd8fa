// What the files of a program say about addresses in its code: functions, source files and lines.
//
// Reads debug information (DWARF) and symbol tables, also of separate debug files on this machine, and asks
// nobody else. A file is opened when it is first asked for, and stays open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace belay::cli {

struct Place {
  std::string function;  // demangled, without arguments; empty if unknown
  std::string file;      // seen from the current directory if it lies below it; empty if unknown
  int line = 0;          // 0 if unknown
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // Where the call is that returns to `offset`, an address as the file counts them: that in memory less the
  // load bias. Innermost function first; the last is the one that was compiled, those before it are inlined
  // into it. Empty if nothing is known, or the file is not the one with this build id (in hex; empty: any).
  std::vector<Place> at(const std::string& path, std::uint64_t offset, std::string_view build_id);

  // The file can be read, and has another build id: it was built again since.
  bool changed(const std::string& path, std::string_view build_id);

 private:
  class Module;
  Module& module(const std::string& path);

  std::vector<std::string> below_;  // names of the current directory, each with a slash at its end
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace belay::cli
