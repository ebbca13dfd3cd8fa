// Calls for events and notifies of several processes, in one: what each refuses, and in which order.
#include <array>
#include <cstring>

#include "support/gates.h"
#include "support/on_product.h"
#include "support/refusals.h"

namespace shared_signal_calls_test {

using namespace belay_test;

constexpr int kNoPermission = 207006;

void on_products_that_share(const std::function<void()>& body) {
  for (const char* const product : {"A2", "A3", "950"}) on_product(product, body);
}

struct IpcEvent : Event {
  IpcEvent() : Event{Kind::ex, ACL_EVENT_IPC} {}
};

TEST(SharedSignalCalls, R159_R188_ProductsWithoutThem) {
  for (const char* const product : {"310B", "310P", "910"}) {
    on_product(product, [] {
      aclrtEvent event = sentinel();
      EXPECT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), kUnsupported);
      EXPECT_EQ(event, sentinel());
    });
  }
  on_products_that_share([] {
    for (const std::uint32_t more : {0x1U, 0x2U, 0x8U, 0x10U, 0x20U}) {
      aclrtEvent event = sentinel();
      expect_stored(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | more), kBadValue,
                    "aclrtCreateEventExWithFlag");
      expect_stored(aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC), kBadValue, "aclrtCreateEventWithFlag");
      EXPECT_EQ(event, sentinel());
    }
  });
}

TEST(SharedSignalCalls, R188_Handles) {
  on_products_that_share([] {
    const IpcEvent event;
    aclrtIpcEventHandle handle{}, again{};
    aclrtEvent opened = sentinel();
    expect_not_stored(aclrtIpcGetEventHandle(event, nullptr), kBadArgument, "aclrtIpcGetEventHandle");
    expect_not_stored(aclrtIpcGetEventHandle(nullptr, &handle), kBadArgument, "aclrtIpcGetEventHandle");
    expect_not_stored(aclrtIpcOpenEventHandle(handle, nullptr), kBadArgument, "aclrtIpcOpenEventHandle");
    expect_stored(aclrtIpcOpenEventHandle(handle, &opened), kRefused, "aclrtIpcOpenEventHandle");
    ASSERT_EQ(aclrtIpcGetEventHandle(event, &handle), ACL_SUCCESS);
    ASSERT_EQ(aclrtIpcGetEventHandle(event, &again), ACL_SUCCESS);
    EXPECT_EQ(std::memcmp(&handle, &again, sizeof handle), 0);
    without_context([&] {
      EXPECT_EQ(aclrtIpcGetEventHandle(event, &again), ACL_SUCCESS);
      expect_stored(aclrtIpcOpenEventHandle(handle, &opened), kNoContext, "aclrtIpcOpenEventHandle");
    });
    // Each byte counts.
    for (char& byte : again.reserved) {
      for (const int change : {1, 2, 32, 128}) {
        byte = static_cast<char>(byte ^ change);
        expect_stored(aclrtIpcOpenEventHandle(again, &opened), kRefused, "aclrtIpcOpenEventHandle");
        byte = static_cast<char>(byte ^ change);
      }
    }
    EXPECT_EQ(opened, sentinel());
    // Where it was made it can be opened as well: one event under two handles.
    ASSERT_EQ(aclrtIpcOpenEventHandle(handle, &opened), ACL_SUCCESS);
    expect_stored(aclrtIpcGetEventHandle(opened, &again), kBadValue, "aclrtIpcGetEventHandle");
    const Stream recorder, waiter;
    NotifyGate gate;
    gate.hold(recorder);
    event.record(recorder);
    EXPECT_EQ(recorded(opened), kNotReady);
    EXPECT_EQ(::aclrtStreamWaitEvent(waiter, opened), ACL_SUCCESS);
    expect_held(waiter);
    gate.open();
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(opened), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(opened), kStale);
  });
}

TEST(SharedSignalCalls, R168_R178_R179_R184_R185_R186_WhatAnIpcEventDoesNotHave) {
  on_products_that_share([] {
    const IpcEvent event;
    const Event timed{Kind::ex, ACL_EVENT_TIME_LINE};
    const Stream stream;
    EXPECT_TRUE(event.complete()) << "never recorded";
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
    std::uint64_t stamp = 7;
    EXPECT_EQ(aclrtEventGetTimestamp(event, &stamp), kInternal);
    for (int round = 0; round < 2; ++round) {
      aclrtEventStatus status{};
      aclrtEventWaitStatus wait_status{};
      float ms = 7;
      std::uint32_t id = 7;
      EXPECT_EQ(aclrtResetEvent(event, stream), kUnsupported);
      EXPECT_EQ(query_event(event, &status), kUnsupported);
      EXPECT_EQ(aclrtQueryEventWaitStatus(event, &wait_status), kUnsupported);
      EXPECT_EQ(aclrtEventElapsedTime(&ms, event, event), kUnsupported);
      EXPECT_EQ(aclrtEventElapsedTime(&ms, timed, event), kUnsupported);
      EXPECT_EQ(aclrtEventElapsedTime(&ms, event, timed), kUnsupported);
      EXPECT_EQ(aclrtGetEventId(event, &id), kUnsupported);
      EXPECT_EQ(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), kUnsupported);
      EXPECT_EQ(ms, 7);
      EXPECT_EQ(id, 7U);
      event.record(stream);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      EXPECT_TRUE(event.complete());
    }
    EXPECT_EQ(aclrtEventGetTimestamp(event, &stamp), kNoTime);
    EXPECT_EQ(stamp, 7U);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 1), ACL_SUCCESS);
  });
}

TEST(SharedSignalCalls, R211_Exporting) {
  on_products_that_share([] {
    const std::string api = "aclrtNotifyGetExportKey";
    const Notify notify;
    std::array<char, 80> key{};
    key.fill('x');
    expect_not_stored(aclrtNotifyGetExportKey(nullptr, key.data(), 65, 0), kBadArgument, api);
    expect_not_stored(aclrtNotifyGetExportKey(notify, nullptr, 65, 0), kBadArgument, api);
    expect_stored(aclrtNotifyGetExportKey(sentinel(), key.data(), 65, 0), kStale, api);
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{64}})
      expect_stored(aclrtNotifyGetExportKey(notify, key.data(), length, 0), kBadValue, api);
    for (const std::uint64_t flags :
         {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4}, ~std::uint64_t{0}})
      expect_stored(aclrtNotifyGetExportKey(notify, key.data(), 65, flags), kBadValue, api);
    EXPECT_EQ(key[0], 'x');
    ASSERT_EQ(aclrtNotifyGetExportKey(notify, key.data(), 65, 0), ACL_SUCCESS);
    EXPECT_EQ(std::strlen(key.data()), 64U);
    EXPECT_EQ(key[65], 'x') << "nothing behind it is touched";
    std::array<char, 65> again{};
    ASSERT_EQ(aclrtNotifyGetExportKey(notify, again.data(), 65, 0), ACL_SUCCESS);
    EXPECT_STREQ(key.data(), again.data());
    expect_stored(aclrtNotifyGetExportKey(notify, again.data(), 65, 2), kBadValue, api);
  });
}

TEST(SharedSignalCalls, R211_Importing) {
  on_products_that_share([] {
    const std::string api = "aclrtNotifyImportByKey";
    aclrtNotify notify = nullptr, imported = sentinel();
    ASSERT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
    std::array<char, 80> key{};
    ASSERT_EQ(aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0), ACL_SUCCESS);
    expect_not_stored(aclrtNotifyImportByKey(nullptr, key.data(), 0), kBadArgument, api);
    expect_not_stored(aclrtNotifyImportByKey(&imported, nullptr, 0), kBadArgument, api);
    expect_stored(aclrtNotifyImportByKey(&imported, key.data(), 1), kBadValue, api);
    expect_stored(aclrtNotifyImportByKey(&imported, key.data(), 3), kBadValue, api);
    without_context(
        [&] { expect_stored(aclrtNotifyImportByKey(&imported, key.data(), 0), kNoContext, api); });
    for (const char* const wrong :
         {"", "key", "0000000000000000000000000000000000000000000000000000000000000000",
          "00000000000000000000000000000000000000000000000000000000000000000"})
      expect_stored(aclrtNotifyImportByKey(&imported, wrong, 0), kRefused, api);
    EXPECT_EQ(imported, sentinel());
    std::uint32_t number = 1, other = 2;
    for (const std::uint64_t flags : {0U, 2U}) {
      ASSERT_EQ(aclrtNotifyImportByKey(&imported, key.data(), flags), ACL_SUCCESS);
      EXPECT_EQ(aclrtGetNotifyId(notify, &number), ACL_SUCCESS);
      EXPECT_EQ(aclrtGetNotifyId(imported, &other), ACL_SUCCESS);
      EXPECT_EQ(number, other);
      EXPECT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtWaitAndResetNotify(imported, nullptr, 0), ACL_SUCCESS);
      EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyNotify(imported), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyNotify(imported), kStale);
    }
    EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    imported = sentinel();
    expect_stored(aclrtNotifyImportByKey(&imported, key.data(), 0), kRefused, api);
  });
}

TEST(SharedSignalCalls, R211_NamingProcesses) {
  on_products_that_share([] {
    const std::string api = "aclrtNotifySetImportPid";
    const Notify notify, open;
    std::array<char, 65> key{};
    std::vector<std::int32_t> processes(32);
    for (std::size_t i = 0; i < processes.size(); ++i) processes[i] = static_cast<std::int32_t>(100'000 + i);
    expect_not_stored(aclrtNotifySetImportPid(nullptr, processes.data(), 1), kBadArgument, api);
    expect_not_stored(aclrtNotifySetImportPid(notify, nullptr, 1), kBadArgument, api);
    expect_stored(aclrtNotifySetImportPid(sentinel(), processes.data(), 1), kStale, api);
    expect_stored(aclrtNotifySetImportPid(notify, processes.data(), 1), kRefused, api);
    ASSERT_EQ(aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0), ACL_SUCCESS);
    expect_stored(aclrtNotifySetImportPid(notify, processes.data(), 0), kBadValue, api);
    expect_stored(aclrtNotifySetImportPid(notify, processes.data(), 32), kBadValue, api);
    EXPECT_EQ(aclrtNotifySetImportPid(notify, processes.data(), 31), ACL_SUCCESS);
    std::int32_t nobody[] = {0, ::getpid()};
    expect_stored(aclrtNotifySetImportPid(notify, nobody, 2), kRefused, api);
    nobody[0] = 5;
    EXPECT_EQ(aclrtNotifySetImportPid(notify, nobody, 2), ACL_SUCCESS);
    ASSERT_EQ(aclrtNotifyGetExportKey(open, key.data(), key.size(), 2), ACL_SUCCESS);
    expect_stored(aclrtNotifySetImportPid(open, processes.data(), 1), kNoPermission, api);
  });
}

TEST(SharedSignalCalls, R211_NamingProcessesByServer) {
  const std::string api = "aclrtNotifySetImportPidInterServer";
  for (const char* const product : {"A2", "950"}) {
    on_product(product, [&] {
      const Notify notify;
      std::int32_t process = 5;
      aclrtServerPid server{0, &process, 1};
      expect_not_stored(aclrtNotifySetImportPidInterServer(nullptr, nullptr, 0), kUnsupported, api);
      expect_not_stored(aclrtNotifySetImportPidInterServer(notify, &server, 1), kUnsupported, api);
    });
  }
  on_product("A3", [&] {
    const Notify notify;
    std::array<char, 65> key{};
    std::int32_t processes[] = {5, 6};
    aclrtServerPid servers[] = {{0, processes, 2}, {0, nullptr, 1}};
    expect_stored(aclrtNotifySetImportPidInterServer(nullptr, servers, 1), kBadValue, api);
    expect_stored(aclrtNotifySetImportPidInterServer(notify, nullptr, 1), kBadValue, api);
    expect_stored(aclrtNotifySetImportPidInterServer(notify, servers, 0), kBadValue, api);
    expect_stored(aclrtNotifySetImportPidInterServer(notify, servers, 2), kBadValue, api);
    expect_stored(aclrtNotifySetImportPidInterServer(notify, servers, 1), kRefused, api);
    ASSERT_EQ(aclrtNotifyGetExportKey(notify, key.data(), key.size(), 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtNotifySetImportPidInterServer(notify, servers, 1), ACL_SUCCESS);
    servers[1] = {77, processes, 1};
    expect_stored(aclrtNotifySetImportPidInterServer(notify, servers, 2), kBadValue, api);
    servers[1] = {0, processes, 0};
    expect_stored(aclrtNotifySetImportPidInterServer(notify, servers, 2), kBadValue, api);
  });
}

// What was never destroyed is named, whoever made it.
TEST(SharedSignalCalls, R188_R211_OneMachinePerProcessWorksToo) {
  in_fresh_process({{"BELAY_MACHINE", "private"}, {"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const IpcEvent event;
    aclrtIpcEventHandle handle{};
    aclrtEvent opened = nullptr;
    ASSERT_EQ(aclrtIpcGetEventHandle(event, &handle), ACL_SUCCESS);
    ASSERT_EQ(aclrtIpcOpenEventHandle(handle, &opened), ACL_SUCCESS);
    event.record(nullptr);
    EXPECT_EQ(::aclrtSynchronizeEvent(opened), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(opened), ACL_SUCCESS);
  });
}

}  // namespace shared_signal_calls_test
