// What happened, told to whoever listens.
//
// Memory and runtime publish plain facts and do not know who hears them. Listeners (checks, traces)
// are installed one at a time (src/library sees to it) and stay; they run on the calling thread, must not
// call back into the runtime, and never change an answer. What nobody listens to costs one load.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace belay::observe {

enum class What : std::uint8_t {
  DeviceAllocated,
  DeviceFreed,
  HostAllocated,
  HostFreed,
  AllocationRefused,
  Copied,
  Filled,
  DeviceOpened,
  DeviceClosing,
  DeviceClosed,
  Finalized,
  Noted,  // legal or survived, but hardly meant; `text` says what, `rule` why
};

enum class Direction : std::uint8_t { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice };

struct Event {
  What what;
  std::uint32_t device = 0;
  std::uintptr_t address = 0;  // block, or destination
  std::uintptr_t source = 0;   // of a copy
  std::size_t asked = 0;       // by the caller
  std::size_t bytes = 0;       // charged, copied or filled
  std::size_t page = 0;        // page size of the block
  Direction direction = Direction::HostToHost;
  const char* rule = "";
  const char* text = "";
};

using Listener = void (*)(const Event&);

constexpr std::uint32_t bit(What what) { return std::uint32_t{1} << static_cast<unsigned>(what); }

// A listener names what it wants to hear; nobody pays for events that nobody asked for. Not thread-safe:
// listeners are added under the lock under which the runtime is made (src/library).
void listen(Listener listener, std::uint32_t wanted);
void deliver(const Event& event);

inline std::atomic<std::uint32_t> g_wanted{0};

inline bool wanted(What what) { return (g_wanted.load(std::memory_order_relaxed) & bit(what)) != 0; }

inline void publish(const Event& event) {
  if (wanted(event.what)) [[unlikely]]
    deliver(event);
}

// The words are made only where somebody listens.
template <class Words>
void note(const char* rule, Words&& words) {
  if (!wanted(What::Noted)) return;
  const std::string text = words();
  deliver({.what = What::Noted, .rule = rule, .text = text.c_str()});
}

}  // namespace belay::observe
