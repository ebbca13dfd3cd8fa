// Text for terminals and pipes: columns that line up, paragraphs that fit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belay::cli {

enum class Align { Left, Right };

class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_{std::move(columns)} {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void heading(std::vector<std::string> cells);  // a row in bold type
  bool empty() const { return rows_.empty(); }

  // The last column is wrapped to `width`, if there is one.
  std::string text(std::optional<std::size_t> width) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that a text takes: characters, not bytes, and no codes of colours (colour.h).
std::size_t width_of(std::string_view text);

// Columns of the terminal that standard output goes to; none for a pipe or a file, which get whole lines.
std::optional<std::size_t> output_width();

// Breaks a paragraph between words; lines after the first start with `indent` spaces.
std::string wrap(std::string_view text, std::optional<std::size_t> width, std::size_t indent);

}  // namespace belay::cli
