#include "platform/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace belay::platform {
FileText read_file(const std::string& path, std::size_t at_most) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {ReadOutcome::Missing, {}};
  if (!S_ISREG(about.st_mode)) return {ReadOutcome::NotAFile, {}};
  if (static_cast<std::size_t>(about.st_size) > at_most) return {ReadOutcome::TooLarge, {}};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {ReadOutcome::Unreadable, {}};
  std::string text;
  std::array<char, 4096> piece{};
  ReadOutcome outcome = ReadOutcome::Done;
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) outcome = ReadOutcome::Unreadable;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > at_most) {
      outcome = ReadOutcome::TooLarge;
      break;
    }
  }
  ::close(file);
  return {outcome, std::move(text)};
}

bool make_directories(const std::string& path) {
  std::error_code trouble;
  std::filesystem::create_directories(path, trouble);
  return directory_exists(path);
}

bool directory_exists(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

std::vector<std::string> files_with_prefix(const std::string& directory, const std::string& prefix) {
  DIR* const open = ::opendir(directory.c_str());
  return open == nullptr ? std::vector<std::string>{} : names_of(open, prefix);
}

std::vector<std::string> names_of(DIR* open, const std::string& prefix) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(open)) {  // NOLINT(concurrency-mt-unsafe): one reader per stream
    std::string name{static_cast<const char*>(entry->d_name)};
    if (name != "." && name != ".." && name.starts_with(prefix)) names.push_back(std::move(name));
  }
  ::closedir(open);
  std::ranges::sort(names);
  return names;
}

bool remove_file(const std::string& path) { return ::unlink(path.c_str()) == 0; }

bool write_all(int file, const char* at, std::size_t left) {
  while (left > 0) {
    const ssize_t put = ::write(file, at, left);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    left -= static_cast<std::size_t>(put);
  }
  return true;
}

bool append_to(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return false;
  const bool done = write_all(file, text.data(), text.size());
  ::close(file);
  return done;
}

void print_line(bool to_error, const std::string& line) {
  write_all(to_error ? STDERR_FILENO : STDOUT_FILENO, line.data(), line.size());
}

}  // namespace belay::platform
