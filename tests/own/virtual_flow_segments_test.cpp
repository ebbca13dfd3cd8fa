// The allocator of a tensor library whose segments grow: addresses are reserved once, for more than the
// device has, and memory is mapped into them piece by piece.
#include <optional>

#include "support/client_flows.h"

namespace virtual_flow_segments_test {

using namespace belay_test;

struct Attempt {
  aclError code = ACL_SUCCESS;
  std::size_t segments = 0;  // that were mapped
};

class ExpandableSegment {
 public:
  // Reserves an eighth more than the device has, in whole segments.
  ExpandableSegment(std::uint32_t device, std::size_t segment, std::size_t address_space = 0)
      : device_{device}, segment_{segment} {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    room_ = up_to(address_space == 0 ? total + total / 8 : address_space, segment);
    EXPECT_EQ(aclrtReserveMemAddress(&start_, room_, 0, nullptr, 1), ACL_SUCCESS);
    handles_.resize(room_ / segment_);
  }
  ExpandableSegment(const ExpandableSegment&) = delete;
  ExpandableSegment& operator=(const ExpandableSegment&) = delete;
  ~ExpandableSegment() {
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (handles_[i]) unmap(i);
    }
    drop_cached();
    EXPECT_EQ(aclrtReleaseMemAddress(start_), ACL_SUCCESS);
  }

  void* at_segment(std::size_t i) const { return at(start_, i * segment_); }
  std::size_t room() const { return room_; }

  // Memory for [from, to): first all handles, then all mappings. If there is not enough, what was made for
  // this request is freed again.
  Attempt map(std::size_t from, std::size_t to) {
    std::vector<std::size_t> fresh;
    for (std::size_t i = from; i < to; ++i) {
      if (handles_[i]) continue;
      aclrtDrvMemHandle handle = nullptr;
      if (!cached_.empty()) {
        handle = cached_.back();
        cached_.pop_back();
      } else if (const aclError code = make(&handle); code != ACL_SUCCESS) {
        for (const std::size_t made : fresh) {
          EXPECT_EQ(aclrtFreePhysical(*handles_[made]), ACL_SUCCESS);
          handles_[made].reset();
        }
        return {code, 0};
      }
      handles_[i] = handle;
      fresh.push_back(i);
    }
    for (const std::size_t i : fresh)
      EXPECT_EQ(aclrtMapMem(at_segment(i), segment_, 0, *handles_[i], 0), ACL_SUCCESS) << i;
    return {ACL_SUCCESS, fresh.size()};
  }

  // Nothing of it may be in use: a device is synchronised before.
  void unmap(std::size_t i, bool keep = false) {
    EXPECT_EQ(aclrtUnmapMem(at_segment(i)), ACL_SUCCESS) << i;
    if (keep) {
      cached_.push_back(*handles_[i]);
    } else {
      EXPECT_EQ(aclrtFreePhysical(*handles_[i]), ACL_SUCCESS) << i;
    }
    handles_[i].reset();
  }
  std::vector<aclrtDrvMemHandle> take_cached() { return std::exchange(cached_, {}); }
  void give_cached(std::vector<aclrtDrvMemHandle> handles) { cached_ = std::move(handles); }
  void drop_cached() {
    for (const aclrtDrvMemHandle handle : cached_) EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
    cached_.clear();
  }

 private:
  // 1 GB pages where they are wanted and there are any; the same size in 2 MB pages otherwise.
  aclError make(aclrtDrvMemHandle* handle) const {
    if (segment_ == kGB) {
      const auto giant = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, device_, ACL_HBM_MEM_HUGE1G);
      if (aclrtMallocPhysical(handle, segment_, &giant, 0) == ACL_SUCCESS) return ACL_SUCCESS;
    }
    const auto huge = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, device_, ACL_HBM_MEM_HUGE);
    return aclrtMallocPhysical(handle, segment_, &huge, 0);
  }

  std::uint32_t device_;
  std::size_t segment_, room_ = 0;
  void* start_ = nullptr;
  std::vector<std::optional<aclrtDrvMemHandle>> handles_;
  std::vector<aclrtDrvMemHandle> cached_;
};

TEST(VirtualFlowSegments, V500_TheProbe_Reserves512Bytes) {
  on_a2_and_a3({}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    void* address = nullptr;
    FLOW_STEP(aclrtReserveMemAddress(&address, 512, 0, nullptr, 1));
    EXPECT_NE(address, nullptr);
    EXPECT_EQ(books.taken(), 0U);
    FLOW_STEP(aclrtReleaseMemAddress(address));
  });
}

// One for each stream and pool, on every device.
TEST(VirtualFlowSegments, V501_ManyReservationsLargerThanTheDevice_OnEveryDevice) {
  on_a2_and_a3({}, [] {
    std::uint32_t count = 0;
    FLOW_STEP(aclrtGetDeviceCount(&count));
    std::vector<void*> addresses;
    for (std::uint32_t device = 0; device < count; ++device) {
      FLOW_STEP(aclrtSetDevice(static_cast<std::int32_t>(device)));
      std::size_t free = 0, total = 0;
      FLOW_STEP(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
      for (const std::size_t size :
           {total + total / 8, total + total / 8, total + total / 8, 2 * kGB, 10 * kGB}) {
        void* address = nullptr;
        FLOW_STEP(aclrtReserveMemAddress(&address, up_to(size, 20 * kMB), 0, nullptr, 1))
            << device << ", " << size;
        EXPECT_EQ(number(address) % kGB, 0U) << "so that 1 GB pages fit";
        addresses.push_back(address);
      }
      EXPECT_EQ(free_bytes(), free);
    }
    EXPECT_EQ(addresses.size(), count * std::size_t{5});
    for (void* const address : addresses) FLOW_STEP(aclrtReleaseMemAddress(address));
  });
}

void grow_and_shrink(std::size_t size) {
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  aclrtStream stream = nullptr;
  FLOW_STEP(aclrtCreateStream(&stream));
  {
    ExpandableSegment segment{0, size};
    EXPECT_EQ(books.taken(), 0U);
    ASSERT_EQ(segment.map(0, 2).segments, 2U);
    EXPECT_EQ(books.taken(), 2 * size);
    // A tensor over both, and one behind a hole.
    const std::size_t tensor = size + 1000;
    FLOW_STEP(aclrtMemsetAsync(at(segment.at_segment(0), 500), tensor, 0x11, tensor, stream));
    ASSERT_EQ(segment.map(4, 5).segments, 1U);
    FLOW_STEP(aclrtMemsetAsync(segment.at_segment(4), size, 0x22, 4096, stream));
    FLOW_STEP(aclrtSynchronizeStream(stream));
    EXPECT_EQ(read_from(at(segment.at_segment(0), 500), tensor), Bytes(tensor, 0x11));
    EXPECT_EQ(read_from(segment.at_segment(4), 4096), Bytes(4096, 0x22));
    Bytes bytes(4096);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), 4096, at(segment.at_segment(1), size - 2048), 4096,
                          ACL_MEMCPY_DEVICE_TO_HOST),
              kRefused)
        << "half of it is in the hole";
    // The tensor grows where it is: its bytes stay, and the pointer stays.
    ASSERT_EQ(segment.map(0, 4).segments, 2U);
    EXPECT_EQ(books.taken(), 5 * size);
    FLOW_STEP(aclrtMemcpyAsync(segment.at_segment(2), 2 * size, at(segment.at_segment(0), 500), tensor,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    FLOW_STEP(aclrtSynchronizeDevice());
    EXPECT_EQ(read_from(segment.at_segment(2), tensor), Bytes(tensor, 0x11));
    segment.unmap(1);
    EXPECT_EQ(books.taken(), 4 * size);
    EXPECT_EQ(read_from(segment.at_segment(2), tensor), Bytes(tensor, 0x11)) << "neighbours are untouched";
  }
  EXPECT_EQ(books.taken(), 0U);
  FLOW_STEP(aclrtDestroyStream(stream));
  FLOW_STEP(aclrtResetDevice(0));
}

TEST(VirtualFlowSegments, V502_V503_OfTheSmallPool_GrowAndShrink) {
  on_a2_and_a3({}, [] { grow_and_shrink(2 * kMB); });
}

TEST(VirtualFlowSegments, V502_V503_OfTheLargePool_GrowAndShrink) {
  on_a2_and_a3({}, [] { grow_and_shrink(20 * kMB); });
}

TEST(VirtualFlowSegments, V502_V48_OfGigabytes_HavePagesOfTheirOwn) {
  on_a2_and_a3({}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    {
      ExpandableSegment segment{0, kGB};
      ASSERT_EQ(segment.map(0, 3).segments, 3U);
      EXPECT_EQ(books.taken(), 3 * kGB);
      EXPECT_EQ(page_of(segment.at_segment(2)), kGB);
      const Bytes bytes = pattern(4096, 9);
      write_to(at(segment.at_segment(0), kGB - 2048), bytes);
      EXPECT_EQ(read_from(at(segment.at_segment(0), kGB - 2048), 4096), bytes) << "over the border of two";
    }
    EXPECT_EQ(books.taken(), 0U);
  });
}

// Three, of which so many have 1 GB pages.
void three_gigabytes(std::size_t giant) {
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  {
    ExpandableSegment segment{0, kGB, 64 * kGB};
    ASSERT_EQ(segment.map(0, 3).segments, 3U);
    EXPECT_EQ(books.taken(), 3 * kGB);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(page_of(segment.at_segment(i)), i < giant ? kGB : 2 * kMB) << i;
  }
  EXPECT_EQ(books.taken(), 0U);
}

TEST(VirtualFlowSegments, V502_OfGigabytes_AreMadeOf2MBPages_WhenTheLargerOnesRunOut) {
  on_a2_and_a3({{"BELAY_HUGE1G", "1G"}}, [] { three_gigabytes(1); });
}

TEST(VirtualFlowSegments, V502_V111_OfGigabytes_AreMadeOf2MBPages_WhereThereAreNoLargerOnes) {
  on_each({"310P", "910"}, {}, [] { three_gigabytes(0); });
}

TEST(VirtualFlowSegments, V504_OutOfMemory_TheRequestIsUndone_AndTheRetrySucceeds) {
  on_a2_and_a3({{"BELAY_HBM", "256M"}}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    {
      ExpandableSegment large{0, 20 * kMB};
      ExpandableSegment small{0, 2 * kMB};
      EXPECT_EQ(large.room(), up_to(288 * kMB, 20 * kMB)) << "an eighth more than there is";
      ASSERT_EQ(large.map(0, 8).segments, 8U);
      ASSERT_EQ(small.map(0, 10).segments, 10U);
      ASSERT_EQ(books.taken(), 180 * kMB);
      write_to(large.at_segment(7), pattern(1000, 4));

      // 76 MB are left: three of these four, so none.
      const Attempt failed = large.map(8, 12);
      EXPECT_EQ(failed.code, kShortage);
      EXPECT_EQ(books.taken(), 180 * kMB);
      Bytes one(1);
      EXPECT_EQ(aclrtMemcpy(one.data(), 1, large.at_segment(8), 1, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);

      // The cache is flushed, and the same request is made again.
      FLOW_STEP(aclrtSynchronizeDevice());
      for (std::size_t i = 0; i < 10; ++i) small.unmap(i);
      EXPECT_EQ(large.map(8, 12).segments, 4U);
      EXPECT_EQ(books.taken(), 240 * kMB);
      EXPECT_EQ(large.map(12, 13).code, kShortage) << "16 MB are left";
      EXPECT_EQ(small.map(0, 8).segments, 8U) << "to the last page";
      EXPECT_EQ(small.map(8, 9).code, kShortage);
      EXPECT_EQ(read_from(large.at_segment(7), 1000), pattern(1000, 4));
    }
    EXPECT_EQ(books.taken(), 0U);
  });
}

TEST(VirtualFlowSegments, V505_UnmappedHandlesAreKept_AndMappedElsewhere) {
  static constexpr std::size_t kBytes = 10000, kPlace = 2 * kMB - kBytes;
  on_a2_and_a3({}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    {
      ExpandableSegment first{0, 2 * kMB}, second{0, 2 * kMB};
      ASSERT_EQ(first.map(0, 3).segments, 3U);
      for (unsigned i = 0; i < 3; ++i) write_to(at(first.at_segment(i), kPlace), pattern(kBytes, 10 + i));
      FLOW_STEP(aclrtSynchronizeDevice());
      for (std::size_t i = 0; i < 3; ++i) first.unmap(i, true);
      EXPECT_EQ(books.taken(), 6 * kMB) << "unmapped memory is still held";

      // At other offsets of the same reservation, in reversed order: the last in is the first out.
      ASSERT_EQ(first.map(5, 7).segments, 2U);
      EXPECT_EQ(read_from(at(first.at_segment(5), kPlace), kBytes), pattern(kBytes, 12));
      EXPECT_EQ(read_from(at(first.at_segment(6), kPlace), kBytes), pattern(kBytes, 11));
      // And in another reservation of the same device.
      second.give_cached(first.take_cached());
      ASSERT_EQ(second.map(1, 2).segments, 1U);
      EXPECT_EQ(read_from(at(second.at_segment(1), kPlace), kBytes), pattern(kBytes, 10));
      EXPECT_EQ(books.taken(), 6 * kMB);
    }
    EXPECT_EQ(books.taken(), 0U);
  });
}

}  // namespace virtual_flow_segments_test
