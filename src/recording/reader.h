// Reads traces: of programs that have ended, were killed, or still run; and of whatever else somebody names.
//
//   Trace trace;
//   if (std::string why = trace.open(path); !why.empty()) ...;   // not a trace: says so
//   for (Records records = trace.records(); const Record* each = records.next();) ...;
//   for (const std::string& each : trace.remarks()) ...;          // what could not be read, what was left
//   out
//
// A damaged chunk costs the records in it that come after the damage, and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/shared_file.h"
#include "recording/record.h"
#include "recording/wire.h"

namespace belay::recording {

class Records;

class Trace {
 public:
  // Empty: it is open. Else why not, in words.
  std::string open(const std::string& path);

  const std::vector<ProcessFacts>& processes() const { return processes_; }
  std::string_view text(std::uint32_t process, std::uint32_t number) const {
    return processes_[process].texts[number];
  }
  const CallSite& site(std::uint32_t process, std::uint32_t number) const {
    return processes_[process].sites[number];
  }
  // Names for compiled code, from whoever knows (cli/frames.h).
  std::vector<ProcessFacts>& processes_to_name() { return processes_; }

  // In the order of time over all processes; records of one thread in their own. May be asked for again.
  Records records();

  // How the file numbers a process.
  std::uint32_t number_of(std::uint32_t process) const { return numbers_[process]; }

  std::uint64_t bytes() const { return bytes_; }      // of the file
  std::uint64_t wall_ns() const { return wall_ns_; }  // when the trace began, since 1970
  bool is_thinned() const;
  // What readers must know: cut off, damaged, events left out. Complete once all records were read.
  std::vector<std::string> remarks() const;

 private:
  friend class Records;
  friend class LaneReader;
  struct Chunk {
    std::uint64_t at, used, time_ns;
    std::uint32_t sequence;
  };
  struct Lane {
    std::uint32_t process, lane;
    std::vector<Chunk> chunks;
  };
  struct Shape {
    observe::Event event;
    std::uint32_t function = 0, site = 0, fields = 0;
  };
  void scan();
  void read_process(const ChunkHeader& header, std::uint64_t at);
  void read_definitions(std::uint32_t process, const std::vector<Chunk>& chunks);
  void read_definitions(std::uint32_t process, Source from);
  void read_ring(const ChunkHeader& header, std::uint64_t at);
  std::uint32_t index_of(std::uint32_t process) const;
  std::vector<std::byte> bytes_of(const Chunk& chunk) const;
  std::uint32_t find_text(std::uint32_t process, std::string_view text);

  platform::ReadFile file_;
  std::uint64_t bytes_ = 0, clock_ns_ = 0, wall_ns_ = 0, limit_ = 0, turned_away_ = 0;
  std::vector<ProcessFacts> processes_;
  std::vector<std::vector<Shape>> shapes_;                            // by process
  std::vector<std::map<std::uint32_t, std::uint32_t>> site_numbers_;  // of the process -> index
  std::map<std::uint32_t, std::uint32_t> process_numbers_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Omitted>> omitted_;
  std::vector<std::vector<std::byte>> kept_;  // texts are in there
  std::vector<Lane> lanes_;
  struct Remains {
    std::uint32_t process;
    std::vector<observe::Event> events;
  };
  std::vector<Remains> remains_;
  std::uint64_t damaged_chunks_ = 0, strange_units_ = 0, cut_off_ = 0, damaged_in_reading_ = 0;
};

// One lane: what one thread at a time has written.
class LaneReader {
 public:
  LaneReader(Trace& trace, const Trace::Lane& lane) : trace_{&trace}, lane_{&lane} {}
  bool next();  // false: no more
  const Record& record() const { return record_; }

 private:
  bool open_chunk();
  bool read();
  bool read_fields(const Trace::Shape& shape);
  void read_figures();
  void read_parts();

  Trace* trace_;
  const Trace::Lane* lane_;
  std::size_t next_chunk_ = 0;
  std::vector<std::byte> bytes_;
  Source source_;
  std::uint64_t time_ = 0, serial_ = 0, address_ = 0, extent_ = 0, host_ = 0, stream_ = 0, position_ = 0;
  std::uint32_t thread_ = 0;
  std::vector<Part> parts_;
  std::vector<Figures> figures_;
  Record record_;
  bool rest_is_set_ = false;  // fields that blocks do not have
};

class Records {
 public:
  explicit Records(Trace& trace);
  // Null: there are no more. Valid until the next call.
  const Record* next();

 private:
  bool came_twice(const Record& record);
  const Record* next_remains();

  Trace* trace_;
  std::vector<LaneReader> lanes_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> heap_;  // time and lane, the earliest first
  std::uint32_t current_ = UINT32_MAX;
  std::uint64_t until_ = 0;  // the current lane is first up to there
  std::size_t remains_ = 0, in_remains_ = 0;
  // What a ring had left may have been written down already when its process was killed.
  struct Left {
    std::uint64_t least = UINT64_MAX, most = 0;
    std::map<std::pair<std::uint64_t, observe::What>, bool> came;
  };
  std::vector<Left> left_;
  Record remain_;
};

}  // namespace belay::recording
