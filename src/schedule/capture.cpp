#include "schedule/capture.h"

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

void Capture::finish(Scheduler& scheduler, Lock& lock) {
  complete = true;
  time_ns = Scheduler::now_ns();
  for (Stream* each : std::exchange(waiting, {})) scheduler.release(*each, each->head->sequence, lock);
}

Move RecordTask::begin(Scheduler& scheduler, Stream&, Lock& lock) {
  capture_->finish(scheduler, lock);
  return Move::Finished;
}

// Complete all the same, so that nobody hangs.
void RecordTask::drop(Scheduler& scheduler, Stream&, Lock& lock) {
  capture_->dropped = true;
  capture_->finish(scheduler, lock);
}

Move AwaitTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  if (capture_->complete) return Move::Finished;
  capture_->waiting.push_back(&stream);
  call_after(scheduler, stream, lock, seconds_);
  return Move::Wait;
}

Move AwaitTask::due(Scheduler&, Stream& stream, Lock&) {
  std::erase(capture_->waiting, &stream);
  return Move::Run;
}

Ran AwaitTask::run(std::size_t) { return {false, waited_too_long("R-173", "an event", seconds_)}; }

void AwaitTask::drop(Scheduler&, Stream& stream, Lock&) { std::erase(capture_->waiting, &stream); }

Move SetFlagTask::begin(Scheduler& scheduler, Stream&, Lock& lock) {
  if (flag_->waiting.empty()) {
    flag_->set = true;
  } else {
    Stream* first = flag_->waiting.front();
    flag_->waiting.erase(flag_->waiting.begin());
    scheduler.release(*first, first->head->sequence, lock);
  }
  return Move::Finished;
}

Move AwaitFlagTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  if (std::exchange(flag_->set, false)) return Move::Finished;
  flag_->waiting.push_back(&stream);
  call_after(scheduler, stream, lock, seconds_);
  return Move::Wait;
}

Move AwaitFlagTask::due(Scheduler&, Stream& stream, Lock&) {
  std::erase(flag_->waiting, &stream);
  return Move::Run;
}

Ran AwaitFlagTask::run(std::size_t) { return {false, waited_too_long("R-209", "a notify", seconds_)}; }

void AwaitFlagTask::drop(Scheduler&, Stream& stream, Lock&) { std::erase(flag_->waiting, &stream); }

}  // namespace belay::schedule
