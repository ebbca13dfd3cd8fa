#include "platform/cgroup.h"

#include <algorithm>
#include <string_view>

#include "platform/kernel_files.h"

namespace belay::platform {
namespace {

// v1 has no word for "no limit": it is the greatest multiple of the page size below 2^63.
constexpr std::size_t kUnlimitedV1 = std::size_t{1} << 62U;

// The files of one generation.
struct Names {
  int version;
  const char* limit;
  const char* used;
  const char* statistics;
  std::string_view reclaimable;  // a line of the statistics; in v1 the one that counts the children too
};
constexpr Names kNames[] = {
    {1, "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_inactive_file"},
    {2, "memory.max", "memory.current", "memory.stat", "inactive_file"},
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (next_word(list, ',') == word) return true;
  }
  return false;
}

// The kernel writes a space in a path as \040.
std::string unescaped(std::string_view text) {
  std::string out;
  const auto octal = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && octal(i + 1) >= 0 && octal(i + 2) >= 0 && octal(i + 3) >= 0) {
      out += static_cast<char>(octal(i + 1) * 64 + octal(i + 2) * 8 + octal(i + 3));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool lies_in(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

// Where a tree of groups is seen: `top` is the group that appears as the directory `at`.
struct Mount {
  std::string top;
  std::string at;
};

// 36 25 0:31 / /sys/fs/cgroup/memory rw,relatime shared:13 - cgroup cgroup rw,memory
std::vector<Mount> find_mounts(std::string_view mountinfo, int version) {
  std::vector<Mount> found;
  while (!mountinfo.empty()) {
    std::string_view line = next_line(mountinfo);
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view about = line.substr(dash + 3);
    const std::string_view kind = next_word(about);
    next_word(about);  // the device
    const bool ours = version == 2 ? kind == "cgroup2" : kind == "cgroup" && has_word(about, "memory");
    if (!ours) continue;
    for (int skipped = 0; skipped < 3; ++skipped) next_word(line);
    std::string top = unescaped(next_word(line));
    found.push_back({std::move(top), unescaped(next_word(line))});
  }
  // A /proc without the list of mounts, or none in it: the usual places.
  if (found.empty()) found.push_back({"/", version == 2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"});
  return found;
}

// The group of this process in the tree that counts memory: "0::/user.slice" or "4:memory:/user.slice".
std::optional<std::string> own_group(std::string_view groups, int version) {
  while (!groups.empty()) {
    std::string_view line = next_line(groups);
    const std::string_view id = next_word(line, ':');
    const std::string_view controllers = next_word(line, ':');
    const bool ours = version == 2 ? id == "0" && controllers.empty() : has_word(controllers, "memory");
    if (ours && line.starts_with('/')) return std::string{line};
  }
  return std::nullopt;
}

// The directories of the group and of all that contain it, as far as they can be seen.
std::vector<std::string> directories_up(const std::string& group, const std::vector<Mount>& mounts) {
  const auto above =
      std::ranges::find_if(mounts, [&](const Mount& mount) { return lies_in(group, mount.top); });
  // A group outside of what is mounted (a container without a namespace of groups): its top at least.
  if (above == mounts.end()) return {mounts.front().at};
  std::string below = above->top == "/" ? group : group.substr(above->top.size());
  if (below.find("/..") != std::string::npos) below.clear();  // outside of the namespace
  std::vector<std::string> all;
  while (!below.empty() && below != "/") {
    all.push_back(above->at + below);
    below.erase(below.rfind('/'));
  }
  all.push_back(above->at);
  return all;
}

std::optional<CgroupMemory> limit_of(const std::string& root, const std::string& directory,
                                     const Names& names) {
  const std::string place = root + directory + "/";
  // A word ("max") is no number: no limit.
  const std::optional<std::size_t> limit = whole_number(kernel_text(place + names.limit));
  if (!limit || (names.version == 1 && *limit >= kUnlimitedV1)) return std::nullopt;
  const std::string statistics = kernel_text(place + names.statistics);
  return CgroupMemory{.directory = directory,
                      .version = names.version,
                      .limit = *limit,
                      .used = whole_number(kernel_text(place + names.used)).value_or(0),
                      .reclaimable = whole_number(after_word(statistics, names.reclaimable)).value_or(0)};
}

}  // namespace

std::size_t CgroupMemory::headroom() const {
  const std::size_t held = used - std::min(used, reclaimable);
  return limit - std::min(limit, held);
}

std::vector<CgroupMemory> cgroup_memory_limits(const std::string& root) {
  std::vector<CgroupMemory> limits;
  const std::string groups = kernel_text(root + "/proc/self/cgroup");
  const std::string mountinfo = kernel_text(root + "/proc/self/mountinfo");
  for (const Names& names : kNames) {
    const std::optional<std::string> group = own_group(groups, names.version);
    if (!group) continue;
    for (const std::string& directory : directories_up(*group, find_mounts(mountinfo, names.version))) {
      if (std::optional<CgroupMemory> limit = limit_of(root, directory, names)) {
        limits.push_back(std::move(*limit));
      }
    }
  }
  return limits;
}

std::optional<std::size_t> cgroup_memory_headroom(const std::string& root) {
  std::optional<std::size_t> least;
  for (const CgroupMemory& each : cgroup_memory_limits(root)) {
    least = std::min(least.value_or(each.headroom()), each.headroom());
  }
  return least;
}

}  // namespace belay::platform
