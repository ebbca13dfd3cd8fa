#include "memory/contents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "platform/address_space.h"
#include "platform/threads.h"
#include "platform/unwatched.h"

namespace belay {
namespace {

void move_bytes(void* to, const void* from, std::size_t bytes) {
  const platform::Unwatched of_the_program;
  std::memcpy(to, from, bytes);
}

void set_bytes(void* to, unsigned char value, std::size_t bytes) {
  const platform::Unwatched of_the_program;
  std::memset(to, value, bytes);
}

// Normal pages are written one by one, large pages in steps that are cheap to fill once.
constexpr std::uint8_t kSmallShift = 12;
constexpr std::uint8_t kLargeShift = 16;

constexpr Reached kDone{};
constexpr Reached kUnreachable{Trouble::Unreachable};
Reached reached(bool ok) { return ok ? kDone : kUnreachable; }

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

bool any_from_pool(const Heap& heap) {
  return std::ranges::any_of(heap.pooled,
                             [](const auto& word) { return word.load(std::memory_order_relaxed) != 0; });
}

}  // namespace

Contents::Contents(HeapMap& map, const ContentsSettings& settings)
    : map_{map},
      settings_{settings},
      large_{settings.pages, file_},
      room_{settings.commit_limit},
      decay_{[this] {
        const std::lock_guard lock{committing_};
        drop_all_idle();
      }} {
  // Without the file (out of descriptors or kernel memory) allocation works and the first access fails in
  // words.
  if (keeps_bytes()) file_.create("belay-device-memory", map.window().bytes);
  map.on_carve(
      [this](Heap& heap, std::size_t index, HeapClass heap_class) { return carve(heap, index, heap_class); });
}

Contents::~Contents() { close(); }

void Contents::close() {
  decay_.stop();
  const std::lock_guard lock{committing_};  // a thread that ends at this moment may still give something back
  for (std::size_t i = 0; i < map_.heap_count(); ++i) {
    Heap& heap = map_.heap_at(map_.heap_start(i));
    if (heap.view.load() == nullptr) continue;  // nor is the table touched, which is large
    if (std::byte* view = heap.view.exchange(nullptr)) file_.unview(view, kHeapBytes);
  }
  file_.close();
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

// An empty table of committed granules, with the lock held. A heap that was part of a large block before has
// an old one, which stays for a stray reader: a heap is carved only once.
bool Contents::start_table(Heap& heap, std::uint8_t shift) {
  void* table = std::calloc((kHeapBytes >> shift) / 64, sizeof(std::uint64_t));
  if (table == nullptr) return false;
  tables_.emplace_back(static_cast<std::atomic<std::uint64_t>*>(table), &std::free);
  heap.granule_shift.store(shift, std::memory_order_relaxed);
  heap.committed.store(static_cast<std::atomic<std::uint64_t>*>(table), std::memory_order_release);
  return true;
}

// A heap is about to be carved. If it was part of a large block before, it starts afresh in the granules of
// its new use.
bool Contents::carve(Heap& heap, std::size_t index, HeapClass heap_class) {
  const std::lock_guard lock{committing_};
  if (heap.committed.load(std::memory_order_relaxed) != nullptr) {
    lower_idle(count_committed(heap, 0, kHeapBytes));
    discard(heap, index, 0, kHeapBytes);
  }
  tables_.reserve(tables_.size() + 1);
  return start_table(heap, heap_class == HeapClass::Huge2M ? kLargeShift : kSmallShift);
}

// Gives a heap its table of committed granules and its view, once.
bool Contents::reach(Heap& heap, std::size_t index) {
  if (heap.view.load(std::memory_order_acquire) != nullptr || heap.viewless.load(std::memory_order_acquire))
    return true;
  const std::lock_guard lock{committing_};
  return reach_locked(heap, index);
}

bool Contents::reach_locked(Heap& heap, std::size_t index) {
  if (heap.view.load(std::memory_order_relaxed) != nullptr || heap.viewless.load(std::memory_order_relaxed))
    return true;
  if (heap.committed.load(std::memory_order_relaxed) == nullptr) {
    tables_.reserve(tables_.size() + 1);
    if (!start_table(heap, kLargeShift)) return false;
  }
  if (host_may_touch()) {
    // What the host touches is what belay reads: one mapping, at the device address.
    const std::uintptr_t start = map_.heap_start(index);
    if (!map_.window().reserved || !file_.map_at(start, index * kHeapBytes, kHeapBytes)) return false;
    heap.view.store(reinterpret_cast<std::byte*>(start), std::memory_order_release);
    return true;
  }
  std::byte* view = file_.view(index * kHeapBytes, kHeapBytes);
  if (view == nullptr) {
    heap.viewless.store(true, std::memory_order_release);
  } else {
    heap.view.store(view, std::memory_order_release);
  }
  return true;
}

bool Contents::all_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const {
  if (host_may_touch()) return true;  // host code writes without asking
  const std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_acquire);
  const Granules range = granules(heap, offset, bytes);
  const std::size_t last = (range.end - 1) / 64;
  for (std::size_t word = range.first / 64; word <= last; ++word) {
    std::uint64_t mask = ~std::uint64_t{0};
    if (word == range.first / 64) mask <<= range.first % 64;
    if (word == last) mask &= ~std::uint64_t{0} >> (63 - (range.end - 1) % 64);
    if ((table[word].load(std::memory_order_acquire) & mask) != mask) return false;
  }
  return true;
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

// The bytes of the granules that a range touches, committed or not yet, apart from those in pages of the
// kernel's pools, which the kernel has set aside already.
std::size_t Contents::in_small_pages(const Heap& heap, std::size_t offset, std::size_t bytes,
                                     bool committed) const {
  std::size_t sum = 0;
  for (std::size_t at = offset; at < offset + bytes;) {
    const std::size_t step = std::min(offset + bytes - at, 2_MiB - at % 2_MiB);
    if (!LargePages::in_pool(heap, at)) {
      const Granules range = granules(heap, at, step);
      const std::size_t there = count_committed(heap, at, step);
      sum += committed ? there : (range.end - range.first) * range.bytes - there;
    }
    at += step;
  }
  return sum;
}

bool Contents::is_ready(std::uintptr_t to, std::size_t bytes) {
  return by_heap(to, bytes, [&](Heap& heap, std::size_t, std::size_t offset, std::size_t part) {
    const bool seen =
        heap.view.load(std::memory_order_acquire) != nullptr || heap.viewless.load(std::memory_order_acquire);
    return seen && all_committed(heap, offset, part);
  });
}

// Commits what writes are about to fill, everywhere or nowhere.
Reached Contents::make_ready(std::size_t count, const StretchAt& stretch, Rest rest) {
  const std::lock_guard lock{committing_};
  std::size_t missing = 0;
  std::uintptr_t counted = 0;  // up to here: neighbours may share a granule
  for (std::size_t i = 0; i < count; ++i) {
    const auto [to, bytes] = stretch(i);
    const bool reachable =
        by_heap(to, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
          if (!reach_locked(heap, index)) return false;
          if (host_may_touch()) return true;
          large_.offer_pool(heap, index, offset, part, [&](std::size_t at, std::size_t page) {
            return count_committed(heap, at, page) == 0;
          });
          const std::uintptr_t heap_start = map_.heap_start(index);
          const std::size_t first = std::max(heap_start + offset, counted) - heap_start;
          if (first >= offset + part) return true;
          missing += in_small_pages(heap, first, offset + part - first, false);
          counted = heap_start + granules(heap, offset, part).end * granules(heap, offset, part).bytes;
          return true;
        });
    if (!reachable) return kUnreachable;
  }
  if (missing != 0 && !room_.take(missing) && !make_room(missing)) return {Trouble::HostFull};
  for (std::size_t i = 0; i < count; ++i) {
    const auto [to, bytes] = stretch(i);
    const bool done =
        by_heap(to, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
          return all_committed(heap, offset, part) || commit(heap, index, offset, part, rest);
        });
    if (!done) return kUnreachable;
  }
  return kDone;
}

// Memory that was kept for blocks to come is the first to go when there is too little.
bool Contents::make_room(std::size_t bytes) { return drop_all_idle() != 0 && room_.take(bytes); }

// With the lock held.
std::size_t Contents::drop_all_idle() {
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < map_.heap_count(); ++i) {
    Heap& heap = map_.heap_at(map_.heap_start(i));
    if (heap.written.load(std::memory_order_relaxed)) dropped += drop_idle(heap, i);
  }
  if (dropped != 0)
    idle_.store(0, std::memory_order_relaxed);  // what was counted wrong meanwhile counts no longer
  return dropped;
}

// A block may begin where we drop at this moment. Whoever writes to it looks at the bit after the block can
// be found: either we find the block after all threads have passed a barrier, or its writer finds the bit
// clear and waits for our lock.
std::size_t Contents::drop_idle(Heap& heap, std::size_t index) {
  std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_relaxed);
  const Granules all = granules(heap, 0, kHeapBytes);
  const auto holds_block = [&](std::size_t at) {
    return map_.find(map_.heap_start(index) + at * all.bytes).has_value();
  };
  std::array<std::uint64_t, kTableWords>& cleared = cleared_;
  bool any = false;
  for (std::size_t word = 0; word < all.end / 64; ++word) {
    cleared[word] = 0;
    for (std::uint64_t bits = table[word].load(std::memory_order_relaxed); bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
      if (!holds_block(word * 64 + bit)) cleared[word] |= std::uint64_t{1} << bit;
    }
    if (cleared[word] != 0) table[word].fetch_and(~cleared[word], std::memory_order_seq_cst);
    any = any || cleared[word] != 0;
  }
  if (!any) return 0;
  if (!platform::barrier_on_all_threads()) {  // then nothing can be dropped safely
    for (std::size_t word = 0; word < all.end / 64; ++word)
      table[word].fetch_or(cleared[word], std::memory_order_seq_cst);
    return 0;
  }

  std::size_t dropped = 0;
  std::size_t run = 0;  // granules up to `at` that go back in one piece
  const auto end_run = [&](std::size_t at) {
    if (run != 0) file_.discard(index * kHeapBytes + (at - run) * all.bytes, run * all.bytes);
    run = 0;
  };
  for (std::size_t at = 0; at < all.end; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at % 64;
    const bool free = (cleared[at / 64] & bit) != 0;
    if (free && holds_block(at)) {
      table[at / 64].fetch_or(bit, std::memory_order_seq_cst);
    } else if (free) {
      lower_idle(all.bytes);
      if (!LargePages::in_pool(heap, at * all.bytes)) {  // such pages do not count as room
        room_.give(all.bytes);
        dropped += all.bytes;
        ++run;
        continue;
      }
    }
    end_run(at);
  }
  end_run(all.end);
  return dropped;
}

// Never below nothing: what is dropped may be counted as begun at the same moment.
void Contents::lower_idle(std::size_t bytes) {
  std::size_t now = idle_.load(std::memory_order_relaxed);
  while (!idle_.compare_exchange_weak(now, now - std::min(now, bytes), std::memory_order_relaxed)) {
  }
}

// Fresh granules get the pattern before their first bytes are written. The lock keeps a second writer
// from wiping out what the first has put into the same granule.
bool Contents::commit(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes, Rest rest) {
  const auto [first, end, granule] = granules(heap, offset, bytes);
  std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_relaxed);
  map_.mark_written(heap);
  std::byte* view = heap.view.load(std::memory_order_relaxed);
  for (std::size_t at = first; at < end; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at % 64;
    if ((table[at / 64].load(std::memory_order_relaxed) & bit) != 0) continue;
    const std::size_t start = at * granule;
    const bool overwritten =
        rest == Rest::Overwritten && start >= offset && start + granule <= offset + bytes;
    if (!overwritten) {
      if (view != nullptr) {
        set_bytes(view + start, kFreshByte, granule);
      } else {
        const std::vector<unsigned char> fresh(granule, kFreshByte);
        if (!file_.write(index * kHeapBytes + start, fresh.data(), granule)) return false;
      }
    }
    table[at / 64].fetch_or(bit, std::memory_order_release);
    const std::size_t page = round_down(start, 2_MiB);
    const bool last_of_page = start + granule == page + 2_MiB || at + 1 == end;
    if (last_of_page && LargePages::large(heap) && !LargePages::in_pool(heap, page) &&
        count_committed(heap, page, 2_MiB) == 2_MiB)
      large_.join(heap, page);
  }
  return true;
}

bool Contents::put(Heap& heap, std::size_t index, std::size_t offset, const void* from, std::size_t bytes) {
  if (std::byte* view = heap.view.load(std::memory_order_acquire)) {
    move_bytes(view + offset, from, bytes);
    return true;
  }
  return file_.write(index * kHeapBytes + offset, from, bytes);
}

Reached Contents::write(std::uintptr_t to, const void* from, std::size_t bytes) {
  if (!keeps_bytes()) return kDone;
  if (const Reached ready = make_ready(to, bytes); !ready) return ready;
  const auto* at = static_cast<const std::byte*>(from);
  return reached(by_heap(to, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    const bool ok = put(heap, index, offset, at, part);
    at += part;
    return ok;
  }));
}

// Under the lock: a granule may look fresh for a moment while idle memory is dropped.
bool Contents::is_fresh(const Heap& heap, std::size_t offset, std::size_t bytes) {
  if (all_committed(heap, offset, bytes)) return false;
  const std::lock_guard lock{committing_};
  return !all_committed(heap, offset, bytes);
}

Reached Contents::read(std::uintptr_t from, void* to, std::size_t bytes) {
  if (!keeps_bytes()) {
    std::memset(to, kFreshByte, bytes);
    return kDone;
  }
  auto* at = static_cast<std::byte*>(to);
  return reached(
      by_heap(from, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
        if (!reach(heap, index)) return false;
        const std::byte* view = heap.view.load(std::memory_order_acquire);
        const bool whole = all_committed(heap, offset, part);
        const std::size_t granule = whole ? part : granules(heap, offset, part).bytes;
        // Reading a granule that nobody wrote must not commit it: the pattern is made on the spot.
        for (std::size_t done = 0; done < part;) {
          const std::size_t here = offset + done;
          const std::size_t step = whole ? part : std::min(part - done, granule - here % granule);
          if (!whole && is_fresh(heap, here, step)) {
            set_bytes(at + done, kFreshByte, step);
          } else if (view != nullptr) {
            move_bytes(at + done, view + here, step);
          } else if (!file_.read(index * kHeapBytes + here, at + done, step)) {
            return false;
          }
          done += step;
        }
        at += part;
        return true;
      }));
}

Reached Contents::fill(std::uintptr_t to, unsigned char value, std::size_t bytes) {
  if (!keeps_bytes()) return kDone;
  if (const Reached ready = make_ready(to, bytes); !ready) return ready;
  return reached(by_heap(to, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    if (std::byte* view = heap.view.load(std::memory_order_acquire)) {
      set_bytes(view + offset, value, part);
      return true;
    }
    const std::vector<unsigned char> piece(std::min<std::size_t>(part, 64_KiB), value);
    for (std::size_t done = 0; done < part; done += piece.size()) {
      if (!file_.write(index * kHeapBytes + offset + done, piece.data(), std::min(piece.size(), part - done)))
        return false;
    }
    return true;
  }));
}

Reached Contents::fill32(std::uintptr_t to, std::uint32_t value, std::size_t words) {
  if (!keeps_bytes()) return kDone;
  if (const Reached ready = make_ready(to, words * 4); !ready) return ready;
  // Heap borders and steps are multiples of 4, so a step never splits a word.
  const std::vector<std::uint32_t> piece(std::min<std::size_t>(words, 16_KiB), value);
  while (words > 0) {
    const std::size_t step = std::min(words, piece.size());
    if (const Reached put = write(to, piece.data(), step * 4); !put) return put;
    to += step * 4;
    words -= step;
  }
  return kDone;
}

Reached Contents::store64(std::uintptr_t to, std::uint64_t value) {
  if (!keeps_bytes()) return kDone;
  if (const Reached ready = make_ready(to, sizeof value); !ready) return ready;
  Heap& heap = map_.heap_at(to);
  std::byte* view = heap.view.load(std::memory_order_acquire);
  if (view == nullptr) return write(to, &value, sizeof value);
  auto* word = reinterpret_cast<std::uint64_t*>(view + (to - map_.heap_start(map_.heap_index(to))));
  const platform::Unwatched of_the_program;
  std::atomic_ref{*word}.store(value, std::memory_order_release);
  return kDone;
}

// Looks at a word that a copy may be writing at this moment: the program may rely on that (P-47).
std::uint64_t Contents::load64(std::uintptr_t from) {
  const platform::Unwatched of_the_program;
  std::uint64_t value = 0;
  Heap& heap = map_.heap_at(from);
  const std::size_t offset = from - map_.heap_start(map_.heap_index(from));
  std::byte* view = heap.view.load(std::memory_order_acquire);
  if (keeps_bytes() && view != nullptr && (host_may_touch() || all_committed(heap, offset, sizeof value)))
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(view + offset), __ATOMIC_ACQUIRE);
  if (!read(from, &value, sizeof value)) std::memset(&value, kFreshByte, sizeof value);
  return value;
}

Reached Contents::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  if (!keeps_bytes()) return kDone;
  const bool apart = !overlap(to, bytes, from, bytes);
  // Where they overlap, fresh bytes of the target are bytes of the source.
  if (const Reached ready = make_ready(to, bytes, apart ? Rest::Overwritten : Rest::Kept); !ready)
    return ready;
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
    if (apart && in_one_heap && view != nullptr && all_committed(heap, offset, step)) {
      if (const Reached moved = write(target, view + offset, step); !moved) return moved;
    } else {
      bounce.resize(step);
      if (const Reached got = read(source, bounce.data(), step); !got) return got;
      if (const Reached put = write(target, bounce.data(), step); !put) return put;
    }
    done += step;
  }
  return kDone;
}

void Contents::discard(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes) {
  std::atomic<std::uint64_t>* table = heap.committed.load(std::memory_order_relaxed);
  room_.give(in_small_pages(heap, offset, bytes, true));
  const Granules range = granules(heap, offset, bytes);
  by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
    table[word].fetch_and(~mask, std::memory_order_relaxed);
  });
  if (any_from_pool(heap)) large_.give_to_pool(heap, index, offset, bytes);
  file_.discard(index * kHeapBytes + offset, bytes);
}

Begun Contents::begin(std::uintptr_t start, std::size_t bytes, Page page, bool read_only) {
  if (!keeps_bytes()) return Begun::Yes;
  Begun begun = Begun::Yes;
  std::size_t done = 0;
  by_heap(start, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    begun = begin_part(heap, index, offset, part, page, read_only);
    if (begun == Begun::Yes) done += part;
    return begun == Begun::Yes;
  });
  if (begun != Begun::Yes && done != 0) end(start, done, read_only);
  return begun;
}

std::size_t Contents::reserve_for_thread() {
  const std::size_t part = settings_.keep_bytes / machine::kPurses;
  const std::size_t reserved = reserved_.fetch_add(part) + part;
  if (idle_.load() > settings_.keep_bytes - reserved) {  // others keep what is ours now
    const std::lock_guard lock{committing_};
    drop_all_idle();
  }
  return part;
}

void Contents::begin_again(std::uintptr_t start, std::size_t bytes) {
  by_heap(start, bytes, [&](Heap& heap, std::size_t, std::size_t offset, std::size_t part) {
    if (const std::size_t kept = count_committed(heap, offset, part); kept != 0) lower_idle(kept);
    return true;
  });
}

// Only a heap that holds one large block, or none yet, changes its pages: what the last block left is of
// other ones. Two blocks may come to a new heap at once; the first makes the change.
void Contents::change_pages(Heap& heap, std::size_t index, Page page) {
  const std::lock_guard lock{committing_};
  if (heap.large.load(std::memory_order_relaxed) == page) return;
  const std::size_t left = count_committed(heap, 0, kHeapBytes);
  if (left != 0 || any_from_pool(heap)) {
    lower_idle(left);
    discard(heap, index, 0, kHeapBytes);
  }
  heap.large.store(page, std::memory_order_release);
}

Begun Contents::begin_part(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes, Page page,
                           bool read_only) {
  if (heap.large.load(std::memory_order_acquire) != page) change_pages(heap, index, page);
  if (host_may_touch() && !reach(heap, index)) return Begun::NotMapped;
  if (page != Page::Normal && (large_.must_be_from_pool() || host_may_touch())) {
    const std::lock_guard lock{committing_};
    if (!reach_locked(heap, index)) return Begun::NotMapped;
    if (large_.must_be_from_pool()) {
      if (!large_.take_from_pool(heap, index, offset, bytes)) return Begun::PoolEmpty;
    } else {
      large_.offer_pool(heap, index, offset, bytes, [](std::size_t, std::size_t) { return true; });
    }
  }
  if (read_only && host_may_touch() &&
      !platform::protect_pages(reinterpret_cast<void*>(map_.heap_start(index) + offset), bytes, false)) {
    end(map_.heap_start(index) + offset, bytes, read_only);
    return Begun::NotMapped;
  }
  if (const std::size_t kept = host_may_touch() ? 0 : count_committed(heap, offset, bytes); kept != 0)
    lower_idle(kept);
  return Begun::Yes;
}

void Contents::end(std::uintptr_t start, std::size_t bytes, bool read_only) {
  if (!keeps_bytes()) return;
  by_heap(start, bytes, [&](Heap& heap, std::size_t index, std::size_t offset, std::size_t part) {
    if (host_may_touch()) {
      if (read_only)
        platform::protect_pages(reinterpret_cast<void*>(map_.heap_start(index) + offset), part, true);
      const std::lock_guard lock{committing_};
      if (any_from_pool(heap)) large_.give_to_pool(heap, index, offset, part);
      file_.discard(index * kHeapBytes + offset, part);
      return true;
    }
    const std::size_t mine = count_committed(heap, offset, part);
    const bool of_pool = large_.must_be_from_pool() && LargePages::large(heap);
    if (mine == 0 && !of_pool) return true;
    const std::size_t most = settings_.keep_bytes - reserved_.load(std::memory_order_relaxed);
    if (idle_.fetch_add(mine, std::memory_order_relaxed) + mine > most || of_pool) {
      const std::lock_guard lock{committing_};
      if (heap.committed.load(std::memory_order_relaxed) != nullptr) discard(heap, index, offset, part);
      lower_idle(mine);
    } else {
      keep();
    }
    return true;
  });
}

}  // namespace belay
