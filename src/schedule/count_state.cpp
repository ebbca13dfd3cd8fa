#include "schedule/count_state.h"

namespace belay::schedule {

void CountState::look_again(Scheduler& scheduler, Lock& lock) {
  for (std::size_t i = 0; i < waiting.size();) {
    Stream& stream = *waiting[i];
    const std::uint32_t before = count;
    if (!static_cast<AwaitCountTask&>(*stream.head).take()) {
      ++i;
      continue;
    }
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    scheduler.release(stream, stream.head->sequence, lock);
    if (count != before) i = 0;  // cleared, which those before it may wait for
  }
}

Next ChangeCountTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  tell_done(stream, *this);
  state_->count = changed_count(state_->count, value_, mode_);
  state_->look_again(scheduler, lock);
  return Next::Finished;
}

bool AwaitCountTask::take() {
  if (!count_reached(state_->count, value_, mode_)) return false;
  if (then_ == Then::Clear) state_->count = 0;
  return true;
}

Next AwaitCountTask::begin(Scheduler& scheduler, Stream& stream, Lock& lock) {
  const Next what = WaitTask::begin(scheduler, stream, lock);
  if (what == Next::Finished && then_ == Then::Clear) state_->look_again(scheduler, lock);
  return what;
}

}  // namespace belay::schedule
