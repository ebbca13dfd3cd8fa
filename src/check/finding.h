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
// Work that nobody refuses leads to nothing (V-361).
Finding used_without_question(const char* function, std::uint32_t site, std::uintptr_t address,
                              std::size_t bytes, std::vector<Happened> before);
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
// What is legal or was survived, but hardly meant.
Finding hint(const char* function, const std::string& what, const char* rule, std::uint32_t site);

}  // namespace belay::check
