// Writes traces. What calls it decides what is told, and with which time; this puts it into the file.
//
//   File file;                       one for all processes (format.h)
//   ProcessLog log{file, facts};     what this process has defined: texts, call sites, shapes of events
//   Lane& lane = log.take_lane();    where one thread at a time writes
//   lane.begin(thread); lane.write(told, time); lane.end();
//
// Lanes are chunks of the file in memory: one that a killed process leaves is whole up to its last event.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "observe/event.h"
#include "platform/shared_file.h"
#include "recording/format.h"
#include "recording/record.h"

namespace belay::recording {

inline constexpr std::uint64_t kDefaultLimit = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kLeastLimit = std::uint64_t{1} << 20;

// The time that events have: nanoseconds since the machine started.
std::uint64_t now_ns();

class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  // Makes it, or goes on behind what is there, which must be a trace; `anew`: that is thrown away. Empty: it
  // is open; else why not, in words.
  std::string open(const std::string& path, std::uint64_t limit, bool anew);
  // A chunk, with its header filled in but for the time; null: the limit is reached, or there is no room on
  // the disk. `reserve`: it may take what is kept for what must not be missing.
  ChunkHeader* take(ChunkKind kind, std::uint32_t process, std::uint32_t units, bool reserve);
  static void give_back(ChunkHeader* chunk);
  // A whole chunk; false: there is no room.
  bool append(ChunkKind kind, std::uint32_t process, const void* from, std::size_t bytes);
  // How much is left out now: of two to that many events one is written down.
  std::uint64_t level() const;
  std::uint64_t units_left() const;

  const std::string& path() const { return file_.path(); }
  FileHeader& header() { return *header_; }
  bool is_there() const { return file_.is_there(); }

 private:
  bool map_header();

  platform::SharedFile file_;
  FileHeader* header_ = nullptr;
  std::uint64_t limit_ = 0;
};

// A call site in words of its own, or in addresses.
struct SiteFrame {
  std::string_view module_path{}, build_id{};  // of code
  std::uint64_t offset = 0;
  std::string_view function{}, file{};  // of an interpreter; empty: code
  std::uint32_t line = 0;
};

class ProcessLog;

class Lane {
 public:
  explicit Lane(ProcessLog& log) : log_{&log} {}

  // Around what is written. Only one thread at a time is in a lane; who sees to that is the caller.
  void begin(std::uint32_t thread);
  void end();

  void write(const observe::Event& event, const observe::Details* details,
             std::span<const observe::Touch> touches, std::string_view text, std::uint64_t time_ns);
  // The same, for a block as the fast path tells it.
  void write_block(const observe::Event& event, std::uint64_t time_ns);
  void write_figures(std::span<const Figures> figures, std::uint64_t time_ns);
  // The time of the last record; on any thread.
  std::uint64_t last_ns() const { return time_.load(std::memory_order_relaxed); }

 private:
  friend class ProcessLog;
  struct Shape {
    std::uint64_t word = 0;
    const char* function = nullptr;
    std::uint32_t site = 0, fields = 0, number = UINT32_MAX;
  };
  static std::size_t place_of(std::uint64_t word, std::uint32_t site, std::uint32_t fields) {
    return ((word ^ (std::uint64_t{site} << 20) ^ fields) * 0x9E3779B97F4A7C15U) >> 58;
  }
  std::uint32_t shape_of(const observe::Event& event, std::uint32_t fields);
  bool room_for(std::size_t bytes);
  bool new_chunk(std::size_t bytes);
  void advance(std::byte* to) { at_ = to; }
  std::uint64_t take_time(std::uint64_t time_ns);

  ProcessLog* log_;
  ChunkHeader* chunk_ = nullptr;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint32_t number_ = 0, sequence_ = 0, units_ = 1, thread_ = 0;
  std::atomic<std::uint64_t> time_{0};
  std::uint64_t serial_ = 0, address_ = 0, extent_ = 0, host_ = 0, stream_ = 0, position_ = 0;
  std::uint64_t most_serial_ = 0, most_task_ = 0, turn_ = 0;  // for thinning
  std::array<Shape, 64> shapes_;
  std::atomic<bool> busy_{false};
};

// What a process is. The same as ProcessFacts, before it is in a file.
struct ProcessStart {
  std::int32_t process = 0, parent = 0;
  std::uint64_t start = 0, began_ns = 0;
  std::string_view name, soc, family, product, form;
  std::uint32_t stacks = 0;
  std::vector<std::uint64_t> device_bytes;
  std::vector<std::uint8_t> visible;
};

class ProcessLog {
 public:
  // Call sites are asked for when they first occur: calls back with their function and frames.
  using TellSite = void (*)(std::uint32_t site, ProcessLog& log);
  ProcessLog(File& file, const ProcessStart& start, TellSite tell_site);
  ~ProcessLog();
  ProcessLog(const ProcessLog&) = delete;
  ProcessLog& operator=(const ProcessLog&) = delete;

  bool good() const { return place_ != nullptr; }  // else there was no room for it
  ProcessPlace& place() { return *place_; }
  std::uint32_t number() const { return number_; }
  File& file() { return *file_; }

  Lane& take_lane() { return *take_lanes().second; }
  // Two, the first of which is first in the order of records of the same time. They take no room before they
  // are written.
  std::pair<Lane*, Lane*> take_lanes();
  void give_lanes(Lane& first, Lane& second);
  void* take_ring(std::size_t bytes);  // a place for a ring (observe::keep_rings); null: no room
  bool give_ring(void* ring);          // false: it is none of these
  void put_ring(const void* ring, std::size_t bytes);  // a copy of one

  // Only from TellSite.
  void define_site(std::uint32_t site, const char* function, std::span<const SiteFrame> frames);
  void end(std::uint64_t time_ns);  // the process has come to its end
  // From now on fewer events are written down, if the file is near its limit. With no lane taken by this
  // thread.
  void keep_within_limit(std::uint64_t time_ns);
  void count_lost(std::uint64_t events = 1) {
    if (place_ != nullptr) place_->lost.fetch_add(events, std::memory_order_relaxed);
  }

 private:
  friend class Lane;
  struct ShapeKey {
    std::uint64_t word;
    std::uint32_t text, site, fields;
    auto operator<=>(const ShapeKey&) const = default;
  };
  std::uint32_t define_shape(const observe::Event& event, std::uint32_t fields);
  std::uint32_t text_locked(std::string_view text);
  std::uint32_t text_of(const char* text);  // one that lives as long as the process
  std::byte* definition(std::size_t bytes);
  void defined(std::byte* to);
  bool is_left_out(const observe::Event& event, std::uint64_t& turn) const;
  void count_left_out(const observe::Event& event, const std::array<std::uint64_t, kWays>& moved);
  void note_full(std::uint64_t time_ns);
  void add_thinning(const Thinning& thinning);

  File* file_;
  TellSite tell_site_;
  ChunkHeader* head_ = nullptr;
  ProcessPlace* place_ = nullptr;
  std::uint32_t number_ = 0;

  std::recursive_mutex defining_;  // definitions, lanes, rings
  ChunkHeader* definitions_ = nullptr;
  std::uint32_t definition_chunks_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> modules_;
  std::unordered_map<std::uint32_t, bool> sites_;
  std::map<ShapeKey, std::uint32_t> shapes_;
  std::deque<Lane> lanes_;
  std::vector<std::pair<Lane*, Lane*>> idle_lanes_;
  std::vector<ChunkHeader*> rings_, idle_rings_;
  std::atomic<std::uint64_t> thinnings_{0};  // 0: every event is written down
  std::atomic<bool> is_full_{false};
  std::atomic<bool> held_{false};  // nobody may be in a lane
};

}  // namespace belay::recording
