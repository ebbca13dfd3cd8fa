#include "platform/shared_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace belay::platform {
namespace {

// Addresses at a multiple of their number, or nullptr.
std::byte* aligned_place(std::size_t bytes) {
  void* room = ::mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* at = static_cast<std::byte*>(room);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(at) & (bytes - 1);
  if (before != 0) ::munmap(at, before);
  ::munmap(at + before + bytes, bytes - before);
  return at + before;
}

// In bytes. Who writes beyond it is killed by SIGXFSZ.
std::size_t longest_file() {
  rlimit longest{};
  return ::getrlimit(RLIMIT_FSIZE, &longest) == 0 ? longest.rlim_cur : 0;
}

}  // namespace

int memory_file(const char* name, unsigned flags) {
  // Where vm.memfd_noexec is 2, only files that say that they are no programs are made; older kernels do not
  // know the flag.
  const int file = ::memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL | flags);
  return file >= 0 || errno != EINVAL ? file : ::memfd_create(name, MFD_CLOEXEC | flags);
}

SharedBytes::~SharedBytes() { close(); }

void SharedBytes::close() {
  if (unfiled_ != nullptr) ::munmap(unfiled_, unfiled_bytes_);
  abandon();
}

void SharedBytes::abandon() {
  const int file = std::exchange(file_, -1);
  if (file >= 0) ::close(file);
  unfiled_ = nullptr;
}

bool SharedBytes::create(const char* name, std::size_t bytes) {
  obstacles_ = {};
  const std::size_t longest = longest_file();
  if (longest >= bytes) {
    file_ = memory_file(name);
    if (file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(bytes)) == 0) {
      size_ = bytes;
      return true;
    }
    obstacles_.file_error = errno;
    abandon();
  } else {
    obstacles_.file_limit = longest;
  }
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    obstacles_.mapping_error = errno;
    return false;
  }
  ::madvise(at, bytes, MADV_DONTDUMP);
  ::madvise(at, bytes, MADV_DONTFORK);
  unfiled_ = static_cast<std::byte*>(at);
  unfiled_bytes_ = bytes;
  return true;
}

Obstacles SharedBytes::obstacles() const {
  Obstacles now = obstacles_;
  if (const std::size_t longest = longest_file(); is_file() && longest < size()) now.file_limit = longest;
  return now;
}

bool SharedBytes::open(const FileName& name) {
  const std::string link = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
  file_ = ::open(link.c_str(), O_RDWR | O_CLOEXEC);
  if (struct stat about{}; file_ >= 0 && ::fstat(file_, &about) == 0 && about.st_ino == name.inode) {
    size_ = static_cast<std::size_t>(about.st_size);
    return true;
  }
  abandon();
  return false;
}

FileName SharedBytes::name() const {
  struct stat about {};
  if (file_ < 0 || ::fstat(file_, &about) != 0) return {0, -1, 0};
  return {::getpid(), file_, about.st_ino};
}

namespace {
int set_lock(int file, int how, std::size_t offset) {
  struct flock byte {};
  byte.l_type = static_cast<short>(how);
  byte.l_whence = SEEK_SET;
  byte.l_start = static_cast<off_t>(offset);
  byte.l_len = 1;
  return ::fcntl(file, F_SETLK, &byte);
}
}  // namespace

SharedBytes::Lock SharedBytes::try_lock(std::size_t offset) const {
  if (set_lock(file_, F_WRLCK, offset) == 0) return Lock::Had;
  return errno == EAGAIN || errno == EACCES || errno == EINTR ? Lock::Busy : Lock::Impossible;
}

void SharedBytes::unlock(std::size_t offset) const { set_lock(file_, F_UNLCK, offset); }

std::byte* SharedBytes::view(std::size_t offset, std::size_t bytes) const {
  if (unfiled_ != nullptr) {
    return ::mprotect(unfiled_ + offset, bytes, PROT_READ | PROT_WRITE) == 0 ? unfiled_ + offset : nullptr;
  }
  std::byte* place = aligned_place(bytes);
  // PROT_NONE first: under mlockall(MCL_FUTURE) a readable mapping would be committed as a whole.
  void* at = ::mmap(place, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | (place != nullptr ? MAP_FIXED : 0),
                    file_, static_cast<off_t>(offset));
  if (at == MAP_FAILED) {
    if (place != nullptr) ::munmap(place, bytes);
    return nullptr;
  }
  ::madvise(at, bytes, MADV_DONTDUMP);
  ::madvise(at, bytes, MADV_DONTFORK);
  if (::mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(at, bytes);
    return nullptr;
  }
  return static_cast<std::byte*>(at);
}

void SharedBytes::unview(std::byte* view, std::size_t bytes) const {
  if (unfiled_ == nullptr) ::munmap(view, bytes);
}

bool SharedBytes::map_at(std::uintptr_t address, std::size_t offset, std::size_t bytes, bool ours) const {
  if (unfiled_ != nullptr) {
    if (!ours) {
      errno = EEXIST;
      return false;
    }
    // An old size of 0 makes a second mapping of shared pages.
    void* twin = ::mremap(unfiled_ + offset, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                          reinterpret_cast<void*>(address));
    return twin != MAP_FAILED && ::mprotect(twin, bytes, PROT_READ | PROT_WRITE) == 0;
  }
  // The raw call where it may be refused: ThreadSanitizer's ends the program there.
  void* at = ours ? ::mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file_, static_cast<off_t>(offset))
                  : reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, PROT_READ | PROT_WRITE,
                                                      MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file_,
                                                      static_cast<off_t>(offset)));
  if (at == MAP_FAILED) return false;
  if (at != reinterpret_cast<void*>(address)) {  // kernels before 4.17
    ::munmap(at, bytes);
    errno = EEXIST;
    return false;
  }
  ::madvise(at, bytes, MADV_DONTDUMP);
  ::madvise(at, bytes, MADV_DONTFORK);
  return true;
}

namespace {
void touch(const std::byte* at) { (void)*const_cast<const volatile std::byte*>(at); }
void touch(std::byte* at) { *const_cast<volatile std::byte*>(at) = std::byte{0}; }

// The system may do a part of it only.
template <class Byte, class Call>
bool in_parts(Call&& call, int file, Byte* at, std::size_t bytes, std::size_t offset) {
  int mended = 0;
  while (bytes > 0) {
    const ssize_t done = call(file, at, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    // A pointer of the program that leads nowhere: it faults here as it would in a copy through memory. Where
    // a handler mends that, the bytes can be had.
    if (done < 0 && errno == EFAULT && mended++ < 8) {
      touch(at);
      continue;
    }
    if (done <= 0) return false;
    at += done;
    offset += static_cast<std::size_t>(done);
    bytes -= static_cast<std::size_t>(done);
    mended = 0;
  }
  return true;
}
}  // namespace

// The raw calls: a thread that is cancelled must not end in the middle of a copy.
bool SharedBytes::read(std::size_t offset, void* to, std::size_t bytes) const {
  constexpr auto kRead = [](int file, std::byte* at, std::size_t length, off_t from) -> ssize_t {
    return ::syscall(SYS_pread64, file, at, length, from);
  };
  return in_parts(kRead, file_, static_cast<std::byte*>(to), bytes, offset);
}

bool SharedBytes::write(std::size_t offset, const void* from, std::size_t bytes) const {
  if (longest_file() < offset + bytes) return false;  // the program has set the limit since
  constexpr auto kWrite = [](int file, const std::byte* at, std::size_t length, off_t to) -> ssize_t {
    return ::syscall(SYS_pwrite64, file, at, length, to);
  };
  return in_parts(kWrite, file_, static_cast<const std::byte*>(from), bytes, offset);
}

bool SharedBytes::discard(std::size_t offset, std::size_t bytes) const {
  if (unfiled_ != nullptr) return ::madvise(unfiled_ + offset, bytes, MADV_REMOVE) == 0;
  return ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes)) == 0;
}

std::size_t SharedBytes::committed(std::size_t end) const {
  std::size_t sum = 0;
  for (off_t at = 0;;) {
    const off_t from = ::lseek(file_, at, SEEK_DATA);
    if (from < 0 || static_cast<std::size_t>(from) >= end) return sum;
    at = ::lseek(file_, from, SEEK_HOLE);
    sum += std::min(static_cast<std::size_t>(at), end) - static_cast<std::size_t>(from);
  }
}

}  // namespace belay::platform
