#include "story/lanes.h"

#include <fmt/format.h>

#include <algorithm>

namespace belay::story {
namespace {

using observe::Operation;
using observe::What;
using recording::Record;

constexpr std::size_t kMostShown = 3000, kMostLanes = 24;

std::array<std::uint64_t, kDirections> moved_by(const Record& record) {
  std::array<std::uint64_t, kDirections> moved{};
  std::ranges::copy(record.moved, moved.begin());
  if (record.operation == Operation::Fill || record.what == What::Filled)
    moved[recording::kWays] = record.bytes;
  return moved;
}

Work work_of(const Record& record, const std::array<std::uint64_t, kDirections>& moved) {
  switch (record.operation) {
    case Operation::Fill:
    case Operation::WriteValue:
      return Work::Fill;
    case Operation::WaitValue:
    case Operation::WaitEvent:
    case Operation::WaitNotify:
    case Operation::WaitCount:
      return Work::Wait;
    case Operation::HostFunction:
    case Operation::Callback:
      return Work::Function;
    default:
      break;
  }
  if (record.what == What::Filled) return Work::Fill;
  if (record.what != What::Copied && !observe::is_copy(record.operation)) return Work::Other;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(moved) - moved.begin());
  if (moved[most] == 0 || most == 0) return Work::OtherCopy;
  return most == 1 ? Work::ToDevice : most == 2 ? Work::ToHost : Work::OnDevice;
}

}  // namespace

void Lane::add(Task task, std::uint64_t duration) {
  task.end = std::max(task.begin, task.end);
  busy += task.work == Work::Wait ? 0 : task.end - task.begin;
  bytes += task.bytes;
  ++tasks;
  shown.push_back(task);
  if (shown.size() >= 2 * kMostShown) thin(duration);
}

std::string Lane::title() const {
  return stream == 0 ? fmt::format("calls of thread {}", thread) : fmt::format("stream {:#x}", stream);
}

void Lane::thin(std::uint64_t duration) {
  grain_ = std::max<std::uint64_t>(grain_, std::max<std::uint64_t>(duration / 20000, 1));
  while (shown.size() > kMostShown) {
    std::vector<Task> fewer;
    for (const Task& task : shown) {
      if (!fewer.empty() && task.end - std::min(task.end, fewer.back().begin) < grain_) {
        Task& last = fewer.back();
        if (task.bytes > last.bytes) last.work = task.work;
        last.end = std::max(last.end, task.end);
        last.bytes += task.bytes;
        last.count += task.count;
      } else {
        fewer.push_back(task);
      }
    }
    shown = std::move(fewer);
    grain_ *= 2;
  }
}

void Lanes::take(const Record& record, std::int32_t device) {
  if (record.kind != recording::Kind::Event) return;
  if (submitted_.size() <= record.process) submitted_.resize(record.process + 1);
  auto& submitted = submitted_[record.process];
  switch (record.what) {
    case What::Copied:
    case What::Filled: {
      const auto moved = moved_by(record);
      for (std::size_t i = 0; i < kDirections; ++i) move(i, moved[i], record.time_ns, record.time_ns);
      lane(record, device, true)
          .add({work_of(record, moved), record.time_ns, record.time_ns, record.bytes}, duration_);
      break;
    }
    case What::Submitted: {
      const auto moved = moved_by(record);
      submitted[record.serial] = {{work_of(record, moved), 0, 0, record.bytes}, moved};
      break;
    }
    case What::Begun: {
      Task& task = submitted[record.serial].task;
      task.begin = std::max<std::uint64_t>(record.time_ns, 1);
      if (task.work != Work::Wait) running(record.time_ns, 1);
      break;
    }
    case What::Done:
    case What::Failed: {
      const auto found = submitted.find(record.serial);
      if (found == submitted.end()) break;
      const Begun begun = found->second;
      submitted.erase(found);
      if (begun.task.begin == 0) break;
      if (begun.task.work != Work::Wait) running(record.time_ns, -1);
      Task task = begun.task;
      task.end = record.time_ns;
      lane(record, device, false).add(task, duration_);
      for (std::size_t i = 0; i < kDirections; ++i) move(i, begun.moved[i], task.begin, task.end);
      break;
    }
    case What::Dropped:
      submitted.erase(record.serial);
      break;
    case What::Waited: {
      Waits& waits = waits_[{record.process, record.function}];
      if (waits.times++ == 0) {
        waits.process = record.process;
        waits.function = trace_->text(record.process, record.function);
      }
      break;
    }
    default:
      break;
  }
}

Lane& Lanes::lane(const Record& record, std::int32_t device, bool of_thread) {
  const Key key{record.process, of_thread ? 0 : record.stream, of_thread ? record.thread : 0};
  const auto [at, is_new] = lanes_.try_emplace(key);
  if (is_new) {
    at->second.process = record.process;
    at->second.device = device;
    at->second.stream = std::get<1>(key);
    at->second.thread = std::get<2>(key);
  }
  return at->second;
}

void Lanes::running(std::uint64_t time, int more) {
  const std::uint64_t passed = time - std::min(time, since_);
  if (running_ >= 1) any_busy_ += passed;
  if (running_ >= 2) two_busy_ += passed;
  running_ += more;
  since_ = std::max(time, since_);
}

void Lanes::move(std::size_t direction, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end) {
  if (bytes == 0) return;
  Traffic& traffic = traffic_[direction];
  ++traffic.times;
  traffic.bytes += bytes;
  const auto part_of = [this](std::uint64_t time) {
    const double share =
        static_cast<double>(time) / static_cast<double>(std::max<std::uint64_t>(duration_, 1));
    return std::min(static_cast<std::size_t>(share * kTrafficParts), kTrafficParts - 1);
  };
  const std::size_t first = part_of(begin), last = std::max(first, part_of(end));
  const std::uint64_t each = bytes / (last - first + 1);
  for (std::size_t i = first; i <= last; ++i) traffic.parts[i] += each;
  traffic.parts[last] += bytes - each * (last - first + 1);
}

std::vector<Lane> Lanes::lanes() const {
  std::vector<const Lane*> all;
  for (const auto& [key, lane] : lanes_) all.push_back(&lane);
  if (all.size() > kMostLanes) {
    std::ranges::stable_sort(all, std::greater{}, &Lane::tasks);
    all.resize(kMostLanes);
  }
  std::vector<Lane> lanes;
  for (const Lane* each : all) lanes.push_back(*each);
  std::ranges::stable_sort(lanes, {}, [](const Lane& lane) {
    return std::tuple{lane.process, lane.thread == 0, lane.stream, lane.thread};
  });
  return lanes;
}

std::size_t Lanes::left_out() const { return lanes_.size() - std::min(lanes_.size(), kMostLanes); }

std::vector<Waits> Lanes::waits() const {
  std::vector<Waits> all;
  for (const auto& [key, waits] : waits_) all.push_back(waits);
  std::ranges::stable_sort(all, std::greater{}, &Waits::times);
  return all;
}

}  // namespace belay::story
