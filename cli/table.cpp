#include "cli/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace belay::cli {
namespace {

// Characters, not bytes: bytes that continue a UTF-8 character take no room.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

constexpr std::size_t kGap = 2;

}  // namespace

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
