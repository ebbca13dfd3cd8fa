// Pages of the kernel's huge-page pools, reserved for as long as a test runs.
//
// A pool belongs to the whole machine. So it is enlarged by what is missing, what a test must not see is held
// back by a mapping that nobody touches, and everything is put back at the end of the scope. Tests of another
// checkout wait for that. Where it is not allowed, or the kernel finds no pages, `trouble` says why.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

namespace belay_test {

class KernelPool {
 public:
  // Exactly `count` pages of `page` bytes will be free.
  KernelPool(std::size_t page, std::size_t count)
      : page_{page}, directory_{"/sys/kernel/mm/hugepages/hugepages-" + std::to_string(page / 1024) + "kB/"} {
    if (::access(directory_.c_str(), R_OK) != 0) {
      trouble_ = "this kernel has no pages of " + size_text();
      return;
    }
    lock_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0) ::flock(lock_, LOCK_EX);
    before_ = read("nr_hugepages");
    overcommit_before_ = read("nr_overcommit_hugepages");
    if (overcommit_before_ != 0 && !write("nr_overcommit_hugepages", 0)) {
      trouble_ = "the pool of " + size_text() + " pages grows by itself, and only root can stop that";
      return;
    }
    if (free() < count && !write("nr_hugepages", before_ + count - free())) {
      trouble_ = "only root can reserve " + std::to_string(count) + " page(s) of " + size_text();
    } else if (free() < count) {
      trouble_ = "the kernel found " + std::to_string(free()) + " of " + std::to_string(count) +
                 " page(s) of " + size_text() + " in one piece";
    } else if (free() > count) {
      hold_back(free() - count);
      if (free() != count) trouble_ = "somebody else uses the pool of " + size_text() + " pages";
    }
    size_ = std::max(total(), before_);
  }
  KernelPool(const KernelPool&) = delete;
  KernelPool& operator=(const KernelPool&) = delete;
  ~KernelPool() {
    if (held_ != nullptr) ::munmap(held_, held_bytes_);
    // What was added goes; others may have changed the pool meanwhile.
    if (changed_size_) write("nr_hugepages", total() < size_ ? before_ : total() - (size_ - before_));
    if (changed_overcommit_) write("nr_overcommit_hugepages", overcommit_before_);
    if (lock_ >= 0) ::close(lock_);
  }

  // Why there is no such pool; empty when there is.
  const std::string& trouble() const { return trouble_; }

  // Pages that nobody holds or has a claim to.
  std::size_t free() const {
    const std::size_t idle = read("free_hugepages"), claimed = read("resv_hugepages");
    return idle - std::min(idle, claimed);
  }
  std::size_t total() const { return read("nr_hugepages"); }
  // Gives all free pages back to the system, as an administrator may at any time; false: not allowed. Refill
  // fetches them again.
  bool shrink() { return write("nr_hugepages", total() - read("free_hugepages") + read("resv_hugepages")); }
  bool refill() { return write("nr_hugepages", size_) && total() == size_; }

 private:
  std::string size_text() const {
    return page_ >= std::size_t{1} << 30U ? std::to_string(page_ >> 30U) + " GB"
                                          : std::to_string(page_ >> 20U) + " MB";
  }
  std::size_t read(const char* name) const {
    std::size_t number = 0;
    std::ifstream{directory_ + name} >> number;
    return number;
  }
  bool write(const char* name, std::size_t number) {
    std::ofstream file{directory_ + name};
    if (!file) return false;
    (std::string{name} == "nr_hugepages" ? changed_size_ : changed_overcommit_) = true;
    file << number << std::flush;
    return static_cast<bool>(file);
  }
  void hold_back(std::size_t pages) {
    const int size = __builtin_ctzll(page_) << MAP_HUGE_SHIFT;
    void* const at = ::mmap(nullptr, pages * page_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size, -1, 0);
    if (at == MAP_FAILED) return;
    ::madvise(at, pages * page_, MADV_DONTFORK);
    held_ = at;
    held_bytes_ = pages * page_;
  }

  std::size_t page_;
  std::string directory_;
  std::string trouble_;
  std::size_t before_ = 0, overcommit_before_ = 0, size_ = 0;
  bool changed_size_ = false, changed_overcommit_ = false;
  int lock_ = -1;
  void* held_ = nullptr;
  std::size_t held_bytes_ = 0;
};

// Somebody else who holds pages of a pool, without any library.
class PoolNeighbour {
 public:
  PoolNeighbour(std::size_t page, std::size_t count) : bytes_{page * count} {
    const int size = __builtin_ctzll(page) << MAP_HUGE_SHIFT;
    at_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE | size, -1, 0);
  }
  PoolNeighbour(const PoolNeighbour&) = delete;
  PoolNeighbour& operator=(const PoolNeighbour&) = delete;
  ~PoolNeighbour() {
    if (has_all()) ::munmap(at_, bytes_);
  }
  bool has_all() const { return at_ != MAP_FAILED; }

 private:
  std::size_t bytes_;
  void* at_ = MAP_FAILED;
};

}  // namespace belay_test
