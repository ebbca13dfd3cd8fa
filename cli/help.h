// Help pages: CLI11's, with a line of usage in our own words.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

namespace belay::cli {

class Help : public CLI::Formatter {
 public:
  explicit Help(std::string usage) : usage_{std::move(usage)} { column_width(24); }
  std::string make_usage(const CLI::App*, std::string) const override { return "\nUsage: " + usage_ + "\n"; }

 private:
  std::string usage_;
};

inline void set_help(CLI::App& app, std::string usage, std::string footer) {
  app.formatter(std::make_shared<Help>(std::move(usage)));
  app.footer(std::move(footer));
}

}  // namespace belay::cli
