#include "memory/contents.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace belay {
namespace {

// Normal pages are written one by one, large pages in steps that are cheap to fill once.
constexpr std::uint8_t kSmallShift = 12;
constexpr std::uint8_t kLargeShift = 16;

// Calls act(word index, mask) for the bits [first, end).
template <class Act>
void by_word(std::size_t first, std::size_t end, Act&& act) {
  while (first < end) {
    const std::size_t word = first / 64;
    const std::size_t stop = std::min(end, (word + 1) * 64);
    const std::uint64_t upper = stop % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << stop % 64) - 1;
    act(word, upper & (~std::uint64_t{0} << first % 64));
    first = stop;
  }
}

struct Granules {
  std::size_t first, end, bytes;
};
Granules granules(const Heap& heap, std::size_t offset, std::size_t bytes) {
  const unsigned shift = heap.granule_shift.load(std::memory_order_relaxed);
  return {offset >> shift, ((offset + bytes - 1) >> shift) + 1, std::size_t{1} << shift};
}

}  // namespace

Contents::Contents(HeapMap& map, HostAccess access, std::size_t keep_bytes)
    : map_{map}, access_{access}, keep_bytes_{keep_bytes} {
  // Without the file (out of descriptors or kernel memory) allocation works and the first access fails in
  // words.
  file_.create("belay-device-memory", map.window().bytes);
  map.on_carve(
      [this](Heap& heap, std::size_t index, HeapClass heap_class) { return carve(heap, index, heap_class); });
}

Contents::~Contents() {
  for (std::size_t i = 0; i < map_.heap_count(); ++i) {
    if (std::byte* view = map_.heap_at(map_.heap_start(i)).view.load()) file_.unview(view, kHeapBytes);
  }
}

template <class Do>
bool Contents::by_heap(std::uintptr_t address, std::size_t bytes, Do&& act) {
  while (bytes > 0) {
    const std::size_t index = map_.heap_index(address);
    const std::size_t offset = address - map_.heap_start(index);
    const std::size_t part = std::min(bytes, kHeapBytes - offset);
    if (!act(map_.heap_at(address), index, offset, part)) return false;
    address += part;
    bytes -= part;
  }
  return true;
}

// An empty table of committed granules. Only where nobody else sees the heap, or under the lock.
bool Contents::start_table(Heap& heap, std::uint8_t shift) {
  void* table = std::calloc((kHeapBytes >> shift) / 64, sizeof(std::uint64_t));
  if (table == nullptr) return false;
  heap.granule_shift.store(shift, std::memory_order_relaxed);
  heap.committed.store(static_cast<std::atomic<std::uint64_t>*>(table), std::memory_order_release);
  return true;
}

// A heap is about to be carved. If it was part of a large block before, it starts afresh in the granules of
// its new use; its old table stays for a stray reader, as a heap is carved only once.
bool Contents::carve(Heap& heap, std::size_t index, HeapClass heap_class) {
  const std::lock_guard lock{committing_};
  std::atomic<std::uint64_t>* old = heap.committed.load(std::memory_order_relaxed);
  if (old != nullptr) {
    idle_.fetch_sub(count_committed(heap, 0, kHeapBytes), std::memory_order_relaxed);
    discard(heap, index, 0, kHeapBytes);
    old_tables_.reserve(old_tables_.size() + 1);
  }
  // The heap owns its old table until it has the new one: a failure here leaves it as it was.
  if (!start_table(heap, heap_class == HeapClass::Huge2M ? kLargeShift : kSmallShift)) return false;
  if (old != nullptr) old_tables_.emplace_back(old, &std::free);
  return true;
}

// Gives a heap its table of committed granules and its view, once.
bool Contents::prepare(Heap& heap, std::uintptr_t start) {
  if (heap.view.load(std::memory_order_acquire) != nullptr || heap.viewless.load(std::memory_order_acquire))
    return true;
  const std::lock_guard lock{committing_};
  if (heap.view.load(std::memory_order_relaxed) != nullptr || heap.viewless.load(std::memory_order_relaxed))
    return true;
  if (heap.committed.load(std::memory_order_relaxed) == nullptr && !start_table(heap, kLargeShift))
    return false;
  std::byte* view = file_.view(start - map_.window().base, kHeapBytes);
  if (view == nullptr) {
    heap.viewless.store(true, std::memory_order_release);
  } else {
    heap.view.store(view, std::memory_order_release);
  }
  return true;
}

bool Contents::all_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const {
  if (host_may_touch()) return true;  // host code writes without asking
  bool all = true;
  const std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_acquire);
  const Granules range = granules(heap, offset, bytes);
  by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
    all = all && (table[word].load(std::memory_order_acquire) & mask) == mask;
  });
  return all;
}

std::size_t Contents::count_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const {
  const std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_acquire);
  if (table == nullptr || !heap.written.load(std::memory_order_acquire)) return 0;
  std::size_t count = 0;
  const Granules range = granules(heap, offset, bytes);
  by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
    count += static_cast<std::size_t>(std::popcount(table[word].load(std::memory_order_relaxed) & mask));
  });
  return count * range.bytes;
}

// Fresh granules get the pattern before their first bytes are written. The lock keeps a second writer
// from wiping out what the first has put into the same granule.
bool Contents::commit(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes) {
  const auto [first, end, granule] = granules(heap, offset, bytes);
  const std::lock_guard lock{committing_};
  std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_relaxed);
  heap.written.store(true, std::memory_order_release);
  for (std::size_t at = first; at < end; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at % 64;
    if ((table[at / 64].load(std::memory_order_relaxed) & bit) != 0) continue;
    const std::size_t start = at * granule;
    const bool overwritten = start >= offset && start + granule <= offset + bytes;
    if (!overwritten) {
      if (std::byte* view = heap.view.load(std::memory_order_relaxed)) {
        std::memset(view + start, kFreshByte, granule);
      } else {
        const std::vector<unsigned char> fresh(granule, kFreshByte);
        if (!file_.write(index * kHeapBytes + start, fresh.data(), granule)) return false;
      }
    }
    table[at / 64].fetch_or(bit, std::memory_order_release);
  }
  return true;
}

bool Contents::put(Heap& heap, std::size_t index, std::size_t offset, const void* from, std::size_t bytes) {
  if (!prepare(heap, map_.heap_start(index))) return false;
  if (!all_committed(heap, offset, bytes) && !commit(heap, index, offset, bytes)) return false;
  if (std::byte* view = heap.view.load(std::memory_order_acquire)) {
    std::memcpy(view + offset, from, bytes);
    return true;
  }
  return file_.write(index * kHeapBytes + offset, from, bytes);
}

bool Contents::write(std::uintptr_t to, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  return by_heap(to, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    const bool ok = put(heap, index, offset, at, part);
    at += part;
    return ok;
  });
}

bool Contents::read(std::uintptr_t from, void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  return by_heap(from, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    if (!prepare(heap, map_.heap_start(index))) return false;
    const std::byte* view = heap.view.load(std::memory_order_acquire);
    const bool whole = all_committed(heap, offset, part);
    const std::size_t granule = whole ? part : granules(heap, offset, part).bytes;
    // Reading a granule that nobody wrote must not commit it: the pattern is made on the spot.
    for (std::size_t done = 0; done < part;) {
      const std::size_t here = offset + done;
      const std::size_t step = whole ? part : std::min(part - done, granule - here % granule);
      if (!whole && !all_committed(heap, here, step)) {
        std::memset(at + done, kFreshByte, step);
      } else if (view != nullptr) {
        std::memcpy(at + done, view + here, step);
      } else if (!file_.read(index * kHeapBytes + here, at + done, step)) {
        return false;
      }
      done += step;
    }
    at += part;
    return true;
  });
}

bool Contents::fill(std::uintptr_t to, unsigned char value, std::size_t bytes) {
  return by_heap(to, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    if (!prepare(heap, map_.heap_start(index))) return false;
    if (!all_committed(heap, offset, part) && !commit(heap, index, offset, part)) return false;
    if (std::byte* view = heap.view.load(std::memory_order_acquire)) {
      std::memset(view + offset, value, part);
      return true;
    }
    const std::vector<unsigned char> piece(std::min<std::size_t>(part, 64_KiB), value);
    for (std::size_t done = 0; done < part; done += piece.size()) {
      if (!file_.write(index * kHeapBytes + offset + done, piece.data(), std::min(piece.size(), part - done)))
        return false;
    }
    return true;
  });
}

bool Contents::fill32(std::uintptr_t to, std::uint32_t value, std::size_t words) {
  // Heap borders and steps are multiples of 4, so a step never splits a word.
  const std::vector<std::uint32_t> piece(std::min<std::size_t>(words, 16_KiB), value);
  while (words > 0) {
    const std::size_t step = std::min(words, piece.size());
    if (!write(to, piece.data(), step * 4)) return false;
    to += step * 4;
    words -= step;
  }
  return true;
}

bool Contents::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  const bool apart = !overlap(to, bytes, from, bytes);
  // A copy onto itself further up goes backwards, like memmove.
  const bool backwards = !apart && to > from;
  std::vector<std::byte> bounce;
  for (std::size_t done = 0; done < bytes;) {
    std::size_t step = std::min<std::size_t>(bytes - done, 1_MiB);
    const std::uintptr_t source = backwards ? from + bytes - done - step : from + done;
    const std::uintptr_t target = backwards ? to + bytes - done - step : to + done;
    const std::size_t index = map_.heap_index(source);
    const std::size_t offset = source - map_.heap_start(index);
    Heap& heap = map_.heap_at(source);
    const bool in_one_heap = offset + step <= kHeapBytes;
    const std::byte* view = heap.view.load(std::memory_order_acquire);
    bool ok = false;
    if (apart && in_one_heap && view != nullptr && all_committed(heap, offset, step)) {
      ok = write(target, view + offset, step);
    } else {
      bounce.resize(step);
      ok = read(source, bounce.data(), step) && write(target, bounce.data(), step);
    }
    if (!ok) return false;
    done += step;
  }
  return true;
}

void Contents::discard(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes) {
  std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_relaxed);
  const Granules range = granules(heap, offset, bytes);
  by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
    table[word].fetch_and(~mask, std::memory_order_relaxed);
  });
  file_.discard(index * kHeapBytes + offset, bytes);
}

bool Contents::begin(std::uintptr_t start, std::size_t bytes, bool read_only) {
  return by_heap(start, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    if (host_may_touch()) return let_host_touch(heap, index, offset, part, read_only);
    if (const std::size_t kept = count_committed(heap, offset, part); kept != 0) {
      idle_.fetch_sub(kept, std::memory_order_relaxed);
    }
    return true;
  });
}

bool Contents::let_host_touch(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes,
                              bool read_only) {
  if (!prepare(heap, map_.heap_start(index))) return false;
  if (!heap.host_mapped.load(std::memory_order_acquire)) {
    const std::lock_guard lock{committing_};
    if (!heap.host_mapped.load(std::memory_order_relaxed)) {
      if (!map_.window().reserved || !file_.map_at(map_.heap_start(index), index * kHeapBytes, kHeapBytes))
        return false;
      heap.host_mapped.store(true, std::memory_order_release);
    }
  }
  return !read_only ||
         platform::protect_pages(reinterpret_cast<void*>(map_.heap_start(index) + offset), bytes, false);
}

void Contents::end(std::uintptr_t start, std::size_t bytes, bool read_only) {
  by_heap(start, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    if (host_may_touch()) {
      if (read_only)
        platform::protect_pages(reinterpret_cast<void*>(map_.heap_start(index) + offset), part, true);
      file_.discard(index * kHeapBytes + offset, part);
      return true;
    }
    const std::size_t mine = count_committed(heap, offset, part);
    if (mine == 0) return true;
    if (idle_.fetch_add(mine, std::memory_order_relaxed) + mine > keep_bytes_) {
      const std::lock_guard lock{committing_};
      discard(heap, index, offset, part);
      idle_.fetch_sub(mine, std::memory_order_relaxed);
    }
    return true;
  });
}

}  // namespace belay
