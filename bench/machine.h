// What a figure was measured on, and what the kernel says about this process.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace bench {

// Processor, kernel, memory, virtual machine or not: what a reader needs to judge a figure, and no date.
nlohmann::json describe_machine();

// The value of a line "Key:  123 kB" in a file of /proc, in bytes; 0 if there is no such line.
std::uint64_t bytes_in(const char* file, const std::string& key);

// A file with a single number, as below /sys; -1 if it cannot be read.
std::int64_t number_in(const std::string& file);

// How much of the machine others used since this was made: 1.0 is one processor. A figure that was measured
// among busy neighbours should say so.
class Neighbours {
 public:
  Neighbours();
  double busy_processors() const;

 private:
  double wall_, all_, own_;  // seconds at the start
};

}  // namespace bench
