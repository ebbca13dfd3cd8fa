// Where managed memory lies when its place is taken or addresses are short. Plain memory stays plain.
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>

#include "support/managed.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace managed_window_test {

using namespace belay_test;

const Settings kQuiet{{"BELAY_LEAKS", "off"}};
constexpr std::uintptr_t kTera = std::uintptr_t{1} << 40U;

int type_of(const void* pointer) {
  aclrtPtrAttributes got{};
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &got), ACL_SUCCESS) << pointer;
  return got.location.type;
}

// Managed memory works, and what the program has is not taken for it.
void expect_apart() {
  const Managed block{3 * kManagedPage};
  static int fixed = 0;
  int local = 0;
  const auto heap = std::make_unique<Bytes>(kMB, std::uint8_t{5});
  EXPECT_EQ(type_of(block.get()), ACL_MEM_LOCATION_TYPE_MANAGED);
  for (const void* pointer :
       {static_cast<const void*>(&fixed), static_cast<const void*>(&local),
        static_cast<const void*>(heap->data()), reinterpret_cast<const void*>(&expect_apart)}) {
    EXPECT_EQ(type_of(pointer), ACL_MEM_LOCATION_TYPE_UNREGISTERED) << pointer;
    EXPECT_EQ(read_mostly(pointer, 1), kBadValue) << "V-291: no managed address";
  }
  EXPECT_EQ(aclrtMemcpy(block.get(), kMB, heap->data(), kMB, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  std::memset(block.get(kMB), 6, 64);
  EXPECT_EQ(aclrtMemcpy(&local, 4, block.get(kMB), 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(local, 0x06060606);
  EXPECT_EQ(*at(block.get(), kMB - 1), 5);
}

TEST(ManagedWindow, V270_V291_PlainMemoryIsNotManaged) {
  in_fresh_process(kQuiet, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    expect_apart();
  });
}

TEST(ManagedWindow, V270_WhereThePlaceIsTaken_ItLiesElsewhere_AndTheMappingStays) {
  if (kUnderASanitizer) GTEST_SKIP() << "the window lies elsewhere under a sanitizer";
  for (const std::uintptr_t place : {9 * kTera, 10 * kTera, 12 * kTera - 2 * kMB}) {
    in_fresh_process(kQuiet, [&] {
      void* const wished = reinterpret_cast<void*>(place);
      void* const mine = ::mmap(wished, 2 * kMB, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      ASSERT_EQ(mine, wished);
      std::memset(mine, 0x77, 2 * kMB);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      expect_apart();
      EXPECT_EQ(type_of(mine), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
      const Managed large{1024 * kGB};
      EXPECT_EQ(aclrtMemset(large.get(1024 * kGB - 4), 4, 1, 4), ACL_SUCCESS) << "it is as large as ever";
      EXPECT_EQ(std::count(at(mine, 0), at(mine, 2 * kMB), 0x77), static_cast<std::ptrdiff_t>(2 * kMB));
    });
  }
}

TEST(ManagedWindow, V270_V285_WithALimitOnAddresses) {
  if (kUnderASanitizer) GTEST_SKIP() << "a sanitizer needs more addresses than the limit leaves";
  in_fresh_process(kQuiet, [] {
    const rlimit some{16 * kGB, 16 * kGB};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &some), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    expect_apart();
    void* block = nullptr;
    EXPECT_EQ(::aclrtMemAllocManaged(&block, 64 * kGB, 1), kShortage) << "more than the limit";
    expect_apart();
  });
}

TEST(ManagedWindow, V286_R69_AForkedChildHasNoneOfIt) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    const Managed block{kManagedPage};
    EXPECT_EQ(aclrtMemset(block.get(), 64, 3, 64), ACL_SUCCESS);
    in_fresh_process(kQuiet, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(block.get()), kBadValue) << "the parent's block is none of the child's";
      expect_apart();
    });
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 3)) << "the parent has it still";
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace managed_window_test
