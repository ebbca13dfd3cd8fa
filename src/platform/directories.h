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
LinkOutcome make_link(const std::string& path, const std::string& target);
enum class Kind : std::uint8_t { Link, Other, Nothing };
Kind kind_at(const std::string& path);
std::optional<std::string> read_link(const std::string& path);

bool rename_directory(const std::string& from,
                      const std::string& to);  // never over another that holds something
// The same for every way to spell its path.
std::string directory_identity(const std::string& path);
bool remove_directory(const std::string& path);  // only an empty one
// Empty where the directory is missing; `unreadable` tells whether it could not be listed (descriptors).
std::vector<std::string> names_in(const std::string& directory, bool* unreadable = nullptr);

std::uint32_t user_id();

}  // namespace belay::platform
