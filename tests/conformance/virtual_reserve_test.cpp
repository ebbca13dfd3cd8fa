// aclrtReserveMemAddress: checks, sizes, alignment, and addresses that are demanded.
#include <algorithm>
#include <limits>

#include "support/fresh_process.h"
#include "support/mistakes.h"
#include "support/sanitizer.h"
#include "support/virtual_memory.h"

namespace virtual_reserve_test {

using namespace belay_test;

class Reserve : public OnDevice {};

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

struct Call {
  void** result;
  std::size_t size = k2MB, alignment = 0;
  void* wish = nullptr;
  std::uint64_t flags = 0;
  Where where = Where::own;
  int run() const { return aclrtReserveMemAddress(result, size, alignment, wish, flags); }
};

enum Argument : unsigned { kResult = 1, kSize = 2, kFlags = 4, kAlignment = 8, kWish = 16 };

TEST_F(Reserve, V66_V67_V68_V69_V70_V72_V73_V10_V22_TheFirstMistakeDecides) {
  const Contexts contexts;
  void* result = nullptr;
  const Reserved taken{k2MB};
  const std::vector<Mistake<Call>> in_order = {
      {"V-66", kBadArgument, kResult, [](Call& c) { c.result = nullptr; }},
      {"V-67", kBadArgument, kSize, [](Call& c) { c.size = 0; }},
      {"V-68", kBadArgument, kFlags, [](Call& c) { c.flags = 2; }},
      {"V-69", kBadValue, kAlignment, [](Call& c) { c.alignment = k2MB; }},
      {"V-70", kBadValue, kWish, [&](Call& c) { c.wish = at(taken.get(), kMB); }},
      {"V-72", kRefused, kWish | kSize, [&](Call& c) { c.wish = taken.get(); }},
      {"V-73", kShortage, kSize | kWish, [](Call& c) { c.size = std::size_t{1} << 60U; }}};
  Call good{&result};
  good.where = Where::none;  // no context is needed (V-83)
  expect_order("aclrtReserveMemAddress", contexts, good, in_order);
}

TEST_F(Reserve, V82_V17_TheOutputAfterAFailure) {
  void* result = sentinel();
  EXPECT_EQ(reserve(&result, 0), kBadArgument);
  EXPECT_EQ(reserve(&result, k2MB, nullptr, 2), kBadArgument);
  EXPECT_EQ(result, sentinel());
  const Reserved taken{k2MB};
  EXPECT_EQ(reserve(&result, k2MB, taken.get()), kRefused);
  EXPECT_EQ(result, nullptr);
  result = sentinel();
  EXPECT_EQ(reserve(&result, kMost), kShortage);
  EXPECT_EQ(result, nullptr);
}

TEST_F(Reserve, V68_V74_D89_Flags) {
  for (const std::uint64_t flags :
       {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32U, ~std::uint64_t{0}}) {
    void* result = sentinel();
    EXPECT_EQ(reserve(&result, k2MB, nullptr, flags), kBadArgument) << flags;
  }
  const Physical memory;
  for (const std::uint64_t flags : {0U, 1U}) {
    void* result = nullptr;
    ASSERT_EQ(reserve(&result, k2MB, nullptr, flags), ACL_SUCCESS);
    { const Mapped mapped{result, memory}; }
    EXPECT_EQ(aclrtReleaseMemAddress(result), ACL_SUCCESS);
  }
}

TEST_F(Reserve, V69_D89_OnlyAlignment0) {
  for (const std::size_t alignment : {std::size_t{1}, std::size_t{4096}, k2MB, kGB, kMost}) {
    void* result = nullptr;
    EXPECT_EQ(aclrtReserveMemAddress(&result, k2MB, alignment, nullptr, 0), kBadValue) << alignment;
  }
}

TEST_F(Reserve, V75_V48_V76_V81_D89_SizesAndAlignment) {
  struct Span {
    std::uintptr_t start, end;
  };
  std::vector<Span> spans;
  std::vector<void*> all;
  for (const std::size_t size : {std::size_t{1}, std::size_t{512}, k2MB - 1, k2MB, k2MB + 1, 20 * kMB,
                                 512 * kMB, 512 * kMB + 1, kGB - 1, kGB, kGB + 1, 64 * kGB, kTB}) {
    for (const std::uint64_t flags : {0U, 1U}) {
      void* start = nullptr;
      ASSERT_EQ(reserve(&start, size, nullptr, flags), ACL_SUCCESS) << size;
      ASSERT_NE(start, nullptr);
      EXPECT_EQ(number(start) % (size > 512 * kMB ? kGB : k2MB), 0U) << size;
      spans.push_back({number(start), number(start) + up_to(size, k2MB)});
      all.push_back(start);
    }
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].end, spans[i].start);
  if (!kUnderASanitizer) {
    EXPECT_GE(spans.front().start, 16 * kTB);
    EXPECT_LE(spans.back().end, 24 * kTB);
  }
  const Device plain{4 * kMB, ACL_MEM_MALLOC_HUGE_ONLY};
  for (const Span& span : spans)
    EXPECT_TRUE(number(plain.get()) >= span.end || number(plain.get()) + plain.size() <= span.start);
  for (void* start : all) EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
}

TEST_F(Reserve, V75_WhatWasRoundedUpCanBeMapped) {
  const Physical memory;
  {
    const Reserved place{1};
    const Mapped mapped{place.get(), memory};
    EXPECT_EQ(map(place.get(k2MB), k2MB, memory), kRefused);
  }
  const Reserved place{kGB + 1};
  const Mapped mapped{place.get(kGB), memory};
  EXPECT_EQ(map(place.get(kGB + k2MB), k2MB, memory), kRefused);
}

TEST_F(Reserve, V73_V81_MoreThanTheWindowHolds) {
  for (const std::size_t size :
       {64 * kTB, std::size_t{1} << 60U, kMost - kGB, kMost - k2MB, kMost - 1, kMost}) {
    void* result = nullptr;
    EXPECT_EQ(reserve(&result, size), kShortage) << size;
    EXPECT_EQ(last_error(), kShortage);
  }
  std::vector<void*> all;  // until the addresses are used up
  void* start = nullptr;
  int answer = 0;
  while ((answer = reserve(&start, kTB)) == ACL_SUCCESS && all.size() < 100) all.push_back(start);
  EXPECT_EQ(answer, kShortage);
  EXPECT_GE(all.size(), 3U);
  for (void* each : all) EXPECT_EQ(aclrtReleaseMemAddress(each), ACL_SUCCESS);
  const Reserved again{kTB};
}

TEST_F(Reserve, V81_C17_EachDeviceReservesMoreThanItHas) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  const std::size_t size = up_to(total + total / 8, 20 * kMB);
  std::vector<void*> all;
  for (int i = 0; i < 3 * 8; ++i) {
    void* start = nullptr;
    ASSERT_EQ(reserve(&start, size, nullptr, 1), ACL_SUCCESS) << i;
    all.push_back(start);
  }
  EXPECT_EQ(free_bytes(), free) << "they cost nothing";
  for (void* start : all) EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
}

TEST_F(Reserve, V77_V70_D90_HowADemandedAddressIsAligned) {
  struct Row {
    std::size_t size, alignment;
  };
  Reserved area{8 * kGB};
  void* const base = area.release_now();
  for (const Row& row :
       {Row{1, k2MB}, Row{k2MB, k2MB}, Row{k2MB + 1, 4 * kMB}, Row{3 * kMB, 4 * kMB}, Row{4 * kMB, 4 * kMB},
        Row{5 * kMB, 8 * kMB}, Row{256 * kMB + 1, 512 * kMB}, Row{512 * kMB, 512 * kMB},
        Row{512 * kMB + 1, kGB}, Row{kGB, kGB}, Row{kGB + 1, kGB}, Row{3 * kGB, kGB}}) {
    SCOPED_TRACE(row.size);
    for (const std::size_t offset : {std::size_t{1}, std::size_t{4096}, kMB, row.alignment / 2,
                                     row.alignment - kMB, row.alignment + row.alignment / 2}) {
      void* result = nullptr;
      EXPECT_EQ(reserve(&result, row.size, at(base, offset)), kBadValue) << offset;
    }
    for (const std::size_t offset : {std::size_t{0}, row.alignment, 3 * row.alignment}) {
      const Reserved exact{row.size, at(base, offset)};
      EXPECT_EQ(exact.get(), at(base, offset)) << "V-78";
    }
  }
}

TEST_F(Reserve, V78_V80_C17_AReleasedAddressCanBeHadAgain_Exactly) {
  for (const std::size_t size : {k2MB, 20 * kMB, kGB, 10 * kGB}) {
    Reserved first{size};
    void* const where = first.release_now();
    if (number(where) % up_to(size, 64 * kMB) != 0 && size == 20 * kMB) continue;  // not aligned for a demand
    for (int round = 0; round < 3; ++round) {
      Reserved again{size, where};
      EXPECT_EQ(again.get(), where);
    }
  }
}

TEST_F(Reserve, V72_D90_WhatIsTakenOrOutsideIsRefused) {
  const Reserved taken{4 * kGB};
  const auto refused = [](std::size_t size, void* where) {
    void* result = sentinel();
    EXPECT_EQ(reserve(&result, size, where), kRefused) << size << " at " << where;
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(last_error(), kRefused);
  };
  refused(kGB, taken.get());
  refused(k2MB, taken.get(kGB));
  refused(k2MB, taken.get(4 * kGB - k2MB));
  refused(2 * kGB, taken.get(3 * kGB));
  const Device block{2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY};
  refused(k2MB, block.get());
  for (const std::uintptr_t outside : {2 * kTB, 15 * kTB, 24 * kTB, 24 * kTB + kGB, 100 * kTB, 200 * kTB})
    refused(kGB, address(outside));
  if (kUnderASanitizer) return;  // the window lies elsewhere
  refused(kGB, address(16 * kTB - kGB));
  refused(2 * kGB, address(24 * kTB - kGB));
}

TEST_F(Reserve, V83_V37_D91_NoMemory_NoContext_NoDevice) {
  const std::size_t before = free_bytes();
  const Reserved first{30 * kGB};
  EXPECT_EQ(free_bytes(), before);
  without_context([&] {
    void* start = nullptr;
    EXPECT_EQ(reserve(&start, k2MB), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
  });
  const AlsoOpen other{1};  // reserved with device 0 current, used by device 1
  const Physical there{k2MB, of_device(1)};
  const Mapped mapped{first.get(), there};
}

TEST_F(Reserve, V76_M162_ReservedAddressesAreOfTheReservedKind_MappedOrNot) {
  const Reserved place{4 * kMB};
  const Physical memory;
  const auto is = [&](std::size_t offset, std::uint32_t kind) {
    void* where = place.get(offset);
    std::uint32_t result = 9;
    EXPECT_EQ(aclrtCheckMemType(&where, 1, kind, &result, 0), ACL_SUCCESS);
    return result == 1;
  };
  for (const bool mapped : {false, true}) {
    if (mapped) {
      ASSERT_EQ(map(place.get(), k2MB, memory), ACL_SUCCESS);
    }
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, 4 * kMB - 1}) {
      EXPECT_TRUE(is(offset, ACL_RT_MEM_TYPE_RSVD)) << offset << (mapped ? ", mapped" : "");
      EXPECT_FALSE(is(offset, ACL_RT_MEM_TYPE_DEV)) << offset << (mapped ? ", mapped" : "");
    }
  }
  EXPECT_EQ(aclrtUnmapMem(place.get()), ACL_SUCCESS);
}

TEST(ReserveBeforeADevice, V71_V15_Is107017_AfterTheArguments) {
  in_fresh_process([] {
    void* start = sentinel();
    EXPECT_EQ(reserve(&start, 0), kBadArgument);
    EXPECT_EQ(aclrtReserveMemAddress(&start, k2MB, 1, nullptr, 0), kBadValue);
    EXPECT_EQ(reserve(&start, k2MB), kStale);
    EXPECT_EQ(last_error(), kStale);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(reserve(&start, k2MB), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS) << "it was open once";
    EXPECT_EQ(reserve(&start, k2MB), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
  });
}

}  // namespace virtual_reserve_test
