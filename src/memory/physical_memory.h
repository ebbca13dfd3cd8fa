// Physical memory that no address leads to yet: a file of its own, apart from that of plain blocks, so that
// whoever is given a part of it keeps no more than that alive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "machine/page_quota.h"
#include "memory/backing_store.h"
#include "memory/extent.h"
#include "memory/run_map.h"

namespace belay {

class PhysicalMemory {
 public:
  explicit PhysicalMemory(BackingStore& backing) : backing_{backing} {}

  // Whole pages of one kind. Null: the device has not that many, or the file is full. What it is made of
  // outlives the extent.
  ExtentPtr allocate(std::uint32_t device, machine::PageQuota& quota, Page page, std::size_t bytes, bool p2p,
                     std::uint8_t module);

 private:
  std::optional<std::size_t> take(Page page, std::size_t bytes);
  void give(Page page, std::size_t offset, std::size_t bytes);

  static constexpr std::size_t kSegments = 16_TiB / kSegmentBytes;
  BackingStore& backing_;
  std::mutex mutex_;
  RunMap segments_;  // that were never used, or hold nothing any more
  std::array<RunMap, 3> runs_{RunMap{kSegmentBytes}, RunMap{kSegmentBytes},
                              RunMap{kSegmentBytes}};  // by page
  bool opened_ = false;
};

}  // namespace belay
