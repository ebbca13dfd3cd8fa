#include "platform/shared_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace belay::platform {
namespace {

// Beyond the limit on file sizes the kernel would kill for it.
bool may_be_so_long(std::uint64_t bytes) {
  rlimit longest{};
  return ::getrlimit(RLIMIT_FSIZE, &longest) != 0 || longest.rlim_cur == RLIM_INFINITY ||
         bytes <= longest.rlim_cur;
}

}  // namespace

std::string SharedFile::full_path(const std::string& path) {
  if (path.starts_with('/')) return path;
  char here[PATH_MAX];
  return ::getcwd(here, sizeof here) == nullptr ? path : std::string{here} + "/" + path;
}

int SharedFile::open_locked(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
  if (file < 0) return errno == EISDIR ? kNoFile : -1;
  struct stat about {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(file);
    return kNoFile;
  }
  (void)::flock(file,
                LOCK_EX);  // where there are no locks, two that begin at once may disagree, and one says so
  return file;
}

std::uint64_t SharedFile::bytes_of(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

void SharedFile::close(int file) {
  (void)::flock(file, LOCK_UN);
  ::close(file);
}

void SharedFile::remember(const std::string& path, int file) {
  struct stat about {};
  if (::fstat(file, &about) != 0) return;
  path_ = path;
  device_ = about.st_dev;
  inode_ = about.st_ino;
}

SharedFile::Piece SharedFile::take(std::uint64_t offset, std::size_t bytes) const {
  const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  struct stat about {};
  void* start = MAP_FAILED;
  if (::fstat(file, &about) == 0 && about.st_dev == device_ && about.st_ino == inode_ &&
      may_be_so_long(offset + bytes) &&
      ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0)
    start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file,
                   static_cast<off_t>(offset));
  ::close(file);
  if (start == MAP_FAILED) return {};
  (void)::madvise(start, bytes, MADV_DONTFORK);
  return {static_cast<std::byte*>(start), bytes};
}

bool SharedFile::is_there() const {
  struct stat about {};
  return ::stat(path_.c_str(), &about) == 0 && about.st_dev == device_ && about.st_ino == inode_;
}

void SharedFile::give_back(Piece piece) {
  if (piece.start != nullptr) ::munmap(piece.start, piece.bytes);
}

bool SharedFile::write_at(int file, std::uint64_t offset, const void* from, std::size_t bytes) {
  return may_be_so_long(offset + bytes) &&
         ::pwrite(file, from, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::size_t SharedFile::read_at(int file, std::uint64_t offset, void* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(file, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool SharedFile::cut(int file, std::uint64_t bytes) {
  return ::ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

ReadFile::~ReadFile() {
  if (file_ >= 0) ::close(file_);
}

std::string ReadFile::open(const std::string& path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) return std::strerror(errno);
  struct stat about {};
  if (::fstat(file_, &about) == 0 && S_ISREG(about.st_mode)) return {};
  ::close(file_);
  file_ = -1;
  return S_ISDIR(about.st_mode) ? "it is a directory" : "it is not a file";
}

std::uint64_t ReadFile::bytes() const {
  struct stat about {};
  return ::fstat(file_, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

std::size_t ReadFile::read(std::uint64_t offset, void* to, std::size_t bytes) const {
  return SharedFile::read_at(file_, offset, to, bytes);
}

}  // namespace belay::platform
