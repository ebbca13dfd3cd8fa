// Bytes of device memory, apart from the addresses that lead to them: a file in memory, in segments of 1 GB.
//
// A segment knows where its bytes can be reached and which of them were ever written. The latter is a table
// at the end of the file itself, so that every process that has the file open sees the same.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memory/plan.h"
#include "platform/shared_bytes.h"
#include "platform/sparse_memory.h"

namespace belay {

inline constexpr std::size_t kSegmentBytes = 1_GiB;

// Normal pages are written one by one, large pages in steps that are cheap to fill once (bytes, as a power of
// two).
inline constexpr std::uint8_t kSmallGranule = 12;
inline constexpr std::uint8_t kLargeGranule = 16;

// What all processes know of a segment.
struct alignas(4_KiB) SegmentTable {
  static constexpr std::size_t kWords = kSegmentBytes / 4_KiB / 64;
  std::array<std::atomic<std::uint64_t>, kWords> written;  // a bit for each granule
  std::atomic<std::uint8_t> granule_shift;
};

// And what this process knows of it.
struct alignas(128) Segment {
  std::atomic<std::uint8_t> granule_shift;  // as in the table; 0: not decided
  std::atomic<Page> page;                   // of the blocks here, if whole ones
  std::atomic<bool> written;                // any granule, ever
  std::atomic<bool> viewless;               // there is no address space for a view
  std::atomic<std::uint32_t> shared;        // parts of it that other processes may hold
  std::atomic<SegmentTable*> table;         // there before the view
  std::atomic<std::byte*> view;
  std::array<std::atomic<std::uint64_t>, 8> pooled;  // which 2 MB are pages of the kernel's pool

  bool is_reached() const {
    return view.load(std::memory_order_acquire) != nullptr || viewless.load(std::memory_order_acquire);
  }
};

class BackingFile;

// A place in a file.
struct Position {
  BackingFile* file;
  std::size_t offset;

  Position operator+(std::size_t bytes) const { return {file, offset + bytes}; }
};

// A range of bytes within one segment.
struct Part {
  BackingFile& file;
  Segment& segment;
  std::size_t index, offset, bytes;  // of the segment, in the segment

  std::size_t in_file() const { return index * kSegmentBytes + offset; }
  std::size_t end() const { return offset + bytes; }
  Part whole() const { return {file, segment, index, 0, kSegmentBytes}; }
  Part at(std::size_t other, std::size_t length) const { return {file, segment, index, other, length}; }
};

class BackingFile {
 public:
  BackingFile() = default;
  BackingFile(const BackingFile&) = delete;
  BackingFile& operator=(const BackingFile&) = delete;
  ~BackingFile() { close(); }

  // A new file. Host code sees its bytes at `mirror`, if that is not 0, or wherever it is mapped for it, if
  // it may `touch`. Without one (nobody wants it, no descriptors, no kernel memory) there are segments all
  // the same, and none of them can be reached.
  struct Wish {
    std::size_t bytes;
    std::uintptr_t mirror = 0;
    bool touched = false;
    bool with_bytes = true;
  };
  void create(const Wish& wish);
  // The file of another process. False: it cannot be reached any more.
  bool open(const platform::FileName& name);

  // Host code writes to it without asking.
  bool is_touched() const { return touched_; }
  std::size_t filled = 0;  // bytes of an import, by this process; with the caller's lock
  // Only one process at a time may fill fresh memory of this segment: this one, until `end_filling`.
  bool is_shared(const Segment& segment) const {
    return imported_ || segment.shared.load(std::memory_order_relaxed) != 0;
  }
  platform::SharedBytes::Lock begin_filling(std::size_t index) const {
    return bytes_.try_lock(place_of_table(index));
  }
  void end_filling(std::size_t index) const { bytes_.unlock(place_of_table(index)); }

  std::size_t reached() const { return reached_; }  // segments from here on were never reached
  Segment& segment(std::size_t index) { return segments_[index]; }
  Part part(std::size_t offset, std::size_t bytes) {
    const std::size_t index = offset / kSegmentBytes;
    return {*this, segments_[index], index, offset % kSegmentBytes, bytes};
  }
  const platform::SharedBytes& bytes() const { return bytes_; }

  // Gives a segment its table and its view, with the caller's lock held; false where there is no room.
  bool reach(std::size_t index);
  std::size_t committed() const { return bytes_.committed(data_bytes()); }

  void abandon() { bytes_.abandon(); }
  void close();

 private:
  std::size_t data_bytes() const { return count_ * kSegmentBytes; }
  std::size_t place_of_table(std::size_t index) const { return data_bytes() + index * sizeof(SegmentTable); }
  void make_segments(std::size_t count);

  platform::SharedBytes bytes_;
  platform::SparseMemory memory_;
  Segment* segments_ = nullptr;
  std::size_t count_ = 0;
  std::size_t reached_ = 0;  // segments from here on were never reached
  std::uintptr_t mirror_ = 0;
  bool touched_ = false;
  bool imported_ = false;
};

}  // namespace belay
