// Streams as lanes: what ran when, and what it moved; how much of it ran at the same time; who waited for it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "recording/reader.h"

namespace belay::story {

enum class Work : std::uint8_t { ToDevice, ToHost, OnDevice, OtherCopy, Fill, Wait, Function, Other };

struct Task {
  Work work = Work::Other;
  std::uint64_t begin = 0, end = 0, bytes = 0, count = 1;
};

// Tasks that are too short to be seen beside their neighbours are put together with them.
class Lane {
 public:
  void add(Task task, std::uint64_t duration);
  std::string title() const;

  std::uint32_t process = 0;
  std::int32_t device = 0;
  std::uint64_t stream = 0, thread = 0;  // stream 0: what calls of that thread did before they returned
  std::uint64_t busy = 0, tasks = 0, bytes = 0;
  std::vector<Task> shown;

 private:
  void thin(std::uint64_t duration);
  std::uint64_t grain_ = 0;  // what is shorter is not shown alone
};

inline constexpr std::size_t kTrafficParts = 400;
inline constexpr std::size_t kDirections = 5;  // as recording::kWays, then fills
inline constexpr std::array<std::string_view, kDirections> kDirectionNames{
    "host to host", "host to device", "device to host", "on and between devices", "fills"};

struct Traffic {
  std::array<std::uint64_t, kTrafficParts> parts{};
  std::uint64_t times = 0, bytes = 0;
};

// Calls that a thread came back from when work of a stream was done.
struct Waits {
  std::uint32_t process;
  std::string function;
  std::uint64_t times = 0;
  bool hidden() const {
    return !function.starts_with("aclrtSynchronize") && !function.starts_with("aclrtQuery") &&
           !function.starts_with("aclrtStreamQuery");
  }
};

class Lanes {
 public:
  Lanes(const recording::Trace& trace, std::uint64_t duration) : trace_{&trace}, duration_{duration} {}
  void take(const recording::Record& record, std::int32_t device);

  std::vector<Lane> lanes() const;  // by process and stream; the busiest if they are many
  std::size_t left_out() const;     // lanes that are not among them
  const std::array<Traffic, kDirections>& traffic() const { return traffic_; }
  std::vector<Waits> waits() const;
  // While at least one task ran, and while at least two did.
  std::uint64_t any_busy() const { return any_busy_; }
  std::uint64_t two_busy() const { return two_busy_; }

 private:
  struct Begun {
    Task task;
    std::array<std::uint64_t, kDirections> moved{};
  };
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;  // process, stream, thread

  Lane& lane(const recording::Record& record, std::int32_t device, bool of_thread);
  void running(std::uint64_t time, int more);
  void move(std::size_t direction, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end);

  const recording::Trace* trace_;
  std::uint64_t duration_;
  std::map<Key, Lane> lanes_;
  std::vector<std::unordered_map<std::uint64_t, Begun>> submitted_;  // by process and task
  std::array<Traffic, kDirections> traffic_{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, Waits> waits_;
  std::uint64_t since_ = 0, any_busy_ = 0, two_busy_ = 0;
  std::int64_t running_ = 0;
};

}  // namespace belay::story
