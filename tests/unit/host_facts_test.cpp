#include "platform/host_facts.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "platform/host_trials.h"
#include "support/scratch.h"

namespace belay {
namespace host_facts_test {

using belay_test::Scratch;
using platform::HostFacts;
using platform::read_host_facts;

HostFacts read(const Scratch& tree) { return read_host_facts(tree.path().string()); }

void write_pool(const Scratch& tree, const std::string& size, const char* pages, const char* free,
                const char* reserved, const char* overcommit, const char* surplus) {
  const std::string at = "sys/kernel/mm/hugepages/hugepages-" + size + "/";
  tree.write(at + "nr_hugepages", pages);
  tree.write(at + "free_hugepages", free);
  tree.write(at + "resv_hugepages", reserved);
  tree.write(at + "nr_overcommit_hugepages", overcommit);
  tree.write(at + "surplus_hugepages", surplus);
}

TEST(HostFacts, AnOrdinaryMachineIsReadAsItIs) {
  const Scratch tree;
  tree.write("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
  tree.write("proc/meminfo",
             "MemTotal:       16000000 kB\nMemFree:         100 kB\nMemAvailable:    8000000 kB\n"
             "HugePages_Total:       4\nHugepagesize:       2048 kB\n");
  tree.write("sys/devices/system/cpu/online", "0-3,8-11\n");
  tree.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree.write("sys/kernel/mm/transparent_hugepage/shmem_enabled",
             "always within_size advise [never] deny force\n");
  tree.write("proc/sys/vm/max_map_count", "65530\n");
  tree.write("proc/sys/vm/overcommit_memory", "0\n");
  tree.write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  for (const char* node : {"node0", "node1", "node10"}) {
    tree.write(std::string{"sys/devices/system/node/"} + node + "/cpulist", "0\n");
  }
  tree.write("sys/devices/system/node/online", "0-1,10\n");
  tree.write("dev/shm/something", "");
  const HostFacts facts = read(tree);
  EXPECT_EQ(facts.kernel, "6.1.0-13-amd64");
  EXPECT_FALSE(facts.architecture.empty());
  EXPECT_EQ(facts.container, "");
  EXPECT_EQ(facts.virtual_machine, "");
  EXPECT_EQ(facts.cpus, 8U);
  EXPECT_EQ(facts.memory_total, 16000000 * 1_KiB);
  EXPECT_EQ(facts.memory_available, 8000000 * 1_KiB);
  EXPECT_EQ(facts.room(), facts.memory_available);
  EXPECT_EQ(facts.default_huge_bytes, 2_MiB);
  EXPECT_EQ(facts.thp_enabled, "madvise");
  EXPECT_EQ(facts.thp_shmem_enabled, "never");
  EXPECT_EQ(facts.max_map_count, 65530U);
  EXPECT_EQ(facts.overcommit_memory, 0U);
  EXPECT_EQ(facts.memfd_noexec, std::nullopt);
  EXPECT_EQ(facts.ptrace_scope, 1U);
  EXPECT_EQ(facts.numa_nodes, (std::vector<std::size_t>{0, 1, 10}));
  ASSERT_EQ(facts.places.size(), 2U);
  EXPECT_EQ(facts.places[0].path, "/dev/shm");
  EXPECT_TRUE(facts.places[0].present);
  EXPECT_TRUE(facts.places[0].writable);
  EXPECT_TRUE(facts.places[0].free_bytes.has_value());
  EXPECT_FALSE(facts.places[1].present);
}

TEST(HostFacts, PoolsComeInRisingSizes_AndPromisedPagesAreNotAvailable) {
  const Scratch tree;
  write_pool(tree, "1048576kB", "2\n", "1\n", "0\n", "0\n", "0\n");
  write_pool(tree, "2048kB", "128\n", "120\n", "20\n", "10\n", "4\n");
  tree.write("sys/kernel/mm/hugepages/hugepages-kB/nr_hugepages", "1\n");
  tree.write("sys/kernel/mm/hugepages/hugepages-9x9kB/nr_hugepages", "1\n");
  tree.write("sys/kernel/mm/hugepages/other/nr_hugepages", "1\n");
  const HostFacts facts = read(tree);
  ASSERT_EQ(facts.pools.size(), 2U);
  EXPECT_EQ(facts.pools[0].page_bytes, 2_MiB);
  EXPECT_EQ(facts.pools[0].available(), 100U);
  EXPECT_EQ(facts.pools[0].beyond(), 6U);
  EXPECT_EQ(facts.pools[1].page_bytes, 1_GiB);
  EXPECT_EQ(facts.pool_of(1_GiB)->available(), 1U);
  EXPECT_EQ(facts.pool_of(64_KiB), nullptr);
}

TEST(HostFacts, MorePromisedThanFree_IsNoneAvailable) {
  const Scratch tree;
  write_pool(tree, "2048kB", "8", "2", "5", "1", "3");
  const HostFacts facts = read(tree);
  EXPECT_EQ(facts.pools.at(0).available(), 0U);
  EXPECT_EQ(facts.pools.at(0).beyond(), 0U);
}

TEST(HostFacts, AControlGroupTightensTheRoom) {
  const Scratch tree;
  tree.write("proc/meminfo", "MemAvailable:    1000 kB\n");
  tree.write("proc/self/cgroup", "0::/a/b\n");
  tree.write("sys/fs/cgroup/a/memory.max", "5000\n");
  tree.write("sys/fs/cgroup/a/b/memory.max", "9000\n");
  const HostFacts facts = read(tree);
  EXPECT_EQ(facts.cgroups.size(), 2U);
  ASSERT_NE(facts.tightest_group(), nullptr);
  EXPECT_EQ(facts.tightest_group()->directory, "/sys/fs/cgroup/a");
  EXPECT_EQ(facts.room(), 5000U);
  tree.write("proc/meminfo", "MemAvailable:    3 kB\n");
  EXPECT_EQ(read(tree).room(), 3072U);
  tree.write("proc/meminfo", "");
  EXPECT_EQ(read(tree).room(), 5000U);
}

TEST(HostFacts, ContainersAndVirtualMachinesAreGuessedFromHints) {
  struct Hint {
    const char* file;
    const char* text;
    const char* container;
    const char* virtual_machine;
  };
  for (const Hint& hint :
       {Hint{".dockerenv", "", "Docker", ""}, Hint{"run/.containerenv", "", "Podman", ""},
        Hint{"run/systemd/container", "systemd-nspawn\n", "systemd-nspawn", ""},
        Hint{"proc/1/cgroup", "0::/kubepods/pod1\n", "Kubernetes", ""},
        Hint{"proc/1/cgroup", "4:memory:/docker/abc\n", "Docker", ""},
        Hint{"proc/1/cgroup", "0::/init.scope\n", "", ""}, Hint{"sys/hypervisor/type", "xen\n", "", "xen"},
        Hint{"sys/class/dmi/id/sys_vendor", "QEMU\n", "", "QEMU"},
        Hint{"sys/class/dmi/id/product_name", "VMware7,1\n", "", "VMware"},
        Hint{"sys/class/dmi/id/sys_vendor", "Dell Inc.\n", "", ""},
        Hint{"proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n", "", "WSL"}}) {
    const Scratch tree;
    tree.write(hint.file, hint.text);
    const HostFacts facts = read(tree);
    EXPECT_EQ(facts.container, hint.container) << hint.file << " " << hint.text;
    EXPECT_EQ(facts.virtual_machine, hint.virtual_machine) << hint.file << " " << hint.text;
  }
  const Scratch tree;
  tree.write("proc/cpuinfo", "flags\t\t: fpu sse hypervisor lahf_lm\n");
  EXPECT_NE(read(tree).virtual_machine, "");
}

TEST(HostFacts, AnEmptyTreeIsAllUnknown) {
  const Scratch tree;
  const HostFacts facts = read(tree);
  EXPECT_EQ(facts.kernel, "unknown");
  EXPECT_EQ(facts.cpus, std::nullopt);
  EXPECT_EQ(facts.memory_total, std::nullopt);
  EXPECT_EQ(facts.memory_available, std::nullopt);
  EXPECT_EQ(facts.room(), std::nullopt);
  EXPECT_EQ(facts.tightest_group(), nullptr);
  EXPECT_TRUE(facts.pools.empty());
  EXPECT_EQ(facts.thp_enabled, "");
  EXPECT_EQ(facts.max_map_count, std::nullopt);
  EXPECT_EQ(facts.ptrace_scope, std::nullopt);
  EXPECT_TRUE(facts.numa_nodes.empty());
  for (const platform::Place& place : facts.places) EXPECT_FALSE(place.present) << place.path;
}

TEST(HostFacts, GarbageIsUnknown) {
  for (const std::string& garbage :
       {std::string{}, std::string{"\n"}, std::string{"-1\n"}, std::string{"[["}, std::string{"]["},
        std::string{"99999999999999999999999\n"}, std::string{"3-1\n"}, std::string{",,-,\n"},
        std::string{"\0\xff\x01", 3}}) {
    const Scratch tree;
    for (const char* file :
         {"sys/devices/system/cpu/online", "sys/kernel/mm/transparent_hugepage/enabled",
          "proc/sys/vm/max_map_count", "proc/sys/vm/overcommit_memory", "proc/sys/kernel/yama/ptrace_scope",
          "proc/cpuinfo", "proc/self/cgroup", "proc/self/mountinfo", "sys/devices/system/node/nodeX/x"}) {
      tree.write(file, garbage);
    }
    tree.write("proc/meminfo", "MemTotal: " + garbage + " kB\nMemAvailable:\nHugepagesize: 2048\n");
    write_pool(tree, "2048kB", garbage.c_str(), garbage.c_str(), garbage.c_str(), garbage.c_str(), "");
    const HostFacts facts = read(tree);
    EXPECT_EQ(facts.cpus, std::nullopt) << garbage;
    EXPECT_EQ(facts.thp_enabled, "") << garbage;
    EXPECT_EQ(facts.max_map_count, std::nullopt) << garbage;
    EXPECT_EQ(facts.overcommit_memory, std::nullopt) << garbage;
    EXPECT_EQ(facts.ptrace_scope, std::nullopt) << garbage;
    EXPECT_EQ(facts.memory_total, std::nullopt) << garbage;
    EXPECT_EQ(facts.memory_available, std::nullopt) << garbage;
    EXPECT_EQ(facts.default_huge_bytes, std::nullopt) << garbage;
    EXPECT_TRUE(facts.numa_nodes.empty()) << garbage;
    ASSERT_EQ(facts.pools.size(), 1U);
    EXPECT_EQ(facts.pools[0].pages, std::nullopt) << garbage;
    EXPECT_EQ(facts.pools[0].available(), 0U) << garbage;
  }
}

TEST(HostFacts, ADirectoryInPlaceOfAFileIsUnknown) {
  const Scratch tree;
  tree.write("proc/meminfo/file", "");
  tree.write("proc/sys/vm/max_map_count/file", "");
  EXPECT_EQ(read(tree).memory_total, std::nullopt);
  EXPECT_EQ(read(tree).max_map_count, std::nullopt);
}

TEST(HostFacts, APlaceThatIsAFileIsObstructed) {
  const Scratch tree;
  tree.write("dev/shm", "a file");
  const HostFacts facts = read(tree);
  EXPECT_FALSE(facts.places[0].present);
  EXPECT_TRUE(facts.places[0].obstructed);
  EXPECT_FALSE(facts.places[1].obstructed);
}

TEST(HostTrials, LeaveNothingBehind) {
  const platform::HostTrials first = platform::try_host();
  const platform::HostTrials second = platform::try_host();
  EXPECT_EQ(first.window.base, second.window.base);
  EXPECT_EQ(first.window.reserved, second.window.reserved) << "the window is free again";
  EXPECT_EQ(first.managed.reserved, second.managed.reserved);
  EXPECT_NE(first.managed.base, 0U);
  EXPECT_EQ(first.memfd, second.memfd);
  EXPECT_EQ(first.collapse, second.collapse);
  EXPECT_EQ(first.lock_page, second.lock_page);
  EXPECT_EQ(first.lock_beyond_limit, second.lock_beyond_limit);
}

}  // namespace host_facts_test
}  // namespace belay
