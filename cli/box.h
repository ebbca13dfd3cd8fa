// Tables in frames of plain characters, as npu-smi draws them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/table.h"

namespace belay::cli {

class Box {
 public:
  struct Column {
    Align align;
    std::size_t width;
  };
  explicit Box(std::vector<Column> columns) : columns_{std::move(columns)} {}

  void edge();                                          // +-------------+
  void line(char stroke = '-');                         // +------+------+
  void row(const std::vector<std::string>& cells);      // | cell | cell |
  void heading(const std::vector<std::string>& cells);  // the same, in bold type
  void across(std::string_view text);                   // | over all columns |
  const std::string& text() const { return text_; }

 private:
  std::size_t inner_width() const;
  std::string padded(const std::string& cell, std::size_t column) const;

  std::vector<Column> columns_;
  std::string text_;
};

}  // namespace belay::cli
