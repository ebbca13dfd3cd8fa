// A call site as lines of text: one for each frame, "at" and a token that becomes function, file and line
// (platform/symbolizer.h). Frames of an interpreter stand where it was running; its own are left out, and
// those of the module that it calls us through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "observe/call_sites.h"

namespace belay::observe {

// Each line begins with the indent. Empty where the site is not known.
std::string stack_words(std::uint32_t site, std::string_view indent);

// The same frames, innermost first, for whoever keeps them otherwise.
using TellCode = void (*)(void* with, std::uintptr_t address);
using TellFrame = void (*)(void* with, const InterpreterFrame& frame);
void each_frame(std::uint32_t site, TellCode tell_code, TellFrame tell_frame, void* with);

// What happened, with which function, how long ago, and the lines of the stack below it, further in.
std::string happened_words(std::string_view what, std::uint32_t site, std::string_view indent,
                           std::uint64_t time_ns = 0);
std::string happened_words(const std::vector<Happened>& before, std::string_view indent);

// The same into a buffer, for signal handlers: returns how much was put there.
std::size_t put_stack_words(std::uint32_t site, std::string_view indent, char* to, std::size_t room);
std::size_t put_stack_words(std::span<const std::uintptr_t> returns,
                            std::span<const std::uint64_t> of_interpreter, std::string_view indent, char* to,
                            std::size_t room);

}  // namespace belay::observe
