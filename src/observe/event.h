// What is told about an operation: who asked for what, with which function, what it touches, how it ended.
//
// An event is one cache line. Those of queued work, of callbacks and of refusals have Details behind it, then
// what the work touches, then words. Blocks, streams, events, notifies, records and tasks are named by serial
// numbers that are never used again; addresses are told as well, but others may have had them before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/object.h"

namespace belay::observe {

enum class What : std::uint8_t {
  Allocated,  // a block
  Freed,
  Copied,  // by the call itself, before it returned
  Filled,
  Submitted,  // a task; then, once each, Begun and one of the three after it
  Begun,
  Done,
  Failed,
  Dropped,  // by an abort, or with its stream
  Waited,   // the thread knows that work is done: it waited for it, or asked and was told so
  Created,  // a stream, an event, a notify, a context, a data buffer, a registration of host memory, a
            // reservation of addresses, a mapping
  Destroyed,
  DeviceOpened,
  DeviceClosing,
  DeviceClosed,
  Finalized,
  Refused,     // a call; `text` says why
  GivenBack,   // memory that queued work may still need, before it is freed (Memory::mark_use); told at once
               // only
  Noted,       // legal or survived, but hardly meant; `text` says what
  RangeBegun,  // of the program's own, on this thread; `text` is its name (belay_range_push)
  RangeEnded,
  Labelled,  // the block with that serial number; `text` is what the program calls it (belay_label)
  Marked,    // belay_mark
  Gap,       // not an event: a ring goes on at its start
};

enum class Actor : std::uint8_t {
  Thread,    // a call of the program
  Stream,    // queued work in its turn
  Callback,  // a call of the program, made by a function that a stream calls
};

using belay::Object;

// Something that a program has made and not given back.
struct Alive {
  Object object;
  std::uint64_t serial;
  std::uint32_t device;
  bool ended = false;  // with its context, all the same
};

enum class Operation : std::uint8_t {
  None,
  Copy,
  CopyRows,
  CopyBatch,
  CopyTaken,  // the bytes were taken during the call (ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE)
  CopyByDescriptor,
  CopyByOffset,
  Fill,
  WriteValue,
  WaitValue,
  RecordEvent,
  WaitEvent,
  ResetEvent,
  RecordNotify,
  WaitNotify,
  ChangeCount,  // of a count notify: `value` and how in `flag`
  WaitCount,    // ... `value` and the comparison in `flag`; the record that ended it is not told
  HostFunction,
  Callback,
  Prefetch,  // of managed memory
  CacheOperation,
  // The fast path tells its function by these: a name less to write.
  Malloc,
  MallocAlign32,
  MallocCached,
  Free,
};
constexpr bool is_copy(Operation operation) {
  return operation >= Operation::Copy && operation <= Operation::CopyByOffset;
}
inline constexpr const char* kFastFunctions[] = {"aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached",
                                                 "aclrtFree"};
constexpr const char* function_of(Operation operation) {
  return kFastFunctions[static_cast<unsigned>(operation) - static_cast<unsigned>(Operation::Malloc)];
}

struct alignas(64) Event {
  What what = What::Gap;
  Actor actor = Actor::Thread;
  Object object = Object::None;
  Operation operation = Operation::None;
  std::uint8_t page_shift = 0;  // of a block: the size of its pages
  std::uint8_t module = 0;
  std::uint8_t device = 0;  // of the block, of the stream, or the current one
  std::uint8_t flags = 0;
  std::int32_t outcome = 0;  // what the call returned, or what the task failed with
  std::uint32_t units = 0;   // of 4 KB that a block takes
  std::uint32_t thread = 0;
  std::uint32_t site = 0;  // where in the program (call_sites.h); 0: nobody wanted to know
  std::uint64_t serial = 0;
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;    // asked for, copied or filled
  const char* function = "";  // as the publisher has it; listeners ask for function_name()
  std::uint64_t time_ns = 0;  // 0: nobody wanted to know

  const char* function_name() const {
    return operation < Operation::Malloc ? function : function_of(operation);
  }
  static constexpr std::uint8_t kHasDetails = 1;
  static constexpr std::uint8_t kReadOnly = 2, kP2p = 4;  // of a block
  static constexpr std::uint8_t kSwept =
      8;  // freed or destroyed with its device or context, not by the program
  // Of a device block: the policy that it was asked for with, as far as it makes a difference.
  enum class Policy : std::uint8_t { HugeFirst, HugeOnly, NormalOnly, Huge1GOnly };
  static constexpr unsigned kPolicyShift = 4;
  static constexpr std::uint8_t flags_of(Policy policy) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(policy) << kPolicyShift);
  }
  bool has_details() const { return (flags & kHasDetails) != 0; }
  std::uint64_t first_word() const {
    std::uint64_t word = 0;
    std::memcpy(&word, this, sizeof word);
    return word;
  }
  // All up to the flags at once, so that it can be read at once soon afterwards.
  void set_first_word(std::uint64_t word) { __builtin_memcpy(this, &word, sizeof word); }
  std::uint64_t footprint() const { return std::uint64_t{units} * 4096; }
};
static_assert(sizeof(Event) == 64);

struct Details {
  std::uint64_t stream = 0;    // of the work, or that was waited for
  std::uint64_t position = 0;  // in the stream, from 1; of a wait: up to here all is done
  std::uint64_t record = 0;  // of an event: that is made, that is waited for, that is undone; of a wait for a
                             // word that is done: 1 if a write ended it, 0 if it was so from the start
  std::uint64_t object = 0;  // the event or notify
  std::uint64_t value = 0;   // of a fill, a written word or one that is waited for
  std::uint64_t caller = 0,
                caller_position = 0;  // of a callback: the stream that calls it, and its task there
  const char* rule = "";
  std::uint32_t flag =
      0;  // of a wait for a word: the comparison; of a copy: the kind that was stated, plus 1
  std::uint16_t touches = 0, letters = 0;
};

// A part of memory that an operation reads or writes: rows of some bytes, a pitch apart.
struct Touch {
  std::uint64_t extent = 0;  // the serial number of the block; 0: host memory that belay does not know
  std::uint64_t offset = 0;  // in it; an address where it is not known
  std::uint64_t bytes = 0, pitch = 0;
  std::uint32_t rows = 1;
  std::uint16_t device = 0;
  bool on_device = false, writes = false;
  std::uintptr_t address = 0;  // of the first byte; others may have had it before
  std::uint64_t room = 0;      // how much is there as the call was told (destMax); 0: it was not
  std::uint64_t left = 0;      // from there to the end of what was asked for; 0: look closer
};

// Between memory that belay does not know and the inside of one block, in the direction that its kind states
// (one more than aclrtMemcpyKind; 0: none). Where the call worked, that other memory is the program's.
constexpr bool is_plain_copy(const Touch& to, const Touch& from, std::uint32_t kind) {
  constexpr std::uint32_t kToDevice = 2, kToHost = 3;
  if (to.on_device ? kind != kToDevice || from.on_device : kind != kToHost || !from.on_device) return false;
  const Touch &inside = to.on_device ? to : from, &other = to.on_device ? from : to;
  return inside.bytes <= inside.left && inside.room <= inside.left && other.extent == 0;
}

// An event as a listener gets it.
struct Told {
  const Event& event;
  const Details* details;  // null: none
  std::span<const Touch> touches;
  std::string_view text;
};

}  // namespace belay::observe
