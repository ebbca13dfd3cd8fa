// One event for each operation, with who, what, with which function, on what, and how it ended.
#include <unistd.h>

#include <set>

#include "belay/belay.h"
#include "observe/call_sites.h"
#include "observe/stack_words.h"
#include "support/batch.h"
#include "support/listening.h"
#include "support/waiting.h"

namespace events_test {

using namespace belay;
using namespace belay_test;
using observe::Actor;
using observe::Object;
using observe::Operation;
using observe::Touch;
using observe::What;

class Events : public Listening {
 protected:
  // The only event since the last time.
  Heard the_event(observe::Mask mask = Recorder::kAll) {
    std::vector<Heard> all = heard(mask);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Heard{} : all[0];
  }
  static void keep_stacks(unsigned frames) {
    observe::keep_stacks(frames);
    running().memory().listeners_changed();
  }
  void TearDown() override {
    keep_stacks(0);
    Listening::TearDown();
  }
};

void expect_touch(const Touch& touch, std::uint64_t extent, std::uint64_t offset, std::uint64_t bytes,
                  bool on_device, bool writes) {
  EXPECT_EQ(touch.extent, extent);
  EXPECT_EQ(touch.offset, offset);
  EXPECT_EQ(touch.bytes, bytes);
  EXPECT_EQ(touch.on_device, on_device);
  EXPECT_EQ(touch.writes, writes);
}

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

TEST_F(Events, M81_ABlockIsToldWithAllThatIsKnownOfIt) {
  for (int round = 0; round < 4; ++round) {  // by the door, then by the fast path, and freed by the door
    void* block = allocate(3'000'000);
    const Heard born = the_event();
    EXPECT_EQ(born.event.what, What::Allocated);
    EXPECT_EQ(born.event.object, Object::DeviceBlock);
    EXPECT_EQ(born.event.actor, Actor::Thread);
    EXPECT_EQ(born.event.thread, static_cast<std::uint32_t>(::gettid()));
    EXPECT_STREQ(born.event.function_name(), "aclrtMalloc");
    EXPECT_EQ(born.event.address, address(block));
    EXPECT_EQ(born.event.bytes, 3'000'000U);
    EXPECT_EQ(born.event.footprint(), 4 * kMB);
    EXPECT_EQ(born.event.page_shift, 21);
    EXPECT_EQ(born.event.module, 33);
    EXPECT_EQ(born.event.device, 0);
    const bool by_the_door = round == 3;
    EXPECT_EQ(by_the_door ? aclrtFreeWithDevSync(block) : aclrtFree(block), ACL_SUCCESS);
    const std::vector<Heard> told = heard();
    ASSERT_EQ(told.size(), by_the_door ? 2U : 1U);  // it waits first, which is told, too
    const Heard& died = told.back();
    EXPECT_EQ(died.event.what, What::Freed);
    EXPECT_STREQ(died.event.function_name(), by_the_door ? "aclrtFreeWithDevSync" : "aclrtFree");
    EXPECT_EQ(died.event.serial, born.event.serial);
    EXPECT_EQ(died.event.address, address(block));
    EXPECT_EQ(died.event.bytes, 3'000'000U);
    EXPECT_EQ(died.event.footprint(), 4 * kMB);
    EXPECT_EQ(died.event.page_shift, 21);
  }
}

TEST_F(Events, M62_TheFunctionIsTheOneThatWasCalled) {
  for (int round = 0; round < 3; ++round) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocAlign32(&block, 100, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    EXPECT_STREQ(the_event().event.function_name(), "aclrtMallocAlign32");
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocCached(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_STREQ(heard()[1].event.function_name(), "aclrtMallocCached");
  }
}

TEST_F(Events, M105_TheModuleIsTold_AndComesBackWithTheFree) {
  aclrtMallocAttribute attribute{ACL_RT_MEM_ATTR_MODULE_ID, {}};
  attribute.value.moduleId = 44;
  aclrtMallocConfig configuration{&attribute, 1};
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocWithCfg(&block, 100, ACL_MEM_MALLOC_NORMAL_ONLY, &configuration), ACL_SUCCESS);
  EXPECT_EQ(the_event().event.module, 44);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(the_event().event.module, 44);
  aclrtMemUsageInfo usage[8];
  std::size_t count = 0;
  ASSERT_EQ(aclrtGetMemUsageInfo(0, usage, 8, &count), ACL_SUCCESS);
  ASSERT_GE(count, 1U);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(usage[i].curMemSize, 0U) << usage[i].name;
}

TEST_F(Events, M170_PinnedMemoryHasANumberToo) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocHost(&block, 5000), ACL_SUCCESS);
  const Heard born = the_event();
  EXPECT_EQ(born.event.object, Object::HostBlock);
  EXPECT_EQ(born.event.bytes, 5000U);
  EXPECT_EQ(born.event.address, address(block));
  ASSERT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  const Heard died = the_event();
  EXPECT_EQ(died.event.what, What::Freed);
  EXPECT_EQ(died.event.serial, born.event.serial);
}

TEST_F(Events, M229_ACopyIsOneEvent_WithBothEnds) {
  void* block = allocate(10'000);
  const std::uint64_t number = the_event().event.serial;
  std::vector<char> host(10'000);
  auto* inside = static_cast<char*>(block) + 100;
  ASSERT_EQ(aclrtMemcpy(inside, 5000, host.data(), 5000, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  Heard copy = the_event();
  EXPECT_EQ(copy.event.what, What::Copied);
  EXPECT_EQ(copy.event.operation, Operation::Copy);
  EXPECT_STREQ(copy.event.function_name(), "aclrtMemcpy");
  EXPECT_EQ(copy.event.bytes, 5000U);
  ASSERT_EQ(copy.touches.size(), 2U);
  expect_touch(copy.touches[0], number, 100, 5000, true, true);
  expect_touch(copy.touches[1], 0, address(host.data()), 5000, false, false);
  ASSERT_EQ(aclrtMemcpy(host.data(), 7, block, 7, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  copy = the_event();
  expect_touch(copy.touches[0], 0, address(host.data()), 7, false, true);
  expect_touch(copy.touches[1], number, 0, 7, true, false);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(Events, M305_ATwoDimensionalCopyIsOneEvent_WithPitchAndRows) {
  void* block = allocate(100 * 64);
  const std::uint64_t number = the_event().event.serial;
  std::vector<char> host(100 * 32);
  ASSERT_EQ(aclrtMemcpy2d(block, 64, host.data(), 32, 20, 100, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  const Heard copy = the_event();
  EXPECT_EQ(copy.event.operation, Operation::CopyRows);
  EXPECT_EQ(copy.event.bytes, 2000U);
  ASSERT_EQ(copy.touches.size(), 2U);
  expect_touch(copy.touches[0], number, 0, 20, true, true);
  EXPECT_EQ(copy.touches[0].pitch, 64U);
  EXPECT_EQ(copy.touches[0].rows, 100U);
  EXPECT_EQ(copy.touches[1].pitch, 32U);
  EXPECT_EQ(copy.touches[1].rows, 100U);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(Events, M367_AFillIsOneEvent) {
  void* block = allocate(100);
  heard();
  ASSERT_EQ(aclrtMemset(block, 100, 7, 50), ACL_SUCCESS);
  const Heard fill = the_event();
  EXPECT_EQ(fill.event.what, What::Filled);
  EXPECT_EQ(fill.event.bytes, 50U);
  EXPECT_EQ(fill.details.value, 7U);
  ASSERT_EQ(fill.touches.size(), 1U);
  EXPECT_TRUE(fill.touches[0].writes);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(Events, M86_ARefusalIsAnEvent_WithCodeRuleAndWords) {
  void* block = nullptr;
  const aclError code = aclrtMalloc(&block, std::size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST);
  ASSERT_NE(code, ACL_SUCCESS);
  const Heard refused = the_event();
  EXPECT_EQ(refused.event.what, What::Refused);
  EXPECT_EQ(refused.event.outcome, code);
  EXPECT_STREQ(refused.event.function_name(), "aclrtMalloc");
  EXPECT_NE(std::string{refused.details.rule}, "");
  EXPECT_NE(refused.text.find("1125899906842624"), std::string::npos) << refused.text;
  EXPECT_EQ(aclrtFree(&block), ACL_ERROR_RT_PARAM_INVALID);
  const Heard other = the_event();
  EXPECT_STREQ(other.event.function_name(), "aclrtFree");
  EXPECT_STREQ(other.details.rule, "M-111");
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(the_event().event.outcome, ACL_ERROR_INVALID_PARAM);
}

// A large one is done in pieces, and is one operation all the same.
TEST_F(Events, M249_AQueuedCopyIsSubmittedBegunAndDoneOnce) {
  constexpr std::size_t kBytes = 100 * kMB;
  void* block = allocate(kBytes);
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, kBytes), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const std::vector<Heard> made = heard();
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[2].event.what, What::Created);
  EXPECT_EQ(made[2].event.object, Object::Stream);
  const std::uint64_t number = made[2].event.serial;
  ASSERT_EQ(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  std::vector<Heard> all = heard();
  std::ranges::stable_sort(all, {}, [](const Heard& each) { return each.event.what; });
  ASSERT_EQ(all.size(), 4U);
  const What order[] = {What::Submitted, What::Begun, What::Done, What::Waited};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].event.what, order[i]);
    EXPECT_EQ(all[i].details.stream, number);
    EXPECT_EQ(all[i].details.position, 1U);
    if (i == 3) break;
    EXPECT_EQ(all[i].event.actor, i == 0 ? Actor::Thread : Actor::Stream);
    EXPECT_EQ(all[i].event.operation, Operation::Copy);
    EXPECT_EQ(all[i].event.serial, all[0].event.serial);
    EXPECT_EQ(all[i].event.bytes, kBytes);
    EXPECT_STREQ(all[i].event.function_name(), "aclrtMemcpyAsync");
    ASSERT_EQ(all[i].touches.size(), 2U);
    expect_touch(all[i].touches[0], made[0].event.serial, 0, kBytes, true, true);
    expect_touch(all[i].touches[1], made[1].event.serial, 0, kBytes, false, false);
  }
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  all = heard(observe::bit(What::Destroyed));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].event.serial, number);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
}

TEST_F(Events, R229_ATaskThatFailsIsToldWithItsCode) {
  void* block = allocate(100);
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, 100), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  aclrtEvent gate = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&gate, ACL_EVENT_SYNC), ACL_SUCCESS);
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream, gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(block, 100, host, 100, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  heard();
  ASSERT_EQ(aclrtRecordEvent(gate, other), ACL_SUCCESS);
  const aclError code = aclrtSynchronizeStream(stream);
  EXPECT_NE(code, ACL_SUCCESS);
  const std::vector<Heard> failed = heard(observe::bit(What::Failed));
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].event.outcome, code);
  EXPECT_EQ(failed[0].details.position, 2U);
  EXPECT_EQ(failed[0].event.operation, Operation::Copy);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
}

// A wait names the record that it waits for, also one that is still to come.
TEST_F(Events, R165_R171_AWaitRefersToItsRecord) {
  aclrtStream streams[2];
  for (aclrtStream& each : streams) ASSERT_EQ(aclrtCreateStream(&each), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  const std::uint64_t number = heard().back().event.serial;
  for (const bool record_first : {false, true}) {
    const auto record = [&] { ASSERT_EQ(aclrtRecordEvent(event, streams[0]), ACL_SUCCESS); };
    if (record_first) record();
    ASSERT_EQ(aclrtStreamWaitEvent(streams[1], event), ACL_SUCCESS);
    if (!record_first) record();
    ASSERT_EQ(aclrtSynchronizeStream(streams[1]), ACL_SUCCESS);
    std::vector<Heard> all = heard(observe::bit(What::Submitted));
    ASSERT_EQ(all.size(), 2U);
    std::ranges::sort(all, {}, [](const Heard& each) { return each.event.operation; });
    EXPECT_EQ(all[0].event.operation, Operation::RecordEvent);
    EXPECT_EQ(all[1].event.operation, Operation::WaitEvent);
    EXPECT_NE(all[0].details.record, 0U);
    EXPECT_EQ(all[0].details.record, all[1].details.record);
    EXPECT_EQ(all[0].details.object, number);
    EXPECT_EQ(all[1].details.object, number);
    ASSERT_EQ(aclrtResetEvent(event, streams[1]), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(streams[1]), ACL_SUCCESS);
    const std::vector<Heard> reset = heard(observe::bit(What::Submitted));
    ASSERT_EQ(reset.size(), 1U);
    EXPECT_EQ(reset[0].event.operation, Operation::ResetEvent);
    EXPECT_EQ(reset[0].details.record, all[0].details.record);
  }
  for (aclrtStream each : streams) ASSERT_EQ(aclrtDestroyStream(each), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// What a wait comes after is known when it is told that the wait is over.
TEST_F(Events, R165_R208_ARecordIsDoneBeforeTheWaitsThatItEnds) {
  aclrtStream streams[2];
  for (aclrtStream& each : streams) ASSERT_EQ(aclrtCreateStream(&each), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(streams[1], event), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, streams[1], 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, streams[0]), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(notify, streams[0]), ACL_SUCCESS);
  for (aclrtStream each : streams) ASSERT_EQ(aclrtSynchronizeStream(each), ACL_SUCCESS);
  std::vector<Operation> done;
  for (const Heard& each : heard(observe::bit(What::Done))) done.push_back(each.event.operation);
  const auto place = [&](Operation operation) { return std::ranges::find(done, operation) - done.begin(); };
  EXPECT_EQ(done.size(), 4U);
  EXPECT_LT(place(Operation::RecordEvent), place(Operation::WaitEvent));
  EXPECT_LT(place(Operation::RecordNotify), place(Operation::WaitNotify));
  for (aclrtStream each : streams) ASSERT_EQ(aclrtDestroyStream(each), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(Events, R198_AFunctionOfTheProgramIsAnActor_AndSoIsWhatItCalls) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const std::uint64_t number = heard()[0].event.serial;
  const auto function = [](void*) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(aclrtFree(allocate(100)), ACL_SUCCESS);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream, function, &stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  const std::vector<Heard> all = heard();
  const std::vector<Heard> begun = only(all, observe::bit(What::Begun)),
                           done = only(all, observe::bit(What::Done));
  ASSERT_EQ(begun.size(), 1U);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(begun[0].event.operation, Operation::HostFunction);
  EXPECT_EQ(begun[0].details.value, address(&stream));
  EXPECT_EQ(begun[0].event.thread, done[0].event.thread);
  EXPECT_NE(begun[0].event.thread, static_cast<std::uint32_t>(::gettid()));
  const std::vector<Heard> blocks = only(all, observe::kBlocks);
  ASSERT_EQ(blocks.size(), 4U);
  for (const Heard& each : blocks) {
    EXPECT_EQ(each.event.actor, Actor::Callback);
    EXPECT_EQ(each.details.caller, number);
    EXPECT_EQ(each.details.caller_position, 1U);
    EXPECT_EQ(each.event.thread, begun[0].event.thread);
  }
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(Events, R154_WhatAnAbortDropsIsDroppedOnce) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  aclrtNotify never = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&never, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(never, stream, 0), ACL_SUCCESS);
  const auto nothing = [](void*) {};
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtLaunchHostFunc(stream, nothing, nullptr), ACL_SUCCESS);
  heard();
  ASSERT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
  const std::vector<Heard> dropped = heard(observe::bit(What::Dropped));
  ASSERT_EQ(dropped.size(), 4U);
  std::set<std::uint64_t> positions;
  for (const Heard& each : dropped) positions.insert(each.details.position);
  EXPECT_EQ(positions, (std::set<std::uint64_t>{1, 2, 3, 4}));
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
}

// --- who a block was
// ----------------------------------------------------------------------------------------

TEST_F(Events, M110_AfterTheFreeItsPlaceStillSaysWhoFreedIt) {
  keep_stacks(8);
  listen({.wanted = observe::kBlocks, .time = true, .facts = true});
  void* block = allocate(100);
  const Heard born = the_event();
  std::thread{[&] { ASSERT_EQ(aclrtFree(block), ACL_SUCCESS); }}.join();
  const Heard died = the_event();
  EXPECT_NE(born.event.site, 0U);
  EXPECT_NE(died.event.site, born.event.site);
  const BlockFacts* facts = running().memory().map().facts_of(address(block));
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->serial.load(), born.event.serial);
  EXPECT_EQ(facts->born.site.load(), born.event.site);
  EXPECT_EQ(facts->born.time_ns.load(), born.event.time_ns);
  EXPECT_EQ(facts->born.thread.load(), born.event.thread);
  EXPECT_STREQ(observe::stack_of(facts->born.site.load()).function, "aclrtMalloc");
  EXPECT_STREQ(observe::stack_of(facts->died.site.load()).function, "aclrtFree");
  EXPECT_EQ(facts->died.thread.load(), died.event.thread);
  EXPECT_EQ(facts->died.site.load(), died.event.site);
}

// An interpreter has the same few frames of C below each of its lines.
TEST_F(Events, M81_AnInterpretersLineIsPartOfTheCallSite) {
  static std::uint64_t line = 0;
  belay_on_call_site([](std::uint64_t* numbers, std::size_t room) -> std::size_t {
    numbers[0] = line;
    return room == 0 ? 0 : 1;
  });
  keep_stacks(8);
  listen({.wanted = observe::kBlocks});
  // The first call makes the thread ready, through a function more, which a build without last calls shows.
  EXPECT_EQ(aclrtFree(allocate(100)), ACL_SUCCESS);
  heard();
  std::vector<std::uint32_t> sites;
  for (const std::uint64_t each : {10U, 11U, 10U}) {
    line = each;
    void* block = allocate(100);
    sites.push_back(heard()[0].event.site);
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    heard();
  }
  belay_on_call_site(nullptr);
  EXPECT_EQ(sites[0], sites[2]);
  EXPECT_NE(sites[0], sites[1]);
  EXPECT_EQ(observe::stack_of(sites[1]).of_interpreter, std::vector<std::uint64_t>{11});
}

TEST_F(Events, M81_AnInterpreterSaysWhatItsNumbersMean) {
  EXPECT_EQ(belay_stack_frames(), 0);
  belay_on_call_site([](std::uint64_t* numbers, std::size_t room) -> std::size_t {
    const std::vector<std::uint64_t> all{11, 12, 13};
    return static_cast<std::size_t>(std::copy_n(all.begin(), std::min(room, all.size()), numbers) - numbers);
  });
  belay_on_frame([](std::uint64_t number, belayFrame* frame) {
    if (number == 11) *frame = {"work", "script.py", 40};
    if (number == 13) *frame = {"somewhere else", nullptr, 0};
    return number == 12 ? 1 : 0;
  });
  keep_stacks(8);
  EXPECT_EQ(belay_stack_frames(), 8);
  listen({.wanted = observe::kBlocks});
  EXPECT_EQ(aclrtFree(allocate(100)), ACL_SUCCESS);
  const std::uint32_t site = heard()[0].event.site;
  EXPECT_TRUE(
      observe::stack_words(site, "  ").ends_with("\n  at work (script.py:40)\n  at somewhere else\n"));
  belay_on_frame(nullptr);
  EXPECT_EQ(observe::stack_words(site, "  ").find("at work ("), std::string::npos);
  EXPECT_NE(observe::stack_words(site, "  "), "");
  belay_on_call_site(nullptr);
}

TEST_F(Events, M81_ABlockFromBeforeAnybodyListenedGetsANumberOnce) {
  listen({.wanted = observe::bit(What::Refused)});
  void* block = allocate(100);
  listen({.wanted = Recorder::kAll});
  char byte = 0;
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  const std::vector<Heard> copies = heard();
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_NE(copies[0].touches[1].extent, 0U);
  EXPECT_EQ(copies[0].touches[1].extent, copies[1].touches[1].extent);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(the_event().event.serial, copies[0].touches[1].extent);
}

// Listening begins and ends while other threads allocate: each block that is told has one number, and no
// listener is told of it twice.
TEST_F(Events, M110_NumbersAreUnique_WhileListeningBeginsAndEnds) {
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      std::vector<void*> mine;
      for (unsigned i = 0; !enough.load(); ++i) {
        if (mine.size() < 8 && i % 3 != 2) {
          mine.push_back(allocate(4000 + i % 7));
        } else if (!mine.empty()) {
          ASSERT_EQ(aclrtFree(mine.back()), ACL_SUCCESS);
          mine.pop_back();
        }
      }
      for (void* each : mine) ASSERT_EQ(aclrtFree(each), ACL_SUCCESS);
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  struct Numbers {
    std::set<std::uint64_t> born, died;
  } at_once, in_batches;
  unsigned nameless = 0, twice = 0;
  for (int round = 0; round < 100; ++round) {
    const bool now = round % 3 == 0;
    Numbers& numbers = now ? at_once : in_batches;
    listen({.wanted = observe::kBlocks, .at_once = now});
    let_time_pass(std::chrono::microseconds{300});
    for (const Heard& each : heard(observe::kBlocks)) {
      std::set<std::uint64_t>& which = each.is(What::Allocated) ? numbers.born : numbers.died;
      nameless += each.event.serial == 0;
      twice += !which.insert(each.event.serial).second;
    }
    listen({.wanted = observe::bit(What::Noted)});
  }
  enough = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(nameless, 0U);
  EXPECT_EQ(twice, 0U);
  EXPECT_GT(at_once.born.size() + in_batches.born.size(), 1000U);
}

}  // namespace events_test
