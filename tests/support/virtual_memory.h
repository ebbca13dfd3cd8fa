// Short words for the tests of virtual memory: reservations, physical memory and mappings that undo
// themselves.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/blocks.h"
#include "support/contexts.h"
#include "support/sanitizer.h"

namespace belay_test {

inline constexpr std::size_t kTB = 1024 * kGB;
inline constexpr std::size_t k2MB = 2 * kMB;           // pages of NORMAL and HUGE attributes (V-45)
inline constexpr std::uint32_t kAnyNode = 0xFFFFFFFF;  // of HOST_NUMA (V-115)

inline aclrtPhysicalMemProp property(aclrtMemLocationType type, std::uint32_t id, aclrtMemAttr attribute) {
  aclrtPhysicalMemProp prop{};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = attribute;
  prop.location = {id, type};
  return prop;
}
inline aclrtPhysicalMemProp of_device(std::uint32_t device = 0, aclrtMemAttr attribute = ACL_HBM_MEM_HUGE) {
  return property(ACL_MEM_LOCATION_TYPE_DEVICE, device, attribute);
}
inline aclrtPhysicalMemProp of_host(aclrtMemAttr attribute = ACL_MEM_HUGE) {
  return property(ACL_MEM_LOCATION_TYPE_HOST, 0, attribute);
}
inline aclrtPhysicalMemProp of_node(std::uint32_t node = kAnyNode, aclrtMemAttr attribute = ACL_MEM_HUGE) {
  return property(ACL_MEM_LOCATION_TYPE_HOST_NUMA, node, attribute);
}

// The thread sanitizer keeps track of what host code may touch, and has no room for the device window: host
// memory cannot be mapped there, and devices cannot let the host in.
inline const bool kHostCanBeMapped = !kUnderThreadSanitizer;
inline constexpr const char* kNoHostMappings = "the thread sanitizer lets nothing be mapped in the window";

// Those of the places whose memory can be mapped in this process.
inline std::vector<aclrtPhysicalMemProp> mappable(std::vector<aclrtPhysicalMemProp> places) {
  std::erase_if(places, [](const aclrtPhysicalMemProp& prop) {
    return !kHostCanBeMapped && prop.location.type != ACL_MEM_LOCATION_TYPE_DEVICE;
  });
  return places;
}

inline void* address(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

// The call with what it is nearly always given.
inline int reserve(void** where, std::size_t size, void* at_address = nullptr, std::uint64_t flags = 0) {
  return aclrtReserveMemAddress(where, size, 0, at_address, flags);
}
inline int map(void* where, std::size_t size, aclrtDrvMemHandle handle) {
  return aclrtMapMem(where, size, 0, handle, 0);
}

// Addresses. They are released at the end of the scope unless the test has done so.
class Reserved {
 public:
  explicit Reserved(std::size_t size, void* at_address = nullptr) {
    EXPECT_EQ(reserve(&start_, size, at_address), ACL_SUCCESS) << size;
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() {
    if (start_ != nullptr) {
      EXPECT_EQ(aclrtReleaseMemAddress(start_), ACL_SUCCESS);
    }
  }
  void* get(std::size_t offset = 0) const { return at(start_, offset); }
  // Releases them now and says where they were.
  void* release_now() {
    EXPECT_EQ(aclrtReleaseMemAddress(start_), ACL_SUCCESS);
    return forget();
  }
  void* forget() { return std::exchange(start_, nullptr); }

 private:
  void* start_ = nullptr;
};

// Physical memory, with one reference.
class Physical {
 public:
  explicit Physical(std::size_t size = k2MB, const aclrtPhysicalMemProp& prop = of_device()) : size_{size} {
    EXPECT_EQ(aclrtMallocPhysical(&handle_, size, &prop, 0), ACL_SUCCESS) << size;
  }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclrtFreePhysical(handle_), ACL_SUCCESS);
    }
  }
  aclrtDrvMemHandle get() const { return handle_; }
  operator aclrtDrvMemHandle() const { return handle_; }  // NOLINT: it stands for its handle
  std::size_t size() const { return size_; }
  aclrtDrvMemHandle free_now() {
    EXPECT_EQ(aclrtFreePhysical(handle_), ACL_SUCCESS);
    return forget();
  }
  aclrtDrvMemHandle forget() { return std::exchange(handle_, nullptr); }

 private:
  aclrtDrvMemHandle handle_ = nullptr;
  std::size_t size_;
};

// A whole handle, mapped at an address of a reservation.
class Mapped {
 public:
  Mapped(void* where, const Physical& memory) : Mapped{where, memory.size(), memory.get()} {}
  Mapped(void* where, std::size_t size, aclrtDrvMemHandle handle) : start_{where}, size_{size} {
    const int answer = map(where, size, handle);
    EXPECT_EQ(answer, ACL_SUCCESS);
    if (answer != ACL_SUCCESS) start_ = nullptr;
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (start_ != nullptr) {
      EXPECT_EQ(aclrtUnmapMem(start_), ACL_SUCCESS);
    }
  }
  void* get(std::size_t offset = 0) const { return at(start_, offset); }
  std::size_t size() const { return size_; }
  void* unmap_now() {
    EXPECT_EQ(aclrtUnmapMem(start_), ACL_SUCCESS);
    return forget();
  }
  void* forget() { return std::exchange(start_, nullptr); }

 private:
  void* start_;
  std::size_t size_;
};

// Memory with an address of its own: a reservation, a handle and the mapping of one to the other.
class MappedBlock {
 public:
  explicit MappedBlock(std::size_t size = k2MB, const aclrtPhysicalMemProp& prop = of_device())
      : addresses{size}, memory{size, prop}, mapping{addresses.get(), memory} {}
  void* get(std::size_t offset = 0) const { return addresses.get(offset); }
  std::size_t size() const { return memory.size(); }
  // It went with its device.
  void forget_memory() {
    mapping.forget();
    memory.forget();
  }

  Reserved addresses;
  Physical memory;
  Mapped mapping;
};

// A further device that is open until the end of the scope; the context of the test stays current.
class AlsoOpen {
 public:
  explicit AlsoOpen(std::int32_t device) : device_{device}, before_{current_context()} {
    EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    context_ = current_context();
    leave();
  }
  AlsoOpen(const AlsoOpen&) = delete;
  AlsoOpen& operator=(const AlsoOpen&) = delete;
  ~AlsoOpen() {
    leave();
    EXPECT_EQ(aclrtResetDevice(device_), ACL_SUCCESS);
    leave();
  }
  void enter() const { EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS); }
  void leave() const { EXPECT_EQ(aclrtSetCurrentContext(before_), ACL_SUCCESS); }
  std::size_t free() const {
    enter();
    const std::size_t bytes = free_bytes();
    leave();
    return bytes;
  }

 private:
  std::int32_t device_;
  aclrtContext before_, context_ = nullptr;
};

inline aclrtMemAccessDesc grant_to(aclrtMemLocationType type, std::uint32_t id) {
  aclrtMemAccessDesc desc{};
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  desc.location = {id, type};
  return desc;
}
inline aclrtMemAccessDesc grant_device(std::uint32_t id) {
  return grant_to(ACL_MEM_LOCATION_TYPE_DEVICE, id);
}
inline aclrtMemAccessDesc grant_host() { return grant_to(ACL_MEM_LOCATION_TYPE_HOST, 0); }

inline int set_access(void* where, std::size_t size, aclrtMemAccessDesc desc) {
  return aclrtMemSetAccess(where, size, &desc, 1);
}
// What a place may do with the mapping around an address: 3 or 0.
inline std::uint64_t access_of(void* where, aclrtMemLocationType type, std::uint32_t id = 0) {
  aclrtMemLocation location{id, type};
  std::uint64_t flag = 0x5A5A;
  EXPECT_EQ(aclrtMemGetAccess(where, &location, &flag), ACL_SUCCESS);
  return flag;
}
inline std::uint64_t access_of_device(void* where, std::uint32_t id) {
  return access_of(where, ACL_MEM_LOCATION_TYPE_DEVICE, id);
}
inline std::uint64_t access_of_host(void* where) { return access_of(where, ACL_MEM_LOCATION_TYPE_HOST); }

}  // namespace belay_test
