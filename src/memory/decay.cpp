#include "memory/decay.h"

#include <chrono>
#include <new>

#include "platform/threads.h"

namespace belay {

void Decay::watch(State& state) {
  for (;;) {
    state.kept_more.wait(false);
    std::unique_lock lock{state.mutex};
    while (!state.stopped && state.kept_more.exchange(false))
      state.stopping.wait_for(lock, std::chrono::seconds{1}, [&] { return state.stopped; });
    if (state.stopped) return;
    state.drop();
  }
}

void Decay::begin() {
  if (state_->kept_more.exchange(true)) return;
  if (!state_->started.exchange(true)) {
    // Without a thread nothing decays, and what is kept stays bounded.
    try {
      platform::start_thread("belay-decay", [state = state_] { watch(*state); });
    } catch (const std::bad_alloc&) {
      return;
    }
  } else {
    state_->kept_more.notify_one();
  }
}

void Decay::stop() {
  {
    const std::lock_guard lock{state_->mutex};
    state_->stopped = true;
  }
  state_->stopping.notify_one();
  state_->kept_more.store(true);
  state_->kept_more.notify_one();
}

}  // namespace belay
