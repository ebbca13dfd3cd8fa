// The five device allocators side by side, and what a request takes.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/device_fixture.h"

namespace belay_test {

// Values outside the enum are legal arguments here (M-60).
inline aclrtMemMallocPolicy policy(std::uint32_t value) { return std::bit_cast<aclrtMemMallocPolicy>(value); }

inline constexpr std::uint32_t kHugeFirst = 0, kHugeOnly = 1, kNormalOnly = 2, kHugeFirstP2p = 3,
                               kHugeOnlyP2p = 4, kNormalOnlyP2p = 5, kHuge1g = 6, kHuge1gP2p = 7,
                               kLow = 0x100, kHigh = 0x1000, kReadOnly = 0x100000;

inline constexpr std::uint32_t kPage4K = 4096, kPage2M = 2u << 20, kPage1G = 1u << 30;

enum class Policies { all, cached };  // M-424 or the four of aclrtMallocCached (M-62)

struct Allocator {
  const char* name;
  bool pads;  // takes 32 bytes more where the product has them (M-34)
  Policies policies;
  aclError wraps;        // the answer to a size whose arithmetic wraps (M-37, M-38)
  std::size_t headroom;  // the largest size that the arithmetic accepts is SIZE_MAX - headroom
  aclError (*call)(void**, std::size_t, aclrtMemMallocPolicy);
};

inline const Allocator kMalloc{
    "aclrtMalloc",
    true,
    Policies::all,
    ACL_ERROR_INVALID_PARAM,
    64,
    [](void** p, std::size_t n, aclrtMemMallocPolicy c) { return ::aclrtMalloc(p, n, c); }};
inline const Allocator kAlign32{
    "aclrtMallocAlign32",
    false,
    Policies::all,
    ACL_ERROR_INVALID_PARAM,
    32,
    [](void** p, std::size_t n, aclrtMemMallocPolicy c) { return ::aclrtMallocAlign32(p, n, c); }};
inline const Allocator kCached{
    "aclrtMallocCached",
    true,
    Policies::cached,
    ACL_ERROR_INVALID_PARAM,
    64,
    [](void** p, std::size_t n, aclrtMemMallocPolicy c) { return ::aclrtMallocCached(p, n, c); }};
inline const Allocator kWithCfg{
    "aclrtMallocWithCfg",
    false,
    Policies::all,
    ACL_ERROR_RT_PARAM_INVALID,
    31,
    [](void** p, std::size_t n, aclrtMemMallocPolicy c) { return ::aclrtMallocWithCfg(p, n, c, nullptr); }};
inline const Allocator kTaskScheduler{"aclrtMallocForTaskScheduler",
                                      false,
                                      Policies::all,
                                      ACL_ERROR_RT_PARAM_INVALID,
                                      31,
                                      [](void** p, std::size_t n, aclrtMemMallocPolicy c) {
                                        return ::aclrtMallocForTaskScheduler(p, n, c, nullptr);
                                      }};

inline std::vector<Allocator> all_allocators() {
  return {kMalloc, kAlign32, kCached, kWithCfg, kTaskScheduler};
}
inline std::vector<Allocator> decoding_allocators() { return {kMalloc, kAlign32, kWithCfg, kTaskScheduler}; }

// What one request took. A refused one has no pages.
struct Taken {
  aclError code;
  std::size_t bytes;
  std::uint32_t page;
  bool operator==(const Taken&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Taken& taken) {
  return out << "{code " << taken.code << ", " << taken.bytes << " bytes, pages of " << taken.page << "}";
}

inline Taken served(std::size_t bytes, std::uint32_t page) { return {ACL_SUCCESS, bytes, page}; }
inline Taken refused(aclError code) { return {code, 0, 0}; }

// Page size of a block, 0 where the product cannot tell.
inline std::uint32_t page_if_known(const void* block) {
  aclrtPtrAttributes attributes{};
  const aclError code = aclrtPointerGetAttributes(block, &attributes);
  if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return 0;
  EXPECT_EQ(code, ACL_SUCCESS);
  return attributes.pageSize;
}

inline std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Allocates, measures, frees; the books must be as before in the end.
inline Taken take(const Allocator& allocator, std::size_t size, std::uint32_t value) {
  const std::size_t before = free_bytes();
  void* block = nullptr;
  const aclError code = allocator.call(&block, size, policy(value));
  Taken taken{code, before - free_bytes(), 0};
  if (code == ACL_SUCCESS) {
    taken.page = page_if_known(block);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % (taken.page == 0 ? kPage4K : taken.page), 0U);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
  EXPECT_EQ(free_bytes(), before) << allocator.name << "(" << size << ", " << hex(value) << ")";
  return taken;
}

// ---------------------------------------------------------------- what the rules say a request takes

// Nothing but the page policy of a request on a product with all pages and 32 further bytes.
inline Taken documented(const Allocator& allocator, std::size_t size, std::uint32_t value,
                        bool product_pads = true) {
  constexpr std::uint32_t outside = 0xFFFFFFFF;
  std::uint32_t base = value & ~(kLow | kHigh | kReadOnly);
  if (base > kHuge1gP2p) base = outside;
  if (allocator.policies == Policies::cached) {
    base = (value <= kNormalOnly || value == kHuge1g) ? value : outside;
  }
  const bool gigabyte = base == kHuge1g || base == kHuge1gP2p;
  if (gigabyte && (value & kReadOnly) != 0) return refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  const std::size_t bytes = up_to(size, 32) + (allocator.pads && product_pads && !gigabyte ? 32 : 0);
  if (gigabyte) return served(up_to(bytes, kPage1G), kPage1G);
  bool huge = false;
  switch (base) {
    case kHugeFirst:
      huge = size > kMB;
      break;
    case kHugeOnly:
    case kHugeFirstP2p:
    case kHugeOnlyP2p:
      huge = true;
      break;
    case outside:
      huge = size >= 2 * kMB;
      break;
    default:
      break;
  }
  const std::uint32_t page = huge ? kPage2M : kPage4K;
  return served(up_to(bytes, page), page);
}

// ---------------------------------------------------------------- places

// A device block that frees itself.
class Block {
 public:
  Block(const Allocator& allocator, std::size_t size, std::uint32_t value) : size_(size) {
    EXPECT_EQ(allocator.call(&start_, size, policy(value)), ACL_SUCCESS)
        << allocator.name << "(" << size << ", " << hex(value) << ")";
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (start_ != nullptr) {
      EXPECT_EQ(aclrtFree(start_), ACL_SUCCESS);
    }
  }
  void* get() const { return start_; }
  char* bytes() const { return static_cast<char*>(start_); }
  std::size_t size() const { return size_; }
  void* release() { return std::exchange(start_, nullptr); }

 private:
  void* start_ = nullptr;
  std::size_t size_;
};

// The contents of a range, read through the library.
inline std::vector<unsigned char> contents(const void* from, std::size_t count) {
  std::vector<unsigned char> bytes(count);
  EXPECT_EQ(::aclrtMemcpy(bytes.data(), count, from, count, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  return bytes;
}

}  // namespace belay_test
