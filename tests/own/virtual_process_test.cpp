// Virtual memory and the life of processes: fork, exit, kill, and the machine that others share.
#include "support/members.h"
#include "support/this_program.h"
#include "support/virtual_memory.h"

namespace virtual_process_test {

using namespace belay_test;

TEST(VirtualFork, V43_D72_TheChildHasNothing_AndTheParentLosesNothing) {
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const MappedBlock here{4 * kMB}, host{k2MB, mappable({of_host(), of_device()}).front()};
    const Physical loose;
    write_to(here.get(), pattern(4096, 1));
    write_to(host.get(), pattern(4096, 2));
    const std::size_t before = free_bytes();
    in_fresh_process([&] {
      void* place = nullptr;
      aclrtDrvMemHandle handle = nullptr;
      const aclrtPhysicalMemProp prop = of_device();
      EXPECT_EQ(reserve(&place, k2MB), kStale);
      EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &prop, 0), kStale);
      EXPECT_EQ(aclrtUnmapMem(here.get()), kStale);
      EXPECT_EQ(aclrtReleaseMemAddress(here.get()), kStale);
      EXPECT_EQ(map(here.get(), k2MB, loose), kStale);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtUnmapMem(here.get()), kRefused);
      EXPECT_EQ(aclrtReleaseMemAddress(here.get()), kBadValue);
      EXPECT_EQ(aclrtFreePhysical(loose), kBadValue);
      EXPECT_EQ(aclrtMemset(here.get(), 1, 0, 1), kRefused);
      const MappedBlock own{8 * kMB};
      EXPECT_EQ(aclrtMemset(own.get(), 8 * kMB, 0x33, 8 * kMB), ACL_SUCCESS);
    });
    EXPECT_EQ(read_from(here.get(), 4096), pattern(4096, 1));
    EXPECT_EQ(read_from(host.get(), 4096), pattern(4096, 2));
    EXPECT_EQ(free_bytes(), before);
  });
}

// Takes 32 MB of both devices in handles: mapped, freed while mapped, and loose.
Answer hold_much(const Order&) {
  Answer answer;
  answer.code = 0;
  for (std::uint32_t device = 0; device < 2; ++device) {
    void* place = nullptr;
    aclrtDrvMemHandle handles[3] = {};
    const aclrtPhysicalMemProp prop = of_device(device), host = of_host();
    answer.code |= aclrtSetDevice(static_cast<int>(device));
    answer.code |= reserve(&place, 64 * kMB);
    for (aclrtDrvMemHandle& handle : handles) answer.code |= aclrtMallocPhysical(&handle, 8 * kMB, &prop, 0);
    answer.code |= map(place, 8 * kMB, handles[0]);
    answer.code |= map(at(place, 8 * kMB), 8 * kMB, handles[0]);
    answer.code |= map(at(place, 16 * kMB), 8 * kMB, handles[1]);
    answer.code |= aclrtFreePhysical(handles[1]);
    answer.code |= aclrtMemset(place, 24 * kMB, 1, 24 * kMB);
    answer.code |= aclrtMallocPhysical(&handles[2], 8 * kMB, &prop, 0);
    answer.code |= aclrtMallocPhysical(&handles[2], 8 * kMB, &host, 0);
    answer.code |= reserve(&place, 8 * kMB);
    if (kHostCanBeMapped) answer.code |= map(place, 8 * kMB, handles[2]);
  }
  answer.code |= aclrtSetDevice(0);
  return answer;
}

TEST(VirtualEnd, V37_D52_D66_D67_HoweverAProcessEnds_ItsMemoryIsFreeForTheNext) {
  const TestMachine machine{"64M"};
  const MemberPtr watcher = machine.join();
  ASSERT_EQ(watcher->free_now(), 64 * kMB);
  for (const int way : {-1, 0, 1, 2, 3}) {
    SCOPED_TRACE(way);
    const MemberPtr holder = machine.join(hold_much);
    ASSERT_EQ(holder->ask({Do::own}).code, 0);
    EXPECT_EQ(watcher->free_now(), 32 * kMB) << "others see what is mapped or loose";
    if (way < 0)
      holder->die();
    else
      holder->end(static_cast<Way>(way));
    EXPECT_EQ(watcher->free_now(), 64 * kMB);
    EXPECT_EQ(watcher->set_device(1), 0);
    EXPECT_EQ(watcher->free_now(), 64 * kMB);
    EXPECT_EQ(watcher->set_device(0), 0);
  }
}

TEST(VirtualEnd, V118_D52_AnotherProcessMayHoldTheMemory) {
  const TestMachine machine{"64M"};
  const Own create = [](const Order& order) {
    Answer answer;
    aclrtDrvMemHandle handle = nullptr;
    const aclrtPhysicalMemProp prop = of_device();
    answer.code = order.pointer != 0 ? aclrtFreePhysical(reinterpret_cast<void*>(order.pointer))
                                     : aclrtMallocPhysical(&handle, order.size, &prop, 0);
    answer.first = number(handle);
    return answer;
  };
  const MemberPtr one = machine.join(create), two = machine.join(create);
  const Answer held = one->ask({Do::own, 0, 0, 40 * kMB});
  ASSERT_EQ(held.code, 0);
  EXPECT_EQ(two->ask({Do::own, 0, 0, 26 * kMB}).code, kShortage);
  EXPECT_EQ(two->ask({Do::own, 0, 0, 24 * kMB}).code, 0);
  EXPECT_EQ(one->ask({Do::own, 0, 0, 1}).code, kShortage);
  EXPECT_EQ(one->ask({Do::own, 0, held.first}).code, 0);
  EXPECT_EQ(two->ask({Do::own, 0, 0, 40 * kMB}).code, 0);
}

TEST(VirtualEnd, C21_R67_ExitWithEverythingMapped) {
  if (!scenario().empty()) {
    if (hold_much({}).code != 0) std::_Exit(30);
    if (scenario() == "exit") std::exit(0);
    if (scenario() == "finalize") std::exit(aclFinalize());
    return;
  }
  for (const char* way : {"return", "exit", "finalize"}) {
    const Ending ending = run_this_test_as(way, {{"BELAY_HBM", "64M"}, {"BELAY_DEVICES", "2"}});
    EXPECT_FALSE(ending.hung) << way;
    EXPECT_TRUE(WIFEXITED(ending.status)) << way << ": " << ending;
    EXPECT_NE(WEXITSTATUS(ending.status), 30) << way << ": " << ending;
  }
}

}  // namespace virtual_process_test
