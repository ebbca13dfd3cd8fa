// What memory of several processes should be: who holds which memory, by which handle, mapping or key, and
// what it contains. Pure: it makes no call.
//
// Contents are known at the borders of stripes of 64 KB, as in virtual_model.h: the first 8 bytes of each and
// the last.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/answers.h"
#include "support/blocks.h"
#include "support/sharing.h"

namespace belay_test {

struct SharingModel {
  static constexpr std::size_t kStripe = 64 * kKB, kDevices = 3;
  static constexpr std::size_t kHost = kDevices;  // as the place of memory

  struct Stripe {
    std::optional<std::uint64_t> first, last;  // empty: nobody knows
  };
  struct Memory {
    std::size_t device;
    std::size_t bytes;
    std::vector<Stripe> stripes;
  };
  using MemoryPtr = std::shared_ptr<Memory>;

  // What others may import. The number of a process never returns, unlike its pid.
  struct Share {
    int maker;
    bool listed;
    std::set<int> named;
    MemoryPtr memory;
    bool may(int process) const { return !listed || named.contains(process); }
  };
  struct Value : Share {
    std::uint64_t value;
    std::string fabric;  // instead of it
  };
  struct Key : Share {
    std::string text;
    std::size_t offset, bytes;
    std::uint64_t source;  // the block or mapping in its maker
    bool mapped;           // of virtual memory
    bool stands = true;
  };
  using ValuePtr = std::shared_ptr<Value>;
  using KeyPtr = std::shared_ptr<Key>;

  struct Handle {
    std::uint64_t handle;
    MemoryPtr memory;
    std::size_t device;  // whose mappings it makes
    bool imported;
    int references = 1, mappings = 0;
    ValuePtr value;  // that it was exported with, or imported from
    bool live() const { return references + mappings > 0; }
  };
  using HandlePtr = std::shared_ptr<Handle>;

  struct Reservation {
    std::size_t bytes;
    std::optional<std::size_t> bound;  // V-148
  };
  struct Borrowed {
    KeyPtr key;
    std::uint64_t where;
    std::size_t device;
    int times = 1;
  };
  // An event or notify that several have: with its maker ends only that others take it.
  struct Signal {
    std::size_t number;  // on the board
    bool notify;
    int maker;
    std::set<int> having;
    bool is_set = false;
  };
  struct Process {
    std::vector<HandlePtr> handles;  // live ones
    std::map<std::uint64_t, Reservation> reservations;
    std::map<std::uint64_t, HandlePtr> mappings;  // the whole of their memory
    std::map<std::uint64_t, MemoryPtr> blocks;
    std::vector<Borrowed> borrowed;
  };

  std::map<int, Process> processes;  // that live
  std::vector<ValuePtr> values;      // also ended ones, to be tried
  std::vector<KeyPtr> keys;
  std::vector<Signal> signals;

  static MemoryPtr memory(std::size_t device, std::size_t bytes) {
    return std::make_shared<Memory>(
        Memory{device, bytes, std::vector<Stripe>((bytes + kStripe - 1) / kStripe)});
  }

  // Bytes of a device in use: each memory once, whoever holds it (V-37, V-38).
  std::size_t used(std::size_t device) const {
    std::set<const Memory*> held;
    for (const auto& [number, process] : processes) {
      for (const HandlePtr& each : process.handles) held.insert(each->memory.get());
      for (const auto& [where, each] : process.blocks) held.insert(each.get());
    }
    std::size_t sum = 0;
    for (const Memory* each : held) sum += each->device == device ? each->bytes : 0;
    return sum;
  }
  bool held(const Memory& memory) const {
    for (const auto& [number, process] : processes) {
      for (const HandlePtr& each : process.handles) {
        if (each->memory.get() == &memory) return true;
      }
    }
    return false;
  }

  // --- answers ------------------------------------------------------------------------------------------

  int export_answer(const Handle& handle) const {
    return handle.imported || handle.value != nullptr ? kRefused : 0;  // V-220, V-221
  }
  int import_answer(const Value& value, int process, std::size_t device) const {
    if (!held(*value.memory)) return kStale;   // V-245, V-249
    if (!value.may(process)) return kRefused;  // V-247
    const bool own = value.maker == process;
    return own && device == value.memory->device ? kRefused : 0;  // V-248, V-256
  }
  int name_answer(const Value& value, int process) const {
    if (!held(*value.memory)) return kStale;      // V-235
    if (value.maker != process) return kRefused;  // V-236
    return value.listed ? 0 : kListIsOff;         // V-237
  }
  int name_answer(const Key& key, int process, int named) const {
    if (!key.stands || key.maker != process) return kRefused;  // V-400
    if (!key.listed) return kListIsOff;                        // V-401
    return named == process ? kRefused : 0;                    // V-402
  }
  int import_answer(const Key& key, int process) const {
    return key.stands && key.may(process) ? 0 : kRefused;  // V-413, V-414, V-415
  }
  int close_answer(const Key& key, int process) const {
    if (borrowed(key, process) != nullptr) return 0;           // V-429
    return key.stands && key.maker == process ? 0 : kRefused;  // V-431
  }
  bool has_key(int process, std::uint64_t source) const {
    for (const KeyPtr& each : keys) {
      if (each->stands && each->maker == process && each->source == source) return true;
    }
    return false;
  }
  int free_answer(const Handle& handle) const { return handle.references > 0 ? 0 : kBadValue; }  // V-34

  // --- what calls do ------------------------------------------------------------------------------------

  // The handle that an import returns: the same again for a device (V-31).
  HandlePtr imported(int process, const Value& value, std::size_t device) {
    for (const HandlePtr& each : processes[process].handles) {
      if (each->imported && each->value.get() == &value && each->device == device) return each;
    }
    return nullptr;
  }
  void free(int process, Handle& handle) {
    --handle.references;
    forget_dead(process);
  }
  void map(int process, std::uint64_t where, const HandlePtr& handle) {
    processes[process].mappings[where] = handle;
    around(process, where)->second.bound = handle->device;
    ++handle->mappings;
  }
  void unmap(int process, std::uint64_t where) {
    auto& mappings = processes[process].mappings;
    --mappings.at(where)->mappings;
    mappings.erase(where);
    forget_dead(process);
  }
  std::map<std::uint64_t, Reservation>::iterator around(int process, std::uint64_t where) {
    auto& all = processes[process].reservations;
    auto next = all.upper_bound(where);
    if (next == all.begin()) return all.end();
    --next;
    return where - next->first < next->second.bytes ? next : all.end();
  }
  void free_block(int process, std::uint64_t where) {
    processes[process].blocks.erase(where);
    end_keys([&](const Key& key) { return key.maker == process && key.source == where; });
  }
  void close(Key& key, int process) {
    auto& all = processes[process].borrowed;
    for (auto each = all.begin(); each != all.end(); ++each) {
      if (each->key.get() != &key) continue;
      if (--each->times == 0) all.erase(each);
      return;
    }
    key.stands = false;
  }
  // The process closes a device: what is on it, and what was imported on it (V-42).
  void reset(int number, std::size_t device) {
    Process& process = processes[number];
    end_keys([&](const Key& key) {
      if (key.maker != number) return false;
      return key.mapped ? process.mappings.at(key.source)->device == device : key.memory->device == device;
    });
    std::erase_if(process.mappings, [&](const auto& each) { return each.second->device == device; });
    for (const HandlePtr& each : process.handles) {
      if (each->device == device) each->references = each->mappings = 0;
    }
    forget_dead(number);
    std::erase_if(process.blocks, [&](const auto& each) { return each.second->device == device; });
    std::erase_if(process.borrowed, [&](const Borrowed& each) { return each.device == device; });
  }
  void drop(Signal& signal, int process) {
    signal.having.erase(process);
    if (signal.maker == process) signal.maker = -1;
  }
  void end(int process) {
    processes.erase(process);
    for (Signal& each : signals) drop(each, process);
    end_keys([&](const Key& key) { return key.maker == process; });
  }

  const Borrowed* borrowed(const Key& key, int process) const {
    for (const Borrowed& each : processes.at(process).borrowed) {
      if (each.key.get() == &key) return &each;
    }
    return nullptr;
  }

 private:
  static constexpr int kListIsOff = 207006;

  template <typename Which>
  void end_keys(const Which& which) {
    for (const KeyPtr& each : keys) {
      if (each->stands && which(*each)) each->stands = false;
    }
  }
  void forget_dead(int process) {
    std::erase_if(processes[process].handles, [](const HandlePtr& each) { return !each->live(); });
  }
};

}  // namespace belay_test
