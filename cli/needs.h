// What a program or library needs of AscendCL, read from its file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace belay::cli {

struct Needs {
  std::vector<std::string> functions;  // of AscendCL and its companions, that others must provide; sorted
  std::vector<std::string> libraries;  // that it names, in its order
};

// Empty where the file is no ELF file for 64 bits with a table of symbols.
std::optional<Needs> needs_of(const std::string& path);

}  // namespace belay::cli
