// A batch copy as the tests build it: correct at first, then spoilt in one place.
#pragma once

#include <cstdint>
#include <limits>

#include "support/blocks.h"

namespace belay_test {

inline constexpr std::size_t kNoItem = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kUnset = 123456789;  // what the fail index holds before a call

inline aclrtMemLocation on_host(std::uint32_t id = 0) { return {id, ACL_MEM_LOCATION_TYPE_HOST}; }
inline aclrtMemLocation on_device(std::uint32_t id = 0) { return {id, ACL_MEM_LOCATION_TYPE_DEVICE}; }

inline aclrtMemcpyBatchAttr attribute(aclrtMemLocation to, aclrtMemLocation from) {
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc = to;
  attribute.srcLoc = from;
  return attribute;
}
inline aclrtMemcpyBatchAttr host_to_device(std::uint32_t device = 0) {
  return attribute(on_device(device), on_host());
}
inline aclrtMemcpyBatchAttr device_to_host(std::uint32_t device = 0) {
  return attribute(on_host(), on_device(device));
}

struct Batch {
  std::vector<void*> dsts;
  std::vector<std::size_t> rooms;
  std::vector<void*> srcs;
  std::vector<std::size_t> sizes;
  std::vector<aclrtMemcpyBatchAttr> attributes;
  std::vector<std::size_t> starts;
  std::size_t fail = kUnset;

  void add(void* to, void* from, std::size_t size) {
    dsts.push_back(to);
    rooms.push_back(size);
    srcs.push_back(from);
    sizes.push_back(size);
  }
  void describe(std::size_t first, const aclrtMemcpyBatchAttr& one) {
    starts.push_back(first);
    attributes.push_back(one);
  }
  int run() {
    fail = kUnset;
    return ::aclrtMemcpyBatch(dsts.data(), rooms.data(), srcs.data(), sizes.data(), sizes.size(),
                              attributes.data(), starts.data(), attributes.size(), &fail);
  }
  int run_v2() {
    return ::aclrtMemcpyBatchV2(dsts.data(), rooms.data(), srcs.data(), sizes.data(), sizes.size(),
                                attributes.data(), starts.data(), attributes.size());
  }
};

// `count` items of 64 bytes from one host block to one device block, or back, 128 bytes apart.
class Items {
 public:
  explicit Items(std::size_t count) : count_{count}, device_{count * 128}, host_{pattern(count * 128, 31)} {
    restore();
  }
  // Puts the device block back to what it held at first.
  void restore() const { write_to(device_.get(), before_); }
  std::uint8_t* host(std::size_t item) { return host_.data() + item * 128; }
  void* device(std::size_t item) const { return device_.get(item * 128); }
  Batch up() {
    Batch batch;
    for (std::size_t i = 0; i < count_; ++i) batch.add(device(i), host(i), 64);
    batch.describe(0, host_to_device());
    return batch;
  }
  Batch down() {
    Batch batch;
    for (std::size_t i = 0; i < count_; ++i) batch.add(host(i), device(i), 64);
    batch.describe(0, device_to_host());
    return batch;
  }
  void expect_nothing_copied() const {
    EXPECT_EQ(read_from(device_.get(), count_ * 128), before_);
    EXPECT_EQ(host_, host_before_);
  }
  // All items went up, and nothing between them.
  void expect_all_up() {
    Bytes expected = before_;
    for (std::size_t i = 0; i < count_; ++i) {
      std::copy_n(host(i), 64, expected.begin() + static_cast<std::ptrdiff_t>(i * 128));
    }
    EXPECT_EQ(read_from(device_.get(), count_ * 128), expected);
  }
  void expect_all_down() {
    Bytes expected = host_before_;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i * 128);
      std::copy_n(before_.begin() + first, 64, expected.begin() + first);
    }
    EXPECT_EQ(host_, expected);
  }

 private:
  std::size_t count_;
  Device device_;
  Bytes host_;
  const Bytes host_before_ = host_;
  const Bytes before_ = pattern(count_ * 128, 32);
};

}  // namespace belay_test
