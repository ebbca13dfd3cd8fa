// Frames in text, and who turns them into function, file and line.
//
// Whoever writes a text puts a frame as a token: \1 path of the module \2 offset in hex \2 build id \3. The
// command `belay symbolize`, which lies beside this library, replaces them: it has the means to read debug
// information, and what it needs for that does not happen in the program. Where it is not there, or does not
// come back in time, a frame reads "module+0x1234".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/modules.h"

namespace belay::platform {

inline constexpr char kFrameBegin = '\1', kFramePart = '\2', kFrameEnd = '\3';

// The token of a return address.
std::string frame_token(std::uintptr_t address);
// The same into a buffer, for signal handlers; returns its length, 0 where it does not fit.
std::size_t put_frame_token(std::uintptr_t address, char* to, std::size_t room);

// Once, where processes may be started from later: finds the command.
void prepare_symbolizer();

void renew_symbolizer();  // in the child of a fork, where another thread may have been asking

// The text with all frames in words.
std::string symbolised(std::string text);
// The same from a signal handler, to standard error. Changes the text.
void print_symbolised(char* text, std::size_t length);

}  // namespace belay::platform
