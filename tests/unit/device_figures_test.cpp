#include "memory/device_figures.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "machine/machine.h"

#include "support/slices.h"

namespace belay {
namespace device_figures_test {

// A device of a machine of its own, by page and bytes.
struct Device {
  explicit Device(const DeviceLimits& limits) {
    machine::Wish wish;
    wish.name = machine::kPrivateName;
    wish.limits = in_pages(limits);
    machine = std::move(*machine::Machine::join(wish));
  }
  machine::PageQuota& quota() const { return machine->quota(0); }
  bool take(Page page, std::size_t bytes, bool p2p) const {
    return quota().take(quota_kind(page, p2p), bytes / 4_KiB);
  }
  void give(Page page, std::size_t bytes, bool p2p) const {
    quota().give(quota_kind(page, p2p), bytes / 4_KiB);
  }
  Amounts pool() const { return pool_figures(quota().limits(), quota().used()); }
  Amounts of(Page page, bool p2p) const { return kind_figures(quota().limits(), quota().used(), page, p2p); }

  std::unique_ptr<machine::Machine> machine;
};

TEST(DeviceFigures, M430_OnePoolServesEveryPageKind_ToTheByte) {
  const Device device{{.total = 1_GiB + 4_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}}};
  EXPECT_TRUE(device.take(Page::Huge1G, 1_GiB, false));
  EXPECT_TRUE(device.take(Page::Huge2M, 2_MiB, false));
  EXPECT_TRUE(device.take(Page::Normal, 2_MiB, false));
  EXPECT_FALSE(device.take(Page::Normal, 4_KiB, false));
  EXPECT_EQ(device.pool().free, 0U);
  device.give(Page::Huge1G, 1_GiB, false);
  EXPECT_EQ(device.pool().free, 1_GiB);
  EXPECT_EQ(device.pool().total, 1_GiB + 4_MiB);
}

TEST(DeviceFigures, M430_KindLimitIsExact_AndOtherKindsGoOn) {
  const Device device{{.total = 64_MiB, .normal = {}, .huge = 4_MiB, .huge1g = {}, .p2p = {}}};
  EXPECT_TRUE(device.take(Page::Huge2M, 4_MiB, false));
  EXPECT_FALSE(device.take(Page::Huge2M, 2_MiB, false));
  EXPECT_TRUE(device.take(Page::Normal, 60_MiB, false));
  EXPECT_FALSE(device.take(Page::Normal, 4_KiB, false));
}

TEST(DeviceFigures, D56_M430_HugeAndNormalAlwaysAddUpToThePool) {
  const std::optional<std::size_t> none;
  for (const DeviceLimits& limits :
       {DeviceLimits{64_MiB, none, none, none, none}, DeviceLimits{64_MiB, none, 16_MiB, none, none},
        DeviceLimits{64_MiB, 8_MiB, none, none, none}, DeviceLimits{64_MiB, 8_MiB, 16_MiB, none, none}}) {
    const Device device{limits};
    for (int step = 0; step < 6; ++step) {
      device.take(step % 2 == 0 ? Page::Normal : Page::Huge2M, step % 2 == 0 ? 4_KiB : 2_MiB, false);
      const Amounts normal = device.of(Page::Normal, false);
      const Amounts huge = device.of(Page::Huge2M, false);
      EXPECT_EQ(normal.free + huge.free, device.pool().free);
      EXPECT_EQ(normal.total + huge.total, device.pool().total);
      EXPECT_LE(normal.free, normal.total);
      EXPECT_LE(huge.free, huge.total);
    }
  }
}

TEST(DeviceFigures, M423_P2pLimit_CountsOnlyP2pBlocks_AndARefusalTakesNothing) {
  const Device device{{.total = 64_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = 2_MiB}};
  EXPECT_FALSE(device.take(Page::Huge2M, 4_MiB, true));
  EXPECT_EQ(device.pool().free, 64_MiB);
  EXPECT_TRUE(device.take(Page::Huge2M, 2_MiB, true));
  EXPECT_FALSE(device.take(Page::Normal, 4_KiB, true));
  EXPECT_TRUE(device.take(Page::Normal, 4_KiB, false));
  EXPECT_EQ(device.of(Page::Huge2M, true).free, 0U);
  device.give(Page::Huge2M, 2_MiB, true);
  EXPECT_TRUE(device.take(Page::Normal, 2_MiB, true));
}

TEST(DeviceFigures, M11_ManyThreads_NeverOverdrawAndLoseNothing) {
  const Device device{{.total = 8_MiB, .normal = {}, .huge = {}, .huge1g = {}, .p2p = {}}};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0, rounds = belay_test::slice(20000, 1000000); i < rounds; ++i) {
        if (device.take(Page::Normal, 1_MiB, false)) device.give(Page::Normal, 1_MiB, false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device.pool().free, 8_MiB);
}

}  // namespace device_figures_test
}  // namespace belay
