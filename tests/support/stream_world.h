// Devices, contexts, streams and memory under the eyes of a model of what may be seen (happens_before.h).
//
// One host thread acts; a second thread for each device serves callbacks. What a step does depends on the
// state it meets, so any part of a program is a program too, and each step keeps within what the documents
// allow.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/happens_before.h"
#include "support/waiting.h"

namespace belay_test {

struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream all;
  (all << ... << parts);
  return all.str();
}

class StreamWorld {
 public:
  static constexpr std::size_t kCells = 12;  // of a block
  enum class Place : std::uint8_t { device, pinned, pageable };
  struct Block {
    const char* name;
    Place place;
    int device;
    std::uint8_t* start;
  };
  struct Binding {
    aclrtContext handle;
    int device;
    bool is_explicit;
  };
  struct Lane {
    std::string name;
    std::size_t context;
    aclrtStream handle;
    bool is_default, has_subscriber, alive;
    NodeId tail;
    std::optional<NodeId> last_callback;
    unsigned promises;          // waits of other streams that something in this one will end
    std::vector<NodeId> mine;   // in this round
    std::vector<NodeId> signs;  // of these, what other streams may be waiting for apart from events
  };
  // A few neighbouring cells of one block.
  struct Run {
    std::size_t block, first, count;
    Cell cell(std::size_t i) const { return block * kCells + first + i; }
  };
  // One call of a function of the program, by a stream.
  struct Call {
    StreamWorld* world;
    std::size_t id;
    std::uint64_t round;
    NodeId node;
    bool blocks;
    std::optional<std::pair<Cell, std::uint64_t>> store;
    std::vector<Cell> look;
    std::vector<std::uint64_t> seen;
    unsigned times;
  };
  struct Counts {
    std::uint64_t steps, done, words, words_sure, calls;
  };

  // Neighbouring cells are `stride` bytes apart. Of 100 choices of memory `races` may race. If none does, and
  // nothing is taken back (`sure`), what each look finds is certain.
  StreamWorld(std::size_t stride, unsigned races, bool sure)
      : stride_{stride},
        races_{races},
        sure_{sure && races == 0},
        model_{std::size(kBlocks) * kCells},
        blocks_{std::begin(kBlocks), std::end(kBlocks)} {}
  StreamWorld(const StreamWorld&) = delete;
  StreamWorld& operator=(const StreamWorld&) = delete;
  virtual ~StreamWorld() = default;

  const std::vector<std::string>& history() const { return history_; }
  const Counts& counts() const { return counts_; }
  std::uint64_t progress() const { return progress_.load(); }

 protected:
  static constexpr Block kBlocks[] = {
      {"D0a", Place::device, 0, nullptr}, {"D0b", Place::device, 0, nullptr},
      {"D1", Place::device, 1, nullptr},  {"P0", Place::pinned, -1, nullptr},
      {"P1", Place::pinned, -1, nullptr}, {"U", Place::pageable, -1, nullptr},
  };

  // --- the story -----------------------------------------------------------------------------------------
  void say(std::string line) {
    history_.push_back(std::move(line));
    ++progress_;
  }
  template <typename... Parts>
  static void check(bool holds, const Parts&... parts) {
    if (!holds) throw Trouble{text(parts...)};
  }
  // The answer of a call whose story is told already.
  void expect(int got, int expected = 0) {
    ++counts_.done;
    const char* const message = got == 0 ? nullptr : aclGetRecentErrMsg();
    if (got == expected) return;
    throw Trouble{
        text("the call answers ", got, " instead of ", expected, ": ", message == nullptr ? "" : message)};
  }

  // --- the setting ---------------------------------------------------------------------------------------
  void open() {
    for (const int device : {0, 1}) {
      expect(aclrtSetDevice(device));
      contexts_.push_back({nullptr, device, false});
      expect(aclrtGetCurrentContext(&contexts_.back().handle));
      expect(aclrtDeviceEnablePeerAccess(1 - device, 0));
    }
    bound_ = 1;
    for (Block& block : blocks_) {
      void* start = nullptr;
      const std::size_t size = kCells * stride_;
      if (block.place == Place::device) {
        bind(static_cast<std::size_t>(block.device));
        expect(aclrtMalloc(&start, size, ACL_MEM_MALLOC_NORMAL_ONLY));
      } else if (block.place == Place::pinned) {
        expect(aclrtMallocHost(&start, size));
      } else {
        pageable_.assign(size, 0);
        start = pageable_.data();
      }
      block.start = static_cast<std::uint8_t*>(start);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      subscribers_[i] = std::thread{[this, i] { serve(i); }};
      while (!subscriber_ready_[i].load()) std::this_thread::yield();
    }
    for (std::size_t i = 0; i < 2; ++i) add_lane(i, true, i == 1);
    add_context();
    model_.clear();
    host_ = model_.add({});
    for (const Block& block : blocks_) {
      std::vector<std::uint64_t> values;
      for (std::size_t i = 0; i < kCells; ++i) values.push_back(fresh());
      put(block, values);
      for (std::size_t i = 0; i < kCells; ++i)
        model_.stores(host_, Run{index(block), i, 1}.cell(0), values[i]);
    }
  }
  void add_context() {
    Binding context{nullptr, 0, true};
    say("create a context on device 0");
    expect(aclrtCreateContext(&context.handle, 0));
    contexts_.push_back(context);
    bound_ = contexts_.size() - 1;
    add_lane(bound_, true, false);
  }
  void add_lane(std::size_t context, bool is_default, bool has_subscriber, std::uint32_t priority = 0,
                std::uint32_t flags = 0) {
    Lane lane{text(is_default ? "default" : "s", lanes_.size()),
              context,
              nullptr,
              is_default,
              has_subscriber,
              true,
              host_,
              {},
              0,
              {},
              {}};
    bind(context);
    say(text("create stream ", lane.name, " in context ", context, has_subscriber ? " with callbacks" : ""));
    if (is_default)
      expect(aclrtCtxGetCurrentDefaultStream(&lane.handle));
    else if (priority == 0 && flags == 0)
      expect(aclrtCreateStream(&lane.handle));
    else
      expect(aclrtCreateStreamWithConfig(&lane.handle, priority, flags));
    if (has_subscriber) expect(aclrtSubscribeReport(subscriber_of(lane), lane.handle));
    lanes_.push_back(lane);
  }
  std::uint64_t subscriber_of(const Lane& lane) {
    return static_cast<std::uint64_t>(
        subscribers_[static_cast<std::size_t>(contexts_[lane.context].device)].native_handle());
  }
  void bind(std::size_t context) {
    if (context == bound_) return;
    expect(aclrtSetCurrentContext(contexts_[context].handle));
    bound_ = context;
  }
  void close_subscribers() {
    finished_ = true;
    for (std::thread& each : subscribers_) each.join();
  }

  // --- memory --------------------------------------------------------------------------------------------
  std::uint64_t fresh() { return 0x5EED000000000000U + ++values_made_; }
  std::size_t index(const Block& block) const { return static_cast<std::size_t>(&block - blocks_.data()); }
  std::uint8_t* address(const Run& run) const { return blocks_[run.block].start + run.first * stride_; }
  std::size_t bytes(const Run& run) const { return (run.count - 1) * stride_ + 8; }
  std::string name(const Run& run) const {
    return text(blocks_[run.block].name, "[", run.first, "..", run.first + run.count - 1, "]");
  }
  // A word of host memory, which somebody else may be writing.
  volatile std::uint64_t* word(Cell cell) const {
    return reinterpret_cast<volatile std::uint64_t*>(blocks_[cell / kCells].start + cell % kCells * stride_);
  }
  void put(const Block& block, const std::vector<std::uint64_t>& values) {
    std::vector<std::uint8_t> image(kCells * stride_);
    for (std::size_t i = 0; i < kCells; ++i) std::memcpy(&image[i * stride_], &values[i], 8);
    if (block.place == Place::device)
      expect(aclrtMemcpy(block.start, image.size(), image.data(), image.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    else
      std::memcpy(block.start, image.data(), image.size());
  }
  // What the host finds there now.
  std::vector<std::uint64_t> fetch(const Run& run) {
    std::vector<std::uint64_t> values(run.count);
    if (blocks_[run.block].place == Place::device) {
      std::vector<std::uint8_t> image(bytes(run));
      expect(aclrtMemcpy(image.data(), image.size(), address(run), image.size(), ACL_MEMCPY_DEVICE_TO_HOST));
      for (std::size_t i = 0; i < run.count; ++i) std::memcpy(&values[i], &image[i * stride_], 8);
    } else {
      for (std::size_t i = 0; i < run.count; ++i) values[i] = *word(run.cell(i));
    }
    return values;
  }
  void must_be_seen(NodeId reader, Cell cell, std::uint64_t value) {
    const std::set<std::uint64_t> allowed = model_.may_see(reader, cell);
    ++counts_.words;
    if (allowed.size() == 1) ++counts_.words_sure;
    check(!sure_ || allowed.size() == 1, "the model is wrong: there should be no race for ",
          name({cell / kCells, cell % kCells, 1}));
    if (allowed.contains(value)) return;
    std::ostringstream list;
    for (const std::uint64_t each : allowed) list << " " << std::hex << each;
    throw Trouble{text(name({cell / kCells, cell % kCells, 1}), " holds ", std::hex, value,
                       ", allowed:", list.str(), std::dec, " (node ", reader, ")")};
  }
  void must_be_seen(NodeId reader, const Run& run, const std::vector<std::uint64_t>& values) {
    for (std::size_t i = 0; i < run.count; ++i) must_be_seen(reader, run.cell(i), values[i]);
  }
  // In a program without races only where nobody writes.
  void look_at_memory() {
    const Nodes before = model_.before_one_after({host_});
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      for (std::size_t i = 0; i < kCells; ++i) {
        const Run run{block, i, 1};
        const Race race = model_.race(before, run.cell(0), false);
        const bool device = blocks_[block].place == Place::device;  // a call each, so only some of them
        if (race == Race::with_a_fill || (race == Race::some && races_ == 0)) continue;
        if (device && (closed_ || ++looks_ % 3 != 0)) continue;
        must_be_seen(host_, run, fetch(run));
      }
    }
  }

  // --- order ---------------------------------------------------------------------------------------------
  NodeId host_step(std::vector<NodeId> after = {}) {
    after.push_back(host_);
    return host_ = model_.add(after);
  }
  Nodes before_next(const Lane& lane) const { return model_.before_one_after({lane.tail, host_}); }
  NodeId queued(Lane& lane, std::vector<NodeId> after = {}) {
    after.push_back(lane.tail);
    after.push_back(host_);
    lane.tail = model_.add(after);
    lane.mine.push_back(lane.tail);
    on_queued(lane.tail);
    return lane.tail;
  }
  // For those who look over the model's shoulder: it has a node for what was just queued; the host has seen
  // functions of the program happen; all is about to be forgotten.
  virtual void on_queued(NodeId) {}
  virtual void on_calls_seen(const std::vector<NodeId>&) {}
  virtual void on_clear() {}

  bool held(const Lane& lane) const { return model_.held(lane.tail); }
  // The host has waited for these; what that promises is looked at.
  void waited_for(const std::vector<NodeId>& nodes) {
    host_step(nodes);
    look_at_calls();
    for (const Call* each : calls_of_round_) {
      check(!each->blocks || !model_.before(each->node, host_) || model_.fate(each->node) != Fate::sure ||
                each->times == 1,
            "call ", each->id, " has not happened although the host waited for it");
    }
    look_at_memory();
  }

  // --- functions of the program --------------------------------------------------------------------------
  Call& new_call(bool blocks) {
    calls_.push_back({this, calls_.size(), round_, 0, blocks, {}, {}, {}, 0});
    calls_of_round_.push_back(&calls_.back());
    return calls_.back();
  }
  static void called(void* argument) {
    Call& call = *static_cast<Call*>(argument);
    StreamWorld& world = *call.world;
    std::vector<std::uint64_t> seen;
    for (const Cell cell : call.look) seen.push_back(std::uint64_t{*world.word(cell)});
    if (call.store) *world.word(call.store->first) = call.store->second;
    const std::lock_guard lock{world.log_mutex_};
    call.seen = seen;
    world.log_.push_back(&call);
  }
  void look_at_calls() {
    std::vector<Call*> news;
    {
      const std::lock_guard lock{log_mutex_};
      news.swap(log_);
    }
    for (Call* call : news) {
      check(++call->times == 1, "call ", call->id, " happens twice");
      ++counts_.calls;
      if (call->round != round_) continue;
      check(model_.fate(call->node) != Fate::dropped, "call ", call->id, " happens after it was dropped");
      check(!model_.held(call->node), "call ", call->id, " happens although its stream is held up");
      for (const Call* earlier : order_of_calls_) {
        check(!model_.before(call->node, earlier->node), "call ", call->id, " happens after call ",
              earlier->id, " and should have happened before it");
      }
      order_of_calls_.push_back(call);
      for (std::size_t i = 0; i < call->look.size(); ++i)
        must_be_seen(call->node, call->look[i], call->seen[i]);
    }
  }
  // Waits without a call of the library until these have happened.
  void await_calls(const std::function<bool(const Call&)>& which) {
    std::vector<NodeId> nodes;
    for (Call* each : calls_of_round_) {
      if (model_.held(each->node) || model_.fate(each->node) != Fate::sure || !which(*each)) continue;
      nodes.push_back(each->node);
      const bool happened = eventually([&] { return look_at_calls(), each->times != 0; }, 30s);
      check(happened, "call ", each->id, " does not happen");
    }
    host_step(nodes);
    on_calls_seen(nodes);
  }

  const std::size_t stride_;
  const unsigned races_;
  const bool sure_;
  HappensBefore model_;
  std::vector<Block> blocks_;
  std::vector<std::uint8_t> pageable_;
  std::vector<Binding> contexts_;
  std::size_t bound_ = 0;
  std::deque<Lane> lanes_;
  NodeId host_ = 0;
  std::uint64_t round_ = 0, values_made_ = 0, looks_ = 0;
  bool closed_ = false;  // the devices are, and there is no device memory any more
  std::deque<Call> calls_;
  std::vector<Call*> calls_of_round_, order_of_calls_;
  Counts counts_{};

 private:
  void serve(std::size_t i) {
    subscriber_ready_[i] = true;
    while (!finished_.load()) {
      const int answer = aclrtProcessReport(50);
      if (answer != ACL_SUCCESS && answer != ACL_ERROR_RT_REPORT_TIMEOUT)
        let_time_pass(1ms);  // nobody is subscribed yet
    }
  }
  std::vector<std::string> history_;
  std::atomic<std::uint64_t> progress_{0};
  std::mutex log_mutex_;
  std::vector<Call*> log_;
  std::array<std::thread, 2> subscribers_;
  std::array<std::atomic<bool>, 2> subscriber_ready_{};
  std::atomic<bool> finished_{false};
};

}  // namespace belay_test
