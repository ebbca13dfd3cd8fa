#include "platform/directories.h"

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

bool directory_at(const std::string& path, struct stat& about, std::string& why) {
  if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) || ::stat(path.c_str(), &about) != 0) {
    why = trouble_with(path);
  } else if (!S_ISDIR(about.st_mode)) {
    why = path + " is not a directory";
  } else if (::access(path.c_str(), W_OK | X_OK) != 0) {
    why = path + " cannot be written to";
  } else {
    return true;
  }
  return false;
}

}  // namespace

bool usable_directory(const std::string& path, std::string& why) {
  struct stat about {};
  return directory_at(path, about, why);
}

bool private_directory(const std::string& path, std::string& why) {
  struct stat about {};
  if (!directory_at(path, about, why)) return false;
  if (about.st_uid != ::geteuid()) {
    why = path + " belongs to another user";
  } else if ((about.st_mode & 0077) != 0) {
    why = path + " is open to other users";
  } else {
    return true;
  }
  return false;
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
