#include "platform/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/files.h"

namespace belay::platform {
namespace {

bool plain_and_own(const struct stat& about) { return S_ISREG(about.st_mode) && about.st_uid == ::geteuid(); }

int open_directory(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

AppendFile::Created AppendFile::create(const std::string& path) {
  close();
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0640);
  if (file < 0) return errno == EEXIST ? Created::TryAnotherName : Created::Refused;
  // Between these two steps another process may have taken the file for one that was left behind. Where
  // there are no locks at all, nobody removes a file of another process either.
  const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat about {};
  if (::fstat(file, &about) != 0 || about.st_nlink == 0 || taken) {
    ::close(file);
    return Created::TryAnotherName;
  }
  file_ = file;
  device_ = about.st_dev;
  inode_ = about.st_ino;
  return Created::Done;
}

bool AppendFile::is_ours() const {
  struct stat about {};
  return file_ >= 0 && ::fstat(file_, &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
}

bool AppendFile::is_there() const {
  struct stat about {};
  return is_ours() && ::fstat(file_, &about) == 0 && about.st_nlink > 0;
}

bool AppendFile::append(const std::string& line) {
  if (file_ < 0) return false;
  // Beyond the limit on file sizes the kernel would kill for it.
  rlimit longest{};
  const off_t end = ::lseek(file_, 0, SEEK_END);
  if (::getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur != RLIM_INFINITY &&
      static_cast<rlim_t>(end) + line.size() > longest.rlim_cur)
    return false;
  return write_all(file_, line.data(), line.size());
}

void AppendFile::close() {
  // A child that shares the descriptor without knowing must not keep the lock.
  if (is_ours()) ::flock(file_, LOCK_UN);
  abandon();
}

void AppendFile::abandon() {
  if (is_ours()) ::close(file_);
  file_ = -1;
}

std::vector<OwnFile> own_files(const std::string& directory, bool (*wanted)(const std::string& name)) {
  std::vector<OwnFile> files;
  const int at = open_directory(directory);
  if (at < 0) return files;
  for (std::string& name : files_with_prefix(directory, "")) {
    struct stat about {};
    if (wanted(name) && ::fstatat(at, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && plain_and_own(about))
      files.push_back({std::move(name), static_cast<std::uint64_t>(about.st_size)});
  }
  ::close(at);
  return files;
}

Removal remove_if_left_behind(const std::string& directory, const std::string& name) {
  const int at = open_directory(directory);
  if (at < 0) return Removal::Unknown;
  // For writing, because some network file systems lock nothing else exclusively.
  const int file = ::openat(at, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat about {};
  Removal removal = Removal::Unknown;
  if (file >= 0 && ::fstat(file, &about) == 0 && plain_and_own(about)) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
      if (::unlinkat(at, name.c_str(), 0) == 0) removal = Removal::Done;
    } else if (errno == EWOULDBLOCK) {
      removal = Removal::InUse;
    }
  }
  if (file >= 0) ::close(file);
  ::close(at);
  return removal;
}

}  // namespace belay::platform
