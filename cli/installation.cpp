#include "cli/installation.h"

#include <fmt/format.h>

#include "cli/command.h"

namespace belay::cli {

Installation find_installation() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path root = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  for (const char* folder : {"lib64", "lib"}) {
    const fs::path library = root / folder / "libascendcl.so";
    if (fs::exists(library, ignored)) return {root, library};
  }
  throw UsageError{fmt::format("libascendcl.so is neither in '{0}/lib64' nor in '{0}/lib'", root.string()),
                   "belay and its library belong into one tree: install them together"};
}

}  // namespace belay::cli
