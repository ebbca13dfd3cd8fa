// aclrtMemGetAddressRange.
#include "support/refusals.h"
#include "support/virtual_memory.h"

namespace virtual_address_range_test {

using namespace belay_test;

class AddressRange : public OnDevice {};

const std::string kApi = "aclrtMemGetAddressRange";

void expect_range(void* where, void* base, std::size_t size) {
  void* got = sentinel();
  std::size_t length = 77;
  EXPECT_EQ(aclrtMemGetAddressRange(where, &got, &length), ACL_SUCCESS) << where;
  EXPECT_EQ(got, base);
  EXPECT_EQ(length, size);
}

TEST_F(AddressRange, V201_V202_NullArguments) {
  const MappedBlock here;
  void* base = sentinel();
  std::size_t size = 77;
  expect_not_stored(aclrtMemGetAddressRange(nullptr, &base, &size), kBadArgument, kApi);
  expect_not_stored(aclrtMemGetAddressRange(nullptr, nullptr, nullptr), kBadArgument, kApi);
  expect_stored(aclrtMemGetAddressRange(here.get(), nullptr, nullptr), kBadValue, kApi);
  EXPECT_EQ(aclrtMemGetAddressRange(here.get(9), &base, nullptr), ACL_SUCCESS);
  EXPECT_EQ(base, here.get());
  EXPECT_EQ(aclrtMemGetAddressRange(here.get(9), nullptr, &size), ACL_SUCCESS);
  EXPECT_EQ(size, k2MB);
}

TEST_F(AddressRange, V203_V204_DeviceBlocksWithTheirFootprint) {
  struct Row {
    std::size_t size;
    unsigned policy;
    std::size_t footprint, page;
  };
  for (const Row& row :
       {Row{1, ACL_MEM_MALLOC_NORMAL_ONLY, 4096, 4096}, Row{4064, ACL_MEM_MALLOC_NORMAL_ONLY, 4096, 4096},
        Row{4065, ACL_MEM_MALLOC_NORMAL_ONLY, 8192, 4096},
        Row{64, ACL_MEM_MALLOC_HUGE_ONLY, 2 * kMB, 2 * kMB},
        Row{2 * kMB, ACL_MEM_MALLOC_HUGE_FIRST, 4 * kMB, 2 * kMB},
        Row{3 * kMB, ACL_MEM_MALLOC_HUGE_FIRST, 4 * kMB, 2 * kMB},
        Row{5, ACL_MEM_MALLOC_HUGE1G_ONLY, kGB, kGB}}) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, row.size, policy_of(row.policy)), ACL_SUCCESS);
    for (const std::size_t offset : {std::size_t{0}, row.size / 2, row.size - 1, row.footprint - 1})
      expect_range(at(block, offset), block, row.footprint);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemGetAddressRange(block, &block, nullptr), kBadValue) << "V-205: it is gone";
    ASSERT_EQ(aclrtMallocWithCfg(&block, row.size, policy_of(row.policy), nullptr), ACL_SUCCESS);
    expect_range(at(block, row.size - 1), block, up_to(row.size, row.page));
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
}

TEST_F(AddressRange, V203_V204_HostBlocksInPages) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, kMB + 1}) {
    const Pinned pinned{size};
    for (const std::size_t offset : {std::size_t{0}, size / 2, size - 1})
      expect_range(pinned.get(offset), pinned.get(), up_to(size, 4096));
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocHostWithCfg(&block, size, nullptr), ACL_SUCCESS);
    expect_range(at(block, size - 1), block, up_to(size, 4096));
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  }
}

TEST_F(AddressRange, V203_V206_TheMappingNotTheReservation_AndNeighboursStayTwo) {
  for (const aclrtPhysicalMemProp& prop : mappable({of_device(), of_host(), of_node()})) {
    const Reserved place{32 * kMB};
    const Physical first{4 * kMB, prop}, second{k2MB, prop};
    const Mapped one{place.get(4 * kMB), first}, two{place.get(8 * kMB), second},
        again{place.get(10 * kMB), second};
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, k2MB, 4 * kMB - 1})
      expect_range(one.get(offset), one.get(), 4 * kMB);
    for (const std::size_t offset : {std::size_t{0}, k2MB - 1}) {
      expect_range(two.get(offset), two.get(), k2MB);
      expect_range(again.get(offset), again.get(), k2MB);
    }
    std::size_t size = 0;
    for (void* where : {place.get(), place.get(4 * kMB - 1), place.get(12 * kMB)})
      expect_stored(aclrtMemGetAddressRange(where, nullptr, &size), kBadValue, kApi);
  }
}

TEST_F(AddressRange, V205_UnknownAddresses) {
  Reserved place{8 * kMB};
  int local = 0;
  std::vector<int> heap(10);
  void* base = nullptr;
  std::size_t size = 0;
  for (void* where : {place.get(), place.get(k2MB), static_cast<void*>(&local),
                      static_cast<void*>(heap.data()), sentinel(), address(23 * kTB)})
    expect_stored(aclrtMemGetAddressRange(where, &base, &size), kBadValue, kApi);
  void* const was = place.release_now();
  expect_stored(aclrtMemGetAddressRange(was, &base, &size), kBadValue, kApi);
}

TEST_F(AddressRange, V203_NoContextIsNeeded) {
  const MappedBlock here;
  const Device block{64};
  without_context([&] {
    expect_range(here.get(1), here.get(), k2MB);
    expect_range(block.get(1), block.get(), 4096);
  });
}

}  // namespace virtual_address_range_test
