// Steps that move, fill and look at memory.
#pragma once

#include "support/batch.h"
#include "support/stream_program.h"

namespace belay_test {

inline void StreamProgram::copy_in_stream() {
  Lane& lane = any_lane();
  const std::uint64_t way = pick(22);
  if (way >= 20) return copy_batch(lane, way == 20);
  if (way >= 18) return copy_through_buffer(lane);
  if (way >= 16 && pick(calm_) == 0) return copy_pageable(lane, way == 16);
  const int device = device_of(lane);
  const bool up = way < 6, down = way >= 6 && way < 12, here = pick(2) == 0;
  const Nodes before = before_next(lane);
  const std::size_t count = 1 + pick(6);
  const std::optional<Run> from = up ? pick_run(pinned, count, before, false)
                                     : pick_run(down || here ? on(device) : in_device, count, before, false);
  const std::optional<Run> to = down ? pick_run(pinned, count, before, true)
                                     : pick_run(up || !here ? on(device) : in_device, count, before, true);
  if (!from || !to) return;
  if (from->block == to->block && from->first < to->first + count && to->first < from->first + count) return;
  const aclrtMemcpyKind kind = up     ? ACL_MEMCPY_HOST_TO_DEVICE
                               : down ? ACL_MEMCPY_DEVICE_TO_HOST
                                      : ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool rows = pick(5) == 0;
  bind(lane.context);
  say(text(lane.name, ": copy ", rows ? "rows of " : "", name(*from), " -> ", name(*to), " (node ",
           model_.size(), ")"));
  if (rows)
    expect(aclrtMemcpy2dAsync(address(*to), stride_, address(*from), stride_, 8, count, kind, handle(lane)));
  else
    expect(aclrtMemcpyAsync(address(*to), bytes(*to), address(*from), bytes(*from), kind, handle(lane)));
  const NodeId node = queued(lane);
  for (std::size_t i = 0; i < count; ++i) {
    model_.reads(node, from->cell(i));
    model_.moves(node, to->cell(i), node, from->cell(i));
  }
}

// Several copies in no particular order, as one task (M-299).
inline void StreamProgram::copy_batch(Lane& lane, bool up) {
  const int device = device_of(lane);
  const Nodes before = before_next(lane);
  std::vector<std::pair<Run, Run>> items;  // to, from
  std::set<Cell> written;
  for (std::uint64_t more = 1 + pick(3); more > 0; --more) {
    const std::size_t count = 1 + pick(4);
    const auto here = [&](bool writes) { return pick_run(pinned, count, before, writes); };
    const auto there = [&](bool writes) { return pick_run(on(device), count, before, writes); };
    const std::optional<Run> from = up ? here(false) : there(false), to = up ? there(true) : here(true);
    if (!from || !to) return;
    for (std::size_t i = 0; i < count; ++i) {
      if (!written.insert(to->cell(i)).second) return;
    }
    items.emplace_back(*to, *from);
  }
  Batch batch;
  std::string what;
  for (const auto& [to, from] : items) {
    batch.add(address(to), address(from), bytes(to));
    what += text(" ", name(from), " -> ", name(to));
  }
  batch.describe(0, up ? host_to_device(static_cast<std::uint32_t>(device))
                       : device_to_host(static_cast<std::uint32_t>(device)));
  bind(lane.context);
  say(text(lane.name, ": copy batch", what, " (node ", model_.size(), ")"));
  expect(aclrtMemcpyBatchAsync(batch.dsts.data(), batch.rooms.data(), batch.srcs.data(), batch.sizes.data(),
                               batch.sizes.size(), batch.attributes.data(), batch.starts.data(),
                               batch.attributes.size(), &batch.fail, handle(lane)));
  const NodeId node = queued(lane);
  for (const auto& [to, from] : items) {
    for (std::size_t i = 0; i < to.count; ++i) {
      model_.reads(node, from.cell(i));
      model_.moves(node, to.cell(i), node, from.cell(i));
    }
  }
}

// With pageable memory the call waits for the stream, copies, and only then returns (M-265).
inline void StreamProgram::copy_pageable(Lane& lane, bool up) {
  if (held(lane)) return;
  const auto pageable = [](const Block& block) { return block.place == Place::pageable; };
  const Nodes before = before_next(lane);
  const std::size_t count = 1 + pick(6);
  const std::optional<Run> there = pick_run(on(device_of(lane)), count, before, up);
  const std::optional<Run> here = pick_run(pageable, count, before, !up);
  if (!there || !here) return;
  const Run &from = up ? *here : *there, &to = up ? *there : *here;
  bind(lane.context);
  say(text(lane.name, ": copy, waiting, ", name(from), " -> ", name(to), " (node ", model_.size(), ")"));
  expect(aclrtMemcpyAsync(address(to), bytes(to), address(from), bytes(from),
                          up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST, handle(lane)));
  const NodeId node = queued(lane);
  for (std::size_t i = 0; i < count; ++i) {
    model_.reads(node, from.cell(i));
    model_.moves(node, to.cell(i), node, from.cell(i));
  }
  waited_for({node});
  if (!up) must_be_seen(host_, to, fetch(to));
}

// The bytes are taken during the call, the device gets them in stream order (M-269).
inline void StreamProgram::copy_through_buffer(Lane& lane) {
  const auto in_host = [](const Block& block) { return block.place != Place::device; };
  const std::size_t count = 1 + pick(6);
  const std::optional<Run> from = pick_run(in_host, count, model_.before_one_after({host_}), false);
  const std::optional<Run> to = pick_run(on(device_of(lane)), count, before_next(lane), true);
  if (!from || !to) return;
  bind(lane.context);
  say(text(lane.name, ": copy through a buffer ", name(*from), " -> ", name(*to), " (node ",
           model_.size() + 1, ")"));
  expect(aclrtMemcpyAsync(address(*to), bytes(*to), address(*from), bytes(*from),
                          ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, handle(lane)));
  const NodeId taken = host_step();
  const NodeId node = queued(lane);
  for (std::size_t i = 0; i < count; ++i) {
    model_.reads(taken, from->cell(i));
    model_.moves(node, to->cell(i), taken, from->cell(i));
  }
}

inline void StreamProgram::fill_in_stream() {
  Lane& lane = any_lane();
  const bool host = pick(6) == 0;  // fills during the call, out of order (M-380)
  const Nodes before = host ? model_.before_one_after({host_}) : before_next(lane);
  const std::size_t count = 1 + pick(6);
  const std::optional<Run> to = pick_run(
      host ? std::function<bool(const Block&)>{pinned} : on(device_of(lane)), count, before, true, true);
  if (!to) return;
  const bool by_words = pick(2) == 0;
  const std::uint64_t value = by_words ? 0x0000'0001'0000'0001U * (0x70000000U + ++values_made_)
                                       : 0x0101'0101'0101'0101U * (1 + pick(255));
  bind(lane.context);
  say(text(lane.name, ": fill ", name(*to), " with ", std::hex, value, std::dec, " (node ", model_.size(),
           ")"));
  if (by_words)
    expect(aclrtMemsetD32Async(address(*to), bytes(*to), static_cast<std::uint32_t>(value), bytes(*to) / 4,
                               handle(lane)));
  else
    expect(aclrtMemsetAsync(address(*to), bytes(*to), static_cast<std::int32_t>(value & 0xFFU), bytes(*to),
                            handle(lane)));
  const NodeId node = host ? host_step() : queued(lane);
  for (std::size_t i = 0; i < count; ++i) model_.fills(node, to->cell(i), value);
}

inline void StreamProgram::call_in_stream() {
  Lane& lane = any_lane();
  const bool blocks = !lane.has_subscriber || pick(2) == 0;
  std::vector<NodeId> after{lane.tail, host_};
  if (lane.last_callback) after.push_back(*lane.last_callback);
  const Nodes before = model_.before_one_after(after);
  // A function that runs while its stream is aborted is not waited for, so it must not write then.
  const std::optional<Run> to =
      !aborts_ && pick(3) != 0 ? pick_run(pinned, 1, before, true) : std::optional<Run>{};
  std::vector<Run> from;
  for (std::uint64_t more = pick(3); more > 0; --more) {
    const std::optional<Run> run = pick_run(pinned, 1, before, false);
    if (run && (!to || run->cell(0) != to->cell(0))) from.push_back(*run);
  }
  Call& call = new_call(blocks);
  std::string does;
  if (to) {
    call.store = {to->cell(0), fresh()};
    does += text(" store ", std::hex, call.store->second, " in ", name(*to));
  }
  for (const Run& run : from) {
    call.look.push_back(run.cell(0));
    does += text(" look at ", name(run));
  }
  bind(lane.context);
  say(text(lane.name, ": call ", call.id, blocks ? "" : " without blocking", does, " (node ", model_.size(),
           ")"));
  if (lane.has_subscriber)
    expect(aclrtLaunchCallback(called, &call, blocks ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK,
                               handle(lane)));
  else
    expect(aclrtLaunchHostFunc(handle(lane), called, &call));
  call.node = model_.add(after);
  on_queued(call.node);
  lane.mine.push_back(call.node);
  if (blocks) lane.tail = call.node;
  if (lane.has_subscriber) lane.last_callback = call.node;
  if (to) model_.stores(call.node, to->cell(0), call.store->second);
  for (const Run& run : from) model_.reads(call.node, run.cell(0));
}

// --- the host, at once ------------------------------------------------------------------------------------

inline void StreamProgram::look() {
  const std::optional<Run> run =
      pick_run([](const Block&) { return true; }, 1 + pick(6), model_.before_one_after({host_}), false);
  if (!run) return;
  say(text("look at ", name(*run)));
  host_step();
  must_be_seen(host_, *run, fetch(*run));
}

inline void StreamProgram::store() {
  const std::optional<Run> run =
      pick_run([](const Block&) { return true; }, 1 + pick(4), model_.before_one_after({host_}), true);
  if (!run) return;
  const bool device = blocks_[run->block].place == Place::device;
  const bool apart = stride_ > 8;  // the bytes between the cells are nobody's
  say(text("store in ", name(*run), " (node ", model_.size(), ")"));
  host_step();
  std::vector<std::uint8_t> image(bytes(*run));
  for (std::size_t i = 0; i < run->count; ++i) {
    const std::uint64_t value = fresh();
    std::memcpy(&image[i * stride_], &value, 8);
    if (!device) *word(run->cell(i)) = value;
    model_.stores(host_, run->cell(i), value);
    if (device && apart) {
      expect(aclrtMemcpy(address(*run) + i * stride_, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    }
  }
  if (device && !apart)
    expect(aclrtMemcpy(address(*run), image.size(), image.data(), image.size(), ACL_MEMCPY_HOST_TO_DEVICE));
}

// A copy that waits for nothing that is queued (M-241).
inline void StreamProgram::copy_at_once() {
  const Nodes before = model_.before_one_after({host_});
  const auto anywhere = [](const Block&) { return true; };
  const std::size_t count = 1 + pick(6);
  const std::optional<Run> from = pick_run(anywhere, count, before, false);
  const std::optional<Run> to = pick_run(anywhere, count, before, true);
  if (!from || !to) return;
  if (from->block == to->block && from->first < to->first + count && to->first < from->first + count) return;
  say(text("copy at once ", name(*from), " -> ", name(*to), " (node ", model_.size(), ")"));
  expect(aclrtMemcpy(address(*to), bytes(*to), address(*from), bytes(*from), ACL_MEMCPY_DEFAULT));
  const NodeId node = host_step();
  for (std::size_t i = 0; i < count; ++i) model_.moves(node, to->cell(i), node, from->cell(i));
}

}  // namespace belay_test
