// Reading the small text files below /proc and /sys. Nothing here fails: what is missing or garbled is empty.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace belay::platform {

// The whole file; nothing if it cannot be read.
std::string kernel_text(const std::string& path);

// Cut the next line or word off the front of a text.
std::string_view next_line(std::string_view& text);
std::string_view next_word(std::string_view& text, char separator = ' ');

// A number that stands alone, with blanks and a line end around it.
std::optional<std::size_t> whole_number(std::string_view text);

// The rest of the line that starts with this word, as in "MemTotal:  24684104 kB" or "inactive_file 4096".
std::string_view after_word(std::string_view text, std::string_view first);

// A figure of /proc/meminfo in bytes: "MemTotal:  24684104 kB".
std::optional<std::size_t> from_meminfo(std::string_view text, std::string_view name);

}  // namespace belay::platform
