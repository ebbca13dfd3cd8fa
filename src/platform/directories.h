// How processes of one user find each other without a daemon: a private directory of symbolic links.
//
// A link leads to an open file of another process, through /proc; it is dead when that process is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace belay::platform {

enum class Standing : std::uint8_t {
  Ours,     // usable
  Strange,  // the name is taken by something else: a link, a file, a directory that others own or may enter
  Unavailable,  // nothing is there and nothing can be made, or it cannot be written to
};
// A directory that only this user can enter, made if it is missing. `why` says in words why it cannot be
// used. A link is not followed, whoever made it: in /tmp anybody can have made it. What was there before is
// not changed. In a directory with the sticky bit nobody else can put something else in its place afterwards.
Standing private_directory(const std::string& path, std::string& why);
// A directory that the user has named: others may enter it, and a link may lead to it.
bool usable_directory(const std::string& path, std::string& why);
bool belongs_to_user(const std::string& path);

enum class LinkOutcome : std::uint8_t { Made, Exists, NoDirectory, Refused };
enum class Kind : std::uint8_t { Link, Directory, Other, Nothing };

// A directory that was opened, and looked at when it was open: what is done in it is done there, whatever
// stands at its path by then. Names are relative to it; the last part of one is never followed.
class OpenDirectory {
 public:
  // Of this user alone and not behind a link (private_directory), or one that the user has named. Not open,
  // with the reason in words, where it is not that.
  OpenDirectory(const std::string& path, bool named, std::string& why);
  OpenDirectory(const OpenDirectory&) = delete;
  OpenDirectory& operator=(const OpenDirectory&) = delete;
  ~OpenDirectory();
  explicit operator bool() const { return file_ >= 0; }

  // One that only this user can enter, made if it is missing.
  Standing private_directory(const std::string& name, std::string& why) const;
  LinkOutcome make_link(const std::string& name, const std::string& target) const;
  Kind kind_at(const std::string& name) const;
  std::optional<std::string> read_link(const std::string& name) const;
  bool remove_file(const std::string& name) const;
  bool rename_directory(const std::string& from,
                        const std::string& to) const;    // never over another that holds something
  bool remove_directory(const std::string& name) const;  // only an empty one
  // The same for every way to spell its path.
  std::string identity(const std::string& name) const;
  // Empty where the directory is missing; `unreadable` tells whether it could not be listed (descriptors).
  std::vector<std::string> names_in(const std::string& name, bool* unreadable = nullptr) const;

 private:
  const std::string path_;  // for words
  int file_;
};

std::optional<std::string> read_link(const std::string& path);
// What is in any directory, by its names.
struct Listing {
  bool exists = false, readable = false;
  std::vector<std::string> names;
};
Listing list_directory(const std::string& path);

std::uint32_t user_id();

}  // namespace belay::platform
