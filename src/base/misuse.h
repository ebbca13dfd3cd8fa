// Mistakes of a program that can be told by name, the classes that they belong to, and which of those a
// program is checked for (BELAY_CHECK).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belay {

enum class MisuseClass : std::uint8_t {
  Lifetime,
  Bounds,
  Contents,
  Direction,
  ReadOnly,
  Host,
  Leaks,
  Errors,
  Order,
  Hints,
};
inline constexpr std::array<std::string_view, 10> kMisuseClasses{
    "lifetime", "bounds", "contents", "direction", "readonly", "host", "leaks", "errors", "order", "hints"};
constexpr std::string_view name_of(MisuseClass one) { return kMisuseClasses[static_cast<std::size_t>(one)]; }

enum class Misuse : std::uint8_t {
  None,
  FreedTwice,
  FreedInside,   // not at the start of its block
  FreedForeign,  // belay did not allocate it
  FreedByWrongFunction,
  FreedInUse,  // queued work still needs it
  UsedAfterFree,
  UsedUnallocated,    // a device address where there never was anything, as far as is known
  UsedAfterEnd,       // a handle
  UsedUnknown,        // a handle that never was
  UsedWithoutAccess,  // a mapping that nobody granted
  BeyondEnd,
  BeforeStart,
  SegmentsTooClose,  // of a block that the program carves itself
  WrongDirection,    // the kind of a copy says otherwise than its addresses
  WrongSide,         // host memory where device memory is needed, or the reverse
  ReadUnwritten,     // device memory that nobody has written
  WroteReadOnly,
  AccessNotGranted,  // read-only access to a mapping, or none, cannot be had
  ReleasedWhileMapped,
  MappedWrongly,  // where something is mapped already, or what the reservation is not for
  HostTouch,
  HostBufferFreed,  // before the program waited for queued work that uses it
  HostBufferChanged,
  HostBufferOutOfFrame,
  HostAccessBeforeWait,  // to the destination of queued work
  NeverGivenBack,
  GrownSinceMark,
  ErrorNotFetched,
  Hint,
  // Hints of their own.
  Churned,      // small blocks, made and freed again and again
  WastedPages,  // huge ones, nearly empty
  NeverUsed,
  HeldUnused,  // long after the last use
};

struct MisuseRow {
  Misuse misuse;
  MisuseClass of;
  std::string_view id;  // as reports name it: it never changes
};
inline constexpr std::array<MisuseRow, 33> kMisuses{{
    {Misuse::FreedTwice, MisuseClass::Lifetime, "double-free"},
    {Misuse::FreedInside, MisuseClass::Lifetime, "free-inside-block"},
    {Misuse::FreedForeign, MisuseClass::Lifetime, "free-of-foreign-memory"},
    {Misuse::FreedByWrongFunction, MisuseClass::Lifetime, "free-by-wrong-function"},
    {Misuse::FreedInUse, MisuseClass::Lifetime, "free-while-in-use"},
    {Misuse::UsedAfterFree, MisuseClass::Lifetime, "use-after-free"},
    {Misuse::UsedUnallocated, MisuseClass::Lifetime, "use-of-unallocated-memory"},
    {Misuse::UsedAfterEnd, MisuseClass::Lifetime, "use-after-destroy"},
    {Misuse::UsedUnknown, MisuseClass::Lifetime, "use-of-unknown-handle"},
    {Misuse::UsedWithoutAccess, MisuseClass::Lifetime, "use-without-access"},
    {Misuse::BeyondEnd, MisuseClass::Bounds, "beyond-end"},
    {Misuse::BeforeStart, MisuseClass::Bounds, "before-start"},
    {Misuse::SegmentsTooClose, MisuseClass::Bounds, "segments-too-close"},
    {Misuse::WrongDirection, MisuseClass::Direction, "wrong-direction"},
    {Misuse::WrongSide, MisuseClass::Direction, "wrong-side"},
    {Misuse::ReadUnwritten, MisuseClass::Contents, "read-of-unwritten-memory"},
    {Misuse::WroteReadOnly, MisuseClass::ReadOnly, "write-to-read-only"},
    {Misuse::AccessNotGranted, MisuseClass::ReadOnly, "access-not-granted"},
    {Misuse::ReleasedWhileMapped, MisuseClass::Lifetime, "release-while-mapped"},
    {Misuse::MappedWrongly, MisuseClass::Lifetime, "wrong-mapping"},
    {Misuse::HostTouch, MisuseClass::Host, "host-touch"},
    {Misuse::HostBufferFreed, MisuseClass::Host, "host-buffer-freed"},
    {Misuse::HostBufferChanged, MisuseClass::Host, "host-buffer-changed"},
    {Misuse::HostBufferOutOfFrame, MisuseClass::Host, "host-buffer-out-of-frame"},
    {Misuse::HostAccessBeforeWait, MisuseClass::Host, "host-access-before-wait"},
    {Misuse::NeverGivenBack, MisuseClass::Leaks, "leak"},
    {Misuse::GrownSinceMark, MisuseClass::Leaks, "growth"},
    {Misuse::ErrorNotFetched, MisuseClass::Errors, "error-not-fetched"},
    {Misuse::Hint, MisuseClass::Hints, "hint"},
    {Misuse::Churned, MisuseClass::Hints, "churn"},
    {Misuse::WastedPages, MisuseClass::Hints, "wasted-pages"},
    {Misuse::NeverUsed, MisuseClass::Hints, "never-used"},
    {Misuse::HeldUnused, MisuseClass::Hints, "held-unused"},
}};
constexpr const MisuseRow* row_of(Misuse misuse) {
  for (const MisuseRow& each : kMisuses) {
    if (each.misuse == misuse) return &each;
  }
  return nullptr;
}

// Which classes: a bit each.
using MisuseClasses = std::uint16_t;
constexpr MisuseClasses bit(MisuseClass one) {
  return static_cast<MisuseClasses>(1U << static_cast<unsigned>(one));
}
inline constexpr MisuseClasses kAllMisuseClasses = (1U << kMisuseClasses.size()) - 1;

// The variable that tells a process where its findings go (check/verdict.h); `belay check` sets it.
inline constexpr const char* kVerdictVariable = "BELAY_VERDICT";

struct CheckSettings {
  enum class Level : std::uint8_t { Off, Cheap, All } level = Level::Off;
  MisuseClasses classes = kAllMisuseClasses;
  MisuseClasses fail_on =
      static_cast<MisuseClasses>(kAllMisuseClasses & ~(bit(MisuseClass::Errors) | bit(MisuseClass::Hints)));
  enum class ApiErrors : std::uint8_t { Unfetched, All, Off } api_errors = ApiErrors::Unfetched;
  std::size_t print_limit = 100;
  int exit_code = 86;
  bool halts = false;
  bool watch_host = false;                       // accesses of host code to destinations of queued work
  std::string suppressions, baseline, log_file;  // paths; empty: none

  bool on() const { return level != Level::Off; }
  bool wants(MisuseClass one) const { return on() && (classes & bit(one)) != 0; }
};

}  // namespace belay
