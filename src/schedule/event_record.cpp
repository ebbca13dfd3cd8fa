#include "schedule/event_record.h"

#include <utility>

namespace belay::schedule {
namespace {

Refusal waited_too_long(const char* rule, const char* for_what, std::uint32_t seconds) {
  return refuse({ACL_ERROR_RT_TASK_TIMEOUT, rule, "EE1002",
                 fmt::format("it waited {} s for {}, which did not come", seconds, for_what), "",
                 "check that what the stream waits for is recorded, or allow more time"});
}

void call_after(Scheduler& scheduler, Stream& stream, Lock& lock, std::uint32_t seconds) {
  if (seconds != 0) scheduler.call_at(Clock::now() + std::chrono::seconds{seconds}, stream, lock);
}

}  // namespace

void EventRecord::finish(Scheduler& scheduler, Lock& lock) {
  complete = true;
  time_ns = Scheduler::now_ns();
  for (Stream* each : std::exchange(waiting, {})) scheduler.release(*each, each->head->sequence, lock);
}

Next RecordTask::begin(Scheduler& scheduler, Stream&, Lock& lock) {
  record_->finish(scheduler, lock);
  return Next::Finished;
}

// Complete all the same, so that nobody hangs.
void RecordTask::drop(Scheduler& scheduler, Stream&, Lock& lock) {
  record_->dropped = true;
  record_->finish(scheduler, lock);
}

Next AwaitTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  if (record_->complete) return Next::Finished;
  record_->waiting.push_back(&stream);
  call_after(scheduler, stream, lock, seconds_);
  return Next::Wait;
}

Next AwaitTask::due(Scheduler&, Stream& stream, Lock&) {
  std::erase(record_->waiting, &stream);
  return Next::Run;
}

RunResult AwaitTask::run(std::size_t) { return {false, waited_too_long("R-173", "an event", seconds_)}; }

void AwaitTask::drop(Scheduler&, Stream& stream, Lock&) { std::erase(record_->waiting, &stream); }

Next SetNotifyTask::begin(Scheduler& scheduler, Stream&, Lock& lock) {
  if (state_->waiting.empty()) {
    state_->set = true;
  } else {
    Stream* first = state_->waiting.front();
    state_->waiting.erase(state_->waiting.begin());
    scheduler.release(*first, first->head->sequence, lock);
  }
  return Next::Finished;
}

Next AwaitNotifyTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  if (std::exchange(state_->set, false)) return Next::Finished;
  state_->waiting.push_back(&stream);
  call_after(scheduler, stream, lock, seconds_);
  return Next::Wait;
}

Next AwaitNotifyTask::due(Scheduler&, Stream& stream, Lock&) {
  std::erase(state_->waiting, &stream);
  return Next::Run;
}

RunResult AwaitNotifyTask::run(std::size_t) {
  return {false, waited_too_long("R-209", "a notify", seconds_)};
}

void AwaitNotifyTask::drop(Scheduler&, Stream& stream, Lock&) { std::erase(state_->waiting, &stream); }

}  // namespace belay::schedule
