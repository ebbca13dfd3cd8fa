// What `belay toolkit install` has put into the file system: a list that it keeps beside it, so that it can
// take back exactly that, and never touches what somebody else has put there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace belay::cli {

struct LaidOut {
  enum class Kind { Directory, Link, File };
  Kind kind;
  std::filesystem::path path;
  std::string content;  // what a link leads to; the text of a file
};

// In the order in which they are made.
using Layout = std::vector<LaidOut>;

// The file in the root that says what is there by belay.
std::filesystem::path list_file(const std::filesystem::path& root);
bool is_laid_out(const std::filesystem::path& root);

// Paths that are taken by something that is not ours: that no list names, or that has changed since. Below
// the root, a directory that is there is another's too.
std::vector<std::filesystem::path> taken(const std::filesystem::path& root, const Layout& wanted);

// Makes everything, or nothing. Throws UsageError with the path that could not be made. `kept` are
// directories of ours that take_back has left, because something else is in them.
void lay_out(const std::filesystem::path& root, const Layout& wanted,
             const std::vector<std::filesystem::path>& kept = {});

// Takes back what the list names and what is still as it was made. Returns what was left because it is not.
std::vector<std::filesystem::path> take_back(const std::filesystem::path& root);

}  // namespace belay::cli
