// The log, as the vendor's environment variables shape it (R-252 ... R-256).
//
// By default lines of level ERROR go to files below $HOME/ascend/log (log_files.h), where a line that repeats
// is counted (repetitions.h). A log that cannot be written is given up in silence: no call may fail for it.
#pragma once

#include <cstdint>
#include <string>

namespace belay::report {

enum class Level : std::uint8_t { Debug, Info, Warning, Error, Nothing };
enum class Module : std::uint8_t { Ascendcl, Runtime, Drv, App, Ge };

bool wanted(Level level, Module module);
void log(Level level, Module module, const char* place, std::uint32_t line, const std::string& text);

// At exit: writes what is counted and not told yet. Lines that come later are written as they come.
void end_log() noexcept;

// After fork: a file of its own, and the environment read again.
void restart_log();

}  // namespace belay::report
