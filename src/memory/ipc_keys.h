// Ranges of device memory that a process lets others import by key, and what it imported itself (V-382 …
// V-435). A key is the opposite of a handle: it lends. When its exporter closes it, frees the memory or ends,
// importers keep their addresses, but nothing is there any more.
//
// The registry of the machine has the key (machine/shares.h); here is what this process made of it. A range
// that leads to several pieces of memory has one share for each, and the first is the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/shares.h"
#include "memory/physical_memory.h"
#include "memory/virtual_memory.h"

namespace belay {

class Memory;

inline constexpr std::size_t kKeyBytes = 65;  // with its NUL

// 64 hexadecimal digits: printable, and a string of C (V-391).
std::string text_of(const machine::Secret& secret);
std::optional<machine::Secret> secret_in(std::string_view text);
// As messages show it: never all of it.
std::string shown(std::string_view key);

class IpcKeys {
 public:
  IpcKeys(Memory& memory, machine::Machine& machine) : memory_{memory}, machine_{machine} {}

  Result<machine::Secret> open(std::uintptr_t start, std::size_t bytes, bool checking);
  // Where the memory of that key is now; the same address for each further import (V-418).
  Result<std::uintptr_t> import(const machine::Secret& secret, const machine::Share& share,
                                std::uint32_t device);
  bool is_imported(const machine::Secret& secret) const;
  // One import, what was noted for the key, or the key itself (V-429 … V-431). The text: of a key that is
  // none.
  Status close(std::string_view key);
  // A wish for a key, which may be made later (V-426).
  void note_attribute(std::string_view key);

  // The block that starts there is freed: nobody may use it any more.
  void end_block(std::uintptr_t start);
  // What is of or on that device.
  void close_device(std::uint32_t device);
  void close();

  // What was not closed yet, by serial number.
  struct One {
    bool imported;
    std::uint64_t serial;
    std::uintptr_t start;
    std::size_t bytes;
    std::uint32_t device;
    std::string shown;
  };
  std::vector<One> all() const;

 private:
  struct Exported {
    std::uintptr_t start;
    std::size_t bytes;
    bool mapped;  // virtual memory; else the block at `block`
    std::uintptr_t block;
    std::uint32_t device;
    std::uint64_t serial;
    std::vector<machine::ShareId> parts;
  };
  struct Imported {
    machine::Share share;  // the mappings look at it
    std::uintptr_t start;
    std::size_t bytes;
    std::uint32_t device;
    std::uint64_t serial;
    std::size_t count = 1;
  };
  struct Part;
  using Exports = std::map<machine::Secret, Exported>;
  using Imports = std::map<machine::Secret, std::unique_ptr<Imported>>;
  Result<std::vector<Part>> parts_at(std::uintptr_t start, std::size_t bytes);
  void end(Exports::iterator which, bool swept);
  void end(Imports::iterator which, bool swept);

  Memory& memory_;
  machine::Machine& machine_;
  mutable std::mutex mutex_;
  Exports exports_;
  Imports imports_;
  std::set<std::string, std::less<>> attributes_;
};

}  // namespace belay
