// Runs a test body in a process of its own, with settings of its own.
//
// The library reads its settings once per process; a forked child reads the environment again.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/captured_process.h"
#include "support/fresh_process.h"

namespace belay_test {

using Settings = std::vector<std::pair<std::string, std::string>>;

inline void set_environment(const Settings& settings) {
  for (const auto& [name, value] : settings) ::setenv(name.c_str(), value.c_str(), 1);
}

inline std::function<void()> after_setting(const Settings& settings, const std::function<void()>& body) {
  return [&settings, &body] {
    set_environment(settings);
    body();
  };
}

inline int run_in_fresh_process(const Settings& settings, const std::function<void()>& body) {
  return run_in_fresh_process(after_setting(settings, body));
}

inline void in_fresh_process(const Settings& settings, const std::function<void()>& body) {
  in_fresh_process(after_setting(settings, body));
}

inline Ending run_captured(const Settings& settings, const std::function<void()>& body, int seconds = 120) {
  return run_captured(after_setting(settings, body), seconds);
}

}  // namespace belay_test
