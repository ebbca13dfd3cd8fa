#include "runtime/lifecycle.h"

#include <algorithm>

#include "observe/observe.h"
#include "platform/threads.h"

namespace belay {
namespace {

// Codes that are an answer rather than a mistake leave no message.
Refusal answer(aclError code, const char* rule) { return refuse({code, rule, "", "", "", ""}); }

bool known(aclRegisterCallbackType type) {
  return (type >= ACL_REG_TYPE_ACL_MODEL && type <= ACL_REG_TYPE_ACL_RETR) || type == ACL_REG_TYPE_OTHER;
}

Refusal callback_failed(aclError code) {
  return refuse({code, "R-31", "EH9999", fmt::format("a registered callback returned {}", code), "",
                 "see what the callback reports"});
}

// A function of the program is called without the lock, and the lock is taken again also if it throws.
template <class Call>
aclError without(std::unique_lock<std::mutex>& lock, Call&& call) {
  const observe::CallOfProgram made;
  struct Unlocked {
    explicit Unlocked(std::unique_lock<std::mutex>& held) : held_{held} { held_.unlock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    ~Unlocked() { held_.lock(); }
    std::unique_lock<std::mutex>& held_;
  } unlocked{lock};
  return call();
}

}  // namespace

class Lifecycle::NowCalling {
 public:
  NowCalling(Lifecycle& lifecycle, Calling what) : lifecycle_{lifecycle} {
    lifecycle_.calling_ = what;
    lifecycle_.caller_ = platform::this_thread();
    lifecycle_.joined_ = 0;
  }
  NowCalling(const NowCalling&) = delete;
  NowCalling& operator=(const NowCalling&) = delete;
  ~NowCalling() { lifecycle_.calling_ = Calling::Nothing; }

 private:
  Lifecycle& lifecycle_;
};

bool Lifecycle::called_by_this_thread() const { return caller_ == platform::this_thread(); }

template <class Function>
Status Lifecycle::add(Table<Function>& table, const Entry<Function>& entry) {
  if (entry.function == nullptr) return null_pointer("R-46", "cbFunc");
  if (!known(entry.type)) {
    return bad_value("R-51", "type", static_cast<int>(entry.type), "a member of aclRegisterCallbackType");
  }
  const bool taken = std::ranges::any_of(table, [&](const Entry<Function>& other) {
    return other.type == entry.type && (entry.type != ACL_REG_TYPE_OTHER || other.function == entry.function);
  });
  if (taken) {
    return refuse({ACL_ERROR_INTERNAL_ERROR, "R-47", "EH9999",
                   fmt::format("a callback of type {} is registered already", static_cast<int>(entry.type)),
                   "", "unregister the earlier one first"});
  }
  table.push_back(entry);
  table.back().number = ++registrations_;
  return done();
}

template <class Function>
Status Lifecycle::remove(Table<Function>& table, aclRegisterCallbackType type, Function function) {
  if (function == nullptr) return null_pointer("R-46", "cbFunc");
  if (!known(type))
    return bad_value("R-51", "type", static_cast<int>(type), "a member of aclRegisterCallbackType");
  const auto gone = std::erase_if(
      table, [&](const Entry<Function>& entry) { return entry.type == type && entry.function == function; });
  if (gone != 0) return done();
  return refuse({ACL_ERROR_INTERNAL_ERROR, "R-50", "EH9999", "that callback is not registered for that type",
                 "", "pass the pair that was registered"});
}

// What is registered when this begins and still is when its turn comes. Numbers rise in a table, so that the
// last one called says where to go on, whatever callbacks have done to the table.
template <class Function, class Call>
aclError Lifecycle::run(Lock& lock, Table<Function>& table,
                        std::initializer_list<aclRegisterCallbackType> order, Call&& call) {
  const std::uint64_t newest = table.empty() ? 0 : table.back().number;
  for (const aclRegisterCallbackType type : order) {
    std::uint64_t last = 0;
    for (;;) {
      const auto next = std::ranges::find_if(table, [&](const Entry<Function>& entry) {
        return entry.type == type && entry.number > last && entry.number <= newest;
      });
      if (next == table.end()) break;
      next->late = false;
      last = next->number;
      const Entry<Function> entry = *next;
      if (const aclError code = without(lock, [&] { return call(entry); }); code != ACL_SUCCESS) return code;
    }
  }
  return ACL_SUCCESS;
}

Status Lifecycle::call_init_callbacks(Lock& lock, const InitConfiguration& configuration) {
  for (Entry<aclInitCallbackFunc>& each : init_callbacks_) each.late = false;  // of an aclInit that failed
  const auto call = [&](const Entry<aclInitCallbackFunc>& entry) {
    return entry.function(configuration.text.c_str(), configuration.text.size(), entry.user_data);
  };
  aclError code = run(lock, init_callbacks_, {ACL_REG_TYPE_ACL_MODEL}, call);
  if (code == ACL_SUCCESS && configuration.given) {
    code = run(lock, init_callbacks_,
               {ACL_REG_TYPE_ACL_OP_EXECUTOR, ACL_REG_TYPE_ACL_OP_CBLAS, ACL_REG_TYPE_ACL_OP_COMPILER,
                ACL_REG_TYPE_ACL_TDT_CHANNEL, ACL_REG_TYPE_ACL_TDT_QUEUE, ACL_REG_TYPE_ACL_RETR},
               call);
  }
  if (code == ACL_SUCCESS)
    code = run(lock, init_callbacks_, {ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER}, call);
  if (code != ACL_SUCCESS) return callback_failed(code);

  // Other threads did not wait to register, and are owed the call that they would have had after it.
  for (;;) {
    const auto late = std::ranges::find_if(init_callbacks_, &Entry<aclInitCallbackFunc>::late);
    if (late == init_callbacks_.end()) return done();
    late->late = false;
    const Entry<aclInitCallbackFunc> entry = *late;
    without(lock, [&] { return call(entry); });
  }
}

Status Lifecycle::init(const Load& load, const Accept& accept, const Apply& apply) {
  Lock lock{mutex_};
  if (calling_ == Calling::InitCallbacks && !called_by_this_thread()) ++joined_;
  if (calling_ != Calling::Nothing) return answer(ACL_ERROR_REPEAT_INITIALIZE, "R-267");
  if (count_ > 0) {
    ++count_;
    return answer(ACL_ERROR_REPEAT_INITIALIZE, "R-24");
  }
  ASSIGN_OR_RETURN(const InitConfiguration configuration, load());
  if (first_text_ && *first_text_ != configuration.text) {
    return refuse({ACL_ERROR_INVALID_PARAM, "R-28", "EH0004",
                   "the configuration differs from the one of the first aclInit of this process", "",
                   "pass the same configuration at every aclInit"});
  }
  if (Status accepted = accept(configuration); !accepted) return accepted;
  {
    const NowCalling now{*this, Calling::InitCallbacks};
    if (Status called = call_init_callbacks(lock, configuration); !called) return called;
  }
  apply(configuration);
  if (!first_text_) first_text_ = configuration.text;
  active_text_ = configuration.text;
  count_ = 1 + joined_;
  finalized_ = false;
  return done();
}

Status Lifecycle::really_finalize(Lock& lock) {
  const NowCalling now{*this, Calling::FinalizeCallbacks};
  const aclError code =
      run(lock, finalize_callbacks_,
          {ACL_REG_TYPE_ACL_OP_COMPILER, ACL_REG_TYPE_ACL_MODEL, ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER},
          [](const Entry<aclFinalizeCallbackFunc>& entry) { return entry.function(entry.user_data); });
  if (code != ACL_SUCCESS) return callback_failed(code);
  count_ = 0;
  finalized_ = true;
  observe::publish({.what = observe::What::Finalized});
  return done();
}

Status Lifecycle::finalize() {
  Lock lock{mutex_};
  if (calling_ != Calling::Nothing) return answer(ACL_ERROR_REPEAT_FINALIZE, "R-268");
  if (finalized_) return answer(ACL_ERROR_REPEAT_FINALIZE, "R-36");
  return really_finalize(lock);
}

Status Lifecycle::finalize_reference(std::uint64_t* count_after) {
  Lock lock{mutex_};
  Status status;
  std::uint64_t after = 0;
  if (calling_ == Calling::InitCallbacks && joined_ > 0 && !called_by_this_thread()) {
    after = 1 + --joined_;  // what aclInit counted on another thread is taken back the same way
  } else if (calling_ != Calling::Nothing) {
    status = answer(ACL_ERROR_REPEAT_FINALIZE, "R-268");
    after = count_;
  } else {
    if (count_ == 0) {
      status = answer(ACL_ERROR_REPEAT_FINALIZE, "R-38");
    } else if (count_ == 1) {
      status = really_finalize(lock);
    } else {
      --count_;
    }
    after = count_;
  }
  if (count_after != nullptr) *count_after = after;
  return status;
}

Status Lifecycle::add_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function,
                                    void* user_data) {
  Lock lock{mutex_};
  const bool late = calling_ == Calling::InitCallbacks && !called_by_this_thread();
  Status added = add(init_callbacks_, {type, function, user_data, 0, late});
  // Too late for this aclInit: called at once, and what it returns is nobody's business. With a text
  // of its own, since others may finalise and initialise meanwhile.
  if (added && count_ > 0) {
    const std::string text = active_text_;
    without(lock, [&] { return function(text.c_str(), text.size(), user_data); });
  }
  return added;
}

Status Lifecycle::remove_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function) {
  const Lock lock{mutex_};
  return remove(init_callbacks_, type, function);
}

Status Lifecycle::add_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function,
                                        void* user_data) {
  const Lock lock{mutex_};
  return add(finalize_callbacks_, {type, function, user_data, 0});
}

Status Lifecycle::remove_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function) {
  const Lock lock{mutex_};
  return remove(finalize_callbacks_, type, function);
}

}  // namespace belay
