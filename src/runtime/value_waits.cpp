#include "runtime/value_waits.h"

#include "base/words.h"
#include "runtime/telling.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
constexpr auto kLookAgain = 1ms;  // where host code writes device memory itself (P-47)

}  // namespace

class ValueWaitTask : public schedule::Task {
 public:
  ValueWaitTask(ValueWaits& all, std::uintptr_t address, std::uint64_t value, std::uint32_t condition)
      : all_{all}, address_{address}, value_{value}, condition_{condition} {}

  schedule::Description describe() override {
    Memory& memory = all_.memory();
    return {observe::Operation::WaitValue,
            sizeof(std::uint64_t),
            {.value = value_, .flag = condition_},
            {touch(memory, memory.locate(address_), false, {sizeof(std::uint64_t)})}};
  }

  schedule::Next begin(schedule::Scheduler& scheduler, schedule::Stream& stream,
                       schedule::Lock& lock) override {
    stream_ = &stream;
    all_.add(*this);
    return due(scheduler, stream, lock);
  }

  schedule::Next due(schedule::Scheduler& scheduler, schedule::Stream& stream,
                     schedule::Lock& lock) override {
    if (reached()) {
      all_.remove(*this);
      return schedule::Next::Finished;
    }
    if (all_.memory().host_may_write(address_))
      scheduler.call_at(schedule::Clock::now() + kLookAgain, stream, lock);
    return schedule::Next::Wait;
  }

  void drop(schedule::Scheduler&, schedule::Stream&, schedule::Lock&) override {
    if (stream_ != nullptr) all_.remove(*this);
  }

  bool touched_by(std::uintptr_t start, std::size_t bytes) const {
    return start < address_ + sizeof(std::uint64_t) && address_ < start + bytes;
  }

  bool reached() const {
    Memory& memory = all_.memory();
    if (!memory.find(address_)) {
      observe::note("P-49", [&] {
        return fmt::format("the word {} that a stream waits for was freed; the wait counts as over",
                           hex(address_));
      });
      return true;
    }
    if (!memory.backing().keeps_bytes()) return true;  // nothing that is written could ever be seen
    return value_reached(memory.load64(address_), value_, condition_);
  }

  schedule::Stream& stream() const { return *stream_; }

 private:
  ValueWaits& all_;
  std::uintptr_t address_;
  std::uint64_t value_;
  std::uint32_t condition_;
  schedule::Stream* stream_ = nullptr;  // once it has begun
};

ValueWaits::ValueWaits(schedule::Scheduler& scheduler, Memory& memory)
    : scheduler_{scheduler}, memory_{memory} {
  memory.watch().set([this](std::uintptr_t start, std::size_t bytes) { look_again(start, bytes); });
}

void ValueWaits::add(ValueWaitTask& task) {
  memory_.watch().add();
  waiting_.push_back(&task);
}

void ValueWaits::remove(ValueWaitTask& task) {
  std::erase(waiting_, &task);
  memory_.watch().remove();
}

void ValueWaits::look_again(std::uintptr_t start, std::size_t bytes) {
  schedule::Lock lock = scheduler_.lock();
  std::vector<ValueWaitTask*> over;
  for (ValueWaitTask* each : waiting_) {
    if (each->touched_by(start, bytes) && each->reached()) over.push_back(each);
  }
  for (ValueWaitTask* each : over) {
    remove(*each);
    if (each->description != nullptr) each->description->details.record = 1;
    scheduler_.release(each->stream(), each->sequence, lock);
  }
}

std::unique_ptr<schedule::Task> wait_for_value(ValueWaits& all, std::uintptr_t address, std::uint64_t value,
                                               std::uint32_t condition) {
  return std::make_unique<ValueWaitTask>(all, address, value, condition);
}

}  // namespace belay
