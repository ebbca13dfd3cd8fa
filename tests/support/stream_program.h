// The steps of a random program of streams: what each does, and what the model says about it.
#pragma once

#include "support/stream_world.h"

namespace belay_test {

struct Command {
  unsigned op = 0;
  std::uint64_t bits = 0;
};

class StreamProgram : public StreamWorld {
 public:
  struct Options {
    std::size_t stride = 8;
    unsigned races = 0;
    bool aborts = false;
    std::size_t round = 300;  // nodes
    std::uint64_t calm = 1;   // of so many times that the host could wait it does once
    std::uint64_t bits = 0;   // for the setting
  };
  explicit StreamProgram(const Options& options)
      : StreamWorld{options.stride, options.races, !options.aborts},
        aborts_{options.aborts},
        round_size_{std::min(options.round, kMostNodes - 64)},
        calm_{options.calm},
        bits_{options.bits} {}

  void begin() {
    open();
    for (std::size_t more = 1 + pick(8); more > 0; --more) add_some_lane();
    for (std::size_t i = 0; i < 7; ++i) events_.push_back(new_event());
    for (std::size_t i = 0; i < 3; ++i) {
      bind(pick(contexts_.size()));
      notifies_.push_back({});
      expect(aclrtCreateNotify(&notifies_.back().handle, ACL_NOTIFY_DEFAULT));
    }
    void* start = nullptr;
    bind(0);
    expect(aclrtMalloc(&start, kSignals * 8, ACL_MEM_MALLOC_NORMAL_ONLY));
    for (std::size_t i = 0; i < kSignals; ++i)
      signals_.push_back({static_cast<std::uint64_t*>(start) + i, i % 2 == 0, {}, {}});
    expect(aclrtMallocHost(&start, 2 * 64 * 8));
    signal_values_ = static_cast<std::uint64_t*>(start);
    for (unsigned level = 0; level < 64; ++level) {
      signal_values_[level] = value_of(true, level);
      signal_values_[64 + level] = value_of(false, level);
    }
    new_round();
  }

  void step(const Command& command) {
    bits_ = command.bits;
    if (model_.size() > round_size_) quiesce();
    ++counts_.steps;
    unsigned op = command.op;
    const bool waits = (op >= 68 && op < 72) || (op >= 78 && op < 83);
    if (waits && pick(calm_) != 0) op %= 27;
    if (op < 27)
      copy_in_stream();
    else if (op < 30)
      fill_in_stream();
    else if (op < 38)
      call_in_stream();
    else if (op < 46)
      record();
    else if (op < 53)
      wait_for_event();
    else if (op < 55)
      reset_event();
    else if (op < 60)
      pick(2) == 0 ? record_notify() : wait_for_notify();
    else if (op < 66)
      pick(2) == 0 ? write_signal() : wait_for_signal();
    else if (op < 68)
      keep_a_promise();
    else if (op < 72)
      synchronise_stream();
    else if (op < 78)
      synchronise_event();
    else if (op < 79)
      synchronise_device();
    else if (op < 83)
      pick(2) == 0 ? ask_stream() : ask_event();
    else if (op < 85)
      look();
    else if (op < 88)
      store();
    else if (op < 92)
      copy_at_once();
    else if (op < 94)
      compare_times();
    else if (op < 95)
      change_objects();
    else if (op < 96)
      pick(2) == 0 ? quiesce() : synchronise_event();
    else if (op < 97)
      wait_in_vain();
    else if (op < 98)
      pick(4) == 0 ? await_some_calls() : look_at_calls();
    else
      aborts_ ? abort_something() : look_at_calls();
  }

  // Everything has happened and is looked at; what was found is where the next round starts.
  void quiesce() {
    settle_everything();
    pick(2) == 0 ? synchronise_all_devices() : synchronise_all_streams();
    if (!aborts_) {
      await_calls([](const Call&) { return true; });
      for (const Call* each : calls_of_round_) check(each->times == 1, "call ", each->id, " never happens");
    }
    look_at_calls();
    std::vector<std::vector<std::uint64_t>> found;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const Run all{i, 0, kCells};
      found.push_back(fetch(all));
      must_be_seen(host_, all, found.back());
    }
    on_clear();
    model_.clear();
    host_ = model_.add({});
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (std::size_t j = 0; j < kCells; ++j) model_.stores(host_, Run{i, j, 1}.cell(0), found[i][j]);
    }
    new_round();
  }

  // The end: either all is waited for, or the ways of ending wait for it.
  void end() {
    if (pick(2) == 0) quiesce();
    settle_everything();
    say("end");
    std::vector<NodeId> tails;
    for (Lane& lane : lanes_) {
      if (!lane.alive) continue;
      tails.push_back(lane.tail);
      if (!lane.is_default && pick(2) == 0) {
        bind(lane.context);
        say(text("destroy ", lane.name));
        expect(aclrtDestroyStream(lane.handle));
      }
    }
    for (std::size_t i = 2; i < contexts_.size(); ++i) {
      if (contexts_[i].handle == nullptr) continue;
      say(text("destroy context ", i));
      expect(aclrtDestroyContext(contexts_[i].handle));
    }
    for (const int device : {0, 1}) {
      say(text("reset device ", device));
      expect(aclrtResetDevice(device));
    }
    closed_ = true;
    if (!aborts_) waited_for(tails);
    for (const Event& event : events_) expect(aclrtDestroyEvent(event.handle));
    close_subscribers();
    if (aborts_) return;  // a function whose stream was aborted may still be looking
    expect(aclrtFreeHost(signal_values_));
    for (const Block& block : blocks_) {
      if (block.place == Place::pinned) expect(aclrtFreeHost(block.start));
    }
  }

 protected:
  static constexpr std::size_t kSignals = 4;
  static constexpr unsigned kMostLevels = 60;

  enum class Kind : std::uint8_t { plain, flagged, ex };
  struct Event {
    std::string name;
    Kind kind;
    bool has_time;
    aclrtEvent handle;
    std::optional<NodeId> record, reset;
    std::optional<NodeId> undone;   // by that reset: until it runs, who asks may still see it
    bool in_this_round;             // the record is
    bool lost;                      // by an abort: its state is not known
    std::vector<NodeId> waits;      // for the latest record
    std::vector<NodeId> all_waits;  // of this round
  };
  struct Notify {
    aclrtNotify handle = nullptr;
    std::optional<NodeId> record, last_wait;
    bool lost = false;
  };
  struct Signal {
    std::uint64_t* word;
    bool rises;
    std::vector<NodeId> writes;       // by level, from 0
    std::vector<NodeId> exact_waits;  // that a further write must not overtake
    unsigned level() const { return static_cast<unsigned>(writes.size()) - 1; }
  };
  enum class For : std::uint8_t { event, notify, signal };
  // Waits whose end is still to be queued, and the stream that has no part in them and will get it.
  struct Promise {
    For kind;
    std::size_t object;
    std::optional<std::size_t> lane;                    // none: only an abort ends them
    std::vector<std::pair<std::size_t, NodeId>> waits;  // with their streams
    std::vector<NodeId> exact;                          // of these, those for exactly this value
  };
  // A wait for an event, and the record that it waits for.
  struct Link {
    NodeId record, wait;
    bool other_stream;
  };

  // --- choices -------------------------------------------------------------------------------------------
  std::uint64_t pick(std::uint64_t choices) {
    bits_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = bits_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return (mixed ^ (mixed >> 31U)) % choices;
  }
  std::optional<std::size_t> pick_lane(const std::function<bool(const Lane&)>& fits) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].alive && fits(lanes_[i])) found.push_back(i);
    }
    if (found.empty()) return std::nullopt;
    return found[pick(found.size())];
  }
  Lane& any_lane() {
    return lanes_[*pick_lane([](const Lane&) { return true; })];
  }
  Lane* lane_that_moves() {
    const auto found = pick_lane([&](const Lane& lane) { return !held(lane); });
    return found ? &lanes_[*found] : nullptr;
  }
  int device_of(const Lane& lane) const { return contexts_[lane.context].device; }
  // The handle of a stream; NULL names the default stream as well.
  aclrtStream handle(const Lane& lane) { return lane.is_default && pick(2) == 0 ? nullptr : lane.handle; }
  std::optional<Run> pick_run(const std::function<bool(const Block&)>& fits, std::size_t count,
                              const Nodes& before, bool writes, bool fills = false) {
    const bool may_race = !fills && pick(100) < races_;
    for (int attempt = 0; attempt < 10; ++attempt) {
      const Run run{pick(blocks_.size()), pick(kCells - count + 1), count};
      if (!fits(blocks_[run.block])) continue;
      Race worst = Race::none;
      for (std::size_t i = 0; i < count; ++i)
        worst = std::max(worst, model_.race(before, run.cell(i), writes, fills));
      if (worst == Race::none || (worst == Race::some && may_race)) return run;
    }
    return std::nullopt;
  }
  static bool pinned(const Block& block) { return block.place == Place::pinned; }
  static std::function<bool(const Block&)> on(int device) {
    return [device](const Block& block) { return block.place == Place::device && block.device == device; };
  }
  static bool in_device(const Block& block) { return block.place == Place::device; }

  // --- objects -------------------------------------------------------------------------------------------
  void add_some_lane() {
    std::vector<std::size_t> live;
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      if (contexts_[i].handle != nullptr) live.push_back(i);
    }
    const std::size_t context = live[pick(live.size())];
    const bool has_subscriber = pick(3) == 0, plain = pick(2) == 0;
    add_lane(context, false, has_subscriber, plain ? 0 : static_cast<std::uint32_t>(pick(8)),
             plain ? 0 : static_cast<std::uint32_t>(pick(4)));
  }
  Event new_event() {
    Event event{text("e", ++events_made_),
                static_cast<Kind>(pick(3)),
                true,
                nullptr,
                {},
                {},
                {},
                false,
                false,
                {},
                {}};
    bind(pick(2));
    if (event.kind == Kind::plain) {
      expect(aclrtCreateEvent(&event.handle));
    } else {
      event.has_time = pick(2) == 0;
      const std::uint32_t flags = ACL_EVENT_SYNC | (event.has_time ? ACL_EVENT_TIME_LINE : 0U);
      expect(event.kind == Kind::ex ? aclrtCreateEventExWithFlag(&event.handle, flags)
                                    : aclrtCreateEventWithFlag(&event.handle, flags));
    }
    static constexpr const char* kKinds[] = {"plain", "flagged", "Ex"};
    event.name += text("(", kKinds[static_cast<std::size_t>(event.kind)], ")");
    say("create " + event.name);
    return event;
  }
  void new_round() {
    say(text("round ", ++round_));
    for (Lane& lane : lanes_) {
      lane.tail = host_;
      lane.last_callback.reset();
      lane.mine.clear();
      lane.signs.clear();
    }
    links_.clear();
    calls_of_round_.clear();
    order_of_calls_.clear();
    for (Event& event : events_) {
      if (event.lost && event.kind == Kind::flagged) {
        expect(aclrtDestroyEvent(event.handle));
        event = new_event();
      }
      if (event.record) event.record = host_;
      if (event.reset) event.reset = host_;
      event.in_this_round = false;
      event.undone.reset();
      event.waits.clear();
      event.all_waits.clear();
    }
    bind(0);
    for (Notify& notify : notifies_) {
      if (notify.record || notify.lost) expect(aclrtNotifyBatchReset(&notify.handle, 1));
      notify = {notify.handle, {}, {}, false};
    }
    for (Signal& signal : signals_) {
      const std::uint64_t start = value_of(signal.rises, 0);
      expect(aclrtMemcpy(signal.word, 8, &start, 8, ACL_MEMCPY_HOST_TO_DEVICE));
      signal.writes = {host_};
      signal.exact_waits.clear();
    }
  }
  static std::uint64_t value_of(bool rises, unsigned level) {
    const std::uint64_t bits = (std::uint64_t{1} << level) - 1;
    return rises ? bits : ~bits;
  }

  // The groups of steps, each in a header of its own.
  void copy_in_stream();
  void copy_batch(Lane& lane, bool up);
  void copy_pageable(Lane& lane, bool up);
  void copy_through_buffer(Lane& lane);
  void fill_in_stream();
  void call_in_stream();
  void look();
  void store();
  void copy_at_once();

  void record();
  void wait_for_event();
  void reset_event();
  void record_notify();
  void wait_for_notify();
  void write_signal();
  void write_signal_on(std::size_t signal, std::optional<std::size_t> lane);
  void wait_for_signal();
  Promise* promise_for(For kind, std::size_t object);
  Promise* new_promise(For kind, std::size_t object, std::size_t waiting_lane);
  void promised(Promise& promise, std::size_t lane, NodeId wait);
  void keep(std::size_t promise);
  void set_record(Event& event, Lane& lane);
  void fulfilled(For kind, std::size_t object, NodeId by);
  void keep_a_promise() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < promises_.size(); ++i) {
      if (promises_[i].lane) open.push_back(i);
    }
    if (!open.empty()) keep(open[pick(open.size())]);
  }

  void synchronise_stream();
  void synchronise_event();
  void synchronise_device();
  void synchronise_all_devices();
  void synchronise_all_streams();
  void ask_stream();
  void ask_event();
  void compare_times();
  void change_objects();
  void wait_in_vain();
  void await_some_calls();
  void abort_something();
  bool can_be_aborted(const Lane& lane) const;
  void cut(Lane& lane, NodeId begun, NodeId by);
  void abort_lane(Lane& lane);
  void settle_everything();

  const bool aborts_;
  const std::size_t round_size_;
  const std::uint64_t calm_;
  std::uint64_t bits_;
  std::vector<Event> events_;
  std::size_t events_made_ = 0;
  std::vector<Notify> notifies_;
  std::vector<Signal> signals_;
  std::uint64_t* signal_values_ = nullptr;
  std::vector<Promise> promises_;
  std::vector<Link> links_;
};

}  // namespace belay_test
