// Functions that programs register by name to hear of changes.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "observe/observe.h"

namespace belay {

template <class Callback>
class NamedCallbacks {
 public:
  Status set(const char* rule, const char* name, Callback callback, void* args) {
    const std::lock_guard lock{mutex_};
    if (callback == nullptr) {
      entries_.erase(name);
      return done();
    }
    if (!entries_.emplace(name, std::pair{callback, args}).second) {
      return rejected(rule, "regName", name, "a callback of that name is registered already",
                      "unregister it first by passing a NULL callback");
    }
    return done();
  }

  // To be called on the calling thread, outside the lock: a callback may register others.
  std::vector<std::pair<Callback, void*>> now() const {
    std::vector<std::pair<Callback, void*>> callbacks;
    const std::lock_guard lock{mutex_};
    for (const auto& [name, entry] : entries_) callbacks.push_back(entry);
    return callbacks;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::pair<Callback, void*>> entries_;
};

struct StateCallbacks {
  NamedCallbacks<aclrtDeviceStateCallback> device;
  NamedCallbacks<aclrtStreamStateCallback> stream;
  NamedCallbacks<aclrtDeviceTaskAbortCallback> task_abort;

  void tell(std::uint32_t id, aclrtDeviceState state) const {
    const observe::CallOfProgram made;
    for (const auto& [callback, args] : device.now()) callback(static_cast<int32_t>(id), state, args);
  }
  void tell(aclrtStream handle, aclrtStreamState state) const {
    const observe::CallOfProgram made;
    for (const auto& [callback, args] : stream.now()) callback(handle, state, args);
  }
};

}  // namespace belay
