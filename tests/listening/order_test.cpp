// The order that events of submission tell is the order that the model of the stream tests knows.
//
// A program of streams runs as in those tests, and its model is fed by the program as it is there. A second
// one is fed from events alone. At the end of each round both say of each pair of tasks whether one happens
// before the other, and of each task what it reads and writes.
#include <map>

#include "support/listening.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/stream_host_steps.h"
#include "support/stream_memory_steps.h"
#include "support/stream_order_steps.h"

namespace order_test {

using namespace belay;
using namespace belay_test;
using observe::Operation;
using observe::What;

// Feeds a model from what is heard.
class FromEvents {
 public:
  explicit FromEvents(std::uint32_t host_thread) : host_thread_{host_thread} { clear(); }

  void clear() {
    model_.clear();
    host_ = model_.add({});
    streams_.clear();
    nodes_.clear();
    records_.clear();
    waiting_for_record_.clear();
    notifies_.clear();
  }

  void hear(const Heard& heard) {
    if (heard.is(What::Submitted)) submitted(heard);
    if (heard.is(What::Waited) && heard.event.thread == host_thread_) waited(heard);
  }
  // The program has seen these functions happen, by means of its own.
  void seen(const std::vector<std::uint64_t>& tasks) {
    std::vector<NodeId> after{host_};
    for (const std::uint64_t each : tasks) after.push_back(nodes_.at(each));
    host_ = model_.add(after);
  }

  bool knows(std::uint64_t task) const { return nodes_.contains(task); }
  bool before(std::uint64_t first, std::uint64_t then) const {
    return model_.before(nodes_.at(first), nodes_.at(then));
  }
  std::size_t size() const { return model_.size(); }

 private:
  struct Line {
    std::map<std::uint64_t, NodeId> ends;  // by position: what its stream has done when that is reached
    std::optional<NodeId> tail, callback;
  };
  struct Pairs {
    std::vector<NodeId> records, waits;  // that have no partner yet
  };

  void submitted(const Heard& heard) {
    const auto& [event, details, touches, text] = heard;
    Line& line = streams_[details.stream];
    const bool calls = event.operation == Operation::Callback;
    std::vector<NodeId> after{host_};
    if (line.tail) after.push_back(*line.tail);
    if (calls && line.callback) after.push_back(*line.callback);
    Pairs* pairs = event.operation == Operation::RecordNotify || event.operation == Operation::WaitNotify
                       ? &notifies_[details.object]
                       : nullptr;
    if (event.operation == Operation::WaitEvent && records_.contains(details.record))
      after.push_back(records_.at(details.record));
    if (event.operation == Operation::WaitNotify && !pairs->records.empty()) {
      after.push_back(pairs->records.front());
      pairs->records.erase(pairs->records.begin());
      pairs = nullptr;
    }
    const NodeId node = model_.add(after);
    nodes_[event.serial] = node;
    if (event.operation == Operation::WaitEvent && !records_.contains(details.record))
      waiting_for_record_[details.record].push_back(node);
    if (event.operation == Operation::RecordEvent) {
      records_[details.record] = node;
      for (const NodeId wait : waiting_for_record_[details.record]) model_.order(node, wait);
      waiting_for_record_.erase(details.record);
    }
    if (event.operation == Operation::WaitNotify && pairs != nullptr) pairs->waits.push_back(node);
    if (event.operation == Operation::RecordNotify) {
      if (pairs->waits.empty()) {
        pairs->records.push_back(node);
      } else {
        model_.order(node, pairs->waits.front());
        pairs->waits.erase(pairs->waits.begin());
      }
    }
    if (calls) line.callback = node;
    if (!calls || details.flag != 0) line.tail = node;
    if (line.tail) line.ends[details.position] = *line.tail;
  }

  void waited(const Heard& heard) {
    std::vector<NodeId> after{host_};
    const auto last = [&](const std::map<std::uint64_t, NodeId>& of, std::uint64_t limit) {
      const auto beyond = of.upper_bound(limit);
      if (beyond != of.begin()) after.push_back(std::prev(beyond)->second);
    };
    last(streams_[heard.details.stream].ends, heard.details.position);
    host_ = model_.add(after);
  }

  const std::uint32_t host_thread_;
  HappensBefore model_{0};
  NodeId host_ = 0;
  std::map<std::uint64_t, Line> streams_;
  std::map<std::uint64_t, NodeId> nodes_, records_;
  std::map<std::uint64_t, std::vector<NodeId>> waiting_for_record_;
  std::map<std::uint64_t, Pairs> notifies_;
};

class Overheard : public StreamProgram {
 public:
  Overheard(const Options& options, std::uint32_t thread) : StreamProgram{options}, events_model_{thread} {}

  void start() {
    running().memory().listeners_changed();
    begin();
    hear_all();
    events_model_.clear();  // as the program's own, which begins now
  }
  std::size_t pairs() const { return pairs_; }
  std::size_t ordered() const { return ordered_; }

 private:
  void hear_all() {
    for (Heard& each : recorder_.take()) {
      events_model_.hear(each);
      if (each.is(What::Allocated)) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) numbers_[each.event.serial] = each.event.address;
      }
      if (each.is(What::Submitted)) last_ = std::move(each);
    }
  }
  void on_queued(NodeId node) override {
    const std::uint64_t before = last_.event.serial;
    hear_all();
    if (last_.event.serial == before) return;  // a wait that waits for nothing needs no task
    tasks_.push_back({node, last_});
  }
  void on_calls_seen(const std::vector<NodeId>& nodes) override {
    hear_all();
    std::vector<std::uint64_t> seen;
    for (const NodeId node : nodes) {
      const auto found = std::ranges::find(tasks_, node, &Task::node);
      check(found != tasks_.end(), "a call without a task");
      seen.push_back(found->told.event.serial);
    }
    events_model_.seen(seen);
  }
  void on_clear() override {
    hear_all();
    for (const Task& each : tasks_) {
      compare_memory(each);
      for (const Task& other : tasks_) {
        const bool expected = model_.before(other.node, each.node);
        const bool heard = events_model_.before(other.told.event.serial, each.told.event.serial);
        check(expected == heard, "node ", other.node, expected ? " happens" : " does not happen",
              " before node ", each.node, ", but events tell otherwise");
        ++pairs_;
        ordered_ += expected ? 1 : 0;
      }
    }
    tasks_.clear();
    events_model_.clear();
  }

  struct Task {
    NodeId node;
    Heard told;
  };
  void compare_memory(const Task& task) {
    const Operation operation = task.told.event.operation;
    const bool moves =
        (operation >= Operation::Copy && operation <= Operation::CopyTaken) || operation == Operation::Fill;
    if (!moves) return;
    std::set<Cell> read, written;
    for (const observe::Touch& touch : task.told.touches) {
      const std::uint64_t start = (touch.extent == 0 ? 0 : numbers_.at(touch.extent)) + touch.offset;
      for (std::uint64_t row = 0; row < touch.rows; ++row)
        add_cells(touch.writes ? written : read, start + row * touch.pitch, touch.bytes);
    }
    const auto [reads, writes] = model_.touched(task.node);
    check(written == writes, "node ", task.node, " writes other cells than its event tells");
    if (operation != Operation::CopyTaken)  // which has read during the call
      check(read == reads, "node ", task.node, " reads other cells than its event tells");
  }
  void add_cells(std::set<Cell>& cells, std::uint64_t start, std::uint64_t bytes) {
    bool known = false;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const auto base = reinterpret_cast<std::uint64_t>(blocks_[block].start);
      if (start < base || start >= base + kCells * stride_) continue;
      known = true;
      for (std::size_t i = 0; i < kCells; ++i) {
        if (base + i * stride_ < start + bytes && start < base + i * stride_ + 8)
          cells.insert(Run{block, i, 1}.cell(0));
      }
    }
    const auto signals = reinterpret_cast<std::uint64_t>(signals_[0].word);
    check(known || start - signals < kSignals * 8, "an event tells of memory that the program does not have");
  }

  RecorderOf<true> recorder_{{.wanted = Recorder::kAll}};
  FromEvents events_model_;
  std::map<std::uint64_t, std::uint64_t> numbers_;  // of blocks: where they start
  Heard last_{};
  std::vector<Task> tasks_;
  std::size_t pairs_ = 0, ordered_ = 0;
};

// What a stream sees in a word cannot be told from submissions: no waits for words.
Command without_words(Command command) {
  if (command.op >= 60 && command.op < 66) command.op -= 20;
  return command;
}

void run_program(const char* schedule, std::uint64_t number) {
  SCOPED_TRACE(text(seed_text(), ", program ", number, ", BELAY_SCHEDULE=", schedule));
  const Ending ending = run_captured(
      {{"BELAY_SCHEDULE", schedule}, {"BELAY_DEVICES", "2"}, {"BELAY_HBM", "64M"}, {"BELAY_LEAKS", "off"}},
      [&] {
        std::mt19937 random = test_random(number);
        StreamProgram::Options options;
        static constexpr std::size_t kStrides[] = {8, 24, 2048};
        options.stride = kStrides[random() % std::size(kStrides)];
        options.round = 100 + random() % 300;
        options.calm = 1 + random() % 6;
        options.bits = random();
        Overheard program{options, static_cast<std::uint32_t>(::gettid())};
        try {
          program.start();
          for (int i = 0; i < 400; ++i)
            program.step(without_words(
                {static_cast<unsigned>(random() % 97), (std::uint64_t{random()} << 32) | random()}));
          program.quiesce();
          program.end();
        } catch (const belay_test::Trouble& trouble) {
          std::cout << trouble.what() << "\n";
          for (const std::string& line : program.history()) std::cout << "  " << line << "\n";
          std::cout.flush();
          ::_exit(1);
        }
        std::cout << program.pairs() << " " << program.ordered() << std::endl;
        ::_exit(program.pairs() > 1000 && program.ordered() > 500 ? 0 : 2);
      });
  EXPECT_TRUE(ending.clean()) << ending;
}

class Order : public ::testing::TestWithParam<const char*> {};

TEST_P(Order, R17_R165_R170_R208_EventsOfSubmissionTellWhatHappensBeforeWhat) {
  for (std::uint64_t i = 0; i < slice(4U, 100U, 2U); ++i) run_program(GetParam(), i);
}
INSTANTIATE_TEST_SUITE_P(Schedule, Order, ::testing::Values("eager", "fifo", "lazy", "seed:7"));

}  // namespace order_test
