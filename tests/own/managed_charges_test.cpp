// What pages of managed memory cost, to the byte, on devices that are small.
#include <csignal>

#include "support/managed.h"
#include "support/on_product.h"
#include "support/scratch.h"

namespace managed_charges_test {

using namespace belay_test;

const Settings kSmall = {{"BELAY_HBM", "64M"}, {"BELAY_DEVICES", "2"}};

std::size_t free_of(aclrtMemAttr kind) {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(kind, &free, &total), ACL_SUCCESS);
  return free;
}

int fill(void* start, std::size_t count = 1) { return aclrtMemset(start, count, 7, count); }

TEST(ManagedCharges, V273_EachPageIsOneHugePage) {
  on_product("A2", kSmall, [] {
    const std::size_t all = free_bytes(), huge = free_of(ACL_HBM_MEM_HUGE);
    Managed block{20 * kManagedPage};
    for (std::size_t page = 0; page < 20; ++page) {
      EXPECT_EQ(fill(block.page(page)), ACL_SUCCESS);
      EXPECT_EQ(all - free_bytes(), (page + 1) * kManagedPage) << page;
      EXPECT_EQ(huge - free_of(ACL_HBM_MEM_HUGE), (page + 1) * kManagedPage) << page;
    }
    block.free_now();
    EXPECT_EQ(free_bytes(), all);
    EXPECT_EQ(free_of(ACL_HBM_MEM_HUGE), huge);
  });
}

TEST(ManagedCharges, V273_PagesAndBlocksShareTheDevice) {
  on_product("A2", kSmall, [] {
    Managed block{32 * kManagedPage};
    EXPECT_EQ(fill(block.get(), 31 * kManagedPage), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), kManagedPage);
    void *last = nullptr, *none = nullptr;
    EXPECT_EQ(aclrtMallocAlign32(&last, kManagedPage, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    EXPECT_EQ(aclrtMallocAlign32(&none, 1, ACL_MEM_MALLOC_HUGE_ONLY), kShortage);
    block.free_now();
    EXPECT_EQ(free_bytes(), 31 * kManagedPage);
    EXPECT_EQ(aclrtMallocAlign32(&none, 31 * kManagedPage, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(none), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(last), ACL_SUCCESS);
  });
}

TEST(ManagedCharges, V273_WithoutAFreePage_AnAccessLeavesThePageWhereItIs) {
  on_product("A2", kSmall, [] {
    Managed block{3 * kManagedPage};
    void* rest = nullptr;
    EXPECT_EQ(fill(block.page(0)), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocAlign32(&rest, free_bytes(), ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    ASSERT_EQ(free_bytes(), 0U);
    EXPECT_EQ(fill(block.page(1), 64), ACL_SUCCESS) << "the call works all the same";
    EXPECT_EQ(read_from(block.page(1), 64), Bytes(64, 7));
    EXPECT_EQ(free_bytes(), 0U);
    EXPECT_EQ(::aclrtMemManagedPrefetchAsync(block.page(2), 1, device_side(0), 0, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(prefer(block.page(1), 1, host_side()), ACL_SUCCESS) << "so it is not on the device";
    EXPECT_EQ(fill(block.page(0)), ACL_SUCCESS);
    EXPECT_EQ(prefer(block.page(0), 1, host_side()), kRefused) << "this one has been there before";
    EXPECT_EQ(aclrtFree(rest), ACL_SUCCESS);
    const std::size_t before = free_bytes();
    EXPECT_EQ(fill(block.page(1)), ACL_SUCCESS);
    EXPECT_EQ(before - free_bytes(), kManagedPage) << "now there is room";
    block.free_now();
    EXPECT_EQ(free_bytes(), 64 * kMB) << "exactly what was taken comes back";
  });
}

TEST(ManagedCharges, V273_AFullDeviceKeepsNoPageFromAnother) {
  on_product("A2", kSmall, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    {
      const Managed block{kManagedPage};
      EXPECT_EQ(fill(block.get(), 64), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), 64 * kMB - kManagedPage);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* all = nullptr;
      ASSERT_EQ(aclrtMallocAlign32(&all, 64 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
      EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 7));
      EXPECT_EQ(free_on(1), 64 * kMB - kManagedPage) << "it stays on device 1";
      EXPECT_EQ(aclrtFree(all), ACL_SUCCESS);
      EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 7));
      EXPECT_EQ(free_on(1), 64 * kMB) << "until device 0 has room";
      EXPECT_EQ(free_bytes(), 64 * kMB - kManagedPage);
    }
    EXPECT_EQ(free_bytes(), 64 * kMB);
  });
}

TEST(ManagedCharges, V273_TheLimitOfHugePagesHoldsForPagesToo) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}, {"BELAY_NORMAL", "60M"}}, [] {
    const Managed block{4 * kManagedPage};
    EXPECT_EQ(fill(block.get(), 4 * kManagedPage), ACL_SUCCESS);
    EXPECT_EQ(free_of(ACL_HBM_MEM_HUGE), 0U) << "two of the four";
    EXPECT_EQ(free_of(ACL_HBM_MEM_NORMAL), 60 * kMB) << "normal pages do not help";
    EXPECT_EQ(read_from(block.get(), 4 * kManagedPage), Bytes(4 * kManagedPage, 7));
  });
}

TEST(ManagedCharges, V299_CopiesOfReadMostlyPagesAreCharged_AndGivenBack) {
  on_product("A2", kSmall, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Managed block{3 * kManagedPage};
    EXPECT_EQ(read_mostly(block.get(), 3 * kManagedPage), ACL_SUCCESS);
    read_from(block.get(), 3 * kManagedPage);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    read_from(block.get(), 3 * kManagedPage);
    EXPECT_EQ(free_on(0), 64 * kMB - 3 * kManagedPage);
    EXPECT_EQ(free_on(1), 64 * kMB - 3 * kManagedPage);
    block.free_now();
    EXPECT_EQ(free_on(0), 64 * kMB);
    EXPECT_EQ(free_on(1), 64 * kMB);
  });
}

TEST(ManagedCharges, V286_M405_TheResetOfADeviceEndsItsCharges_TheBlockStays) {
  on_product("A2", kSmall, [] {
    Managed block{4 * kManagedPage};
    write_to(block.get(), pattern(4 * kManagedPage, 17));
    EXPECT_EQ(free_bytes(), 64 * kMB - 4 * kManagedPage);
    ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), 64 * kMB) << "the device starts empty";
    EXPECT_EQ(read_from(block.get(), 4 * kManagedPage), pattern(4 * kManagedPage, 17));
    EXPECT_EQ(free_bytes(), 64 * kMB - 4 * kManagedPage) << "read by the device again";
    block.free_now();
    EXPECT_EQ(free_bytes(), 64 * kMB);
  });
}

TEST(ManagedCharges, V273_OtherProcessesSeeWhatIsTaken_AndGetItBack) {
  const Scratch place;
  Settings shared = kSmall;
  shared.insert(shared.end(), {{"BELAY_MACHINES", place.path()}, {"BELAY_MACHINE", "managed"}});
  on_product("A2", shared, [] {
    const Managed block{5 * kManagedPage};
    EXPECT_EQ(fill(block.get(), 5 * kManagedPage), ACL_SUCCESS);
    const int status = run_in_fresh_process([] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), 64 * kMB - 5 * kManagedPage) << "those of the other process";
      const Managed mine{3 * kManagedPage};
      EXPECT_EQ(fill(mine.get(), 3 * kManagedPage), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), 64 * kMB - 8 * kManagedPage);
      if (!::testing::Test::HasFailure()) ::raise(SIGKILL);
    });
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ends without freeing anything";
    EXPECT_EQ(free_bytes(), 64 * kMB - 5 * kManagedPage) << "and what it had is free";
  });
}

// The state of a page whose device has no room for it: it is on one side, whatever was asked for.
void expect_on_one_side(const Managed& block, const char* when) {
  int accepted = 0;
  for (const auto& side : {host_side(), device_side(0), device_side(1)}) {
    if (prefer(block.get(), 1, side) == ACL_SUCCESS) ++accepted;
  }
  EXPECT_EQ(accepted, 1) << when << ": a page that is not read-mostly is on one side";
}

TEST(ManagedCharges, V299_V300_V273_OnAFullDevice_CopiesEndAllTheSame) {
  for (const bool by_write : {true, false}) {
    on_product("A2", kSmall, [&] {
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      Managed block{kManagedPage};
      EXPECT_EQ(read_mostly(block.get(), 1), ACL_SUCCESS);
      read_from(block.get(), 64);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* all = nullptr;
      ASSERT_EQ(aclrtMallocAlign32(&all, 64 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
      EXPECT_EQ(by_write ? fill(block.get()) : no_longer_read_mostly(block.get(), 1, device_side(0)),
                ACL_SUCCESS);
      EXPECT_FALSE(is_read_mostly(block.get(), 1));
      expect_on_one_side(block, by_write ? "written by a full device" : "to stay on a full device");
      EXPECT_EQ(aclrtFree(all), ACL_SUCCESS);
      block.free_now();
      EXPECT_EQ(free_on(0), 64 * kMB);
      EXPECT_EQ(free_on(1), 64 * kMB);
    });
  }
}

}  // namespace managed_charges_test
