#include "platform/common_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/directories.h"
#include "platform/shared_bytes.h"

namespace belay::platform {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::byte* map(int file, std::size_t bytes, bool writable) {
  const int rights = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* at = file >= 0 ? ::mmap(nullptr, bytes, rights, MAP_SHARED, file, 0)
                       : ::mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  ::madvise(at, bytes, MADV_DONTFORK);
  return static_cast<std::byte*>(at);
}

struct flock on_byte(std::size_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

bool is_file(int file, std::uint64_t device, std::uint64_t inode) {
  struct stat about {};
  return file >= 0 && ::fstat(file, &about) == 0 && about.st_dev == device && about.st_ino == inode;
}

}  // namespace

CommonMemory::CommonMemory(CommonMemory&& other) noexcept { *this = std::move(other); }

CommonMemory& CommonMemory::operator=(CommonMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(waiting_file_, other.waiting_file_);
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

CommonMemory::~CommonMemory() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
  abandon();
}

CommonMemory CommonMemory::alone(std::size_t bytes) {
  CommonMemory memory;
  memory.start_ = map(-1, bytes, true);
  memory.bytes_ = bytes;
  return memory;
}

CommonMemory CommonMemory::create(const char* name, std::size_t bytes) {
  CommonMemory memory;
  rlimit longest{};
  if (::getrlimit(RLIMIT_FSIZE, &longest) != 0 || longest.rlim_cur < bytes)
    return memory;  // SIGXFSZ beyond it
  const int file = memory_file(name, MFD_ALLOW_SEALING);
  if (file < 0) return memory;
  memory.file_ = file;
  struct stat about {};
  if (::fchmod(file, 0600) != 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file, F_ADD_SEALS, kSeals) != 0 || ::fstat(file, &about) != 0) {
    ::close(std::exchange(memory.file_, -1));
    return memory;
  }
  memory.device_ = about.st_dev;
  memory.inode_ = about.st_ino;
  memory.bytes_ = bytes;
  memory.start_ = map(file, bytes, true);
  return memory;
}

CommonMemory::Opened CommonMemory::open(const std::string& link, const char* name, bool writable,
                                        CommonMemory& into) {
  // What the kernel calls the file tells whether it is worth opening: opening a stranger's pipe or terminal
  // could have effects.
  const std::optional<std::string> target = read_link(link);
  if (!target) return errno == EACCES || errno == EPERM ? Opened::Refused : Opened::Gone;
  if (!target->starts_with(std::string{"/memfd:"} + name + " ")) return Opened::NotOurs;
  const int file = ::open(link.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return errno == EACCES || errno == EPERM ? Opened::Refused : Opened::Gone;
  CommonMemory memory;
  memory.file_ = file;
  struct stat about {};
  const bool sound = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
                     about.st_size > 0 && (::fcntl(file, F_GET_SEALS) & kSeals) == kSeals;
  if (!sound) {
    ::close(std::exchange(memory.file_, -1));
    return Opened::NotOurs;
  }
  memory.device_ = about.st_dev;
  memory.inode_ = about.st_ino;
  memory.bytes_ = static_cast<std::size_t>(about.st_size);
  memory.start_ = map(file, memory.bytes_, writable);
  if (memory.start_ == nullptr) return Opened::Refused;
  into = std::move(memory);
  return Opened::Done;
}

bool CommonMemory::move_to(int file) {
  if (::dup3(file_, file, O_CLOEXEC) < 0) return false;
  ::close(file_);
  file_ = file;
  return true;
}

bool CommonMemory::still_ours() const { return is_file(file_, device_, inode_); }

bool CommonMemory::try_lock(std::size_t byte) const {
  const struct flock lock = on_byte(byte, F_WRLCK);
  return still_ours() && ::fcntl(file_, F_SETLK, &lock) == 0;
}

void CommonMemory::unlock(std::size_t byte) const {
  const struct flock lock = on_byte(byte, F_UNLCK);
  if (still_ours()) ::fcntl(file_, F_SETLK, &lock);
}

CommonMemory::Lock CommonMemory::state(std::size_t byte) const {
  struct flock lock = on_byte(byte, F_RDLCK);  // a write lock stands in its way, and reading rights suffice
  if (::fcntl(file_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
    // Held, unless the descriptor is another file's by now, which somebody may have locked.
    return still_ours() ? Lock::Held : Lock::Unknown;
  }
  return still_ours() ? Lock::Free : Lock::Unknown;
}

// Never closed before the other: closing any descriptor of a file takes back all locks that the process has
// on it.
std::optional<CommonMemory::LockWait> CommonMemory::wait_for_unlock(std::size_t byte) {
  if (!still_ours()) return std::nullopt;
  if (!is_file(waiting_file_, device_, inode_)) {
    const std::string again = "/proc/self/fd/" + std::to_string(file_);
    waiting_file_ = ::open(again.c_str(), O_RDWR | O_CLOEXEC);
    if (!is_file(waiting_file_, device_, inode_)) return std::nullopt;
  }
  return LockWait{waiting_file_, device_, inode_, byte};
}

// With a lock that others may have as well, so that who asks for the lock that was waited for sees no other.
bool CommonMemory::wait(const LockWait& what) {
  const auto change = [&](int command, short type) {
    struct flock lock = on_byte(what.byte, type);
    for (;;) {
      if (!is_file(what.file, what.device, what.inode)) return false;
      if (::fcntl(what.file, command, &lock) == 0) return true;
      if (errno != EINTR) return false;
    }
  };
  const bool came = change(F_OFD_SETLKW, F_RDLCK);
  if (came) change(F_OFD_SETLK, F_UNLCK);
  return came;
}

void CommonMemory::abandon() {
  if (is_file(waiting_file_, device_, inode_)) ::close(waiting_file_);
  waiting_file_ = -1;
  if (still_ours()) ::close(file_);
  file_ = -1;
  start_ = nullptr;
}

int reserve_descriptor() { return ::open(kReserved, O_RDONLY | O_CLOEXEC); }
void release_descriptor(int file) {
  if (file >= 0) ::close(file);
}

}  // namespace belay::platform
