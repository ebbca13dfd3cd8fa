// The bytes behind an address range: one sparse file in memory, seen through views of our own.
//
// Nothing is committed until it is written. A view is a mapping that only the runtime knows; where
// address space is short (RLIMIT_AS) there is none and the same bytes are reached by pread/pwrite. Where
// files may not be that long (RLIMIT_FSIZE) or there are none, a shared mapping without a file takes its
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace belay::platform {

// A file in memory, closed at exec and never run as a program; -1 with errno where the kernel gives none.
int memory_file(const char* name, unsigned flags = 0);

// By which another process finds a file that this one has open.
struct FileName {
  std::int32_t process, descriptor;
  std::uint64_t inode;
};

// What stands in the way of bytes: of a file for them, and of a mapping in its place.
struct Obstacles {
  std::optional<std::size_t> file_limit;  // RLIMIT_FSIZE, where it is less than the file would be long
  int file_error = 0;                     // errno of making the file; 0 where nobody tried
  int mapping_error = 0;                  // errno of the mapping; 0 where there is one, or no need for one
};

class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes();

  // False where there is neither a file nor a mapping.
  bool create(const char* name, std::size_t bytes);
  Obstacles obstacles() const;  // also of writing now: the program may have set the limit since

  // A file of another process. False: it is not there any more, or may not be opened.
  bool open(const FileName& name);
  std::size_t size() const { return size_; }  // of a file that was opened: it never changes

  bool is_file() const { return file_ >= 0; }
  std::int32_t descriptor() const { return file_; }
  FileName name() const;

  // One process at a time has the lock of a byte; the kernel takes it from one that ends. Not for two
  // threads of one process.
  enum class Lock : std::uint8_t { Had, Busy, Impossible };
  [[nodiscard]] Lock try_lock(std::size_t offset) const;
  void unlock(std::size_t offset) const;

  // A readable and writable view, or nullptr where there is no address space for it. It starts at a multiple
  // of its size if that is a power of two and there is room, so that the kernel can put large pages behind
  // it.
  std::byte* view(std::size_t offset, std::size_t bytes) const;
  void unview(std::byte* view, std::size_t bytes) const;
  // Maps bytes at a fixed address: inside a reservation for host code to touch, or in a view that had
  // something else behind it. Where nothing is `ours`, nothing of others is replaced. False, with errno.
  bool map_at(std::uintptr_t address, std::size_t offset, std::size_t bytes, bool ours = true) const;

  bool read(std::size_t offset, void* to, std::size_t bytes) const;
  bool write(std::size_t offset, const void* from, std::size_t bytes) const;

  // Gives the memory of whole pages back to the system; they are fresh again.
  bool discard(std::size_t offset, std::size_t bytes) const;
  std::size_t committed(std::size_t end) const;  // up to there

  // Lets go of everything; views must be gone.
  void close();

  // After fork the child must not keep the parent's bytes alive.
  void abandon();

 private:
  int file_ = -1;
  std::size_t size_ = 0;
  std::byte* unfiled_ = nullptr;  // in place of the file
  std::size_t unfiled_bytes_ = 0;
  Obstacles obstacles_;
};

}  // namespace belay::platform
