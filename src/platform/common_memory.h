// A piece of memory that processes share, and byte locks on it that tell who is alive.
//
// It is a file in memory, sealed: nobody can make it shorter under us. It is gone with the last process
// that has it open, so there is nothing stale to repair. Another process opens it through /proc.
//
// A lock on a byte belongs to the process that took it, not to its children, and the kernel takes it
// back when the process ends in any way or becomes another program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace belay::platform {

class CommonMemory {
 public:
  CommonMemory() = default;
  CommonMemory(const CommonMemory&) = delete;
  CommonMemory& operator=(const CommonMemory&) = delete;
  CommonMemory(CommonMemory&& other) noexcept;
  CommonMemory& operator=(CommonMemory&& other) noexcept;
  ~CommonMemory();

  // Without a file: for this process alone.
  static CommonMemory alone(std::size_t bytes);
  static CommonMemory create(const char* name, std::size_t bytes);
  enum class Opened : std::uint8_t { Done, Gone, NotOurs, Refused };
  // Opens the memory behind a link, if it is one that create() made, with that name and of this user.
  static Opened open(const std::string& link, const char* name, bool writable, CommonMemory& into);

  bool valid() const { return start_ != nullptr; }
  bool shared() const { return file_ >= 0; }
  std::byte* start() const { return start_; }
  std::size_t bytes() const { return bytes_; }
  int file() const { return file_; }
  std::uint64_t inode() const { return inode_; }

  // Puts the file at that descriptor, whatever was open there.
  bool move_to(int file);

  bool try_lock(std::size_t byte) const;
  void unlock(std::size_t byte) const;
  enum class Lock : std::uint8_t { Free, Held, Unknown };
  // Unknown: the descriptor is no longer ours; the program closed it.
  Lock state(std::size_t byte) const;

  // Waits until nobody has locked the byte, on a thread that may stay here for as long as that takes: also
  // when this object is gone, which is why it is given what it needs of it. Empty: there is none.
  struct LockWait {
    int file;
    std::uint64_t device, inode;
    std::size_t byte;
  };
  std::optional<LockWait> wait_for_unlock(std::size_t byte);
  static bool wait(const LockWait& what);  // false: it cannot be waited for, or not any more

  // In a forked child: lets go of the parent's file. The memory itself was never inherited.
  void abandon();

 private:
  bool still_ours() const;

  int file_ = -1;
  int waiting_file_ =
      -1;  // the same opened once more: locks that are waited for there make no ring of waiting
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t device_ = 0, inode_ = 0;
};

// A descriptor that is only a number so far: something harmless is open there.
inline constexpr const char* kReserved = "/dev/null";
int reserve_descriptor();
void release_descriptor(int file);

}  // namespace belay::platform
