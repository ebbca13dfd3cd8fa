// Physical memory that no address leads to yet, and memory of any kind that several processes hold.
//
// It has a file of its own, apart from that of plain blocks, so that whoever is given a part of it keeps no
// more than that alive. What is shared has a row on the machine (machine/extents.h): that says who holds it
// and whose pages it is. A range of a file is used again only when nobody holds it any more, in any process.
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

#include "machine/machine.h"
#include "memory/backing_store.h"
#include "memory/extent.h"
#include "memory/heap_map.h"
#include "memory/run_map.h"

namespace belay {

class PhysicalMemory {
 public:
  // `visible`: device of this process -> device of the machine. `freed`: the range of a plain block that was
  // shared is free.
  using Freed = std::function<void(const Block& block)>;
  PhysicalMemory(HeapMap& map, BackingStore& backing, machine::Machine& machine,
                 std::vector<std::uint32_t> visible, Freed freed);

  // Whole pages of one kind. Null: the device has not that many, or the file is full. What it is made of
  // outlives the extent.
  // `granted`: whether the process had to ask for pages.
  ExtentPtr allocate(std::uint32_t device, Page page, std::size_t bytes, bool p2p, std::uint8_t module,
                     bool* granted = nullptr);
  // The same on the host, in whole 2 MB, where no device is charged. Null: the file is full.
  ExtentPtr allocate_on_host(std::size_t bytes, bool p2p, std::uint8_t module);

  // From now on other processes may hold it by that name. Empty: its bytes cannot be shared, or the machine
  // has no row left.
  std::optional<machine::ExtentName> share(const ExtentPtr& extent);
  // The same for the live plain block that starts here, which leaves the shortcut.
  std::optional<machine::ExtentName> share(std::uintptr_t block);
  // Such a block was freed: its pages and its range are ended here, if this says true.
  bool end_block(const Block& block);

  // What another process shares, or this one, for a device of this process. Null: it is gone, or its bytes
  // cannot be reached, with the reason.
  struct Import {
    machine::ExtentName name;
    std::uint32_t device;
    Page page;
    bool p2p = false;
    std::uint8_t module = kModuleApp;
    bool borrows = false;
  };
  ExtentPtr import(const Import& wish, int* why = nullptr);
  // Whether anybody holds it.
  bool lives(const machine::ExtentName& name) { return machine_.extents().lives_now(name); }

  // Ranges that were given up here and are held by others no longer are free.
  void look_after_others() {
    if (!others_hold_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock{mutex_};
    free_what_nobody_holds();
  }

  void close();  // nothing is held any more

 private:
  // What this process holds of what is shared.
  struct Shared {
    machine::ExtentName name;
    Extent extent;
    std::optional<Block> block;  // that it is, or was
    bool imported = false;
    std::size_t users = 1;  // pointers to it, and the block

    machine::Extents::As as() const {
      return extent.borrowed ? machine::Extents::As::Borrower : machine::Extents::As::Owner;
    }
  };
  struct Key {
    std::uint64_t serial;
    bool borrowed;
    auto operator<=>(const Key&) const = default;
  };
  // Gives its memory back when nobody holds it any more.
  struct Held : Extent {
    explicit Held(PhysicalMemory& memory) : of{memory} {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { of.end(*this); }
    Extent& extent() { return *this; }
    PhysicalMemory& of;
  };
  // To be filled in under the lock, where nothing may throw any more.
  std::shared_ptr<Held> empty_pointer() { return std::make_shared<Held>(*this); }
  std::optional<machine::ExtentName> add_row(const Extent& extent, std::optional<Block> block);
  void end(const Extent& extent);
  void unlock(const Extent& extent);
  void let_go(const Key& key);
  void free_range(const Shared& shared);
  void free_what_nobody_holds();
  // Where there is room in one of the two files.
  struct Room {
    RunMap segments;  // that were never used, or hold nothing any more
    std::array<RunMap, 3> runs{RunMap{kSegmentBytes}, RunMap{kSegmentBytes},
                               RunMap{kSegmentBytes}};  // by page
    bool opened = false;
    // The last one that came back, for whoever wants as much again.
    struct Spare {
      std::size_t offset = 0, bytes = 0;
      Page page = Page::Huge2M;
    } spare;

    std::optional<std::size_t> take(Page page, std::size_t bytes);
    void give(Page page, std::size_t offset, std::size_t bytes);
    void put_back(Page page, std::size_t offset, std::size_t bytes);
    std::optional<std::size_t> take_out(Page page, std::size_t bytes);
  };
  void open(Room& room);
  Room& room_of(const Extent& extent) { return extent.side == Side::Host ? host_room_ : device_room_; }
  machine::PageQuota& quota_of(const Extent& extent) { return machine_.quota(visible_[extent.device]); }

  static constexpr std::size_t kSegments = 16_TiB / kSegmentBytes;
  HeapMap& map_;
  BackingStore& backing_;
  machine::Machine& machine_;
  std::vector<std::uint32_t> visible_;
  Freed freed_;
  std::mutex mutex_;
  Room device_room_, host_room_;
  std::map<Key, Shared> shared_;
  std::map<std::uintptr_t, std::uint64_t> blocks_;  // serials of shared plain blocks, by address
  std::vector<Shared> held_by_others_;              // given up here, in use elsewhere
  std::atomic<bool> others_hold_{false};
  bool closed_ = false;
};

}  // namespace belay
