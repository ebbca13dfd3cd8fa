// aclrtMemcpyBatchAsync, and pinned and device memory for its items.
#pragma once

#include <cstddef>

#include "support/batch.h"

namespace belay_test {

inline int run(Batch& batch, aclrtStream stream) {
  batch.fail = kUnset;
  return ::aclrtMemcpyBatchAsync(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(),
                                 batch.sizes.size(), batch.attributes.data(), batch.starts.data(),
                                 batch.attributes.size(), &batch.fail, stream);
}

// Pinned and device memory for items of 64 bytes, 128 bytes apart.
class PinnedItems {
 public:
  explicit PinnedItems(std::size_t count) : count_{count}, host_{count * 128}, device_{count * 128} {
    restore();
  }
  void restore() const {
    write_to(host_.get(), host_before_);
    write_to(device_.get(), device_before_);
  }
  void* host(std::size_t item) const { return host_.get(item * 128); }
  void* device(std::size_t item) const { return device_.get(item * 128); }
  Batch up() const {
    Batch batch;
    for (std::size_t i = 0; i < count_; ++i) batch.add(device(i), host(i), 64);
    batch.describe(0, host_to_device());
    return batch;
  }
  Batch down() const {
    Batch batch;
    for (std::size_t i = 0; i < count_; ++i) batch.add(host(i), device(i), 64);
    batch.describe(0, device_to_host());
    return batch;
  }
  void expect_nothing_copied() const {
    EXPECT_EQ(read_from(device_.get(), count_ * 128), device_before_);
    EXPECT_EQ(read_from(host_.get(), count_ * 128), host_before_);
  }
  void expect_all_up() const {
    EXPECT_EQ(read_from(device_.get(), count_ * 128), mixed(device_before_, host_before_));
  }
  void expect_all_down() const {
    EXPECT_EQ(read_from(host_.get(), count_ * 128), mixed(host_before_, device_before_));
  }

 private:
  Bytes mixed(Bytes to, const Bytes& from) const {
    for (std::size_t i = 0; i < count_ * 128; ++i) {
      if (i % 128 < 64) to[i] = from[i];
    }
    return to;
  }
  std::size_t count_;
  Pinned host_;
  Device device_;
  const Bytes host_before_ = pattern(count_ * 128, 31), device_before_ = pattern(count_ * 128, 32);
};

}  // namespace belay_test
