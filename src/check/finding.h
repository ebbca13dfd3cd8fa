// One mistake of the program, as it is told: a line that everybody understands, then the values, where it
// happened, where what it is about began and ended, the rule, and what to do.
//
// The wording of all of it is in finding.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/object.h"
#include "check/bounds.h"
#include "check/direction.h"
#include "observe/event.h"

namespace belay::check {

struct Finding {
  Misuse misuse = Misuse::None;
  std::string function;    // of the interface; empty: none was called
  std::string headline;    // without function and class
  std::string values;      // one sentence; may be empty
  std::uint32_t site = 0;  // of the call (observe/call_sites.h)
  std::vector<Happened> before;
  std::string rule;  // empty: none
  std::string cure;

  const MisuseRow& row() const { return *row_of(misuse); }
  // Lines for standard error, each with "belay: " in front and frames as tokens (platform/symbolizer.h).
  std::string text() const;
};

// Of a fault that was explained: by code of ours, which followed what the program gave it, or by the
// program's.
const char* headline_of_fault(bool ours, bool on_device, bool write);

// A call that was refused, and what was wrong with it.
Finding refused_call(const char* function, const Error& error, std::uint32_t site);
// A block that ended while a queued task still needed it (M-114, V-20).
struct TaskInUse {
  std::uint64_t number;
  const char* submitted_by;
  std::uint32_t site;
};
Finding freed_in_use(const char* function, std::uint32_t site, Object object, std::uintptr_t address,
                     std::size_t bytes, std::uint32_t made_at, const TaskInUse& task);
// What a call or a task accesses, and from where.
struct JudgedAccess {
  const char* function = "";
  std::uint32_t site = 0;
  observe::Touch touch;
  bool queued = false;     // it is yet to come
  std::int64_t item = -1;  // of a batch
};
// It left the block that it began in (M-40, M-242, V-154, P-38).
Finding left_its_block(const JudgedAccess& access, const Owned& owned, const OutOfBounds& out,
                       std::vector<Happened> before);
// Another thread has freed the memory of a call (V-19).
Finding freed_meanwhile(const JudgedAccess& access, std::vector<Happened> before);
// There is nothing at the address of work that nobody refuses (V-361), or memory of the host.
Finding used_without_question(const JudgedAccess& access, std::vector<Happened> before);
Finding host_memory_for_device(const JudgedAccess& access, std::vector<Happened> before);
// The kind says otherwise than the addresses (M-240, M-263).
Finding stated_wrongly(const JudgedAccess& access, const WrongDirection& wrong, const observe::Touch& from,
                       const observe::Touch& to, std::vector<Happened> before);
// Hints: a destination that is smaller than was said (C-20), and what only belay does without a word.
Finding too_much_room(const JudgedAccess& access, const Owned& owned, std::vector<Happened> before);
Finding read_from_read_only(const JudgedAccess& access, const Owned& owned);
Finding no_peer_access(const JudgedAccess& access, const Owned& owned, std::uint32_t actor);
Finding default_kind_of_rows(const JudgedAccess& access);
Finding ends_overlap(const JudgedAccess& access, const observe::Touch& to, const observe::Touch& from);
Finding shared_by_another_device(const JudgedAccess& access, std::uint32_t device, std::int32_t exporter);
Finding mapped_between_devices(const JudgedAccess& access, const observe::Touch& to,
                               const observe::Touch& from);
// Bytes of device memory that reached the host, or let a wait go on, though nobody had written them (M-417).
struct UnwrittenRead {
  bool wait = false;
  std::uintptr_t address = 0;  // of what was read
  std::uint64_t bytes = 0, missing = 0;
  std::uintptr_t first = 0;  // that is missing
  std::uint64_t offset = 0;  // of that, in its block or physical memory
  Object object = Object::DeviceBlock;
  std::uint32_t made_at = 0;  // where that was allocated
  // What was written last, next to them; or the copy that brought them, from memory that was allocated there.
  struct Write {
    std::uint64_t offset = 0, bytes = 0, rows = 0;  // no rows: none is known
    const char* function = "";
    std::uint32_t site = 0;
    bool brought = false;
    std::uint32_t from = 0;
  } write;
};
Finding read_unwritten(const char* function, std::uint32_t site, const UnwrittenRead& read);
// Objects of one kind from one place in the program (M-409, M-411).
struct Leak {
  std::string one, several;  // what it is
  std::string_view given_back_with;
  std::string_view made = "allocated";
  std::size_t count = 0, bytes = 0;
  std::uintptr_t first = 0;
  std::string_view where = "at";
  std::uint32_t site = 0;
};
Finding never_given_back(const Leak& leak, const char* rule);
// The same for what was made between two marks (growth.h).
Finding grown_since_mark(const Leak& leak);
// Failed calls whose error nobody looked at.
Finding error_not_fetched(const char* function, aclError code, const std::string& what, std::uint32_t site,
                          const char* rule);
// How the blocks are used that one call of the program makes.
struct Habit {
  const char* function;
  std::uint32_t site;
  Object object;
  std::size_t made, most_alive, largest;
  std::size_t count = 0, bytes = 0, wasted = 0;  // of those that it is about
  std::uint64_t operations = 0;
};
Finding churned(const Habit& habit);       // M-94, M-432
Finding wasted_pages(const Habit& habit);  // of `bytes` in huge pages, at one time
Finding never_used(const Habit& habit);
Finding held_unused(const Habit& habit);  // while at least so many operations were made
// Host memory of queued work that the program has not waited for (M-270): given back; changed, of which only
// the first `compared` bytes are looked at; a local variable of a function that has returned.
Finding host_buffer_freed(const char* function, std::uint32_t site, Object object, std::uintptr_t address,
                          std::size_t bytes, std::uint32_t made_at, bool written, const TaskInUse& task);
Finding host_buffer_changed(const char* function, std::uint32_t site, const observe::Touch& source,
                            std::uintptr_t first_changed, const TaskInUse& task);
Finding host_buffer_out_of_frame(const char* function, std::uint32_t site, std::uintptr_t address,
                                 std::size_t bytes, bool written, const TaskInUse& task);
// Host code has touched the destination of queued work that the program has not waited for.
constexpr const char* rule_of_early_access(Object memory) {
  return memory == Object::Managed ? "V-275" : "R-16";
}
Finding host_access_before_wait(std::uint32_t site, const observe::Touch& destination, std::uintptr_t address,
                                bool write, Object memory, std::uint32_t made_at, const TaskInUse& task);
// Calls of one place that waited, although they are meant to return at once (M-265).
struct BlockedPlace {
  std::uint64_t calls = 0, bytes = 0, ns = 0, most_ns = 0;
};
Finding call_blocked(const char* function, std::uint32_t site, const BlockedPlace& place);
// What is legal or was survived, but hardly meant.
Finding hint(const char* function, const std::string& what, const char* rule, std::uint32_t site);

}  // namespace belay::check
