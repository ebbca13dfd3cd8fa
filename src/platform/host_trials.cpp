#include "platform/host_trials.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <string>

#include "base/size.h"
#include "platform/host_facts.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1; older C libraries do not name it
#endif

namespace belay::platform {
namespace {

constexpr std::size_t kWindow = kDeviceWishes[0].bytes;
constexpr std::size_t kSmallWindow = kDeviceWishes.back().bytes;

Can can(bool done) { return done ? Can::Yes : Can::No; }

// A mapping that ends with the scope.
class Mapping {
 public:
  Mapping(std::size_t bytes, int rights, int flags, int file = -1)
      : at_{::mmap(nullptr, bytes, rights, flags, file, 0)}, bytes_{bytes} {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (valid()) ::munmap(at_, bytes_);
  }
  bool valid() const { return at_ != MAP_FAILED; }
  char* at() const { return static_cast<char*>(at_); }

 private:
  void* at_;
  std::size_t bytes_;
};

// A file in memory, closed with the scope.
class MemoryFile {
 public:
  explicit MemoryFile(unsigned flags) : file_{::memfd_create("belay-trial", flags | MFD_CLOEXEC)} {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (valid()) ::close(file_);
  }
  bool valid() const { return file_ >= 0; }
  int number() const { return file_; }

  // Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ.
  bool resize(std::size_t bytes) const {
    rlimit longest{};
    return ::getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur >= bytes &&
           ::ftruncate(file_, static_cast<off_t>(bytes)) == 0;
  }

 private:
  int file_;
};

void try_addresses(HostTrials& trials) {
  trials.window =
      reserve_addresses(std::span{kDeviceWishes}.first(kDeviceWishes.size() - 1));  // not the smallest
  if (trials.window.reserved) ::munmap(reinterpret_cast<void*>(trials.window.base), trials.window.bytes);
  trials.managed = reserve_for_memory(kManagedWishes);
  release_addresses(trials.managed);
  trials.touchable =
      can(trials.window.reserved ||
          Mapping{kSmallWindow, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE}.valid());
  trials.long_mapping = can(Mapping{kWindow, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE}.valid());
}

void try_collapse(HostTrials& trials, const MemoryFile& file) {
  // Address and offset must both be whole 2 MB, and one page must be there already.
  const Mapping room{4_MiB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE};
  if (!room.valid() || !file.resize(2_MiB)) return;
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(room.at());
  char* const aligned = room.at() + ((2_MiB - start % 2_MiB) % 2_MiB);
  if (::mmap(aligned, 2_MiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number(), 0) == MAP_FAILED)
    return;
  // Writing by call answers with an error where a touch could end in SIGBUS; reading then maps the page.
  if (::pwrite(file.number(), "", 1, 0) != 1) return;
  static_cast<void>(*static_cast<const volatile char*>(aligned));
  for (int attempt = 0; attempt < 16; ++attempt) {  // EAGAIN: no free 2 MB at this moment
    const bool done = ::madvise(aligned, 2_MiB, MADV_COLLAPSE) == 0;
    trials.collapse_error = done ? 0 : errno;
    trials.collapse = can(done);
    if (done || errno != EAGAIN) break;
  }
}

void try_files(HostTrials& trials) {
  const MemoryFile file{0};
  trials.memfd_error = file.valid() ? 0 : errno;
  trials.memfd = can(file.valid());
  if (!file.valid()) return;
  try_collapse(trials, file);
  trials.long_file = can(file.resize(kWindow));
  trials.view =
      can(Mapping{1_GiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.number()}.valid());

  const int again = ::open(("/proc/self/fd/" + std::to_string(file.number())).c_str(), O_RDWR | O_CLOEXEC);
  trials.fd_links = can(again >= 0);
  if (again >= 0) ::close(again);

  const MemoryFile sealed{MFD_ALLOW_SEALING};
  trials.seals = can(sealed.valid() && sealed.resize(2_MiB) &&
                     ::fcntl(sealed.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
}

void try_locks(HostTrials& trials) {
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (const Mapping page{4_KiB, PROT_READ | PROT_WRITE, kPrivate}; page.valid()) {
    trials.lock_page = can(::mlock(page.at(), 4_KiB) == 0);
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY) {
    trials.lock_beyond_limit = Can::Yes;
    return;
  }
  // Locking pages once they are touched counts them at once and commits none.
  if (limit.rlim_cur > 1_TiB) return;
  const std::size_t beyond = round_down(limit.rlim_cur, 4_KiB) + 4_KiB;
  if (const Mapping mapping{beyond, PROT_READ | PROT_WRITE, kPrivate}; mapping.valid()) {
    trials.lock_beyond_limit = can(::mlock2(mapping.at(), beyond, MLOCK_ONFAULT) == 0);
  }
}

void try_nodes(HostTrials& trials) {
  if (const Mapping page{4_KiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}; page.valid()) {
    constexpr int kDefaultPolicy = 0;
    trials.bind_node = can(::syscall(SYS_mbind, page.at(), 4_KiB, kDefaultPolicy, nullptr, 0, 0) == 0);
  }
  void* library = ::dlopen("libnuma.so.1", RTLD_LAZY | RTLD_LOCAL);
  trials.libnuma = can(library != nullptr);
  if (library != nullptr) ::dlclose(library);
}

// A mapping sets pages of the pool aside until it ends; none is touched.
void try_pools(HostTrials& trials) {
  for (const HugePool& pool : read_host_facts().pools) {
    if (pool.available() + pool.beyond() == 0) continue;
    const int size = std::countr_zero(pool.page_bytes) << MAP_HUGE_SHIFT;
    if (Mapping{pool.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size}
            .valid())
      trials.usable_pools.push_back(pool.page_bytes);
  }
}

}  // namespace

HostTrials try_host() {
  HostTrials trials;
  try_addresses(trials);
  try_files(trials);
  try_locks(trials);
  try_nodes(trials);
  try_pools(trials);
  trials.dumpable = can(::prctl(PR_GET_DUMPABLE) == 1);
  return trials;
}

}  // namespace belay::platform
