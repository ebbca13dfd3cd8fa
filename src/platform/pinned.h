// Page-locked host memory, and the limit that the system sets on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace belay::platform {

enum class PinOutcome : std::uint8_t { Done, NoMemory, LockRefused };

struct Pinned {
  PinOutcome outcome;
  void* start = nullptr;
  bool locked = false;
};

inline constexpr std::int32_t kAnyNode = -1;
// Nodes of memory (NUMA); 1 where there is only one, or where nothing tells.
std::int32_t memory_nodes();

// Maps on the node that is asked for, if there is more than one, and locks. When locking is refused:
// LockRefused and nothing kept if `must_lock`, else unlocked memory.
Pinned map_pinned(std::size_t bytes, bool must_lock, std::int32_t node = kAnyNode);
void unmap_pinned(void* start, std::size_t bytes);
// Wants pages that are not there yet on a node, if there is more than one.
void put_on_node(void* start, std::size_t bytes, std::int32_t node);
// The node of the processor that this thread runs on.
std::int32_t node_of_this_thread();

// Whole pages of a mapping of this process that nothing may access, until they are opened again. Also in a
// signal handler. False: the kernel refused it, and they are as they were.
bool close_pages(std::uintptr_t start, std::size_t bytes);
bool open_pages(std::uintptr_t start, std::size_t bytes);
std::size_t page_bytes();

// How many of these bytes have no page yet, which locking would make.
std::size_t bytes_not_there(std::uintptr_t start, std::size_t bytes);
bool lock_pages(const void* start, std::size_t bytes);
void unlock_pages(const void* start, std::size_t bytes);

// Copies bytes of this process, unless some of them are not mapped, or may not be read: then it returns false
// instead of dying of that. It asks the kernel, so it is not for what is done often.
bool read_if_mapped(std::uintptr_t from, void* to, std::size_t bytes);

// The soft limit on locked memory in bytes; empty when there is none.
std::optional<std::size_t> lock_limit();

}  // namespace belay::platform
