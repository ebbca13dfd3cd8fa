// Functions of the program, called in the order of a stream.
//
// Two ways that do not mix on one stream: a thread of the runtime calls them (aclrtLaunchHostFunc,
// one thread for a context), or a thread of the program fetches them (aclrtProcessReport).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "schedule/scheduler.h"

namespace belay::schedule {

using HostFunction = void (*)(void*);

// Told of each callback that will never be called, because its stream or its subscription ended first. Told
// with the lock held: it must neither wait nor call back.
using ToldOfDropped = void (*)(HostFunction function, void* argument);
inline std::atomic<ToldOfDropped> g_told_of_dropped{nullptr};

// One function to call, shared by the task and by the thread that will call it.
struct HostCall {
  HostFunction function;
  void* argument;
  std::shared_ptr<Stream> stream;
  TaskFacts task;
  bool blocks = true;  // the stream goes on only when it has returned
  // Only with the lock.
  bool executing = false;
  bool dropped = false;
  bool owed = false;  // somebody wants to know if it is never called

  ~HostCall() {
    if (owed) tell_dropped(function, argument);
  }
  static void tell_dropped(HostFunction function, void* argument) {
    if (const ToldOfDropped told = g_told_of_dropped.load(std::memory_order_acquire))
      told(function, argument);
  }

  // Calls it, without the lock. An exception that leaves it ends the program, in words.
  void call() const;
};

// The function, its argument, and whether its stream waits for it.
inline Description described(observe::Operation operation, HostFunction function, void* argument,
                             bool blocks) {
  return {operation,
          0,
          {.object = reinterpret_cast<std::uintptr_t>(function),
           .value = reinterpret_cast<std::uintptr_t>(argument),
           .flag = blocks ? 1U : 0U},
          {}};
}

// Runs the host functions of one group, one after the other.
class HostThread : public std::enable_shared_from_this<HostThread> {
 public:
  explicit HostThread(Scheduler& scheduler) : scheduler_{scheduler} {}
  bool post(std::shared_ptr<HostCall> call, const std::shared_ptr<Group>& group, Lock& lock);
  void close(Lock&);  // ends when nothing is left to do

 private:
  void serve(const std::shared_ptr<Group>& group);
  Scheduler& scheduler_;
  std::deque<std::shared_ptr<HostCall>> calls_;
  std::condition_variable came_;
  bool started_ = false, closed_ = false;
};

class HostFunctionTask : public Task {
 public:
  HostFunctionTask(HostFunction function, void* argument) : function_{function}, argument_{argument} {}
  Description describe() override {
    return described(observe::Operation::HostFunction, function_, argument_, true);
  }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  RunResult run(std::size_t) override;
  void drop(Scheduler& scheduler, Stream&, Lock& lock) override;
  bool calls_host() const override { return true; }
  bool executing() const override { return call_ != nullptr; }

 private:
  HostFunction function_;
  void* argument_;
  std::shared_ptr<HostCall> call_;
};

// A thread of the program that subscribed to streams, and what it has to call.
class Subscriber {
 public:
  Subscriber(std::uint64_t of_thread, std::uint32_t on_device) : thread{of_thread}, device{on_device} {}
  const std::uint64_t thread;  // pthread_self() of it
  const std::uint32_t device;
  // Only with the lock.
  std::vector<Stream*> streams;
  std::deque<std::shared_ptr<HostCall>> calls;
  std::condition_variable came;
  std::size_t inside = 0;  // aclrtProcessReport
};

class CallbackTask : public Task {
 public:
  CallbackTask(HostFunction function, void* argument, bool blocks, std::uint64_t subscription)
      : function_{function}, argument_{argument}, blocks_{blocks}, subscription_{subscription} {}
  ~CallbackTask() override {  // without a position it was never accepted, which its caller was told
    if (position != 0 && call_ == nullptr) HostCall::tell_dropped(function_, argument_);
  }
  Description describe() override {
    return described(observe::Operation::Callback, function_, argument_, blocks_);
  }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  void drop(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  bool calls_host() const override { return true; }
  bool executing() const override { return call_ != nullptr && call_->executing; }
  Caller caller() const override;

 private:
  HostFunction function_;
  void* argument_;
  bool blocks_;
  std::uint64_t subscription_;
  std::shared_ptr<HostCall> call_;
};

// Takes a stream away from its subscriber; what is still to be called is dropped, and the stream goes on
//
void unsubscribe(Scheduler& scheduler, Stream& stream, Lock& lock);

enum class Fetched : std::uint8_t { Called, NotSubscribed, TimedOut };
// Calls what is ready, on this thread, in order.
Fetched fetch_calls(Scheduler& scheduler, const std::shared_ptr<Subscriber>& subscriber, Deadline deadline,
                    Lock& lock);

}  // namespace belay::schedule
