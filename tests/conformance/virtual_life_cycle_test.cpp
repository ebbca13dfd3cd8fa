// Every order of calls that has a rule: reserve, create, map, use, unmap, free, release.
#include "support/virtual_memory.h"

namespace virtual_life_cycle_test {

using namespace belay_test;

// The calls, step by step, so that a test reads like its rule.
class LifeCycle : public OnDevice {
 protected:
  void reserve_(std::size_t size = 8 * kMB) { ASSERT_EQ(belay_test::reserve(&place_, size), ACL_SUCCESS); }
  void create(std::size_t size = k2MB) {
    size_ = size;
    const aclrtPhysicalMemProp prop = of_device();
    ASSERT_EQ(aclrtMallocPhysical(&handle_, size, &prop, 0), ACL_SUCCESS);
  }
  int map_(std::size_t offset = 0) { return map(at(place_, offset), size_, handle_); }
  int unmap(std::size_t offset = 0) { return aclrtUnmapMem(at(place_, offset)); }
  int free_() { return aclrtFreePhysical(handle_); }
  int release() { return aclrtReleaseMemAddress(place_); }
  void use(std::size_t offset = 0) {
    write_to(at(place_, offset), pattern(500, 7));
    EXPECT_EQ(read_from(at(place_, offset), 500), pattern(500, 7));
  }
  std::size_t taken() const { return free_before_ - free_bytes(); }

  void* place_ = nullptr;
  aclrtDrvMemHandle handle_ = nullptr;
  std::size_t size_ = 0;
};

TEST_F(LifeCycle, V440_ReserveCreateMapUseUnmapFreeRelease) {
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  use();
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V441_V130_ReserveCreateMapUnmapReleaseFree) {
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
  EXPECT_EQ(taken(), k2MB);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(taken(), 0U);
}

TEST_F(LifeCycle, V442_V130_CreateReserveMapFreeUseUnmapRelease) {
  create();
  reserve_();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  use();
  EXPECT_EQ(taken(), k2MB);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V443_V13_ReleaseWhileMapped) {
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  use();
  EXPECT_EQ(release(), kRefused);
  EXPECT_EQ(read_from(place_, 500), pattern(500, 7));
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V444_V13_MapTwiceAtOneAddress) {
  reserve_();
  create();
  const Physical other;
  EXPECT_EQ(map_(), ACL_SUCCESS);
  use();
  EXPECT_EQ(map_(), kRefused);
  EXPECT_EQ(map(place_, k2MB, other), kRefused);
  EXPECT_EQ(read_from(place_, 500), pattern(500, 7));
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(unmap(), kRefused) << "there was only one";
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V445_OneHandleAtTwoAddresses) {
  reserve_();
  create();
  EXPECT_EQ(map_(0), ACL_SUCCESS);
  EXPECT_EQ(map_(4 * kMB), ACL_SUCCESS);
  use(0);
  EXPECT_EQ(read_from(at(place_, 4 * kMB), 500), pattern(500, 7));
  EXPECT_EQ(unmap(0), ACL_SUCCESS);
  EXPECT_EQ(read_from(at(place_, 4 * kMB), 500), pattern(500, 7));
  EXPECT_EQ(release(), kRefused);
  EXPECT_EQ(unmap(4 * kMB), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V446_V13_UnmapTwice) {
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(unmap(), kRefused);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V447_MapUnmapMapAgain_HereAndElsewhere) {
  reserve_();
  create();
  EXPECT_EQ(map_(0), ACL_SUCCESS);
  use(0);
  std::size_t where = 0;
  for (const std::size_t next : {std::size_t{0}, k2MB, 6 * kMB, std::size_t{0}}) {
    EXPECT_EQ(unmap(where), ACL_SUCCESS);
    where = next;
    EXPECT_EQ(map_(where), ACL_SUCCESS);
    EXPECT_EQ(read_from(at(place_, where), 500), pattern(500, 7)) << where;
  }
  EXPECT_EQ(unmap(where), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V448_V148_V98_MemoryOfAnotherDeviceInTheSameReservation) {
  const AlsoOpen other{1};
  const Physical there{k2MB, of_device(1)};
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(map(place_, k2MB, there), kRefused);
  EXPECT_EQ(release(), ACL_SUCCESS);
  reserve_();
  EXPECT_EQ(map(place_, k2MB, there), ACL_SUCCESS);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V449_UnmapInTheMiddle) {
  reserve_();
  create(4 * kMB);
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(unmap(k2MB), kRefused);
  use(k2MB);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V450_OfTwoNeighboursTheFirstGoes) {
  reserve_();
  create();
  const Physical second;
  EXPECT_EQ(map_(0), ACL_SUCCESS);
  EXPECT_EQ(map(at(place_, k2MB), k2MB, second), ACL_SUCCESS);
  use(k2MB);
  EXPECT_EQ(unmap(0), ACL_SUCCESS);
  EXPECT_EQ(read_from(at(place_, k2MB), 500), pattern(500, 7));
  EXPECT_EQ(aclrtMemset(place_, 1, 1, 1), kRefused);
  EXPECT_EQ(unmap(k2MB), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V451_FreeTwice) {
  create();
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(free_(), kBadValue);
}

TEST_F(LifeCycle, V452_MapFreeFree) {
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(free_(), kBadValue);
  use();
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V453_V97_MapRetainFreeFreeUnmap) {
  reserve_();
  create();
  EXPECT_EQ(map_(), ACL_SUCCESS);
  aclrtDrvMemHandle retained = nullptr;
  EXPECT_EQ(aclrtMemRetainAllocationHandle(place_, &retained), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(retained), ACL_SUCCESS);
  use();
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V454_V455_ReleaseTwice_WithoutAMapping) {
  reserve_();
  EXPECT_EQ(release(), ACL_SUCCESS);
  EXPECT_EQ(release(), kBadValue);
}

TEST_F(LifeCycle, V456_V118_UntilTheDeviceIsFull_ThenOneGoes) {
  std::vector<aclrtDrvMemHandle> all;
  const aclrtPhysicalMemProp prop = of_device();
  int answer = 0;
  while ((answer = aclrtMallocPhysical(&handle_, 6 * kGB, &prop, 0)) == ACL_SUCCESS) all.push_back(handle_);
  EXPECT_EQ(answer, kShortage);
  ASSERT_EQ(all.size(), free_before_ / (6 * kGB));
  EXPECT_EQ(aclrtFreePhysical(all[1]), ACL_SUCCESS);
  EXPECT_EQ(aclrtMallocPhysical(&all[1], 6 * kGB, &prop, 0), ACL_SUCCESS);
  for (aclrtDrvMemHandle handle : all) EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

TEST_F(LifeCycle, V457_FreedWhileMappedOnAFullDevice) {
  const aclrtPhysicalMemProp prop = of_device();
  create(free_before_);
  reserve_(free_before_);
  EXPECT_EQ(map_(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
  aclrtDrvMemHandle next = nullptr;
  EXPECT_EQ(aclrtMallocPhysical(&next, k2MB, &prop, 0), kShortage);
  EXPECT_EQ(unmap(), ACL_SUCCESS);
  EXPECT_EQ(aclrtMallocPhysical(&next, free_before_, &prop, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(next), ACL_SUCCESS);
  EXPECT_EQ(release(), ACL_SUCCESS);
}

TEST_F(LifeCycle, V459_V140_BeyondTheEnd_NothingIsMapped) {
  reserve_(4 * kMB);
  create(4 * kMB);
  EXPECT_EQ(map_(k2MB), kRefused);
  EXPECT_EQ(aclrtMemset(at(place_, k2MB), 1, 1, 1), kRefused);
  EXPECT_EQ(unmap(k2MB), kRefused);
  EXPECT_EQ(release(), ACL_SUCCESS);
  EXPECT_EQ(free_(), ACL_SUCCESS);
}

}  // namespace virtual_life_cycle_test
