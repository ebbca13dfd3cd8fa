// Physical memory under handles of several processes: who may import it, who sees which bytes, how long it
// lives, and who is charged.
#include <chrono>

#include "support/sharing.h"
#include "support/waiting.h"

namespace sharing_handles_test {

using namespace belay_test;

constexpr std::size_t k4MB = 4 * kMB;
constexpr std::size_t kAll = 64 * kMB;

TEST(SharedHandles, V38_V44_V252_V462_V475_TheImporterSeesWhatTheExporterWrote_AndTheOtherWayRound) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB);
  ASSERT_EQ(a->write(place, k4MB, 1), 0);
  const std::uint64_t value = a.value(handle, kListed);
  ASSERT_EQ(a.allow_value(value, b.pid()), 0);
  const std::uint64_t theirs = b.import_value(value).first, there = b.map(theirs, k4MB);
  EXPECT_TRUE(b->verify(there, k4MB, 1));
  ASSERT_EQ(b->write(there + kMB, kMB, 2), 0);
  EXPECT_TRUE(a->verify(place + kMB, kMB, 2));
  EXPECT_EQ(a->free_now(), kAll - k4MB) << "counted once (V-37)";
  EXPECT_EQ(b->free_now(), kAll - k4MB);
}

TEST(SharedHandles, V224_V247_V463_V465_OnlyListedProcessesImport_UnlessTheListIsOff) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine), c = party(machine);
  const std::uint64_t listed = a.value(a.physical(k4MB), kListed), open = a.value(a.physical(k4MB), kOpen);
  EXPECT_EQ(b.import_value(listed).code, kRefused);
  const std::string message = b->message();
  EXPECT_NE(message.find("process " + std::to_string(b.pid())), std::string::npos) << message;
  EXPECT_NE(message.find("process " + std::to_string(a.pid())), std::string::npos) << message;
  EXPECT_EQ(a.allow_value(listed, b.pid()), 0);
  EXPECT_EQ(b.import_value(listed).code, 0);
  EXPECT_EQ(c.import_value(listed).code, kRefused);
  EXPECT_EQ(b.import_value(open).code, 0);
  EXPECT_EQ(c.import_value(open).code, 0);
}

// The numbers that the next process may have are listed before it starts.
TEST(SharedHandles, V242_V403_V464_D101_AnEntryThatIsOlderThanTheImporter_DoesNotCount_UntilItIsSetAgain) {
  const TestMachine machine;
  const Party a = party(machine);
  const std::uint64_t block = a->allocate(k4MB), value = a.value(a.physical(k4MB), kListed);
  const std::string key = a.key(block, k4MB, kListed);
  for (int tries = 0; tries < 20; ++tries) {
    const std::int32_t next = party(machine).pid() + 1;
    ASSERT_EQ(a.allow_value(value, next, 60'000), 0);
    for (std::int32_t i = 0; i < 10; ++i) ASSERT_EQ(a.allow_key(key, next + 31 * i, 31), 0);
    let_time_pass(
        std::chrono::milliseconds{30});  // the kernel tells the start of a process in ticks of 10 ms
    const Party b = party(machine);
    if (b.pid() < next || b.pid() >= next + 310) continue;  // numbers began anew, or many processes start
    EXPECT_EQ(b.import_value(value).code, kRefused);
    EXPECT_NE(b->message().find("before it started"), std::string::npos) << b->message();
    EXPECT_EQ(b.import_key(key).code, kRefused);
    EXPECT_EQ(a.allow_value(value, b.pid()), 0);
    EXPECT_EQ(a.allow_key(key, b.pid()), 0);
    EXPECT_EQ(b.import_value(value).code, 0);
    EXPECT_EQ(b.import_key(key).code, 0);
    return;
  }
  GTEST_SKIP() << "no process got one of the numbers that follow";
}

TEST(SharedHandles, V236_V237_V238_V466_V467_WhoMayList_AndWhat) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t listed = a.value(a.physical(k4MB), kListed), open = a.value(a.physical(k4MB), kOpen);
  EXPECT_EQ(b.allow_value(listed, b.pid()), kRefused);
  EXPECT_EQ(a.allow_value(open, b.pid()), 207006);
  EXPECT_EQ(a.allow_value(listed, 0), kRefused);
  EXPECT_EQ(a.allow_value(listed, 0, 2), 0) << "0 is skipped, 1 is not";
  EXPECT_EQ(a.allow_value(listed, 1, 65535), 0);
  EXPECT_EQ(a.allow_value(listed, 1, 65536), kBadValue);
  EXPECT_EQ(a.allow_value(listed ^ 1, b.pid()), kStale);
}

TEST(SharedHandles, V33_V39_V468_TheExporterLetsGo_AndTheImporterKeepsTheBytesAndTheCharge) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB);
  ASSERT_EQ(a->write(place, k4MB, 3), 0);
  const std::uint64_t theirs = b.import_value(a.value(handle)).first, there = b.map(theirs, k4MB);
  EXPECT_EQ(a.unmap(place), 0);
  EXPECT_EQ(a.free_physical(handle), 0);
  EXPECT_TRUE(b->verify(there, k4MB, 3));
  EXPECT_EQ(a->free_now(), kAll - k4MB);
  const std::uint64_t next = a.map(a.physical(k4MB), k4MB);
  ASSERT_EQ(a->write(next, k4MB, 4), 0);
  EXPECT_TRUE(b->verify(there, k4MB, 3)) << "the range was not given out again";
  EXPECT_EQ(b.unmap(there), 0);
  EXPECT_EQ(a->free_now(), kAll - 2 * k4MB);
  EXPECT_EQ(b.free_physical(theirs), 0);
  EXPECT_EQ(a->free_now(), kAll - k4MB);
}

TEST(SharedHandles, V41_V469_V471_V516_ProcessesEnd_AndNothingIsLostOrLeft) {
  for (const bool killed : {true, false}) {
    SCOPED_TRACE(killed);
    const TestMachine machine;
    const Party witness = party(machine), b = party(machine);
    const Party a = party(machine);
    const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB);
    ASSERT_EQ(a->write(place, k4MB, 5), 0);
    const std::uint64_t value = a.value(handle);
    const std::uint64_t there = b.map(b.import_value(value).first, k4MB);
    killed ? a->die() : a->end(Way::exit);
    EXPECT_TRUE(b->verify(there, k4MB, 5));
    EXPECT_EQ(witness->free_now(), kAll - k4MB);
    ASSERT_EQ(b->write(there + kMB, kMB, 6), 0);
    EXPECT_TRUE(b->verify(there + kMB, kMB, 6));
    killed ? b->die() : b->end(Way::exit);
    EXPECT_EQ(witness->free_now(), kAll);
    EXPECT_EQ(witness.import_value(value).code, kStale);
  }
}

TEST(SharedHandles, V40_TheExporterIsGone_WhoIsHoldingItLetsOthersCome_ButNotOn950) {
  for (const bool newer : {false, true}) {
    SCOPED_TRACE(newer);
    const TestMachine machine{"64M", {{"BELAY_PRODUCT", newer ? "950" : "A2"}}};
    for (const bool killed : {false, true}) {
      SCOPED_TRACE(killed);
      const Party a = party(machine), b = party(machine), c = party(machine);
      const std::uint64_t handle = a.physical(k4MB), value = a.value(handle);
      const std::uint64_t there = b.map(b.import_value(value).first, k4MB);
      ASSERT_EQ(b->write(there, k4MB, 7), 0);
      if (killed) {
        a->die();
      } else {
        ASSERT_EQ(a.free_physical(handle), 0);
      }
      const Answer late = c.import_value(value);
      EXPECT_EQ(late.code, newer ? kStale : 0) << c->message();
      if (!newer) {
        EXPECT_TRUE(c->verify(c.map(late.first, k4MB), k4MB, 7));
      }
    }
  }
}

TEST(SharedHandles, V129_V249_V470_NobodyHoldsItAnyMore_AndTheValueIsUnknown) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), value = a.value(handle);
  ASSERT_EQ(a.free_physical(handle), 0);
  EXPECT_EQ(b.import_value(value).code, kStale);
  EXPECT_EQ(a->free_now(), kAll);
  const Party c = party(machine);
  const std::uint64_t of_the_dead = c.value(c.physical(k4MB));
  c->die();
  EXPECT_EQ(b.import_value(of_the_dead).code, kStale);
}

TEST(SharedHandles, V31_V472_ImportedTwice_ItIsOneHandleWithTwoReferences) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t value = a.value(a.physical(k4MB));
  const std::uint64_t first = b.import_value(value).first;
  EXPECT_EQ(b.import_value(value).first, first);
  EXPECT_NE(b.import_value(value, 1).first, first) << "on another device it is another one";
  EXPECT_EQ(b.free_physical(first), 0);
  EXPECT_EQ(b.free_physical(first), 0);
  EXPECT_EQ(b.free_physical(first), kBadValue);
}

TEST(SharedHandles, V250_V251_V438_V473_OnAnotherDevice_PeerAccessIsEnabledBothWays) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB);
  ASSERT_EQ(a->write(place, k4MB, 8), 0);
  const std::uint64_t value = a.value(handle);
  ASSERT_EQ(b->set_device(1), 0);
  EXPECT_FALSE(b.peer_access(0, 1));
  const std::uint64_t there = b.map(b.import_value(value, 1).first, k4MB);
  EXPECT_TRUE(b.peer_access(0, 1));
  EXPECT_TRUE(b.peer_access(1, 0));
  EXPECT_TRUE(b->verify(there, k4MB, 8));
}

TEST(SharedHandles, V220_V221_V255_V474_OneValueForAHandle_AndNoneForAnImportedOne) {
  const TestMachine machine{"64M", {{"BELAY_PRODUCT", "A3"}}};
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), value = a.value(handle);
  EXPECT_EQ(a.export_value(handle).code, kRefused);
  EXPECT_EQ(a.export_fabric(handle).code, kRefused) << "V-265";
  const Answer imported = b.import_value(value);
  EXPECT_EQ(imported.code, 0) << "the first one stays valid";
  EXPECT_EQ(b.export_value(imported.first).code, kRefused);
}

TEST(SharedHandles, V248_V256_TheExporterItself_ImportsOnlyForAnotherDevice) {
  const TestMachine machine;
  const Party a = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), value = a.value(handle);
  ASSERT_EQ(a->write(place, k4MB, 9), 0);
  EXPECT_EQ(a.import_value(value, 0).code, kRefused);
  const std::uint64_t there = a.map(a.import_value(value, 1).first, k4MB);
  EXPECT_TRUE(a->verify(there, k4MB, 9));
  EXPECT_EQ(a->free_now(), kAll - k4MB);
}

TEST(SharedHandles, V227_V513_HostMemoryIsSharedToo_AndTheDeviceIsNotCharged) {
  if (!kHostCanBeMapped) GTEST_SKIP() << kNoHostMappings;
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.host_physical(k4MB), place = a.map(handle, k4MB), value = a.value(handle);
  ASSERT_EQ(a->write(place, k4MB, 10), 0);
  const std::uint64_t own = a.map(a.import_value(value).first, k4MB);
  EXPECT_TRUE(a->verify(own, k4MB, 10));
  const std::uint64_t there = b.map(b.import_value(value).first, k4MB);
  EXPECT_TRUE(b->verify(there, k4MB, 10));
  EXPECT_EQ(a->free_now(), kAll);
  a->die();
  ASSERT_EQ(b->write(there, k4MB, 11), 0);
  EXPECT_TRUE(b->verify(there, k4MB, 11));
  EXPECT_EQ(b->free_now(), kAll);
}

TEST(SharedHandles, V257_V259_V266_V267_V268_V269_D98_FabricHandles_OnA3) {
  const TestMachine machine{"64M", {{"BELAY_PRODUCT", "A3"}}};
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB);
  ASSERT_EQ(a->write(place, k4MB, 12), 0);
  const Answer exported = a.export_fabric(handle, kListed);
  ASSERT_EQ(exported.code, 0) << a->message();
  const Party::Text fabric = Party::fabric_in(exported);
  EXPECT_EQ(b.import_fabric(fabric).code, kRefused);
  EXPECT_EQ(a.allow_fabric(fabric, b.pid()), 0);
  const Answer imported = b.import_fabric(fabric);
  ASSERT_EQ(imported.code, 0) << b->message();
  EXPECT_TRUE(b->verify(b.map(imported.first, k4MB), k4MB, 12));
  for (std::size_t bit = 0; bit < sizeof(aclrtMemFabricHandle) * 8; ++bit) {
    Party::Text wrong = fabric;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    const bool of_the_secret = bit / 64 >= 2 && bit / 64 < 6;
    ASSERT_EQ(b.import_fabric(wrong).code, of_the_secret ? kStale : kBadValue) << "bit " << bit;
  }
}

TEST(SharedHandles, V245_AValueWithOneWrongBit_IsUnknown) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t value = a.value(a.physical(k4MB));
  for (int bit = 0; bit < 64; ++bit) ASSERT_EQ(b.import_value(value ^ std::uint64_t{1} << bit).code, kStale);
  EXPECT_EQ(b.import_value(0).code, kStale);
}

// The device is reset: the memory of the exporter, and the import.
TEST(SharedHandles, V42_ADeviceIsReset_AndOnlyWhatIsOnItEnds) {
  const TestMachine machine;
  const Party a = party(machine), b = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), value = a.value(handle);
  ASSERT_EQ(a->write(place, k4MB, 13), 0);
  const std::uint64_t there = b.map(b.import_value(value).first, k4MB);
  ASSERT_EQ(a->reset(), 0);
  EXPECT_TRUE(b->verify(there, k4MB, 13));
  ASSERT_EQ(a->set_device(), 0);
  EXPECT_EQ(a.read_code(place), kRefused);
  EXPECT_EQ(b->free_now(), kAll - k4MB);
  ASSERT_EQ(b->reset(), 0);
  ASSERT_EQ(b->set_device(), 0);
  EXPECT_EQ(b.read_code(there), kRefused);
  EXPECT_EQ(b->free_now(), kAll);
}

}  // namespace sharing_handles_test
