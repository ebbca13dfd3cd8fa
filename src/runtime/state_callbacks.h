// Functions that programs register by name to hear of changes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

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
    if (!entries_.emplace(name, Entry{callback, args, registrations_ + 1}).second) {
      return rejected(rule, "regName", name, "a callback of that name is registered already",
                      "unregister it first by passing a NULL callback");
    }
    ++registrations_;
    return done();
  }

  // Calls, on this thread, what is registered now and still is when its turn comes. Without the lock: a
  // callback may register and unregister, and may wait for a thread that does.
  template <class Call>
  void call_each(Call&& call) const {
    const observe::CallOfProgram made;
    std::unique_lock lock{mutex_};
    const std::uint64_t newest = registrations_;
    for (auto each = entries_.begin(); each != entries_.end();) {
      const auto [name, entry] = *each;
      if (entry.number <= newest) {
        lock.unlock();
        call(entry.callback, entry.args);
        lock.lock();
      }
      each = entries_.upper_bound(name);
    }
  }

 private:
  struct Entry {
    Callback callback;
    void* args;
    std::uint64_t number;  // rises from registration to registration
  };
  mutable std::mutex mutex_;
  std::uint64_t registrations_ = 0;
  std::map<std::string, Entry> entries_;
};

struct StateCallbacks {
  NamedCallbacks<aclrtDeviceStateCallback> device;
  NamedCallbacks<aclrtStreamStateCallback> stream;
  NamedCallbacks<aclrtDeviceTaskAbortCallback> task_abort;

  void tell(std::uint32_t id, aclrtDeviceState state) const {
    device.call_each([&](aclrtDeviceStateCallback callback, void* args) {
      callback(static_cast<int32_t>(id), state, args);
    });
  }
  void tell(aclrtStream handle, aclrtStreamState state) const {
    stream.call_each([&](aclrtStreamStateCallback callback, void* args) { callback(handle, state, args); });
  }
};

}  // namespace belay
