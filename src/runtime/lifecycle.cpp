#include "runtime/lifecycle.h"

#include <algorithm>

#include "observe/observe.h"

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

}  // namespace

template <class Function>
Status Lifecycle::add(Table<Function>& table, aclRegisterCallbackType type, Function function,
                      void* user_data) {
  if (function == nullptr) return null_pointer("R-46", "cbFunc");
  if (!known(type))
    return bad_value("R-51", "type", static_cast<int>(type), "a member of aclRegisterCallbackType");
  const bool taken = std::ranges::any_of(table, [&](const Entry<Function>& entry) {
    return entry.type == type && (type != ACL_REG_TYPE_OTHER || entry.function == function);
  });
  if (taken) {
    return refuse({ACL_ERROR_INTERNAL_ERROR, "R-47", "EH9999",
                   fmt::format("a callback of type {} is registered already", static_cast<int>(type)), "",
                   "unregister the earlier one first"});
  }
  table.push_back({type, function, user_data});
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

template <class Function, class Call>
aclError Lifecycle::run(const Table<Function>& table, std::initializer_list<aclRegisterCallbackType> order,
                        Call&& call) {
  const observe::CallOfProgram made;
  // A copy, because a callback may register others.
  const Table<Function> now = table;  // NOLINT(performance-unnecessary-copy-initialization)
  for (const aclRegisterCallbackType type : order) {
    for (const Entry<Function>& entry : now) {
      if (entry.type != type) continue;
      if (const aclError code = call(entry); code != ACL_SUCCESS) return code;
    }
  }
  return ACL_SUCCESS;
}

Status Lifecycle::init(const Load& load, const Accept& accept, const Apply& apply) {
  const std::lock_guard lock{mutex_};
  if (inside_init_) return answer(ACL_ERROR_REPEAT_INITIALIZE, "R-33");
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

  // Also when a callback throws, which the door turns into a number, the next aclInit must work.
  struct Inside {
    explicit Inside(bool& flag) : flag_{flag} { flag_ = true; }
    ~Inside() { flag_ = false; }
    bool& flag_;
  } inside{inside_init_};
  const auto call = [&](const Entry<aclInitCallbackFunc>& entry) {
    return entry.function(configuration.text.c_str(), configuration.text.size(), entry.user_data);
  };
  aclError code = run(init_callbacks_, {ACL_REG_TYPE_ACL_MODEL}, call);
  if (code == ACL_SUCCESS && configuration.given) {
    code = run(init_callbacks_,
               {ACL_REG_TYPE_ACL_OP_EXECUTOR, ACL_REG_TYPE_ACL_OP_CBLAS, ACL_REG_TYPE_ACL_OP_COMPILER,
                ACL_REG_TYPE_ACL_TDT_CHANNEL, ACL_REG_TYPE_ACL_TDT_QUEUE, ACL_REG_TYPE_ACL_RETR},
               call);
  }
  if (code == ACL_SUCCESS) code = run(init_callbacks_, {ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER}, call);
  if (code != ACL_SUCCESS) return callback_failed(code);

  apply(configuration);
  if (!first_text_) first_text_ = configuration.text;
  active_text_ = configuration.text;
  count_ = 1;
  finalized_ = false;
  return done();
}

Status Lifecycle::really_finalize() {
  const aclError code =
      run(finalize_callbacks_,
          {ACL_REG_TYPE_ACL_OP_COMPILER, ACL_REG_TYPE_ACL_MODEL, ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER},
          [](const Entry<aclFinalizeCallbackFunc>& entry) { return entry.function(entry.user_data); });
  if (code != ACL_SUCCESS) return callback_failed(code);
  count_ = 0;
  finalized_ = true;
  observe::publish({.what = observe::What::Finalized});
  return done();
}

Status Lifecycle::finalize() {
  const std::lock_guard lock{mutex_};
  if (finalized_) return answer(ACL_ERROR_REPEAT_FINALIZE, "R-36");
  return really_finalize();
}

Status Lifecycle::finalize_reference(std::uint64_t* count_after) {
  const std::lock_guard lock{mutex_};
  Status status;
  if (count_ == 0) {
    status = answer(ACL_ERROR_REPEAT_FINALIZE, "R-38");
  } else if (count_ == 1) {
    status = really_finalize();
  } else {
    --count_;
  }
  if (count_after != nullptr) *count_after = count_;
  return status;
}

Status Lifecycle::add_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function,
                                    void* user_data) {
  const std::lock_guard lock{mutex_};
  Status added = add(init_callbacks_, type, function, user_data);
  // Too late for this aclInit: called at once, and what it returns is nobody's business.
  if (added && count_ > 0) function(active_text_.c_str(), active_text_.size(), user_data);
  return added;
}

Status Lifecycle::remove_init_callback(aclRegisterCallbackType type, aclInitCallbackFunc function) {
  const std::lock_guard lock{mutex_};
  return remove(init_callbacks_, type, function);
}

Status Lifecycle::add_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function,
                                        void* user_data) {
  const std::lock_guard lock{mutex_};
  return add(finalize_callbacks_, type, function, user_data);
}

Status Lifecycle::remove_finalize_callback(aclRegisterCallbackType type, aclFinalizeCallbackFunc function) {
  const std::lock_guard lock{mutex_};
  return remove(finalize_callbacks_, type, function);
}

}  // namespace belay
