// The bytes of device memory.
//
// Host code cannot touch a device address; the runtime reaches the bytes through views of its own.
// Memory is committed when it is first written, granule by granule. Until then it reads as a pattern:
// fresh memory is not initialised, and never happens to be zero (M-13). Freed memory keeps its pages
// for the next user up to a bound; beyond it they go back to the system at once, and the rest when nothing
// was freed for a second.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/state.h"
#include "memory/decay.h"
#include "memory/heap_map.h"
#include "memory/host_room.h"
#include "memory/large_pages.h"
#include "platform/shared_bytes.h"

namespace belay {

inline constexpr unsigned char kFreshByte = 0xBE;

enum class HostAccess : std::uint8_t { Deny, Allow };
enum class Backing : std::uint8_t { Bytes, None };  // None: writes are forgotten, everything reads as fresh

struct ContentsSettings {
  HostAccess access = HostAccess::Deny;
  Backing backing = Backing::Bytes;
  Pages pages = Pages::Auto;
  std::size_t keep_bytes = 256_MiB;
  std::optional<std::size_t> commit_limit = {};  // of host memory; none: what the machine has
};

// Whether bytes could be reached, and if not, why.
enum class Trouble : std::uint8_t { None, HostFull, Unreachable };
struct [[nodiscard]] Reached {
  Trouble trouble = Trouble::None;
  explicit operator bool() const { return trouble == Trouble::None; }
};

// Whether a block can begin.
enum class Begun : std::uint8_t { Yes, PoolEmpty, NotMapped };

class Contents {
 public:
  Contents(HeapMap& map, const ContentsSettings& settings);

  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  ~Contents();

  // All ranges must be allocated: the caller has looked (transfer.h). What cannot be done as a whole is not
  // begun.
  Reached write(std::uintptr_t to, const void* from, std::size_t bytes);
  Reached read(std::uintptr_t from, void* to, std::size_t bytes);
  Reached fill(std::uintptr_t to, unsigned char value, std::size_t bytes);
  Reached fill32(std::uintptr_t to, std::uint32_t value, std::size_t words);
  Reached copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);  // as if through a temporary

  // Where these bytes are, if they are all there and in one piece; else null, and `read` and `write` find a
  // way.
  std::byte* in_one_piece(std::uintptr_t address, std::size_t bytes) const {
    const Heap& heap = map_.heap_at(address);
    const std::size_t offset = address % kHeapBytes;
    std::byte* view = heap.view.load(std::memory_order_acquire);
    return view != nullptr && bytes <= kHeapBytes - offset && all_committed(heap, offset, bytes)
               ? view + offset
               : nullptr;
  }

  // One aligned word, in one piece (P-41). What nobody wrote, or cannot be reached, reads as fresh.
  Reached store64(std::uintptr_t to, std::uint64_t value);
  std::uint64_t load64(std::uintptr_t from);

  // Makes sure that several ranges, in rising order, can be written before the first is: all of them or none.
  struct Stretch {
    std::uintptr_t start;
    std::size_t bytes;
  };
  using StretchAt = std::function<Stretch(std::size_t)>;
  Reached prepare(std::size_t count, const StretchAt& stretch) {
    return keeps_bytes() ? make_ready(count, stretch, Rest::Kept) : Reached{};
  }

  // A block of whole pages of that kind begins or ends here. What could not begin has not.
  Begun begin(std::uintptr_t start, std::size_t bytes, Page page, bool read_only);
  void end(std::uintptr_t start, std::size_t bytes, bool read_only);
  // For ranges that threads keep from one block to the next of the same size, where host code may not touch
  // and pages are not taken from the kernel's pool. `begin_again` is for those that have ended, after the new
  // block is published; those that have not, a thread may keep up to a bound, if it says so with `keep`.
  void begin_again(std::uintptr_t start, std::size_t bytes);
  void keep() { decay_.stir(); }
  // A thread's part of what may be kept in all, until it gives it back.
  std::size_t reserve_for_thread();
  void give_back_reserve(std::size_t part) { reserved_.fetch_sub(part, std::memory_order_relaxed); }

  bool keeps_bytes() const { return settings_.backing == Backing::Bytes; }
  bool host_may_touch() const { return settings_.access == HostAccess::Allow; }
  std::size_t committed() const { return file_.committed(); }
  const HostRoom& room() const { return room_; }
  // Whether a device has only as many large pages as the kernel's pool.
  bool pool_is_limit() const { return keeps_bytes() && large_.must_be_from_pool(); }
  void abandon() { file_.abandon(); }
  void close();  // all bytes go back to the system; nobody may ask for one any more

 private:
  bool start_table(Heap& heap, std::uint8_t shift);
  bool carve(Heap& heap, std::size_t index, HeapClass heap_class);
  bool reach(Heap& heap, std::size_t index);
  bool reach_locked(Heap& heap, std::size_t index);
  bool all_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const;
  std::size_t count_committed(const Heap& heap, std::size_t offset, std::size_t bytes) const;
  std::size_t in_small_pages(const Heap& heap, std::size_t offset, std::size_t bytes, bool committed) const;
  enum class Rest : std::uint8_t { Overwritten, Kept };  // of fresh granules that a write covers
  bool is_ready(std::uintptr_t to, std::size_t bytes);
  Reached make_ready(std::size_t count, const StretchAt& stretch, Rest rest);
  Reached make_ready(std::uintptr_t to, std::size_t bytes, Rest rest = Rest::Overwritten) {
    if (is_ready(to, bytes)) return {};
    return make_ready(
        1,
        [=](std::size_t) {
          return Stretch{to, bytes};
        },
        rest);
  }
  bool is_fresh(const Heap& heap, std::size_t offset, std::size_t bytes);
  bool commit(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes, Rest rest);
  bool put(Heap& heap, std::size_t index, std::size_t offset, const void* from, std::size_t bytes);
  void change_pages(Heap& heap, std::size_t index, Page page);
  Begun begin_part(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes, Page page,
                   bool read_only);
  std::size_t drop_idle(Heap& heap, std::size_t index);
  bool make_room(std::size_t bytes);
  std::size_t drop_all_idle();
  void lower_idle(std::size_t bytes);
  void discard(Heap& heap, std::size_t index, std::size_t offset, std::size_t bytes);

  template <class Do>
  bool by_heap(std::uintptr_t address, std::size_t bytes, Do&& act);

  HeapMap& map_;
  ContentsSettings settings_;
  platform::SharedBytes file_;
  std::mutex committing_;
  LargePages large_;
  HostRoom room_;
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>, void (*)(void*)>> tables_;  // of all heaps
  std::atomic<std::size_t> idle_{0};      // committed bytes that belong to no block, and that no thread keeps
  std::atomic<std::size_t> reserved_{0};  // for threads, of what may be kept
  static constexpr std::size_t kTableWords = kHeapBytes / 4_KiB / 64;
  std::array<std::uint64_t, kTableWords> cleared_;  // for drop_idle, which has the lock
  Decay decay_;
};

}  // namespace belay
