#include "platform/directories.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "platform/files.h"
#include "platform/process.h"

namespace belay::platform {

namespace {

std::string trouble_with(const std::string& path) {
  return path + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's texts are constant
}

bool make_directory(const std::string& path) { return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST; }

bool can_write_to(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

// What stands at a name, if it is not a directory of this user alone.
std::string strangeness_of(const struct stat& about) {
  if (about.st_uid != ::geteuid()) {
    const char* const what = S_ISLNK(about.st_mode) ? "is a symbolic link of" : "belongs to";
    return std::string{what} + " another user (number " + std::to_string(about.st_uid) + ")";
  }
  if (S_ISLNK(about.st_mode)) return "is a symbolic link";
  if (!S_ISDIR(about.st_mode)) return "is not a directory";
  return (about.st_mode & 0077) != 0 ? "is open to other users" : "";
}

}  // namespace

bool usable_directory(const std::string& path, std::string& why) {
  struct stat about {};
  if (!make_directory(path) || ::stat(path.c_str(), &about) != 0) {
    why = trouble_with(path);
  } else if (!S_ISDIR(about.st_mode)) {
    why = path + " is not a directory";
  } else if (!can_write_to(path)) {
    why = path + " cannot be written to";
  } else {
    return true;
  }
  return false;
}

Standing private_directory(const std::string& path, std::string& why) {
  struct stat about {};
  if (!make_directory(path) || ::lstat(path.c_str(), &about) != 0) {
    why = trouble_with(path);
    return Standing::Unavailable;
  }
  if (const std::string strange = strangeness_of(about); !strange.empty()) {
    why = path + " " + strange;
    return Standing::Strange;
  }
  if (can_write_to(path)) return Standing::Ours;
  why = path + " cannot be written to";
  return Standing::Unavailable;
}

bool belongs_to_user(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid();
}

LinkOutcome make_link(const std::string& path, const std::string& target) {
  if (::symlink(target.c_str(), path.c_str()) == 0) return LinkOutcome::Made;
  if (errno == EEXIST) return LinkOutcome::Exists;
  return errno == ENOENT ? LinkOutcome::NoDirectory : LinkOutcome::Refused;
}

Kind kind_at(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return Kind::Nothing;
  return S_ISLNK(about.st_mode) ? Kind::Link : Kind::Other;
}

std::optional<std::string> read_link(const std::string& path) {
  std::array<char, 512> text{};
  const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  if (length < 0) return std::nullopt;
  return std::string{text.data(), static_cast<std::size_t>(length)};
}

bool rename_directory(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

std::string directory_identity(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return "nowhere";
  return std::to_string(about.st_dev) + "-" + std::to_string(about.st_ino);
}

bool remove_directory(const std::string& path) { return ::rmdir(path.c_str()) == 0; }

std::vector<std::string> names_in(const std::string& directory, bool* unreadable) {
  errno = 0;
  std::vector<std::string> names = files_with_prefix(directory, "");
  // A directory that can be listed holds at least itself.
  if (unreadable != nullptr) *unreadable = names.empty() && errno != ENOENT;
  std::erase(names, ".");
  std::erase(names, "..");
  return names;
}

std::uint32_t user_id() { return ::geteuid(); }

}  // namespace belay::platform
