#include "platform/host_facts.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "platform/files.h"
#include "platform/kernel_files.h"

namespace belay::platform {
namespace {

std::string first_line(const std::string& path) {
  const std::string text = kernel_text(path);
  std::string_view rest = text;
  std::string_view line = next_line(rest);
  while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  return std::string{line};
}

std::optional<std::size_t> number_in(const std::string& path) { return whole_number(kernel_text(path)); }

// "always [madvise] never" is madvise.
std::string chosen_word(const std::string& path) {
  const std::string text = kernel_text(path);
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

// "MemTotal:       24684104 kB"
// "0-3,8-11" is eight.
std::optional<std::size_t> count_of(std::string_view list) {
  while (list.ends_with('\n')) list.remove_suffix(1);
  std::size_t count = 0;
  while (!list.empty()) {
    std::string_view range = next_word(list, ',');
    const std::optional<std::size_t> first = whole_number(next_word(range, '-'));
    const std::optional<std::size_t> last = range.empty() ? first : whole_number(range);
    if (!first || !last || *last < *first) return std::nullopt;
    count += *last - *first + 1;
  }
  return count == 0 ? std::nullopt : std::optional{count};
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string container_hint(const std::string& root) {
  if (exists(root + "/run/.containerenv")) return "Podman";
  if (exists(root + "/.dockerenv")) return "Docker";
  if (std::string name = first_line(root + "/run/systemd/container"); !name.empty()) return name;
  const std::string groups = kernel_text(root + "/proc/1/cgroup");
  struct Hint {
    const char* in_path;
    const char* name;
  };
  for (const Hint hint : {Hint{"kubepods", "Kubernetes"}, Hint{"/docker", "Docker"}, Hint{"libpod", "Podman"},
                          Hint{"/lxc", "LXC"}, Hint{"containerd", "containerd"}}) {
    if (groups.find(hint.in_path) != std::string::npos) return hint.name;
  }
  return {};
}

std::string virtual_machine_hint(const std::string& root, const std::string& kernel) {
  if (kernel.find("WSL") != std::string::npos || kernel.find("microsoft") != std::string::npos) return "WSL";
  if (std::string type = first_line(root + "/sys/hypervisor/type"); !type.empty()) return type;
  const std::string maker = first_line(root + "/sys/class/dmi/id/sys_vendor");
  const std::string product = first_line(root + "/sys/class/dmi/id/product_name");
  const std::string both = maker + " " + product;
  for (const char* known : {"QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine", "Amazon EC2",
                            "Google Compute Engine", "OpenStack", "Xen", "Bochs", "Parallels", "BHYVE"}) {
    if (both.find(known) != std::string::npos) return known;
  }
  // The processor says so itself, on x86.
  const std::string cpu = kernel_text(root + "/proc/cpuinfo");
  if (cpu.find(" hypervisor") != std::string::npos) return "unknown hypervisor";
  return {};
}

std::vector<HugePool> read_pools(const std::string& root) {
  std::vector<HugePool> pools;
  const std::string all = root + "/sys/kernel/mm/hugepages/";
  const std::string prefix = "hugepages-";
  for (const std::string& name : files_with_prefix(all, prefix)) {
    if (!name.ends_with("kB")) continue;
    const std::optional<std::size_t> kilobytes =
        whole_number(std::string_view{name}.substr(prefix.size(), name.size() - prefix.size() - 2));
    if (!kilobytes || *kilobytes == 0 || *kilobytes > SIZE_MAX / 1024) continue;
    const std::string pool = all + name;
    pools.push_back({.page_bytes = *kilobytes * 1024,
                     .pages = number_in(pool + "/nr_hugepages"),
                     .free = number_in(pool + "/free_hugepages"),
                     .reserved = number_in(pool + "/resv_hugepages"),
                     .overcommit = number_in(pool + "/nr_overcommit_hugepages"),
                     .surplus = number_in(pool + "/surplus_hugepages")});
  }
  std::ranges::sort(pools, {}, &HugePool::page_bytes);
  return pools;
}

std::vector<std::size_t> read_nodes(const std::string& root) {
  std::vector<std::size_t> nodes;
  const std::string prefix = "node";
  for (const std::string& name : files_with_prefix(root + "/sys/devices/system/node", prefix)) {
    if (const auto number = whole_number(std::string_view{name}.substr(prefix.size())))
      nodes.push_back(*number);
  }
  std::ranges::sort(nodes);
  return nodes;
}

template <class Resource>
ProcessLimit limit_of(Resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return {};
  const auto as_number = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::nullopt : std::optional<std::size_t>{value};
  };
  return {as_number(limit.rlim_cur), as_number(limit.rlim_max)};
}

std::string architecture() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string{static_cast<const char*>(names.machine)} : "unknown";
}

}  // namespace

std::size_t HugePool::available() const {
  const std::size_t left = free.value_or(0);
  return left - std::min(left, reserved.value_or(0));
}

std::size_t HugePool::beyond() const {
  const std::size_t most = overcommit.value_or(0);
  return most - std::min(most, surplus.value_or(0));
}

const HugePool* HostFacts::pool_of(std::size_t page_bytes) const {
  const auto found = std::ranges::find(pools, page_bytes, &HugePool::page_bytes);
  return found == pools.end() ? nullptr : &*found;
}

const CgroupMemory* HostFacts::tightest_group() const {
  const auto least = std::ranges::min_element(cgroups, {}, &CgroupMemory::headroom);
  return least == cgroups.end() ? nullptr : &*least;
}

std::optional<std::size_t> HostFacts::room() const {
  const CgroupMemory* group = tightest_group();
  if (group == nullptr) return memory_available;
  return std::min(memory_available.value_or(SIZE_MAX), group->headroom());
}

Place look_at(const std::string& path, const std::string& root) {
  Place place{.path = path};
  const std::string real = root + path;
  struct stat about {};
  const bool there = ::lstat(real.c_str(), &about) == 0;
  place.link = there && S_ISLNK(about.st_mode);
  place.present = ::stat(real.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
  place.obstructed = there && !place.present;
  if (!place.present) return place;
  place.owner = about.st_uid;
  place.open_to_others = (about.st_mode & 0077) != 0;
  place.writable = ::access(real.c_str(), W_OK | X_OK) == 0;
  struct statvfs room {};
  if (::statvfs(real.c_str(), &room) == 0) {
    place.free_bytes = static_cast<std::size_t>(room.f_bavail) * room.f_frsize;
  }
  return place;
}

HostFacts read_host_facts(const std::string& root) {
  HostFacts facts;
  facts.kernel = first_line(root + "/proc/sys/kernel/osrelease");
  if (facts.kernel.empty()) facts.kernel = "unknown";
  facts.architecture = architecture();
  facts.container = container_hint(root);
  facts.virtual_machine = virtual_machine_hint(root, facts.kernel);
  facts.cpus = count_of(kernel_text(root + "/sys/devices/system/cpu/online"));

  const std::string meminfo = kernel_text(root + "/proc/meminfo");
  facts.memory_total = from_meminfo(meminfo, "MemTotal:");
  facts.memory_available = from_meminfo(meminfo, "MemAvailable:");
  facts.cgroups = cgroup_memory_limits(root);

  facts.pools = read_pools(root);
  facts.default_huge_bytes = from_meminfo(meminfo, "Hugepagesize:");
  facts.thp_enabled = chosen_word(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  facts.thp_shmem_enabled = chosen_word(root + "/sys/kernel/mm/transparent_hugepage/shmem_enabled");

  facts.max_map_count = number_in(root + "/proc/sys/vm/max_map_count");
  facts.overcommit_memory = number_in(root + "/proc/sys/vm/overcommit_memory");
  facts.memfd_noexec = number_in(root + "/proc/sys/vm/memfd_noexec");
  facts.ptrace_scope = number_in(root + "/proc/sys/kernel/yama/ptrace_scope");

  facts.numa_nodes = read_nodes(root);
  for (const char* path : {"/dev/shm", "/tmp"}) facts.places.push_back(look_at(path, root));

  facts.user = ::geteuid();
  facts.limits = {.locked_bytes = limit_of(RLIMIT_MEMLOCK),
                  .address_bytes = limit_of(RLIMIT_AS),
                  .file_bytes = limit_of(RLIMIT_FSIZE),
                  .open_files = limit_of(RLIMIT_NOFILE)};
  return facts;
}

}  // namespace belay::platform
