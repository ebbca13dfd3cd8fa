// Host memory that the runtime knows: pinned blocks of its own, and ranges that programs register.
//
// An ordered map under a reader-writer lock: pinning costs a system call anyway, and copies look here
// only when they must tell pinned memory from pageable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "base/result.h"
#include "memory/host_history.h"
#include "memory/host_room.h"
#include "memory/plan.h"
#include "memory/run_map.h"
#include "memory/spare_pinned.h"
#include "observe/event.h"
#include "platform/address_space.h"

namespace belay {

// What happens where the system refuses to lock: the memory is handed out as it is, and that is said once;
// the call is refused; the memory is handed out as it is.
enum class PinMode : std::uint8_t { Auto, Strict, BestEffort };

struct HostRange {
  std::uintptr_t start;
  std::size_t bytes;
  std::uint64_t serial;
  std::size_t asked;  // of a pinned block; registered memory is part of something larger: SIZE_MAX
};

struct RegisterWish {
  bool mapped, pinned;
};

// Pinned memory is not locked, which is said once where the user should know.
void say_not_locked(PinMode pin, std::size_t bytes);

class HostMemory {
 public:
  // `keep_bytes`: of pages that were freed.
  HostMemory(HostRoom& room, PinMode pin, std::optional<std::int32_t> node, unsigned char fresh,
             std::size_t keep_bytes)
      : room_{room}, pin_{pin}, node_{node}, fresh_{fresh}, spare_{keep_bytes} {
    spare_nodes_.reserve(kSpareNodes);
    room_.on_shortage([this] { return spare_.give_all_back(); });
  }

  Result<void*> allocate(const Plan& plan, bool unified_address);
  Status release(void* start);  // M-189, M-193
  bool owns(std::uintptr_t start) const;
  // A block that is being freed (observe::What::GivenBack) stays mapped until it is let go: work that is
  // queued, or the program, may still use it, and should be told so before it dies of that.
  void keep_mapped(std::uint64_t serial);
  void let_go(std::uint64_t serial);

  template <class Act>
  void for_each_block(Act&& act) const {  // how it came
    const std::shared_lock lock{mutex_};
    for (const auto& [start, block] : blocks_) act(block.born);
  }
  template <class Act>
  void for_each_registration(Act&& act) const {
    const std::shared_lock lock{mutex_};
    for (const auto& [start, registration] : registrations_) act(registration.born);
  }
  // Physical memory on the host is pinned as well, and counts where blocks do. Without a lock: whoever counts
  // holds one of its own.
  void add_physical(std::size_t bytes) { count_in(bytes); }
  void remove_physical(std::size_t bytes) { in_use_.fetch_sub(bytes); }
  std::size_t bytes() const { return in_use_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }  // bytes in blocks
  void show_peak(std::atomic<std::size_t>* at) { shown_peak_.store(at); }     // where others can read it
  void close();  // frees every block and ends every registration

  Result<std::uintptr_t> register_range(std::uintptr_t start, std::size_t bytes, RegisterWish wish);
  Status unregister(std::uintptr_t start);
  std::optional<std::uintptr_t> device_pointer(std::uintptr_t start) const;

  // The pinned block or registered range around an address.
  std::optional<HostRange> find(std::uintptr_t address) const;
  // The pinned block, with all that is known of it.
  std::optional<HostFacts> block_around(std::uintptr_t address) const;
  // The same with all that is known of it, from a signal handler: nothing, where somebody changes it just
  // now.
  std::optional<HostFacts> peek(std::uintptr_t address) const;
  // While this is held, no block is freed and no registration ended. Empty where the address is in none.
  using Hold = std::shared_lock<std::shared_mutex>;
  Hold hold(std::uintptr_t address) const;
  bool knows_held(std::uintptr_t address, const Hold&) const { return find_locked(address).has_value(); }
  // An address that registration handed out for device-side use only (M-210).
  bool is_device_alias(std::uintptr_t address) const {
    const std::uintptr_t base = alias_base_.load(std::memory_order_acquire);
    return base != 0 && address - base < kAliasBytes;
  }
  bool has_device_alias(std::uintptr_t start, std::size_t bytes) const {
    const std::uintptr_t base = alias_base_.load(std::memory_order_acquire);
    return base != 0 && overlap(start, bytes, base, kAliasBytes);
  }

 private:
  struct PinnedBlock {
    std::size_t bytes;
    bool unified_address;
    observe::Event born;
  };
  struct Registration {
    std::size_t bytes;
    std::uintptr_t device_address;  // 0: not mapped
    bool locked_here;
    observe::Event born;
  };
  // Most addresses of host memory lie outside of all that was ever known: for those no lock is needed.
  void cover(std::uintptr_t start, std::size_t bytes);  // with the lock held
  bool is_outside(std::uintptr_t address) const {
    return address < covered_from_.load(std::memory_order_relaxed) ||
           address >= covered_to_.load(std::memory_order_relaxed);
  }
  bool registered_overlap(std::uintptr_t start, std::size_t bytes) const;
  std::optional<HostRange> pinned_around(std::uintptr_t address) const;
  std::optional<HostRange> find_locked(std::uintptr_t address) const;
  Refusal lock_refused(std::size_t bytes) const;
  Result<void*> fresh_pages(std::size_t asked, std::size_t bytes);
  bool lock_pages(std::uintptr_t start, std::size_t bytes);
  std::uintptr_t take_alias(std::size_t bytes);  // with the lock held
  void count_in(std::size_t bytes);

  HostRoom& room_;
  PinMode pin_;
  std::optional<std::int32_t> node_;  // of NUMA, where new blocks are wanted
  unsigned char fresh_;               // what they are filled with
  SparePinned spare_;
  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, PinnedBlock> blocks_;
  static constexpr std::size_t kSpareNodes = 64;
  std::vector<std::map<std::uintptr_t, PinnedBlock>::node_type> spare_nodes_;  // of blocks that were freed
  std::map<std::uintptr_t, Registration> registrations_;
  struct Kept {
    std::uintptr_t start;  // 0: it is not freed yet
    std::size_t bytes;
  };
  std::map<std::uint64_t, Kept> kept_;  // by serial number
  std::atomic<std::uintptr_t> covered_from_{UINTPTR_MAX}, covered_to_{0};
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::atomic<std::size_t>*> shown_peak_{nullptr};
  static constexpr std::size_t kAliasBytes = platform::kAliasWishes[0].bytes;
  std::atomic<std::uintptr_t> alias_base_{0};  // read by every copy, without the lock
  platform::AddressRange aliases_;
  RunMap free_aliases_;
};

}  // namespace belay
