// Colours and bold type for people at a terminal. Pipes and files get plain text.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace belay::cli {

enum class Style { Bold, Red, Green, Yellow };

// The text in that style if the stream is coloured (platform/terminal.h), else as it is. What has columns is
// padded first, or measured with width_of (table.h), which does not count the codes.
std::string paint(Style style, std::string text, std::FILE* stream = stdout);

// "belay run:", the beginning of a message on stderr.
std::string complaint(std::string_view command);

}  // namespace belay::cli
