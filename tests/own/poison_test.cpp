// What fresh memory reads as (BELAY_POISON): the same byte on devices, in mappings and in pinned memory.
#include <algorithm>
#include <vector>

#include "belay/belay.h"
#include "support/on_product.h"

namespace poison_test {

using namespace belay_test;

constexpr std::size_t kBytes = 100'000, kGranule = std::size_t{2} << 20;

// How many bytes of device memory read as another byte.
std::ptrdiff_t others(const void* from, std::size_t bytes, unsigned char byte) {
  std::vector<unsigned char> host(bytes);
  EXPECT_EQ(aclrtMemcpy(host.data(), bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return std::ranges::count_if(host, [byte](unsigned char each) { return each != byte; });
}

// Before anything is written there, and around what is.
void expect_fresh(char* memory, std::size_t bytes, unsigned char byte) {
  EXPECT_EQ(others(memory, bytes, byte), 0);
  constexpr std::size_t kWritten = 10;
  ASSERT_EQ(aclrtMemset(memory + 5000, kWritten, byte ^ 0xFF, kWritten), ACL_SUCCESS);
  EXPECT_EQ(others(memory, bytes, byte), std::ptrdiff_t{kWritten});
}

void expect_fresh_everywhere(unsigned char byte) {
  for (const aclrtMemMallocPolicy policy : {ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_ONLY}) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kBytes, policy), ACL_SUCCESS);
    expect_fresh(static_cast<char*>(block), kBytes, byte);
  }

  void* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  const auto* const bytes = static_cast<unsigned char*>(pinned);
  EXPECT_EQ(std::count(bytes, bytes + kBytes, byte), std::ptrdiff_t{kBytes});

  aclrtPhysicalMemProp property{};
  property.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  property.memAttr = ACL_HBM_MEM_HUGE;
  property.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle handle = nullptr;
  void* range = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, kGranule, &property, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtReserveMemAddress(&range, kGranule, 0, nullptr, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(range, kGranule, 0, handle, 0), ACL_SUCCESS);
  expect_fresh(static_cast<char*>(range), kGranule, byte);
}

TEST(Poison, M13_V122_FreshMemoryReadsAsTheByteThatIsAskedFor) {
  for (const auto& [words, byte] : {std::pair{"0x5A", 0x5A}, {"0", 0}, {"0xff", 0xFF}, {"255", 0xFF}}) {
    SCOPED_TRACE(words);
    on_product("A2", {{"BELAY_POISON", words}, {"BELAY_PIN", "best-effort"}},
               [byte = byte] { expect_fresh_everywhere(static_cast<unsigned char>(byte)); });
  }
}

TEST(Poison, M13_V122_ItIs0xBEWhereNothingIsAskedFor) {
  on_product("A2", {{"BELAY_POISON", ""}, {"BELAY_PIN", "best-effort"}},
             [] { expect_fresh_everywhere(0xBE); });
}

// Zeros are what many programs expect to find.
TEST(Poison, M417_BytesThatNobodyWroteAreFoundWithAnyByte) {
  on_product("A2", {{"BELAY_POISON", "0x00"}, {"BELAY_CHECK", "all,classes=contents"}}, [] {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(belay_findings(0, nullptr, 0), 0U);
    EXPECT_EQ(others(block, kBytes, 0), 0);
    EXPECT_EQ(belay_findings(0, nullptr, 0), 1U);
  });
}

}  // namespace poison_test
