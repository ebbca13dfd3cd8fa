// Functions that exist so that programs link, and answer that they are not supported.
#include <cstring>
#include <span>

#include "support/callbacks.h"
#include "support/events.h"
#include "support/refusals.h"
#include "support/settings.h"
#include "support/streams.h"

namespace not_supported_test {

using namespace belay_test;

const char* const kProducts[] = {"950", "A3", "A2", "310B", "310P", "910", "IPV350"};

// On every product, each in a process of its own: first without a context, then with one.
void on_products(std::span<const char* const> products, const std::function<void()>& check) {
  for (const char* const product : products) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      SCOPED_TRACE(product);
      check();
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      check();
      EXPECT_EQ(last_error(), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
}

void on_every_product(const std::function<void()>& check) { on_products(kProducts, check); }
// Whose events and notifies are for one process only.
void on_products_of_one_process(const std::function<void()>& check) {
  on_products(std::span{kProducts}.subspan(3), check);
}

struct Sized {
  unsigned char bytes[64];
  Sized() { std::memset(bytes, 0x5A, sizeof bytes); }
  bool untouched() const {
    for (const unsigned char byte : bytes) {
      if (byte != 0x5A) return false;
    }
    return true;
  }
};

TEST(NotSupported, R104_R125_AtomicsAndOverflow) {
  on_every_product([] {
    Sized out;
    auto* const number = reinterpret_cast<std::uint32_t*>(out.bytes);
    auto* const address = reinterpret_cast<void**>(out.bytes);
    for (const std::int32_t device : {-1, 0, 1, 99}) {
      for (const std::uint32_t count : {0U, 1U, 1000U}) {
        expect_not_stored(aclrtDeviceGetHostAtomicCapabilities(nullptr, nullptr, count, device), kUnsupported,
                          "aclrtDeviceGetHostAtomicCapabilities");
        expect_not_stored(aclrtDeviceGetHostAtomicCapabilities(number, nullptr, count, device), kUnsupported,
                          "aclrtDeviceGetHostAtomicCapabilities");
        expect_not_stored(aclrtDeviceGetP2PAtomicCapabilities(number, nullptr, count, device, 0),
                          kUnsupported, "aclrtDeviceGetP2PAtomicCapabilities");
      }
    }
    expect_not_stored(aclrtCtxGetFloatOverflowAddr(nullptr), kUnsupported, "aclrtCtxGetFloatOverflowAddr");
    expect_not_stored(aclrtCtxGetFloatOverflowAddr(address), kUnsupported, "aclrtCtxGetFloatOverflowAddr");
    EXPECT_TRUE(out.untouched());
  });
}

TEST(NotSupported, R157_StreamsOfModels) {
  on_every_product([] {
    std::vector<void*> handles = garbage();
    handles.push_back(nullptr);
    Sized out;
    for (void* const handle : handles) {
      expect_not_stored(aclrtPersistentTaskClean(handle), kUnsupported, "aclrtPersistentTaskClean");
      expect_not_stored(aclrtActiveStream(handle, nullptr), kBadArgument, "aclrtActiveStream");
      expect_not_stored(aclrtActiveStream(nullptr, handle), kBadArgument, "aclrtActiveStream");
      const int wanted = handle == nullptr ? kBadArgument : kUnsupported;
      expect_not_stored(aclrtActiveStream(handle, handle), wanted, "aclrtActiveStream");
      for (void* const other : {static_cast<void*>(nullptr), handle}) {
        expect_not_stored(
            aclrtSwitchStream(out.bytes, ACL_RT_EQUAL, out.bytes, ACL_RT_SWITCH_INT64, handle, other, handle),
            wanted, "aclrtSwitchStream");
      }
    }
    // Each of the four that must be there.
    for (unsigned there = 0; there < 16; ++there) {
      const auto one = [&](unsigned number) {
        return (there >> number & 1U) != 0 ? static_cast<void*>(out.bytes) : nullptr;
      };
      expect_not_stored(
          aclrtSwitchStream(one(0), ACL_RT_LESS, one(1), ACL_RT_SWITCH_INT32, one(2), nullptr, one(3)),
          there == 15 ? kUnsupported : kBadArgument, "aclrtSwitchStream");
    }
    EXPECT_TRUE(out.untouched());
  });
}

TEST(NotSupported, R157_StreamConfigurations) {
  on_every_product([] {
    EXPECT_EQ(aclrtCreateStreamConfigHandle(), nullptr);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    Sized out;
    auto* const handle = reinterpret_cast<aclrtStreamConfigHandle*>(sentinel());
    const std::uint32_t priority = 1;
    for (aclrtStreamConfigHandle* const which : {static_cast<aclrtStreamConfigHandle*>(nullptr), handle}) {
      expect_not_stored(aclrtDestroyStreamConfigHandle(which), kUnsupported,
                        "aclrtDestroyStreamConfigHandle");
      expect_not_stored(aclrtSetStreamConfigOpt(which, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority),
                        kUnsupported, "aclrtSetStreamConfigOpt");
      expect_not_stored(aclrtSetStreamConfigOpt(which, ACL_RT_STREAM_FLAG, nullptr, 0), kUnsupported,
                        "aclrtSetStreamConfigOpt");
      expect_not_stored(aclrtCreateStreamV2(nullptr, which), kUnsupported, "aclrtCreateStreamV2");
      expect_not_stored(aclrtCreateStreamV2(reinterpret_cast<aclrtStream*>(out.bytes), which), kUnsupported,
                        "aclrtCreateStreamV2");
    }
    EXPECT_TRUE(out.untouched());
  });
}

TEST(NotSupported, R205_HostFunctionsThatAreSubscribed) {
  on_every_product([] {
    std::vector<void*> handles = garbage();
    handles.push_back(nullptr);
    for (void* const handle : handles) {
      for (const std::uint64_t thread : {std::uint64_t{0}, this_thread(), ~std::uint64_t{0}}) {
        expect_not_stored(aclrtSubscribeHostFunc(thread, handle), kUnsupported, "aclrtSubscribeHostFunc");
        expect_not_stored(aclrtUnSubscribeHostFunc(thread, handle), kUnsupported, "aclrtUnSubscribeHostFunc");
      }
    }
    for (const std::int32_t timeout : {-2, -1, 0, 1, std::numeric_limits<std::int32_t>::max()}) {
      expect_not_stored(aclrtProcessHostFunc(timeout), kUnsupported, "aclrtProcessHostFunc");
    }
  });
}

TEST(NotSupported, R188_OpeningAnEventOfAnotherProcess) {
  on_products_of_one_process([] {
    aclrtIpcEventHandle handle{};
    aclrtEvent event = sentinel();
    expect_not_stored(aclrtIpcOpenEventHandle(handle, nullptr), kBadArgument, "aclrtIpcOpenEventHandle");
    expect_not_stored(aclrtIpcOpenEventHandle(handle, &event), kUnsupported, "aclrtIpcOpenEventHandle");
    std::memset(&handle, 0xFF, sizeof handle);
    expect_not_stored(aclrtIpcOpenEventHandle(handle, &event), kUnsupported, "aclrtIpcOpenEventHandle");
    EXPECT_EQ(event, sentinel());
    expect_not_stored(aclrtIpcGetEventHandle(nullptr, &handle), kBadArgument, "aclrtIpcGetEventHandle");
    expect_not_stored(aclrtIpcGetEventHandle(sentinel(), nullptr), kBadArgument, "aclrtIpcGetEventHandle");
    expect_not_stored(aclrtIpcGetEventHandle(nullptr, nullptr), kBadArgument, "aclrtIpcGetEventHandle");
  });
}

class NotSupportedHere : public OnDevice {};

TEST_F(NotSupportedHere, R188_EventsOfOneProcessCannotBeGivenAway) {
  Stream stream;
  Event gone{Kind::ex};
  std::vector<void*> stale = garbage();
  stale.push_back(gone.destroy_now());
  stale.push_back(stream);
  const Sized out;
  aclrtIpcEventHandle handle;
  std::memcpy(&handle, out.bytes, sizeof handle);
  const auto check = [&](int expected, aclrtEvent event) {
    expect_stored(aclrtIpcGetEventHandle(event, &handle), expected, "aclrtIpcGetEventHandle");
    EXPECT_EQ(std::memcmp(&handle, out.bytes, sizeof handle), 0) << "nothing is written";
  };
  for (void* const event : stale) check(kStale, event);
  for (const Kind kind : all_kinds()) {
    const Event event{kind};
    check(kBadValue, event);
    without_context([&] { check(kBadValue, event); });
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    check(kBadValue, event);
  }
  const Event external{Kind::flagged, ACL_EVENT_EXTERNAL};
  check(kBadValue, external);
}

TEST(NotSupported, R211_NotifiesOfSeveralProcesses) {
  on_products_of_one_process([] {
    char key[128];
    std::memset(key, 0x5A, sizeof key);
    aclrtNotify imported = sentinel();
    std::int32_t pid = 1;
    aclrtServerPid server{0, &pid, 1};
    for (const std::size_t length : {std::size_t{0}, std::size_t{64}, std::size_t{65}, sizeof key}) {
      const std::string api = "aclrtNotifyGetExportKey";
      expect_not_stored(aclrtNotifyGetExportKey(nullptr, key, length, 0), kBadArgument, api);
      expect_not_stored(aclrtNotifyGetExportKey(sentinel(), nullptr, length, 0), kBadArgument, api);
      expect_not_stored(aclrtNotifyGetExportKey(sentinel(), key, length, 0), kUnsupported, api);
      expect_not_stored(aclrtNotifyGetExportKey(sentinel(), key, length, 77), kUnsupported, api);
    }
    expect_not_stored(aclrtNotifyImportByKey(nullptr, "key", 0), kBadArgument, "aclrtNotifyImportByKey");
    expect_not_stored(aclrtNotifyImportByKey(&imported, nullptr, 0), kBadArgument, "aclrtNotifyImportByKey");
    expect_not_stored(aclrtNotifyImportByKey(&imported, "key", 0), kUnsupported, "aclrtNotifyImportByKey");
    expect_not_stored(aclrtNotifySetImportPid(nullptr, &pid, 1), kBadArgument, "aclrtNotifySetImportPid");
    expect_not_stored(aclrtNotifySetImportPid(sentinel(), nullptr, 1), kBadArgument,
                      "aclrtNotifySetImportPid");
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}})
      expect_not_stored(aclrtNotifySetImportPid(sentinel(), &pid, count), kUnsupported,
                        "aclrtNotifySetImportPid");
    const std::string api = "aclrtNotifySetImportPidInterServer";
    expect_not_stored(aclrtNotifySetImportPidInterServer(nullptr, nullptr, 0), kUnsupported, api);
    expect_not_stored(aclrtNotifySetImportPidInterServer(sentinel(), &server, 1), kUnsupported, api);
    EXPECT_EQ(imported, sentinel());
    EXPECT_EQ(pid, 1);
    for (const char letter : key) EXPECT_EQ(letter, 0x5A);
  });
}

}  // namespace not_supported_test
