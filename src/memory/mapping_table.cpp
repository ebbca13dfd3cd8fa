#include "memory/mapping_table.h"

#include <utility>

#include "memory/reader_guard.h"

namespace belay {

bool MappingTable::open() {
  if (words_.load(std::memory_order_relaxed) != nullptr) return true;
  memory_ = platform::SparseMemory{window_.bytes / kMappingUnit * sizeof(Word)};
  if (!memory_) return false;
  words_.store(reinterpret_cast<Word*>(memory_.start()), std::memory_order_release);
  return true;
}

const MappingTable::Range* MappingTable::range_around(std::uintptr_t address) const {
  const std::size_t used = used_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) {
    const std::uintptr_t start = ranges_[i].start.load(std::memory_order_acquire);
    if (start != 0 && address - start < ranges_[i].bytes.load(std::memory_order_relaxed)) return &ranges_[i];
  }
  return nullptr;
}

bool MappingTable::touches(std::uintptr_t first, std::size_t length) const {
  const std::size_t used = used_.load(std::memory_order_acquire);
  return std::any_of(ranges_.begin(), ranges_.begin() + used, [&](const Range& range) {
    const std::uintptr_t start = range.start.load(std::memory_order_acquire);
    return start != 0 && overlap(first, length, start, range.bytes.load(std::memory_order_relaxed));
  });
}

MappingTable::Word* MappingTable::word_of(std::uintptr_t address) const {
  if (window_.contains(address)) {
    Word* words = words_.load(std::memory_order_acquire);
    return words == nullptr ? nullptr : words + (address - window_.base) / kMappingUnit;
  }
  const Range* range = range_around(address);
  if (range == nullptr) return nullptr;
  Word* words = range->words.load(std::memory_order_acquire);
  const std::uintptr_t start = range->start.load(std::memory_order_acquire);
  return words == nullptr || start == 0 ? nullptr : words + (address - start) / kMappingUnit;
}

bool MappingTable::add(std::uintptr_t start, std::size_t bytes) {
  const auto free = std::find_if(ranges_.begin(), ranges_.end(),
                                 [](const Range& range) { return range.start.load() == 0; });
  if (free == ranges_.end()) return false;
  platform::SparseMemory table{bytes / kMappingUnit * sizeof(Word)};
  if (!table) return false;
  free->table = std::move(table);
  free->words.store(reinterpret_cast<Word*>(free->table.start()));
  free->bytes.store(bytes);
  free->start.store(start);
  const auto index = static_cast<std::size_t>(free - ranges_.begin());
  if (index >= used_.load()) used_.store(index + 1);
  return true;
}

void MappingTable::remove(std::uintptr_t start) {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(),
                                  [&](const Range& range) { return range.start.load() == start; });
  found->start.store(0);
  ReaderGuard::wait_for_readers();  // some may still look at its words
  found->words.store(nullptr);
  found->table = platform::SparseMemory{};
}

void MappingTable::publish(std::uintptr_t start, std::size_t bytes, const Mapping* mapping) {
  Word* word = word_of(start);
  for (std::size_t done = 0; done < bytes; done += kMappingUnit)
    (word++)->store(mapping, std::memory_order_release);
}

const Mapping* MappingTable::anything_in(std::uintptr_t start, std::size_t bytes) const {
  const Word* word = word_of(start);
  for (std::size_t done = 0; done < bytes; done += kMappingUnit) {
    if (const Mapping* found = (word++)->load(std::memory_order_relaxed); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace belay
