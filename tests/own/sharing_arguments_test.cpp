// The arguments of the functions that share memory: what each of them checks, in which order, and on which
// products.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/fresh_process.h"
#include "support/sharing.h"
#include "support/this_program.h"

namespace sharing_arguments_test {

using namespace belay_test;

constexpr auto kNone = ACL_MEM_HANDLE_TYPE_NONE;
constexpr auto kDefault = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, kFabric = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
const auto kNoType = static_cast<aclrtMemSharedHandleType>(3);
constexpr int kNoPermission = 207006, kNoLink = 207021;

Settings on(const char* product) {
  return {
      {"BELAY_PRODUCT", product}, {"BELAY_LEAKS", "off"}, {"BELAY_MACHINE", "private"}, {"BELAY_HBM", "64M"}};
}

// On a thread that has no context.
template <class Call>
int elsewhere(Call&& call) {
  int answer = -1;
  std::thread{[&] { answer = call(); }}.join();
  return answer;
}

struct Memory {
  aclrtDrvMemHandle handle = nullptr;
  explicit Memory(std::uint32_t device = 0) {
    const aclrtPhysicalMemProp prop = of_device(device);
    EXPECT_EQ(aclrtMallocPhysical(&handle, k2MB, &prop, 0), 0);
  }
  std::uint64_t value(std::uint64_t flags = kListed) const {
    std::uint64_t value = 0;
    EXPECT_EQ(aclrtMemExportToShareableHandle(handle, kNone, flags, &value), 0);
    return value;
  }
};

void* block(std::size_t size = k2MB) {
  void* made = nullptr;
  EXPECT_EQ(aclrtMalloc(&made, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  return made;
}
using Key = std::array<char, kKeyLength>;
Key key_of(void* start, std::size_t size = k2MB, std::uint64_t flags = kListed) {
  Key key{};
  EXPECT_EQ(aclrtIpcMemGetExportKey(start, size, key.data(), key.size(), flags), 0);
  return key;
}

// --- handles --------------------------------------------------------------------------------------

TEST(SharedHandleArguments, V215_V216_V217_V218_V219_D99_Export) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const Memory memory;
    std::uint64_t value = 77;
    const auto posix = ACL_MEM_HANDLE_TYPE_POSIX;
    const auto run = [&](aclrtDrvMemHandle handle, aclrtMemHandleType type, std::uint64_t flags,
                         std::uint64_t* out) {
      return aclrtMemExportToShareableHandle(handle, type, flags, out);
    };
    EXPECT_EQ(run(nullptr, posix, 2, nullptr), kBadArgument);
    EXPECT_EQ(run(memory.handle, posix, 2, nullptr), kBadArgument);
    EXPECT_EQ(run(memory.handle, kNone, 2, nullptr), kBadArgument);
    EXPECT_EQ(run(memory.handle, kNone, 2, &value), kBadValue);
    EXPECT_EQ(run(address(12345), kNone, 0, &value), kBadValue);
    EXPECT_EQ(value, 77U) << "nothing was stored";
    EXPECT_EQ(run(memory.handle, kNone, 1, &value), 0);
    EXPECT_NE(value, 0U);
    EXPECT_EQ(run(memory.handle, kNone, 1, &value), kRefused);
    EXPECT_EQ(aclrtFreePhysical(memory.handle), 0);
    EXPECT_EQ(run(memory.handle, kNone, 1, &value), kBadValue);
  });
}

TEST(SharedHandleArguments, V225_V18_AnExportThatFails_ExportsNothing) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const Memory memory;
    std::uint64_t value = 0;
    EXPECT_EQ(aclrtMemExportToShareableHandle(memory.handle, kNone, 2, &value), kBadValue);
    EXPECT_EQ(aclrtMemExportToShareableHandle(memory.handle, kNone, 1, &value), 0);
    std::int32_t pid = 1;
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, &pid, 1), kNoPermission) << "the list is off at once";
  });
}

TEST(SharedHandleArguments, V223_V226_V228_V231_ExportedInAnyState_OnceForAll) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const Memory memory;
    void* place = nullptr;
    ASSERT_EQ(reserve(&place, k2MB), 0);
    ASSERT_EQ(map(place, k2MB, memory.handle), 0);
    std::uint64_t value = memory.value(), again = 0;
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(aclrtMemExportToShareableHandle(memory.handle, kNone, 0, &again), kRefused);
      EXPECT_EQ(aclrtUnmapMem(place), 0);
      EXPECT_EQ(aclrtMemExportToShareableHandle(memory.handle, kNone, 0, &again), kRefused);
      EXPECT_EQ(map(place, k2MB, memory.handle), 0);
    }
    EXPECT_EQ(aclrtUnmapMem(place), 0);
    aclrtDrvMemHandle imported = nullptr;
    std::int32_t me = ::getpid();
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, &me, 1), 0);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 1, &imported), 0);
    EXPECT_EQ(aclrtFreePhysical(imported), 0);
    EXPECT_EQ(aclrtFreePhysical(memory.handle), 0) << "an export is no reference";
    EXPECT_EQ(aclrtFreePhysical(memory.handle), kBadValue);
  });
}

TEST(SharedHandleArguments, V232_V233_V235_V238_V239_V240_D100_NamingProcesses) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const Memory memory;
    const std::uint64_t value = memory.value();
    std::vector<std::int32_t> pids(70000, 5);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(0, nullptr, 0), kBadArgument);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(0, pids.data(), 0), kBadArgument);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(0, pids.data(), 65536), kBadValue);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(0, pids.data(), 1), kStale);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, pids.data(), 65535), 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, pids.data(), 1), 0);
    pids.assign(3, 0);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, pids.data(), 3), kRefused);
    pids[1] = ::getpid();
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, pids.data(), 3), 0);
    aclrtDrvMemHandle imported = nullptr;
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 1, &imported), 0);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, pids.data() + 1, 1), 0) << "also after that";
  });
}

TEST(SharedHandleArguments, V243_V244_V245_V246_V247_V248_D102_Import_InThisOrder) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const Memory memory;
    const std::uint64_t value = memory.value();
    aclrtDrvMemHandle out = address(77);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(0, -1, nullptr), kBadArgument);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(0, -1, &out), kBadDevice);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(0, 99, &out), kBadDevice);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(0, 0, &out), kStale);
    EXPECT_EQ(elsewhere([&] { return aclrtMemImportFromShareableHandle(0, 0, &out); }), kStale);
    EXPECT_EQ(elsewhere([&] { return aclrtMemImportFromShareableHandle(value, 0, &out); }), kNoContext);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 1, &out), kRefused) << "not named";
    std::int32_t me = ::getpid();
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(value, &me, 1), 0);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 0, &out), kRefused) << "its own, on its own device";
    EXPECT_EQ(out, address(77));
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 1, &out), 0);
  });
}

TEST(SharedHandleArguments, V254_V255_D104_AnImport_IsRetainedMappedAndFreed_AndTakesNothing) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    const Memory memory;
    const std::uint64_t value = memory.value(kOpen);
    const std::size_t before = free_bytes();
    aclrtDrvMemHandle first = nullptr, second = nullptr, retained = nullptr;
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 1, &first), 0);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(value, 1, &second), 0);
    EXPECT_EQ(first, second);
    void* place = nullptr;
    ASSERT_EQ(reserve(&place, k2MB), 0);
    EXPECT_EQ(aclrtMapMem(place, kMB, 0, first, 0), kRefused) << "V-139";
    EXPECT_EQ(map(place, k2MB, first), 0);
    EXPECT_EQ(aclrtMemRetainAllocationHandle(place, &retained), 0);
    EXPECT_EQ(retained, first);
    EXPECT_EQ(free_bytes(), before);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtFreePhysical(first), 0);
    EXPECT_EQ(aclrtFreePhysical(first), kBadValue);
    EXPECT_EQ(aclrtUnmapMem(place), 0);
    EXPECT_EQ(aclrtReleaseMemAddress(place), 0);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(SharedHandleArguments, V200_PropertiesOfAnImport) {
  for (const char* product : {"A2", "A3", "950"}) {
    SCOPED_TRACE(product);
    in_fresh_process(on(product), [product] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      const Memory memory;
      const std::uint64_t value = memory.value(kOpen);
      aclrtDrvMemHandle handle = nullptr;
      ASSERT_EQ(aclrtMemImportFromShareableHandle(value, 1, &handle), 0);
      aclrtPhysicalMemProp theirs{}, own{};
      ASSERT_EQ(aclrtMemGetAllocationPropertiesFromHandle(memory.handle, &own), 0);
      const int answer = aclrtMemGetAllocationPropertiesFromHandle(handle, &theirs);
      EXPECT_EQ(answer, std::string{product} == "950" ? kUnsupported : 0);
      if (answer == 0) {
        EXPECT_EQ(std::memcmp(&own, &theirs, sizeof own), 0) << "with the device of the exporter";
      }
    });
  }
}

TEST(SharedHandleArguments, V149_ImportedAndOwnMemory_InOneReservation) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    ASSERT_EQ(aclrtSetDevice(1), 0);
    const Memory theirs{0}, own{1};
    aclrtDrvMemHandle imported = nullptr;
    ASSERT_EQ(aclrtMemImportFromShareableHandle(theirs.value(kOpen), 1, &imported), 0);
    void* place = nullptr;
    ASSERT_EQ(reserve(&place, 2 * k2MB), 0);
    EXPECT_EQ(map(place, k2MB, own.handle), 0);
    EXPECT_EQ(map(at(place, k2MB), k2MB, imported), 0);
    EXPECT_EQ(aclrtMemset(place, 2 * k2MB, 5, 2 * k2MB), 0);
    EXPECT_EQ(map(at(place, k2MB), k2MB, theirs.handle), kRefused);
  });
}

TEST(SharedHandleArguments, V257_V258_V259_V260_V261_V262_V263_V264_V265_SecondGeneration) {
  for (const char* product : {"A2", "A3"}) {
    SCOPED_TRACE(product);
    in_fresh_process(on(product), [product] {
      const bool fabric_there = std::string{product} == "A3";
      ASSERT_EQ(aclrtSetDevice(0), 0);
      const Memory memory, other, third;
      struct {
        aclrtMemFabricHandle value;
        std::array<char, 16> guard;
      } blob{};
      blob.guard.fill(7);
      const auto out = [&](auto handle, std::uint64_t flags, aclrtMemSharedHandleType type, void* into) {
        return aclrtMemExportToShareableHandleV2(handle, flags, type, into);
      };
      EXPECT_EQ(out(nullptr, 2, kNoType, nullptr), kBadArgument);
      EXPECT_EQ(out(memory.handle, 2, kNoType, nullptr), kBadArgument);
      EXPECT_EQ(out(memory.handle, 2, kNoType, &blob), kBadValue);
      EXPECT_EQ(out(memory.handle, 0, static_cast<aclrtMemSharedHandleType>(0), &blob), kBadValue);
      EXPECT_EQ(out(memory.handle, 2, kDefault, &blob), kBadValue);
      EXPECT_EQ(elsewhere([&] { return out(memory.handle, 0, kFabric, &blob); }), kNoContext);
      EXPECT_EQ(out(memory.handle, 0, kFabric, &blob), fabric_there ? 0 : kUnsupported);
      EXPECT_EQ(std::count(blob.guard.begin(), blob.guard.end(), 7), 16);

      // DEFAULT is the first generation.
      std::array<std::uint64_t, 2> value{0, 77};
      EXPECT_EQ(out(other.handle, kOpen, kDefault, value.data()), 0);
      EXPECT_EQ(value[1], 77U);
      aclrtDrvMemHandle handle = nullptr, same = nullptr;
      EXPECT_EQ(aclrtMemImportFromShareableHandle(value[0], 1, &handle), 0);
      std::uint64_t first = third.value();
      std::int32_t me = ::getpid();
      const auto allow = [&](void* which, aclrtMemSharedHandleType type, std::int32_t* pids,
                             std::size_t count) {
        return aclrtMemSetPidToShareableHandleV2(which, type, pids, count);
      };
      EXPECT_EQ(allow(nullptr, kNoType, nullptr, 0), kBadArgument);
      EXPECT_EQ(allow(&first, kNoType, nullptr, 0), kBadArgument);
      EXPECT_EQ(allow(&first, kNoType, &me, 0), kBadArgument);
      EXPECT_EQ(allow(&first, kNoType, &me, 1), kBadValue);
      EXPECT_EQ(allow(&first, kDefault, &me, 65536), kBadValue);
      EXPECT_EQ(allow(value.data() + 1, kDefault, &me, 1), kStale);
      EXPECT_EQ(allow(value.data(), kDefault, &me, 1), kNoPermission);
      EXPECT_EQ(allow(&first, kDefault, &me, 1), 0);

      const auto in = [&](void* which, aclrtMemSharedHandleType type, std::uint64_t flags,
                          aclrtDrvMemHandle* into) {
        return aclrtMemImportFromShareableHandleV2(which, type, flags, into);
      };
      EXPECT_EQ(in(nullptr, kNoType, 1, nullptr), kBadArgument);
      EXPECT_EQ(in(&first, kNoType, 1, nullptr), kBadArgument);
      EXPECT_EQ(in(&first, kNoType, 1, &same), kBadArgument);
      EXPECT_EQ(elsewhere([&] { return in(&first, kNoType, 0, &same); }), kNoContext);
      EXPECT_EQ(in(&first, kNoType, 0, &same), kBadValue);
      EXPECT_EQ(in(&first, kDefault, 0, &same), kRefused) << "for the current device: its own";
      ASSERT_EQ(aclrtSetDevice(1), 0);
      EXPECT_EQ(in(value.data(), kDefault, 0, &same), 0);
      EXPECT_EQ(same, handle) << "the device is the current one";
      if (!fabric_there) {
        EXPECT_EQ(in(&blob.value, kFabric, 0, &same), kUnsupported);
        return;
      }
      aclrtMemFabricHandle garbage{};
      EXPECT_EQ(in(&garbage, kFabric, 0, &same), kBadValue);
      EXPECT_EQ(allow(&garbage, kFabric, &me, 1), kBadValue);
      EXPECT_EQ(in(&blob.value, kFabric, 0, &same), kRefused) << "V-267: there is one server, and a list";
      EXPECT_EQ(allow(&blob.value, kFabric, &me, 1), 0);
      EXPECT_EQ(in(&blob.value, kFabric, 0, &same), 0);
      EXPECT_EQ(out(memory.handle, 0, kDefault, value.data()), kRefused);
    });
  }
}

// --- keys -----------------------------------------------------------------------------------------

TEST(KeyArguments, V382_V383_V384_V385_V386_V392_D106_Export_InThisOrder) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    std::array<char, 256> key;
    key.fill('x');
    const auto run = [&](void* from, std::size_t size, char* into, std::size_t room, std::uint64_t flags) {
      return aclrtIpcMemGetExportKey(from, size, into, room, flags);
    };
    EXPECT_EQ(run(nullptr, 0, nullptr, 0, 2), kBadArgument);
    EXPECT_EQ(run(start, 0, nullptr, 0, 2), kBadArgument);
    for (const auto& [size, room, flags] :
         {std::tuple{0, 65, 0}, std::tuple{4096, 0, 0}, std::tuple{4096, 65, 2}}) {
      const auto wrong = [&, size = size, room = room, flags = flags] {
        return run(start, static_cast<std::size_t>(size), key.data(), static_cast<std::size_t>(room),
                   static_cast<std::uint64_t>(flags));
      };
      EXPECT_EQ(elsewhere(wrong), kBadValue);
      EXPECT_EQ(wrong(), kBadValue);
    }
    EXPECT_EQ(elsewhere([&] { return run(start, 4096, key.data(), 64, 0); }), kNoContext);
    EXPECT_EQ(run(address(4096), 4096, key.data(), 64, 0), kBadValue);
    int local = 0;
    void* pinned = nullptr;
    ASSERT_EQ(aclrtMallocHost(&pinned, 4096), 0);
    for (void* wrong : {static_cast<void*>(&local), pinned, address(4096)})
      EXPECT_EQ(run(wrong, 4, key.data(), 65, 0), kRefused);
    EXPECT_EQ(std::count(key.begin(), key.end(), 'x'), 256);
    EXPECT_EQ(run(start, 4096, key.data(), 256, 0), 0);
    EXPECT_EQ(std::strlen(key.data()), 64U);
    EXPECT_EQ(std::string(key.data()).find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(std::count(key.begin() + 65, key.end(), 'x'), 191);
    EXPECT_EQ(aclrtFree(start), 0);
    EXPECT_EQ(run(start, 4096, key.data(), 65, 0), kRefused);
  });
}

TEST(KeyArguments, V396_V397_D108_D115_D117_SeveralKeys_EndEachByItself_OrWithTheMemory) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    const Key first = key_of(start), second = key_of(start);
    EXPECT_NE(first, second);
    EXPECT_EQ(aclrtIpcMemClose(first.data()), 0);
    EXPECT_EQ(aclrtIpcMemClose(first.data()), kRefused);
    EXPECT_EQ(aclrtFree(start), 0) << "with a key that is open";
    EXPECT_EQ(aclrtIpcMemClose(second.data()), kRefused);
  });
}

TEST(KeyArguments, V398_V399_V400_V401_V402_V404_D109_NamingProcesses) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    const Key key = key_of(start), open = key_of(start, k2MB, kOpen);
    std::vector<std::int32_t> pids(64, 1);
    EXPECT_EQ(aclrtIpcMemSetImportPid(nullptr, nullptr, 0), kBadArgument);
    EXPECT_EQ(aclrtIpcMemSetImportPid(key.data(), nullptr, 0), kBadArgument);
    EXPECT_EQ(aclrtIpcMemSetImportPid("none", pids.data(), 0), kBadValue);
    EXPECT_EQ(aclrtIpcMemSetImportPid("none", pids.data(), 32), kBadValue);
    EXPECT_EQ(aclrtIpcMemSetImportPid("none", pids.data(), 1), kRefused);
    EXPECT_EQ(aclrtIpcMemSetImportPid(open.data(), pids.data(), 1), kNoPermission);
    std::int32_t me = 0;
    ASSERT_EQ(aclrtDeviceGetBareTgid(&me), 0);
    pids.assign({0, me});
    EXPECT_EQ(aclrtIpcMemSetImportPid(key.data(), pids.data(), 2), kRefused);
    // 32,768 in all, and no more; who is there already may be named again.
    std::int32_t next = 2;
    while (next == me) ++next;
    std::size_t named = 0;
    for (std::int32_t pid = 2; named < 32768; ++pid) {
      if (pid == me) continue;
      ASSERT_EQ(aclrtIpcMemSetImportPid(key.data(), &pid, 1), 0) << named;
      ++named;
      next = pid;
    }
    EXPECT_EQ(aclrtIpcMemSetImportPid(key.data(), &next, 1), 0);
    next += next + 1 == me ? 2 : 1;
    EXPECT_EQ(aclrtIpcMemSetImportPid(key.data(), &next, 1), 207012);
  });
}

TEST(KeyArguments, V405_V406_V407_V408_OtherServers) {
  for (const char* product : {"A2", "A3"}) {
    SCOPED_TRACE(product);
    in_fresh_process(on(product), [product] {
      const bool there = std::string{product} == "A3";
      ASSERT_EQ(aclrtSetDevice(0), 0);
      void* start = block();
      const Key key = key_of(start), open = key_of(start, k2MB, kOpen);
      std::int64_t sdid = -1;
      ASSERT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID, &sdid), 0);
      std::vector<std::int32_t> pids(32, 5);
      aclrtServerPid one{static_cast<std::uint32_t>(sdid), pids.data(), 1};
      const auto run = [](const char* which, aclrtServerPid* servers, std::size_t count) {
        return aclrtIpcMemImportPidInterServer(which, servers, count);
      };
      EXPECT_EQ(run(nullptr, &one, 1), kBadValue);
      EXPECT_EQ(run(key.data(), nullptr, 1), kBadValue);
      EXPECT_EQ(run(key.data(), &one, 0), kBadValue);
      aclrtServerPid no_list = one;
      no_list.pid = nullptr;
      EXPECT_EQ(run(key.data(), &no_list, 1), kBadValue);
      EXPECT_EQ(run(key.data(), &one, 1), there ? 0 : kUnsupported);
      if (!there) return;
      EXPECT_EQ(run("none", &one, 1), kRefused);
      EXPECT_EQ(run(open.data(), &one, 1), kNoPermission);
      aclrtServerPid nowhere = one;
      nowhere.sdid += 1;
      EXPECT_EQ(run(key.data(), &nowhere, 1), kBadValue);
      std::int32_t mine = ::getpid(), other = 6;
      std::array<aclrtServerPid, 3> all{aclrtServerPid{one.sdid, &other, 1}, nowhere,
                                        aclrtServerPid{one.sdid, &mine, 1}};
      EXPECT_EQ(run(key.data(), all.data(), 3), kBadValue) << "up to the first that fails";
    });
  }
}

TEST(KeyArguments, V409_V410_V411_V412_V413_V415_Import_InThisOrder) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    const Key key = key_of(start), open = key_of(start, k2MB, kOpen);
    void* out = address(77);
    EXPECT_EQ(aclrtIpcMemImportByKey(nullptr, nullptr, 2), kBadArgument);
    EXPECT_EQ(aclrtIpcMemImportByKey(&out, nullptr, 2), kBadArgument);
    EXPECT_EQ(elsewhere([&] { return aclrtIpcMemImportByKey(&out, "", 2); }), kBadValue);
    EXPECT_EQ(elsewhere([&] { return aclrtIpcMemImportByKey(&out, "", 1); }), kNoContext);
    EXPECT_EQ(aclrtIpcMemImportByKey(&out, "", 1), kBadValue);
    EXPECT_EQ(aclrtIpcMemImportByKey(&out, std::string(65, '0').c_str(), 1), kBadValue);
    EXPECT_EQ(aclrtIpcMemImportByKey(&out, std::string(64, '0').c_str(), 1), kRefused);
    EXPECT_EQ(aclrtIpcMemImportByKey(&out, key.data(), 0), kRefused);
    EXPECT_EQ(out, address(77));
    EXPECT_EQ(aclrtIpcMemImportByKey(&out, open.data(), 0), 0);
    EXPECT_NE(out, start);
  });
}

TEST(KeyArguments, V349_V416_V420_V421_V435_D111_D113_WhatAnImportedPointerIs) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    const Key key = key_of(start, k2MB, kOpen);
    ASSERT_EQ(aclrtSetDevice(1), 0);
    const std::size_t before = free_bytes();
    void* there = nullptr;
    ASSERT_EQ(aclrtIpcMemImportByKey(&there, key.data(), 1), 0);
    EXPECT_EQ(free_bytes(), before);
    aclrtPtrAttributes about{};
    ASSERT_EQ(aclrtPointerGetAttributes(there, &about), 0);
    EXPECT_EQ(about.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(about.location.id, 1U);
    EXPECT_EQ(about.pageSize, k2MB);
    Key none{};
    EXPECT_EQ(aclrtIpcMemGetExportKey(there, k2MB, none.data(), none.size(), 1), kRefused);
    EXPECT_EQ(aclrtFree(there), kBadValue);
    EXPECT_EQ(aclrtUnmapMem(there), kRefused);
    EXPECT_EQ(aclrtReleaseMemAddress(there), kBadValue);
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_NE(aclrtMemRetainAllocationHandle(there, &handle), 0);
    EXPECT_EQ(aclrtMemset(there, k2MB, 6, k2MB), 0) << "and it is all still there";
    EXPECT_EQ(aclrtIpcMemClose(key.data()), 0);
    EXPECT_EQ(aclrtMemset(there, k2MB, 6, k2MB), kRefused);
    EXPECT_EQ(aclrtFree(there), kBadValue);
    EXPECT_EQ(aclrtIpcMemClose(key.data()), 0) << "the key itself";
    EXPECT_EQ(aclrtIpcMemClose(key.data()), kRefused);
    EXPECT_EQ(aclrtFree(start), 0);
  });
}

TEST(KeyArguments, V417_V419_V438_D114_EveryKindOfCopy_AndPeerAccessWhereItIsWanted) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    ASSERT_EQ(aclrtMemset(start, k2MB, 0x21, k2MB), 0);
    const Key key = key_of(start, k2MB, kOpen);
    ASSERT_EQ(aclrtSetDevice(1), 0);
    std::int32_t status = 1;
    void *there = nullptr, *mine = block();
    ASSERT_EQ(aclrtIpcMemImportByKey(&there, key.data(), 0), 0);
    ASSERT_EQ(aclrtDevicePeerAccessStatus(1, 0, &status), 0);
    EXPECT_EQ(status, 0);
    std::vector<unsigned char> host(1000);
    EXPECT_EQ(aclrtMemcpy(host.data(), 1000, there, 1000, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    EXPECT_EQ(host, std::vector<unsigned char>(1000, 0x21));
    EXPECT_EQ(aclrtMemcpy(there, 1000, host.data(), 1000, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    EXPECT_EQ(aclrtMemcpy(mine, 1000, there, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    EXPECT_EQ(aclrtMemcpy(host.data(), 1000, there, 1000, ACL_MEMCPY_DEFAULT), 0);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    EXPECT_EQ(aclrtMemcpyAsync(there, 1000, mine, 1000, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
    ASSERT_EQ(aclrtIpcMemImportByKey(&there, key.data(), 1), 0);
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 0}}) {
      ASSERT_EQ(aclrtDevicePeerAccessStatus(from, to, &status), 0);
      EXPECT_EQ(status, 1);
    }
  });
}

TEST(KeyArguments, M302_NoSynchronousBatchOnImportedMemory) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    void* start = block();
    const Key key = key_of(start, k2MB, kOpen);
    void* there = nullptr;
    ASSERT_EQ(aclrtIpcMemImportByKey(&there, key.data(), 0), 0);
    void* host = nullptr;
    ASSERT_EQ(aclrtMallocHost(&host, 4096), 0);
    for (void* device : {start, there}) {
      std::array<void*, 1> to{device}, from{host};
      std::array<std::size_t, 1> sizes{4096}, rooms{4096}, indexes{0};
      aclrtMemcpyBatchAttr attribute{};
      attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
      attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
      std::size_t failed = 0;
      EXPECT_EQ(aclrtMemcpyBatch(to.data(), rooms.data(), from.data(), sizes.data(), 1, &attribute,
                                 indexes.data(), 1, &failed),
                device == start ? 0 : kUnsupported);
    }
  });
}

TEST(KeyArguments, V422_V423_V424_V425_V426_V427_V430_Attributes) {
  for (const char* product : {"A2", "A3"}) {
    SCOPED_TRACE(product);
    in_fresh_process(on(product), [product] {
      const bool there = std::string{product} == "A3";
      ASSERT_EQ(aclrtSetDevice(0), 0);
      void* start = block();
      const Key key = key_of(start, k2MB, kOpen);
      constexpr auto kLink = ACL_RT_IPC_MEM_ATTR_ACCESS_LINK;
      EXPECT_EQ(aclrtIpcMemSetAttr(nullptr, kLink, 0), kBadValue);
      EXPECT_EQ(aclrtIpcMemSetAttr(key.data(), static_cast<aclrtIpcMemAttrType>(1), 0), kBadValue);
      EXPECT_EQ(aclrtIpcMemSetAttr(key.data(), kLink, 4), kBadValue);
      for (const std::uint64_t link : {0, 1})
        EXPECT_EQ(aclrtIpcMemSetAttr(key.data(), kLink, link), there ? 0 : kUnsupported);
      for (const std::uint64_t link : {2, 3})
        EXPECT_EQ(aclrtIpcMemSetAttr(key.data(), kLink, link), there ? kNoLink : kUnsupported);
      if (!there) return;
      const std::string unknown(64, 'a');
      EXPECT_EQ(aclrtIpcMemSetAttr(unknown.c_str(), kLink, 1), 0);
      EXPECT_EQ(aclrtIpcMemClose(unknown.c_str()), 0);
      EXPECT_EQ(aclrtIpcMemClose(unknown.c_str()), kRefused);
      EXPECT_EQ(aclrtIpcMemClose(key.data()), 0) << "the key goes, not only the note";
      void* out = nullptr;
      EXPECT_EQ(aclrtIpcMemImportByKey(&out, key.data(), 0), kRefused);
    });
  }
}

TEST(KeyArguments, V428_V429_V431_Close) {
  in_fresh_process(on("A2"), [] {
    ASSERT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(aclrtIpcMemClose(nullptr), kBadArgument);
    EXPECT_EQ(aclrtIpcMemClose(""), kRefused);
    EXPECT_EQ(aclrtIpcMemClose("no key"), kRefused);
    EXPECT_EQ(aclrtIpcMemClose(std::string(5000, 'f').c_str()), kRefused);
  });
}

// --- products -------------------------------------------------------------------------------------

TEST(SharingProducts, V390_V486_V23_WhichProductHasWhat) {
  struct Row {
    const char* product;
    bool handles, keys;
  };
  for (const Row& row :
       {Row{"950", true, true}, Row{"A3", true, true}, Row{"A2", true, true}, Row{"310B", true, false},
        Row{"310P", true, true}, Row{"910", true, true}, Row{"IPV350", false, false}}) {
    SCOPED_TRACE(row.product);
    in_fresh_process(on(row.product), [row] {
      std::uint64_t value = 0;
      std::int32_t pid = 1;
      Key key{};
      void* out = nullptr;
      const int handle_answer = aclrtMemExportToShareableHandle(address(77), kNone, 0, &value);
      EXPECT_EQ(handle_answer, row.handles ? kBadValue : kUnsupported);
      EXPECT_EQ(aclrtMemSetPidToShareableHandle(1, &pid, 1), row.handles ? kStale : kUnsupported);
      EXPECT_EQ(aclrtMemImportFromShareableHandle(1, 0, &out), row.handles ? kStale : kUnsupported);
      EXPECT_EQ(aclrtIpcMemGetExportKey(address(4096), 0, key.data(), 65, 0),
                row.keys ? kBadValue : kNoContext);
      ASSERT_EQ(aclrtSetDevice(0), 0);
      EXPECT_EQ(aclrtIpcMemGetExportKey(address(4096), 0, key.data(), 65, 0),
                row.keys ? kBadValue : kUnsupported);
      EXPECT_EQ(aclrtIpcMemSetImportPid("key", &pid, 1), row.keys ? kRefused : kUnsupported);
      EXPECT_EQ(aclrtIpcMemImportByKey(&out, "key", 0), row.keys ? kRefused : kUnsupported);
      EXPECT_EQ(aclrtIpcMemClose("key"), row.keys ? kRefused : kUnsupported);
    });
  }
}

}  // namespace sharing_arguments_test
