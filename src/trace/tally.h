// What a process counts for the summary, in plain numbers that another process can read after its end.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "machine/state.h"
#include "observe/observe.h"

namespace belay::trace {

inline constexpr std::size_t kMostDevices = machine::kMostDevices;
inline constexpr std::size_t kHostPlace = kMostDevices;  // after the devices: page-locked host memory

struct PerPage {
  std::size_t blocks = 0, freed = 0;                 // freed: by the program, not with their device
  std::size_t asked = 0, charged = 0, returned = 0;  // bytes; charged and returned in whole pages

  void add(const PerPage& other);
};
using PerPlace = std::array<PerPage, 3>;  // 4 KB, 2 MB, 1 GB

struct Moved {
  std::size_t times = 0, bytes = 0;
};

// What virtual memory is made of, in the order of the table.
enum class Part : std::uint8_t { Reservation, Mapping, Physical, Managed };
inline constexpr std::size_t kParts = 4;
struct Made {
  std::size_t times = 0, bytes = 0;                  // bytes as asked for, of mappings all of them
  std::size_t given_back = 0, bytes_given_back = 0;  // by the program, not with their device

  void add(const Made& other);
};

struct Tally {
  std::array<PerPlace, kMostDevices + 1> places;
  std::array<Moved, 4> copies;  // host to host, host to device, device to host, device to device
  Moved fills;
  std::array<Made, kParts> parts;

  void count(const observe::Told& told);
  void count(const observe::Batch& events);
  void add(const Tally& other);
};

// Calls that failed, by function and code. A process that ends in the middle of a count leaves the others
// readable.
class Failures {
 public:
  struct Row {
    std::array<char, 64> function;
    std::int32_t code;
    bool task;  // the call was accepted, and its work failed later
    std::atomic<std::uint64_t> times;
  };
  void count(std::string_view function, std::int32_t code, bool task);

  template <class Act>
  void each(Act&& act) const {
    const std::uint32_t used = std::min<std::uint32_t>(used_.load(std::memory_order_acquire), kRows);
    for (std::uint32_t i = 0; i < used; ++i) act(rows_[i]);
  }
  std::uint64_t others() const { return others_.load(); }  // that found no row

 private:
  static constexpr std::uint32_t kRows = 64;
  std::mutex mutex_;
  std::atomic<std::uint32_t> used_{0};
  std::atomic<std::uint64_t> others_{0};
  std::array<Row, kRows> rows_{};
};

// The machine that a process was on. What is counted on different ones is kept apart.
struct Where {
  std::array<char, 32> soc{};
  std::array<char, 64> family{};
  std::uint32_t devices = 0;
  std::uint64_t device_bytes = 0;
  std::array<std::uint8_t, kMostDevices> visible{};  // device of the process -> device of the machine

  bool operator==(const Where&) const = default;
};

// All that one process tells of itself on one machine.
struct ProcessRecord {
  std::int32_t process = 0;
  std::uint64_t start = 0;  // with the number it names one process for good (platform/process.h)
  std::uint32_t image = 0;  // of the program: another one after exec (run_record.h)
  std::array<char, 32> name{};
  Where where;
  std::atomic<bool> ended{false};  // it came to its end by itself, and all is told
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint32_t> traced_as{0};  // which process of its trace it is, plus 1; 0: it is not traced
  std::array<std::atomic<std::size_t>, kMostDevices + 1> peaks{};
  std::array<std::atomic<std::size_t>, kParts> most{};  // bytes of each part of virtual memory at once

  std::atomic<std::size_t>& most_of(Part part) { return most[static_cast<std::size_t>(part)]; }

  // Several, so that threads seldom meet: one that is stopped while it counts would hold the others up.
  struct alignas(64) Shard {
    std::mutex mutex;
    Tally tally;
  };
  std::array<Shard, 16> shards;
  Failures failures;

  void sum_into(Tally& all);                  // in the process itself
  void sum_into_after_end(Tally& all) const;  // without the locks: whoever has one may be dead
};

}  // namespace belay::trace
