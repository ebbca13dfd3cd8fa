// A listener that keeps all it hears, for tests.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "observe/observe.h"

namespace belay_test {

struct Heard {
  belay::observe::Event event;
  belay::observe::Details details;
  std::vector<belay::observe::Touch> touches;
  std::string text;
  bool is(belay::observe::What what) const { return event.what == what; }
};

// One at a time of each kind: a listener that wants it at once, and one that can wait, are not the same one
// (observe::Wish).
template <bool kAtOnce>
class RecorderOf {
 public:
  static constexpr belay::observe::Mask kAll = ~belay::observe::bit(belay::observe::What::Gap) & 0x7FFFFFFF;
  explicit RecorderOf(belay::observe::Wish wish = {.wanted = kAll}) {
    wish.at_once = kAtOnce;
    heard_.clear();
    belay::observe::listen(hear, wish);
  }
  ~RecorderOf() { belay::observe::unlisten(hear); }
  RecorderOf(const RecorderOf&) = delete;
  RecorderOf& operator=(const RecorderOf&) = delete;

  // Everything until now, and from now on again.
  std::vector<Heard> take() {
    belay::observe::flush();
    const std::lock_guard lock{mutex_};
    return std::exchange(heard_, {});
  }

 private:
  static void hear(const belay::observe::Batch& batch) {
    const std::lock_guard lock{mutex_};
    batch.each([](const belay::observe::Told& told) {
      heard_.push_back({told.event,
                        told.details == nullptr ? belay::observe::Details{} : *told.details,
                        {told.touches.begin(), told.touches.end()},
                        std::string{told.text}});
    });
  }
  static inline std::mutex mutex_;
  static inline std::vector<Heard> heard_;
};
using Recorder = RecorderOf<false>;

inline std::vector<Heard> only(const std::vector<Heard>& all, belay::observe::Mask mask) {
  std::vector<Heard> some;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [&](const Heard& each) { return (belay::observe::bit(each.event.what) & mask) != 0; });
  return some;
}

}  // namespace belay_test
