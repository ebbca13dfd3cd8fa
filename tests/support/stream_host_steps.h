// Steps of the host: it waits, asks, makes and ends objects, and takes work back.
#pragma once

#include "support/stream_program.h"

namespace belay_test {

// --- waiting ----------------------------------------------------------------------------------------------

inline void StreamProgram::synchronise_stream() {
  const Nodes before = model_.before_one_after({host_});
  Lane* lane = lane_that_moves();
  for (int attempt = 0; lane != nullptr && before.test(lane->tail) && attempt < 3; ++attempt)
    lane = lane_that_moves();
  if (lane == nullptr) return;
  const bool elsewhere = pick(3) == 0;  // any context will do
  bind(elsewhere ? pick(2) : lane->context);
  say(text("synchronise ", lane->name));
  const aclrtStream stream = elsewhere ? lane->handle : handle(*lane);
  static constexpr std::int32_t kLimits[] = {-1, 100000};
  expect(pick(2) == 0 ? aclrtSynchronizeStream(stream)
                      : aclrtSynchronizeStreamWithTimeout(stream, kLimits[pick(2)]));
  waited_for({lane->tail});
}

inline void StreamProgram::synchronise_event() {
  const Nodes before = model_.before_one_after({host_});
  const Event* chosen = nullptr;
  for (int attempt = 0; attempt < 4; ++attempt) {  // rather one that was not waited for yet
    chosen = &events_[pick(events_.size())];
    if (chosen->record && !before.test(*chosen->record) && !model_.held(*chosen->record)) break;
  }
  const Event& event = *chosen;
  if (event.lost || (event.record && model_.held(*event.record))) return;
  if (!event.record && event.reset && !before.test(*event.reset)) return;
  say(text("synchronise ", event.name));
  expect(pick(2) == 0 ? aclrtSynchronizeEvent(event.handle)
                      : aclrtSynchronizeEventWithTimeout(event.handle, 100000));
  if (event.record) waited_for({*event.record});
}

inline void StreamProgram::synchronise_device() {
  const int device = static_cast<int>(pick(2));
  std::vector<NodeId> tails;
  for (const Lane& lane : lanes_) {
    if (!lane.alive || device_of(lane) != device) continue;
    if (held(lane)) return;
    tails.push_back(lane.tail);
  }
  std::vector<std::size_t> contexts;
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    if (contexts_[i].handle != nullptr && contexts_[i].device == device) contexts.push_back(i);
  }
  bind(contexts[pick(contexts.size())]);
  say(text("synchronise device ", device));
  expect(pick(2) == 0 ? aclrtSynchronizeDevice() : aclrtSynchronizeDeviceWithTimeout(100000));
  waited_for(tails);
}

inline void StreamProgram::synchronise_all_devices() {
  std::vector<NodeId> tails;
  for (const Lane& lane : lanes_) {
    if (lane.alive) tails.push_back(lane.tail);
  }
  for (const std::size_t device : {0U, 1U}) {
    bind(device);
    say(text("synchronise device ", device));
    expect(aclrtSynchronizeDevice());
  }
  waited_for(tails);
}

inline void StreamProgram::synchronise_all_streams() {
  for (Lane& lane : lanes_) {
    if (!lane.alive) continue;
    say(text("synchronise ", lane.name));
    expect(aclrtSynchronizeStream(lane.handle));
    waited_for({lane.tail});
  }
}

// What cannot end yet is not waited for any longer than asked.
inline void StreamProgram::wait_in_vain() {
  const auto found = pick_lane([&](const Lane& lane) { return held(lane); });
  if (!found) return;
  const Lane& lane = lanes_[*found];
  const std::int32_t limit = 1 + static_cast<std::int32_t>(pick(2));
  const std::uint64_t way = pick(3);
  if (way == 0) {
    for (const Event& event : events_) {
      if (event.lost || !event.record || !model_.held(*event.record)) continue;
      say(text("wait in vain for ", event.name));
      expect(aclrtSynchronizeEventWithTimeout(event.handle, limit), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
      return;
    }
  }
  say(text("wait in vain for ", way == 1 ? text("device ", device_of(lane)) : lane.name));
  if (way == 1) bind(static_cast<std::size_t>(device_of(lane)));
  expect(way == 1 ? aclrtSynchronizeDeviceWithTimeout(limit)
                  : aclrtSynchronizeStreamWithTimeout(lane.handle, limit),
         ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
}

inline void StreamProgram::await_some_calls() {
  say("wait for all calls that can happen");
  await_calls([](const Call&) { return true; });
  waited_for({});
}

// --- asking -----------------------------------------------------------------------------------------------

inline void StreamProgram::ask_stream() {
  Lane& lane = any_lane();
  const bool elsewhere = pick(3) == 0;
  bind(elsewhere ? pick(2) : lane.context);
  say(text("ask ", lane.name));
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  expect(aclrtStreamQuery(elsewhere ? lane.handle : handle(lane), &status));
  const bool complete = status == ACL_STREAM_STATUS_COMPLETE;
  check(complete || status == ACL_STREAM_STATUS_NOT_READY, "status ", status);
  check(!complete || !held(lane), lane.name, " is complete although it is held up");
  // A callback that does not block may be under way for longer than its stream.
  bool called = true;
  for (const Call* call : calls_of_round_)
    called = called && (call->times == 1 || std::ranges::count(lane.mine, call->node) == 0);
  check(complete || !called || aborts_ || !model_.before_one_after({host_}).test(lane.tail), lane.name,
        " is not complete although the host waited for it");
  if (complete) waited_for({lane.tail});
}

inline void StreamProgram::ask_event() {
  const std::size_t index = pick(events_.size());
  const Event& event = events_[index];
  const Nodes before = model_.before_one_after({host_});
  const bool old_way = event.kind != Kind::ex && event.record && pick(2) == 0;
  say(text("ask ", event.name));
  bool complete = false;
  if (old_way) {
    aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    expect(aclrtQueryEvent(event.handle, &status));
#pragma GCC diagnostic pop
    complete = status == ACL_EVENT_STATUS_COMPLETE;
  } else {
    auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    expect(aclrtQueryEventStatus(event.handle, &status));
    complete = status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  if (event.kind != Kind::ex) {
    aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;
    expect(aclrtQueryEventWaitStatus(event.handle, &waits));
    const auto waiting = [&](const Link& link) {
      return link.other_stream && std::ranges::count(event.all_waits, link.wait) != 0 &&
             model_.fate(link.wait) == Fate::sure && model_.held(link.record);
    };
    if (promise_for(For::event, index) != nullptr || std::ranges::any_of(links_, waiting))
      check(waits == ACL_EVENT_WAIT_STATUS_NOT_READY, "a stream waits for ", event.name);
    else if (std::ranges::all_of(event.all_waits, [&](NodeId wait) { return before.test(wait); }))
      check(waits == ACL_EVENT_WAIT_STATUS_COMPLETE, "no stream waits for ", event.name);
  }
  if (event.lost) return;
  if (!event.record) {
    if (!event.reset || before.test(*event.reset))
      check(complete == (event.kind == Kind::ex), event.name, " is not recorded");
    else if (complete && event.undone)
      waited_for({*event.undone});
    return;
  }
  check(!complete || !model_.held(*event.record), event.name, " is complete although its stream is held up");
  check(complete || !before.test(*event.record), event.name, " is not complete although the host waited");
  if (complete) waited_for({*event.record});
}

inline void StreamProgram::compare_times() {
  const Event &first = events_[pick(events_.size())], &second = events_[pick(events_.size())];
  for (const Event* each : {&first, &second}) {
    if (each->lost || !each->has_time || (each->kind == Kind::flagged && !each->record)) return;
  }
  const Nodes before = model_.before_one_after({host_});
  say(text("time from ", first.name, " to ", second.name));
  float ms = 0;
  const int answer = aclrtEventElapsedTime(&ms, first.handle, second.handle);
  if (!first.record || !second.record) {
    const bool only_that =
        (!first.record || before.test(*first.record)) && (!second.record || before.test(*second.record));
    if (only_that) expect(answer, ACL_ERROR_RT_INTERNAL_ERROR);
    return;
  }
  if (model_.held(*first.record) || model_.held(*second.record))
    return expect(answer, ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  if (answer == ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID &&
      (!before.test(*first.record) || !before.test(*second.record)))
    return;
  expect(answer);
  std::uint64_t start = 0, end = 0;
  expect(aclrtEventGetTimestamp(first.handle, &start));
  expect(aclrtEventGetTimestamp(second.handle, &end));
  if (!first.in_this_round || !second.in_this_round) return;
  if (*first.record == *second.record || model_.before(*first.record, *second.record))
    check(ms >= 0 && end >= start, "time goes back: ", ms, " ms, from ", start, " to ", end);
  else if (model_.before(*second.record, *first.record))
    check(ms <= 0 && end <= start, "time goes on: ", ms, " ms, from ", start, " to ", end);
}

// --- objects come and go ----------------------------------------------------------------------------------

inline void StreamProgram::change_objects() {
  const auto free = [&](const Lane& lane) { return !held(lane) && lane.promises == 0; };
  const auto all_called = [&](const std::function<bool(const Lane&)>& which) {
    await_calls([&](const Call& call) {
      return std::ranges::any_of(lanes_, [&](const Lane& lane) {
        return lane.alive && which(lane) && std::ranges::count(lane.mine, call.node) != 0;
      });
    });
  };
  const std::uint64_t way = pick(8);
  if (way < 3) {
    const auto found = pick_lane([&](const Lane& lane) { return !lane.is_default && free(lane); });
    if (!found) return;
    Lane& lane = lanes_[*found];
    all_called([&](const Lane& each) { return &each == &lane; });
    bind(lane.context);
    say(text("destroy ", lane.name));
    expect(aclrtDestroyStream(lane.handle));
    lane.alive = false;
    waited_for({lane.tail});
    add_some_lane();
  } else if (way < 6) {
    const std::size_t index = pick(events_.size());
    if (promise_for(For::event, index) != nullptr) return;
    say(text("destroy ", events_[index].name));  // what is queued with it still completes
    expect(aclrtDestroyEvent(events_[index].handle));
    events_[index] = new_event();
  } else if (way < 7) {
    std::size_t alive = 0;
    for (const Lane& lane : lanes_) alive += lane.alive ? 1 : 0;
    if (alive < 12) add_some_lane();
  } else {
    std::size_t context = contexts_.size() - 1;  // the explicit one
    std::vector<NodeId> tails;
    for (const Lane& lane : lanes_) {
      if (!lane.alive || lane.context != context) continue;
      if (!free(lane)) return;
      tails.push_back(lane.tail);
    }
    all_called([&](const Lane& each) { return each.context == context; });
    bind(pick(2) == 0 ? 0 : context);
    say(text("destroy context ", context));
    expect(aclrtDestroyContext(contexts_[context].handle));
    contexts_[context].handle = nullptr;
    for (Lane& lane : lanes_) lane.alive = lane.alive && lane.context != context;
    add_context();
    waited_for(tails);
    add_some_lane();
  }
}

// --- work is taken back -----------------------------------------------------------------------------------

// Others must not wait for ever for what is dropped; only events are completed for them.
inline bool StreamProgram::can_be_aborted(const Lane& lane) const {
  const Nodes before = model_.before_one_after({host_});
  if (!lane.alive || lane.promises > 0) return false;
  for (const NodeId each : lane.signs) {
    if (!before.test(each)) return false;
  }
  return std::ranges::none_of(notifies_, [&](const Notify& notify) {
    return notify.last_wait && !before.test(*notify.last_wait) && !model_.held(*notify.last_wait) &&
           std::ranges::count(lane.mine, *notify.last_wait) != 0;
  });
}

inline void StreamProgram::abort_something() {
  const auto found = pick_lane([&](const Lane& lane) { return can_be_aborted(lane); });
  if (!found) return;
  Lane& lane = lanes_[*found];
  const Nodes before = model_.before_one_after({host_});
  const bool nothing_runs =
      std::ranges::all_of(lane.mine, [&](NodeId each) { return before.test(each) || model_.held(each); });
  if (lane.is_default || !nothing_runs || pick(3) != 0) return abort_lane(lane);
  bind(lane.context);
  say(text("destroy ", lane.name, " by force"));
  expect(aclrtDestroyStreamForce(lane.handle));
  lane.alive = false;
  const NodeId begun = host_;
  cut(lane, begun, host_step());
  add_some_lane();
}

inline void StreamProgram::abort_lane(Lane& lane) {
  bind(lane.context);
  say(text("abort ", lane.name, " (node ", model_.size(), ")"));
  expect(aclrtStreamAbort(handle(lane)));
  const NodeId begun = host_;
  cut(lane, begun, host_step());
  if (pick(2) == 0) return;
  say(text("synchronise ", lane.name));
  expect(aclrtSynchronizeStream(lane.handle));
  waited_for({lane.tail});
}

// What the stream had not been waited for is dropped if it could not start, else it is not known what
// became of it. Its waiters go on between the two moments of the host.
inline void StreamProgram::cut(Lane& lane, NodeId begun, NodeId by) {
  std::vector<NodeId> dropped, unsure;
  for (const NodeId each : lane.mine) {
    if (!model_.before(each, by) && model_.fate(each) == Fate::sure)
      (model_.held(each) ? dropped : unsure).push_back(each);
  }
  const auto among = [](const std::vector<NodeId>& nodes, NodeId node) {
    return std::ranges::count(nodes, node) != 0;
  };
  const auto is_cut = [&](NodeId node) { return among(dropped, node) || among(unsure, node); };
  for (const NodeId each : dropped) model_.set_fate(each, Fate::dropped);
  for (const NodeId each : unsure) {
    model_.set_fate(each, Fate::unsure);
    const bool is_call =
        std::ranges::any_of(calls_of_round_, [&](const Call* call) { return call->node == each; });
    if (!is_call) model_.order_alone(each, by);
  }
  for (Promise& promise : promises_) {
    for (const auto& [waiting, wait] : promise.waits) {
      if (!among(dropped, wait)) continue;
      model_.release(wait);
      if (promise.kind == For::notify) notifies_[promise.object].lost = true;
    }
    std::erase_if(promise.waits, [&](const auto& each) { return among(dropped, each.second); });
    std::erase_if(promise.exact, [&](NodeId each) { return among(dropped, each); });
    if (promise.waits.empty() && promise.lane) --lanes_[*promise.lane].promises;
  }
  std::erase_if(promises_, [](const Promise& promise) { return promise.waits.empty(); });
  // Who waited for a record that is dropped goes on, but is no longer ordered after it.
  for (const Link& link : links_) {
    if (!is_cut(link.record)) continue;
    model_.forget_order(link.record, link.wait);
    if (among(dropped, link.record) && !is_cut(link.wait)) model_.order(begun, link.wait);
  }
  std::erase_if(links_, [&](const Link& link) { return is_cut(link.record) || is_cut(link.wait); });
  for (Event& event : events_) {
    const bool touched = (event.record && is_cut(*event.record)) || (event.reset && is_cut(*event.reset)) ||
                         std::ranges::any_of(event.waits, is_cut) ||
                         std::ranges::any_of(event.all_waits, is_cut);
    if (touched && (event.kind == Kind::flagged || (event.record && is_cut(*event.record))))
      event.lost = true;
    std::erase_if(event.all_waits, is_cut);
  }
  for (Notify& notify : notifies_) {
    if (notify.last_wait && is_cut(*notify.last_wait)) notify.lost = true;
  }
  for (Signal& signal : signals_) std::erase_if(signal.exact_waits, is_cut);
  lane.tail = by;
  lane.last_callback.reset();
  lane.mine.clear();
}

// Everything that is held up is let go.
inline void StreamProgram::settle_everything() {
  for (;;) {
    const auto stuck = std::ranges::find_if(promises_, [](const Promise& promise) { return !promise.lane; });
    if (stuck == promises_.end()) break;
    abort_lane(lanes_[stuck->waits.front().first]);
  }
  while (!promises_.empty()) keep(0);
  for (const Lane& lane : lanes_) check(!lane.alive || !held(lane), "the program is wrong: it never ends");
}

}  // namespace belay_test
