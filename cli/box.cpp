#include "cli/box.h"

#include <fmt/format.h>

#include <sstream>

namespace belay::cli {
namespace {

// What does not fit is cut, and shows that it was.
std::string clipped(const std::string& cell, std::size_t width) {
  return cell.size() <= width ? cell : cell.substr(0, width - 2) + "..";
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

void Box::row(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto [align, width] = columns_[i];
    const std::string cell = clipped(cells[i], width);
    text_ +=
        align == Align::Left ? fmt::format("| {:<{}} ", cell, width) : fmt::format("| {:>{}} ", cell, width);
  }
  text_ += "|\n";
}

void Box::across(std::string_view text) {
  const std::size_t width = inner_width();
  std::istringstream lines{wrap(text, width, 0)};
  for (std::string line; std::getline(lines, line);)
    text_ += fmt::format("| {:<{}} |\n", clipped(line, width), width);
}

}  // namespace belay::cli
