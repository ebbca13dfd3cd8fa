// Steps that order streams: events, notifies, words that streams wait for.
#pragma once

#include "support/stream_program.h"

namespace belay_test {

// --- promises ---------------------------------------------------------------------------------------------
//
// A wait may be queued before that which ends it. So that nothing hangs, a stream is chosen at once that will
// end it; until then that stream takes no part in anything that is held up.

inline StreamProgram::Promise* StreamProgram::promise_for(For kind, std::size_t object) {
  for (Promise& each : promises_) {
    if (each.kind == kind && each.object == object) return &each;
  }
  return nullptr;
}

inline StreamProgram::Promise* StreamProgram::new_promise(For kind, std::size_t object,
                                                          std::size_t waiting_lane) {
  std::optional<std::size_t> lane;
  if (!aborts_ || pick(3) != 0 || !can_be_aborted(lanes_[waiting_lane])) {
    lane = pick_lane([&](const Lane& each) { return &each != &lanes_[waiting_lane] && !held(each); });
    if (!lane) return nullptr;
    ++lanes_[*lane].promises;
  }
  promises_.push_back({kind, object, lane, {}, {}});
  return &promises_.back();
}

inline void StreamProgram::promised(Promise& promise, std::size_t lane, NodeId wait) {
  promise.waits.emplace_back(lane, wait);
  model_.hold(wait);
}

inline void StreamProgram::fulfilled(For kind, std::size_t object, NodeId by) {
  Promise* const found = promise_for(kind, object);
  if (found == nullptr) return;
  const Promise promise = *found;
  promises_.erase(promises_.begin() + (found - promises_.data()));
  if (promise.lane) --lanes_[*promise.lane].promises;
  for (const auto& [lane, wait] : promise.waits) {
    check(!model_.before(wait, by), "the program is wrong: it waits for itself");
    model_.release(wait);
    model_.order(by, wait);
    if (kind == For::event) {
      events_[object].waits.push_back(wait);
      links_.push_back({by, wait, true});
    }
  }
  if (kind == For::signal) signals_[object].exact_waits = promise.exact;
}

inline void StreamProgram::keep(std::size_t index) {
  const Promise promise = promises_[index];
  Lane& lane = lanes_[*promise.lane];
  if (promise.kind == For::signal)
    return write_signal_on(promise.object, pick(4) == 0 ? std::optional<std::size_t>{} : *promise.lane);
  if (promise.kind == For::event) {
    set_record(events_[promise.object], lane);
  } else {
    bind(lane.context);
    say(text(lane.name, ": record notify ", promise.object, ", as promised (node ", model_.size(), ")"));
    expect(aclrtRecordNotify(notifies_[promise.object].handle, handle(lane)));
    lane.signs.push_back(queued(lane));
  }
  fulfilled(promise.kind, promise.object, lane.tail);
}

// --- events -----------------------------------------------------------------------------------------------

inline void StreamProgram::set_record(Event& event, Lane& lane) {
  bind(lane.context);
  say(text(lane.name, ": record ", event.name, " (node ", model_.size(), ")"));
  expect(pick(4) == 0 ? aclrtRecordEventWithFlag(event.handle, handle(lane), ACL_EVENT_RECORD_DEFAULT)
                      : aclrtRecordEvent(event.handle, handle(lane)));
  event.record = queued(lane);
  event.undone.reset();
  event.in_this_round = true;
  event.lost = false;
  event.waits.clear();
}

inline void StreamProgram::record() {
  const std::size_t index = pick(events_.size());
  Event& event = events_[index];
  Lane& lane = any_lane();
  if (event.kind == Kind::flagged) {  // only after a reset again
    if (event.lost || event.record || promise_for(For::event, index) != nullptr) return;
    if (event.reset && !before_next(lane).test(*event.reset)) return;
  }
  set_record(event, lane);
}

inline void StreamProgram::wait_for_event() {
  const std::size_t index = pick(events_.size());
  Event& event = events_[index];
  const std::size_t lane_index = *pick_lane([](const Lane&) { return true; });
  Lane& lane = lanes_[lane_index];
  if (event.lost || (event.record && lane.promises > 0 && model_.held(*event.record))) return;
  Promise* promise = nullptr;
  if (!event.record && event.kind == Kind::flagged) {
    if (lane.promises > 0 || (event.reset && !model_.before_one_after({host_}).test(*event.reset))) return;
    promise = promise_for(For::event, index);
    if (promise != nullptr && !promise->lane) return;
    if (promise == nullptr) promise = new_promise(For::event, index, lane_index);
    if (promise == nullptr) return;
  }
  bind(lane.context);
  say(text(lane.name, ": wait for ", event.name, promise != nullptr ? " to come" : "", " (node ",
           model_.size(), ")"));
  const int answer = pick(3) == 0 ? aclrtStreamWaitEventWithTimeout(handle(lane), event.handle, 0)
                                  : aclrtStreamWaitEvent(handle(lane), event.handle);
  if (!event.record && event.kind == Kind::plain) return expect(answer, ACL_ERROR_RT_PARAM_INVALID);
  expect(answer);
  const bool own = event.record && std::ranges::count(lane.mine, *event.record) != 0;
  const NodeId wait = event.record ? queued(lane, {*event.record}) : queued(lane);
  event.all_waits.push_back(wait);
  if (event.record) {
    event.waits.push_back(wait);
    links_.push_back({*event.record, wait, !own});
  }
  if (promise != nullptr) promised(*promise, lane_index, wait);
}

// Where all that waited for the record have passed; another order would be a wrong program.
inline void StreamProgram::reset_event() {
  Event& event = events_[pick(events_.size())];
  Lane& lane = any_lane();
  if (event.kind != Kind::flagged || !event.record || event.lost) return;
  const Nodes before = before_next(lane);
  if (!before.test(*event.record)) return;
  for (const NodeId wait : event.waits) {
    if (!before.test(wait)) return;
  }
  bind(lane.context);
  say(text(lane.name, ": reset ", event.name, " (node ", model_.size(), ")"));
  expect(aclrtResetEvent(event.handle, handle(lane)));
  event.reset = queued(lane);
  event.undone = std::exchange(event.record, std::nullopt);
  event.waits.clear();
}

// --- notifies ---------------------------------------------------------------------------------------------
//
// A notify counts no further than one, so each record has one wait, and pairs follow each other.

inline void StreamProgram::record_notify() {
  const std::size_t index = pick(notifies_.size());
  Notify& notify = notifies_[index];
  Lane& lane = any_lane();
  if (notify.lost || notify.record || promise_for(For::notify, index) != nullptr) return;
  if (notify.last_wait && !before_next(lane).test(*notify.last_wait)) return;
  if (aborts_ && held(lane)) return;
  bind(lane.context);
  say(text(lane.name, ": record notify ", index, " (node ", model_.size(), ")"));
  expect(aclrtRecordNotify(notify.handle, handle(lane)));
  notify.record = queued(lane);
  lane.signs.push_back(lane.tail);
}

inline void StreamProgram::wait_for_notify() {
  const std::size_t index = pick(notifies_.size());
  Notify& notify = notifies_[index];
  const std::size_t lane_index = *pick_lane([](const Lane&) { return true; });
  Lane& lane = lanes_[lane_index];
  if (notify.lost) return;
  Promise* promise = nullptr;
  if (notify.record) {
    if (notify.last_wait && !before_next(lane).test(*notify.last_wait)) return;
    if (lane.promises > 0 && model_.held(*notify.record)) return;
  } else {
    if (lane.promises > 0 || promise_for(For::notify, index) != nullptr) return;
    if (notify.last_wait && !model_.before_one_after({host_}).test(*notify.last_wait)) return;
    promise = new_promise(For::notify, index, lane_index);
    if (promise == nullptr) return;
  }
  static constexpr std::uint32_t kSeconds[] = {0, 0xFFFFFFFF, 1000};
  bind(lane.context);
  say(text(lane.name, ": wait for notify ", index, promise != nullptr ? ", to come" : "", " (node ",
           model_.size(), ")"));
  expect(aclrtWaitAndResetNotify(notify.handle, handle(lane), kSeconds[pick(3)]));
  notify.last_wait = notify.record ? queued(lane, {*notify.record}) : queued(lane);
  notify.record.reset();
  if (promise != nullptr) promised(*promise, lane_index, lane.tail);
}

// --- words that streams wait for --------------------------------------------------------------------------
//
// A word goes through known values in a known order; each bit changes once.

inline void StreamProgram::write_signal() {
  const std::size_t index = pick(signals_.size());
  Signal& signal = signals_[index];
  if (signal.level() + 1 >= kMostLevels || promise_for(For::signal, index) != nullptr) return;
  std::optional<std::size_t> lane;
  if (pick(4) != 0) lane = pick_lane([&](const Lane& each) { return !aborts_ || !held(each); });
  const Nodes before = lane ? before_next(lanes_[*lane]) : model_.before_one_after({host_});
  if (!before.test(signal.writes.back())) return;
  for (const NodeId wait : signal.exact_waits) {
    if (!before.test(wait)) return;
  }
  write_signal_on(index, lane);
}

inline void StreamProgram::write_signal_on(std::size_t index, std::optional<std::size_t> lane_index) {
  Signal& signal = signals_[index];
  const unsigned level = signal.level() + 1;
  const std::uint64_t value = value_of(signal.rises, level);
  const std::string what = text("signal ", index, " becomes ", std::hex, value, std::dec);
  NodeId node = 0;
  if (!lane_index) {
    say(text(what, ", at once (node ", model_.size(), ")"));
    expect(aclrtMemcpy(signal.word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    node = host_step();
  } else {
    Lane& lane = lanes_[*lane_index];
    bind(lane.context);
    say(text(lane.name, ": ", what, " (node ", model_.size(), ")"));
    if (device_of(lane) == 0 && pick(2) == 0)
      expect(aclrtMemcpyAsync(signal.word, 8, &signal_values_[(signal.rises ? 0U : 64U) + level], 8,
                              ACL_MEMCPY_HOST_TO_DEVICE, handle(lane)));
    else
      expect(aclrtValueWrite(signal.word, value, 0, handle(lane)));
    node = queued(lane);
    lane.signs.push_back(node);
  }
  signal.writes.push_back(node);
  signal.exact_waits.clear();
  fulfilled(For::signal, index, node);
}

inline void StreamProgram::wait_for_signal() {
  const std::size_t index = pick(signals_.size());
  Signal& signal = signals_[index];
  const std::size_t lane_index = *pick_lane([](const Lane&) { return true; });
  Lane& lane = lanes_[lane_index];
  const unsigned last = signal.level(), level = 1 + static_cast<unsigned>(pick(last + 1));
  bool exact = pick(3) == 0;
  Promise* promise = promise_for(For::signal, index);
  if (level <= last) {
    exact = exact && level == last && promise == nullptr;
    if (lane.promises > 0 && model_.held(signal.writes[level])) return;
    promise = nullptr;
  } else {
    if (level >= kMostLevels || lane.promises > 0) return;
    if (promise != nullptr && !promise->lane) return;
    const Nodes before = model_.before_one_after({host_});
    if (!before.test(signal.writes.back())) return;
    for (const NodeId wait : signal.exact_waits) {
      if (!before.test(wait)) return;
    }
    if (promise == nullptr) promise = new_promise(For::signal, index, lane_index);
    if (promise == nullptr) return;
  }
  const std::uint64_t bit = std::uint64_t{1} << (level - 1), full = value_of(signal.rises, level);
  const bool by_bit = pick(2) == 0;
  std::uint64_t value = full;
  std::uint32_t flag = ACL_STREAM_WAIT_VALUE_EQ;
  if (!exact && signal.rises) {
    flag = by_bit ? ACL_STREAM_WAIT_VALUE_AND : ACL_STREAM_WAIT_VALUE_GEQ;
    value = by_bit ? bit : full;
  } else if (!exact) {
    flag = ACL_STREAM_WAIT_VALUE_NOR;
    value = ~bit;
  }
  bind(lane.context);
  say(text(lane.name, ": wait for level ", level, " of signal ", index, exact ? " exactly" : "",
           promise != nullptr ? ", to come" : "", " (node ", model_.size(), ")"));
  expect(aclrtValueWait(signal.word, value, flag, handle(lane)));
  const NodeId wait = level <= last ? queued(lane, {signal.writes[level]}) : queued(lane);
  if (promise != nullptr) promised(*promise, lane_index, wait);
  if (exact) (promise != nullptr ? promise->exact : signal.exact_waits).push_back(wait);
}

}  // namespace belay_test
