// Versions of the installed packages, from share/info/<package>/version.info (R-241 ... R-243).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace belay::config {

// The text after "Version=" of a package.
Result<std::string> package_version(const std::string& package);

struct VersionParts {
  std::string major, minor, release, patch;
};
VersionParts version_parts(const std::string& version);

// major * 10^7 + minor * 10^5 + patch * 10^3, pre-releases just below.
Result<std::int32_t> version_number(const std::string& version);

}  // namespace belay::config
