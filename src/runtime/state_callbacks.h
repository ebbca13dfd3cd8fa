// Functions that programs register by name to hear of device state changes.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"

namespace belay {

class StateCallbacks {
 public:
  Status set(const char* name, aclrtDeviceStateCallback callback, void* args) {
    const std::lock_guard lock{mutex_};
    if (callback == nullptr) {
      entries_.erase(name);
      return done();
    }
    if (!entries_.emplace(name, std::pair{callback, args}).second) {
      return rejected("R-98", "regName", name, "a callback of that name is registered already",
                      "unregister it first by passing a NULL callback");
    }
    return done();
  }

  // On the calling thread, outside the lock: a callback may register others.
  void tell(std::uint32_t device, aclrtDeviceState state) const {
    std::vector<std::pair<aclrtDeviceStateCallback, void*>> now;
    {
      const std::lock_guard lock{mutex_};
      for (const auto& [name, entry] : entries_) now.push_back(entry);
    }
    for (const auto& [callback, args] : now) callback(static_cast<int32_t>(device), state, args);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::pair<aclrtDeviceStateCallback, void*>> entries_;
};

}  // namespace belay
