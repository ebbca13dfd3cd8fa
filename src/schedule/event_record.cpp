#include "schedule/event_record.h"

#include <utility>

namespace belay::schedule {

void EventRecord::finish(Scheduler& scheduler, Lock& lock) {
  complete = true;
  time_ns = Scheduler::now_ns();
  for (Stream* each : std::exchange(waiting, {})) scheduler.release(*each, each->head->sequence, lock);
}

Next RecordTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  tell_done(stream, *this);
  record_->finish(scheduler, lock);
  return Next::Finished;
}

// Complete all the same, so that nobody hangs.
void RecordTask::drop(Scheduler& scheduler, Stream&, Lock& lock) {
  record_->dropped = true;
  record_->finish(scheduler, lock);
}

Next WaitTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  if (take()) return Next::Finished;
  // The timer first: if there is no memory for it, nobody must find the stream among those that wait.
  if (seconds_ != 0) scheduler.call_at(Clock::now() + std::chrono::seconds{seconds_}, stream, lock);
  waiting().push_back(&stream);
  return Next::Wait;
}

Next WaitTask::due(Scheduler&, Stream& stream, Lock&) {
  std::erase(waiting(), &stream);
  return Next::Run;
}

void WaitTask::drop(Scheduler&, Stream& stream, Lock&) { std::erase(waiting(), &stream); }

RunResult WaitTask::run(std::size_t) {
  return {false, refuse({ACL_ERROR_RT_TASK_TIMEOUT, rule_, "EE1002",
                         fmt::format("the wait for {} timed out after {} s", for_what_, seconds_), "",
                         "check that what the stream waits for is recorded, or allow more time"})};
}

Next SetNotifyTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  tell_done(stream, *this);
  if (state_->waiting.empty()) {
    state_->set = true;
  } else {
    Stream* first = state_->waiting.front();
    state_->waiting.erase(state_->waiting.begin());
    scheduler.release(*first, first->head->sequence, lock);
  }
  return Next::Finished;
}

}  // namespace belay::schedule
