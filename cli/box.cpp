#include "cli/box.h"

#include <fmt/format.h>

#include <sstream>

#include "cli/colour.h"

namespace belay::cli {
namespace {

// What does not fit is cut, and shows that it was. What has colours fits.
std::string clipped(const std::string& cell, std::size_t width) {
  return width_of(cell) <= width ? cell : cell.substr(0, width - 2) + "..";
}

}  // namespace

std::size_t Box::inner_width() const {
  std::size_t width = 3 * (columns_.size() - 1);
  for (const Column& column : columns_) width += column.width;
  return width;
}

void Box::edge() { text_ += '+' + std::string(inner_width() + 2, '-') + "+\n"; }

void Box::line(char stroke) {
  for (const Column& column : columns_) text_ += '+' + std::string(column.width + 2, stroke);
  text_ += "+\n";
}

std::string Box::padded(const std::string& cell, std::size_t column) const {
  const auto [align, width] = columns_[column];
  const std::string shown = clipped(cell, width);
  const std::string room(width - width_of(shown), ' ');
  return align == Align::Left ? shown + room : room + shown;
}

void Box::row(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i) text_ += fmt::format("| {} ", padded(cells[i], i));
  text_ += "|\n";
}

void Box::heading(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    text_ += fmt::format("| {} ", paint(Style::Bold, padded(cells[i], i)));
  text_ += "|\n";
}

void Box::across(std::string_view text) {
  const std::size_t width = inner_width();
  std::istringstream lines{wrap(text, width, 0)};
  for (std::string line; std::getline(lines, line);)
    text_ += fmt::format("| {:<{}} |\n", clipped(line, width), width);
}

}  // namespace belay::cli
