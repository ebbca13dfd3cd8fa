// Functions that hear of tasks that failed (R-223 ... R-229).
#pragma once

#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "schedule/scheduler.h"

// What the program gets a pointer to, for the time of the call.
struct rtExceptionInfo {
  std::uint32_t task, stream, thread, device, code;
};

namespace belay {

class Exceptions {
 public:
  void set(aclrtExceptionInfoCallback callback);
  void add(aclrtExceptionInfoCallback callback);
  void remove(aclrtExceptionInfoCallback callback);
  void tell(const schedule::Failure& failure) const;

 private:
  mutable std::mutex mutex_;
  aclrtExceptionInfoCallback one_ = nullptr;
  std::vector<aclrtExceptionInfoCallback> registered_;
};

}  // namespace belay
