// Gives kept memory back once nothing has been kept for a second.
//
// A thread of our own sleeps until something is kept, and then until a whole second has passed in which
// nothing more was. It starts with the first thing kept.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace belay {

class Decay {
 public:
  explicit Decay(std::function<void()> drop) : state_{std::make_shared<State>()} {
    state_->drop = std::move(drop);
  }
  Decay(const Decay&) = delete;
  Decay& operator=(const Decay&) = delete;
  ~Decay() { stop(); }

  void note_kept() {
    if (!state_->kept_more.load(std::memory_order_relaxed)) begin();
  }
  void stop();  // nothing is dropped any more when this returns

 private:
  struct State {
    std::atomic<bool> kept_more{false};
    std::atomic<bool> started{false};
    std::mutex mutex;  // held while it drops
    std::condition_variable stopping;
    bool stopped = false;
    std::function<void()> drop;
  };
  static void watch(State& state);
  void begin();

  std::shared_ptr<State> state_;  // the thread's, too: it may wake up after we are gone
};

}  // namespace belay
