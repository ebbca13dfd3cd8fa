// aclrtReleaseMemAddress.
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_release_test {

using namespace belay_test;

class Release : public OnDevice {};

TEST_F(Release, V93_NullIs100000) {
  expect_not_stored(aclrtReleaseMemAddress(nullptr), kBadArgument, "aclrtReleaseMemAddress");
}

TEST_F(Release, V94_V97_OnlyTheStartOfALiveReservation) {
  Reserved place{8 * kMB};
  const Device block{64};
  const Pinned pinned{64};
  int local = 0;
  for (void* where : {place.get(1), place.get(4096), place.get(k2MB), place.get(8 * kMB - 1), block.get(),
                      pinned.get(), static_cast<void*>(&local), sentinel()})
    expect_stored(aclrtReleaseMemAddress(where), kBadValue, "aclrtReleaseMemAddress");
  void* const was = place.release_now();
  expect_stored(aclrtReleaseMemAddress(was), kBadValue, "aclrtReleaseMemAddress");
}

TEST_F(Release, V95_V18_WhileAnythingIsMapped_507899AndNothingChanges) {
  for (const std::size_t offset : {std::size_t{0}, k2MB, 6 * kMB}) {
    Reserved place{8 * kMB};
    const Physical memory;
    Mapped mapped{place.get(offset), memory};
    write_to(mapped.get(), pattern(100, 3));
    for (int i = 0; i < 2; ++i)
      expect_stored(aclrtReleaseMemAddress(place.get()), kRefused, "aclrtReleaseMemAddress");
    EXPECT_EQ(read_from(mapped.get(), 100), pattern(100, 3));
    EXPECT_EQ(map(place.get(offset == 0 ? k2MB : 0), k2MB, memory), ACL_SUCCESS) << "still reserved";
    EXPECT_EQ(aclrtUnmapMem(place.get(offset == 0 ? k2MB : 0)), ACL_SUCCESS);
    mapped.unmap_now();
  }
}

TEST_F(Release, V96_V130_C18_HandlesAreFreedBeforeItOrAfterIt) {
  for (const bool free_first : {true, false}) {
    Reserved place{k2MB};
    Physical memory;
    { const Mapped mapped{place.get(), memory}; }
    if (free_first) memory.free_now();
    place.release_now();
    if (!free_first) memory.free_now();
    EXPECT_EQ(free_bytes(), free_before_);
  }
}

TEST_F(Release, V97_D82_FreeRefusesReservedAndMappedAddresses) {
  const Reserved place{8 * kMB};
  const Physical memory;
  const Mapped mapped{place.get(k2MB), memory};
  for (void* where : {place.get(), mapped.get(), mapped.get(1), place.get(6 * kMB)}) {
    EXPECT_EQ(aclrtFree(where), kBadValue);
    EXPECT_EQ(aclrtFreeHost(where), kBadValue);
  }
  EXPECT_EQ(aclrtMemset(mapped.get(), 8, 1, 8), ACL_SUCCESS) << "nothing was freed";
}

TEST_F(Release, V98_V148_TheNextReservationOfTheseAddressesIsBoundToNobody) {
  const AlsoOpen other{1};
  const Physical here, there{k2MB, of_device(1)};
  Reserved place{k2MB};
  { const Mapped mapped{place.get(), here}; }
  EXPECT_EQ(map(place.get(), k2MB, there), kRefused);
  void* const where = place.release_now();
  const Reserved again{k2MB, where};
  const Mapped mapped{again.get(), there};
}

}  // namespace virtual_release_test
