// All memory that this process knows: the address window, its bytes, every device, pinned host memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "machine/machine.h"
#include "memory/backing_store.h"
#include "memory/device_memory.h"
#include "memory/fast_rules.h"
#include "memory/heap_map.h"
#include "memory/host_memory.h"
#include "memory/ipc_keys.h"
#include "memory/location.h"
#include "memory/managed_memory.h"
#include "memory/mappings.h"
#include "memory/peers.h"
#include "memory/physical_memory.h"
#include "memory/virtual_memory.h"
#include "memory/watch.h"

namespace belay {

struct MemorySettings {
  const ProductRow* product = nullptr;
  Form form = Form::EP;
  std::vector<std::uint32_t> visible;  // device of this process -> device of the machine
  DeviceLimits limits;                 // the same for every device
  BackingSettings backing;
  PinMode pin = PinMode::Auto;
  std::optional<std::int32_t> host_node;  // where pinned memory is wanted (NUMA)

  std::uint32_t devices() const { return static_cast<std::uint32_t>(visible.size()); }
};

class Memory {
 public:
  Memory(const MemorySettings& settings, machine::Machine& machine);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  const MemorySettings& settings() const { return settings_; }
  HeapMap& map() { return map_; }
  const HeapMap& map() const { return map_; }
  BackingStore& backing() { return backing_; }
  Mappings& mappings() { return mappings_; }
  PhysicalMemory& physical() { return physical_; }
  VirtualMemory& virtual_memory() { return virtual_; }
  const VirtualMemory& virtual_memory() const { return virtual_; }
  IpcKeys& keys() { return keys_; }
  const IpcKeys& keys() const { return keys_; }
  ManagedMemory& managed() { return managed_; }
  const ManagedMemory& managed() const { return managed_; }
  // Where the bytes at a device address are, and how many of them lie in one piece; none where a mapping went
  // meanwhile. For whoever is inside a ReaderGuard.
  struct Piece {
    Position at;
    std::size_t bytes;
  };
  Piece piece_at(std::uintptr_t address, std::size_t bytes);
  // Whether blocks are here, of the device window.
  bool is_plain(std::uintptr_t address) const {
    return map_.contains(address) &&
           map_.heap_at(address).use.load(std::memory_order_acquire) != Heap::Use::Closed;
  }
  // Where only device memory can be: the device window, and reservations beyond it.
  bool is_device_address(std::uintptr_t address) const {
    return map_.contains(address) || mappings_.covers(address);
  }
  // Whether host code may write to a device address without belay's seeing it.
  bool host_may_write(std::uintptr_t address) const;
  // A word, in one piece (P-41); what is not there reads as fresh.
  std::uint64_t load64(std::uintptr_t address);
  // Where the bytes of a plain block are: at the same place in their file as in the window.
  Position plain(std::uintptr_t address) { return {&backing_.plain(), address - map_.window().base}; }
  HostMemory& host() { return host_; }
  const HostMemory& host() const { return host_; }
  Peers& peers() { return peers_; }
  Watch& watch() { return watch_; }
  DeviceMemory& device(std::uint32_t index) { return *devices_[index]; }

  // At the wished address, if that is not 0.
  Result<void*> allocate(std::uint32_t device, const Plan& plan, std::uint8_t module, Origin origin,
                         std::uintptr_t wished = 0);
  // Physical memory under a handle that nothing had before (V-99 … V-125).
  Status allocate_physical(std::uint64_t handle, const PhysicalPlan& plan);
  Result<void*> allocate_host(std::uint32_t device, const Plan& plan, std::uint8_t module,
                              bool unified_address);

  // Whoever begins or ends to listen to allocations and frees says so here, one at a time: the fast path
  // tells nobody unless it knows.
  void listeners_changed();

  // What the bytes at an address are part of: a block or physical memory by its serial number, and where in
  // it. 0 and the address itself: memory that belay does not know.
  struct Identity {
    std::uint64_t extent;
    std::uint64_t offset;
    std::uint64_t left = 0;  // to the end of what the program asked for, where it may do as it likes; else 0
  };
  Identity identify(const Location& at);

  // Addresses of blocks that are freed from now on stay out of use: for good while code still runs that
  // may use such a block, else until so many bytes were freed after them, for each device and kind of block.
  void hold_freed_addresses(bool hold);
  void set_quarantine(std::size_t bytes);

  // Blocks that queued work touches are marked from now on, so that whoever asks hears when one is given back
  // (observe::What::GivenBack).
  void mark_use(bool marks) { marks_use_.store(marks); }
  void note_use(const Location& at) {
    if (marks_use_.load(std::memory_order_relaxed) && at.is_device() && !at.block.mapped && !at.block.in_use)
      map_.mark_in_use(at.block.start);
  }

  // For the fast path: requests of this thread go to that device, as was found after that state was read.
  void set_device_of_thread(std::uint64_t state, std::uint32_t device);
  const FastRules& fast_rules() const { return fast_rules_; }
  void end_withdrawn(std::uintptr_t start, std::uint64_t word) { end_block(map_.block_from(start, word)); }

  Status free_device(void* pointer);  // M-111, M-116: any block, pinned ones too
  Status free_host(void* pointer);    // M-188, M-189
  Status free_media(void* pointer);   // M-398

  // Ends every block of a device; host memory of the RC form stays (M-406, M-407, M-438).
  void close_device(std::uint32_t device);

  // Ends every block there is and gives all addresses back, for a process that starts anew.
  void close();

  std::uint64_t number() const { return number_; }  // see fast_path_state.h
  machine::Machine& machine() { return machine_; }

  Location locate(const void* pointer) const { return locate(reinterpret_cast<std::uintptr_t>(pointer)); }
  Location locate(std::uintptr_t address) const;
  // The same, but pinned memory outside the window counts as pageable.
  Location locate_bytes(std::uintptr_t address) const;
  Location locate_bytes(const void* pointer) const {
    return locate_bytes(reinterpret_cast<std::uintptr_t>(pointer));
  }
  // Whether any of these bytes has an address of the device window, or one for device-side use only.
  bool has_device_address(std::uintptr_t start, std::size_t bytes) const;
  // The live block around a device address; a mapping counts as one.
  std::optional<Block> find(std::uintptr_t address) const;
  // What is wrong with an address that no block starts at, in words.
  std::string describe(std::uintptr_t address) const;
  // The same refusal of a call that was to use an address where nothing is alive, as the mistake that it is;
  // of one that only asked, it is a mistake where something was freed.
  Refusal used_wrongly(Refusal refusal, std::uintptr_t address) const;
  Refusal asked_after_free(Refusal refusal, std::uintptr_t address) const;

 private:
  Status free_pinned(void* pointer);
  Refusal freed_wrongly(Refusal refusal, std::uintptr_t address) const;
  void end_block(const Block& block, bool swept = false);
  void end_blocks(std::uint32_t device, bool host_too);

  bool charge_managed(std::uint32_t device, bool take);
  ThreadCache* cache();
  void apply_reuse();  // with the lock

  const std::uint64_t number_;
  const FastRules fast_rules_;
  MemorySettings settings_;
  machine::Machine& machine_;
  HeapMap map_;
  HostRoom host_room_;
  BackingStore backing_;
  PhysicalMemory physical_;
  Mappings mappings_;
  HostMemory host_;
  Peers peers_;
  Watch watch_;
  VirtualMemory virtual_;
  IpcKeys keys_;
  ManagedMemory managed_;
  std::vector<std::unique_ptr<DeviceMemory>> devices_;
  std::atomic<std::size_t> media_bytes_{0};
  std::atomic<std::uint64_t> listened_to_{0};  // what the fast path was told of it
  std::atomic<bool> marks_use_{false};
  std::mutex reuse_;
  std::size_t quarantine_ = 0;
  bool holds_addresses_ = false;
  std::atomic<bool> delays_reuse_{false};  // one of the two
};

}  // namespace belay
