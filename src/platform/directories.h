// How processes of one user find each other without a daemon: a private directory of symbolic links.
//
// A link leads to an open file of another process, through /proc; it is dead when that process is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace belay::platform {

// A directory that only this user can enter, made if it is missing. `why` says in words why it cannot be
// used. The rights of a directory that was there are not changed.
bool private_directory(const std::string& path, std::string& why);
// The same for a directory that others may enter too.
bool usable_directory(const std::string& path, std::string& why);

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
