// aclrtGetMemUsageInfo: who uses how much of a device.

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "support/allocators.h"
#include "support/on_product.h"
#include "support/settings.h"

namespace mem_usage_test {

using namespace belay_test;

class MemUsage : public OnDevice {};

std::vector<aclrtMemUsageInfo> usage(std::int32_t device = 0, std::size_t room = 300) {
  std::vector<aclrtMemUsageInfo> entries(room);
  std::memset(entries.data(), 0xEE, room * sizeof entries[0]);
  std::size_t count = 9999;
  EXPECT_EQ(aclrtGetMemUsageInfo(device, entries.data(), room, &count), ACL_SUCCESS);
  EXPECT_LE(count, room);
  entries.resize(std::min(count, room));
  return entries;
}

const aclrtMemUsageInfo* find(const std::vector<aclrtMemUsageInfo>& entries, const std::string& name) {
  const auto hit =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return name == entry.name; });
  return hit == entries.end() ? nullptr : &*hit;
}

void* labelled(std::uint16_t module, std::size_t size, std::uint32_t value = kNormalOnly) {
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attribute.value.moduleId = module;
  aclrtMallocConfig config{&attribute, 1};
  void* block = nullptr;
  EXPECT_EQ(aclrtMallocWithCfg(&block, size, policy(value), &config), ACL_SUCCESS);
  return block;
}

TEST_F(MemUsage, M144_M145_NullArguments) {
  aclrtMemUsageInfo entry{};
  std::size_t count = 9;
  EXPECT_EQ(aclrtGetMemUsageInfo(0, nullptr, 1, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(count, 9U);  // not set to 0 yet
  EXPECT_EQ(aclrtGetMemUsageInfo(0, &entry, 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemUsageInfo(99, nullptr, 0, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(MemUsage, M146_M147_M148_M149_TheCountIsZeroAfterEveryLaterFailure) {
  aclrtMemUsageInfo entry{};
  const auto failing = [&](std::int32_t device, std::size_t room, aclError code) {
    std::size_t count = 9;
    EXPECT_EQ(aclrtGetMemUsageInfo(device, &entry, room, &count), code) << device << " " << room;
    EXPECT_EQ(count, 0U);
  };
  failing(0, 0, ACL_ERROR_RT_PARAM_INVALID);
  for (const std::int32_t device : {-1, 8, 64, INT32_MAX, INT32_MIN}) {
    failing(device, 1, ACL_ERROR_RT_INVALID_DEVICEID);
    failing(device, 0, ACL_ERROR_RT_PARAM_INVALID);  // the room comes first
  }
  failing(7, 1, ACL_ERROR_RT_CONTEXT_NULL);  // nobody has opened device 7
  without_context([&] { failing(8, 1, ACL_ERROR_RT_INVALID_DEVICEID); });
}

TEST(MemUsageWithoutDevice, M149_NoContextAtAll) {
  in_fresh_process({}, [] {
    aclrtMemUsageInfo entry{};
    std::size_t count = 9;
    EXPECT_EQ(aclrtGetMemUsageInfo(0, &entry, 1, &count), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(count, 0U);
  });
}

TEST_F(MemUsage, M150_M151_UserAllocationsAreAppWithTheirFootprint) {
  for (const Allocator& allocator : all_allocators()) {
    const auto app = [] {
      const auto entries = usage();
      const aclrtMemUsageInfo* entry = find(entries, "APP");
      return entry == nullptr ? 0 : entry->curMemSize;
    };
    const std::uint64_t before = app();
    {
      const Block huge(allocator, 1, kHugeOnly);
      EXPECT_EQ(app() - before, 2 * kMB) << allocator.name;
      const Block normal(allocator, 4097, kNormalOnly);
      EXPECT_EQ(app() - before, 2 * kMB + 8192) << allocator.name;
    }
    EXPECT_EQ(app(), before) << allocator.name;
  }
}

TEST(MemUsageFromTheStart, M150_LargestFirstAndNoMoreThanThereIsRoomFor) {
  on_product("A2", [] {
    void* blocks[] = {labelled(3, 2 * kMB), labelled(63, 6 * kMB), labelled(33, 4 * kMB), labelled(45, 4096)};
    const auto entries = usage();
    ASSERT_GE(entries.size(), 4U);
    EXPECT_STREQ(entries[0].name, "OP");
    EXPECT_EQ(entries[0].curMemSize, 6 * kMB);
    EXPECT_STREQ(entries[1].name, "APP");
    EXPECT_STREQ(entries[2].name, "HCCL");
    EXPECT_STREQ(entries[3].name, "GE");
    for (std::size_t i = 1; i < entries.size(); ++i)
      EXPECT_GE(entries[i - 1].curMemSize, entries[i].curMemSize);
    const auto top = usage(0, 2);
    ASSERT_EQ(top.size(), 2U);
    EXPECT_STREQ(top[0].name, "OP");
    EXPECT_STREQ(top[1].name, "APP");
    EXPECT_EQ(usage(0, 1).size(), 1U);

    aclrtMemUsageInfo room[3];  // what lies behind the room is not written
    std::memset(room, 0xEE, sizeof room);
    std::size_t count = 0;
    EXPECT_EQ(aclrtGetMemUsageInfo(0, room, 2, &count), ACL_SUCCESS);
    EXPECT_EQ(static_cast<unsigned char>(room[2].name[0]), 0xEE);
    for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST(MemUsageFromTheStart, M150_ThePeakCountsFromTheStartOfTheProcess) {
  on_product("A2", [] {
    void* small = labelled(3, 4096);
    void* large = labelled(3, 10 * kMB);
    EXPECT_EQ(aclrtFree(large), ACL_SUCCESS);
    auto entries = usage();
    const aclrtMemUsageInfo* entry = find(entries, "HCCL");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->curMemSize, 4096U);
    EXPECT_EQ(entry->memPeakSize, 10 * kMB + 4096);
    void* middle = labelled(3, 8 * kMB);  // below the peak
    entries = usage();
    entry = find(entries, "HCCL");
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->curMemSize, 8 * kMB + 4096);
    EXPECT_EQ(entry->memPeakSize, 10 * kMB + 4096);
    EXPECT_EQ(aclrtFree(middle), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(small), ACL_SUCCESS);
  });
}

TEST(MemUsageFromTheStart, M151_NamesByNumberAndAZeroedReserve) {
  const std::map<std::uint16_t, std::string> names = {{3, "HCCL"}, {6, "DVPP"},      {7, "RUNTIME"},
                                                      {33, "APP"}, {36, "AICPU"},    {39, "FE"},
                                                      {45, "GE"},  {48, "ASCENDCL"}, {63, "OP"}};
  on_product("A2", [&] {
    for (std::uint16_t module = 0; module <= 255; ++module) {
      const auto known = names.find(module);
      const std::string name = known != names.end()          ? known->second
                               : module == 0 || module >= 77 ? "UNKNOWN"
                                                             : "Reserved";
      void* block = labelled(module, 16 * kMB);  // more than anybody else holds
      const auto entries = usage();
      ASSERT_FALSE(entries.empty()) << module;
      EXPECT_EQ(name, entries[0].name) << module;
      EXPECT_EQ(entries[0].curMemSize, 16 * kMB) << module;
      for (const aclrtMemUsageInfo& entry : entries) {
        EXPECT_NE(std::memchr(entry.name, 0, sizeof entry.name), nullptr);
        for (const std::size_t word : entry.reserved) EXPECT_EQ(word, 0U);
        EXPECT_GE(entry.memPeakSize, entry.curMemSize);
      }
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  });
}

TEST_F(MemUsage, M150_EachDeviceHasItsOwnUse) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Block there(kMalloc, 1, kHugeOnly);
  const auto one = usage(1);
  const auto zero = usage(0);  // current or not
  const aclrtMemUsageInfo* on_one = find(one, "APP");
  const aclrtMemUsageInfo* on_zero = find(zero, "APP");
  ASSERT_NE(on_one, nullptr);
  EXPECT_EQ(on_one->curMemSize, 2 * kMB);
  EXPECT_TRUE(on_zero == nullptr || on_zero->curMemSize == 0);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(there.release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(MemUsageByProduct, M152_M418_MissingOn950AndIpv) {
  for (const char* product : {"950", "IPV350"}) {
    on_product(product, [] {
      aclrtMemUsageInfo entry{};
      std::size_t count = 9;
      EXPECT_EQ(aclrtGetMemUsageInfo(0, nullptr, 1, &count), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtGetMemUsageInfo(0, &entry, 1, &count), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(aclrtGetMemUsageInfo(0, &entry, 0, &count), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    });
  }
  for (const char* product : {"A3", "310P", "310B", "910"}) {
    on_product(product, [] {
      const Block block(kMalloc, 1, kHugeOnly);
      const auto entries = usage();
      const aclrtMemUsageInfo* entry = find(entries, "APP");
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->curMemSize, 2 * kMB);
    });
  }
}

}  // namespace mem_usage_test
