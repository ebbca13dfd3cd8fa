#include "platform/meeting_place.h"

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

bool private_directory(const std::string& path, std::string& why) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    why = path + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): the message of glibc is safe
    return false;
  }
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) {
    why = path + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
    return false;
  }
  if (!S_ISDIR(about.st_mode)) {
    why = path + " is not a directory";
    return false;
  }
  if (about.st_uid != ::geteuid()) {
    why = path + " belongs to another user";
    return false;
  }
  if ((about.st_mode & 0077) != 0 && ::chmod(path.c_str(), 0700) != 0) {
    why = path + " is open to other users";
    return false;
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    why = path + " cannot be written to";
    return false;
  }
  return true;
}

LinkOutcome make_link(const std::string& path, const std::string& target) {
  if (::symlink(target.c_str(), path.c_str()) == 0) return LinkOutcome::Made;
  if (errno == EEXIST) return LinkOutcome::Exists;
  return errno == ENOENT ? LinkOutcome::NoDirectory : LinkOutcome::Refused;
}

bool put_link(const std::string& path, const std::string& target) {
  switch (make_link(path, target)) {
    case LinkOutcome::Made:
      return true;
    case LinkOutcome::Exists:
      break;
    case LinkOutcome::NoDirectory:
    case LinkOutcome::Refused:
      return false;
  }
  const std::string beside = path + ".new";
  remove_file(beside);
  return make_link(beside, target) == LinkOutcome::Made && ::rename(beside.c_str(), path.c_str()) == 0;
}

std::optional<std::string> read_link(const std::string& path) {
  std::array<char, 512> text{};
  const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  if (length < 0) return std::nullopt;
  return std::string{text.data(), static_cast<std::size_t>(length)};
}

bool remove_directory(const std::string& path) { return ::rmdir(path.c_str()) == 0; }

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names = files_with_prefix(directory, "");
  std::erase(names, ".");
  std::erase(names, "..");
  return names;
}

std::uint32_t user_id() { return ::geteuid(); }

}  // namespace belay::platform
