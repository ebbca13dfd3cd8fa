#include "cli/colour.h"

#include <fmt/format.h>

#include "platform/terminal.h"

namespace belay::cli {
namespace {

const char* code_of(Style style) {
  switch (style) {
    case Style::Bold:
      return "1";
    case Style::Red:
      return "31";
    case Style::Green:
      return "32";
    case Style::Yellow:
      return "33";
  }
  return "";
}

}  // namespace

std::string paint(Style style, std::string text, std::FILE* stream) {
  if (text.empty() || !platform::is_coloured(stream)) return text;
  return fmt::format("\033[{}m{}\033[0m", code_of(style), text);
}

std::string complaint(std::string_view command) {
  return paint(Style::Red, paint(Style::Bold, fmt::format("{}:", command), stderr), stderr);
}

}  // namespace belay::cli
