// This process and the present moment.
#pragma once

#include <cstdint>
#include <string>

namespace belay::platform {

std::int32_t process_id();
std::int32_t thread_id();
std::string process_name();

// Local time as the log writes it: YYYY-MM-DD-hh:mm:ss.mmm.uuu.
std::string time_stamp();
// The same moment as digits only, for file names that sort.
std::string time_digits();

// Runs in the child of every fork, on the only thread that is left.
void in_forked_child(void (*handler)());

}  // namespace belay::platform
