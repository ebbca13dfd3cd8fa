// What a count notify stands for: a count that tasks change and that streams wait for (R-279 ... R-281).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "schedule/event_record.h"

namespace belay::schedule {

// the count after a record. Additions wrap, as the register would.
constexpr std::uint32_t changed_count(std::uint32_t count, std::uint32_t value, std::uint32_t mode) {
  switch (mode) {
    case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
      return count + value;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
      return count | value;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
      return count & value;
    default:
      return value;
  }
}

// whether a wait is over.
constexpr bool count_reached(std::uint32_t count, std::uint32_t value, std::uint32_t mode) {
  switch (mode) {
    case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
      return count < value;
    case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
      return count == value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
      return count > value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
      return count >= value;
    default:
      return (count & value) == value;
  }
}

struct CountState {
  std::uint64_t notify = 0;      // whose it is
  std::uint32_t count = 0;       // only with the lock, like the rest
  std::vector<Stream*> waiting;  // each with an AwaitCountTask at its head, in the order in which they came

  void look_again(Scheduler& scheduler, Lock& lock);  // the count has changed
};

class ChangeCountTask : public Task {
 public:
  ChangeCountTask(std::shared_ptr<CountState> state, std::uint32_t mode, std::uint32_t value)
      : state_{std::move(state)}, mode_{mode}, value_{value} {}
  Description describe() override {
    return {
        observe::Operation::ChangeCount, 0, {.object = state_->notify, .value = value_, .flag = mode_}, {}};
  }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;

 private:
  std::shared_ptr<CountState> state_;
  std::uint32_t mode_, value_;
};

class AwaitCountTask : public WaitTask {
 public:
  enum class Then : std::uint8_t { Leave, Clear };  // what becomes of the count
  AwaitCountTask(std::shared_ptr<CountState> state, std::uint32_t mode, std::uint32_t value,
                 std::uint32_t seconds, Then then)
      : WaitTask{seconds, "R-281", "a count notify"},
        state_{std::move(state)},
        mode_{mode},
        value_{value},
        then_{then} {}
  Description describe() override {
    return {observe::Operation::WaitCount, 0, {.object = state_->notify, .value = value_, .flag = mode_}, {}};
  }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;

 private:
  friend struct CountState;
  bool take() override;
  std::vector<Stream*>& waiting() override { return state_->waiting; }

  std::shared_ptr<CountState> state_;
  std::uint32_t mode_, value_;
  Then then_;
};

}  // namespace belay::schedule
