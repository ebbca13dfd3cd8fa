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

}  // namespace bench
