// Destinations of queued work in pinned or managed memory whose pages nothing may access (--watch-host), so
// that host code that does so before the program waited for the work is found (early_access.h).
//
// Closed are the pages of a block that hold nothing but the destination. Several destinations may share a
// page: it is open when none of them closes it any more. Work and calls of ours need no closed pages opened
// beforehand: they fault as the program does, and are lent what they need.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "check/finding.h"
#include "memory/host_history.h"
#include "observe/event.h"
#include "platform/handler_lock.h"

namespace belay::check {

struct Destination {
  observe::Touch touch;
  TaskInUse task;
  std::uint32_t made_at;  // where its block was allocated
  Object object;          // what that is: pinned, or managed memory
};

class ClosedPages {
 public:
  struct Closing;  // of one destination

  // --- for one thread at a time ---------------------------------------------------------------------

  // Null: there is no such page, or no more can be closed.
  Closing* close(const Destination& destination, const HostFacts& block);
  void end(Closing* closing);
  void open_block(std::uintptr_t start);  // it is being freed; its destinations are still ended
  void end_all();                         // and nobody calls `end` any more

  // --- for all, also in signal handlers -------------------------------------------------------------

  bool any() const { return first_.load(std::memory_order_relaxed) != nullptr; }
  // Opens the page at an address of a fault: for what belay does itself, until this thread takes it back; or
  // for the program, for good, and all of each destination that it belongs to. Of those the first in the
  // order of submission is told, unless another thread was faster.
  enum class Answer : std::uint8_t { NotOurs, IsOpen, Opened };
  Answer lend(std::uintptr_t address);
  Answer give(std::uintptr_t address, Destination& first);
  void take_back();

  void forget_parent();  // in the child of a fork, where all of it is opened

 private:
  struct Block;
  using Held = platform::HandlerLock::Held;
  Block* block_at(std::uintptr_t start) const;
  Block* block_around(std::uintptr_t address) const;
  void shut(Closing& closing);
  bool open(Closing& closing);
  void stop_lending(Closing& closing);
  template <class Act>
  Answer open_around(std::uintptr_t address, Act&& act);
  template <class Act>
  static void each_run(const Block& block, const observe::Touch& touch, Act&& act);
  template <class Change>
  static bool change(Block& block, const observe::Touch& touch, Change&& change,
                     bool (*pages)(std::uintptr_t, std::size_t));

  platform::HandlerLock lock_;
  std::atomic<Block*> first_{nullptr};
  Closing* lent_ = nullptr;
  std::atomic<bool> lends_{false};
  std::size_t runs_ = 0;                // of pages, that are closed or may be again
  std::atomic<std::uint64_t> shut_{0};  // how often pages were closed
};

extern constinit ClosedPages g_closed_pages;

}  // namespace belay::check
