#include "runtime/exceptions.h"

#include <algorithm>

#include "observe/observe.h"
#include "platform/threads.h"

namespace belay {

void Exceptions::set(aclrtExceptionInfoCallback callback) {
  const std::lock_guard lock{mutex_};
  one_ = callback;
}

void Exceptions::add(aclrtExceptionInfoCallback callback) {
  const std::lock_guard lock{mutex_};
  if (std::ranges::find(registered_, callback) == registered_.end()) registered_.push_back(callback);
}

void Exceptions::remove(aclrtExceptionInfoCallback callback) {
  const std::lock_guard lock{mutex_};
  std::erase(registered_, callback);
}

// Outside the lock: a callback may change the list. One that throws keeps the rest from being called,
// and no more than that.
void Exceptions::tell(const schedule::Failure& failure) const {
  std::vector<aclrtExceptionInfoCallback> now;
  {
    const std::lock_guard lock{mutex_};
    if (one_ != nullptr) now.push_back(one_);
    now.insert(now.end(), registered_.begin(), registered_.end());
  }
  rtExceptionInfo info{failure.task, static_cast<std::uint32_t>(failure.stream),
                       static_cast<std::uint32_t>(failure.thread), failure.device,
                       static_cast<std::uint32_t>(failure.error.code)};
  try {
    for (const aclrtExceptionInfoCallback each : now) each(&info);
  } catch (...) {
    if (platform::thread_ends()) platform::explain_ended_thread("an exception-info callback", "R-226");
    observe::note("R-226", [] { return std::string{"an exception left an exception-info callback"}; });
  }
}

}  // namespace belay
