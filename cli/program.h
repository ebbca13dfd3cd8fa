// The program that `belay run` is to start: where it is, and whether a library can be put into it.
#pragma once

#include <string>

namespace belay::cli {

struct FoundProgram {
  std::string path;  // empty: not to be started
  int exit_code;     // then this
  std::string why;   // and this, in words
};

// Looks along PATH as a shell does, unless the name has a slash.
FoundProgram find_program(const std::string& name);

// Why the dynamic loader could not load our library into it; empty when it can. Scripts pass: their
// interpreter is what gets loaded.
std::string why_not_intercepted(const std::string& path);

}  // namespace belay::cli
