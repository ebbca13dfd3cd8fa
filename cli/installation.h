// Where the tree is that this command belongs to.
#pragma once

#include <filesystem>

namespace belay::cli {

struct Installation {
  std::filesystem::path root, library;

  // A build has the library and the command, and nothing to source.
  std::filesystem::path script() const { return root / "set_env.sh"; }
};

// Beside this command: lib64 in an installed tree, lib in a build. Throws UsageError where neither is.
Installation find_installation();

}  // namespace belay::cli
