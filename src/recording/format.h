// How a trace lies in its file: what docs/trace-format.md describes, as structures. Little-endian.
//
//   | header | chunk | chunk | ...        in units of 16 KB; a chunk is one or more of them
//
// A process takes chunks at the end, and writes into them through its memory: what it has stored is in the
// file when it is killed. Nothing that is written is changed later, but for lengths, the counters of a
// process, and the rings of its threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "observe/event.h"

namespace belay::recording {

inline constexpr std::array<char, 8> kMagic{'b', 'e', 'l', 'a', 'y', 't', 'r', 'c'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kUnit = 16384;

struct FileHeader {
  std::array<char, 8> magic;
  std::uint32_t version, unit;
  std::uint64_t limit_units;  // the file gets no longer
  std::uint64_t clock_ns;     // when it was made, as its events tell time: since the machine started
  std::uint64_t wall_ns;      // the same moment, since 1970
  std::array<char, 40> boot;  // which start of which machine that is
  std::atomic<std::uint64_t> next_unit;    // the first that nobody has taken
  std::atomic<std::uint64_t> processes;    // how many have begun
  std::atomic<std::uint64_t> turned_away;  // that found no room at all
};
static_assert(sizeof(FileHeader) <= 128);

enum class ChunkKind : std::uint8_t { None, Process, Definitions, Events, Ring, Words };
inline constexpr std::uint32_t kChunkMagic = 0x4B484342;  // "BCHK"

struct alignas(64) ChunkHeader {
  std::uint32_t magic;
  ChunkKind kind;
  std::uint8_t reserved[3];
  std::uint32_t process, lane, sequence, units;
  std::uint64_t time_ns;            // what times in the chunk count from
  std::atomic<std::uint64_t> used;  // bytes behind this header
};
static_assert(sizeof(ChunkHeader) == 64);

// What heads a record in a chunk of events: one of these, or kFirstShape and up.
inline constexpr std::uint64_t kThreadRecord = 1, kFiguresRecord = 2, kFirstShape = 16;

// In a chunk of definitions, and of words.
enum class Definition : std::uint8_t { None, Text, Module, Site, Shape, Words };

// Which fields a record of a shape has, in this order.
enum Field : std::uint32_t {
  kHasSerial = 1U << 0,
  kHasAddress = 1U << 1,
  kHasBytes = 1U << 2,
  kHasPages = 1U << 3,
  kHasOutcome = 1U << 4,
  kHasStream = 1U << 5,
  kHasPosition = 1U << 6,
  kHasRecord = 1U << 7,
  kHasObject = 1U << 8,
  kHasValue = 1U << 9,
  kHasCaller = 1U << 10,
  kHasRule = 1U << 11,
  kHasFlag = 1U << 12,
  kHasWays = 1U << 13,
  kHasTouches = 1U << 14,
  kHasText = 1U << 15,
  kAllFields = (1U << 16) - 1,
};
inline constexpr std::uint32_t kBlockFields = kHasSerial | kHasAddress | kHasBytes | kHasPages;
inline constexpr std::size_t kMostTouches = 16;  // of one record; what has more tells its ways as well

// Numbers that are in files.
static_assert(static_cast<int>(observe::What::Noted) == 18 && static_cast<int>(observe::What::Marked) == 22);
static_assert(static_cast<int>(observe::Operation::Free) == 24);
static_assert(static_cast<int>(Object::Managed) == 14 && static_cast<int>(Object::ImportedPhysical) == 17);

inline constexpr std::size_t kMostDevices = 64, kHostPlace = kMostDevices, kPlaces = kMostDevices + 1;
inline constexpr std::size_t kWays = 4;  // host to host, host to device, device to host, device to device

// What was not written down, event by event, because the file would have become too long.
struct Counted {
  std::atomic<std::uint64_t> times, bytes;
};
struct Omitted {
  struct Blocks {
    Counted made, freed;                           // bytes as asked for
    std::atomic<std::uint64_t> charged, returned;  // bytes in whole pages
  };
  std::array<std::array<Blocks, 3>, kPlaces> blocks;  // by device or host, by page: 4 KB, 2 MB, 1 GB
  std::array<Counted, kWays + 1> moved;               // copies by way, then fills
  std::array<std::atomic<std::uint64_t>, 32> events;  // all of them, by observe::What
};

// Of the blocks whose serial numbers begin at `from`, and the tasks whose numbers begin at `from_task`, and
// of copies and fills from then on, one of two to the `level` is written down, and all that are large;
// kNothing: none at all.
struct Thinning {
  std::uint64_t from, from_task, level, time_ns;
  static constexpr std::uint64_t kNothing = 64;
};
inline constexpr std::size_t kMostThinnings = 32;

// The chunk of a process, behind its header.
struct ProcessPlace {
  std::int32_t process, parent;
  std::uint64_t start;  // with the number it names one process for good
  std::uint64_t began_ns;
  std::atomic<std::uint64_t> ended_ns;  // it came to its end by itself; 0: it runs, or was killed
  std::array<char, 32> name;
  std::array<char, 32> soc;
  std::array<char, 64> family;
  std::array<char, 16> product;
  std::array<char, 16> form;
  std::uint32_t devices;                           // that it sees
  std::uint32_t stacks;                            // frames of each call site
  std::array<std::uint8_t, kMostDevices> visible;  // device of the process -> device of the machine
  std::array<std::uint64_t, kMostDevices> device_bytes;
  std::atomic<std::uint64_t> lost;  // events that there was no memory or no room on the disk for
  std::atomic<std::uint64_t> thinnings;
  std::array<Thinning, kMostThinnings> thinning;
  Omitted omitted;
};
static_assert(sizeof(ChunkHeader) + sizeof(ProcessPlace) <= 2 * kUnit);
inline constexpr std::uint32_t kProcessUnits = 2;

}  // namespace belay::recording
