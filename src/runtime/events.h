// Events: three kinds that differ in what a wait before any record means, and in when they can be used again.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "machine/shares.h"
#include "product/product.h"
#include "runtime/handles.h"
#include "schedule/count_state.h"
#include "schedule/event_record.h"

namespace belay {

struct SharedEvent;

struct Event {
  enum class Kind : std::uint8_t { Plain, Flagged, Ex };  // by the function that made it

  Event(Kind of, std::uint32_t with, std::uint32_t on_device) : kind{of}, flags{with}, device{on_device} {}

  const Kind kind;
  const std::uint32_t flags;
  const std::uint32_t device;

  bool synchronises() const {
    return (flags & (ACL_EVENT_SYNC | ACL_EVENT_IPC | 0x4U)) != 0;
  }  // 0x4: an inner variant
  bool keeps_time() const { return (flags & ACL_EVENT_TIME_LINE) != 0; }
  bool only_on_device() const { return (flags & ACL_EVENT_DEVICE_USE_ONLY) != 0; }
  bool is_external() const { return (flags & ACL_EVENT_EXTERNAL) != 0; }

  // For several processes. It has the latest record then.
  std::shared_ptr<SharedEvent> shared;
  Handle handle = 0;
  std::mutex publishing;
  std::optional<machine::Secret> key;  // of the handle that this process gave away
  bool opened = false;                 // it is another process's

  // Only with the scheduler's lock.
  std::shared_ptr<schedule::EventRecord> latest;    // null: not recorded, or reset
  std::shared_ptr<schedule::EventRecord> promised;  // what a wait before the next record waits for
  bool reset_called = false;                        // waits from here on bind to the next record
  std::uint64_t waits = 0;                          // queued and not passed yet
  std::optional<std::uint32_t> number;              // the hardware's, as last held
  std::optional<std::uint32_t> sticky_flag;         // of the ...WithFlag calls
};
using EventRef = std::shared_ptr<Event>;

struct Notify {
  Notify(Handle of, std::uint32_t on_device, std::uint32_t with)
      : handle{of}, device{on_device}, number{with} {}
  Handle handle;
  std::uint32_t device, number;
  std::shared_ptr<schedule::NotifyState> state = std::make_shared<schedule::NotifyState>();
  bool opened = false;  // it is another process's, and so is the number
  // Its key for other processes.
  std::mutex publishing{};
  std::optional<machine::Secret> key{};
  bool checking = true;  // who imports it
};
using NotifyRef = std::shared_ptr<Notify>;

struct CountNotify {
  Handle handle;
  std::uint32_t device, number;
  std::shared_ptr<schedule::CountState> state = std::make_shared<schedule::CountState>();
};
using CountNotifyRef = std::shared_ptr<CountNotify>;

// What exists, and which numbers of the hardware are in use.
struct Events {
  Events(const ProductRow& product, std::uint32_t devices)
      : limit{product.events},
        notify_limit{product.notifies},
        numbers(devices),
        notify_numbers(devices),
        count_numbers(devices) {
    for (Numbers& each : numbers) each.set_limit(limit);
    for (Numbers& each : notify_numbers) each.set_limit(notify_limit);
    for (Numbers& each : count_numbers) each.set_limit(notify_limit);
  }
  std::uint32_t limit, notify_limit;
  HandleTable<Event> events;
  std::vector<Numbers> numbers;
  HandleTable<Notify> notifies;
  std::vector<Numbers> notify_numbers;
  HandleTable<CountNotify> counts;
  std::vector<Numbers> count_numbers;
  std::atomic<std::uint32_t> wait_timeout{0};  // seconds, of later aclrtStreamWaitEvent calls
};

}  // namespace belay
