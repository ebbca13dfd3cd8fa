// Small files: read whole, list, remove.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace belay::platform {

enum class ReadOutcome : std::uint8_t { Done, Missing, NotAFile, TooLarge, Unreadable };

struct FileText {
  ReadOutcome outcome;
  std::string text;
};
FileText read_file(const std::string& path, std::size_t at_most);

bool make_directories(const std::string& path);
std::vector<std::string> files_with_prefix(const std::string& directory,
                                           const std::string& prefix);    // sorted
std::vector<std::string> names_of(DIR* open, const std::string& prefix);  // the same, and closes it
bool remove_file(const std::string& path);
bool directory_exists(const std::string& path);

// False if not everything could be written.
bool write_all(int file, const char* at, std::size_t left);
// One line to standard output or standard error, in one write.
void print_line(bool to_error, const std::string& line);

}  // namespace belay::platform
