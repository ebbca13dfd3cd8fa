// Processes that share memory: each is a member of the machine (members.h) that is asked to export, import,
// map and close.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/answers.h"
#include "support/members.h"
#include "support/virtual_memory.h"

namespace belay_test {

inline constexpr std::size_t kKeyLength = 65;
inline constexpr std::uint64_t kListed = 0, kOpen = 1;  // flags of an export

namespace sharing {

enum Ask : std::uint32_t {
  physical,  // size, pointer: device -> handle
  host_physical,
  free_physical,  // pointer: handle
  map,            // pointer: handle, size -> address, of a reservation of its own
  unmap,          // pointer; and releases it
  only_unmap,
  export_value,  // pointer: handle, size: flags -> value
  allow_value,   // pointer: value, size: how many, seed: the first pid; further ones follow it
  import_value,  // pointer: value, seed: device -> handle
  export_fabric,
  allow_fabric,
  import_fabric,
  export_key,    // pointer, size, seed: flags -> text
  allow_key,     // text, size: how many, seed: the first pid
  import_key,    // text, seed: flags -> pointer
  close_key,     // text
  fill,          // pointer, size, seed: value
  free,          // pointer
  just_reserve,  // size
  just_map,      // pointer: where, size, seed: handle
  just_release,
  peer_access,  // pointer: from, size: to -> 1 if it is on
};

inline Answer carry_out(const Order& order) {
  Answer answer;
  const auto seed = static_cast<std::uint32_t>(order.seed);
  void* pointer = reinterpret_cast<void*>(order.pointer);
  const auto several = [&] {
    std::vector<std::int32_t> pids(order.size);
    pids.reserve(1);  // an empty list is no NULL
    for (std::size_t i = 0; i < pids.size(); ++i) pids[i] = static_cast<std::int32_t>(seed + i);
    return pids;
  };
  switch (static_cast<Ask>(order.small)) {
    case physical:
    case host_physical: {
      aclrtDrvMemHandle handle = nullptr;
      const aclrtPhysicalMemProp prop = order.small == physical ? of_device(seed) : of_host();
      answer.code = aclrtMallocPhysical(&handle, order.size, &prop, 0);
      answer.first = number(handle);
      break;
    }
    case free_physical:
      answer.code = aclrtFreePhysical(pointer);
      break;
    case map: {
      void* place = nullptr;
      answer.code = belay_test::reserve(&place, order.size);
      if (answer.code == 0) answer.code = belay_test::map(place, order.size, pointer);
      answer.first = number(place);
      break;
    }
    case unmap:
      answer.code = aclrtUnmapMem(pointer);
      if (answer.code == 0) answer.code = aclrtReleaseMemAddress(pointer);
      break;
    case only_unmap:
      answer.code = aclrtUnmapMem(pointer);
      break;
    case just_reserve: {
      void* place = nullptr;
      answer.code = belay_test::reserve(&place, order.size);
      answer.first = number(place);
      break;
    }
    case just_map:
      answer.code = belay_test::map(pointer, order.size, reinterpret_cast<void*>(order.seed));
      break;
    case just_release:
      answer.code = aclrtReleaseMemAddress(pointer);
      break;
    case export_value:
      answer.code =
          aclrtMemExportToShareableHandle(pointer, ACL_MEM_HANDLE_TYPE_NONE, order.size, &answer.first);
      break;
    case allow_value:
      answer.code = aclrtMemSetPidToShareableHandle(order.pointer, several().data(), order.size);
      break;
    case import_value: {
      aclrtDrvMemHandle handle = nullptr;
      answer.code =
          aclrtMemImportFromShareableHandle(order.pointer, static_cast<std::int32_t>(seed), &handle);
      answer.first = number(handle);
      break;
    }
    case export_fabric:
      answer.code = aclrtMemExportToShareableHandleV2(pointer, order.size, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC,
                                                      answer.text.data());
      break;
    case allow_fabric: {
      aclrtMemFabricHandle handle;
      std::memcpy(&handle, order.text.data(), sizeof handle);
      answer.code = aclrtMemSetPidToShareableHandleV2(&handle, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC,
                                                      several().data(), order.size);
      break;
    }
    case import_fabric: {
      aclrtMemFabricHandle handle;
      std::memcpy(&handle, order.text.data(), sizeof handle);
      aclrtDrvMemHandle made = nullptr;
      answer.code = aclrtMemImportFromShareableHandleV2(&handle, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &made);
      answer.first = number(made);
      break;
    }
    case export_key:
      answer.code = aclrtIpcMemGetExportKey(pointer, order.size, answer.text.data(), kKeyLength, seed);
      break;
    case allow_key:
      answer.code = aclrtIpcMemSetImportPid(order.text.data(), several().data(), order.size);
      break;
    case import_key: {
      void* place = nullptr;
      answer.code = aclrtIpcMemImportByKey(&place, order.text.data(), seed);
      answer.first = number(place);
      break;
    }
    case close_key:
      answer.code = aclrtIpcMemClose(order.text.data());
      break;
    case fill:
      answer.code = aclrtMemset(pointer, order.size, static_cast<std::int32_t>(seed), order.size);
      break;
    case free:
      answer.code = aclrtFree(pointer);
      break;
    case peer_access: {
      std::int32_t status = 0;
      answer.code = aclrtDevicePeerAccessStatus(static_cast<std::int32_t>(order.pointer),
                                                static_cast<std::int32_t>(order.size), &status);
      answer.first = static_cast<std::uint64_t>(status);
      break;
    }
  }
  return answer;
}

}  // namespace sharing

// One process. What it is asked for answers with the code; what it makes is stored if that is 0.
class Party {
 public:
  using Text = std::array<char, 136>;

  explicit Party(MemberPtr member) : member_{std::move(member)} {}
  Member* operator->() const { return member_.get(); }
  std::int32_t pid() const { return member_->process(); }

  std::uint64_t physical(std::size_t size, std::uint32_t device = 0) const {
    return made(ask(sharing::physical, 0, size, device));
  }
  std::uint64_t host_physical(std::size_t size) const { return made(ask(sharing::host_physical, 0, size)); }
  int free_physical(std::uint64_t handle) const { return ask(sharing::free_physical, handle).code; }
  std::uint64_t map(std::uint64_t handle, std::size_t size) const {
    return made(ask(sharing::map, handle, size));
  }
  int unmap(std::uint64_t place) const { return ask(sharing::unmap, place).code; }
  int only_unmap(std::uint64_t place) const { return ask(sharing::only_unmap, place).code; }

  std::uint64_t reserved(std::size_t size) const { return made(ask(sharing::just_reserve, 0, size)); }
  int map_at(std::uint64_t place, std::uint64_t handle, std::size_t size) const {
    return ask(sharing::just_map, place, size, handle).code;
  }
  int release(std::uint64_t place) const { return ask(sharing::just_release, place).code; }

  Answer export_value(std::uint64_t handle, std::uint64_t flags = kOpen) const {
    return ask(sharing::export_value, handle, flags);
  }
  std::uint64_t value(std::uint64_t handle, std::uint64_t flags = kOpen) const {
    return made(export_value(handle, flags));
  }
  int allow_value(std::uint64_t value, std::int32_t pid, std::size_t count = 1) const {
    return ask(sharing::allow_value, value, count, static_cast<std::uint32_t>(pid)).code;
  }
  Answer import_value(std::uint64_t value, std::uint32_t device = 0) const {
    return ask(sharing::import_value, value, 0, device);
  }
  Answer export_fabric(std::uint64_t handle, std::uint64_t flags = kOpen) const {
    return ask(sharing::export_fabric, handle, flags);
  }
  int allow_fabric(const Text& fabric, std::int32_t pid) const {
    return ask(sharing::allow_fabric, 0, 1, static_cast<std::uint32_t>(pid), fabric).code;
  }
  Answer import_fabric(const Text& fabric) const { return ask(sharing::import_fabric, 0, 0, 0, fabric); }

  Answer export_key(std::uint64_t pointer, std::size_t size, std::uint64_t flags = kOpen) const {
    return ask(sharing::export_key, pointer, size, flags);
  }
  std::string key(std::uint64_t pointer, std::size_t size, std::uint64_t flags = kOpen) const {
    const Answer answer = export_key(pointer, size, flags);
    EXPECT_EQ(answer.code, 0) << member_->message();
    return answer.text.data();
  }
  int allow_key(const std::string& key, std::int32_t pid, std::size_t count = 1) const {
    return ask(sharing::allow_key, 0, count, static_cast<std::uint32_t>(pid), text(key)).code;
  }
  Answer import_key(const std::string& key, std::uint64_t flags = 0) const {
    return ask(sharing::import_key, 0, 0, flags, text(key));
  }
  std::uint64_t imported(const std::string& key) const { return made(import_key(key)); }
  int close_key(const std::string& key) const { return ask(sharing::close_key, 0, 0, 0, text(key)).code; }
  int fill(std::uint64_t pointer, std::size_t size, unsigned value) const {
    return ask(sharing::fill, pointer, size, value).code;
  }
  int free(std::uint64_t pointer) const { return ask(sharing::free, pointer).code; }
  bool peer_access(std::uint32_t from, std::uint32_t to) const {
    return made(ask(sharing::peer_access, from, to)) == 1;
  }
  // A copy of a first byte: what it answers.
  int read_code(std::uint64_t pointer) const { return member_->ask({Do::verify, 0, pointer, 1, 0}).code; }

  static Text fabric_in(const Answer& answer) {
    Text text{};
    std::memcpy(text.data(), answer.text.data(), sizeof(aclrtMemFabricHandle));
    return text;
  }

 private:
  static Text text(const std::string& from) {
    Text text{};
    std::memcpy(text.data(), from.data(), std::min(from.size(), text.size() - 1));
    return text;
  }
  Answer ask(sharing::Ask what, std::uint64_t pointer = 0, std::uint64_t size = 0, std::uint64_t seed = 0,
             const Text& text = {}) const {
    return member_->ask({Do::own, what, pointer, size, seed, text});
  }
  std::uint64_t made(const Answer& answer) const {
    EXPECT_EQ(answer.code, 0) << member_->message();
    return answer.first;
  }

  MemberPtr member_;
};

inline Party party(const TestMachine& machine) { return Party{machine.join(sharing::carry_out)}; }

}  // namespace belay_test
