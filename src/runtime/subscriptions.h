// Which thread of the program fetches the callbacks of which stream (R-189 ... R-197).
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/result.h"
#include "schedule/host_calls.h"

namespace belay {

class Subscriptions {
 public:
  Status add(schedule::Scheduler& scheduler, std::uint64_t thread, schedule::Stream& stream);
  Status remove(schedule::Scheduler& scheduler, std::uint64_t thread, schedule::Stream& stream);
  void drop(schedule::Scheduler& scheduler, schedule::Stream& stream,
            schedule::Lock& lock);  // with its stream
  Status process(schedule::Scheduler& scheduler, std::uint64_t thread, schedule::Deadline deadline);

 private:
  static constexpr std::size_t kMostThreads = 1024;
  std::map<std::uint64_t, std::shared_ptr<schedule::Subscriber>> subscribers_;  // with the scheduler's lock
};

}  // namespace belay
