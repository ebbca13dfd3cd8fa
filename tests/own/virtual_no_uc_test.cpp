// aclrtReserveMemAddressNoUCMemory on Atlas A3.
#include "support/on_product.h"
#include "support/sanitizer.h"
#include "support/virtual_memory.h"

namespace virtual_no_uc_test {

using namespace belay_test;

class NoUc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kUnderThreadSanitizer) GTEST_SKIP() << "the thread sanitizer leaves no such addresses";
  }
};

int reserve_high(void** result, std::size_t size, void* where, std::uint64_t flags = 0,
                 std::size_t alignment = 0) {
  return aclrtReserveMemAddressNoUCMemory(result, size, alignment, where, flags);
}

TEST_F(NoUc, V86_V87_V88_V89_TheFirstMistakeDecides) {
  on_product("A3", [] {
    void* result = sentinel();
    void* const good = address(40 * kTB);
    EXPECT_EQ(reserve_high(nullptr, 0, nullptr, 2, 1), kBadArgument);
    EXPECT_EQ(reserve_high(&result, 0, nullptr, 2, 1), kBadArgument);
    EXPECT_EQ(reserve_high(&result, 1, nullptr, 2, 1), kBadArgument);
    EXPECT_EQ(result, sentinel());
    EXPECT_EQ(reserve_high(&result, 1, nullptr, 1, 1), kUnsupported) << "V-87 before V-88";
    for (const std::uint64_t flags : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32U})
      EXPECT_EQ(reserve_high(&result, kGB, good, flags), kBadArgument) << flags;
    for (const std::size_t size : {std::size_t{1}, k2MB, kGB - 1, kGB + 1, kGB + k2MB, ~std::size_t{0}})
      EXPECT_EQ(reserve_high(&result, size, good), kBadValue) << size;
    for (const std::size_t alignment : {std::size_t{1}, k2MB, kGB})
      EXPECT_EQ(reserve_high(&result, kGB, good, 0, alignment), kBadValue) << alignment;
  });
}

TEST_F(NoUc, V89_C17_From24TBUp_IfItIsFree) {
  on_product("A3", [] {
    void* result = nullptr;
    for (const std::uintptr_t low : {std::size_t{kGB}, 16 * kTB, 18 * kTB, 24 * kTB - kGB})
      EXPECT_EQ(reserve_high(&result, kGB, address(low)), kBadValue) << low;
    for (const std::uintptr_t high : {128 * kTB, 130 * kTB, 223 * kTB, std::size_t{1} << 60U})
      EXPECT_EQ(reserve_high(&result, kGB, address(high)), kShortage)
          << high << ": no such address on this host";
    std::vector<std::uintptr_t> good = {60 * kTB, 60 * kTB + kGB, 90 * kTB};
    if (!kUnderASanitizer) good.insert(good.end(), {24 * kTB, 24 * kTB + kGB, 30 * kTB, 40 * kTB - kGB});
    for (const std::uintptr_t where : good) {
      ASSERT_EQ(reserve_high(&result, kGB, address(where)), ACL_SUCCESS) << where;
      EXPECT_EQ(result, address(where)) << "V-78";
      void* second = sentinel();
      EXPECT_EQ(reserve_high(&second, kGB, address(where)), kShortage) << "taken";
      if (where != 24 * kTB) {
        EXPECT_EQ(reserve_high(&second, 2 * kGB, address(where - kGB)), kShortage) << "taken in part";
      }
      EXPECT_EQ(aclrtReleaseMemAddress(result), ACL_SUCCESS);
      EXPECT_EQ(reserve_high(&result, kGB, address(where)), ACL_SUCCESS) << "V-80";
      EXPECT_EQ(aclrtReleaseMemAddress(result), ACL_SUCCESS);
    }
  });
}

TEST_F(NoUc, V92_C17_32TBAt40TB) {
  on_product("A3", [] {
    const std::size_t before = free_bytes();
    void* result = nullptr;
    void* const where = address((kUnderASanitizer ? 60 : 40) * kTB);  // there the window ends at 57 TB
    const std::size_t size = (kUnderASanitizer ? 20 : 32) * kTB;      // and the heap begins at 96 TB
    ASSERT_EQ(reserve_high(&result, size, where, 1), ACL_SUCCESS);
    EXPECT_EQ(result, where);
    EXPECT_EQ(free_bytes(), before);
    const Physical memory;
    for (const std::size_t offset : {std::size_t{0}, 10 * kTB, size - k2MB}) {
      const Mapped mapped{at(result, offset), memory};
      write_to(mapped.get(), pattern(100, 1));
      EXPECT_EQ(read_from(mapped.get(), 100), pattern(100, 1));
    }
    EXPECT_EQ(map(at(result, size), k2MB, memory), kRefused);
    EXPECT_EQ(aclrtReleaseMemAddress(result), ACL_SUCCESS);
  });
}

TEST_F(NoUc, V91_D93_ItBelongsToNoDevice) {
  on_product("A3", [] {
    const AlsoOpen other{1};
    void* result = nullptr;
    ASSERT_EQ(reserve_high(&result, 2 * kGB, address(50 * kTB)), ACL_SUCCESS);
    {
      const Physical here, there{k2MB, of_device(1)}, host{k2MB, of_host()};
      const Mapped first{result, here}, second{at(result, k2MB), there}, third{at(result, 4 * kMB), host};
      for (const Mapped* mapped : {&first, &second, &third}) {
        write_to(mapped->get(), pattern(100, static_cast<unsigned>(number(mapped->get()) % 97)));
        EXPECT_EQ(read_from(mapped->get(), 100),
                  pattern(100, static_cast<unsigned>(number(mapped->get()) % 97)));
      }
      EXPECT_EQ(access_of_device(second.get(), 1), 3U);
      EXPECT_EQ(access_of_device(second.get(), 0), 0U);
      EXPECT_EQ(aclrtReleaseMemAddress(result), kRefused) << "V-95";
      const Physical giant{kGB, of_device(0, ACL_MEM_HUGE1G)};
      const Mapped fourth{at(result, kGB), giant};
    }
    EXPECT_EQ(aclrtReleaseMemAddress(at(result, kGB)), kBadValue);
    EXPECT_EQ(aclrtReleaseMemAddress(result), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(result), kBadValue);
  });
}

TEST_F(NoUc, V91_V15_BeforeADeviceIsOpen) {
  in_fresh_process({{"BELAY_PRODUCT", "A3"}}, [] {
    void* result = sentinel();
    EXPECT_EQ(reserve_high(&result, kGB, address(40 * kTB)), kStale);
    EXPECT_EQ(reserve_high(&result, 0, address(40 * kTB)), kBadArgument);
  });
}

}  // namespace virtual_no_uc_test
