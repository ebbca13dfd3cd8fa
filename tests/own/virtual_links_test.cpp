// aclrtMemMapSelectedLink and aclrtMemMapSetLink on Atlas A3.
#include "support/as_enum.h"
#include "support/on_product.h"
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_links_test {

using namespace belay_test;

const std::string kApi = "aclrtMemMapSelectedLink";

TEST(SelectedLink, V207_Arguments) {
  on_product("A3", [] {
    const MappedBlock source;
    const Reserved place{k2MB};
    EXPECT_EQ(aclrtMemMapSelectedLink(nullptr, k2MB, source.get(), 0), kBadArgument);
    EXPECT_EQ(aclrtMemMapSelectedLink(place.get(), 0, source.get(), 0), kBadArgument);
    EXPECT_EQ(aclrtMemMapSelectedLink(place.get(), k2MB, nullptr, 0), kBadArgument);
    for (const std::uint32_t link : {2U, 3U, 0xFFFFFFFFU})
      EXPECT_EQ(aclrtMemMapSelectedLink(place.get(), k2MB, source.get(), link), kBadArgument) << link;
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnmapMem(place.get()), kRefused) << "nothing was mapped";
  });
}

TEST(SelectedLink, V209_TheSourceIsTheStartOfAMapping) {
  on_product("A3", [] {
    const Reserved from{8 * kMB}, to{4 * kMB};
    const Physical memory{4 * kMB};
    const Mapped source{from.get(4 * kMB), memory};
    const Device block{64};
    for (void* wrong : {from.get(), source.get(1), source.get(k2MB), block.get(), to.get(), sentinel()})
      expect_stored(aclrtMemMapSelectedLink(to.get(), 4 * kMB, wrong, 0), kBadValue, kApi);
    EXPECT_EQ(aclrtMemMapSelectedLink(to.get(), 4 * kMB, source.get(), 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnmapMem(to.get()), ACL_SUCCESS);
  });
}

TEST(SelectedLink, V210_V211_V213_V214_AsManyMappingsAsTheSourceHas_OverEitherLink) {
  on_product("A3", [] {
    const Reserved from{10 * kMB};
    const Physical a{k2MB}, b{4 * kMB}, c{4 * kMB};
    const Mapped one{from.get(), a}, two{from.get(k2MB), b}, three{from.get(6 * kMB), c};
    write_to(from.get(6 * kMB - 50), pattern(100, 1));
    const std::size_t before = free_bytes();
    for (const std::uint32_t link : {ACL_RT_MEM_LINK_IDX_0, ACL_RT_MEM_LINK_IDX_1}) {
      Reserved to{10 * kMB};
      ASSERT_EQ(aclrtMemMapSelectedLink(to.get(), 10 * kMB, from.get(), link), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), before);
      EXPECT_EQ(read_from(to.get(6 * kMB - 50), 100), pattern(100, 1));
      write_to(to.get(k2MB - 5), pattern(10, link + 5));
      EXPECT_EQ(read_from(from.get(k2MB - 5), 10), pattern(10, link + 5)) << "both show the same bytes";
      void* base = nullptr;
      std::size_t size = 0;
      EXPECT_EQ(aclrtMemGetAddressRange(to.get(3 * kMB), &base, &size), ACL_SUCCESS);
      EXPECT_EQ(base, to.get(k2MB));
      EXPECT_EQ(size, 4 * kMB);
      EXPECT_EQ(aclrtUnmapMem(to.get()), ACL_SUCCESS);
      EXPECT_EQ(aclrtReleaseMemAddress(to.get()), kRefused) << "two are left";
      EXPECT_EQ(aclrtUnmapMem(to.get(k2MB)), ACL_SUCCESS);
      EXPECT_EQ(aclrtUnmapMem(to.get(6 * kMB)), ACL_SUCCESS);
      to.release_now();
    }
  });
}

TEST(SelectedLink, V210_V29_TheCopyHoldsTheMemoryAsAnyMappingDoes) {
  on_product("A3", [] {
    const std::size_t before = free_bytes();
    const Reserved from{k2MB}, to{k2MB};
    Physical memory;
    Mapped source{from.get(), memory};
    write_to(source.get(), pattern(64, 3));
    ASSERT_EQ(aclrtMemMapSelectedLink(to.get(), k2MB, from.get(), 1), ACL_SUCCESS);
    void* const handle = memory.free_now();
    source.unmap_now();
    EXPECT_EQ(read_from(to.get(), 64), pattern(64, 3));
    EXPECT_EQ(aclrtFreePhysical(handle), kBadValue) << "the retained reference was given back";
    EXPECT_EQ(before - free_bytes(), k2MB);
    EXPECT_EQ(aclrtUnmapMem(to.get()), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(SelectedLink, V212_V18_WhatWasMappedBeforeAFailureStays) {
  on_product("A3", [] {
    const Reserved from{6 * kMB}, to{6 * kMB};
    const Physical a, b, c, other;
    const Mapped one{from.get(), a}, two{from.get(k2MB), b}, three{from.get(2 * k2MB), c};
    const Mapped taken{to.get(k2MB), other};
    expect_stored(aclrtMemMapSelectedLink(to.get(), 6 * kMB, from.get(), 0), kRefused, kApi);
    EXPECT_EQ(aclrtUnmapMem(to.get(2 * k2MB)), kRefused) << "behind the failure";
    EXPECT_EQ(aclrtUnmapMem(to.get()), ACL_SUCCESS) << "before it";
  });
}

TEST(SelectedLink, V142_V210_TheDestinationBelongsToTheDeviceOfTheSource) {
  on_product("A3", [] {
    const AlsoOpen other{1};
    const MappedBlock there{k2MB, of_device(1)};
    const Physical here;
    const Reserved to{k2MB};
    { const Mapped mapped{to.get(), here}; }
    EXPECT_EQ(aclrtMemMapSelectedLink(to.get(), k2MB, there.get(), 0), kRefused);
  });
}

TEST(SetLink, V518_V519_V520_OnA3) {
  on_product("A3", [] {
    const MappedBlock here;
    EXPECT_EQ(aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_SIO), kBadArgument);
    EXPECT_EQ(aclrtMemMapSetLink(nullptr, as_enum<aclrtMemLinkType>(4)), kBadArgument);
    for (const int link : {4, 5, 99, -1})
      expect_stored(aclrtMemMapSetLink(here.memory, as_enum<aclrtMemLinkType>(link)), kBadValue,
                    "aclrtMemMapSetLink");
    for (const aclrtMemLinkType link :
         {ACL_RT_MEM_ACCESS_UB_ONE_PORT_PATH, ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH})
      EXPECT_EQ(aclrtMemMapSetLink(here.memory, link), ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED) << "207021";
    for (const aclrtMemLinkType link : {ACL_RT_MEM_ACCESS_LINK_SIO, ACL_RT_MEM_ACCESS_LINK_HCCS})
      EXPECT_EQ(aclrtMemMapSetLink(here.memory, link), ACL_SUCCESS);
    write_to(here.get(), pattern(10, 1));
    EXPECT_EQ(read_from(here.get(), 10), pattern(10, 1));
  });
}

TEST(SetLink, V520_V518_ElsewhereItIsMissing) {
  for (const char* product : {"950", "A2", "310B", "310P", "910"}) {
    on_product(product, [] {
      const Physical memory;
      EXPECT_EQ(aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_SIO), kBadArgument);
      for (const int link : {0, 1, 2, 3})
        EXPECT_EQ(aclrtMemMapSetLink(memory, as_enum<aclrtMemLinkType>(link)), kUnsupported) << link;
    });
  }
}

}  // namespace virtual_links_test
