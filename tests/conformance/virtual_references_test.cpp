// How long physical memory lives: references, mappings, and aclrtMemRetainAllocationHandle.
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_references_test {

using namespace belay_test;

class Retain : public OnDevice {
 protected:
  std::size_t taken() const { return free_before_ - free_bytes(); }
};
class References : public Retain {};

const std::string kRetain = "aclrtMemRetainAllocationHandle";

TEST_F(Retain, V191_NullIs100000) {
  const MappedBlock here;
  aclrtDrvMemHandle handle = sentinel();
  expect_not_stored(aclrtMemRetainAllocationHandle(nullptr, &handle), kBadArgument, kRetain);
  expect_not_stored(aclrtMemRetainAllocationHandle(here.get(), nullptr), kBadArgument, kRetain);
  EXPECT_EQ(handle, sentinel());
}

TEST_F(Retain, V192_D97_OnlyTheStartOfAMapping) {
  const Reserved place{16 * kMB}, never{16 * kMB};
  const Physical memory{4 * kMB};
  const Mapped mapped{place.get(4 * kMB), memory};
  aclrtDrvMemHandle handle = sentinel();
  for (void* where :
       {mapped.get(1), mapped.get(k2MB), mapped.get(4 * kMB - 1), place.get(), place.get(8 * kMB)})
    expect_stored(aclrtMemRetainAllocationHandle(where, &handle), kRefused, kRetain);
  const Device block{64};
  int local = 0;
  for (void* where : {never.get(), never.get(k2MB), block.get(), static_cast<void*>(&local), sentinel()})
    expect_stored(aclrtMemRetainAllocationHandle(where, &handle), kStale, kRetain);
  EXPECT_EQ(handle, sentinel()) << "V-17";
}

TEST_F(Retain, V193_V30_V131_V453_TheSameHandle_AlsoAfterItsFree) {
  const Reserved place{4 * kMB};
  Physical memory;
  Mapped mapped{place.get(), memory};
  void* const handle = memory.free_now();
  for (int i = 0; i < 3; ++i) {
    aclrtDrvMemHandle retained = nullptr;
    ASSERT_EQ(aclrtMemRetainAllocationHandle(mapped.get(), &retained), ACL_SUCCESS);
    EXPECT_EQ(retained, handle);
  }
  mapped.unmap_now();
  EXPECT_EQ(taken(), k2MB) << "three references are left";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(taken(), k2MB);
    EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  }
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(aclrtFreePhysical(handle), kBadValue);
}

TEST_F(Retain, V195_WhoMappedItDoesNotMatter) {
  const MappedBlock here;
  without_context([&] {
    aclrtDrvMemHandle retained = nullptr;
    ASSERT_EQ(aclrtMemRetainAllocationHandle(here.get(), &retained), ACL_SUCCESS)
        << "another thread, no context";
    EXPECT_EQ(retained, here.memory.get());
    const Reserved elsewhere{k2MB};
    { const Mapped second{elsewhere.get(), k2MB, retained}; }
    EXPECT_EQ(aclrtFreePhysical(retained), ACL_SUCCESS);
  });
}

TEST_F(Retain, V192_V195_EachMappingOfAHandleGivesIt) {
  const Reserved place{4 * kMB};
  const Physical memory;
  const Mapped first{place.get(), memory}, second{place.get(k2MB), memory};
  for (void* where : {first.get(), second.get()}) {
    aclrtDrvMemHandle retained = nullptr;
    ASSERT_EQ(aclrtMemRetainAllocationHandle(where, &retained), ACL_SUCCESS);
    EXPECT_EQ(retained, memory.get());
    EXPECT_EQ(aclrtFreePhysical(retained), ACL_SUCCESS);
  }
}

TEST_F(References, V28_V32_D88_OneReferenceAtFirst_AtOnceGiven_AtOnceBack) {
  Physical memory{4 * kMB};
  EXPECT_EQ(taken(), 4 * kMB);
  void* const handle = memory.free_now();
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(aclrtFreePhysical(handle), kBadValue) << "there was one";
}

TEST_F(References, V29_V33_V128_D94_EachMappingHoldsTheMemory) {
  const Reserved place{8 * kMB};
  Physical memory;
  std::vector<std::unique_ptr<Mapped>> all;
  for (const std::size_t offset : {0U, 2U, 4U, 6U})
    all.push_back(std::make_unique<Mapped>(place.get(offset * kMB), memory));
  write_to(all[0]->get(), pattern(100, 1));
  memory.free_now();
  for (std::size_t left = all.size(); left > 0; --left) {
    EXPECT_EQ(taken(), k2MB);
    EXPECT_EQ(read_from(all.back()->get(), 100), pattern(100, 1)) << left;
    all.pop_back();
  }
  EXPECT_EQ(taken(), 0U);
}

TEST_F(References, V34_V452_V128_D94_OneFreeTooManyChangesNothing) {
  const Reserved place{4 * kMB};
  Physical memory;
  Mapped mapped{place.get(), memory};
  write_to(mapped.get(), pattern(100, 1));
  void* const handle = memory.free_now();
  for (int i = 0; i < 3; ++i) expect_stored(aclrtFreePhysical(handle), kBadValue, "aclrtFreePhysical");
  EXPECT_EQ(read_from(mapped.get(), 100), pattern(100, 1));
  EXPECT_EQ(taken(), k2MB);
  mapped.unmap_now();
  EXPECT_EQ(taken(), 0U);
}

TEST_F(References, V35_V127_V197_ADeadHandle) {
  const Reserved place{4 * kMB};
  Physical memory;
  void* const handle = memory.free_now();
  aclrtPhysicalMemProp prop{};
  EXPECT_EQ(map(place.get(), k2MB, handle), kBadValue);
  EXPECT_EQ(aclrtMemMapNoAccess(place.get(), k2MB, 0, handle, 0), kBadValue);
  EXPECT_EQ(aclrtFreePhysical(handle), kBadValue);
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &prop), kBadArgument);
  Physical other;  // mapped, freed, unmapped: dead as well
  Mapped mapped{place.get(), other};
  void* const second = other.free_now();
  mapped.unmap_now();
  EXPECT_EQ(map(place.get(), k2MB, second), kBadValue);
  EXPECT_EQ(aclrtFreePhysical(second), kBadValue);
}

TEST_F(References, V36_AFreedHandleThatIsMappedStillWorks) {
  const Reserved place{6 * kMB};
  Physical memory;
  Mapped first{place.get(), memory};
  write_to(first.get(), pattern(100, 1));
  void* const handle = memory.free_now();
  Mapped second{place.get(k2MB), k2MB, handle};
  EXPECT_EQ(read_from(second.get(), 100), pattern(100, 1));
  aclrtPhysicalMemProp prop{};
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &prop), ACL_SUCCESS);
  first.unmap_now();
  EXPECT_EQ(taken(), k2MB) << "the second mapping holds it";
  EXPECT_EQ(aclrtFreePhysical(handle), kBadValue);
  second.unmap_now();
  EXPECT_EQ(taken(), 0U);
}

TEST_F(References, V37_NothingButCreatingAndTheEndChangesTheFigures) {
  const Reserved place{4 * kGB};
  Physical memory{20 * kMB}, giant{1, of_device(0, ACL_MEM_HUGE1G)}, host{8 * kMB, of_host()};
  const std::size_t expected = 20 * kMB + kGB;
  EXPECT_EQ(taken(), expected);
  Mapped first{place.get(), memory};
  EXPECT_EQ(taken(), expected);
  Mapped second{place.get(kGB), kGB, giant};
  write_to(second.get(kGB - 100), pattern(100, 1));
  EXPECT_EQ(taken(), expected);
  ASSERT_EQ(set_access(first.get(), 20 * kMB, grant_device(1)), ACL_SUCCESS);
  first.unmap_now();
  EXPECT_EQ(taken(), expected) << "unmapped memory counts as well";
  memory.free_now();
  EXPECT_EQ(taken(), kGB);
  giant.free_now();
  EXPECT_EQ(taken(), kGB);
  second.unmap_now();
  EXPECT_EQ(taken(), 0U);
}

}  // namespace virtual_references_test
