// Showing something again and again, until the user has seen enough.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace belay::cli {

// "0.5", "2". Throws UsageError for what is not a sensible time.
double read_seconds(std::string_view text);

// Whether a terminal is cleared before each time; a pipe or a file gets one after the other.
enum class Screen { Cleared, Kept };

// Prints what `draw` returns, at once and then every so many seconds, until Ctrl-C.
void watch(double seconds, const std::function<std::string()>& draw, Screen screen = Screen::Cleared);

// This moment in local time: 2026-11-17T22:40:06.123+00:00 (ISO 8601).
std::string time_with_zone();

}  // namespace belay::cli
