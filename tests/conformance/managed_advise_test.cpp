// aclrtMemManagedAdvise: checks in their order, and to which pages an advise goes.
#include <sched.h>

#include <memory>
#include <set>

#include "support/managed.h"
#include "support/mistakes.h"
#include "support/sanitizer.h"

namespace managed_advise_test {

using namespace belay_test;

class ManagedAdvise : public OnTwoDevices {};

constexpr std::int32_t kDevices = 8;

struct Call {
  const void* start;
  std::uint64_t size;
  int what;
  aclrtMemManagedLocation where_to;
  Where where = Where::own;
  int run() const { return advise(start, size, what, where_to); }
};

enum Argument : unsigned { kStart = 1, kSize = 2, kWhat = 4, kTo = 8, kWhere = 16 };

TEST_F(ManagedAdvise, V287_V288_V289_V290_V291_V292_V293_TheFirstMistakeDecides) {
  const Contexts contexts;
  const Managed block{kManagedPage};
  Managed gone{kManagedPage};
  void* const was = gone.free_now();
  int local = 0;
  const std::vector<Mistake<Call>> in_order = {
      {"V-287", kBadArgument, kStart, [](Call& c) { c.start = nullptr; }},
      {"V-287", kBadArgument, kSize, [](Call& c) { c.size = 0; }},
      {"V-288", kBadValue, kWhat, [](Call& c) { c.what = 6; }},
      {"V-289", kBadValue, kTo, [](Call& c) { c.where_to = device_side(kDevices); }},
      {"V-290", kNoContext, kWhere, [](Call& c) { c.where = Where::none; }},
      {"V-291", kBadValue, kStart, [&](Call& c) { c.start = &local; }},
      {"V-292", kRefused, kStart, [&](Call& c) { c.start = was; }},
      {"V-293", kRefused, kTo, [](Call& c) { c.where_to = no_side(); }}};
  expect_order("aclrtMemManagedAdvise", contexts,
               Call{block.get(), 64, ACL_MEM_ADVISE_SET_ACCESSED_BY, host_side()}, in_order);
  EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{}) << "none of them had an effect";
}

TEST_F(ManagedAdvise, V288_NumbersThatAreNoAdvise) {
  const Managed block{64};
  for (const int what : {6, 7, 100, 0x7FFFFFFF, -1})
    EXPECT_EQ(advise(block.get(), 64, what, device_side(0)), kBadValue) << what;
  EXPECT_EQ(last_error(), kBadValue);
}

TEST_F(ManagedAdvise, V289_DevicesThatAreNone_Are107000ForEveryAdviseThatNamesOne) {
  const Managed block{64};
  for (const std::int32_t id : {-1, kDevices, kDevices + 1, 64, 0x7FFFFFFF, -0x7FFFFFFF - 1}) {
    for (const int what : {ACL_MEM_ADVISE_UNSET_READ_MOSTLY, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION,
                           ACL_MEM_ADVISE_SET_ACCESSED_BY, ACL_MEM_ADVISE_UNSET_ACCESSED_BY}) {
      EXPECT_EQ(advise(block.get(), 64, what, device_side(id)), kBadValue) << what << " for " << id;
    }
  }
  EXPECT_EQ(used_by(block.get(), 64, device_side(kDevices - 1)), ACL_SUCCESS) << "the last one";
  EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{kDevices - 1});
}

TEST_F(ManagedAdvise, V291_WhatIsNoManagedAddress) {
  const Device device{64};
  const Pinned pinned{64};
  int local = 0;
  for (const void* start : {device.get(), pinned.get(), static_cast<void*>(&local), sentinel()}) {
    EXPECT_EQ(read_mostly(start, 1), kBadValue) << start;
    EXPECT_EQ(prefer(start, 1, host_side()), kBadValue) << start;
  }
}

TEST_F(ManagedAdvise, V291_ARangeThatLeavesTheWindow) {
  if (kUnderASanitizer) GTEST_SKIP() << "the window lies elsewhere under a sanitizer";
  constexpr std::size_t three_tera = 3072 * kGB;
  const Managed all{three_tera};
  EXPECT_EQ(read_mostly(all.get(three_tera - 1), 1), ACL_SUCCESS) << "the last byte";
  EXPECT_EQ(read_mostly(all.get(three_tera - 1), 2), kBadValue);
  EXPECT_EQ(read_mostly(at(all.get(), 0) - 1, 2), kBadValue);
  EXPECT_EQ(read_mostly(all.get(1), ~std::uint64_t{0}), kBadValue) << "an end that wraps";
}

TEST_F(ManagedAdvise, V292_ARangeThatIsNotEntirelyInLiveBlocks) {
  const Managed block{2 * kManagedPage};
  EXPECT_EQ(read_mostly(block.get(), 2 * kManagedPage), ACL_SUCCESS);
  EXPECT_EQ(no_longer_read_mostly(block.get(), 2 * kManagedPage, no_side()), ACL_SUCCESS);
  for (const std::size_t size : {2 * kManagedPage + 1, 3 * kManagedPage, 64 * kManagedPage})
    EXPECT_EQ(read_mostly(block.get(), size), kRefused) << size;
  EXPECT_FALSE(is_read_mostly(block.page(0), 1)) << "nothing of it was done";
  EXPECT_FALSE(is_read_mostly(block.page(1), 1));
}

TEST_F(ManagedAdvise, V293_INVALIDWhereALocationIsNeeded) {
  const Managed block{64};
  for (const int what : {ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, ACL_MEM_ADVISE_SET_ACCESSED_BY,
                         ACL_MEM_ADVISE_UNSET_ACCESSED_BY}) {
    EXPECT_EQ(advise(block.get(), 64, what, no_side()), kRefused) << what;
    EXPECT_EQ(advise(block.get(), 64, what, no_side(1)), kRefused) << what;
  }
  for (const int what : {ACL_MEM_ADVISE_SET_READ_MOSTLY, ACL_MEM_ADVISE_UNSET_READ_MOSTLY,
                         ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION}) {
    EXPECT_EQ(advise(block.get(), 64, what, no_side()), ACL_SUCCESS) << what;
  }
}

std::int32_t node_of_this_thread() {
  unsigned processor = 0, node = 0;
  EXPECT_EQ(::getcpu(&processor, &node), 0);
  return static_cast<std::int32_t>(node);
}

// A thread may be moved to another node between two lines, so it is tried until it was not.
TEST_F(ManagedAdvise, V294_V298_HOST_NUMA_CURRENT_IsTheNodeOfTheThread_WhateverTheId) {
  for (const std::int32_t id : {0, 1, -1, 99, 0x7FFFFFFF}) {
    bool sure = false;
    for (int attempt = 0; attempt < 100 && !sure; ++attempt) {
      const Managed block{64};
      const std::int32_t node = node_of_this_thread();
      EXPECT_EQ(prefer(block.get(), 64, this_node_side(id)), ACL_SUCCESS) << id;
      EXPECT_EQ(used_by(block.get(), 64, this_node_side(id)), ACL_SUCCESS) << id;
      sure = node == node_of_this_thread();
      if (!sure) continue;
      EXPECT_EQ(preferred(block.get(), 64), reported_node(node)) << id;
      EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{node}) << id;
    }
    EXPECT_TRUE(sure);
  }
}

TEST_F(ManagedAdvise, V295_V316_ANodeMayBeAnAccessor) {
  const Managed block{64};
  EXPECT_EQ(used_by(block.get(), 64, node_side(0)), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{0});
  EXPECT_EQ(no_longer_used_by(block.get(), 64, node_side(0)), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{});
}

TEST_F(ManagedAdvise, V296_V297_AnAdviseGoesToEveryPageItTouches) {
  struct Case {
    std::size_t start, size, first, last;
  };
  for (const Case& test : {Case{0, 1, 0, 0}, Case{kManagedPage - 1, 1, 0, 0}, Case{kManagedPage - 1, 2, 0, 1},
                           Case{kManagedPage, 1, 1, 1}, Case{kManagedPage, kManagedPage, 1, 1},
                           Case{kManagedPage, kManagedPage + 1, 1, 2}, Case{1, 4 * kManagedPage - 2, 0, 3},
                           Case{3 * kManagedPage - 1, kManagedPage, 2, 3}}) {
    const Managed block{4 * kManagedPage};
    EXPECT_EQ(used_by(block.get(test.start), test.size, device_side(1)), ACL_SUCCESS);
    for (std::size_t page = 0; page < 4; ++page) {
      EXPECT_EQ(users(block.page(page), kManagedPage).size(),
                page >= test.first && page <= test.last ? 1U : 0U)
          << page << " of " << test.start << " + " << test.size;
    }
  }
}

TEST_F(ManagedAdvise, V297_AnAdviseGoesWithItsBlock) {
  for (int round = 0; round < 4; ++round) {
    const Managed block{kManagedPage};
    EXPECT_FALSE(is_read_mostly(block.get(), 1)) << round;
    EXPECT_EQ(preferred(block.get(), 1), kReportedNothing) << round;
    EXPECT_EQ(users(block.get(), 1), std::vector<std::int32_t>{}) << round;
    EXPECT_EQ(used_by(block.get(), 1, device_side(round)), ACL_SUCCESS);
    EXPECT_EQ(prefer(block.get(), 1, host_side()), ACL_SUCCESS);
    EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
  }
}

TEST_F(ManagedAdvise, V296_V292_ARangeMaySpanBlocksThatAreNeighbours) {
  std::vector<std::unique_ptr<Managed>> blocks;
  std::set<std::uintptr_t> starts;
  for (int i = 0; i < 16; ++i) {
    blocks.push_back(std::make_unique<Managed>(kManagedPage));
    starts.insert(number(blocks.back()->get()));
  }
  const auto low = std::find_if(starts.begin(), starts.end(),
                                [&](std::uintptr_t start) { return starts.contains(start + kManagedPage); });
  if (low == starts.end()) GTEST_SKIP() << "no two of 16 blocks are neighbours";
  void* const start = reinterpret_cast<void*>(*low);
  EXPECT_EQ(used_by(start, 2 * kManagedPage, host_side()), ACL_SUCCESS);
  EXPECT_EQ(users(start, 2 * kManagedPage), std::vector<std::int32_t>{-1});
  EXPECT_EQ(users(at(start, kManagedPage), 1), std::vector<std::int32_t>{-1});
}

TEST_F(ManagedAdvise, V298_TheIdOfTheHostDoesNotMatter) {
  const Managed block{64};
  for (const std::int32_t id : {1, -1, 99}) {
    EXPECT_EQ(prefer(block.get(), 64, host_side(id)), ACL_SUCCESS) << id;
    EXPECT_EQ(preferred(block.get(), 64), kReportedHost) << id;
    EXPECT_EQ(used_by(block.get(), 64, host_side(id)), ACL_SUCCESS) << id;
    EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{-1}) << id;
  }
  EXPECT_EQ(no_longer_used_by(block.get(), 64, host_side(7)), ACL_SUCCESS);
  EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{});
}

TEST_F(ManagedAdvise, V305_TwiceOrForNothing) {
  const Managed block{64};
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(no_longer_read_mostly(block.get(), 64, no_side()), ACL_SUCCESS);
    EXPECT_EQ(prefer_nothing(block.get(), 64), ACL_SUCCESS);
    EXPECT_EQ(no_longer_used_by(block.get(), 64, device_side(1)), ACL_SUCCESS);
  }
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(used_by(block.get(), 64, device_side(1)), ACL_SUCCESS);
    EXPECT_EQ(prefer(block.get(), 64, host_side()), ACL_SUCCESS);
    EXPECT_EQ(read_mostly(block.get(), 64), ACL_SUCCESS);
  }
  EXPECT_EQ(users(block.get(), 64), std::vector<std::int32_t>{1}) << "once in the list";
}

}  // namespace managed_advise_test
