// Runs this test program once more, with only the current test in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "support/settings.h"

namespace belay_test {

// Starts this program afresh with only the current test in it and `scenario` in the variable
// TEST_SCENARIO; the test looks there to know that it is the child.
inline Ending run_this_test_as(const std::string& scenario, const Settings& settings = {},
                               int seconds = 120) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string{"--gtest_filter="} + test->test_suite_name() + "." + test->name();
  return run_captured(
      settings,
      [&] {
        ::setenv("TEST_SCENARIO", scenario.c_str(), 1);
        ::unsetenv("GTEST_OUTPUT");
        std::string program = "/proc/self/exe", no_color = "--gtest_color=no", argument = filter;
        std::array<char*, 4> arguments{program.data(), argument.data(), no_color.data(), nullptr};
        ::execv(program.c_str(), arguments.data());
        ::_exit(127);
      },
      seconds);
}

// The scenario this process was started for; empty in the parent.
inline std::string scenario() {
  const char* const text = std::getenv("TEST_SCENARIO");
  return text == nullptr ? std::string{} : std::string{text};
}

}  // namespace belay_test
