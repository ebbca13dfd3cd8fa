#include "memory/backing_file.h"

#include <algorithm>
#include <new>

namespace belay {
namespace {
using TablePages = platform::SparseMemory::Pages;
}

void BackingFile::make_segments(std::size_t count) {
  count_ = count;
  memory_ = platform::SparseMemory{count_ * sizeof(Segment),
                                   imported_ ? TablePages::InSmall : TablePages::AsItIsLong};
  if (!memory_ && count_ != 0) throw std::bad_alloc{};
  segments_ = reinterpret_cast<Segment*>(memory_.start());
}

bool BackingFile::open(const platform::FileName& name) {
  if (!bytes_.open(name)) return false;
  imported_ = true;
  make_segments(bytes_.size() / (kSegmentBytes + sizeof(SegmentTable)));
  return true;
}

void BackingFile::create(const Wish& wish) {
  make_segments(wish.bytes / kSegmentBytes);
  mirror_ = wish.mirror;
  touched_ = wish.touched || wish.mirror != 0;
  if (wish.with_bytes) bytes_.create("belay-device-memory", data_bytes() + count_ * sizeof(SegmentTable));
}

bool BackingFile::reach(std::size_t index) {
  Segment& segment = segments_[index];
  if (segment.is_reached()) return true;
  if (segment.table.load(std::memory_order_relaxed) == nullptr) {
    std::byte* place = bytes_.view(place_of_table(index), sizeof(SegmentTable));
    if (place == nullptr) return false;
    auto* table = reinterpret_cast<SegmentTable*>(place);
    if (imported_) {  // its owner has decided
      const std::uint8_t shift = table->granule_shift.load();
      if (shift != kSmallGranule && shift != kLargeGranule) return false;
      segment.granule_shift.store(shift);
      segment.written.store(true);
    } else {
      if (segment.granule_shift.load(std::memory_order_relaxed) == 0)
        segment.granule_shift.store(kLargeGranule);
      table->granule_shift.store(segment.granule_shift.load(std::memory_order_relaxed));
    }
    segment.table.store(table, std::memory_order_release);
    reached_ = std::max(reached_, index + 1);
  }
  const std::size_t start = index * kSegmentBytes;
  if (mirror_ != 0) {
    // What the host touches is what belay reads: one mapping, at the device address.
    if (!bytes_.map_at(mirror_ + start, start, kSegmentBytes)) return false;
    segment.view.store(reinterpret_cast<std::byte*>(mirror_ + start), std::memory_order_release);
  } else if (std::byte* view = bytes_.view(start, kSegmentBytes)) {
    segment.view.store(view, std::memory_order_release);
  } else {
    segment.viewless.store(true, std::memory_order_release);
  }
  return true;
}

void BackingFile::close() {
  for (std::size_t i = 0; i < reached_; ++i) {
    Segment& segment = segments_[i];
    if (std::byte* view = segment.view.exchange(nullptr)) bytes_.unview(view, kSegmentBytes);
    if (SegmentTable* table = segment.table.exchange(nullptr))
      bytes_.unview(reinterpret_cast<std::byte*>(table), sizeof(SegmentTable));
  }
  bytes_.close();
}

}  // namespace belay
