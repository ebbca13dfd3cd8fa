// Virtual memory on each product: what is there, what is refused, and when.
#include <memory>

#include "support/on_product.h"
#include "support/products.h"
#include "support/virtual_memory.h"

namespace virtual_products_test {

using namespace belay_test;

const std::vector<std::string> kWithIt = {"950", "A3", "A2", "310B", "310P", "910"};

// Every function with arguments that pass the 100000 checks, and as many ways as possible to break one.
struct Probe {
  std::string name;
  std::function<int()> call;
  std::vector<std::function<int()>> refused;
};

struct Arguments {
  void* out = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  aclrtPhysicalMemProp prop = of_device();
  aclrtMemLocation place{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::size_t size = 0;
  std::uint64_t flag = 0;
  int local = 0;
};

std::vector<Probe> all_functions(Arguments& a) {
  void* const some = &a.local;
  return {
      {"aclrtMallocPhysical",
       [&] { return aclrtMallocPhysical(&a.handle, k2MB, &a.prop, 0); },
       {[&] { return aclrtMallocPhysical(nullptr, k2MB, &a.prop, 0); },
        [&] { return aclrtMallocPhysical(&a.handle, k2MB, nullptr, 0); },
        [&] { return aclrtMallocPhysical(&a.handle, 0, &a.prop, 0); },
        [&] { return aclrtMallocPhysical(&a.handle, k2MB, &a.prop, 1); }}},
      {"aclrtFreePhysical", [=] { return aclrtFreePhysical(some); }, {[] {
         return aclrtFreePhysical(nullptr);
       }}},
      {"aclrtReserveMemAddress",
       [&] { return reserve(&a.out, k2MB); },
       {[] { return reserve(nullptr, k2MB); }, [&] { return reserve(&a.out, 0); },
        [&] { return reserve(&a.out, k2MB, nullptr, 2); }}},
      {"aclrtReleaseMemAddress", [=] { return aclrtReleaseMemAddress(some); }, {[] {
         return aclrtReleaseMemAddress(nullptr);
       }}},
      {"aclrtMapMem",
       [=] { return aclrtMapMem(some, k2MB, 0, some, 0); },
       {[=] { return aclrtMapMem(nullptr, k2MB, 0, some, 0); },
        [=] { return aclrtMapMem(some, k2MB, 0, nullptr, 0); },
        [=] { return aclrtMapMem(some, 0, 0, some, 0); },
        [=] { return aclrtMapMem(some, k2MB, 0, some, 1); }}},
      {"aclrtMemMapNoAccess",
       [=] { return aclrtMemMapNoAccess(some, k2MB, 0, some, 0); },
       {[=] { return aclrtMemMapNoAccess(nullptr, k2MB, 0, some, 0); },
        [=] { return aclrtMemMapNoAccess(some, k2MB, 0, some, 1); }}},
      {"aclrtUnmapMem", [=] { return aclrtUnmapMem(some); }, {[] { return aclrtUnmapMem(nullptr); }}},
      {"aclrtMemGetAllocationGranularity",
       [&] {
         return aclrtMemGetAllocationGranularity(&a.prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &a.size);
       },
       {[&] {
          return aclrtMemGetAllocationGranularity(nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &a.size);
        },
        [&] {
          return aclrtMemGetAllocationGranularity(&a.prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, nullptr);
        }}},
      {"aclrtMemGetAccess",
       [=, &a] { return aclrtMemGetAccess(some, &a.place, &a.flag); },
       {[&] { return aclrtMemGetAccess(nullptr, &a.place, &a.flag); },
        [=, &a] { return aclrtMemGetAccess(some, nullptr, &a.flag); },
        [=, &a] { return aclrtMemGetAccess(some, &a.place, nullptr); }}},
      {"aclrtMemRetainAllocationHandle",
       [=, &a] { return aclrtMemRetainAllocationHandle(some, &a.handle); },
       {[&] { return aclrtMemRetainAllocationHandle(nullptr, &a.handle); },
        [=] { return aclrtMemRetainAllocationHandle(some, nullptr); }}},
      {"aclrtMemGetAllocationPropertiesFromHandle",
       [=, &a] { return aclrtMemGetAllocationPropertiesFromHandle(some, &a.prop); },
       {[&] { return aclrtMemGetAllocationPropertiesFromHandle(nullptr, &a.prop); },
        [=] { return aclrtMemGetAllocationPropertiesFromHandle(some, nullptr); }}},
      {"aclrtMemGetAddressRange", [=, &a] { return aclrtMemGetAddressRange(some, &a.out, &a.size); }, {[&] {
         return aclrtMemGetAddressRange(nullptr, &a.out, &a.size);
       }}},
  };
}

// The two that only A3 has.
std::vector<Probe> of_a3(Arguments& a) {
  void* const some = &a.local;
  return {{"aclrtReserveMemAddressNoUCMemory",
           [&] { return aclrtReserveMemAddressNoUCMemory(&a.out, kGB, 0, address(40 * kTB), 0); },
           {[] { return aclrtReserveMemAddressNoUCMemory(nullptr, kGB, 0, address(40 * kTB), 0); },
            [&] { return aclrtReserveMemAddressNoUCMemory(&a.out, 0, 0, address(40 * kTB), 0); },
            [&] { return aclrtReserveMemAddressNoUCMemory(&a.out, kGB, 0, address(40 * kTB), 2); }}},
          {"aclrtMemMapSelectedLink",
           [=] { return aclrtMemMapSelectedLink(some, k2MB, some, 0); },
           {[=] { return aclrtMemMapSelectedLink(nullptr, k2MB, some, 0); },
            [=] { return aclrtMemMapSelectedLink(some, 0, some, 0); },
            [=] { return aclrtMemMapSelectedLink(some, k2MB, nullptr, 0); },
            [=] { return aclrtMemMapSelectedLink(some, k2MB, some, 2); }}},
          {"aclrtMemMapSetLink", [=] { return aclrtMemMapSetLink(some, ACL_RT_MEM_ACCESS_LINK_SIO); }, {[] {
             return aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_SIO);
           }}}};
}

void expect_absent(const Probe& probe) {
  SCOPED_TRACE(probe.name);
  for (const bool with_device : {false, true}) {
    if (with_device) {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    for (const auto& refused : probe.refused) EXPECT_EQ(refused(), kBadArgument);
    EXPECT_EQ(probe.call(), kUnsupported);
    EXPECT_EQ(last_error(), ACL_SUCCESS) << "a missing function is no last error";
    if (with_device) {
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }
  }
}

TEST(VirtualByProduct, V486_V23_V90_V208_V520_OnIpv350EveryFunctionIsMissing) {
  in_fresh_process({{"BELAY_PRODUCT", "IPV350"}}, [] {
    Arguments arguments;
    for (const Probe& probe : all_functions(arguments)) expect_absent(probe);
    for (const Probe& probe : of_a3(arguments)) expect_absent(probe);
    aclrtMemAccessDesc desc = grant_device(0);
    EXPECT_EQ(aclrtMemSetAccess(&desc, k2MB, &desc, 1), kUnsupported);
  });
}

TEST(VirtualByProduct, V85_V23_D49_InTheRcFormEveryFunctionIsMissing) {
  for (const char* product : {"310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_FORM", "RC"}}, [&] {
      SCOPED_TRACE(product);
      Arguments arguments;
      for (const Probe& probe : all_functions(arguments)) {
        if (probe.name != "aclrtMemGetAddressRange") expect_absent(probe);
      }
      for (const Probe& probe : of_a3(arguments)) expect_absent(probe);
      EXPECT_EQ(aclrtReserveMemAddress(&arguments.out, k2MB, 5, nullptr, 0), kUnsupported) << "before V-69";
    });
  }
}

TEST(VirtualByProduct, V486_V90_V208_V520_V88_V87_OnlyA3HasThree) {
  for (const char* product : {"950", "A2", "310B", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      SCOPED_TRACE(product);
      Arguments arguments;
      for (const Probe& probe : of_a3(arguments)) expect_absent(probe);
      EXPECT_EQ(aclrtReserveMemAddressNoUCMemory(&arguments.out, 5, 7, nullptr, 1), kUnsupported)
          << "before V-88";
    });
  }
}

TEST(VirtualByProduct, V486_V158_V152_ElsewhereTheWholeLifeOfAMapping) {
  for (const std::string& product : kWithIt) {
    on_product(product, {{"BELAY_DEVICES", "1"}}, [] {
      const std::size_t before = free_bytes();
      for (const aclrtPhysicalMemProp& prop : mappable({of_device(), of_host(), of_node()})) {
        const MappedBlock segment{4 * kMB, prop};
        const bool device = prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
        EXPECT_EQ(before - free_bytes(), device ? 4 * kMB : 0);
        write_to(segment.get(), pattern(100, 1));
        EXPECT_EQ(read_from(segment.get(), 100), pattern(100, 1));
        EXPECT_EQ(set_access(segment.get(), 4 * kMB, grant_device(0)), ACL_SUCCESS);
        EXPECT_EQ(access_of_device(segment.get(), 0), 3U);
        aclrtDrvMemHandle handle = nullptr;
        EXPECT_EQ(aclrtMemRetainAllocationHandle(segment.get(), &handle), ACL_SUCCESS);
        EXPECT_EQ(handle, segment.memory.get());
        EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
        aclrtPhysicalMemProp told{};
        EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(handle, &told), ACL_SUCCESS);
        EXPECT_EQ(told.location.type, prop.location.type);
        void* base = nullptr;
        EXPECT_EQ(aclrtMemGetAddressRange(segment.get(9), &base, nullptr), ACL_SUCCESS);
        EXPECT_EQ(base, segment.get());
      }
      {
        const Reserved place{k2MB};
        const Physical memory;
        EXPECT_EQ(aclrtMemMapNoAccess(place.get(), k2MB, 0, memory, 0), ACL_SUCCESS);
        EXPECT_EQ(access_of_device(place.get(), 0), 0U);
        EXPECT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
      }
      EXPECT_EQ(free_bytes(), before);
    });
  }
}

TEST(VirtualByProduct, V79_V78_V486_C17_DemandedAddressesExceptOn950) {
  for (const std::string& product : kWithIt) {
    on_product(product, [&] {
      Reserved first{kGB};
      void* const where = first.release_now();
      void* again = sentinel();
      EXPECT_EQ(reserve(&again, kGB, where), product == "950" ? kUnsupported : static_cast<int>(ACL_SUCCESS));
      if (product != "950") {
        EXPECT_EQ(again, where);
        EXPECT_EQ(aclrtReleaseMemAddress(again), ACL_SUCCESS);
      }
    });
  }
}

TEST(VirtualByProduct, V162_V175_V204_WhatIsDifferentOn950) {
  on_product("950", [] {
    const MappedBlock here;
    EXPECT_EQ(aclrtUnmapMem(here.get(4096)), kBadValue) << "not a multiple of 2 MB";
    EXPECT_EQ(aclrtUnmapMem(here.get(1)), kBadValue);
    aclrtMemAccessDesc twice[2] = {grant_device(1), grant_device(1)};
    EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, twice, 2), kBadValue);
    twice[1] = grant_device(2);
    EXPECT_EQ(aclrtMemSetAccess(here.get(), k2MB, twice, 2), ACL_SUCCESS);
    for (const std::size_t size : {std::size_t{1}, std::size_t{4097}, 3 * kMB}) {
      void *block = nullptr, *base = nullptr;
      std::size_t told = 0;
      ASSERT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemGetAddressRange(block, &base, &told), ACL_SUCCESS);
      EXPECT_EQ(base, block);
      EXPECT_EQ(told, size);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  });
}

TEST(VirtualByProduct, V75_V48_On950LargeReservationsAreWholeGB) {
  on_product("950", [] {
    const Physical memory;
    struct Row {
      std::size_t asked, reserved;
    };
    for (const Row& row : {Row{kGB - k2MB, kGB - k2MB}, Row{kGB, kGB}, Row{kGB + 1, 2 * kGB}}) {
      const Reserved place{row.asked};  // the only one: what follows it is nobody's
      EXPECT_EQ(number(place.get()) % (row.asked < kGB ? k2MB : kGB), 0U);
      const Mapped last{place.get(row.reserved - k2MB), memory};
      EXPECT_EQ(map(place.get(row.reserved), k2MB, memory), kRefused) << row.asked;
    }
  });
}

TEST(VirtualByProduct, V51_On310pHbmAttributesTakeWhatThereIs) {
  for (const char* product : {"310P", "310B"}) {
    on_product(product, [] {
      const std::size_t before = free_bytes();  // of DDR
      const Physical huge{k2MB, of_device(0, ACL_HBM_MEM_HUGE)},
          normal{k2MB, of_device(0, ACL_HBM_MEM_NORMAL)};
      EXPECT_EQ(before - free_bytes(), 2 * k2MB);
    });
  }
}

}  // namespace virtual_products_test
