// Who runs when.
//
// Streams run concurrently on a few workers, each stream in order. There is no thread per stream and
// nobody polls: an idle process sleeps. Everything that decides is under one lock; what takes time, copying
// and the program's own functions, is done without it.
//
// Who calls for work:
//   eager, fifo   the workers, as soon as there is some; a thread that waits for a stream helps with it
//   lazy, seed    the calls of the program: waiting runs what it waits for, and with a seed any call may run
//                 anything. No worker takes part, so the order depends only on the calls and the seed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/size.h"
#include "platform/threads.h"
#include "schedule/policy.h"
#include "schedule/stream.h"
#include "schedule/task.h"

namespace belay::schedule {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Deadline = std::optional<Time>;

// A task that failed, told before anybody who waits can see it.
struct Failure {
  const Error& error;
  std::uint32_t task;
  std::int32_t stream, thread;
  std::uint32_t device;
};

enum class Arrival : std::uint8_t {
  Reached,
  TimedOut,
  Cleared,      // what was waited for was dropped by an abort
  Stopped,      // the group has stopped: it will never be done
  Ended,        // the stream was destroyed meanwhile
  OwnCallback,  // the caller is a callback of that very stream and would wait for itself
};

// Marks that the calling thread is in a function of the program that a stream called.
class InsideCallback {
 public:
  InsideCallback(Stream& stream, std::uint64_t position);
  ~InsideCallback();
  InsideCallback(const InsideCallback&) = delete;
  InsideCallback& operator=(const InsideCallback&) = delete;
  static Stream* of_this_thread();

 private:
  Stream* before_;
  observe::InCallback told_;
};

// Where news of other processes arrive (runtime/shared_signals.h). A thread that waits for a stream sleeps
// there itself, where that is what the stream waits for: so that one thread is woken and not two.
class Outside {
 public:
  virtual ~Outside() = default;
  // Sleeps there, then does what is to be done about the news. False: none can come, or another thread sleeps
  // there.
  virtual bool sleep(Lock& lock) = 0;
  virtual void wake() = 0;             // whoever sleeps there
  virtual void leave(Lock& lock) = 0;  // the thread will not come back to sleep there
};

class Scheduler {
 public:
  using Told = std::function<void(const Failure&)>;
  // Whether any function of the program runs whose stream has ended.
  using StrayCalls = std::function<void(bool)>;
  Scheduler(Policy policy, Told failed, StrayCalls strays);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Lock lock() { return Lock{mutex_.get()}; }
  const Policy& policy() const { return policy_; }

  // --- streams ---
  std::shared_ptr<Stream> open(std::uintptr_t handle, const std::shared_ptr<Group>& group,
                               StreamTraits traits);
  void end(Stream& stream, Lock& lock);  // drops what is left; a head that runs may finish

  // Queues a task. Refused where the stream is destroyed, its group stopped or its device being aborted.
  // `position`: where it stands in its stream.
  Status submit(Stream& stream, std::unique_ptr<Task> task, std::uint64_t* position = nullptr);

  std::uint32_t last_task_of_this_thread() const;  // UINT32_MAX before any

  // --- the program waits ---
  Arrival wait(Lock& lock, Stream& stream, std::uint64_t position, Deadline deadline);
  // Asking is no waiting, but must lead somewhere: work that nobody waits for moves on a little.
  void asked(Stream& stream, Lock& lock);
  void asked_for_any(Lock& lock);
  // Until something has changed, or until then; for waits of other kinds. Moves work towards `stream`.
  void wait_for_change(Lock& lock, Stream* stream, Deadline deadline);
  // Somebody beyond this process waits for that position. Where nothing moves by itself, a thread of ours
  // moves it as a thread of the program would that waits for it.
  void demand(Stream& stream, std::uint64_t position, Lock& lock);
  // Until all are done. When nothing in the process can move any more and they still wait, drops them
  // . False: the caller is a callback of one of them.
  bool drain(Lock& lock, std::span<const std::shared_ptr<Stream>> streams);

  // The first error of a stream at or before a position, which is told once.
  std::shared_ptr<const Error> take_error(Stream& stream, std::uint64_t position, Lock& lock);

  // --- taking work back ---
  void clear(Stream& stream, Lock& lock);  // everything; returns when a copy in progress has stopped
  void skip(Stream& stream, Lock& lock);   // only the head
  bool exchange_aborting(std::uint32_t device, bool aborting) { return aborting_[device].exchange(aborting); }
  bool aborting(std::uint32_t device) const { return aborting_[device].load(std::memory_order_relaxed); }

  void set_outside(Outside* outside) { outside_ = outside; }  // with the lock
  static bool this_thread_may_sleep_outside();

  // --- for tasks, with the lock ---
  void release(Stream& stream, std::uint64_t sequence, Lock& lock);  // what its head waited for has come
  void resume(Stream& stream, std::uint64_t sequence, Lock& lock);   // ... and now it has something to run
  void changed(Lock& lock);                                          // something that watchers may wait for
  void call_at(Time time, Stream& stream, Lock& lock, bool moves = false);
  void let_go(Stream& stream, Lock& lock);  // the function that held it has returned
  void host_call_began(Lock&) { ++host_calls_running_; }
  void host_call_ended(Lock&);
  void call_entered(Stream& stream, Lock&) { ++stream.calls_inside; }
  void call_left(Stream& stream, Lock&);
  bool is_driven() const { return driven(); }
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }
  static std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

  // No stream is left: returns when no thread of ours will ask for anything again. False where a thread of
  // the program is still in a function that we called.
  bool retire();
  void host_thread_began(Lock&) { ++host_threads_; }
  void host_thread_ends(Lock& lock) {
    --host_threads_;
    changed(lock);
  }

  // The process exits: workers rest; a thread that still waits moves the work itself.
  void stop_at_exit();

 private:
  struct Timer {
    std::weak_ptr<Stream> stream;
    std::uint64_t sequence;
    bool moves;
  };
  static bool can_go(const Stream& stream) {
    return stream.head && !stream.running && !stream.waiting && !stream.held && stream.traits.runs &&
           !stream.group->stopped;
  }
  bool driven() const { return policy_.driven() || stopping(); }

  void work();
  void work_late();
  void work_on_demand();
  bool wake_worker(Lock& lock);
  // Workers that will look at the list of streams before they sleep: while there is one, nobody is woken.
  std::size_t looking() const { return workers_ - idle_ - busy_ + waking_; }
  void call_for_help(Lock& lock);
  bool look_around(Lock& lock);
  void make_ready(Stream& stream, Lock& lock);
  void remove_ready(Stream& stream);
  Stream* oldest() const;
  Stream* toward(Stream& stream) const;
  bool step_for(Stream& stream, Lock& lock, Deadline deadline);
  bool step_at_random(Lock& lock);
  void turn(Stream& stream, Lock& lock, unsigned tasks, std::size_t piece);
  RunResult run_pieces(Stream& stream, Task& task, std::size_t piece);
  std::shared_ptr<const Error> error_of(RunResult& result, const Stream& stream, const Task& task);
  void tell_failure(Stream& stream, std::uint64_t position, const Failure& failure);
  void fail(Stream& stream, const Task& task, std::shared_ptr<const Error> error, Lock& lock);
  void finish(Stream& stream, Lock& lock, observe::What how = observe::What::Done);
  void drop_queue(Stream& stream, Lock& lock);
  void drop_task(Stream& stream, std::unique_ptr<Task> task, Lock& lock);
  void fire_due(Lock& lock);
  void settle(Lock& lock);
  enum class Hope : std::uint8_t { None, MayCome, Comes };  // for what a stream waits for
  static Hope hope_of(const Stream& stream);
  static bool needs_this_thread(const Stream& stream, std::uint64_t position);
  bool nothing_moves() const;
  void forget_host_call(const Task& task) { late_calls_.erase(task.sequence); }

  const Policy policy_;
  const Told failed_;
  // What a task fails with when there is no memory to say so; made while there is.
  const std::shared_ptr<const Error> no_memory_{
      out_of_memory("R-16", "the host has no memory left for this task", "", "free host memory")};
  const StrayCalls strays_;
  std::size_t stray_calls_ = 0;
  platform::SpinningMutex mutex_;
  Dice dice_;
  std::uint64_t moves_ = 0;  // grows with whatever happens

  Stream* ready_first_ = nullptr;  // streams that can go, in the order in which they came
  Stream* ready_last_ = nullptr;
  std::atomic<std::size_t> ready_count_{0};  // changed with the lock, looked at without
  std::size_t running_ = 0, host_calls_running_ = 0, delays_ = 0;
  std::multimap<Time, Timer> timers_;
  std::map<std::uint64_t, Stream*> late_calls_;  // driven: functions of the program that wait to be reached

  void tell_arrived(Stream& stream);

  Outside* outside_ = nullptr;
  Stream* slept_for_ = nullptr;  // there, by a thread that then helps with it

  struct Demand {
    std::weak_ptr<Stream> stream;
    std::uint64_t position;
  };
  std::vector<Demand> demands_;
  std::condition_variable demanded_;

  std::condition_variable work_;     // for workers
  std::condition_variable changed_;  // for watchers
  std::condition_variable late_;
  std::size_t watchers_ = 0;
  std::size_t workers_ = 0, idle_ = 0, busy_ = 0,
              waking_ = 0;  // all, asleep, in run(), called but not up yet
  std::size_t host_threads_ = 0;
  bool late_started_ = false, demand_started_ = false;
  bool retiring_ = false;
  bool somebody_looks_around_ = false;
  const bool worth_spinning_;
  std::atomic<bool> stopping_{false};
  std::array<std::atomic<bool>, 64> aborting_{};
};

}  // namespace belay::schedule
