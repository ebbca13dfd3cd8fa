// Short words for the copy and fill tests: blocks that free themselves, and byte patterns.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/answers.h"
#include "support/device_fixture.h"

namespace belay_test {

using Bytes = std::vector<std::uint8_t>;

// Bytes that repeat nowhere near, different for every seed.
inline Bytes pattern(std::size_t count, unsigned seed = 1) {
  Bytes bytes(count);
  std::uint32_t state = seed * 2654435761U + 97U;
  for (auto& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(state >> 24U);
  }
  return bytes;
}

inline std::uint8_t* at(void* start, std::size_t offset) {
  return static_cast<std::uint8_t*>(start) + offset;
}

inline std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

inline aclrtMemcpyKind kind_of(int value) { return static_cast<aclrtMemcpyKind>(value); }
inline aclrtMemMallocPolicy policy_of(unsigned value) { return static_cast<aclrtMemMallocPolicy>(value); }

// Something to find unchanged after a failed call.
inline void* sentinel() { return reinterpret_cast<void*>(std::uintptr_t{0x5A5A5A5A5A5A}); }

inline void write_to(void* destination, const Bytes& bytes) {
  ASSERT_EQ(aclrtMemcpy(destination, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_DEFAULT),
            ACL_SUCCESS);
}

inline Bytes read_from(const void* source, std::size_t count) {
  Bytes bytes(count);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), count, source, count, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  return bytes;
}

// The last error of this thread, which is cleared.
inline int last_error() { return aclrtGetLastError(ACL_RT_THREAD_LEVEL); }

inline std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

inline bool mentions(const std::string& text, const std::string& word) {
  return lower(text).find(lower(word)) != std::string::npos;
}

inline bool alive(const void* device_pointer) {
  aclrtPtrAttributes attributes{};
  return aclrtPointerGetAttributes(device_pointer, &attributes) == ACL_SUCCESS &&
         attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

// A device block. It is freed at the end of the scope unless the test has done so.
class Device {
 public:
  explicit Device(std::size_t size, unsigned policy = ACL_MEM_MALLOC_NORMAL_ONLY) : size_{size} {
    EXPECT_EQ(::aclrtMallocAlign32(&start_, size, policy_of(policy)), ACL_SUCCESS);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (start_ != nullptr) {
      EXPECT_EQ(aclrtFree(start_), ACL_SUCCESS);
    }
  }
  void* get(std::size_t offset = 0) const { return at(start_, offset); }
  std::size_t size() const { return size_; }
  // Frees it now and says where it was.
  void* free_now() {
    void* const was = start_;
    EXPECT_EQ(aclrtFree(start_), ACL_SUCCESS);
    start_ = nullptr;
    return was;
  }
  // Somebody else has freed it, or it went with the device.
  void forget() { start_ = nullptr; }

 private:
  void* start_ = nullptr;
  std::size_t size_;
};

// A block of aclrtMallocHost.
class Pinned {
 public:
  explicit Pinned(std::size_t size) : size_{size} {
    EXPECT_EQ(::aclrtMallocHost(&start_, size), ACL_SUCCESS);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() {
    if (start_ != nullptr) {
      EXPECT_EQ(aclrtFreeHost(start_), ACL_SUCCESS);
    }
  }
  void* get(std::size_t offset = 0) const { return at(start_, offset); }
  std::size_t size() const { return size_; }
  void forget() { start_ = nullptr; }

 private:
  void* start_ = nullptr;
  std::size_t size_;
};

// Plain memory that starts at a page.
class Pages {
 public:
  explicit Pages(std::size_t pages) : start_{std::aligned_alloc(4096, pages * 4096)} {
    const Bytes bytes = pattern(pages * 4096, 77);
    for (std::size_t i = 0; i < bytes.size(); ++i) *at(start_.get(), i) = bytes[i];
  }
  void* get(std::size_t offset = 0) const { return at(start_.get(), offset); }

 private:
  struct Free {
    void operator()(void* start) const { std::free(start); }
  };
  std::unique_ptr<void, Free> start_;
};

}  // namespace belay_test
