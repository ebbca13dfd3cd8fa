#include "runtime/memory_tasks.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/words.h"
#include "memory/following.h"
#include "runtime/copy_descriptor.h"
#include "runtime/telling.h"
#include "schedule/scheduler.h"

namespace belay {
namespace {

using observe::Operation;
using schedule::Description;
using schedule::Lock;
using schedule::Next;
using schedule::RunResult;
using schedule::Scheduler;
using schedule::Stream;

RunResult outcome(Status status, bool more = false) {
  if (status) return {more, nullptr};
  return {false, status.take_refusal()};
}

// How much of a range to do next. Cuts lie at multiples of 8, so that nobody ever sees half a word (P-41).
std::size_t part_of(const void* start, std::size_t left, std::size_t at_most) {
  constexpr std::size_t kWord = 8;
  if (at_most >= left) return left;
  const std::size_t behind_word = address_of(start) % kWord;
  return std::min(
      left, at_most <= kWord ? kWord - behind_word : round_down(behind_word + at_most, kWord) - behind_word);
}

// A task that may take the time of a link: it waits until that is over, and moves its bytes then. Late is
// when a program that did not wait is found out.
class MemoryTask : public schedule::Task {
 public:
  explicit MemoryTask(const Workplace& place) : place_{place} {}

  Next begin(Scheduler& scheduler, Stream& stream, Lock& lock) override {
    if (!place_.links.limited()) return Next::Run;
    const std::optional<schedule::Time> over = place_.links.take(way_, link_, length());
    if (!over) return Next::Run;
    if (scheduler.is_driven()) {  // one task at a time, so that nothing depends on the clock
      over_ = *over;
      return Next::Run;
    }
    scheduler.call_at(*over, stream, lock, true);
    return Next::Wait;
  }

  RunResult run(std::size_t at_most) final {
    if (over_) std::this_thread::sleep_until(*std::exchange(over_, std::nullopt));
    return work(at_most);
  }

 protected:
  // Which link it takes, as it was found at the call.
  void goes(const Location& to, const Location& from) {
    way_ = way_between(to, from);
    link_ = to.is_device() ? to.device() : from.device();
  }
  virtual std::size_t length() const { return 0; }
  virtual RunResult work(std::size_t at_most) = 0;
  Transfer transfer() const { return Transfer{place_.memory, place_.device}; }
  Location locate(const void* at) const { return place_.memory.locate(at); }
  Description written(Operation operation, const void* to, const Amount& amount, std::uint64_t value) {
    const auto [bytes, room, kind] = amount;
    return {
        operation, bytes, {.value = value}, {touch(place_.memory, locate(to), true, {bytes, 0, 1, room})}};
  }
  Description copied(Operation operation, const void* to, const void* from, const Amount& amount) {
    const auto [bytes, room, kind] = amount;
    const auto [write, read] =
        touches_of_copy(place_.memory, locate(to), locate(from), {bytes, 0, 1, room}, {bytes});
    return {operation, bytes, {.flag = kind}, {write, read}};
  }
  const Workplace place_;

 private:
  Way way_ = Way::OnHost;
  std::uint32_t link_ = 0;
  std::optional<schedule::Time> over_;
};

// Pinned memory may be freed by another thread while a copy is under way. For as long as this lives it is
// not; it says whether the memory was still there.
class PinnedEnds {
 public:
  PinnedEnds(Memory& memory, const void* to, const void* from, bool to_pinned, bool from_pinned) {
    // One lock covers all of host memory, so one end is enough for both.
    if (to_pinned) hold_ = memory.host().hold(address_of(to));
    there_ = !to_pinned || hold_.owns_lock();
    if (!there_ || !from_pinned) return;
    if (hold_.owns_lock()) {
      there_ = memory.host().knows_held(address_of(from), hold_);
    } else {
      hold_ = memory.host().hold(address_of(from));
      there_ = hold_.owns_lock();
    }
  }
  bool still_there() const { return there_; }

 private:
  HostMemory::Hold hold_;
  bool there_ = false;
};

// Outside the device window, where a block that is gone is found by the check of its range.
bool is_pinned_host(const Location& at) { return at.is(Location::Kind::Pinned) && !at.in_window; }

Refusal pinned_gone(const void* to, const void* from) {
  return driver_refuses(
      "M-270",
      fmt::format("host memory of the copy from {} to {} was freed or unregistered before its turn came",
                  hex(from), hex(to)),
      "keep source and destination until the stream has passed the copy");
}

class CopyTask final : public MemoryTask {
 public:
  CopyTask(const Workplace& place, const Location& to, const Location& from, const Amount& amount)
      : MemoryTask{place},
        to_{reinterpret_cast<std::byte*>(to.address)},
        from_{reinterpret_cast<const std::byte*>(from.address)},
        amount_{amount},
        to_pinned_{is_pinned_host(to)},
        from_pinned_{is_pinned_host(from)},
        both_mapped_{to.block.mapped && from.block.mapped} {
    goes(to, from);
  }
  Description describe() override { return copied(Operation::Copy, to_, from_, amount_); }

 protected:
  std::size_t length() const override { return amount_.bytes; }

  RunResult work(std::size_t at_most) override {
    const std::size_t bytes = amount_.bytes;
    if (done_ == 0) {
      Status fits =
          transfer().check_copy(place_.memory.locate_bytes(to_), place_.memory.locate_bytes(from_), bytes);
      if (!fits) return outcome(std::move(fits));
    }
    // Bytes that overlap move as if through a temporary (M-244), which pieces would not. Two mappings may
    // lead to the same.
    const bool apart = !both_mapped_ && !overlap(address_of(to_), bytes, address_of(from_), bytes);
    const std::size_t step = apart ? part_of(to_ + done_, bytes - done_, at_most) : bytes;
    const PinnedEnds ends{place_.memory, to_, from_, to_pinned_, from_pinned_};
    if (!ends.still_there()) return {false, pinned_gone(to_, from_)};
    const Following::Scope access{to_, from_, bytes};
    Status moved = transfer().copy(to_ + done_, from_ + done_, step);
    done_ += step;
    return outcome(std::move(moved), done_ < bytes);
  }

 private:
  std::byte* const to_;
  const std::byte* const from_;
  const Amount amount_;
  const bool to_pinned_, from_pinned_, both_mapped_;
  std::size_t done_ = 0;
};

class CopyRowsTask final : public MemoryTask {
 public:
  struct Ends {
    std::byte* to;
    std::size_t to_pitch;
    const std::byte* from;
    std::size_t from_pitch, width, height;
    std::uint32_t kind;
  };
  CopyRowsTask(const Workplace& place, const Location& to, const Location& from, const Ends& ends)
      : MemoryTask{place}, ends_{ends}, to_pinned_{is_pinned_host(to)}, from_pinned_{is_pinned_host(from)} {
    goes(to, from);
  }
  Description describe() override {
    const auto [write, read] = touches_of_copy(place_.memory, locate(ends_.to), locate(ends_.from),
                                               {ends_.width, ends_.to_pitch, ends_.height},
                                               {ends_.width, ends_.from_pitch, ends_.height});
    return {Operation::CopyRows, length(), {.flag = ends_.kind}, {write, read}};
  }

 protected:
  std::size_t length() const override { return ends_.width * ends_.height; }

  RunResult work(std::size_t at_most) override {
    const auto [to, to_pitch, from, from_pitch, width, height, kind] = ends_;
    const auto located = [&](const std::byte* at) { return place_.memory.locate_bytes(at); };
    if (done_ == 0) {
      Status fits = transfer().check_rows(located(to), to_pitch, located(from), from_pitch, width, height);
      if (!fits) return outcome(std::move(fits));
    }
    const std::size_t step = std::min(height - done_, std::max<std::size_t>(1, at_most / width));
    const PinnedEnds ends{place_.memory, to, from, to_pinned_, from_pinned_};
    if (!ends.still_there()) return {false, pinned_gone(to, from)};
    Status moved = transfer().copy_rows(located(to + done_ * to_pitch), to_pitch,
                                        located(from + done_ * from_pitch), from_pitch, width, step);
    done_ += step;
    return outcome(std::move(moved), done_ < height);
  }

 private:
  const Ends ends_;
  const bool to_pinned_, from_pinned_;
  std::size_t done_ = 0;  // rows
};

// Several copies in no particular order (M-299), as one task.
class CopyBatchTask final : public MemoryTask {
 public:
  CopyBatchTask(const Workplace& place, std::span<const BatchItem> items, std::span<const BatchEnds> ends)
      : MemoryTask{place} {
    goes(ends[0].to, ends[0].from);
    for (std::size_t i = 0; i < items.size(); ++i) {
      length_ += items[i].bytes;
      copies_.push_back(
          std::make_unique<CopyTask>(place, ends[i].to, ends[i].from, Amount{items[i].bytes, items[i].room}));
    }
  }
  Description describe() override {
    Description all{Operation::CopyBatch, length_, {}, {}};
    for (const std::unique_ptr<CopyTask>& each : copies_)
      std::ranges::copy(each->describe().touches, std::back_inserter(all.touches));
    return all;
  }

 protected:
  std::size_t length() const override { return length_; }

  RunResult work(std::size_t at_most) override {
    RunResult result = copies_[done_]->run(at_most);
    if (result.trouble) return result;
    if (!result.more) ++done_;
    return {done_ < copies_.size(), nullptr};
  }

 private:
  std::vector<std::unique_ptr<CopyTask>> copies_;
  std::size_t length_ = 0, done_ = 0;
};

class WriteTask final : public MemoryTask {
 public:
  WriteTask(const Workplace& place, const Location& to, const Location& from, const Amount& amount)
      : MemoryTask{place},
        to_{reinterpret_cast<std::byte*>(to.address)},
        taken_{new std::byte[amount.bytes]},
        amount_{amount} {
    const Following::Scope access{0, from.address, amount.bytes};
    std::memcpy(taken_.get(), reinterpret_cast<const void*>(from.address), amount.bytes);
    goes(to, from);
    from_ = reinterpret_cast<const void*>(from.address);
  }
  Description describe() override { return copied(Operation::CopyTaken, to_, from_, amount_); }

 protected:
  std::size_t length() const override { return amount_.bytes; }
  RunResult work(std::size_t at_most) override {
    const std::size_t step = part_of(to_ + done_, amount_.bytes - done_, at_most);
    Status moved = transfer().copy(to_ + done_, taken_.get() + done_, step);
    done_ += step;
    if (done_ == amount_.bytes) taken_.reset();
    return outcome(std::move(moved), done_ < amount_.bytes);
  }

 private:
  std::byte* const to_;
  const void* from_ = nullptr;
  std::unique_ptr<std::byte[]> taken_;
  const Amount amount_;
  std::size_t done_ = 0;
};

// A copy whose ends are known only when its turn comes: the words that name them are read then (M-341,
// M-364).
class LateCopyTask : public MemoryTask {
 public:
  using MemoryTask::MemoryTask;
  struct Piece {
    void* to;
    const void* from;
    Amount amount;
  };

 protected:
  virtual Result<Piece> read() = 0;
  RunResult work(std::size_t at_most) final {
    if (!place_.memory.backing().keeps_bytes()) return {};  // what was written there is not kept
    if (copy_ == nullptr) {
      Result<Piece> piece = read();
      if (!piece) return {false, piece.take_refusal()};
      // The words may hold anything: only device addresses are ever followed.
      for (const void* end : {static_cast<const void*>(piece->to), piece->from}) {
        if (place_.memory.is_device_address(address_of(end))) continue;
        return {false,
                driver_refuses("M-434",
                               fmt::format("the copy leads to {}, which is not a device address", hex(end)),
                               "check the addresses and offsets that the copy finds when it runs")};
      }
      copy_ = std::make_unique<CopyTask>(place_, place_.memory.locate_bytes(piece->to),
                                         place_.memory.locate_bytes(piece->from), piece->amount);
      if (description != nullptr) {  // now it is known
        observe::quietly([&] {
          Description real = copy_->describe();
          description->bytes = real.bytes;
          description->touches = std::move(real.touches);
        });
      }
    }
    return copy_->run(at_most);
  }
  // What is known before its turn comes: the words that say where it goes.
  Description reads(Operation operation,
                    std::initializer_list<std::pair<const void*, std::size_t>> words) const {
    Description all{operation, 0, {}, {}};
    for (const auto& [at, bytes] : words)
      all.touches.push_back(touch(place_.memory, locate(at), false, {bytes}));
    return all;
  }
  Status fetch(void* into, const void* from, std::size_t bytes) { return transfer().copy(into, from, bytes); }

 private:
  std::unique_ptr<CopyTask> copy_;
};

class DescriptorTask final : public LateCopyTask {
 public:
  DescriptorTask(const Workplace& place, const void* descriptor)
      : LateCopyTask{place}, descriptor_{descriptor} {}
  Description describe() override {
    return reads(Operation::CopyByDescriptor,
                 {{descriptor_, place_.memory.settings().product->copy_descriptor_bytes}});
  }

 protected:
  Result<Piece> read() override {
    CopyDescriptor found{};
    constexpr std::size_t kPublic = 32;  // all that a copy needs is in the shorter form
    if (Status fetched = fetch(&found, descriptor_, kPublic); !fetched) return fetched.take_refusal();
    if (found.mark != CopyDescriptor::kMark) {
      return driver_refuses("M-351", fmt::format("the descriptor at {} was never set", hex(descriptor_)),
                            "fill it with aclrtSetMemcpyDesc before the copy runs");
    }
    return Piece{reinterpret_cast<void*>(found.to), reinterpret_cast<const void*>(found.from), {found.count}};
  }

 private:
  const void* const descriptor_;
};

class OffsetTask final : public LateCopyTask {
 public:
  OffsetTask(const Workplace& place, const OffsetCopy& copy) : LateCopyTask{place}, what_{copy} {}
  Description describe() override {
    return reads(Operation::CopyByOffset,
                 {{what_.to_holder, sizeof(std::uintptr_t)}, {what_.from_holder, sizeof(std::uintptr_t)}});
  }

 protected:
  Result<Piece> read() override {
    std::uintptr_t to = 0;
    std::uintptr_t from = 0;
    if (Status fetched = fetch(&to, what_.to_holder, sizeof to); !fetched) return fetched.take_refusal();
    if (Status fetched = fetch(&from, what_.from_holder, sizeof from); !fetched)
      return fetched.take_refusal();
    return Piece{reinterpret_cast<void*>(to + what_.to_offset),
                 reinterpret_cast<const void*>(from + what_.from_offset),
                 {what_.bytes, what_.room}};
  }

 private:
  const OffsetCopy what_;
};

class FillTask final : public MemoryTask {
 public:
  FillTask(const Workplace& place, void* to, unsigned char value, std::size_t bytes, std::size_t room)
      : MemoryTask{place}, to_{static_cast<std::byte*>(to)}, value_{value}, bytes_{bytes}, room_{room} {}
  Description describe() override { return written(Operation::Fill, to_, {bytes_, room_}, value_); }

 protected:
  RunResult work(std::size_t at_most) override {
    if (done_ == 0) {
      Status fits = transfer().check_fill(place_.memory.locate_bytes(to_), bytes_, "M-371");
      if (!fits) return outcome(std::move(fits));
    }
    const std::size_t step = part_of(to_ + done_, bytes_ - done_, at_most);
    Status filled = transfer().fill(place_.memory.locate_bytes(to_ + done_), value_, step);
    done_ += step;
    return outcome(std::move(filled), done_ < bytes_);
  }

 private:
  std::byte* const to_;
  const unsigned char value_;
  const std::size_t bytes_, room_;
  std::size_t done_ = 0;
};

class Fill32Task final : public MemoryTask {
 public:
  Fill32Task(const Workplace& place, void* to, std::uint32_t value, std::size_t words, std::size_t room)
      : MemoryTask{place}, to_{to}, value_{value}, words_{words}, room_{room} {}
  Description describe() override { return written(Operation::Fill, to_, {words_ * 4, room_}, value_); }

 protected:
  RunResult work(std::size_t) override {
    return outcome(transfer().fill32(place_.memory.locate_bytes(to_), value_, words_));
  }

 private:
  void* const to_;
  const std::uint32_t value_;
  const std::size_t words_, room_;
};

class StoreTask final : public MemoryTask {
 public:
  StoreTask(const Workplace& place, void* to, std::uint64_t value)
      : MemoryTask{place}, to_{to}, value_{value} {}
  Description describe() override {
    return written(Operation::WriteValue, to_, {sizeof(std::uint64_t)}, value_);
  }

 protected:
  RunResult work(std::size_t) override {
    return outcome(transfer().store64(place_.memory.locate_bytes(to_), value_));
  }

 private:
  void* const to_;
  const std::uint64_t value_;
};

class NothingTask final : public schedule::Task {};

}  // namespace

TaskPtr copy_task(const Workplace& place, const Location& to, const Location& from, const Amount& amount) {
  return std::make_unique<CopyTask>(place, to, from, amount);
}
TaskPtr copy_rows_task(const Workplace& place, const Location& to, std::size_t to_pitch, const Location& from,
                       std::size_t from_pitch, std::size_t width, std::size_t height, std::uint32_t kind) {
  return std::make_unique<CopyRowsTask>(
      place, to, from,
      CopyRowsTask::Ends{reinterpret_cast<std::byte*>(to.address), to_pitch,
                         reinterpret_cast<const std::byte*>(from.address), from_pitch, width, height, kind});
}
TaskPtr copy_batch_task(const Workplace& place, std::span<const BatchItem> items,
                        std::span<const BatchEnds> ends) {
  return std::make_unique<CopyBatchTask>(place, items, ends);
}
TaskPtr write_task(const Workplace& place, const Location& to, const Location& from, const Amount& amount) {
  return std::make_unique<WriteTask>(place, to, from, amount);
}
TaskPtr copy_by_descriptor_task(const Workplace& place, const void* descriptor) {
  return std::make_unique<DescriptorTask>(place, descriptor);
}
TaskPtr copy_by_offset_task(const Workplace& place, const OffsetCopy& copy) {
  return std::make_unique<OffsetTask>(place, copy);
}
TaskPtr fill_task(const Workplace& place, void* to, unsigned char value, std::size_t bytes,
                  std::size_t room) {
  return std::make_unique<FillTask>(place, to, value, bytes, room);
}
TaskPtr fill32_task(const Workplace& place, void* to, std::uint32_t value, std::size_t words,
                    std::size_t room) {
  return std::make_unique<Fill32Task>(place, to, value, words, room);
}
TaskPtr store_task(const Workplace& place, void* to, std::uint64_t value) {
  return std::make_unique<StoreTask>(place, to, value);
}
TaskPtr nothing_task() { return std::make_unique<NothingTask>(); }

}  // namespace belay
