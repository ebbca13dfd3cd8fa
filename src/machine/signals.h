// Events and notifies that several processes know of: what is shared of them, who holds them, and who waits.
//
// An event has one word for its latest record. Who records raises its number; who waits writes the number
// that it saw into a place of its own, and looks once more. Whoever completes a record marks all places where
// that number stands and rings their owners' bells. So a wait finds its record done in its own place,
// whatever becomes of the recorder and of the event afterwards. A notify has one word for its flag; bells are
// rung for those who wait for it, and the quickest takes it.
//
// A process has one bell: a thread of it sleeps there, and nobody polls. Each fact is one word, so that any
// process may be killed or stopped between any two instructions; where it dies before it has rung, its death
// is told to those who wait for it (death_watch.h), and they look themselves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "machine/state.h"

namespace belay::machine {

class ProcessTable;

// How a signal is named to another process. A name of one that is gone leads nowhere.
struct SignalName {
  std::size_t index;
  std::uint64_t serial;
  bool operator==(const SignalName&) const = default;
};

// What whoever opens a signal, or looks at it, must know: the device of the machine that it is on; whether it
// is a notify, and the number of that.
struct AboutSignal {
  static constexpr std::uint64_t kNotify = std::uint64_t{1} << 63;
  static std::uint64_t of_event(std::uint32_t device) { return device; }
  static std::uint64_t of_notify(std::uint32_t device, std::uint32_t number) {
    return kNotify | std::uint64_t{number} << 32 | device;
  }
  static std::uint32_t device(std::uint64_t about) { return static_cast<std::uint32_t>(about); }
  static std::uint32_t number(std::uint64_t about) {
    return static_cast<std::uint32_t>((about & ~kNotify) >> 32);
  }
  static bool is_notify(std::uint64_t about) { return (about & kNotify) != 0; }
};

class Signals {
 public:
  Signals(State& state, ProcessTable& processes) : state_{state}, processes_{processes} {}

  // This process holds it. `about` is for who opens it. Empty: there is none left.
  std::optional<SignalName> make(std::uint64_t about, bool set = false);
  // From now on this process holds it, too. Empty: its maker holds it no longer.
  std::optional<std::uint64_t> open(const SignalName& name);
  // As often as it was made or opened.
  void release(const SignalName& name);
  void release_all();

  // --- events ---
  struct Latest {
    std::uint64_t recorder = 0, number = 0;  // number 0: never recorded
    bool done = true;
    Latest when_done() const { return {recorder, number, true}; }
    bool operator==(const Latest&) const = default;
  };
  Latest latest(const SignalName& name) const;
  bool is_mine(std::uint64_t recorder) const { return recorder == me(); }
  std::uint64_t recorder_of(std::size_t row) const {  // a process, as a recorder
    return Recorder::make(row, state_.rows[row].process, state_.rows[row].life.load());
  }
  // A record of this process is the latest from now on: its number.
  std::uint64_t record(const SignalName& name, bool done);
  // It is done; those who wait for it are told.
  void complete(const SignalName& name, std::uint64_t number);

  // --- notifies ---
  void set(const SignalName& name);  // those who wait are told
  bool take(const SignalName& name);
  // Who of the others holds it. `lost`: a process that ended while it did, or 0.
  struct Others {
    std::vector<std::uint64_t> living;  // as recorders
    std::int32_t lost = 0;
  };
  Others others(const SignalName& name) const;

  // --- waiting ---
  // A place of this process. Empty: all are in use.
  std::optional<std::size_t> await(const SignalName& name, std::uint64_t record, Wait::State state);
  bool is_done(std::size_t wait) const;
  void give_up(std::size_t wait);
  // Somebody really waits now: the recorder, or all who hold a notify, must see to it if they do nothing by
  // themselves.
  void demand(std::size_t wait, std::uint64_t recorder);
  void demand(std::size_t wait, const SignalName& name);
  void demand_no_more(std::size_t wait);
  // What others demand.
  void for_each_demand(const std::function<void(std::uint64_t serial, std::uint64_t record)>& visit) const;

  // --- the bell of this process ---
  void listen(bool driven);
  std::uint32_t rung() const { return bell().rung.load(); }
  void sleep(std::uint32_t seen, std::optional<std::chrono::milliseconds> at_most) const {
    platform::wait_for_change(bell().rung, seen, at_most);
  }
  void ring() { ring(mine()); }

  // Of that row nobody may be left who holds anything; with `take_away`, by whoever has the row now, its
  // holds are taken away as well.
  static void forget_row(State& state, std::size_t row, const ProcessTable& processes, bool take_away);

 private:
  std::size_t mine() const;
  std::uint64_t me() const { return recorder_of(mine()); }
  Bell& bell() const;
  void ring(std::size_t row) const;
  void let_go(std::uint64_t serial);
  bool change(std::size_t wait, Wait::State from, Wait::State to);
  template <class Visit>
  void for_each_wait(std::uint64_t serial, Visit&& visit) const;

  State& state_;
  ProcessTable& processes_;
  mutable std::mutex mutex_;  // threads of this process
  struct Hold {
    std::size_t index, times;
  };
  std::map<std::uint64_t, Hold> holds_;  // by serial
  std::size_t next_ = 0;                 // where a free row may be
  std::vector<std::size_t> free_waits_;
  std::size_t used_waits_ = 0;
};

// For whoever looks: how many signals are held.
std::size_t live_signals(const State& state);

}  // namespace belay::machine
