#include "schedule/event_record.h"

#include <utility>

namespace belay::schedule {

void EventRecord::finish(Scheduler& scheduler, Lock& lock) {
  complete = true;
  time_ns = Scheduler::now_ns();
  for (Stream* each : std::exchange(waiting, {})) scheduler.release(*each, each->head->sequence, lock);
}

void RemoteRecord::lose(Scheduler& scheduler, Lock& lock) {
  lost = true;
  for (Stream* each : std::exchange(waiting, {})) scheduler.resume(*each, each->head->sequence, lock);
  scheduler.changed(lock);
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
  late_ = true;
  return Next::Run;
}

void WaitTask::drop(Scheduler&, Stream& stream, Lock&) { std::erase(waiting(), &stream); }

RunResult WaitTask::run(std::size_t) {
  if (!late_) return {false, why_lost()};
  return {false, refuse({ACL_ERROR_RT_TASK_TIMEOUT, rule_, "EE1002",
                         fmt::format("the wait for {} timed out after {} s", for_what_, seconds_), "",
                         "check that what the stream waits for is recorded, or allow more time"})};
}

Next AwaitRemoteTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  record_->look(lock);
  if (record_->lost) return Next::Run;
  const Next what = AwaitTask::begin(scheduler, stream, lock);
  if (what == Next::Wait) record_->demand(lock);
  return what;
}

bool NotifyState::take() { return shared != nullptr ? shared->take() : std::exchange(set, false); }

void NotifyState::put(bool value) {
  if (shared == nullptr) {
    set = value;
  } else if (value) {
    shared->set();
  } else {
    (void)shared->take();
  }
}

void NotifyState::look_again(Scheduler& scheduler, Lock& lock) {
  if (waiting.empty()) return;
  while (!waiting.empty() && take()) {
    Stream* first = waiting.front();
    waiting.erase(waiting.begin());
    scheduler.release(*first, first->head->sequence, lock);
  }
  if (shared == nullptr) return;
  if (!waiting.empty()) {
    const Refusal lost = shared->why_lost(lock);
    if (lost == nullptr) return;
    for (Stream* each : std::exchange(waiting, {})) {
      static_cast<AwaitNotifyTask&>(*each->head).lost_ = std::make_unique<Error>(*lost);
      scheduler.resume(*each, each->head->sequence, lock);
    }
  }
  shared->await(false, lock);
}

Next SetNotifyTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  tell_done(stream, *this);
  state_->put(true);
  state_->look_again(scheduler, lock);
  return Next::Finished;
}

// Others may set a shared one at any moment: so it is looked at once more when they know that we wait.
Next AwaitNotifyTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  const Next what = WaitTask::begin(scheduler, stream, lock);
  if (what != Next::Wait || state_->shared == nullptr) return what;
  state_->shared->await(true, lock);
  const bool came = take();
  if (!came) lost_ = state_->shared->why_lost(lock);
  if (!came && lost_ == nullptr) return what;
  drop(scheduler, stream, lock);
  return came ? Next::Finished : Next::Run;
}

Next AwaitNotifyTask::due(Scheduler& scheduler, Stream& stream, Lock& lock) {
  const Next what = WaitTask::due(scheduler, stream, lock);
  if (state_->shared != nullptr && state_->waiting.empty()) state_->shared->await(false, lock);
  return what;
}

void AwaitNotifyTask::drop(Scheduler& scheduler, Stream& stream, Lock& lock) {
  WaitTask::drop(scheduler, stream, lock);
  if (state_->shared != nullptr && state_->waiting.empty()) state_->shared->await(false, lock);
}

}  // namespace belay::schedule
