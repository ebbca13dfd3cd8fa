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

MappingTable::Word* MappingTable::table_of(const Ranges& ranges, std::uintptr_t address) {
  for (const Range& range : ranges) {
    if (address - range.start < range.bytes)
      return reinterpret_cast<Word*>(range.table->start()) + (address - range.start) / kMappingUnit;
  }
  return nullptr;
}

MappingTable::Word* MappingTable::word_of(std::uintptr_t address) const {
  if (window_.contains(address)) {
    Word* words = words_.load(std::memory_order_acquire);
    return words == nullptr ? nullptr : words + (address - window_.base) / kMappingUnit;
  }
  const Ranges* added = added_.load(std::memory_order_acquire);
  return added == nullptr ? nullptr : table_of(*added, address);
}

// Readers may still look at what is replaced.
void MappingTable::replace(std::unique_ptr<Ranges> ranges) {
  added_.store(ranges->empty() ? nullptr : ranges.get(), std::memory_order_release);
  ReaderGuard::wait_for_readers();
  owned_ = std::move(ranges);
}

bool MappingTable::add(std::uintptr_t start, std::size_t bytes) {
  auto table = std::make_shared<platform::SparseMemory>(bytes / kMappingUnit * sizeof(Word));
  if (!*table) return false;
  auto more = owned_ == nullptr ? std::make_unique<Ranges>() : std::make_unique<Ranges>(*owned_);
  more->push_back({start, bytes, std::move(table)});
  replace(std::move(more));
  return true;
}

void MappingTable::remove(std::uintptr_t start) {
  auto fewer = std::make_unique<Ranges>(*owned_);
  std::erase_if(*fewer, [&](const Range& range) { return range.start == start; });
  replace(std::move(fewer));
}

void MappingTable::publish(std::uintptr_t start, std::size_t bytes, const Mapping* mapping) {
  Word* word = word_of(start);
  for (std::size_t done = 0; done < bytes; done += kMappingUnit)
    (word++)->store(mapping, std::memory_order_release);
}

bool MappingTable::anything_in(std::uintptr_t start, std::size_t bytes) const {
  const Word* word = word_of(start);
  for (std::size_t done = 0; done < bytes; done += kMappingUnit) {
    if ((word++)->load(std::memory_order_relaxed) != nullptr) return true;
  }
  return false;
}

}  // namespace belay
