// aclInit and aclFinalize: a count, a configuration that stays the same for ever, and callbacks (R-23 ...
//
#pragma once

#include <array>
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

  Status add_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function, void* user_data);
  Status remove_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function);
  Status add_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function,
                               void* user_data);
  Status remove_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function);

 private:
  template <class Function>
  struct Entry {
    aclRegisterCallbackType type;
    Function function;
    void* user_data;
  };
  template <class Function>
  using Table = std::vector<Entry<Function>>;

  template <class Function>
  static Status add(Table<Function>& table, aclRegisterCallbackType type, Function function, void* user_data);
  template <class Function>
  static Status remove(Table<Function>& table, aclRegisterCallbackType type, Function function);
  template <class Function, class Call>
  static aclError run(const Table<Function>& table, std::initializer_list<aclRegisterCallbackType> order,
                      Call&& call);
  Status really_finalize();

  std::recursive_mutex mutex_;
  std::uint64_t count_ = 0;
  bool inside_init_ = false;
  bool finalized_ = false;  // starts clear: a first aclFinalize before any aclInit succeeds once
  std::optional<std::string> first_text_;
  std::string active_text_;
  Table<aclInitCallbackFunc> init_callbacks_;
  Table<aclFinalizeCallbackFunc> finalize_callbacks_;
};

}  // namespace belay
