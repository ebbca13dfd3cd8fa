#include "platform/cgroup.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "support/scratch.h"

namespace belay {
namespace cgroup_test {

using belay_test::Scratch;
using platform::cgroup_memory_headroom;
using platform::cgroup_memory_limits;

constexpr const char* kV2Mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
constexpr const char* kV1Mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:13 - cgroup cgroup rw,memory\n";
constexpr const char* kUnlimitedV1 = "9223372036854771712\n";

void write_v2(const Scratch& tree, const std::string& group, const std::string& max,
              const std::string& current, const std::string& inactive = "0") {
  const std::string at = "sys/fs/cgroup" + group + "/";
  tree.write(at + "memory.max", max + "\n");
  tree.write(at + "memory.current", current + "\n");
  tree.write(at + "memory.stat", "anon 5\ninactive_file " + inactive + "\nactive_file 7\n");
}

void write_v1(const Scratch& tree, const std::string& group, const std::string& limit,
              const std::string& usage, const std::string& inactive = "0") {
  const std::string at = "sys/fs/cgroup/memory" + group + "/";
  tree.write(at + "memory.limit_in_bytes", limit + "\n");
  tree.write(at + "memory.usage_in_bytes", usage + "\n");
  tree.write(at + "memory.stat", "inactive_file 3\ntotal_inactive_file " + inactive + "\n");
}

std::optional<std::size_t> headroom(const Scratch& tree) {
  return cgroup_memory_headroom(tree.path().string());
}

TEST(Cgroup, Version2_WhatIsLeftIsTheLimitLessUseThatCannotBeDropped) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/user.slice\n");
  tree.write("proc/self/mountinfo", kV2Mount);
  write_v2(tree, "/user.slice", "1000000", "700000", "200000");
  EXPECT_EQ(headroom(tree), 500000U);
  const auto limits = cgroup_memory_limits(tree.path().string());
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].directory, "/sys/fs/cgroup/user.slice");
  EXPECT_EQ(limits[0].version, 2);
  EXPECT_EQ(limits[0].limit, 1000000U);
}

TEST(Cgroup, Version2_EveryLevelUpToTheRootCounts) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/a/b/c\n");
  tree.write("proc/self/mountinfo", kV2Mount);
  write_v2(tree, "/a/b/c", "max", "10");
  write_v2(tree, "/a/b", "9000", "1000");
  write_v2(tree, "/a", "5000", "2000", "500");
  EXPECT_EQ(headroom(tree), 3500U);
  const auto limits = cgroup_memory_limits(tree.path().string());
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].directory, "/sys/fs/cgroup/a/b") << "the innermost first";
}

TEST(Cgroup, Version2_TheTopOfANamespaceHasALimitToo) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/\n");
  tree.write("proc/self/mountinfo", kV2Mount);
  write_v2(tree, "", "4096", "1096");
  EXPECT_EQ(headroom(tree), 3000U);
}

TEST(Cgroup, Version2_WithoutAnyLimit_NothingIsLimited) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/a\n");
  tree.write("proc/self/mountinfo", kV2Mount);
  write_v2(tree, "/a", "max", "10");
  EXPECT_EQ(headroom(tree), std::nullopt);
}

TEST(Cgroup, Version1_ReadsItsOwnNamesAndTheSumOverChildren) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/job/one\n2:cpu,cpuacct:/other\n0::/\n");
  tree.write("proc/self/mountinfo", kV1Mounts);
  write_v1(tree, "/job/one", kUnlimitedV1, "10");
  write_v1(tree, "/job", "8000", "6000", "1000");
  write_v1(tree, "", kUnlimitedV1, "100000");
  EXPECT_EQ(headroom(tree), 3000U);
  EXPECT_EQ(cgroup_memory_limits(tree.path().string()).at(0).version, 1);
}

TEST(Cgroup, Version1_TheGreatestNumberMeansNoLimit) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "4:memory:/job\n");
  tree.write("proc/self/mountinfo", kV1Mounts);
  write_v1(tree, "/job", kUnlimitedV1, "10");
  EXPECT_EQ(headroom(tree), std::nullopt);
  write_v1(tree, "/job", "9223372036854710272", "10");  // with pages of 64 KB
  EXPECT_EQ(headroom(tree), std::nullopt);
}

TEST(Cgroup, Version1_AContainerSeesItsGroupAsTheTop) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  tree.write("proc/self/mountinfo",
             "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write_v1(tree, "", "5000", "1000");
  write_v1(tree, "/inner", "4500", "1000");
  EXPECT_EQ(headroom(tree), 3500U);
  tree.write("proc/self/cgroup", "4:memory:/docker/other\n");
  EXPECT_EQ(headroom(tree), 4000U) << "outside of what is mounted: its top at least";
}

TEST(Cgroup, BothGenerationsAtOnce_TheTighterCounts) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "4:memory:/job\n0::/job\n");
  tree.write("proc/self/mountinfo",
             std::string{kV1Mounts} + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write_v1(tree, "/job", "5000", "1000");
  EXPECT_EQ(headroom(tree), 4000U);
  tree.write("sys/fs/cgroup/unified/job/memory.max", "3000\n");
  tree.write("sys/fs/cgroup/unified/job/memory.current", "0\n");
  EXPECT_EQ(headroom(tree), 3000U);
}

TEST(Cgroup, MoreInUseThanAllowed_LeavesNothing) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/a\n");
  tree.write("proc/self/mountinfo", kV2Mount);
  write_v2(tree, "/a", "1000", "3000");
  EXPECT_EQ(headroom(tree), 0U);
  write_v2(tree, "/a", "1000", "300", "900");
  EXPECT_EQ(headroom(tree), 1000U) << "never more than the limit";
}

TEST(Cgroup, WithoutTheListOfMounts_TheUsualPlacesAreTried) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/a\n");
  write_v2(tree, "/a", "1000", "300");
  EXPECT_EQ(headroom(tree), 700U);
  tree.write("proc/self/cgroup", "4:memory:/b\n");
  write_v1(tree, "/b", "2000", "300");
  EXPECT_EQ(headroom(tree), 1700U);
}

TEST(Cgroup, AMountPointWithASpaceIsFound) {
  const Scratch tree;
  tree.write("proc/self/cgroup", "0::/a\n");
  tree.write("proc/self/mountinfo", "30 23 0:26 / /my\\040groups rw - cgroup2 none rw\n");
  tree.write("my groups/a/memory.max", "1000\n");
  EXPECT_EQ(headroom(tree), 1000U) << "use that cannot be read counts as none";
}

TEST(Cgroup, GarbageAndMissingFiles_AreNoLimit) {
  const Scratch tree;
  EXPECT_EQ(headroom(tree), std::nullopt);
  for (const char* groups : {"", "\n", ":", "::", "0::", "0:::", "x:memory", "4:memory:relative\n",
                             "\xff\xfe\n", "0::/../..\n", "0:://\n", "0::/a (deleted)\n"}) {
    tree.write("proc/self/cgroup", groups);
    for (const char* mounts : {"", "\n", " - ", " - cgroup2", "1 2 3 - cgroup2 x rw\n", "- - - - - - - -\n",
                               "30 23 0:26 / /sys/fs/cgroup rw - cgroup2", "\\0\\04 \\999\n"}) {
      tree.write("proc/self/mountinfo", mounts);
      EXPECT_EQ(headroom(tree), std::nullopt) << groups << mounts;
    }
  }
  tree.write("proc/self/cgroup", "0::/a\n");
  tree.write("proc/self/mountinfo", kV2Mount);
  for (const char* max : {"", "max", "-1", "12x", "99999999999999999999999999", "\n\n", "0x10"}) {
    write_v2(tree, "/a", max, "nonsense", "more of it");
    EXPECT_EQ(headroom(tree), std::nullopt) << max;
  }
  write_v2(tree, "/a", "1000", "nonsense", "more of it");
  EXPECT_EQ(headroom(tree), 1000U);
}

TEST(Cgroup, TheRealMachineAnswers) {
  const std::optional<std::size_t> here = cgroup_memory_headroom();
  for (const platform::CgroupMemory& each : cgroup_memory_limits()) {
    EXPECT_GT(each.limit, 0U);
    ASSERT_TRUE(here.has_value());
  }
}

}  // namespace cgroup_test
}  // namespace belay
