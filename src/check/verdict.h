// What was found, where `belay check` can read it after the process has ended: memory that the command owns.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/misuse.h"
#include "platform/common_memory.h"

namespace belay::check {

struct VerdictEntry {
  std::string id, of, rule, function, text, process_name;
  std::int32_t process;
  std::uint64_t count;
};

// In `belay check`.
class VerdictReader {
 public:
  VerdictReader();
  std::string link() const;  // for the variable; empty where there is no such memory
  std::vector<VerdictEntry> entries() const;
  std::uint64_t lost() const;  // more than there is room for
  bool anybody() const;        // whether a process has used the library at all

 private:
  platform::CommonMemory memory_;
};

// In a process of the program.
void join_verdict(const std::string& link);
bool has_verdict();
inline constexpr std::uint32_t kNoPlace = UINT32_MAX;
// Also from a signal handler.
std::uint32_t add_to_verdict(const MisuseRow& row, std::string_view rule, std::string_view function,
                             std::string_view text);
void verdict_again(std::uint32_t place);
void verdict_meant(std::uint32_t place, std::uint64_t times);  // they do not count
void forget_verdict();                                         // in a forked child: it joins anew

}  // namespace belay::check
