// What was found so far: each mistake once for each place in the program, told when it happens, counted after
// that, and handed on to the verdict (verdict.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/misuse.h"
#include "check/finding.h"

namespace belay::check {

// From now on; under the lock under which the runtime is made. The settings of a process do not change: those
// of a later start are taken for what is found after it.
void start_finding(const CheckSettings& settings);
const CheckSettings& check_settings();
inline bool is_checked(MisuseClass one) { return check_settings().wants(one); }

// Tells and counts it, unless its class is not wanted or it is suppressed.
void report_finding(const Finding& finding);

// The same from a signal handler, where the words are made already (and printed): it allocates nothing, and
// counts from the next question on. Beyond the first few they are only in the verdict.
void found_in_handler(Misuse misuse, std::string_view rule, std::string_view function, std::string_view text);

// What was found, for tests and for the end: by number, from 0.
struct FoundOnce {
  Misuse misuse;
  std::string rule, function, text;  // without tokens
  std::uint64_t count;               // without those that were meant
};
std::size_t found_count();
// What it is given lives as long as the process.
void look_at_findings(std::size_t from, const std::function<void(const FoundOnce&)>& look);
// A test meant it: takes so many off the count. Returns what is left of it; 0 where there is no such number.
std::uint64_t accept_finding(std::size_t number, std::uint64_t times);

// The exit code that the process should end with; 0: nothing was found that it should fail for.
int exit_code_of_findings();
// How many, in words, on standard error; nothing where none was found.
void print_end_of_findings();
void forget_findings();  // in the child of a fork: they are the parent's

}  // namespace belay::check
