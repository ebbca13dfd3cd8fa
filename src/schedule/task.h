// One piece of work that a stream does in its turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "observe/observe.h"

namespace belay::schedule {

class Scheduler;
class Stream;
using Lock = std::unique_lock<std::mutex>;  // of the scheduler; passed where it must be held

// What the head of a stream needs next.
enum class Next : std::uint8_t {
  Run,       // call run() without the lock
  Finished,  // nothing: it is done
  Wait,      // somebody will call Scheduler::release, or its time comes
};

// Who calls the code of the program that a task waits for.
enum class Caller : std::uint8_t {
  Nobody,  // that we know of
  Expected,
  OnItsWay,  // in our code, and only needs a processor
};

struct RunResult {
  bool more = false;       // a part is done, the rest is still to do
  Refusal trouble;         // the task has failed
  bool no_memory = false;  // ... because the heap is used up, so that there are no words
};

// What a task does, for those who listen.
struct Description {
  observe::Operation operation = observe::Operation::None;
  std::uint64_t bytes = 0;
  observe::Details details;
  std::vector<observe::Touch> touches;
};

// Who a task is, and where it came from.
struct TaskFacts {
  std::uint64_t sequence = 0;                // never used again; later ones are larger
  std::uint64_t position = 0;                // in its stream, from 1
  std::int32_t thread = 0;                   // that submitted it
  std::uint32_t site = 0;                    // from where
  const char* api = "";                      // with which function
  std::shared_ptr<Description> description;  // where somebody listens

  std::uint32_t id() const { return static_cast<std::uint32_t>(sequence); }
};
void tell(observe::What what, const Stream& stream, const TaskFacts& task, std::int32_t outcome = 0);

class Task : public TaskFacts {
 public:
  virtual ~Task() = default;
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Asked by the thread that submits it, before it does.
  virtual Description describe() { return {}; }
  // At the head of its stream, once.
  virtual Next begin(Scheduler&, Stream&, Lock&) { return Next::Run; }
  // Does at most about that many bytes of it.
  virtual RunResult run(std::size_t /*at_most*/) { return {}; }
  // The time that it asked for has come (Scheduler::call_at).
  virtual Next due(Scheduler&, Stream&, Lock&) { return Next::Run; }
  // It leaves its stream unfinished: begun or not, it must not be waited for by anybody any more.
  virtual void drop(Scheduler&, Stream&, Lock&) {}
  // It has left its stream, finished, failed or dropped: the last call to it.
  virtual void leave(Lock&) {}
  // Runs code of the program, which may wait for it outside of our calls.
  virtual bool calls_host() const { return false; }
  // ... and that code is being run now.
  virtual bool executing() const { return false; }
  // ... or a thread of the program is on its way to it, or may come, as it said when it subscribed.
  virtual Caller caller() const { return Caller::Nobody; }
  // The stream on which what it waits for will happen, where that is known.
  virtual Stream* waits_for() const { return nullptr; }
  // The state of a notify that it sets.
  virtual const void* sets() const { return nullptr; }

  std::unique_ptr<Task> next;
  bool begun = false;
  bool told_done = false;
};
// For tasks that let others go on, before they do: listeners hear of a record before the waits that it ends.
void tell_done(const Stream& stream, Task& task);

}  // namespace belay::schedule
