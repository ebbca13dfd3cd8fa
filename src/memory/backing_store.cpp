#include "memory/backing_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

#include "platform/address_space.h"
#include "platform/process.h"
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

constexpr std::size_t kFillStep = 256_KiB;  // stays in the caches

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
Granules granules(const Part& part) {
  const unsigned shift = part.segment.granule_shift.load(std::memory_order_relaxed);
  return {part.offset >> shift, ((part.end() - 1) >> shift) + 1, std::size_t{1} << shift};
}

std::uint8_t shift_for(Page page) { return page == Page::Normal ? kSmallGranule : kLargeGranule; }

void set_granule(Segment& segment, std::uint8_t shift) {
  segment.granule_shift.store(shift, std::memory_order_relaxed);
  if (SegmentTable* table = segment.table.load(std::memory_order_relaxed))
    table->granule_shift.store(shift, std::memory_order_relaxed);
}

bool any_from_pool(const Segment& segment) {
  return std::ranges::any_of(segment.pooled,
                             [](const auto& word) { return word.load(std::memory_order_relaxed) != 0; });
}

// Calls act(part) for what lies in each segment, until one says false.
template <class Act>
bool by_segment(Position at, std::size_t bytes, Act&& act) {
  while (bytes > 0) {
    const Part part = at.file->part(at.offset, std::min(bytes, kSegmentBytes - at.offset % kSegmentBytes));
    if (!act(part)) return false;
    at = at + part.bytes;
    bytes -= part.bytes;
  }
  return true;
}

}  // namespace

BackingStore::BackingStore(BlockIndex& blocks, std::size_t bytes, std::uintptr_t mirror,
                           const BackingSettings& settings, HostRoom& room)
    : blocks_{blocks},
      settings_{settings},
      large_{settings.pages},
      room_{room},
      limit_{settings.commit_limit},
      decay_{[this] {
        const std::lock_guard lock{committing_};
        drop_all_idle();
        close_spare_imports();
      }} {
  plain_.create({.bytes = bytes, .mirror = host_may_touch() ? mirror : 0, .with_bytes = keeps_bytes()});
}

BackingStore::~BackingStore() { close(); }

void BackingStore::close() {
  decay_.stop();
  const std::lock_guard lock{committing_};  // a thread that ends at this moment may still give something back
  plain_.close();
  physical_.close();
  host_.close();
  imports_.clear();
}

void BackingStore::abandon() {
  plain_.abandon();
  physical_.abandon();
  host_.abandon();
  // Where a thread of the parent was changing them, they stay as they are.
  if (!committing_.try_lock()) return;
  for (auto& [inode, import] : imports_) import.file.abandon();
  committing_.unlock();
}

void BackingStore::open_physical(std::size_t bytes) {
  const std::lock_guard lock{committing_};
  physical_.create({.bytes = bytes, .touched = host_may_touch(), .with_bytes = keeps_bytes()});
}

void BackingStore::open_host(std::size_t bytes) {
  const std::lock_guard lock{committing_};
  host_.create({.bytes = bytes, .touched = true});
}

// Pages of the kernel's pool are in no file, and cannot be mapped a second time: what is in them moves.
Reached BackingStore::expose(Position start, std::size_t bytes) {
  if (!keeps_bytes(start) || start.file->is_touched()) return kDone;
  {
    const std::lock_guard lock{committing_};
    std::size_t moves = 0;
    const bool reachable = by_segment(start, bytes, [&](const Part& part) {
      if (!part.file.reach(part.index)) return false;
      for (std::size_t at = part.offset; at < part.end(); at += 2_MiB) {
        if (LargePages::in_pool(part.segment, at)) moves += count_written(part.at(at, 2_MiB));
      }
      return true;
    });
    if (!reachable) return kUnreachable;
    const HostRoom::Promise until_moved = room_for(moves);
    if (!until_moved) return {Trouble::HostFull};
    by_segment(start, bytes, [&](const Part& part) {
      for (std::size_t at = part.offset; at < part.end(); at += 2_MiB) {
        if (!LargePages::in_pool(part.segment, at)) continue;
        std::byte* place = part.segment.view.load() + at;
        const std::vector<std::byte> kept{place, place + 2_MiB};
        large_.give_to_pool(part.at(at, 2_MiB));
        move_bytes(place, kept.data(), kept.size());
      }
      return true;
    });
    by_segment(start, bytes, [](const Part& part) {
      part.segment.shared.fetch_add(1, std::memory_order_relaxed);  // no further pages of the pool
      return true;
    });
  }
  const Reached filled = make_ready(
      1,
      [&](std::size_t) {
        return Stretch{start, bytes};
      },
      Rest::Kept);
  if (!filled) conceal(start, bytes);
  return filled;
}

void BackingStore::conceal(Position start, std::size_t bytes) {
  if (keeps_bytes(start) && !start.file->is_touched()) end_sharing(start, bytes);
}

bool BackingStore::begin_sharing(Position start, std::size_t bytes) {
  if (!keeps_bytes()) return true;
  const std::lock_guard lock{committing_};
  if (!start.file->bytes().is_file()) return false;
  const bool can_be_shared = by_segment(start, bytes, [&](const Part& part) {
    for (std::size_t at = round_down(part.offset, 2_MiB); at < part.end(); at += 2_MiB) {
      if (LargePages::in_pool(part.segment, at)) return false;
    }
    return part.file.reach(part.index);
  });
  if (!can_be_shared) return false;
  by_segment(start, bytes, [&](const Part& part) {
    part.segment.shared.fetch_add(1, std::memory_order_relaxed);
    note_first_write(part);  // others may write without our hearing of it
    if (!part.file.is_touched()) return true;
    const Granules range = granules(part);  // nobody knows what the host wrote
    by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
      part.segment.table.load()->written[word].fetch_or(mask, std::memory_order_relaxed);
    });
    return true;
  });
  return true;
}

void BackingStore::end_sharing(Position start, std::size_t bytes) {
  if (!keeps_bytes()) return;
  const std::lock_guard lock{committing_};
  by_segment(start, bytes, [](const Part& part) {
    part.segment.shared.fetch_sub(1, std::memory_order_relaxed);
    return true;
  });
}

BackingFile* BackingStore::import(const platform::FileName& name) {
  const std::lock_guard lock{committing_};
  if (const auto found = imports_.find(name.inode); found != imports_.end()) {
    ++found->second.users;
    return &found->second.file;
  }
  std::map<std::uint64_t, Import> made;
  if (!keeps_bytes()) {
    made[name.inode].file.create({.bytes = kSegmentBytes, .with_bytes = false});
  } else if (!made[name.inode].file.open(name)) {
    // Where descriptors are few, those of files that nobody uses may be what is missing.
    const int why = errno;
    made.clear();
    const bool another_try = close_spare_imports() != 0;
    errno = why;
    if (!another_try || !made[name.inode].file.open(name)) return nullptr;
  }
  Import& import = imports_.insert(made.extract(name.inode)).position->second;
  import.users = 1;
  return &import.file;
}

void BackingStore::renew_import(Position start, std::size_t bytes) {
  if (!keeps_bytes()) return;
  const std::lock_guard lock{committing_};
  by_segment(start, bytes, [](const Part& part) {
    if (const SegmentTable* table = part.segment.table.load(std::memory_order_relaxed))
      part.segment.granule_shift.store(table->granule_shift.load());
    return true;
  });
}

void BackingStore::use_import(BackingFile& file) {
  const std::lock_guard lock{committing_};
  ++std::ranges::find_if(imports_, [&](const auto& each) {
      return &each.second.file == &file;
    })->second.users;
}

// Who imports and gives up again and again opens a file once: a few stay open until nothing was kept for a
// second.
void BackingStore::drop_import(BackingFile& file) {
  {
    const std::lock_guard lock{committing_};
    const auto found =
        std::ranges::find_if(imports_, [&](const auto& each) { return &each.second.file == &file; });
    if (--found->second.users != 0) return;
    constexpr std::ptrdiff_t kMostSpare = 4;
    if (std::ranges::count_if(imports_, [](const auto& each) { return each.second.users == 0; }) > kMostSpare)
      close_spare_imports();
  }
  decay_.note_kept();
}

std::size_t BackingStore::close_spare_imports() {
  return std::erase_if(imports_, [&](const auto& each) {
    if (each.second.users != 0) return false;
    limit_.give(each.second.file.filled);
    return true;
  });
}

// A segment that was part of a large block before starts afresh, in the granules of its new use.
void BackingStore::on_carve(std::size_t segment, Page page) {
  if (!keeps_bytes()) return;
  const std::lock_guard lock{committing_};
  const Part whole = plain_.part(segment * kSegmentBytes, kSegmentBytes);
  if (whole.segment.written.load(std::memory_order_relaxed)) {
    lower_idle(count_written(whole));
    discard(whole);
  }
  set_granule(whole.segment, shift_for(page));
}

bool BackingStore::reach(const Part& part) {
  if (part.segment.is_reached()) return true;
  const std::lock_guard lock{committing_};
  return part.file.reach(part.index);
}

std::byte* BackingStore::view_of(Position at, std::size_t bytes) {
  std::byte* first = nullptr;
  std::byte* next = nullptr;
  const bool whole = by_segment(at, bytes, [&](const Part& part) {
    if (!reach(part)) return false;
    std::byte* view = part.segment.view.load(std::memory_order_acquire);
    if (view == nullptr || (next != nullptr && view + part.offset != next)) return false;
    if (first == nullptr) first = view + part.offset;
    next = view + part.end();
    return true;
  });
  return whole ? first : nullptr;
}

bool BackingStore::is_written(const Part& part) const {
  if (part.file.is_touched()) return true;  // host code writes without asking
  const auto& table = part.segment.table.load(std::memory_order_acquire)->written;
  const Granules range = granules(part);
  if (range.end - range.first == 1)  // small copies count every instruction
    return (table[range.first / 64].load(std::memory_order_acquire) >> range.first % 64 & 1) != 0;
  const std::size_t last = (range.end - 1) / 64;
  for (std::size_t word = range.first / 64; word <= last; ++word) {
    std::uint64_t mask = ~std::uint64_t{0};
    if (word == range.first / 64) mask <<= range.first % 64;
    if (word == last) mask &= ~std::uint64_t{0} >> (63 - (range.end - 1) % 64);
    if ((table[word].load(std::memory_order_acquire) & mask) != mask) return false;
  }
  return true;
}

std::size_t BackingStore::count_written(const Part& part) const {
  const SegmentTable* table = part.segment.table.load(std::memory_order_acquire);
  if (table == nullptr || !part.segment.written.load(std::memory_order_acquire)) return 0;
  std::size_t count = 0;
  const Granules range = granules(part);
  by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
    count +=
        static_cast<std::size_t>(std::popcount(table->written[word].load(std::memory_order_relaxed) & mask));
  });
  return count * range.bytes;
}

// The bytes of the granules that a range touches, written or not yet, apart from those in pages of the
// kernel's pools, which the kernel has set aside already.
std::size_t BackingStore::in_small_pages(const Part& part, bool written) const {
  std::size_t sum = 0;
  for (std::size_t at = part.offset; at < part.end();) {
    const Part here = part.at(at, std::min(part.end() - at, 2_MiB - at % 2_MiB));
    if (!LargePages::in_pool(part.segment, at)) {
      const Granules range = granules(here);
      const std::size_t there = count_written(here);
      sum += written ? there : (range.end - range.first) * range.bytes - there;
    }
    at += here.bytes;
  }
  return sum;
}

bool BackingStore::is_ready(Position to, std::size_t bytes) const {
  return by_segment(to, bytes,
                    [&](const Part& part) { return part.segment.is_reached() && is_written(part); });
}

// Commits what writes are about to fill, everywhere or nowhere. Another process that fills the same segment
// is waited for without our lock.
Reached BackingStore::make_ready(std::size_t count, const StretchAt& stretch, Rest rest) {
  for (;;) {
    const Reached ready = try_make_ready(count, stretch, rest);
    if (ready.trouble != Trouble::Busy) return ready;
    platform::sleep_briefly();
  }
}

Reached BackingStore::try_make_ready(std::size_t count, const StretchAt& stretch, Rest rest) {
  const std::lock_guard lock{committing_};
  std::size_t missing = 0;
  const BackingFile* counted_file = nullptr;
  std::size_t counted = 0;  // up to here: neighbours may share a granule
  for (std::size_t i = 0; i < count; ++i) {
    const auto [to, bytes] = stretch(i);
    const bool reachable = by_segment(to, bytes, [&](const Part& part) {
      if (!part.file.reach(part.index)) return false;
      if (part.file.is_touched()) return true;
      if (!part.file.is_shared(part.segment))
        large_.offer_pool(part, [&](const Part& page) { return count_written(page) == 0; });
      if (counted_file != &part.file) counted = 0;
      counted_file = &part.file;
      const std::size_t start = part.in_file() - part.offset;
      const std::size_t first = std::max(part.in_file(), counted) - start;
      if (first >= part.end()) return true;
      missing += in_small_pages(part.at(first, part.end() - first), false);
      const Granules range = granules(part);
      counted = start + range.end * range.bytes;
      return true;
    });
    if (!reachable) return kUnreachable;
  }
  const HostRoom::Promise until_filled = room_for(missing);
  if (!until_filled) return {Trouble::HostFull};
  const std::size_t filled_before = filled_;
  Reached done;
  for (std::size_t i = 0; i < count && done; ++i) {
    const auto [to, bytes] = stretch(i);
    by_segment(to, bytes, [&](const Part& part) {
      if (!is_written(part)) done = commit(part, rest);
      return static_cast<bool>(done);
    });
  }
  const std::size_t filled = filled_ - filled_before;
  if (missing > filled) limit_.give(missing - filled);  // not to be done, or done by another process
  return done;
}

Reached BackingStore::prepare(std::vector<Stretch> ranges) {
  if (!keeps_bytes()) std::erase_if(ranges, [&](const Stretch& each) { return !keeps_bytes(each.start); });
  if (std::ranges::all_of(ranges, [&](const Stretch& each) { return is_ready(each.start, each.bytes); }))
    return kDone;
  std::ranges::sort(ranges, [](const Stretch& a, const Stretch& b) {
    return a.start.file != b.start.file ? std::less<>{}(a.start.file, b.start.file)
                                        : a.start.offset < b.start.offset;
  });
  return make_ready(
      ranges.size(), [&](std::size_t i) { return ranges[i]; }, Rest::Kept);
}

// Memory that was kept for blocks to come is the first to go when there is too little.
HostRoom::Promise BackingStore::room_for(std::size_t bytes) {
  do {
    if (!limit_.take(bytes)) continue;
    if (HostRoom::Promise promise = room_.ask(bytes)) return promise;
    limit_.give(bytes);
  } while (drop_all_idle() != 0);
  return {};
}

// With the lock held.
std::size_t BackingStore::drop_all_idle() {
  // What others free meanwhile is dropped or not, and stays counted until the next time: too much may count
  // for a while, but never too little, with which more would be kept than is allowed.
  const std::size_t counted = idle_.load(std::memory_order_relaxed);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < plain_.reached(); ++i) {
    const Segment& segment = plain_.segment(i);
    if (segment.written.load(std::memory_order_relaxed) && !plain_.is_shared(segment))
      dropped += drop_idle(i);
  }
  if (dropped != 0) lower_idle(counted);
  return dropped;
}

// A block may begin where we drop at this moment. Whoever writes to it looks at the bit after the block can
// be found: either we find the block after all threads have passed a barrier, or its writer finds the bit
// clear and waits for our lock.
std::size_t BackingStore::drop_idle(std::size_t index) {
  const Part whole = plain_.part(index * kSegmentBytes, kSegmentBytes);
  auto& table = whole.segment.table.load(std::memory_order_relaxed)->written;
  const Granules all = granules(whole);
  const std::size_t words = all.end / 64;
  // Calls act(first, end) for the granules of every run that is in no block, or in some.
  const auto by_run = [&](bool in_use, auto&& act) {
    for (std::size_t at = 0; at < kSegmentBytes;) {
      const BlockIndex::Run run = blocks_.run_at(whole.in_file() + at);
      const std::size_t end = std::min(run.end - whole.in_file(), kSegmentBytes);
      if (run.in_use == in_use) act(at / all.bytes, end / all.bytes);
      at = end;
    }
  };
  cleared_.fill(0);
  bool any = false;
  by_run(false, [&](std::size_t first, std::size_t end) {
    by_word(first, end, [&](std::size_t word, std::uint64_t mask) {
      const std::uint64_t idle = table[word].load(std::memory_order_relaxed) & mask;
      if (idle == 0) return;
      table[word].fetch_and(~idle, std::memory_order_seq_cst);
      cleared_[word] |= idle;
      any = true;
    });
  });
  if (!any) return 0;
  const bool passed = platform::barrier_on_all_threads();  // without it nothing can be dropped safely
  const auto restore = [&](std::size_t word, std::uint64_t mask) {
    if ((cleared_[word] & mask) == 0) return;
    table[word].fetch_or(cleared_[word] & mask, std::memory_order_seq_cst);
    cleared_[word] &= ~mask;
  };
  if (passed) {
    by_run(true, [&](std::size_t first, std::size_t end) { by_word(first, end, restore); });
  } else {
    by_word(0, all.end, restore);
  }

  std::size_t dropped = 0;
  std::size_t run = 0;  // granules up to `at` that go back in one piece
  const auto end_run = [&](std::size_t at) {
    if (run != 0) plain_.bytes().discard(whole.in_file() + (at - run) * all.bytes, run * all.bytes);
    run = 0;
  };
  for (std::size_t word = 0; word < words; ++word) {
    if (cleared_[word] == 0 && run == 0) continue;
    for (std::size_t at = word * 64; at < (word + 1) * 64; ++at) {
      const bool idle = (cleared_[word] >> at % 64 & 1) != 0;
      if (idle) lower_idle(all.bytes);
      if (idle && !LargePages::in_pool(whole.segment, at * all.bytes)) {  // such pages do not count as room
        limit_.give(all.bytes);
        dropped += all.bytes;
        ++run;
      } else {
        end_run(at);
      }
    }
  }
  end_run(all.end);
  return dropped;
}

// Never below nothing: what is dropped may be counted as begun at the same moment.
void BackingStore::lower_idle(std::size_t bytes) {
  std::size_t now = idle_.load(std::memory_order_relaxed);
  while (!idle_.compare_exchange_weak(now, now - std::min(now, bytes), std::memory_order_relaxed)) {
  }
}

// Fresh granules get the pattern before their first bytes are written. The lock keeps a second writer
// from wiping out what the first has put into the same granule; where that may be another process, so does
// a lock of the file. Whoever is killed before it wrote must leave the pattern behind there.
Reached BackingStore::commit(const Part& part, Rest rest) {
  if (!part.file.is_shared(part.segment) || !part.file.bytes().is_file())
    return reached(fill_fresh(part, rest));
  switch (part.file.begin_filling(part.index)) {
    case platform::SharedBytes::Lock::Busy:
      return {Trouble::Busy};
    case platform::SharedBytes::Lock::Impossible:
      return kUnreachable;
    case platform::SharedBytes::Lock::Had:
      break;
  }
  const bool filled = fill_fresh(part, Rest::Kept);
  part.file.end_filling(part.index);
  return reached(filled);
}

void BackingStore::note_first_write(const Part& part) {
  if (part.segment.written.load(std::memory_order_relaxed)) return;
  part.segment.written.store(true, std::memory_order_release);
  if (&part.file == &plain_) blocks_.on_first_write(part.index);
}

bool BackingStore::fill_fresh(const Part& part, Rest rest) {
  const auto [first, end, granule] = granules(part);
  auto& table = part.segment.table.load(std::memory_order_relaxed)->written;
  note_first_write(part);
  std::byte* view = part.segment.view.load(std::memory_order_relaxed);
  for (std::size_t at = first; at < end; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at % 64;
    if ((table[at / 64].load(std::memory_order_relaxed) & bit) != 0) continue;
    const std::size_t start = at * granule;
    const bool overwritten =
        rest == Rest::Overwritten && start >= part.offset && start + granule <= part.end();
    if (!overwritten) {
      if (view != nullptr) {
        set_bytes(view + start, settings_.fresh, granule);
      } else {
        const std::vector<unsigned char> fresh(granule, settings_.fresh);
        if (!part.file.bytes().write(part.at(start, granule).in_file(), fresh.data(), granule)) return false;
      }
    }
    table[at / 64].fetch_or(bit, std::memory_order_release);
    part.file.filled += granule;
    if (!LargePages::in_pool(part.segment, start)) filled_ += granule;
    const std::size_t page = round_down(start, 2_MiB);
    const bool last_of_page = start + granule == page + 2_MiB || at + 1 == end;
    if (last_of_page && LargePages::large(part.segment) && !LargePages::in_pool(part.segment, page) &&
        count_written(part.at(page, 2_MiB)) == 2_MiB)
      large_.join(part.segment, page);
  }
  return true;
}

bool BackingStore::put(const Part& part, const void* from) {
  if (std::byte* view = part.segment.view.load(std::memory_order_acquire)) {
    move_bytes(view + part.offset, from, part.bytes);
    return true;
  }
  return part.file.bytes().write(part.in_file(), from, part.bytes);
}

// What somebody writes there meanwhile is only slower for it. In pages of the kernel's pool and in large ones
// that were made at once, there are few faults.
class BackingStore::FreshPieces {
 public:
  static constexpr std::size_t kPiece = 2_MiB;
  static constexpr std::size_t kWorthIt = 32_KiB;  // two system calls

  FreshPieces() = default;
  FreshPieces(const BackingStore& store, Position to, std::size_t bytes) : first_{to.offset / kPiece} {
    if (bytes < kWorthIt || !to.file->bytes().is_file() || to.file->is_touched()) return;
    fresh_.resize((to.offset + bytes - 1) / kPiece - first_ + 1);
    by_piece(to, bytes, [&](const Part& part) {
      const Segment& segment = part.segment;
      if (part.bytes < kWorthIt || LargePages::large(segment) || any_from_pool(segment) ||
          part.file.is_shared(segment))
        return true;
      fresh_[part.in_file() / kPiece - first_] = store.count_written(part) < part.bytes / 2;
      return true;
    });
  }
  bool holds(const Part& part) const { return !fresh_.empty() && fresh_[part.in_file() / kPiece - first_]; }

  // Calls act(part) for what lies in each piece, until one says false.
  template <class Act>
  static bool by_piece(Position at, std::size_t bytes, Act&& act) {
    return by_segment(at, bytes, [&](const Part& part) {
      for (std::size_t done = 0; done < part.bytes;) {
        const std::size_t offset = part.offset + done;
        const Part piece = part.at(offset, std::min(part.bytes - done, kPiece - offset % kPiece));
        if (!act(piece)) return false;
        done += piece.bytes;
      }
      return true;
    });
  }

 private:
  std::size_t first_ = 0;
  std::vector<bool> fresh_;  // empty: none
};

BackingStore::FreshPieces BackingStore::fresh_pieces(Position to, std::size_t bytes) const {
  return is_ready(to, bytes) ? FreshPieces{} : FreshPieces{*this, to, bytes};
}

template <class Source>
Reached BackingStore::put_by_piece(Position to, std::size_t bytes, const FreshPieces& fresh,
                                   Source&& source) {
  std::size_t done = 0;
  return reached(FreshPieces::by_piece(to, bytes, [&](const Part& part) {
    const void* from = source(done, part.bytes);
    done += part.bytes;
    // The system may refuse to write a file (a limit on its size that was set since): then by the view.
    return (fresh.holds(part) && part.file.bytes().write(part.in_file(), from, part.bytes)) ||
           put(part, from);
  }));
}

Reached BackingStore::write(Position to, const void* from, std::size_t bytes) {
  if (!keeps_bytes(to)) return kDone;
  const auto* at = static_cast<const std::byte*>(from);
  if (!is_ready(to, bytes)) {
    const FreshPieces fresh{*this, to, bytes};
    if (const Reached ready = make_ready(to, bytes); !ready) return ready;
    return put_by_piece(to, bytes, fresh, [&](std::size_t done, std::size_t) { return at + done; });
  }
  return reached(by_segment(to, bytes, [&](const Part& part) {
    const bool ok = put(part, at);
    at += part.bytes;
    return ok;
  }));
}

// Under the lock: a granule may look fresh for a moment while idle memory is dropped.
bool BackingStore::is_fresh(const Part& part) {
  if (is_written(part)) return false;
  const std::lock_guard lock{committing_};
  return !is_written(part);
}

Reached BackingStore::read(Position from, void* to, std::size_t bytes) {
  if (!keeps_bytes(from)) {
    std::memset(to, settings_.fresh, bytes);
    return kDone;
  }
  auto* at = static_cast<std::byte*>(to);
  return reached(by_segment(from, bytes, [&](const Part& part) {
    if (!reach(part)) return false;
    const std::byte* view = part.segment.view.load(std::memory_order_acquire);
    const bool whole = is_written(part);
    const std::size_t granule = granules(part).bytes;
    // Reading a granule that nobody wrote must not commit it: the pattern is made on the spot.
    for (std::size_t done = 0; done < part.bytes;) {
      const std::size_t offset = part.offset + done;
      const Part here =
          part.at(offset, whole ? part.bytes : std::min(part.bytes - done, granule - offset % granule));
      if (!whole && is_fresh(here)) {
        set_bytes(at + done, settings_.fresh, here.bytes);
      } else if (view != nullptr) {
        move_bytes(at + done, view + offset, here.bytes);
      } else if (!part.file.bytes().read(here.in_file(), at + done, here.bytes)) {
        return false;
      }
      done += here.bytes;
    }
    at += part.bytes;
    return true;
  }));
}

Reached BackingStore::fill(Position to, unsigned char value, std::size_t bytes) {
  if (!keeps_bytes(to)) return kDone;
  const FreshPieces fresh = fresh_pieces(to, bytes);
  if (const Reached ready = make_ready(to, bytes); !ready) return ready;
  std::vector<unsigned char> same;  // as many of them as a piece needs
  return reached(FreshPieces::by_piece(to, bytes, [&](const Part& part) {
    std::byte* view = part.segment.view.load(std::memory_order_acquire);
    if (view == nullptr || fresh.holds(part)) {
      const std::size_t step = std::min(part.bytes, kFillStep);
      if (same.size() < step) same.assign(step, value);
      std::size_t done = 0;
      while (done < part.bytes &&
             part.file.bytes().write(part.in_file() + done, same.data(), std::min(step, part.bytes - done)))
        done += step;
      if (done >= part.bytes) return true;
      if (view == nullptr) return false;
    }
    set_bytes(view + part.offset, value, part.bytes);
    return true;
  }));
}

Reached BackingStore::fill32(Position to, std::uint32_t value, std::size_t words) {
  if (!keeps_bytes(to)) return kDone;
  const FreshPieces fresh = fresh_pieces(to, words * 4);
  if (const Reached ready = make_ready(to, words * 4); !ready) return ready;
  // Segment borders and steps are multiples of 4, so a step never splits a word.
  const std::vector<std::uint32_t> same(std::min(words, kFillStep / 4), value);
  while (words > 0) {
    const std::size_t step = std::min(words, same.size());
    const Reached put =
        put_by_piece(to, step * 4, fresh, [&](std::size_t, std::size_t) { return same.data(); });
    if (!put) return put;
    to = to + step * 4;
    words -= step;
  }
  return kDone;
}

Reached BackingStore::store64(Position to, std::uint64_t value) {
  if (!keeps_bytes(to)) return kDone;
  if (const Reached ready = make_ready(to, sizeof value); !ready) return ready;
  const Part part = to.file->part(to.offset, sizeof value);
  std::byte* view = part.segment.view.load(std::memory_order_acquire);
  if (view == nullptr) return write(to, &value, sizeof value);
  const platform::Unwatched of_the_program;
  std::atomic_ref{*reinterpret_cast<std::uint64_t*>(view + part.offset)}.store(value,
                                                                               std::memory_order_release);
  return kDone;
}

// Looks at a word that a copy may be writing at this moment: the program may rely on that (P-47).
std::uint64_t BackingStore::load64(Position from) {
  const platform::Unwatched of_the_program;
  std::uint64_t value = 0;
  if (const std::byte* place = keeps_bytes(from) ? in_one_piece(from, sizeof value) : nullptr)
    return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(place), __ATOMIC_ACQUIRE);
  if (!read(from, &value, sizeof value)) std::memset(&value, settings_.fresh, sizeof value);
  return value;
}

Reached BackingStore::copy(Position to, Position from, std::size_t bytes) {
  if (!keeps_bytes(to)) return kDone;
  const bool apart = to.file != from.file || !overlap(to.offset, bytes, from.offset, bytes);
  const FreshPieces fresh = fresh_pieces(to, bytes);
  // Where they overlap, fresh bytes of the target are bytes of the source.
  if (const Reached ready = make_ready(to, bytes, apart ? Rest::Overwritten : Rest::Kept); !ready)
    return ready;
  // A copy onto itself further up goes backwards, like memmove.
  const bool backwards = !apart && to.offset > from.offset;
  std::vector<std::byte> bounce;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t step = std::min<std::size_t>(bytes - done, 1_MiB);
    const std::size_t skip = backwards ? bytes - done - step : done;
    const std::byte* source = apart && keeps_bytes(from) ? in_one_piece(from + skip, step) : nullptr;
    if (source == nullptr) {
      bounce.resize(step);
      if (const Reached got = read(from + skip, bounce.data(), step); !got) return got;
      source = bounce.data();
    }
    const Reached put = put_by_piece(to + skip, step, fresh, [&](std::size_t further, std::size_t) {
      return static_cast<const std::byte*>(source) + further;
    });
    if (!put) return put;
    done += step;
  }
  return kDone;
}

void BackingStore::discard(const Part& part) {
  if (SegmentTable* table = part.segment.table.load(std::memory_order_relaxed)) {
    limit_.give(in_small_pages(part, true));
    const Granules range = granules(part);
    by_word(range.first, range.end, [&](std::size_t word, std::uint64_t mask) {
      table->written[word].fetch_and(~mask, std::memory_order_relaxed);
    });
  }
  if (any_from_pool(part.segment)) large_.give_to_pool(part);
  part.file.bytes().discard(part.in_file(), part.bytes);
}

Backed BackingStore::on_alloc(Position start, std::size_t bytes, Page page, bool read_only) {
  if (!keeps_bytes(start)) return Backed::Yes;
  Backed backed = Backed::Yes;
  std::size_t done = 0;
  by_segment(start, bytes, [&](const Part& part) {
    backed = back(part, page, read_only);
    if (backed == Backed::Yes) done += part.bytes;
    return backed == Backed::Yes;
  });
  if (backed != Backed::Yes && done != 0) on_free(start, done, read_only);
  return backed;
}

std::size_t BackingStore::reserve_for_thread() {
  // Of what is left, so that there is always some for the next.
  std::size_t reserved = reserved_.load();
  std::size_t part = 0;
  do part = (settings_.keep_bytes - reserved) / machine::kShards;
  while (!reserved_.compare_exchange_weak(reserved, reserved + part));
  if (idle_.load() > settings_.keep_bytes - reserved - part) {  // others keep what is ours now
    const std::lock_guard lock{committing_};
    drop_all_idle();
  }
  return part;
}

void BackingStore::on_reuse(Position start, std::size_t bytes) {
  by_segment(start, bytes, [&](const Part& part) {
    if (const std::size_t kept = count_written(part); kept != 0) lower_idle(kept);
    return true;
  });
}

// Only a segment that holds one large block, or none yet, changes its pages: what the last block left is of
// other ones. Two blocks may come to a new segment at once; the first makes the change.
void BackingStore::change_pages(const Part& part, Page page) {
  const std::lock_guard lock{committing_};
  Segment& segment = part.segment;
  if (!wants_pages(part, page)) return;
  const std::size_t left = count_written(part.whole());
  if (left != 0 || any_from_pool(segment)) {
    lower_idle(left);
    discard(part.whole());
  }
  if (&part.file != &plain_) set_granule(segment, shift_for(page));
  segment.page.store(page, std::memory_order_release);
}

bool BackingStore::wants_pages(const Part& part, Page page) const {
  const bool decided =
      &part.file == &plain_ || part.segment.granule_shift.load(std::memory_order_relaxed) != 0;
  return !decided || part.segment.page.load(std::memory_order_acquire) != page;
}

Backed BackingStore::back(const Part& part, Page page, bool read_only) {
  Segment& segment = part.segment;
  if (wants_pages(part, page)) change_pages(part, page);
  const bool touched = part.file.is_touched();
  if (host_may_touch() && &part.file == &plain_ && !(touched && reach(part))) return Backed::NotMapped;
  // What is mapped a second time for host code must be in the file, and not in pages of the kernel's pool.
  const bool twice = touched && &part.file != &plain_;
  if (page != Page::Normal && !twice && (large_.must_be_from_pool() || touched)) {
    const std::lock_guard lock{committing_};
    if (!part.file.reach(part.index)) return Backed::NotMapped;
    if (large_.must_be_from_pool()) {
      if (!large_.take_from_pool(part)) return Backed::PoolEmpty;
    } else {
      large_.offer_pool(part, [](const Part&) { return true; });
    }
  }
  if (read_only && touched &&
      !platform::protect_pages(segment.view.load() + part.offset, part.bytes, false)) {
    end(part, read_only);
    return Backed::NotMapped;
  }
  if (const std::size_t kept = touched ? 0 : count_written(part); kept != 0) lower_idle(kept);
  return Backed::Yes;
}

void BackingStore::on_free(Position start, std::size_t bytes, bool read_only) {
  if (!keeps_bytes(start)) return;
  by_segment(start, bytes, [&](const Part& part) {
    end(part, read_only);
    return true;
  });
}

void BackingStore::end(const Part& part, bool read_only) {
  if (part.file.is_touched()) {
    if (read_only) platform::protect_pages(part.segment.view.load() + part.offset, part.bytes, true);
    const std::lock_guard lock{committing_};
    if (any_from_pool(part.segment)) large_.give_to_pool(part);
    part.file.bytes().discard(part.in_file(), part.bytes);
    return;
  }
  const std::size_t mine = count_written(part);
  const bool of_pool = large_.must_be_from_pool() && LargePages::large(part.segment);
  if (mine == 0 && !of_pool) return;
  const std::size_t most = settings_.keep_bytes - reserved_.load(std::memory_order_relaxed);
  // Only of plain blocks anything is kept: there a new one of the same size comes to the same place.
  const bool never = of_pool || &part.file != &plain_;
  if (idle_.fetch_add(mine, std::memory_order_relaxed) + mine > most || never) {
    const std::lock_guard lock{committing_};
    discard(part);
    lower_idle(mine);
  } else {
    keep();
  }
}

}  // namespace belay
