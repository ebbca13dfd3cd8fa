// What an advise does with the pages: copies of read-mostly memory, pages made ahead of their first use.
#include <cstring>

#include "support/managed.h"

namespace managed_advise_pages_test {

using namespace belay_test;

class ManagedAdvisePages : public OnTwoDevices {
 protected:
  // Makes the page where it says; the bytes are the same afterwards.
  static void put_on_device(void* page) { EXPECT_EQ(aclrtMemset(page, 64, 0x3C, 64), ACL_SUCCESS); }
  static void put_on_host(void* page) {
    const Bytes bytes(64, 0x3C);
    EXPECT_EQ(aclrtMemcpy(page, 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_HOST), ACL_SUCCESS);
  }
};

TEST_F(ManagedAdvisePages, V299_ReadMostly_IsACopyOnTheHost_AndOneOnEachDeviceThatReads) {
  const Managed block{2 * kManagedPage};
  EXPECT_EQ(read_mostly(block.get(), 2 * kManagedPage), ACL_SUCCESS);
  expect_pages(0, 0, "the first copy is on the host");
  read_from(block.get(), 64);
  expect_pages(1, 0, "device 0 has read one page");
  make_current(1);
  read_from(block.get(), 2 * kManagedPage);
  expect_pages(1, 2, "device 1 has read both, and device 0 keeps its copy");
  read_from(block.get(), 64);
  expect_pages(1, 2, "again");
  EXPECT_TRUE(is_read_mostly(block.get(), 2 * kManagedPage)) << "reading changes nothing";
}

TEST_F(ManagedAdvisePages, V299_AWriteByADevice_DropsAllOtherCopies_AndTheAttributeOfThePage) {
  const Managed block{2 * kManagedPage};
  EXPECT_EQ(read_mostly(block.get(), 2 * kManagedPage), ACL_SUCCESS);
  read_from(block.get(), 2 * kManagedPage);
  make_current(1);
  read_from(block.get(), 2 * kManagedPage);
  expect_pages(2, 2, "two copies each");
  EXPECT_EQ(aclrtMemset(block.page(1), 1, 1, 1), ACL_SUCCESS);
  expect_pages(1, 2, "device 1 wrote to the second page");
  EXPECT_TRUE(is_read_mostly(block.page(0), kManagedPage));
  EXPECT_FALSE(is_read_mostly(block.page(1), kManagedPage));
  EXPECT_FALSE(is_read_mostly(block.get(), 2 * kManagedPage));
}

TEST_F(ManagedAdvisePages, V299_AWriteByTheHost_DropsTheCopiesOfTheDevices) {
  const Managed block{kManagedPage};
  EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
  read_from(block.get(), 64);
  make_current(1);
  read_from(block.get(), 64);
  expect_pages(1, 1, "a copy each");
  put_on_host(block.get());
  expect_pages(0, 0, "only the host has one");
  EXPECT_FALSE(is_read_mostly(block.get(), 1));
}

TEST_F(ManagedAdvisePages, V299_V306_TheBytesAreThoseOfTheLastWrite) {
  const Managed block{kManagedPage};
  const Bytes bytes = pattern(5000, 21);
  write_to(block.get(700), bytes);
  EXPECT_EQ(read_mostly(block.get(), kManagedPage), ACL_SUCCESS);
  for (const int device : {0, 1, 0}) {
    make_current(device);
    EXPECT_EQ(read_from(block.get(700), 5000), bytes) << device;
  }
  write_to(block.get(700), pattern(5000, 22));
  for (const int device : {1, 0}) {
    make_current(device);
    EXPECT_EQ(read_from(block.get(700), 5000), pattern(5000, 22)) << device;
  }
}

TEST_F(ManagedAdvisePages, V299_TheLocationDoesNotMatter) {
  for (const auto& side : {no_side(), host_side(), device_side(1), node_side(0), this_node_side()}) {
    const Managed block{kManagedPage};
    EXPECT_EQ(advise(block.get(), 1, ACL_MEM_ADVISE_SET_READ_MOSTLY, side), ACL_SUCCESS) << side.type;
    EXPECT_TRUE(is_read_mostly(block.get(), 1)) << side.type;
    expect_pages(0, 0, "it is on the host");
  }
}

TEST_F(ManagedAdvisePages, V300_OneCopyRemains_OnTheLocation) {
  struct Case {
    aclrtMemManagedLocation side;
    int on_0, on_1;
  };
  for (const Case& test : {Case{no_side(), 0, 0}, Case{host_side(), 0, 0}, Case{node_side(0), 0, 0},
                           Case{device_side(0), 1, 0}, Case{device_side(1), 0, 1}}) {
    for (const bool both_have_read : {true, false}) {
      const Managed block{kManagedPage};
      put_on_host(block.get());
      EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
      if (both_have_read) {
        read_from(block.get(), 64);
        make_current(1);
        read_from(block.get(), 64);
        make_current(0);
        expect_pages(1, 1, "a copy each");
      }
      EXPECT_EQ(no_longer_read_mostly(block.get(), 1, test.side), ACL_SUCCESS);
      EXPECT_FALSE(is_read_mostly(block.get(), 1));
      expect_pages(test.on_0, test.on_1, both_have_read ? "of three copies" : "made there if there was none");
      EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0x3C)) << "V-306";
    }
  }
}

TEST_F(ManagedAdvisePages, V301_APageThatIsNowhere_IsMadeOnThePreferredSide) {
  const Managed block{3 * kManagedPage};
  EXPECT_EQ(prefer(block.page(0), 1, host_side()), ACL_SUCCESS);
  expect_pages(0, 0, "on the host");
  EXPECT_EQ(prefer(block.page(1), kManagedPage + 1, device_side(1)), ACL_SUCCESS);
  expect_pages(0, 2, "two on device 1");
  EXPECT_EQ(prefer(block.page(0), 1, device_side(0)), kRefused) << "by now it is on the host";
  EXPECT_EQ(prefer(block.page(0), 1, host_side()), ACL_SUCCESS) << "where it is already";
  EXPECT_EQ(prefer(block.page(1), 1, device_side(1)), ACL_SUCCESS);
  expect_pages(0, 2, "nothing moved");
}

TEST_F(ManagedAdvisePages, V301_APageThatIsElsewhere_IsRefused_NothingIsRecorded) {
  const Managed block{kManagedPage};
  put_on_device(block.get());
  for (const auto& side : {host_side(), node_side(0), this_node_side(), device_side(1)}) {
    EXPECT_EQ(prefer(block.get(), 1, side), kRefused) << side.type;
    EXPECT_EQ(last_error(), kRefused);
    EXPECT_EQ(preferred(block.get(), 1), kReportedNothing) << side.type;
  }
  expect_pages(1, 0, "nothing moved");
  EXPECT_EQ(prefer(block.get(), 1, device_side(0)), ACL_SUCCESS);
  EXPECT_EQ(preferred(block.get(), 1), reported_device(0));
  EXPECT_EQ(prefer(block.get(), 1, host_side()), kRefused);
  EXPECT_EQ(preferred(block.get(), 1), reported_device(0)) << "what was recorded before stays";
  put_on_host(block.get());
  for (const int device : {0, 1}) EXPECT_EQ(prefer(block.get(), 1, device_side(device)), kRefused) << device;
  EXPECT_EQ(prefer(block.get(), 1, host_side()), ACL_SUCCESS);
}

TEST_F(ManagedAdvisePages, V301_OnePageOfTheRangeElsewhere_RefusesTheWholeRange) {
  const Managed block{3 * kManagedPage};
  put_on_host(block.page(2));
  EXPECT_EQ(prefer(block.get(), 3 * kManagedPage, device_side(1)), kRefused);
  for (std::size_t page = 0; page < 3; ++page)
    EXPECT_EQ(preferred(block.page(page), 1), kReportedNothing) << page;
  expect_pages(0, 0, "and no page was made");
  EXPECT_EQ(prefer(block.get(), 2 * kManagedPage, device_side(1)), ACL_SUCCESS) << "without that page";
  expect_pages(0, 2, "two were");
}

TEST_F(ManagedAdvisePages, V302_ReadMostly_TheDeviceGetsACopyAhead_AndNoConflict) {
  const Managed block{kManagedPage};
  EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
  EXPECT_EQ(prefer(block.get(), 1, device_side(1)), ACL_SUCCESS);
  expect_pages(0, 1, "a copy on device 1");
  EXPECT_EQ(prefer(block.get(), 1, device_side(1)), ACL_SUCCESS);
  expect_pages(0, 1, "it has one");
  EXPECT_EQ(prefer(block.get(), 1, device_side(0)), ACL_SUCCESS);
  expect_pages(1, 1, "a copy on device 0 too");
  EXPECT_EQ(preferred(block.get(), 1), reported_device(0));
  EXPECT_EQ(prefer(block.get(), 1, host_side()), ACL_SUCCESS);
  expect_pages(1, 1, "for the host nothing is done");
  EXPECT_EQ(preferred(block.get(), 1), kReportedHost);
  EXPECT_TRUE(is_read_mostly(block.get(), 1));
}

TEST_F(ManagedAdvisePages, V303_ThePreferenceIsCleared_WhateverTheLocation) {
  for (const auto& side : {no_side(), host_side(), device_side(0), device_side(1), node_side(0)}) {
    const Managed block{kManagedPage};
    EXPECT_EQ(prefer(block.get(), 1, device_side(1)), ACL_SUCCESS);
    EXPECT_EQ(advise(block.get(), 1, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, side), ACL_SUCCESS);
    EXPECT_EQ(preferred(block.get(), 1), kReportedNothing) << side.type;
    expect_pages(0, 1, "the page stays where it is");
  }
}

TEST_F(ManagedAdvisePages, V304_SeveralMayUseIt_AndEachIsTakenAwayAlone) {
  const Managed block{kManagedPage};
  for (const auto& side : {device_side(3), host_side(), device_side(1)})
    EXPECT_EQ(used_by(block.get(), 1, side), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 1), (std::vector<std::int32_t>{-1, 1, 3}));
  EXPECT_EQ(no_longer_used_by(block.get(), 1, device_side(1)), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 1), (std::vector<std::int32_t>{-1, 3}));
  EXPECT_EQ(no_longer_used_by(block.get(), 1, host_side()), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 1), std::vector<std::int32_t>{3});
  EXPECT_EQ(preferred(block.get(), 1), kReportedNothing) << "which is another matter";
  expect_pages(0, 0, "and makes no page of its own");
}

TEST_F(ManagedAdvisePages, V304_WithThePreferredLocation_ThePageIsThereAhead) {
  const Managed block{kManagedPage};
  EXPECT_EQ(prefer(block.get(), 1, device_side(1)), ACL_SUCCESS);
  EXPECT_EQ(used_by(block.get(), 1, device_side(1)), ACL_SUCCESS);
  expect_pages(0, 1, "one page");
  make_current(1);
  put_on_device(block.get());
  expect_pages(0, 1, "the first use finds it");
}

TEST_F(ManagedAdvisePages, V306_NoAdviseChangesTheBytes) {
  const Managed block{2 * kManagedPage};
  const Bytes bytes = pattern(2 * kManagedPage, 9);
  write_to(block.get(), bytes);
  for (const auto& side : {host_side(), device_side(0), device_side(1), node_side(0), this_node_side()}) {
    for (int what = 0; what < 6; ++what) {
      const int answer = advise(block.get(), 2 * kManagedPage, what, side);
      EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << what << ": " << answer;
      EXPECT_EQ(read_from(block.get(), 2 * kManagedPage), bytes) << what << " for " << side.type;
    }
  }
}

}  // namespace managed_advise_pages_test
