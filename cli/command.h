// What the commands have in common: how they are called, and how they end.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace belay::cli {

// Exit codes. `belay run` ends with the program's own code, or as a shell would.
inline constexpr int kOk = 0;
inline constexpr int kNothingFound = 1;
inline constexpr int kUsage = 2;
inline constexpr int kCannotExecute = 126;
inline constexpr int kNoSuchProgram = 127;

// What to do once the command line is read. Returns the exit code.
using Action = std::function<int()>;

// A command line that makes no sense. The hint says what would.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& what, std::string hint = {})
      : runtime_error{what}, hint_{std::move(hint)} {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

}  // namespace belay::cli
