// aclrtMapMem: the checks, in their order, and where memory can be mapped.
#include "support/fresh_process.h"
#include "support/mistakes.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_map_test {

using namespace belay_test;

class MapMem : public OnDevice {};

using Function = aclError (*)(void*, std::size_t, std::size_t, aclrtDrvMemHandle, std::uint64_t);
struct Named {
  const char* name;
  Function call;
};
const Named kBoth[] = {{"aclrtMapMem", &::aclrtMapMem}, {"aclrtMemMapNoAccess", &::aclrtMemMapNoAccess}};

struct Call {
  Function function;
  void* place;
  std::size_t size;
  aclrtDrvMemHandle handle;
  std::size_t offset = 0;
  std::uint64_t flags = 0;
  Where where = Where::none;  // no context is needed
  int run() const { return function(place, size, offset, handle, flags); }
};

enum Argument : unsigned { kPlace = 1, kHandle = 2, kSize = 4, kFlags = 8, kOffset = 16 };

TEST_F(MapMem,
       V132_V133_V134_V135_V136_V137_V138_V139_V140_V141_V142_V144_V145_V156_V10_TheFirstMistakeDecides) {
  const Contexts contexts;
  const AlsoOpen other{1};
  const Physical memory{4 * kMB}, there{4 * kMB, of_device(1)};
  const Reserved place{16 * kMB};
  const Mapped taken{place.get(8 * kMB), memory};
  Physical gone;
  void* const dead = gone.free_now();
  for (const Named& function : kBoth) {
    const std::vector<Mistake<Call>> in_order = {
        {"V-132", kBadArgument, kPlace, [](Call& c) { c.place = nullptr; }},
        {"V-133", kBadArgument, kHandle, [](Call& c) { c.handle = nullptr; }},
        {"V-134", kBadArgument, kSize, [](Call& c) { c.size = 0; }},
        {"V-135", kBadArgument, kFlags, [](Call& c) { c.flags = 1; }},
        {"V-136", kBadValue, kOffset, [](Call& c) { c.offset = k2MB; }},
        {"V-137", kBadValue, kHandle, [&](Call& c) { c.handle = dead; }},
        {"V-138", kRefused, kPlace, [](Call& c) { c.place = sentinel(); }},
        {"V-139", kRefused, kPlace, [&](Call& c) { c.place = place.get(4096); }},
        {"V-140", kRefused, kPlace | kSize, [&](Call& c) { c.place = place.get(14 * kMB); }},
        {"V-141", kRefused, kPlace, [&](Call& c) { c.place = place.get(8 * kMB); }},
        {"V-142", kRefused, kHandle, [&](Call& c) { c.handle = there; }},
        {"V-144", kBadValue, kSize | kPlace, [](Call& c) { c.size = 6 * kMB; }},
        {"V-145", kBadValue, kSize, [](Call& c) { c.size = k2MB; }}};
    expect_order(function.name, contexts, Call{function.call, place.get(), 4 * kMB, memory}, in_order);
  }
  EXPECT_EQ(map(place.get(), 4 * kMB, memory), ACL_SUCCESS) << "V-18: nothing was mapped";
  EXPECT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
}

TEST_F(MapMem, V135_V136_D92_OnlyFlags0AndOffset0) {
  const Reserved place{4 * kMB};
  const Physical memory;
  for (const Named& function : kBoth) {
    for (const std::uint64_t flags : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 63U})
      EXPECT_EQ(function.call(place.get(), k2MB, 0, memory, flags), kBadArgument) << flags;
    for (const std::size_t offset : {std::size_t{1}, std::size_t{4096}, k2MB, ~std::size_t{0}})
      EXPECT_EQ(function.call(place.get(), k2MB, offset, memory, 0), kBadValue) << offset;
  }
}

TEST_F(MapMem, V137_V35_WhatIsNoHandle) {
  const Reserved place{k2MB};
  const Physical memory;
  std::vector<void*> wrong = garbage();
  wrong.insert(wrong.end(), {place.get(), at(memory.get(), 1)});
  for (void* handle : wrong) expect_stored(map(place.get(), k2MB, handle), kBadValue, "aclrtMapMem");
}

TEST_F(MapMem, V138_D92_OnlyInLiveReservations) {
  const Physical memory;
  const Device block{2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY};
  Reserved gone{k2MB};
  void* const released = gone.release_now();
  for (void* where : {released, block.get(), address(8 * kTB), address(23 * kTB), address(100 * kTB)})
    expect_stored(map(where, k2MB, memory), kRefused, "aclrtMapMem");
}

TEST_F(MapMem, V139_V47_D92_AddressAndSizeInWhole2MB) {
  const Reserved place{8 * kMB};
  const Physical memory{4 * kMB};
  for (const std::size_t offset : {std::size_t{1}, std::size_t{4096}, kMB, k2MB - 1, k2MB + 1})
    EXPECT_EQ(map(place.get(offset), 4 * kMB, memory), kRefused) << offset;
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, 4 * kMB - 1, 4 * kMB + 1, 4 * kMB + 4096})
    EXPECT_EQ(map(place.get(), size, memory), kRefused) << size;
  for (const std::size_t offset : {std::size_t{0}, k2MB, 4 * kMB})
    const Mapped mapped{place.get(offset), memory};
}

TEST_F(MapMem, V140_V459_TheEndOfTheReservation) {
  const Reserved place{8 * kMB};
  const Physical memory{4 * kMB}, whole{8 * kMB}, more{10 * kMB};
  expect_stored(map(place.get(6 * kMB), 4 * kMB, memory), kRefused, "aclrtMapMem");
  expect_stored(map(place.get(), 10 * kMB, more), kRefused, "aclrtMapMem");
  expect_stored(map(place.get(k2MB), 8 * kMB, whole), kRefused, "aclrtMapMem");
  EXPECT_EQ(map(place.get(), ~std::size_t{0} - k2MB + 1, memory), kRefused) << "it would wrap around";
  const Mapped last{place.get(4 * kMB), memory};
}

TEST_F(MapMem, V141_V444_D92_NoPartOfItMayBeMapped) {
  const Reserved place{16 * kMB};
  const Physical memory{4 * kMB}, small{k2MB}, large{12 * kMB};
  const Mapped taken{place.get(6 * kMB), memory};
  write_to(taken.get(), pattern(64, 1));
  struct Row {
    std::size_t offset;
    const Physical& handle;
    bool free;
  };
  for (const Row& row :
       {Row{6 * kMB, memory, false}, Row{4 * kMB, memory, false}, Row{8 * kMB, memory, false},
        Row{6 * kMB, small, false}, Row{8 * kMB, small, false}, Row{2 * kMB, large, false},
        Row{2 * kMB, memory, true}, Row{10 * kMB, memory, true}, Row{4 * kMB, small, true}}) {
    const int answer = map(place.get(row.offset), row.handle.size(), row.handle);
    EXPECT_EQ(answer, row.free ? static_cast<int>(ACL_SUCCESS) : kRefused) << row.offset;
    if (answer == ACL_SUCCESS) {
      EXPECT_EQ(aclrtUnmapMem(place.get(row.offset)), ACL_SUCCESS);
    }
  }
  EXPECT_EQ(read_from(taken.get(), 64), pattern(64, 1)) << "the mapping is as it was";
}

TEST_F(MapMem, V142_V148_V448_D93_TheFirstMappingBindsTheReservation) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  const AlsoOpen other{1};
  const Physical here, there{k2MB, of_device(1)}, host{k2MB, of_host()}, node{k2MB, of_node()};
  const Physical* const all[] = {&here, &there, &host, &node};
  for (const Physical* first : all) {
    const Reserved place{8 * kMB};
    const Physical& another = first == &here ? there : here;
    EXPECT_EQ(map(place.get(), 4 * kMB, another), kBadValue) << "what fails binds nothing";
    for (const bool unmapped : {false, true}) {
      ASSERT_EQ(map(place.get(), k2MB, *first), ACL_SUCCESS);
      if (unmapped) {
        ASSERT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
      }
      for (const Physical* second : all) {
        const bool on_host_both = first != &here && first != &there && second != &here && second != &there;
        const int answer = map(place.get(4 * kMB), k2MB, *second);
        EXPECT_EQ(answer, first == second || on_host_both ? static_cast<int>(ACL_SUCCESS) : kRefused);
        if (answer == ACL_SUCCESS) {
          EXPECT_EQ(aclrtUnmapMem(place.get(4 * kMB)), ACL_SUCCESS);
        }
      }
      if (!unmapped) {
        ASSERT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
      }
    }
  }
}

TEST_F(MapMem, V143_V47_V458_PagesOf1GBNeedMultiplesOf1GB) {
  const Reserved place{4 * kGB};
  const Physical memory{kGB, of_device(0, ACL_HBM_MEM_HUGE1G)};
  for (const std::size_t offset : {k2MB, 512 * kMB, kGB - k2MB, kGB + k2MB})
    expect_stored(map(place.get(offset), kGB, memory), kRefused, "aclrtMapMem");
  EXPECT_EQ(map(place.get(), kGB + k2MB, memory), kRefused) << "V-143: the size too";
  for (const std::size_t offset : {std::size_t{0}, kGB, 3 * kGB})
    const Mapped mapped{place.get(offset), memory};
  const Physical small_pages{kGB};
  const Mapped mapped{place.get(k2MB), small_pages};
}

TEST_F(MapMem, V144_V145_TheSizeIsThatOfTheMemory) {
  const Reserved place{32 * kMB};
  const Physical memory{8 * kMB};
  for (const std::size_t size : {k2MB, 6 * kMB, 10 * kMB, 32 * kMB})
    expect_stored(map(place.get(), size, memory), kBadValue, "aclrtMapMem");
  const Mapped mapped{place.get(), memory};
}

TEST_F(MapMem, V147_V206_C18_ManyMappingsWithHolesInOneReservation) {
  const Reserved place{64 * kMB};
  std::vector<std::unique_ptr<Physical>> handles;
  std::vector<std::unique_ptr<Mapped>> mappings;
  for (const std::size_t offset : {0U, 2U, 6U, 14U, 30U, 62U}) {
    handles.push_back(std::make_unique<Physical>());
    mappings.push_back(std::make_unique<Mapped>(place.get(offset * kMB), *handles.back()));
    write_to(mappings.back()->get(), pattern(100, static_cast<unsigned>(offset)));
  }
  for (const std::size_t offset : {0U, 2U, 6U, 14U, 30U, 62U})
    EXPECT_EQ(read_from(place.get(offset * kMB), 100), pattern(100, static_cast<unsigned>(offset)));
}

TEST_F(MapMem, V83_V37_MappingChangesNoFigure) {
  const Reserved place{kGB};
  const Physical memory{512 * kMB};
  const std::size_t before = free_bytes();
  const Mapped first{place.get(), memory}, second{place.get(512 * kMB), memory};
  EXPECT_EQ(free_bytes(), before);
}

TEST(MapBeforeADevice, V15_MapAndUnmapAre107017) {
  in_fresh_process([] {
    int local = 0;
    EXPECT_EQ(map(nullptr, k2MB, &local), kBadArgument);
    EXPECT_EQ(map(address(18 * kTB), 0, &local), kBadArgument);
    EXPECT_EQ(map(address(18 * kTB), k2MB, &local), kStale);
    EXPECT_EQ(aclrtUnmapMem(nullptr), kBadArgument);
    EXPECT_EQ(aclrtUnmapMem(address(18 * kTB)), kStale);
    EXPECT_EQ(aclrtReleaseMemAddress(nullptr), kBadArgument);
    EXPECT_EQ(aclrtReleaseMemAddress(address(18 * kTB)), kStale);
    void* base = nullptr;
    EXPECT_EQ(aclrtMemGetAddressRange(address(18 * kTB), &base, nullptr), kStale);
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_EQ(aclrtMemRetainAllocationHandle(address(18 * kTB), &handle), kStale);
  });
}

}  // namespace virtual_map_test
