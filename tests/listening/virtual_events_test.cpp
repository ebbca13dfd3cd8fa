// Reservations, physical memory, mappings and managed memory: what is told of each, at its beginning and at
// its end; what the census and the summary make of it.
#include <unistd.h>

#include <map>

#include "base/words.h"
#include "belay/belay.h"
#include "machine/machine.h"
#include "support/listening.h"
#include "support/pieces.h"
#include "support/scratch.h"
#include "support/settings.h"

namespace virtual_events_test {

using namespace belay;
using namespace belay_test;
using observe::Object;
using observe::Operation;
using observe::What;
using pieces::kGranule;

constexpr observe::Mask kLives = bits(What::Allocated, What::Freed, What::Created, What::Destroyed);

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

class VirtualEvents : public Listening {
 protected:
  // Hints apart: sizes here are odd on purpose (V-119).
  Heard the_event(observe::Mask mask = Recorder::kAll & ~observe::bit(What::Noted)) {
    std::vector<Heard> all = heard(mask);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Heard{} : all[0];
  }
};

void expect_same_thing(const Heard& born, const Heard& died) {
  EXPECT_EQ(died.event.object, born.event.object);
  EXPECT_EQ(died.event.serial, born.event.serial);
  EXPECT_EQ(died.event.address, born.event.address);
  EXPECT_EQ(died.event.bytes, born.event.bytes);
  EXPECT_EQ(died.event.units, born.event.units);
  EXPECT_EQ(died.event.page_shift, born.event.page_shift);
  EXPECT_EQ(died.event.device, born.event.device);
}

bool swept(const Heard& heard) { return (heard.event.flags & observe::Event::kSwept) != 0; }

TEST_F(VirtualEvents, V66_V93_AReservation) {
  for (const std::size_t size : {std::size_t{1}, kGranule - 1, kGranule, kGranule + 1, 3 * kGB}) {
    char* start = pieces::reserved(size);
    const Heard born = the_event();
    EXPECT_EQ(born.event.what, What::Created);
    EXPECT_EQ(born.event.object, Object::Reservation);
    EXPECT_STREQ(born.event.function_name(), "aclrtReserveMemAddress");
    EXPECT_EQ(born.event.thread, static_cast<std::uint32_t>(::gettid()));
    EXPECT_EQ(born.event.address, number(start));
    EXPECT_EQ(born.event.bytes, size);
    EXPECT_NE(born.event.serial, 0U);
    ASSERT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
    const Heard died = the_event();
    EXPECT_EQ(died.event.what, What::Destroyed);
    EXPECT_STREQ(died.event.function_name(), "aclrtReleaseMemAddress");
    EXPECT_FALSE(swept(died));
    expect_same_thing(born, died);
  }
}

TEST_F(VirtualEvents, V99_V126_PhysicalMemoryOfADevice_ByItsHandle) {
  struct Case {
    aclrtMemAttr attribute;
    std::size_t asked, bytes;
    unsigned page_shift;
    bool p2p;
  };
  for (const Case& each : {Case{ACL_HBM_MEM_HUGE, 3'000'000, 2 * kGranule, 21, false},
                           Case{ACL_HBM_MEM_NORMAL, 1, kGranule, 21, false},
                           Case{ACL_MEM_P2P_HUGE, kGranule, kGranule, 21, true},
                           Case{ACL_HBM_MEM_HUGE1G, kGB + 1, 2 * kGB, 30, false}}) {
    aclrtDrvMemHandle handle = pieces::on_device(each.asked, 0, each.attribute);
    const Heard born = the_event();
    EXPECT_EQ(born.event.what, What::Allocated);
    EXPECT_EQ(born.event.object, Object::Physical);
    EXPECT_STREQ(born.event.function_name(), "aclrtMallocPhysical");
    EXPECT_EQ(born.event.address, number(handle));
    EXPECT_EQ(born.event.bytes, each.asked);
    EXPECT_EQ(born.event.footprint(), each.bytes);
    EXPECT_EQ(born.event.page_shift, each.page_shift);
    EXPECT_EQ((born.event.flags & observe::Event::kP2p) != 0, each.p2p);
    EXPECT_EQ(born.event.device, 0);
    ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
    const Heard died = the_event();
    EXPECT_EQ(died.event.what, What::Freed);
    EXPECT_STREQ(died.event.function_name(), "aclrtFreePhysical");
    EXPECT_FALSE(swept(died));
    expect_same_thing(born, died);
  }
}

TEST_F(VirtualEvents, V50_PhysicalMemoryOfTheHostIsAnotherObject) {
  aclrtDrvMemHandle handle = pieces::on_host(kGranule + 1);
  const Heard born = the_event(observe::kBlocks);
  EXPECT_EQ(born.event.object, Object::HostPhysical);
  EXPECT_EQ(born.event.address, number(handle));
  EXPECT_EQ(born.event.footprint(), 2 * kGranule);
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  expect_same_thing(born, the_event(observe::kBlocks));
}

TEST_F(VirtualEvents, V132_V161_AMappingNamesItsMemory) {
  char* start = pieces::reserved(4 * kGranule);
  aclrtDrvMemHandle handle = pieces::on_device(2 * kGranule);
  const std::vector<Heard> before = heard();
  ASSERT_EQ(before.size(), 2U);
  pieces::map(start + kGranule, 2 * kGranule, handle);
  const Heard born = the_event();
  EXPECT_EQ(born.event.what, What::Created);
  EXPECT_EQ(born.event.object, Object::Mapping);
  EXPECT_STREQ(born.event.function_name(), "aclrtMapMem");
  EXPECT_EQ(born.event.address, number(start + kGranule));
  EXPECT_EQ(born.event.bytes, 2 * kGranule);
  EXPECT_EQ(born.event.device, 0);
  EXPECT_EQ(born.details.object, before[1].event.serial);
  // A copy there touches the physical memory, wherever that is mapped.
  std::vector<char> host(100);
  ASSERT_EQ(aclrtMemcpy(start + kGranule + 5, 100, host.data(), 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  const Heard copy = the_event();
  ASSERT_EQ(copy.touches.size(), 2U);
  EXPECT_EQ(copy.touches[0].extent, before[1].event.serial);
  EXPECT_EQ(copy.touches[0].offset, 5U);
  ASSERT_EQ(aclrtUnmapMem(start + kGranule), ACL_SUCCESS);
  const Heard died = the_event();
  EXPECT_EQ(died.event.what, What::Destroyed);
  EXPECT_STREQ(died.event.function_name(), "aclrtUnmapMem");
  EXPECT_FALSE(swept(died));
  EXPECT_EQ(died.details.object, before[1].event.serial);
  expect_same_thing(born, died);
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
}

// The handle goes first, the memory with its last mapping.
TEST_F(VirtualEvents, V33_FreedWhileMapped_TheMemoryEndsWithItsMapping) {
  char* start = pieces::reserved(kGranule);
  aclrtDrvMemHandle handle = pieces::on_device(kGranule);
  pieces::map(start, kGranule, handle);
  (void)heard();
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_TRUE(heard().empty());
  ASSERT_EQ(aclrtUnmapMem(start), ACL_SUCCESS);
  const std::vector<Heard> told = heard();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].event.object, Object::Mapping);
  EXPECT_EQ(told[1].event.what, What::Freed);
  EXPECT_EQ(told[1].event.object, Object::Physical);
  EXPECT_STREQ(told[1].event.function_name(), "aclrtUnmapMem");
  EXPECT_EQ(told[1].event.address, number(handle));
  EXPECT_FALSE(swept(told[1]));
  ASSERT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
}

TEST_F(VirtualEvents, V279_ManagedMemory) {
  char* start = pieces::managed(kGranule + 5);
  const Heard born = the_event();
  EXPECT_EQ(born.event.what, What::Created);
  EXPECT_EQ(born.event.object, Object::Managed);
  EXPECT_STREQ(born.event.function_name(), "aclrtMemAllocManaged");
  EXPECT_EQ(born.event.address, number(start));
  EXPECT_EQ(born.event.bytes, kGranule + 5);
  ASSERT_EQ(aclrtFree(start), ACL_SUCCESS);
  const Heard died = the_event();
  EXPECT_EQ(died.event.what, What::Destroyed);
  EXPECT_STREQ(died.event.function_name(), "aclrtFree");
  EXPECT_FALSE(swept(died));
  expect_same_thing(born, died);
}

TEST_F(VirtualEvents, V319_APrefetchIsATask) {
  char* start = pieces::managed(4 * kGranule);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const std::uint64_t serial = heard(bit(What::Created))[0].event.serial;
  const aclrtMemManagedLocation device{ACL_MEM_LOCATIONTYPE_DEVICE, 0};
  ASSERT_EQ(aclrtMemManagedPrefetchAsync(start + kGranule, 2 * kGranule, device, 0, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  const std::vector<Heard> told = heard(bits(What::Submitted, What::Begun, What::Done));
  ASSERT_EQ(told.size(), 3U);
  for (const Heard& each : told) EXPECT_EQ(each.event.operation, Operation::Prefetch);
  EXPECT_EQ(told[0].event.bytes, 2 * kGranule);
  ASSERT_EQ(told[0].touches.size(), 1U);
  EXPECT_EQ(told[0].touches[0].extent, serial);
  EXPECT_EQ(told[0].touches[0].offset, kGranule);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(start), ACL_SUCCESS);
}

// What is on a device ends with it, and is marked; addresses, the host's memory and managed memory stay.
TEST_F(VirtualEvents, V42_AtTheLastReset_WhatWasOnTheDeviceIsSwept) {
  char *start = pieces::reserved(4 * kGranule), *of_host = pieces::reserved(kGranule);
  aclrtDrvMemHandle mapped = pieces::on_device(kGranule), loose = pieces::on_device(2 * kGranule);
  aclrtDrvMemHandle host = pieces::on_host(kGranule);
  pieces::map(start, kGranule, mapped);
  pieces::map_for_nobody(of_host, kGranule, host);
  char* everywhere = pieces::managed(kGranule);
  std::map<std::uint64_t, Heard> born;
  for (const Heard& each : heard(kLives)) born.emplace(each.event.address, each);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  const std::vector<Heard> ended = heard(kLives);
  std::map<Object, std::size_t> counts;
  for (const Heard& each : ended) {
    if (each.event.object == Object::Context || each.event.object == Object::Stream) continue;
    EXPECT_TRUE(swept(each));
    EXPECT_STREQ(each.event.function_name(), "aclrtResetDevice");
    if (each.event.object == Object::Physical) expect_same_thing(born.at(each.event.address), each);
    ++counts[each.event.object];
  }
  EXPECT_EQ(counts, (std::map<Object, std::size_t>{{Object::Physical, 2}, {Object::Mapping, 1}}));
  (void)loose;

  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  (void)heard();
  ASSERT_EQ(aclrtUnmapMem(of_host), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreePhysical(host), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(start), ACL_SUCCESS);
  ASSERT_EQ(aclrtReleaseMemAddress(of_host), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(everywhere), ACL_SUCCESS);
  const std::vector<Heard> given_back = heard(kLives);
  EXPECT_EQ(given_back.size(), 5U);
  for (const Heard& each : given_back) EXPECT_FALSE(swept(each));
}

TEST_F(VirtualEvents, ARefusedCallMakesNothing) {
  void* nowhere = nullptr;
  EXPECT_NE(aclrtReserveMemAddress(&nowhere, 0, 0, nullptr, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtUnmapMem(&nowhere), ACL_SUCCESS);
  EXPECT_NE(aclrtReleaseMemAddress(&nowhere), ACL_SUCCESS);
  const std::vector<Heard> told = heard();
  EXPECT_EQ(told.size(), 3U);
  for (const Heard& each : told) EXPECT_TRUE(each.is(What::Refused));
}

// --- the census -----------------------------------------------------------------------------------

belayUse use_of(std::int32_t device) {
  belayUse use{};
  EXPECT_EQ(belay_memory_use(device, &use), 0);
  return use;
}

TEST(VirtualCensus, V37_PhysicalMemoryIsHeld_AlsoWhatIsOlderThanTheFirstQuestion) {
  in_fresh_process({{"BELAY_LEAKS", "off"}, {"BELAY_PIN", "best-effort"}}, [] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    aclrtDrvMemHandle older = pieces::on_device(3'000'000, 1), host = pieces::on_host(kGranule);
    EXPECT_EQ(use_of(1).blocks, 1U);
    EXPECT_EQ(use_of(1).bytes, 2 * kGranule);
    EXPECT_EQ(use_of(BELAY_HOST).bytes, kGranule);
    EXPECT_EQ(use_of(0).blocks, 0U);
    aclrtDrvMemHandle newer = pieces::on_device(kGB, 1, ACL_HBM_MEM_HUGE1G);
    EXPECT_EQ(use_of(1).bytes, 2 * kGranule + kGB);
    belayBlock blocks[3] = {};
    ASSERT_EQ(belay_blocks(1, blocks, 3), 2U);
    EXPECT_EQ(blocks[0].address, number(older));
    EXPECT_EQ(blocks[0].asked, 3'000'000U);
    EXPECT_EQ(blocks[0].pageSize, kGranule);
    EXPECT_EQ(blocks[1].address, number(newer));
    EXPECT_EQ(blocks[1].pageSize, kGB);
    EXPECT_LT(blocks[0].serial, blocks[1].serial);
    // Mapping and unmapping change nothing of it; the end of a handle does not while it is mapped.
    char* start = pieces::reserved(2 * kGranule);
    pieces::map(start, 2 * kGranule, older);
    ASSERT_EQ(aclrtFreePhysical(older), ACL_SUCCESS);
    EXPECT_EQ(use_of(1).blocks, 2U);
    ASSERT_EQ(aclrtUnmapMem(start), ACL_SUCCESS);
    EXPECT_EQ(use_of(1).bytes, kGB);
    EXPECT_EQ(use_of(1).peakBytes, 2 * kGranule + kGB);
    ASSERT_EQ(aclrtFreePhysical(host), ACL_SUCCESS);
    EXPECT_EQ(use_of(BELAY_HOST).blocks, 0U);
    EXPECT_EQ(use_of(BELAY_HOST).peakBytes, kGranule);
    ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(use_of(1).blocks, 0U);
  });
}

// --- the summary ----------------------------------------------------------------------------------

TEST(VirtualSummary, TellsPhysicalMemoryByPlace_AndEveryKindOfVirtualMemory) {
  const Ending ending =
      run_captured({{"BELAY_SUMMARY", "on"}, {"BELAY_LEAKS", "off"}, {"BELAY_PIN", "best-effort"}}, [] {
        pieces::require(aclrtSetDevice(0) == ACL_SUCCESS);
        aclrtDrvMemHandle first = pieces::on_device(3'000'000), host = pieces::on_host(kGranule);
        pieces::on_device(kGB, 0, ACL_HBM_MEM_HUGE1G);
        char *start = pieces::reserved(16 * kMB), *more = pieces::reserved(kGranule);
        pieces::map(start, 2 * kGranule, first);
        pieces::map(start + 2 * kGranule, 2 * kGranule, first);
        void* pinned = nullptr;
        pieces::require(aclrtMallocHost(&pinned, 5000) == 0);
        char* everywhere = pieces::managed(kGranule);
        pieces::managed(3 * kGranule);
        pieces::require(aclrtUnmapMem(start) == 0 && aclrtReleaseMemAddress(more) == 0 &&
                        aclrtFree(everywhere) == 0);
        pieces::require(aclrtFreePhysical(host) == 0 && aclrtFreeHost(pinned) == 0);
        aclrtResetDevice(0);  // ends what the program did not
        std::exit(0);
      });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::string told = single_spaced(ending.err);
  for (const char* row :
       {" 0 all 1.00 GB 2 0 2 (1.00 GB) 1.00 GB 1.00 GB 0.1 %\n", " 2 MB 1 0 1 (4 MB) 2.86 MB 4 MB 28.5 %\n",
        " 1 GB 1 0 1 (1 GB) 1 GB 1 GB 0.0 %\n", " host, pinned all 2.01 MB 2 2 0 2.00 MB 2.01 MB 0.2 %\n",
        " virtual memory made given back not given back most at once\n",
        " reservations 2 1 1 (16 MB) 18 MB\n", " mappings 2 1 1 (4 MB) 8 MB\n",
        " physical memory 3 1 2 (1.00 GB) 1.01 GB\n", " managed memory 2 1 1 (6 MB) 8 MB\n"})
    EXPECT_NE(told.find(row), std::string::npos) << row << ending;
}

TEST(VirtualSummary, WithoutVirtualMemoryThereIsNoTable) {
  const Ending ending = run_captured({{"BELAY_SUMMARY", "on"}}, [] {
    pieces::require(aclrtSetDevice(0) == ACL_SUCCESS);
    aclrtStream stream = nullptr;  // which is created and destroyed as well
    pieces::require(aclrtCreateStream(&stream) == 0 && aclrtDestroyStream(stream) == 0);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.err.find("virtual memory"), std::string::npos) << ending;
  EXPECT_NE(ending.err.find("nothing was allocated, copied or filled"), std::string::npos) << ending;
}

// --- what others see on the machine ---------------------------------------------------------------

TEST(VirtualFigures, V37_TheMachineShowsWhatIsReservedAndMapped) {
  const Scratch scratch;
  const belay_test::Settings settings{{"BELAY_MACHINE", "figures"},
                                      {"BELAY_MACHINES", scratch.path().string()},
                                      {"ASCEND_RT_VISIBLE_DEVICES", "3"},
                                      {"BELAY_LEAKS", "off"},
                                      {"BELAY_PIN", "best-effort"}};
  in_fresh_process(settings, [&] {
    const auto me = [&] {
      const machine::Seen seen =
          machine::look_at(machine::discovery_directory(scratch.path().string()), "figures");
      EXPECT_EQ(seen.processes.size(), 1U);
      return seen.processes.empty() ? machine::ProcessSeen{} : seen.processes[0];
    };
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(me().reserved, 0U);
    char *first = pieces::reserved(5), *second = pieces::reserved(3 * kGB);
    EXPECT_EQ(me().reserved, kGranule + 3 * kGB);
    aclrtDrvMemHandle memory = pieces::on_device(2 * kGranule, 0), host = pieces::on_host(kGranule);
    pieces::map(second, 2 * kGranule, memory);
    pieces::map(second + kGB, 2 * kGranule, memory);
    pieces::map_for_nobody(first, kGranule, host);
    EXPECT_EQ(me().mapped[3], 4 * kGranule) << "by the machine's number, each mapping of the same memory";
    EXPECT_EQ(me().mapped[0], 0U);
    EXPECT_EQ(me().mapped_on_host, kGranule);
    ASSERT_EQ(aclrtUnmapMem(second), ACL_SUCCESS);
    ASSERT_EQ(aclrtUnmapMem(first), ACL_SUCCESS);
    ASSERT_EQ(aclrtReleaseMemAddress(first), ACL_SUCCESS);
    EXPECT_EQ(me().mapped[3], 2 * kGranule);
    EXPECT_EQ(me().mapped_on_host, 0U);
    EXPECT_EQ(me().reserved, 3 * kGB);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(me().mapped[3], 0U) << "it ends with its device";
    EXPECT_EQ(me().reserved, 3 * kGB) << "which does not";
    ASSERT_EQ(belay_restart(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(me().reserved, 0U);
  });
}

}  // namespace virtual_events_test
