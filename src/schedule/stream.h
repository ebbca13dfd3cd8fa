// A queue of tasks that run one after the other, and the group of queues that fail together.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "base/error.h"
#include "schedule/task.h"

namespace belay::schedule {

// The streams of one context. With ACL_STOP_ON_FAILURE a failure of one stops all.
struct Group {
  std::uint32_t device = 0;
  // Calls a function of the program for one of its streams, with what such a function finds set up.
  std::function<void(const std::function<void()>&)> call_host = [](const auto& function) { function(); };

  // Only with the lock.
  std::shared_ptr<const Error> stopped;
  const Stream* culprit = nullptr;  // whose task failed
  std::vector<Stream*> members;
  std::shared_ptr<class HostThread> host_thread;
};

struct StreamTraits {
  bool runs = true;           // false: tasks are kept and never run (ACL_STREAM_PERSISTENT, R-130)
  bool takes_work = true;     // false: for the device's own use
  bool is_waited_for = true;  // false: synchronising returns at once
};

inline constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(std::uintptr_t handle_, std::shared_ptr<Group> group_, StreamTraits traits_)
      : handle{handle_}, group{std::move(group_)}, traits{traits_} {}

  // A chain of tasks goes one by one: by itself it would need a stack as deep as it is long.
  ~Stream() {
    while (head) head = std::move(head->next);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const std::uintptr_t handle;
  const std::shared_ptr<Group> group;
  const StreamTraits traits;
  std::uint32_t device() const { return group->device; }

  // What programs ask and set; the runtime keeps it here.
  std::int32_t id = 0;
  std::uint32_t flags = 0;
  bool is_default = false;
  bool holds_place = true;  // of those that the device has
  std::atomic<std::uint32_t> priority{0};
  std::atomic<bool> stop_on_failure{false};
  std::atomic<std::uint32_t> overflow_switch{0}, custom_tag{0}, cache_switch{0};
  std::array<std::atomic<std::int64_t>, 2> core_limits{-1, -1};
  std::atomic<std::uint64_t> destroyer{0};  // the thread that tells callbacks that it will destroy the stream

  bool idle() const {
    return finished.load(std::memory_order_acquire) == submitted.load(std::memory_order_acquire);
  }

  // Only with the lock, where not atomic.
  std::unique_ptr<Task> head;
  Task* tail = nullptr;
  std::atomic<std::uint64_t> submitted{0}, finished{0};
  std::atomic<bool> troubled{false};  // error, here or of the group, may be there to tell
  bool running = false;               // its head is in run()
  bool waiting = false;               // its head answered Wait
  bool ready = false;                 // it stands in the scheduler's list
  bool held =
      false;  // a function of the program that an abort dropped is still running: nothing else may
  bool ended = false;               // destroyed: takes no task any more
  bool clearing = false;            // an abort is under way: what comes now is dropped too
  std::atomic<bool> cancel{false};  // the head is to stop at the next piece
  // Threads that wait for a position of it, and whether it was dropped before it was reached.
  struct Waiter {
    std::uint64_t position;
    bool dropped = false;
  };
  std::vector<Waiter*> waiters;
  std::shared_ptr<const Error> error;  // of the first task that failed and was not told yet
  std::uint64_t error_position = 0;
  std::condition_variable arrived;
  std::uint64_t wanted = kNobody;  // the first position that somebody sleeps for
  Stream *ready_before = nullptr, *ready_after = nullptr;

  // Host callbacks: the two ways do not mix on one stream.
  bool uses_host_functions = false;
  std::size_t calls_inside = 0;                  // functions of the program that run now
  std::shared_ptr<class Subscriber> subscriber;  // the thread that subscribed
  std::uint64_t subscriptions = 0;  // so far: a callback belongs to the one under which it was launched
};

}  // namespace belay::schedule
