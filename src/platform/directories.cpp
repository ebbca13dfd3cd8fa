#include "platform/directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "platform/files.h"
#include "platform/process.h"

namespace belay::platform {

namespace {

std::string trouble_with(const std::string& path) {
  return path + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's texts are constant
}

bool make_directory(int in, const std::string& name) {
  return ::mkdirat(in, name.c_str(), 0700) == 0 || errno == EEXIST;
}

bool can_write_to(int in, const std::string& name) {
  return ::faccessat(in, name.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
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

Standing standing_of(int in, const std::string& name, const std::string& path, std::string& why) {
  struct stat about {};
  if (!make_directory(in, name) || ::fstatat(in, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    why = trouble_with(path);
    return Standing::Unavailable;
  }
  if (const std::string strange = strangeness_of(about); !strange.empty()) {
    why = path + " " + strange;
    return Standing::Strange;
  }
  if (can_write_to(in, name)) return Standing::Ours;
  why = path + " cannot be written to";
  return Standing::Unavailable;
}

std::optional<std::string> link_target(int in, const std::string& name) {
  std::array<char, 512> text{};
  const ssize_t length = ::readlinkat(in, name.c_str(), text.data(), text.size());
  if (length < 0) return std::nullopt;
  return std::string{text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

bool usable_directory(const std::string& path, std::string& why) {
  struct stat about {};
  if (!make_directory(AT_FDCWD, path) || ::stat(path.c_str(), &about) != 0) {
    why = trouble_with(path);
  } else if (!S_ISDIR(about.st_mode)) {
    why = path + " is not a directory";
  } else if (!can_write_to(AT_FDCWD, path)) {
    why = path + " cannot be written to";
  } else {
    return true;
  }
  return false;
}

Standing private_directory(const std::string& path, std::string& why) {
  return standing_of(AT_FDCWD, path, path, why);
}

bool belongs_to_user(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid();
}

std::optional<std::string> read_link(const std::string& path) { return link_target(AT_FDCWD, path); }

OpenDirectory::OpenDirectory(const std::string& path, bool named, std::string& why)
    : path_{path}, file_{::open(path.c_str(), O_PATH | O_CLOEXEC | (named ? O_DIRECTORY : O_NOFOLLOW))} {
  struct stat about {};
  if (file_ < 0 || ::fstat(file_, &about) != 0) {
    why = trouble_with(path);
  } else if (const std::string strange = named ? "" : strangeness_of(about); !strange.empty()) {
    why = path + " " + strange;
  } else {
    return;
  }
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

OpenDirectory::~OpenDirectory() {
  if (file_ >= 0) ::close(file_);
}

Standing OpenDirectory::private_directory(const std::string& name, std::string& why) const {
  return standing_of(file_, name, path_ + "/" + name, why);
}

LinkOutcome OpenDirectory::make_link(const std::string& name, const std::string& target) const {
  if (::symlinkat(target.c_str(), file_, name.c_str()) == 0) return LinkOutcome::Made;
  if (errno == EEXIST) return LinkOutcome::Exists;
  return errno == ENOENT ? LinkOutcome::NoDirectory : LinkOutcome::Refused;
}

Kind OpenDirectory::kind_at(const std::string& name) const {
  struct stat about {};
  if (::fstatat(file_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return Kind::Nothing;
  if (S_ISLNK(about.st_mode)) return Kind::Link;
  return S_ISDIR(about.st_mode) ? Kind::Directory : Kind::Other;
}

std::optional<std::string> OpenDirectory::read_link(const std::string& name) const {
  return link_target(file_, name);
}

bool OpenDirectory::remove_file(const std::string& name) const {
  return ::unlinkat(file_, name.c_str(), 0) == 0;
}

bool OpenDirectory::rename_directory(const std::string& from, const std::string& to) const {
  return ::renameat(file_, from.c_str(), file_, to.c_str()) == 0;
}

bool OpenDirectory::remove_directory(const std::string& name) const {
  return ::unlinkat(file_, name.c_str(), AT_REMOVEDIR) == 0;
}

std::string OpenDirectory::identity(const std::string& name) const {
  struct stat about {};
  if (::fstatat(file_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return "nowhere";
  return std::to_string(about.st_dev) + "-" + std::to_string(about.st_ino);
}

std::vector<std::string> OpenDirectory::names_in(const std::string& name, bool* unreadable) const {
  if (unreadable != nullptr) *unreadable = false;
  const int file = ::openat(file_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* const open = file < 0 ? nullptr : ::fdopendir(file);
  if (open == nullptr) {
    if (unreadable != nullptr) *unreadable = errno != ENOENT;
    if (file >= 0) ::close(file);
    return {};
  }
  return names_of(open, "");
}

std::uint32_t user_id() { return ::geteuid(); }

Listing list_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::directory_iterator entry{path, error};
  if (error) return {error != std::errc::no_such_file_or_directory, false, {}};
  Listing list{true, true, {}};
  for (; entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    list.names.push_back(entry->path().filename().string());
    if (error) break;
  }
  return list;
}

}  // namespace belay::platform
