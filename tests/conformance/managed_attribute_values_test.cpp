// What is known about a range of managed memory: whole, in part and mixed, before and after an advise.
#include "support/managed.h"

namespace managed_attribute_values_test {

using namespace belay_test;

class ManagedAttributeValues : public OnTwoDevices {};

using Ids = std::vector<std::int32_t>;

TEST_F(ManagedAttributeValues, V314_V315_V316_V317_V318_V319_BeforeAnyAdvise) {
  const Managed block{3 * kManagedPage};
  for (const std::size_t size : {std::size_t{1}, kManagedPage, 3 * kManagedPage}) {
    EXPECT_FALSE(is_read_mostly(block.get(), size)) << size;
    EXPECT_EQ(preferred(block.get(), size), kReportedNothing) << size;
    EXPECT_EQ(users(block.get(), size), Ids{}) << size;
    EXPECT_EQ(last_prefetch(block.get(), size), kReportedNothing) << size;
  }
  expect_pages(0, 0, "asking uses nothing");
}

TEST_F(ManagedAttributeValues, V313_V314_ReadMostly_OnlyWhereEveryPageHasIt) {
  const Managed block{4 * kManagedPage};
  EXPECT_EQ(read_mostly(block.page(1), 2 * kManagedPage), ACL_SUCCESS);
  EXPECT_TRUE(is_read_mostly(block.page(1), 2 * kManagedPage));
  EXPECT_TRUE(is_read_mostly(block.get(2 * kManagedPage - 1), 2));
  EXPECT_FALSE(is_read_mostly(block.get(), 4 * kManagedPage));
  EXPECT_FALSE(is_read_mostly(block.get(kManagedPage - 1), 2)) << "one page less";
  EXPECT_FALSE(is_read_mostly(block.page(1), 2 * kManagedPage + 1)) << "one page more";
  EXPECT_EQ(no_longer_read_mostly(block.page(2), 1, no_side()), ACL_SUCCESS);
  EXPECT_TRUE(is_read_mostly(block.page(1), kManagedPage));
  EXPECT_FALSE(is_read_mostly(block.page(1), 2 * kManagedPage));
}

TEST_F(ManagedAttributeValues, V315_V317_V318_ThePreferredLocation) {
  struct Case {
    aclrtMemManagedLocation side;
    Reported expected;
  };
  for (const Case& test : {Case{device_side(0), reported_device(0)}, Case{device_side(1), reported_device(1)},
                           Case{host_side(), kReportedHost}, Case{node_side(0), reported_node(0)}}) {
    const Managed block{2 * kManagedPage};
    EXPECT_EQ(prefer(block.get(), 2 * kManagedPage, test.side), ACL_SUCCESS);
    for (const std::size_t size : {std::size_t{1}, kManagedPage + 1, 2 * kManagedPage})
      EXPECT_EQ(preferred(block.get(), size), test.expected) << size;
    EXPECT_EQ(prefer_nothing(block.page(1), 1), ACL_SUCCESS);
    EXPECT_EQ(preferred(block.page(0), kManagedPage), test.expected);
    EXPECT_EQ(preferred(block.page(1), kManagedPage), kReportedNothing);
    EXPECT_EQ(preferred(block.get(), 2 * kManagedPage), kReportedNothing) << "one of them has none";
  }
}

TEST_F(ManagedAttributeValues, V313_V315_V317_V318_MixedLocations) {
  const Managed block{4 * kManagedPage};
  EXPECT_EQ(prefer(block.page(0), 1, device_side(0)), ACL_SUCCESS);
  EXPECT_EQ(prefer(block.page(1), 1, device_side(1)), ACL_SUCCESS);
  EXPECT_EQ(prefer(block.page(2), 1, host_side()), ACL_SUCCESS);
  EXPECT_EQ(prefer(block.page(3), 1, node_side(0)), ACL_SUCCESS);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
    EXPECT_EQ(preferred(block.page(first), 2 * kManagedPage), kReportedNothing) << first;
  EXPECT_EQ(preferred(block.get(), 4 * kManagedPage), kReportedNothing);
}

TEST_F(ManagedAttributeValues, V316_OnlyWhoIsSetOnTheWholeRange) {
  const Managed block{3 * kManagedPage};
  EXPECT_EQ(used_by(block.get(), 3 * kManagedPage, device_side(2)), ACL_SUCCESS);
  EXPECT_EQ(used_by(block.page(0), 2 * kManagedPage, host_side()), ACL_SUCCESS);
  EXPECT_EQ(used_by(block.page(1), 1, device_side(7)), ACL_SUCCESS);
  EXPECT_EQ(users(block.page(0), 1), (Ids{-1, 2}));
  EXPECT_EQ(users(block.page(1), 1), (Ids{-1, 2, 7}));
  EXPECT_EQ(users(block.page(2), 1), Ids{2});
  EXPECT_EQ(users(block.page(0), 2 * kManagedPage), (Ids{-1, 2}));
  EXPECT_EQ(users(block.page(1), 2 * kManagedPage), Ids{2});
  EXPECT_EQ(users(block.get(), 3 * kManagedPage), Ids{2});
  EXPECT_EQ(no_longer_used_by(block.page(1), 1, device_side(2)), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 3 * kManagedPage), Ids{});
  EXPECT_EQ(users(block.page(2), 1), Ids{2});
}

TEST_F(ManagedAttributeValues, V316_AListThatIsTooShort_GetsSomeOfThem) {
  const Managed block{kManagedPage};
  Ids all;
  for (std::int32_t device = 0; device < 8; ++device) {
    EXPECT_EQ(used_by(block.get(), 1, device_side(device)), ACL_SUCCESS);
    all.push_back(device);
  }
  EXPECT_EQ(users(block.get(), 1), all);
  for (std::size_t room = 1; room < 8; ++room) {
    const Ids some = users(block.get(), 1, room);
    EXPECT_EQ(some.size(), room);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
    EXPECT_EQ(std::adjacent_find(some.begin(), some.end()), some.end()) << "no one twice";
  }
  EXPECT_EQ(users(block.get(), 1, 8), all) << "exactly enough";
}

TEST_F(ManagedAttributeValues, V316_V305_TheHostBesideDevices) {
  const Managed block{kManagedPage};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(used_by(block.get(), 1, host_side()), ACL_SUCCESS);
    EXPECT_EQ(users(block.get(), 1), Ids{-1});
  }
  EXPECT_EQ(used_by(block.get(), 1, device_side(0)), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 1), (Ids{-1, 0}));
}

TEST_F(ManagedAttributeValues, V314_V315_V316_OneAdviseDoesNotTouchTheOthers) {
  const Managed block{kManagedPage};
  EXPECT_EQ(prefer(block.get(), 1, device_side(1)), ACL_SUCCESS);
  EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
  EXPECT_EQ(used_by(block.get(), 1, host_side()), ACL_SUCCESS);
  EXPECT_EQ(preferred(block.get(), 1), reported_device(1));
  EXPECT_TRUE(is_read_mostly(block.get(), 1));
  EXPECT_EQ(users(block.get(), 1), Ids{-1});
  EXPECT_EQ(no_longer_read_mostly(block.get(), 1, device_side(1)), ACL_SUCCESS);
  EXPECT_EQ(preferred(block.get(), 1), reported_device(1));
  EXPECT_EQ(users(block.get(), 1), Ids{-1});
  EXPECT_EQ(prefer_nothing(block.get(), 1), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 1), Ids{-1});
  EXPECT_EQ(last_prefetch(block.get(), 1), kReportedNothing) << "no advise is a prefetch";
}

}  // namespace managed_attribute_values_test
