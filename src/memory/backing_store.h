// What is in device memory: reading, writing and filling the bytes of backing files.
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
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/state.h"
#include "memory/backing_file.h"
#include "memory/block_index.h"
#include "memory/decay.h"
#include "memory/fill_limit.h"
#include "memory/host_room.h"
#include "memory/large_pages.h"

namespace belay {

inline constexpr unsigned char kFreshByte = 0xBE;  // unless a setting says otherwise

enum class HostAccess : std::uint8_t { Deny, Allow };
enum class Backing : std::uint8_t { Bytes, None };  // None: writes are forgotten, everything reads as fresh

struct BackingSettings {
  HostAccess access = HostAccess::Deny;
  Backing mode = Backing::Bytes;
  Pages pages = Pages::Auto;
  std::size_t keep_bytes = 256_MiB;
  std::optional<std::size_t> commit_limit = {};  // of host memory; none: what the machine has
  unsigned char fresh = kFreshByte;
};

// Whether bytes could be reached, and if not, why.
// Busy: to be tried again. Gone: it was unmapped at that very moment.
enum class Trouble : std::uint8_t { None, HostFull, Unreachable, Busy, Gone };
struct [[nodiscard]] Reached {
  Trouble trouble = Trouble::None;
  explicit operator bool() const { return trouble == Trouble::None; }
};

// Whether a block has what its bytes need.
enum class Backed : std::uint8_t { Yes, PoolEmpty, NotMapped };

class BackingStore {
 public:
  // The file of plain blocks is that large. Host code, if it may touch, sees it at `mirror`; 0: it cannot.
  BackingStore(BlockIndex& blocks, std::size_t bytes, std::uintptr_t mirror, const BackingSettings& settings,
               HostRoom& room);

  BackingStore(const BackingStore&) = delete;
  BackingStore& operator=(const BackingStore&) = delete;
  ~BackingStore();

  BackingFile& plain() { return plain_; }
  // Why plain blocks have no bytes, where they have none.
  platform::Obstacles obstacles() const { return plain_.bytes().obstacles(); }
  // The file of physical memory that is mapped (physical_memory.h); once, when somebody wants it.
  void open_physical(std::size_t bytes);
  BackingFile& physical() { return physical_; }
  // The file of physical memory on the host, which host code may always touch.
  void open_host(std::size_t bytes);
  BackingFile& host() { return host_; }

  // Host code may touch these bytes, too, until the same is concealed: all of them are there then.
  Reached expose(Position start, std::size_t bytes);
  void conceal(Position start, std::size_t bytes);

  // Other processes may hold these bytes from now on, until the same is ended. False: they are in pages of
  // the kernel's pool, or in no file, and cannot be shared.
  bool begin_sharing(Position start, std::size_t bytes);
  void end_sharing(Position start, std::size_t bytes);
  // The file of another process, once for each that uses it; null where it cannot be reached any more.
  BackingFile* import(const platform::FileName& name);
  void use_import(BackingFile& file);  // once more
  void drop_import(BackingFile& file);
  // Its owner may have cut these segments anew since they were reached.
  void renew_import(Position start, std::size_t bytes);

  // All ranges must be allocated: the caller has looked (transfer.h). What cannot be done as a whole is not
  // begun.
  Reached write(Position to, const void* from, std::size_t bytes);
  Reached read(Position from, void* to, std::size_t bytes);
  Reached fill(Position to, unsigned char value, std::size_t bytes);
  Reached fill32(Position to, std::uint32_t value, std::size_t words);
  Reached copy(Position to, Position from, std::size_t bytes);  // as if through a temporary

  // Where these bytes are, if they are all there and in one piece; else null, and `read` and `write` find a
  // way.
  std::byte* in_one_piece(Position at, std::size_t bytes) const {
    const Part part = at.file->part(at.offset, bytes);
    std::byte* view = part.segment.view.load(std::memory_order_acquire);
    return view != nullptr && part.end() <= kSegmentBytes && is_written(part) ? view + part.offset : nullptr;
  }

  // Where a range can be reached in one piece, written or not; null: nowhere.
  std::byte* view_of(Position at, std::size_t bytes);

  // One aligned word, in one piece (P-41). What nobody wrote, or cannot be reached, reads as fresh.
  Reached store64(Position to, std::uint64_t value);
  std::uint64_t load64(Position from);

  // Makes sure that several ranges, in rising order, can be written before the first is: all of them or none.
  struct Stretch {
    Position start;
    std::size_t bytes;
  };
  using StretchAt = std::function<Stretch(std::size_t)>;
  Reached prepare(std::size_t count, const StretchAt& stretch) {
    return keeps_bytes() ? make_ready(count, stretch, Rest::Kept) : Reached{};
  }
  Reached prepare(std::vector<Stretch> ranges);  // in any order

  // A segment of plain blocks will hold blocks in granules of that kind of page.
  void on_carve(std::size_t segment, Page page);
  // A block of whole pages of that kind begins or ends here. What is not backed has not begun.
  Backed on_alloc(Position start, std::size_t bytes, Page page, bool read_only);
  void on_free(Position start, std::size_t bytes, bool read_only);
  // For ranges that threads keep from one block to the next of the same size, where host code may not touch
  // and pages are not taken from the kernel's pool. `on_reuse` is for those that were freed, after the new
  // block is published; those that were not, a thread may keep up to a bound, if it says so with `keep`.
  void on_reuse(Position start, std::size_t bytes);
  void keep() { decay_.note_kept(); }
  // A thread's part of what may be kept in all, until it gives it back.
  std::size_t reserve_for_thread();
  void give_back_reserve(std::size_t part) { reserved_.fetch_sub(part, std::memory_order_relaxed); }

  bool keeps_bytes() const { return settings_.mode == Backing::Bytes; }
  // What host code may touch is kept in any case.
  bool keeps_bytes(Position at) const { return keeps_bytes() || at.file == &host_; }
  unsigned char fresh_byte() const { return settings_.fresh; }
  bool host_may_touch() const { return settings_.access == HostAccess::Allow; }
  const FillLimit& fill_limit() const { return limit_; }
  // Whether a device has only as many large pages as the kernel's pool.
  bool pool_is_limit() const { return keeps_bytes() && large_.must_be_from_pool(); }
  void abandon();
  void close();  // all bytes go back to the system; nobody may ask for one any more

 private:
  bool reach(const Part& part);
  bool is_written(const Part& part) const;
  std::size_t count_written(const Part& part) const;
  std::size_t in_small_pages(const Part& part, bool written) const;
  enum class Rest : std::uint8_t { Overwritten, Kept };  // of fresh granules that a write covers
  bool is_ready(Position to, std::size_t bytes) const;
  Reached make_ready(std::size_t count, const StretchAt& stretch, Rest rest);
  Reached make_ready(Position to, std::size_t bytes, Rest rest = Rest::Overwritten) {
    if (is_ready(to, bytes)) return {};
    return make_ready(
        1,
        [=](std::size_t) {
          return Stretch{to, bytes};
        },
        rest);
  }
  // Which of the pieces of a range hold nothing yet, so that what comes there is best handed to the system as
  // a whole: it takes new pages at a time, where the view takes a fault for each.
  class FreshPieces;
  FreshPieces fresh_pieces(Position to, std::size_t bytes) const;
  // After they were made ready. `source`: bytes for a piece of the range, from that far on.
  template <class Source>
  Reached put_by_piece(Position to, std::size_t bytes, const FreshPieces& fresh, Source&& source);
  bool is_fresh(const Part& part);
  Reached try_make_ready(std::size_t count, const StretchAt& stretch, Rest rest);
  Reached commit(const Part& part, Rest rest);
  bool fill_fresh(const Part& part, Rest rest);
  void note_first_write(const Part& part);
  static bool put(const Part& part, const void* from);
  bool wants_pages(const Part& part, Page page) const;
  void change_pages(const Part& part, Page page);
  Backed back(const Part& part, Page page, bool read_only);
  void end(const Part& part, bool read_only);
  std::size_t drop_idle(std::size_t segment);
  HostRoom::Promise room_for(std::size_t bytes);
  std::size_t drop_all_idle();
  std::size_t close_spare_imports();
  void lower_idle(std::size_t bytes);
  void discard(const Part& part);

  BlockIndex& blocks_;
  BackingSettings settings_;
  BackingFile plain_, physical_, host_;
  struct Import {
    BackingFile file;
    std::size_t users = 0;
  };
  std::map<std::uint64_t, Import> imports_;  // by inode
  std::mutex committing_;
  std::size_t filled_ = 0;  // bytes of room that fresh memory took, ever
  LargePages large_;
  HostRoom& room_;
  FillLimit limit_;
  std::atomic<std::size_t> idle_{0};      // committed bytes that belong to no block, and that no thread keeps
  std::atomic<std::size_t> reserved_{0};  // for threads, of what may be kept
  std::array<std::uint64_t, SegmentTable::kWords> cleared_;  // for drop_idle, which has the lock
  Decay decay_;
};

}  // namespace belay
