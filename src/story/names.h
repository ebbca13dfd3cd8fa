// Words, each kept once, and named by a number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace belay::story {

class Names {
 public:
  std::uint32_t number(std::string_view name) {
    const auto [at, is_new] =
        numbers_.try_emplace(std::string{name}, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.emplace_back(name);
    return at->second;
  }
  const std::string& operator[](std::uint32_t number) const { return all_[number]; }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> all_;
};

}  // namespace belay::story
