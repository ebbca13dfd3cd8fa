#include "config/versions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/size.h"
#include "platform/environment.h"
#include "platform/files.h"

namespace belay::config {
namespace {

Refusal not_found(const std::string& package, std::string reason) {
  return refuse({ACL_ERROR_INVALID_FILE, "R-241", "EH0003",
                 fmt::format("no version of package '{}': {}", package, reason), "",
                 "source set_env.sh of the installation, and check share/info there"});
}

std::optional<std::string> line_value(const std::string& text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line{text.data() + at, end - at};
    if (line.starts_with(key)) {
      line.remove_prefix(key.size());
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
      return std::string{line};
    }
    at = end + 1;
  }
  return std::nullopt;
}

// Where the driver and firmware say they are installed.
std::optional<std::string> driver_root(std::string_view key) {
  const platform::FileText info = platform::read_file("/etc/ascend_install.info", 1_MiB);
  if (info.outcome != platform::ReadOutcome::Done) return std::nullopt;
  return line_value(info.text, key);
}

std::optional<std::string> directory_of(const std::string& package) {
  if (package == "driver") {
    const auto root = driver_root("Driver_Install_Path_Param=");
    return root ? std::optional{*root + "/driver"} : std::nullopt;
  }
  if (package == "firmware") {
    const auto root = driver_root("Firmware_Install_Path_Param=");
    return root ? std::optional{*root + "/firmware"} : std::nullopt;
  }
  const std::optional<std::string> home = platform::environment("ASCEND_HOME_PATH");
  if (!home || home->empty()) return std::nullopt;
  const std::string base = *home + "/share/info/";
  if (platform::directory_exists(base + package)) return base + package;
  std::string other = package;
  std::ranges::replace(other, '-', '_');
  return base + other;
}

std::optional<std::int32_t> number(std::string_view digits) {
  if (digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  std::int32_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

}  // namespace

Result<std::string> package_version(const std::string& package) {
  // A package is a directory name; anything with a path in it could leave the installation.
  if (package.empty() || package.find('/') != std::string::npos || package == "..")
    return not_found(package, "it is not a package name");
  const std::optional<std::string> directory = directory_of(package);
  if (!directory) return not_found(package, "ASCEND_HOME_PATH or the driver's install path is not set");
  const std::string path = *directory + "/version.info";
  const platform::FileText file = platform::read_file(path, 1_MiB);
  if (file.outcome != platform::ReadOutcome::Done)
    return not_found(package, fmt::format("'{}' cannot be read", path));
  const std::optional<std::string> version = line_value(file.text, "Version=");
  if (!version) return not_found(package, fmt::format("'{}' has no line that starts with Version=", path));
  return *version;
}

VersionParts version_parts(const std::string& version) {
  VersionParts parts;
  const std::array<std::string*, 4> fields{&parts.major, &parts.minor, &parts.release, &parts.patch};
  std::size_t at = 0;
  for (std::string* field : fields) {
    if (at > version.size()) break;
    const std::size_t dot =
        field == &parts.patch ? version.size() : std::min(version.find('.', at), version.size());
    *field = version.substr(at, dot - at);
    at = dot + 1;
  }
  return parts;
}

Result<std::int32_t> version_number(const std::string& version) {
  const auto malformed = [&]() -> Refusal {
    return refuse({ACL_ERROR_INTERNAL_ERROR, "R-243", "EH0004",
                   fmt::format("the version '{}' is not of the form 9.0.0 or 9.0.0-rc.1", version), "",
                   "correct version.info of the package"});
  };
  const std::size_t dash = version.find('-');
  std::string_view base = std::string_view{version}.substr(0, dash);
  std::array<std::int32_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t dot = base.find('.');
    if ((dot == std::string_view::npos) != (i == 2)) return malformed();
    const std::optional<std::int32_t> value = number(base.substr(0, dot));
    if (!value || (i > 0 && *value > 99)) return malformed();
    numbers[i] = *value;
    base = dot == std::string_view::npos ? std::string_view{} : base.substr(dot + 1);
  }
  if (numbers[0] > 200) return malformed();
  std::int32_t total = numbers[0] * 10'000'000 + numbers[1] * 100'000 + numbers[2] * 1'000;
  if (dash == std::string::npos) return total;
  const std::string_view stage = std::string_view{version}.substr(dash + 1);
  struct Stage {
    std::string_view name;
    std::int32_t offset;
  };
  for (const Stage each : {Stage{"alpha.", -300}, Stage{"beta.", -200}, Stage{"rc.", -100}}) {
    if (!stage.starts_with(each.name)) continue;
    const std::optional<std::int32_t> count = number(stage.substr(each.name.size()));
    if (!count || *count > 99) return malformed();
    return total + each.offset + *count;
  }
  return malformed();
}

}  // namespace belay::config
