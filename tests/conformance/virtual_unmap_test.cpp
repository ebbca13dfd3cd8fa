// aclrtUnmapMem, and aclrtMemMapNoAccess as far as it is not the same as aclrtMapMem.
#include "support/gates.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_unmap_test {

using namespace belay_test;

class Unmap : public OnDevice {};
class NoAccess : public OnDevice {};

TEST_F(Unmap, V161_NullIs100000) { expect_not_stored(aclrtUnmapMem(nullptr), kBadArgument, "aclrtUnmapMem"); }

TEST_F(Unmap, V162_V449_V13_D95_OnlyTheStartOfALiveMapping) {
  const Reserved place{16 * kMB};
  const Physical memory{4 * kMB};
  Mapped mapped{place.get(4 * kMB), memory};
  write_to(mapped.get(), pattern(64, 1));
  const Device block{64};
  int local = 0;
  for (void* where :
       {place.get(), place.get(2 * kMB), mapped.get(1), mapped.get(4096), mapped.get(k2MB),
        mapped.get(4 * kMB - 1), place.get(8 * kMB), block.get(), static_cast<void*>(&local), sentinel()})
    expect_stored(aclrtUnmapMem(where), kRefused, "aclrtUnmapMem");
  EXPECT_EQ(read_from(mapped.get(), 64), pattern(64, 1));
  void* const was = mapped.unmap_now();
  expect_stored(aclrtUnmapMem(was), kRefused, "aclrtUnmapMem");
}

TEST_F(Unmap, V163_V185_OneWholeMapping_WithItsGrants) {
  const Reserved place{8 * kMB};
  const Physical memory{4 * kMB}, second;
  Mapped mapped{place.get(), memory};
  const Mapped neighbour{place.get(4 * kMB), second};
  ASSERT_EQ(set_access(mapped.get(), 4 * kMB, grant_device(3)), ACL_SUCCESS);
  write_to(mapped.get(4 * kMB - 10), pattern(20, 1));  // over the border
  mapped.unmap_now();
  for (const std::size_t offset : {std::size_t{0}, k2MB, 4 * kMB - 1})
    EXPECT_EQ(aclrtMemset(place.get(offset), 1, 1, 1), kRefused) << offset;
  const Bytes written = pattern(20, 1);
  EXPECT_EQ(read_from(neighbour.get(), 10), Bytes(written.begin() + 10, written.end()));
  const Mapped again{place.get(), memory};
  EXPECT_EQ(access_of_device(again.get(), 3), 0U) << "the grant went with its mapping";
  EXPECT_EQ(access_of_device(again.get(), 0), 3U);
}

TEST_F(Unmap, V164_V33_V457_TheLastUnmappingGivesTheMemoryBack) {
  const Reserved place{8 * kMB};
  Physical memory{4 * kMB};
  Mapped first{place.get(), memory}, second{place.get(4 * kMB), memory};
  memory.free_now();
  EXPECT_EQ(free_before_ - free_bytes(), 4 * kMB);
  first.unmap_now();
  EXPECT_EQ(free_before_ - free_bytes(), 4 * kMB);
  second.unmap_now();
  EXPECT_EQ(free_bytes(), free_before_);
}

TEST_F(Unmap, V165_C18_TheAddressesCanBeMappedAgain) {
  const Reserved place{4 * kMB};
  const Physical first{4 * kMB}, second{4 * kMB}, half;
  for (int round = 0; round < 20; ++round) {
    const Mapped mapped{place.get(), round % 2 == 0 ? first : second};
    if (round >= 2) {
      EXPECT_EQ(read_from(mapped.get(100), 50), pattern(50, static_cast<unsigned>(round - 2)));
    }
    write_to(mapped.get(100), pattern(50, static_cast<unsigned>(round)));
  }
  const Mapped one{place.get(), half}, two{place.get(k2MB), half};
}

TEST_F(Unmap, V167_V20_NothingWaitsForAStream) {
  Reserved place{k2MB};
  Physical memory;
  Mapped mapped{place.get(), memory};
  Stream stream;
  EventGate hold{stream};
  Marks marks;
  marks.queue(stream);
  mapped.unmap_now();
  memory.free_now();
  place.release_now();
  const MappedBlock other;
  EXPECT_FALSE(marks.set()) << "the stream was still held";
  hold.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

TEST_F(NoAccess, V157_V159_V160_NobodyMayUseItBeforeAGrant) {
  const Reserved place{4 * kMB};
  const Physical memory{4 * kMB};
  {
    const Mapped before{place.get(), memory};
    write_to(before.get(), pattern(4096, 1));
  }
  ASSERT_EQ(aclrtMemMapNoAccess(place.get(), 4 * kMB, 0, memory, 0), ACL_SUCCESS);
  for (std::uint32_t device = 0; device < 8; ++device) EXPECT_EQ(access_of_device(place.get(), device), 0U);
  EXPECT_EQ(access_of_host(place.get()), 0U);
  Bytes host(64);
  const Device block{64};
  Stream stream;
  const Pinned pinned{64};
  for (const std::size_t offset : {std::size_t{0}, k2MB, 4 * kMB - 64}) {
    void* const where = place.get(offset);
    EXPECT_EQ(aclrtMemcpy(host.data(), 64, where, 64, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
    EXPECT_EQ(aclrtMemcpy(where, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
    EXPECT_EQ(aclrtMemcpy(where, 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
    EXPECT_EQ(aclrtMemset(where, 64, 0, 64), kRefused);
    EXPECT_EQ(aclrtMemsetAsync(where, 64, 0, 64, stream), kRefused);
    EXPECT_EQ(aclrtMemcpyAsync(where, 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), kRefused);
    EXPECT_EQ(last_error(), kRefused);
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  ASSERT_EQ(set_access(place.get(), 4 * kMB, grant_device(0)), ACL_SUCCESS);
  EXPECT_EQ(access_of_device(place.get(), 0), 3U);
  EXPECT_EQ(read_from(place.get(), 4096), pattern(4096, 1)) << "V-155";
  EXPECT_EQ(aclrtMemset(place.get(), 64, 0, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
}

TEST_F(NoAccess, V157_V160_ARangeThatReachesIntoItIsRefused) {
  const Reserved place{4 * kMB};
  const Physical first, second;
  const Mapped open{place.get(), first};
  write_to(place.get(k2MB - 8), pattern(8, 2));
  ASSERT_EQ(aclrtMemMapNoAccess(place.get(k2MB), k2MB, 0, second, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(place.get(k2MB - 8), 16, 0, 16), kRefused);
  EXPECT_EQ(read_from(place.get(k2MB - 8), 8), pattern(8, 2)) << "nothing of it was done";
  EXPECT_EQ(aclrtUnmapMem(place.get(k2MB)), ACL_SUCCESS);
}

TEST_F(NoAccess, V157_V29_V95_OtherwiseItIsAMappingLikeAnyOther) {
  Reserved place{4 * kMB};
  Physical memory;
  ASSERT_EQ(aclrtMemMapNoAccess(place.get(), k2MB, 0, memory, 0), ACL_SUCCESS);
  EXPECT_EQ(map(place.get(), k2MB, memory), kRefused);
  EXPECT_EQ(aclrtReleaseMemAddress(place.get()), kRefused);
  aclrtDrvMemHandle retained = nullptr;
  EXPECT_EQ(aclrtMemRetainAllocationHandle(place.get(), &retained), ACL_SUCCESS);
  EXPECT_EQ(retained, memory.get());
  EXPECT_EQ(aclrtFreePhysical(retained), ACL_SUCCESS);
  void* base = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(aclrtMemGetAddressRange(place.get(5), &base, &size), ACL_SUCCESS);
  EXPECT_EQ(base, place.get());
  EXPECT_EQ(size, k2MB);
  memory.free_now();
  EXPECT_EQ(free_before_ - free_bytes(), k2MB) << "the mapping holds it";
  EXPECT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), free_before_);
}

}  // namespace virtual_unmap_test
