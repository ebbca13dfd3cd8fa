// This process and the present moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace belay::platform {

std::int32_t process_id();
std::int32_t parent_process_id();
std::int32_t thread_id();
std::string process_name();

// When a process started, in the kernel's ticks: with the number it names one process for good, because
// numbers are used again. Empty when there is no such process, or no /proc to ask.
std::optional<std::uint64_t> start_time(std::int32_t process);
// Now, on the same clock.
std::uint64_t ticks_now();
// No such process: it has ended, or its number is another's by now. Not where that cannot be told.
bool surely_gone(std::int32_t process, std::uint64_t start);
// Of this host since it was started; empty when it is not known. Homes may be shared with other hosts, whose
// process numbers mean others.
std::string boot_id();
// Processes see each other's numbers only within the same such space; 0 when it is not known.
std::uint64_t process_number_space();
enum class Maps : std::uint8_t { Yes, No, Unknown };
// Whether a process has a file of that name in its memory, and of that inode unless it is 0.
Maps has_mapped(std::int32_t process, std::uint64_t inode, const char* name);
void sleep_briefly();         // a millisecond
std::uint64_t clock_ticks();  // nanoseconds that only grow, since the machine started
// Nobody can foresee them. False: the kernel has none.
bool random_bytes(void* into, std::size_t bytes);
// The threads of a process: where its first one has ended, only these show what it has open and mapped.
std::vector<std::string> threads_of(std::int32_t process);

// Local time as the log writes it: YYYY-MM-DD-hh:mm:ss.mmm.uuu.
std::string time_stamp();
// The same moment as digits only, for file names that sort.
std::string time_digits();

// Ends the process with that code, now: what was printed is flushed, and nothing else happens.
[[noreturn]] void end_process_at_once(int code);

// Returns when the process ends, or after a second: it cannot be told when a process becomes another program.
void wait_for_end(std::int32_t process);

// Runs in the child of every fork, on the only thread that is left.
void in_forked_child(void (*handler)());

}  // namespace belay::platform
