// A file on disk that several processes write at once, each in pieces of its own that it has in its memory:
// what is stored there is in the file, whatever becomes of the process.
//
// No descriptor stays open: programs count theirs, and close them all. So the file is found again by its path
// each time, and known by its inode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace belay::platform {

class SharedFile {
 public:
  // The full path of what may be relative.
  static std::string full_path(const std::string& path);

  // A piece of memory that is a part of the file; a forked child does not have it.
  struct Piece {
    std::byte* start = nullptr;
    std::size_t bytes = 0;
  };
  static void give_back(Piece piece);

  enum class Opened : std::uint8_t { Done, Refused, NotAFile };
  // Makes it if it is not there. `prepare(file, bytes)` is called with its descriptor and its length while no
  // other process is in there; false: it is not what it should be, and is left alone.
  template <class Prepare>
  Opened open(const std::string& path, Prepare&& prepare) {
    const int file = open_locked(path);
    if (file < 0) return file == kNoFile ? Opened::NotAFile : Opened::Refused;
    const bool good = prepare(file, bytes_of(file));
    remember(path, file);
    close(file);
    return good ? Opened::Done : Opened::NotAFile;
  }

  // Room on the disk, and that in memory. Nothing where there is no room, or the file is no longer there.
  Piece take(std::uint64_t offset, std::size_t bytes) const;

  bool is_there() const;  // under that path, and no other file
  const std::string& path() const { return path_; }
  static bool write_at(int file, std::uint64_t offset, const void* from, std::size_t bytes);
  static std::size_t read_at(int file, std::uint64_t offset, void* to, std::size_t bytes);
  static bool cut(int file, std::uint64_t bytes);  // to that length

 private:
  static constexpr int kNoFile = -2;
  static int open_locked(const std::string& path);
  static std::uint64_t bytes_of(int file);
  static void close(int file);
  void remember(const std::string& path, int file);

  std::string path_;
  std::uint64_t device_ = 0, inode_ = 0;
};

// One that is only read, piece by piece: it may be cut off while it is.
class ReadFile {
 public:
  ReadFile() = default;
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;
  ~ReadFile();

  // Empty: it is open. Else why not, in words.
  std::string open(const std::string& path);
  std::uint64_t bytes() const;
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const;

 private:
  int file_ = -1;
};

}  // namespace belay::platform
