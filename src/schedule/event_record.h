// What a recorded event stands for: everything that its stream was given until then.
//
// An event points at its latest record; a wait keeps the one that it saw.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "schedule/scheduler.h"

namespace belay::schedule {

struct EventRecord {
  explicit EventRecord(std::uint64_t of) : event{of} {}
  virtual ~EventRecord() = default;
  EventRecord(const EventRecord&) = delete;
  EventRecord& operator=(const EventRecord&) = delete;
  const std::uint64_t event;  // whose it is
  const std::uint64_t serial = observe::next_serial();
  Description described(observe::Operation operation) const {
    return {operation, 0, {.record = serial, .object = event}, {}};
  }

  // Only with the lock.
  bool complete = false;
  bool dropped = false;          // by an abort: complete, but what it stood for was not done
  std::int64_t time_ns = 0;      // when it became complete
  std::weak_ptr<Stream> stream;  // where it was recorded; none: a record is still to come
  std::uint64_t position = 0;
  std::vector<Stream*> waiting;

  void finish(Scheduler& scheduler, Lock& lock);
};

// A record of another process, as a stream here sees it that waits for it (runtime/shared_signals.h).
struct RemoteRecord : EventRecord {
  using EventRecord::EventRecord;
  // Whether it is complete by now.
  virtual void look(Lock& lock) = 0;
  // Somebody has come to where he waits for it: the other process must see to it, and we hear of its end.
  virtual void demand(Lock& lock) = 0;
  virtual Refusal why_lost() const = 0;

  bool lost = false;  // it will never be complete

  void lose(Scheduler& scheduler, Lock& lock);
};

class RecordTask : public Task {
 public:
  // `left` is called with the lock when the record is done or dropped.
  using Left = std::function<void(Lock&)>;
  RecordTask(std::shared_ptr<EventRecord> record, Left left)
      : record_{std::move(record)}, left_{std::move(left)} {}
  Description describe() override { return record_->described(observe::Operation::RecordEvent); }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  void drop(Scheduler& scheduler, Stream&, Lock& lock) override;
  void leave(Lock& lock) override {
    if (left_) left_(lock);
  }

 private:
  std::shared_ptr<EventRecord> record_;
  Left left_;
};

// Holds its stream until something has come, or until its time is over, which is a failure.
class WaitTask : public Task {
 public:
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  Next due(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  RunResult run(std::size_t) override;
  void drop(Scheduler& scheduler, Stream& stream, Lock& lock) override;

 protected:
  // What it waits for will not come, in words: asked where it ends without that.
  virtual Refusal why_lost() const { return nullptr; }
  WaitTask(std::uint32_t seconds, const char* rule, const char* for_what)
      : seconds_{seconds}, rule_{rule}, for_what_{for_what} {}
  virtual bool take() = 0;  // it has come
  virtual std::vector<Stream*>& waiting() = 0;

 private:
  std::uint32_t seconds_;  // 0: for ever
  const char *rule_, *for_what_;
  bool late_ = false;
};

class AwaitTask : public WaitTask {
 public:
  using Left = std::function<void(Lock&)>;
  AwaitTask(std::shared_ptr<EventRecord> record, std::uint32_t seconds, Left left)
      : WaitTask{seconds, "R-173", "an event"}, record_{std::move(record)}, left_{std::move(left)} {}
  Description describe() override { return record_->described(observe::Operation::WaitEvent); }
  void leave(Lock& lock) override {
    if (left_) left_(lock);
  }
  Stream* waits_for() const override { return record_->stream.lock().get(); }

 protected:
  bool take() override { return record_->complete; }
  std::vector<Stream*>& waiting() override { return record_->waiting; }

 private:
  std::shared_ptr<EventRecord> record_;
  Left left_;
};

// A wait for a record of another process. Where that has died, the wait fails.
class AwaitRemoteTask : public AwaitTask {
 public:
  AwaitRemoteTask(std::shared_ptr<RemoteRecord> record, std::uint32_t seconds, Left left)
      : AwaitTask{record, seconds, std::move(left)}, record_{std::move(record)} {}
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  Caller caller() const override { return record_->lost ? Caller::Nobody : Caller::Expected; }

 private:
  Refusal why_lost() const override { return record_->why_lost(); }
  std::shared_ptr<RemoteRecord> record_;
};

// The state of a notify that other processes know of as well (runtime/shared_signals.h).
struct SharedFlag {
  SharedFlag() = default;
  virtual ~SharedFlag() = default;
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  virtual void set() = 0;  // who waits elsewhere is told
  virtual bool take() = 0;
  // Whether streams of this process wait for it: then it is told, and who can set it must see to it.
  virtual void await(bool waits, Lock& lock) = 0;
  // Why nobody is left who could set it; null: somebody is.
  virtual Refusal why_lost(Lock& lock) const = 0;
};

// A binary state of a notify: a record sets it, one waiter takes it away.
struct NotifyState {
  std::uint64_t notify = 0;            // whose it is
  bool set = false;                    // only with the lock, like the rest
  std::unique_ptr<SharedFlag> shared;  // once other processes know of it, in place of that
  std::vector<Stream*> waiting;

  bool take();
  void put(bool value);
  void look_again(Scheduler& scheduler, Lock& lock);  // others may have changed it
};

class SetNotifyTask : public Task {
 public:
  explicit SetNotifyTask(std::shared_ptr<NotifyState> state) : state_{std::move(state)} {}
  Description describe() override {
    return {observe::Operation::RecordNotify, 0, {.object = state_->notify}, {}};
  }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  const void* sets() const override { return state_.get(); }

 private:
  std::shared_ptr<NotifyState> state_;
};

class AwaitNotifyTask : public WaitTask {
 public:
  AwaitNotifyTask(std::shared_ptr<NotifyState> state, std::uint32_t seconds)
      : WaitTask{seconds, "R-209", "a notify"}, state_{std::move(state)} {}
  Description describe() override {
    return {observe::Operation::WaitNotify, 0, {.object = state_->notify}, {}};
  }
  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  Next due(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  void drop(Scheduler& scheduler, Stream& stream, Lock& lock) override;
  Caller caller() const override { return state_->shared != nullptr ? Caller::Expected : Caller::Nobody; }

 private:
  bool take() override { return state_->take(); }
  std::vector<Stream*>& waiting() override { return state_->waiting; }
  Refusal why_lost() const override { return std::make_unique<Error>(*lost_); }
  friend struct NotifyState;
  std::shared_ptr<NotifyState> state_;
  Refusal lost_;
};

// Does something small in the order of the stream, with the lock.
class MarkTask : public Task {
 public:
  MarkTask(std::function<void(Lock&)> act, Description what) : act_{std::move(act)}, what_{std::move(what)} {}
  Description describe() override { return what_; }
  Next begin(Scheduler&, Stream&, Lock& lock) override {
    act_(lock);
    return Next::Finished;
  }

 private:
  std::function<void(Lock&)> act_;
  Description what_;
};

}  // namespace belay::schedule
