// Small files: read whole, append, list, remove.
#pragma once

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
                                           const std::string& prefix);  // sorted
bool remove_file(const std::string& path);
bool directory_exists(const std::string& path);

// A file that grows. Failing to open or write is remembered, never thrown: a log must not fail its user.
class AppendFile {
 public:
  AppendFile() = default;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile() { close(); }

  bool open(const std::string& path);
  bool append(const std::string& line);
  void close();
  bool is_open() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

// One line to standard output or standard error, in one write.
void print_line(bool to_error, const std::string& line);

}  // namespace belay::platform
