#include "cli/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/colour.h"

namespace belay::cli {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

// Bytes that continue a UTF-8 character take no room, nor does anything from an escape character to its 'm'.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  bool in_code = false;
  for (const char c : text) {
    if (c == '\033') in_code = true;
    if (!in_code && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
    if (c == 'm') in_code = false;
  }
  return width;
}

void Table::heading(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = paint(Style::Bold, std::move(cell));
  row(std::move(cells));
}

std::string Table::text(std::optional<std::size_t> width) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));
  }
  std::string out;
  for (const auto& cells : rows_) {
    std::string line;
    std::size_t used = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t room = widths[i] - width_of(cells[i]);
      if (i + 1 == columns_.size() && columns_[i] == Align::Left) {
        line += wrap(cells[i], width, used);
        break;
      }
      if (columns_[i] == Align::Right) line.append(room, ' ');
      line += cells[i];
      if (columns_[i] == Align::Left) line.append(room, ' ');
      line.append(kGap, ' ');
      used += widths[i] + kGap;
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::optional<std::size_t> output_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::nullopt;
  return size.ws_col;
}

std::string wrap(std::string_view text, std::optional<std::size_t> width, std::size_t indent) {
  constexpr std::size_t kNarrowest = 20;
  if (!width || *width < indent + kNarrowest) return std::string{text};
  const std::size_t room = *width - indent;
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t needed = width_of(word);
    if (used != 0 && used + 1 + needed > room) {
      out += '\n';
      out.append(indent, ' ');
      used = 0;
    } else if (used != 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += needed;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace belay::cli
