// When addresses are given out again, and that they can be wished for.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "fastpath/fast_path.h"
#include "memory/device_figures.h"
#include "support/memory_world.h"

namespace belay {
namespace address_reuse_test {

using namespace belay_test;

// Without a quarantine, the address of a block that was freed is the next that is given out (D-39).
TEST(AddressReuse, D39_AtOnce_AndDelayedByAQuarantine) {
  for (const std::size_t bytes : {std::size_t{4096}, 2_MiB, 700_MiB}) {
    SCOPED_TRACE(bytes);
    MemoryWorld world;
    const auto again = [&] {
      const std::uintptr_t block = world.block(bytes);
      EXPECT_TRUE(world.free(block));
      return block;
    };
    const std::uintptr_t first = again();
    EXPECT_EQ(again(), first);
    world.memory().set_quarantine(4 * bytes);
    std::set<std::uintptr_t> seen;
    EXPECT_TRUE(seen.insert(again()).second);  // where it was kept before: freed only now
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(seen.insert(again()).second) << i;
    // Four are held back; those freed before them are free, and stay four blocks behind.
    std::vector<std::uintptr_t> last;
    for (int i = 0; i < 20; ++i) {
      last.push_back(again());
      for (int back = 1; back <= 4 && back <= i; ++back)
        EXPECT_NE(last[last.size() - 1], last[last.size() - 1 - static_cast<std::size_t>(back)]);
    }
    EXPECT_LE(std::set(last.begin(), last.end()).size(), 6U + 32U) << "held back, not lost";
    world.memory().set_quarantine(0);
    const std::uintptr_t then = again();
    EXPECT_EQ(again(), then);
  }
}

TEST(AddressReuse, WhileFreedAddressesAreHeld_NoneComesBack_AndAllDoAfterwards) {
  MemoryWorld world;
  const std::uintptr_t block = world.block(2_MiB), large = world.block(600_MiB);
  world.memory().hold_freed_addresses(true);
  EXPECT_TRUE(world.free(block));
  EXPECT_TRUE(world.free(large));
  EXPECT_EQ(world.used(), 0U) << "the memory is free, the addresses are not";
  EXPECT_EQ(world.block(2_MiB, block), 0U);
  EXPECT_EQ(world.block(600_MiB, large), 0U);
  for (int i = 0; i < 600; ++i) {
    const std::uintptr_t other = world.block(2_MiB);
    EXPECT_NE(other, block);
    EXPECT_TRUE(world.free(other));
  }
  world.memory().hold_freed_addresses(false);
  EXPECT_EQ(world.block(2_MiB, block), block);
  EXPECT_EQ(world.block(600_MiB, large), large);
}

// The fast path hands out what a thread has freed itself: it must not while addresses are held.
TEST(AddressReuse, TheFastPathHeedsIt) {
  MemoryWorld world;
  const std::uint64_t state = FastPathState::now();
  const std::uintptr_t kept = world.block(4096);
  ASSERT_TRUE(world.free(kept));
  world.memory().set_device_of_thread(state, 0);
  std::uintptr_t block = world.block(4096);
  ASSERT_EQ(free_fast(block), ACL_SUCCESS);
  block = world.block(4096);
  world.memory().hold_freed_addresses(true);
  EXPECT_EQ(free_fast(block), 42);
  EXPECT_TRUE(world.free(block));
  world.memory().hold_freed_addresses(false);
}

TEST(AddressReuse, D31_BlocksAndReservationsAtWishedAddresses) {
  MemoryWorld world;
  const std::uintptr_t base = world.memory().map().window().base;
  const std::uintptr_t place = base + world.memory().map().window().bytes / 2;
  EXPECT_EQ(world.block(4096, place + 8192), place + 8192);
  EXPECT_EQ(world.block(4096, place + 8192), 0U) << "taken";
  EXPECT_EQ(world.block(8192, place + 4096), 0U) << "taken, a part of it";
  EXPECT_EQ(world.block(4096, place + 4096), place + 4096);
  EXPECT_EQ(world.block(4096, place + 12'000), 0U) << "not a multiple of its page";
  EXPECT_EQ(world.block(2_MiB, place + 2_MiB, 0, ACL_MEM_MALLOC_HUGE_ONLY), 0U) << "a heap of small pages";
  EXPECT_EQ(world.memory().mappings().reserve(1_GiB, place), 0U) << "blocks are there";
  EXPECT_EQ(world.memory().mappings().reserve(1_GiB, place + 1_GiB), place + 1_GiB);
  EXPECT_EQ(world.block(4096, place + 1_GiB), 0U) << "reserved";
  EXPECT_EQ(world.block(2_MiB, place + 2_GiB + 2_MiB, 0, ACL_MEM_MALLOC_HUGE_ONLY), place + 2_GiB + 2_MiB);
  EXPECT_EQ(world.block(2_MiB, place + 3_GiB - 1_MiB, 0, ACL_MEM_MALLOC_HUGE_ONLY), 0U);
  EXPECT_EQ(world.block(600_MiB, place + 4_GiB), place + 4_GiB);
  EXPECT_EQ(world.block(600_MiB, place + 4_GiB), 0U);
  EXPECT_EQ(world.block(4096, base - 4096), 0U) << "outside of the window";
  EXPECT_EQ(world.block(4096, base + world.memory().map().window().bytes), 0U);
  EXPECT_TRUE(world.free(place + 8192));
  EXPECT_TRUE(world.free(place + 4_GiB));
  const BytesRead bytes(1000, 7);
  EXPECT_TRUE(world.write(place + 4096, bytes));
  EXPECT_EQ(world.read(place + 4096, 1000), bytes);
}

// 64 devices of 255 GB in one process: more than the driver's window has.
TEST(AddressReuse, D31_AllDevicesInFull) {
  constexpr std::uint32_t kDevices = 64;
  MemoryWorld world{{}, kMostDeviceBytes, kDevices};
  if (world.memory().map().window().bytes < 24_TiB)
    GTEST_SKIP() << "the system gives " << world.memory().map().window().bytes / 1_GiB << " GB of addresses";
  for (std::uint32_t device = 0; device < kDevices; ++device) {
    // In pieces of all sizes, so that carved heaps are used as well as whole ones.
    std::size_t left = kMostDeviceBytes;
    for (const std::size_t bytes : {200_GiB, 50_GiB, 4_GiB, 512_MiB, 510_MiB}) {
      ASSERT_NE(world.block(bytes, 0, device), 0U) << device << ": " << bytes;
      left -= bytes;
    }
    for (; left > 0; left -= 2_MiB) ASSERT_NE(world.block(2_MiB, 0, device), 0U) << device;
    EXPECT_EQ(world.memory().device(device).pool().free, 0U);
  }
}

}  // namespace address_reuse_test
}  // namespace belay
