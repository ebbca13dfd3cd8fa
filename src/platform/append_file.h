// A file that grows at its end, and of which other processes can tell that it is still being written.
//
// The writer holds a lock on it (flock), which the kernel takes back when the process ends in any way. So
// whoever makes room can tell a file that a killed process left behind from one that is in use, also across
// containers, where numbers of processes say nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace belay::platform {

// Failing to create or write is answered, never thrown: a log must not fail its user.
class AppendFile {
 public:
  AppendFile() = default;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile() { close(); }

  enum class Created : std::uint8_t { Done, TryAnotherName, Refused };
  // Only a file that was not there, so that no link leads elsewhere.
  Created create(const std::string& path);
  bool append(const std::string& line);
  void close();
  // In a forked child: lets go of the parent's file, which stays locked for the parent.
  void abandon();
  // False too after it was removed, or the program has closed it.
  bool is_there() const;

 private:
  // The program may have closed all its descriptors, and this number is another file's by now.
  bool is_ours() const;

  int file_ = -1;
  std::uint64_t device_ = 0, inode_ = 0;
};

struct OwnFile {
  std::string name;
  std::uint64_t bytes;
};
// The plain files of this user in a directory whose names are as wanted; no links, nothing of other users.
std::vector<OwnFile> own_files(const std::string& directory, bool (*wanted)(const std::string& name));
enum class Removal : std::uint8_t { Done, InUse, Unknown };
// Removes such a file, unless a process that is alive is writing it. Unknown: it stays, because it cannot be
// opened, or the file system has no locks.
Removal remove_if_left_behind(const std::string& directory, const std::string& name);

}  // namespace belay::platform
