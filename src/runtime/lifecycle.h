// aclInit and aclFinalize: a count, a configuration that stays the same for ever, and callbacks (R-23 ...
// ... R-269).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "base/result.h"

namespace belay {

// What a configuration file says that the runtime acts on.
struct InitConfiguration {
  std::string text;
  bool given = false;  // a path was passed
  bool messages_of_process = false;
  std::optional<std::int32_t> default_device;
};

// One lock makes calls come one after the other. It is never held while a function of the program runs: that
// function may wait for a thread that calls us. Whoever comes meanwhile finds `calling_` set, and is answered
// rather than made to wait.
class Lifecycle {
 public:
  // `load` reads the file, `accept` checks it against the machine, `apply` puts it into force once nothing
  // can fail any more. All are skipped on a repeated call.
  using Load = std::function<Result<InitConfiguration>()>;
  using Accept = std::function<Status(const InitConfiguration&)>;
  using Apply = std::function<void(const InitConfiguration&)>;
  Status init(const Load& load, const Accept& accept, const Apply& apply);
  Status finalize();
  Status finalize_reference(std::uint64_t* count_after);

  // Whether aclInit was called, and aclFinalize not after it.
  bool is_initialised() const {
    const std::lock_guard lock{mutex_};
    return count_ > 0 || calling_ != Calling::Nothing;
  }

  Status add_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function, void* user_data);
  Status remove_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function);
  Status add_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function,
                               void* user_data);
  Status remove_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function);

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Calling : std::uint8_t { Nothing, InitCallbacks, FinalizeCallbacks };

  template <class Function>
  struct Entry {
    aclRegisterCallbackType type;
    Function function;
    void* user_data;
    std::uint64_t number;  // rises from registration to registration
    bool late = false;     // by another thread while init callbacks run: this aclInit has yet to call it
  };
  template <class Function>
  using Table = std::vector<Entry<Function>>;

  // Says whose callbacks run, and on which thread, as long as it lives; the lock is held at both ends. A
  // callback may throw, which the door turns into a number, and the next call must work.
  class NowCalling;

  template <class Function>
  Status add(Table<Function>& table, const Entry<Function>& entry);
  template <class Function>
  static Status remove(Table<Function>& table, aclRegisterCallbackType type, Function function);
  template <class Function, class Call>
  static aclError run(Lock& lock, Table<Function>& table,
                      std::initializer_list<aclRegisterCallbackType> order, Call&& call);
  Status call_init_callbacks(Lock& lock, const InitConfiguration& configuration);
  Status really_finalize(Lock& lock);
  bool called_by_this_thread() const;

  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  Calling calling_ = Calling::Nothing;
  std::uint64_t caller_ = 0;  // the thread that runs them
  std::uint64_t joined_ = 0;  // calls of aclInit on other threads while init callbacks run
  bool finalized_ = false;    // starts clear: a first aclFinalize before any aclInit succeeds once
  std::optional<std::string> first_text_;
  std::string active_text_;
  std::uint64_t registrations_ = 0;
  Table<aclInitCallbackFunc> init_callbacks_;
  Table<aclFinalizeCallbackFunc> finalize_callbacks_;
};

}  // namespace belay
