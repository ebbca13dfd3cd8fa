// What the doctor makes of machines that nobody has at hand.
#include "cli/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "base/size.h"

namespace belay::cli {
namespace diagnosis_test {

using platform::Can;

// A machine on which nothing is missing.
Host good_host() {
  Host host;
  host.facts.kernel = "6.1.0-13-amd64";
  host.facts.architecture = "x86_64";
  host.facts.cpus = 8;
  host.facts.memory_total = 32_GiB;
  host.facts.memory_available = 16_GiB;
  host.facts.pools = {{2_MiB, 128, 120, 0, 0, 0}, {1_GiB, 4, 3, 0, 0, 0}};
  host.facts.default_huge_bytes = 2_MiB;
  host.facts.thp_enabled = "madvise";
  host.facts.thp_shmem_enabled = "never";
  host.facts.max_map_count = 65530;
  host.facts.overcommit_memory = 0;
  host.facts.numa_nodes = {0};
  host.facts.user = 1000;
  host.facts.limits.open_files = {1024, 4096};
  platform::HostTrials& trials = host.trials;
  trials.window = {0x100000000000, 8_TiB, true};
  trials.managed = {9_TiB, 3_TiB, true};
  for (Can* each : {&trials.touchable, &trials.memfd, &trials.long_file, &trials.long_mapping, &trials.view,
                    &trials.seals, &trials.fd_links, &trials.dumpable, &trials.collapse, &trials.lock_page,
                    &trials.lock_beyond_limit, &trials.bind_node, &trials.libnuma}) {
    *each = Can::Yes;
  }
  trials.usable_pools = {2_MiB, 1_GiB};
  const auto place = [](const char* path, bool present) {
    return platform::Place{
        .path = path, .present = present, .writable = present, .owner = 1000, .free_bytes = 64_MiB};
  };
  host.meetings = {{place("/dev/shm", true), place("/dev/shm/belay-1000", false)},
                   {place("/tmp", true), place("/tmp/belay-1000", false)}};
  return host;
}

const Finding& find(const Diagnosis& diagnosis, std::string_view id) {
  const auto found = std::ranges::find(diagnosis.findings, id, &Finding::id);
  EXPECT_NE(found, diagnosis.findings.end()) << id;
  return *found;
}

bool offers(const Finding& finding, std::string_view command) {
  return std::ranges::any_of(finding.remedies,
                             [&](const Remedy& remedy) { return remedy.command == command; });
}

bool says(const Finding& finding, std::string_view words) {
  return finding.text.find(words) != std::string::npos;
}

TEST(Doctor, AGoodMachineHasNothingToMend) {
  const Diagnosis diagnosis = diagnose(good_host(), {});
  EXPECT_TRUE(diagnosis.works());
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_EQ(finding.mark, Mark::Ok) << finding.id << ": " << finding.text;
    EXPECT_TRUE(finding.remedies.empty()) << finding.id;
  }
  EXPECT_EQ(diagnosis.uses.pages_2m, PageSource::Pool);
  EXPECT_EQ(diagnosis.uses.commit_bytes, 16_GiB);
  EXPECT_EQ(diagnosis.uses.meeting_place, "/dev/shm/belay-1000");
  EXPECT_TRUE(says(find(diagnosis, "pages_2m"), "from the kernel's pool, 120 free (240 MB)"));
}

TEST(Doctor, AMachineOfWhichNothingIsKnown_IsStillJudged) {
  const Diagnosis diagnosis = diagnose({}, {});
  EXPECT_FALSE(diagnosis.findings.empty());
  for (const Finding& finding : diagnosis.findings) EXPECT_FALSE(finding.text.empty()) << finding.id;
}

TEST(Doctor, PagesComeFromThePool_ElseByCollapsing_ElseSmall) {
  Host host = good_host();
  host.facts.pools = {{2_MiB, 0, 0, 0, 0, 0}, {1_GiB, 0, 0, 0, 0, 0}};
  host.trials.usable_pools = {};
  Diagnosis diagnosis = diagnose(host, {});
  EXPECT_EQ(diagnosis.uses.pages_2m, PageSource::Collapse);
  EXPECT_EQ(find(diagnosis, "pages_2m").mark, Mark::Ok);
  EXPECT_TRUE(offers(find(diagnosis, "pages_2m"), "sudo sysctl vm.nr_hugepages=512"));
  EXPECT_TRUE(offers(find(diagnosis, "pages_1g"),
                     "echo 4 | sudo tee /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"));

  host.trials.collapse = Can::No;
  host.trials.collapse_error = EINVAL;
  diagnosis = diagnose(host, {});
  EXPECT_EQ(diagnosis.uses.pages_2m, PageSource::Small);
  EXPECT_EQ(find(diagnosis, "pages_2m").mark, Mark::Note);
  EXPECT_TRUE(says(find(diagnosis, "pages_2m"), "Invalid argument"));
  EXPECT_TRUE(diagnosis.works());

  host.facts.kernel = "5.10.0-28-amd64";
  EXPECT_TRUE(says(find(diagnose(host, {}), "pages_2m"), "Linux 6.1"));
  host.facts.thp_shmem_enabled = "deny";
  EXPECT_TRUE(offers(find(diagnose(host, {}), "pages_2m"),
                     "echo never | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled"));
}

TEST(Doctor, V270_ManagedMemoryHasAPlaceOfItsOwn) {
  Host host = good_host();
  const auto finding = [&host] { return find(diagnose(host, {}), "managed"); };
  EXPECT_EQ(finding().text, "3 TB at 0x90000000000, as on a card; elsewhere in programs with a sanitizer");
  host.trials.managed = {60_TiB, 3_TiB, true};
  EXPECT_EQ(finding().mark, Mark::Ok);
  EXPECT_TRUE(says(finding(), "3 TB at 0x3c0000000000; the usual place, 0x90000000000, is taken"));
  host.trials.managed = {0x7f00000000, 256_GiB, true};
  EXPECT_EQ(finding().mark, Mark::Note);
  EXPECT_TRUE(says(finding(), "only 256 GB at 0x7f00000000")) << finding().text;
  EXPECT_TRUE(finding().remedies.empty()) << "a kernel cannot be given more";
  host.facts.limits.address_bytes = {8_GiB, std::nullopt};
  host.trials.managed = {9_TiB, 3_TiB, false};
  EXPECT_EQ(finding().mark, Mark::Note);
  EXPECT_TRUE(
      says(finding(), "used without being reserved (the address space of a process is limited to 8 GB)"));
  EXPECT_TRUE(offers(finding(), "ulimit -v unlimited"));
  host.trials.managed = {};
  EXPECT_TRUE(says(finding(), "aclrtMemAllocManaged will return 207001"));
  EXPECT_EQ(finding().mark, Mark::Note) << "other programs work";
  EXPECT_TRUE(diagnose(host, {}).works());
}

TEST(Doctor, V146_TheLimitOnMappingsIsNamed) {
  Host host = good_host();
  EXPECT_TRUE(says(find(diagnose(host, {}), "mappings"), "vm.max_map_count"));
  EXPECT_TRUE(says(find(diagnose(host, {}), "mappings"), "65530 per process"));
  EXPECT_EQ(find(diagnose(host, {}), "mappings").mark, Mark::Ok);
  host.facts.max_map_count = 65529;
  EXPECT_EQ(find(diagnose(host, {}), "mappings").mark, Mark::Note);
  EXPECT_TRUE(offers(find(diagnose(host, {}), "mappings"), "sudo sysctl vm.max_map_count=262144"));
}

TEST(Doctor, ThePoolIsEnlargedByNoMoreThanAQuarterOfWhatIsAvailable) {
  Host host = good_host();
  host.facts.pools = {{2_MiB, 100, 0, 0, 0, 0}, {1_GiB, 0, 0, 0, 0, 0}};
  host.trials.usable_pools = {};
  host.facts.memory_available = 80_MiB;
  const Diagnosis diagnosis = diagnose(host, {});
  EXPECT_TRUE(offers(find(diagnosis, "pages_2m"), "sudo sysctl vm.nr_hugepages=110"));
  EXPECT_TRUE(says(find(diagnosis, "pages_2m"), "all 100 of the kernel's pool are taken"));
  EXPECT_TRUE(find(diagnosis, "pages_1g").remedies.empty());
  host.facts.default_huge_bytes = 1_GiB;
  EXPECT_TRUE(offers(find(diagnose(host, {}), "pages_2m"),
                     "echo 110 | sudo tee /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
}

TEST(Doctor, WhoWantsThePool_FailsWithoutIt) {
  Host host = good_host();
  EXPECT_TRUE(diagnose(host, {.pages = "hugetlb"}).works());
  host.trials.usable_pools = {1_GiB};  // a control group refuses the 2 MB pages, say
  const Diagnosis diagnosis = diagnose(host, {.pages = "hugetlb"});
  EXPECT_FALSE(diagnosis.works());
  EXPECT_EQ(diagnosis.uses.pages_2m, PageSource::Nothing);
  EXPECT_TRUE(says(find(diagnosis, "pages_2m"), "HUGE_ONLY will return 207001"));
  EXPECT_TRUE(offers(find(diagnosis, "pages_2m"), "export BELAY_PAGES=auto"));
  host.trials.usable_pools = {2_MiB};
  EXPECT_TRUE(diagnose(host, {.pages = "hugetlb"}).works()) << "1 GB pages are for few";
}

TEST(Doctor, SmallPagesAndThpAreTakenAtTheirWord) {
  EXPECT_EQ(diagnose(good_host(), {.pages = "small"}).uses.pages_2m, PageSource::Small);
  EXPECT_EQ(find(diagnose(good_host(), {.pages = "small"}), "pages_2m").mark, Mark::Ok);
  EXPECT_EQ(diagnose(good_host(), {.pages = "thp"}).uses.pages_2m, PageSource::Collapse);
}

TEST(Doctor, WithoutBytes_PagesAndMemoryDoNotMatter) {
  Host host = good_host();
  host.trials.memfd = Can::No;
  host.trials.long_mapping = Can::No;
  EXPECT_FALSE(diagnose(host, {.machine = "private"}).works());
  const Diagnosis diagnosis = diagnose(host, {.backing = "none", .machine = "private"});
  EXPECT_TRUE(diagnosis.works());
  for (const char* id : {"pages_2m", "pages_1g", "commit"})
    EXPECT_EQ(std::ranges::count(diagnosis.findings, id, &Finding::id), 0) << id;
}

TEST(Doctor, AShortAddressSpaceIsANote_UnlessHostCodeIsToTouch) {
  Host host = good_host();
  host.facts.limits.address_bytes = {512_MiB, std::nullopt};
  host.trials.window.reserved = false;
  host.trials.touchable = Can::No;
  host.trials.view = Can::No;
  Diagnosis diagnosis = diagnose(host, {});
  EXPECT_TRUE(diagnosis.works());
  EXPECT_EQ(find(diagnosis, "addresses").mark, Mark::Note);
  EXPECT_TRUE(offers(find(diagnosis, "addresses"), "ulimit -v unlimited"));
  EXPECT_EQ(diagnosis.uses.pages_2m, PageSource::Small) << "huge pages must be mapped";
  diagnosis = diagnose(host, {.host_access = "allow"});
  EXPECT_EQ(find(diagnosis, "addresses").mark, Mark::Problem);
  host.facts.limits.address_bytes.hard = 512_MiB;
  diagnosis = diagnose(host, {});
  EXPECT_FALSE(offers(find(diagnosis, "addresses"), "ulimit -v unlimited")) << "the user may not";
  EXPECT_TRUE(offers(find(diagnosis, "addresses"), "sudo prlimit --pid $$ --as=unlimited"));
  host.trials.window = {};
  EXPECT_FALSE(diagnose(host, {}).works()) << "no addresses at all";
}

TEST(Doctor, ContentsWithoutAFileWork_WithoutAnythingTheyDoNot) {
  Host host = good_host();
  host.facts.limits.file_bytes = {1_GiB, 2_GiB};
  host.trials.long_file = Can::No;
  Diagnosis diagnosis = diagnose(host, {});
  EXPECT_TRUE(diagnosis.works());
  EXPECT_EQ(find(diagnosis, "contents").mark, Mark::Note);
  EXPECT_TRUE(offers(find(diagnosis, "contents"), "ulimit -f 2097152"));
  EXPECT_EQ(find(diagnosis, "passing").mark, Mark::Note);
  host.trials.long_mapping = Can::No;
  diagnosis = diagnose(host, {});
  EXPECT_EQ(find(diagnosis, "contents").mark, Mark::Problem);
  EXPECT_TRUE(offers(find(diagnosis, "contents"), "export BELAY_BACKING=none"));
}

TEST(Doctor, FilesInMemoryThatMustBeMarked_AreNamedWithTheirSwitch) {
  Host host = good_host();
  host.facts.memfd_noexec = 2;
  host.trials.memfd = Can::No;
  host.trials.memfd_error = EACCES;
  const Diagnosis diagnosis = diagnose(host, {});
  EXPECT_TRUE(offers(find(diagnosis, "contents"), "sudo sysctl vm.memfd_noexec=1"));
  EXPECT_EQ(find(diagnosis, "passing").mark, Mark::Problem) << "the state of the machine is such a file";
}

TEST(Doctor, AControlGroupThatLeavesLittle_IsNamedWithItsFile) {
  Host host = good_host();
  host.facts.cgroups = {{"/sys/fs/cgroup/job", 2, 600_MiB, 100_MiB, 0}};
  Diagnosis diagnosis = diagnose(host, {});
  EXPECT_EQ(diagnosis.uses.commit_bytes, 500_MiB);
  EXPECT_EQ(find(diagnosis, "commit").mark, Mark::Note);
  EXPECT_TRUE(offers(find(diagnosis, "commit"), "echo max | sudo tee /sys/fs/cgroup/job/memory.max"));
  host.facts.cgroups[0].version = 1;
  EXPECT_TRUE(offers(find(diagnose(host, {}), "commit"),
                     "echo -1 | sudo tee /sys/fs/cgroup/job/memory.limit_in_bytes"));
  host.facts.container = "Docker";
  EXPECT_TRUE(offers(find(diagnose(host, {}), "commit"), "docker run --memory=8g ..."));
  host.facts.cgroups[0].used = 590_MiB;
  EXPECT_EQ(find(diagnose(host, {}), "commit").mark, Mark::Problem);
}

TEST(Doctor, AWishForMoreMemoryThanThereIs_IsANote) {
  const Wishes wishes{.commit = "64G", .commit_bytes = 64_GiB};
  const Diagnosis diagnosis = diagnose(good_host(), wishes);
  EXPECT_EQ(find(diagnosis, "commit").mark, Mark::Note);
  EXPECT_EQ(diagnosis.uses.commit_bytes, 16_GiB);
  EXPECT_EQ(find(diagnose(good_host(), {.commit = "4G", .commit_bytes = 4_GiB}), "commit").mark, Mark::Ok);
}

TEST(Doctor, LockingIsJudgedByTheLimitAndTheSetting) {
  Host host = good_host();
  host.trials.lock_beyond_limit = Can::No;
  host.facts.limits.locked_bytes = {8_MiB, 64_MiB};
  Diagnosis diagnosis = diagnose(host, {});
  EXPECT_EQ(find(diagnosis, "locking").mark, Mark::Note);
  EXPECT_TRUE(says(find(diagnosis, "locking"), "8 MB"));
  EXPECT_TRUE(offers(find(diagnosis, "locking"), "ulimit -l 65536"));
  EXPECT_TRUE(offers(find(diagnosis, "locking"),
                     "echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/90-belay.conf"));
  EXPECT_FALSE(offers(find(diagnosis, "locking"), "docker run --ulimit memlock=-1 ..."));
  EXPECT_TRUE(says(find(diagnosis, "locking"), "hands out unlocked memory"));
  EXPECT_TRUE(says(find(diagnose(host, {.pin = "strict"}), "locking"), "returns 207001"));

  host.facts.limits.locked_bytes = {0, 0};
  host.trials.lock_page = Can::No;
  host.facts.container = "Docker";
  diagnosis = diagnose(host, {.pin = "strict"});
  EXPECT_FALSE(diagnosis.works());
  EXPECT_TRUE(offers(find(diagnosis, "locking"), "unset BELAY_PIN"));
  EXPECT_TRUE(offers(find(diagnosis, "locking"), "docker run --ulimit memlock=-1 ..."));
  EXPECT_TRUE(diagnose(host, {.pin = "best-effort"}).works());
  EXPECT_TRUE(diagnose(host, {}).works());
}

TEST(Doctor, ANodeMustExistAndBeReachable) {
  Host host = good_host();
  EXPECT_EQ(find(diagnose(host, {.host_node = "1"}), "numa").mark, Mark::Problem);
  host.facts.numa_nodes = {0, 1};
  EXPECT_EQ(find(diagnose(host, {.host_node = "1"}), "numa").mark, Mark::Ok);
  host.trials.libnuma = Can::No;
  EXPECT_TRUE(offers(find(diagnose(host, {.host_node = "1"}), "numa"), "sudo apt-get install libnuma1"));
  EXPECT_EQ(find(diagnose(host, {}), "numa").mark, Mark::Note) << "with two nodes there is a choice";
  host.trials.bind_node = Can::No;
  host.facts.container = "Docker";
  EXPECT_TRUE(offers(find(diagnose(host, {}), "numa"), "docker run --cap-add SYS_NICE ..."));
}

TEST(Doctor, TheMeetingPlaceIsTheFirstThatCanBeUsed) {
  Host host = good_host();
  host.meetings[0].own.present = true;
  host.meetings[0].own.owner = 0;
  Diagnosis diagnosis = diagnose(host, {});
  EXPECT_EQ(diagnosis.uses.meeting_place, "/tmp/belay-1000");
  EXPECT_TRUE(says(find(diagnosis, "meeting_place"), "/dev/shm/belay-1000 belongs to another user"));

  host.meetings[1].around.writable = false;
  diagnosis = diagnose(host, {});
  EXPECT_EQ(diagnosis.uses.meeting_place, "");
  EXPECT_EQ(find(diagnosis, "meeting_place").mark, Mark::Note) << "a process can do by itself";
  EXPECT_EQ(find(diagnose(host, {.machine = "lab"}), "meeting_place").mark, Mark::Problem)
      << "unless it expects others";
  EXPECT_TRUE(diagnose(host, {.machine = "private"}).works());

  host.meetings[1].own = {.path = "/tmp/belay-1000", .obstructed = true};
  EXPECT_TRUE(says(find(diagnose(host, {}), "meeting_place"), "is not a directory"));
}

// As platform::private_directory does: what has the name and is not the user's own is not used.
TEST(Doctor, WhatOthersPutAtTheMeetingPlace_IsToldWithWhatMendsIt) {
  struct Case {
    platform::Place own;
    const char* words;
    const char* remedy;
  };
  const std::string path = "/dev/shm/belay-1000";
  const Case cases[] = {
      {{.path = path, .present = true, .writable = true, .owner = 0},
       "belongs to another user",
       "sudo rm -r /dev/shm/belay-1000"},
      {{.path = path, .present = true, .writable = true, .link = true, .owner = 1000},
       "is a symbolic link",
       "sudo rm -r /dev/shm/belay-1000"},
      {{.path = path, .obstructed = true, .link = true},
       "is a symbolic link",
       "sudo rm -r /dev/shm/belay-1000"},
      {{.path = path, .obstructed = true}, "is not a directory", "sudo rm -r /dev/shm/belay-1000"},
      {{.path = path, .present = true, .writable = true, .open_to_others = true, .owner = 1000},
       "is open to other users",
       "chmod 700 /dev/shm/belay-1000"},
  };
  for (const Case& each : cases) {
    Host host = good_host();
    host.meetings[0].own = each.own;
    const Diagnosis diagnosis = diagnose(host, {});
    const Finding& finding = find(diagnosis, "meeting_place");
    EXPECT_EQ(finding.mark, Mark::Note) << each.words;
    EXPECT_TRUE(says(finding, path + " " + each.words)) << finding.text;
    EXPECT_TRUE(offers(finding, each.remedy)) << each.words;
    EXPECT_EQ(diagnosis.uses.meeting_place, "/tmp/belay-1000");
    host.meetings.resize(1);
    EXPECT_EQ(diagnose(host, {}).uses.meeting_place, "");
    EXPECT_TRUE(offers(find(diagnose(host, {}), "meeting_place"), each.remedy));
  }
  // A place that the user has named may be reached through a link, and be open to others.
  Host host = good_host();
  host.meetings = {{{.path = "/home", .present = true, .writable = true, .owner = 0},
                    {.path = "/home/meet",
                     .present = true,
                     .writable = true,
                     .link = true,
                     .open_to_others = true,
                     .owner = 0}}};
  EXPECT_EQ(diagnose(host, {.machines = "/home/meet"}).uses.meeting_place, "/home/meet");
}

TEST(Doctor, ProcessesThatCannotOpenEachOther_AreTold) {
  Host host = good_host();
  host.trials.fd_links = Can::No;
  EXPECT_EQ(find(diagnose(host, {}), "passing").mark, Mark::Problem);
  EXPECT_TRUE(diagnose(host, {.machine = "private"}).works());
}

TEST(Doctor, LimitsOfTheKernelAreNotes) {
  Host host = good_host();
  host.facts.overcommit_memory = 2;
  host.facts.max_map_count = 1000;
  host.facts.limits.open_files = {64, 512};
  const Diagnosis diagnosis = diagnose(host, {});
  EXPECT_TRUE(diagnosis.works());
  EXPECT_TRUE(offers(find(diagnosis, "overcommit"), "sudo sysctl vm.overcommit_memory=0"));
  EXPECT_TRUE(offers(find(diagnosis, "mappings"), "sudo sysctl vm.max_map_count=262144"));
  EXPECT_TRUE(offers(find(diagnosis, "open_files"), "ulimit -n 512"));
  EXPECT_TRUE(offers(find(diagnosis, "open_files"), "sudo prlimit --pid $$ --nofile=4096"));
}

TEST(Doctor, AWrongSettingIsAProblem) {
  const Diagnosis diagnosis = diagnose(good_host(), {.trouble = "BELAY_HBM has the value 'lots'"});
  EXPECT_FALSE(diagnosis.works());
  EXPECT_TRUE(says(find(diagnosis, "settings"), "lots"));
}

}  // namespace diagnosis_test
}  // namespace belay::cli
