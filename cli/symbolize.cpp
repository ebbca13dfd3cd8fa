#include "cli/symbolize.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help.h"
#include "cli/symbols.h"

namespace belay::cli {
namespace {

constexpr char kFrameBegins = '\x01';
constexpr char kFieldEnds = '\x02';
constexpr char kFrameEnds = '\x03';
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

// --- frames ---------------------------------------------------------------------------------------

// A frame as it was found, whether or not it makes sense.
struct RawFrame {
  std::string_view path, offset, build_id;
  bool complete = false;

  // "libmine.so+0x1234"
  std::string module() const {
    const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    return fmt::format("{}{}{}", name.empty() ? "?" : name, offset.empty() ? "" : "+0x", offset);
  }
};

// Takes a frame off the line, which has lost the byte that a frame begins with; none if this was only a byte.
std::optional<RawFrame> take_frame(std::string_view& line) {
  RawFrame frame;
  std::size_t end = std::min(line.find_first_of("\x01\x03"), line.size());
  frame.complete = end < line.size() && line[end] == kFrameEnds;
  if (!frame.complete) {  // it was cut off: what follows the numbers is text
    const std::size_t path = line.substr(0, end).find(kFieldEnds);
    if (path == line.npos) return std::nullopt;
    end = path;
    while (end < line.size() && (line[end] == kFieldEnds || kHexDigits.find(line[end]) != kHexDigits.npos))
      ++end;
  }
  std::string_view fields = line.substr(0, end);
  line.remove_prefix(frame.complete ? end + 1 : end);
  for (std::string_view* field : {&frame.path, &frame.offset}) {
    const std::size_t length = std::min(fields.find(kFieldEnds), fields.size());
    *field = fields.substr(0, length);
    fields.remove_prefix(std::min(length + 1, fields.size()));
  }
  frame.build_id = fields;
  return frame;
}

std::string words_for(const Place& place, const std::string& module) {
  const std::string where = place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
  if (place.function.empty()) return where.empty() ? module : fmt::format("{} ({})", module, where);
  return fmt::format("{} ({})", place.function, where.empty() ? module : where);
}

// Of the C++ library: std::sort and its many parts between two functions of the program say nothing.
bool is_of_cxx_library(const Place& place) { return place.file.starts_with("/usr/include/c++/"); }

// What a frame becomes: one entry, more where functions were inlined, none if all are of the C++ library.
std::vector<std::string> words_for(const RawFrame& frame, Symbols& symbols) {
  const std::string module = frame.module();
  std::uint64_t offset = 0;
  const char* const end = frame.offset.data() + frame.offset.size();
  const auto [read, error] = std::from_chars(frame.offset.data(), end, offset, 16);
  if (!frame.complete || error != std::errc{} || read != end ||
      frame.build_id.find_first_not_of(kHexDigits) != kHexDigits.npos)
    return {module};

  const std::string path{frame.path};
  if (symbols.changed(path, frame.build_id)) return {module + " (the file has changed since)"};
  std::vector<std::string> words;
  const std::vector<Place> places = symbols.at(path, offset, frame.build_id);
  for (const Place& place : places) {
    if (!is_of_cxx_library(place)) words.push_back(words_for(place, module));
  }
  if (places.empty()) words.push_back(module);
  return words;
}

// --- text -----------------------------------------------------------------------------------------

// Nothing, if the line is left out.
std::optional<std::string> symbolized_line(std::string_view line, Symbols& symbols) {
  std::vector<std::string> lines{""};
  for (bool first = true;; first = false) {
    const std::string_view text = line.substr(0, line.find(kFrameBegins));
    for (std::string& each : lines) each += text;
    if (text.size() == line.size()) break;
    line.remove_prefix(text.size() + 1);
    const std::optional<RawFrame> frame = take_frame(line);
    std::vector<std::string> words = frame ? words_for(*frame, symbols) : std::vector<std::string>{""};
    if (words.empty()) {
      if (first && text.ends_with("at ")) return std::nullopt;  // a line of a stack
      words.push_back(frame->module());
    }
    // With several frames in a line there is no telling which one to repeat it for.
    lines.resize(first ? words.size() : 1, lines.front());
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += words[i];
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

std::string symbolized(std::string_view text, Symbols& symbols) {
  std::string answer;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::optional<std::string> line = symbolized_line(text.substr(0, end), symbols);
    answer += line.value_or("");
    if (end == std::string_view::npos) return answer;
    if (line) answer += '\n';
    text.remove_prefix(end + 1);
  }
}

namespace {

// --- the pipe -------------------------------------------------------------------------------------

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::runtime_error{fmt::format("cannot write: {}", std::strerror(errno))};
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Empty at the end of the input.
std::string_view read_some(std::array<char, 65536>& buffer) {
  while (true) {
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size >= 0) return {buffer.data(), static_cast<std::size_t>(size)};
    if (errno != EINTR) throw std::runtime_error{fmt::format("cannot read: {}", std::strerror(errno))};
  }
}

int symbolize() {
  Symbols symbols;
  const auto answer = [&](std::string_view text) { write_all(symbolized(text, symbols) + '\0'); };
  std::array<char, 65536> buffer;
  std::string text;
  for (std::string_view some; !(some = read_some(buffer)).empty(); text += some) {
    for (std::size_t end; (end = some.find('\0')) != std::string_view::npos; some.remove_prefix(end + 1)) {
      text += some.substr(0, end);
      answer(text);
      text.clear();
    }
  }
  if (!text.empty()) answer(text);
  return kOk;
}

}  // namespace

Action add_symbolize(CLI::App& belay) {
  const char* const what = "Replace addresses of code in a text by functions, files and lines";
  CLI::App& app = *belay.add_subcommand("symbolize", what)->group("Commands that belay itself uses");
  set_help(app, "belay symbolize <TEXT",
           "A filter: belay's library starts it to put names into its reports. It copies standard\n"
           "input to standard output, and replaces each frame. A frame is written\n\n"
           "  \\x01PATH\\x02OFFSET\\x02BUILDID\\x03\n\n"
           "PATH leads to a program or library. OFFSET is a return address less the load bias of the\n"
           "file, in hex without 0x. BUILDID is in hex, too, and may be empty. The frame becomes\n\n"
           "  function (file:line)                         with debug information (compile with -g)\n"
           "  function (module+0x1234)                     with a symbol table only\n"
           "  module+0x1234                                with neither\n"
           "  module+0x1234 (the file has changed since)   if its build id is not BUILDID\n\n"
           "The line is repeated for every function that was inlined at this place, innermost first.\n"
           "Files are named from the current directory if they lie below it. Separate debug files are\n"
           "found where gdb finds them; nothing is fetched from the network.\n\n"
           "A text ends with a zero byte or with the input. Its answer ends with a zero byte and is\n"
           "written at once, so one process can serve many texts.\n\n"
           "Examples:\n"
           "  printf '\\001./my_program\\0021234\\002\\003\\n' | belay symbolize\n"
           "  belay symbolize <report | tr -d '\\0'");
  return [] {
    if (::isatty(STDIN_FILENO) != 0)
      throw UsageError{"the text is read from standard input, which is a terminal",
                       "use a file or a pipe: belay symbolize <report"};
    return symbolize();
  };
}

}  // namespace belay::cli
