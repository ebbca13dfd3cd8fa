// Events and notifies of this process that others know of, and what happens to them elsewhere.
//
// When the bell of this process (machine/signals.h) is rung, records of others that are done let streams here
// go on, those whose process is gone let them fail, and what others demand is moved on (Scheduler::demand). A
// thread of ours sleeps at the bell as long as anybody waits for something of another process; it starts with
// the first event or notify that is shared. Where a thread of the program waits for such a stream, it sleeps
// there in its place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "machine/machine.h"
#include "runtime/streams.h"
#include "schedule/event_record.h"

namespace belay {

class SharedSignals;

// Held as long as anything here refers to it.
class HeldSignal {
 public:
  HeldSignal(SharedSignals& all, machine::SignalName named) : name{named}, all_{all} {}
  ~HeldSignal();
  HeldSignal(const HeldSignal&) = delete;
  HeldSignal& operator=(const HeldSignal&) = delete;
  const machine::SignalName name;

 private:
  SharedSignals& all_;
};

// What the events of this process that stand for one event of the machine have in common.
struct SharedEvent : HeldSignal {
  using HeldSignal::HeldSignal;
  // Only with the scheduler's lock.
  std::shared_ptr<schedule::EventRecord> mine;       // the latest record of this process
  std::weak_ptr<schedule::RemoteRecord> theirs;      // of another one, that was seen here last
  std::shared_ptr<schedule::RemoteRecord> asked_of;  // ... by a query, for which the other must move on
};
using SharedEventRef = std::shared_ptr<SharedEvent>;

class SharedSignals : public schedule::Outside {
 public:
  SharedSignals(machine::Machine& machine, schedule::Scheduler& scheduler, const Streams& streams)
      : machine_{machine}, signals_{machine.signals()}, scheduler_{scheduler}, streams_{streams} {}

  // Null: the machine has no more, or, of one that is opened, its maker holds it no longer.
  SharedEventRef make_event(std::uint64_t about);
  SharedEventRef open_event(const machine::SignalName& name, std::uint64_t& about);
  // The same for notifies: from now on the state is shared.
  std::optional<machine::SignalName> share(const std::shared_ptr<schedule::NotifyState>& state,
                                           std::uint64_t about);
  std::shared_ptr<schedule::NotifyState> open_notify(const machine::SignalName& name, Handle first,
                                                     std::uint64_t& about);
  // So that streams here can wait for it. False: there is none left.
  bool make_room(schedule::NotifyState& state, schedule::Lock& lock);

  // A record of this process, made so that others hear of it; it counts for them from `publish` on. Who has
  // queued it calls `left` when it is done or dropped.
  static std::shared_ptr<schedule::EventRecord> new_record(Handle event);
  void publish(const SharedEventRef& event, const std::shared_ptr<schedule::EventRecord>& record,
               schedule::Lock& lock);
  void left(SharedEvent& event, schedule::EventRecord& record, schedule::Lock& lock);

  // The latest record, if it is of this process, or of another and not done. Both null: never recorded, or
  // done.
  struct Latest {
    std::shared_ptr<schedule::EventRecord> mine;
    std::shared_ptr<schedule::RemoteRecord> theirs;
    bool recorded = false, no_room = false;
  };
  Latest latest(const SharedEventRef& event, Handle handle, schedule::Lock& lock);
  bool look_at(schedule::RemoteRecord& record, bool may_be_gone, schedule::Lock& lock);
  // Others may demand what this process has just queued.
  void look_at_demands(schedule::Lock& lock);

  // This process leaves the machine: nothing is shared any more. No other thread may be inside a call.
  void close();

 private:
  friend class HeldSignal;
  struct Record;
  struct Remote;
  struct Flag;
  bool start();  // with the scheduler's lock; false: there is no thread
  void serve();
  void await(Remote& remote, schedule::Lock& lock);
  bool listens_for_somebody(schedule::Lock& lock);
  void call_listener();
  bool sleep(schedule::Lock& lock) override;
  void wake() override { signals_.ring(); }
  void leave(schedule::Lock& lock) override;
  void add_flag(const std::shared_ptr<schedule::NotifyState>& state, const machine::SignalName& name);
  struct Setter {
    Stream* stream;
    std::uint64_t position;
  };
  std::optional<Setter> setter_of(const schedule::NotifyState* state) const;
  void look_around(schedule::Lock& lock);

  machine::Machine& machine_;
  machine::Signals& signals_;
  schedule::Scheduler& scheduler_;
  const Streams& streams_;

  // Only with the scheduler's lock.
  std::map<std::uint64_t, std::weak_ptr<SharedEvent>> events_;  // by serial
  std::map<std::uint64_t, std::weak_ptr<schedule::NotifyState>> notifies_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<Record>>
      own_;                                      // not done, by event and number
  std::vector<std::weak_ptr<Remote>> demanded_;  // not done, and waited for now
  bool listening_ = false;                       // a thread sleeps at the bell
  std::uint32_t heard_ = 0;                      // how often it was rung when we looked around last
  std::condition_variable needed_;               // the thread at the bell, where no other sleeps there
  bool started_ = false, closing_ = false;
  bool watched_ = true;  // a thread waits for the end of each process that somebody here depends on
  std::uint64_t deaths_seen_ = 0;
  std::atomic<std::uint64_t> deaths_{0};
  std::condition_variable ended_;
  std::atomic<bool> closed_{false};
};

}  // namespace belay
