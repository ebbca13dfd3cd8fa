// Small files: read whole, list, remove.
#pragma once

#include <dirent.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/process.h"

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
// At the end of a file, which is made if it is not there; false where that fails.
bool append_to(const std::string& path, const std::string& text);
// What a person must know and a program will not print: to standard error, once in a process however often it
// happens. `said_by` is the process that has said it; a forked child says it again.
using SaidBy = std::atomic<std::int32_t>;
template <class Words>
void say_once(SaidBy& said_by, Words&& words) {
  const std::int32_t process = process_id();
  if (said_by.exchange(process) != process) print_line(true, "belay: " + words() + "\n");
}

}  // namespace belay::platform
