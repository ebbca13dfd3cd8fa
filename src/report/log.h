// The log, as the vendor's environment variables shape it (R-252 ... R-256).
//
// By default lines of level ERROR go to files below $HOME/ascend/log. A log that cannot be written is
// given up in silence: no call may fail for it.
#pragma once

#include <cstdint>
#include <string>

namespace belay::report {

enum class Level : std::uint8_t { Debug, Info, Warning, Error, Nothing };
enum class Module : std::uint8_t { Ascendcl, Runtime, Drv, App, Ge };

bool wanted(Level level, Module module);
void log(Level level, Module module, const char* place, std::uint32_t line, const std::string& text);

// After fork: a file of its own, and the environment read again.
void restart_log();

}  // namespace belay::report
