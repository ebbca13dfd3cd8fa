// Managed memory: one address for the host and all devices (V-270 … V-334).
//
// Its bytes are ordinary memory of the host at an address of their own, which host code, system calls and
// copies use alike. Where each 2 MB page is, is kept beside it: the page belongs to whoever used it last
// through a call, was asked for by a prefetch or an advice, or, if nobody did, to the host as soon as the
// kernel has it. A page on a device is charged there. Later touches by host code are not seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "memory/most.h"
#include "memory/quarantine.h"
#include "memory/run_map.h"
#include "observe/event.h"
#include "platform/address_space.h"
#include "platform/sparse_memory.h"

namespace belay {

inline constexpr std::size_t kManagedPage = 2_MiB;

// In the numbers of aclrtMemManagedLocationType, where NUMA_CURRENT is a node by now.
struct ManagedPlace {
  enum class Type : std::uint8_t { None, Device, Host, Node };
  Type type = Type::None;
  std::int32_t id = 0;

  bool is_host_side() const { return type == Type::Host || type == Type::Node; }
  bool operator==(const ManagedPlace&) const = default;
};

class ManagedMemory {
 public:
  // How a device is charged for one page, or no longer; false: it has none left.
  struct Charges {
    std::function<bool(std::uint32_t device)> take;
    std::function<void(std::uint32_t device)> give;
  };
  explicit ManagedMemory(Charges charges) : charges_{std::move(charges)} {}

  Result<std::uintptr_t> allocate(std::size_t asked);
  bool release(std::uintptr_t start);  // false: none starts here

  // Whether addresses there are managed, alive or not.
  bool covers(std::uintptr_t address) const {
    const std::uintptr_t base = base_.load(std::memory_order_acquire);
    return base != 0 && address - base < window_.bytes;
  }
  // The same for signal handlers, which must not wait. False as well where somebody changes them just now.
  bool surely_without_memory(std::uintptr_t address) const {
    if (!covers(address)) return false;
    const std::shared_lock lock{mutex_, std::try_to_lock};
    return lock && around(address) == allocations_.end();
  }
  // V-291, V-311: where no memory was managed yet, the documented window counts.
  bool is_in_window(std::uintptr_t start, std::size_t bytes) const;
  struct Range {
    std::uintptr_t start;
    std::size_t bytes, asked;
    std::uint64_t serial;
  };
  std::optional<Range> find(std::uintptr_t address) const;
  bool touches(std::uintptr_t start, std::size_t bytes) const {
    const std::uintptr_t base = base_.load(std::memory_order_acquire);
    return base != 0 && overlap(start, bytes, base, window_.bytes);
  }
  // While this is held nothing is freed. Empty: not all of these bytes, from each start, are alive.
  using Hold = std::shared_lock<std::shared_mutex>;
  Hold hold(std::initializer_list<std::uintptr_t> starts, std::size_t bytes) const;

  // All alive (V-292), or nothing happens.
  Status advise(std::uintptr_t start, std::size_t bytes, aclrtMemManagedAdviseType advice,
                const ManagedPlace& place);
  // As many numbers as asked for, this one where there is no place.
  static constexpr std::int32_t kNoPlace = -2;
  Result<std::vector<std::int32_t>> query(aclrtMemManagedRangeAttribute attribute, std::uintptr_t start,
                                          std::size_t bytes, std::size_t count) const;
  // A prefetch was asked for, and has its turn; what is not alive is left alone (V-325).
  bool note_prefetch(std::uintptr_t start, std::size_t bytes, const ManagedPlace& place);
  void prefetch(std::uintptr_t start, std::size_t bytes, const ManagedPlace& place);
  // A call has read or written these bytes: a device, or the host.
  void note_access(std::uintptr_t start, std::size_t bytes, const ManagedPlace& by, bool writes);

  // Its pages come to the host; the memory stays (V-42).
  void close_device(std::uint32_t device);
  void close();

  template <class Act>
  void for_each(Act&& act) const {  // how each came
    const std::shared_lock lock{mutex_};
    for (const auto& [start, allocation] : allocations_) act(allocation.born);
  }
  // How many bytes of addresses stay out of use after they came back; 0: none.
  void set_quarantine(std::size_t bytes);
  // Where others read the most bytes at once; null: nobody does any more.
  void show_most(std::atomic<std::size_t>* at) { in_use_.show(at); }
  std::string where() const;  // in words, for `describe`

 private:
  struct Page {
    std::uint64_t on_devices, by_devices, by_nodes;  // has a copy; SET_ACCESSED_BY
    std::int32_t preferred_id, prefetched_id;
    ManagedPlace::Type preferred, prefetched;
    bool on_host, by_host, read_mostly;
  };
  struct Allocation {
    std::size_t bytes, asked;
    platform::SparseMemory pages;
    observe::Event born;

    Page& page(std::size_t index) const { return reinterpret_cast<Page*>(pages.start())[index]; }
  };
  using Allocations = std::map<std::uintptr_t, Allocation>;

  bool open();
  std::optional<std::uintptr_t> take(std::size_t bytes);
  Allocations::const_iterator around(std::uintptr_t address) const;
  bool all_alive(std::uintptr_t start, std::size_t bytes) const;
  Refusal not_alive(std::uintptr_t start, std::size_t bytes) const;
  // Calls act(page, its address) for all pages that a range touches, which is alive, until one says false.
  template <class Act>
  bool each_page(std::uintptr_t start, std::size_t bytes, Act&& act) const;
  bool is_on_host(const Page& page, std::uintptr_t address) const;
  bool is_anywhere(const Page& page, std::uintptr_t address) const;
  void place_on(Page& page, const ManagedPlace& place, bool keep_others);
  void apply(Page& page, std::uintptr_t address, aclrtMemManagedAdviseType advice, const ManagedPlace& place);
  bool conflicts(const Page& page, std::uintptr_t address, const ManagedPlace& preferred) const;

  const Charges charges_;
  mutable std::shared_mutex mutex_;
  platform::AddressRange window_;  // does not change any more once there is a base
  std::atomic<std::uintptr_t> base_{0};
  RunMap free_;
  Quarantine quarantine_;
  Allocations allocations_;
  Most in_use_;
};

}  // namespace belay
