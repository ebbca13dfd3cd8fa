// Pins a number of the interface: at compile time, and once more in the test's report.
#pragma once

#include <gtest/gtest.h>

#define PIN(expression, number)                                                                       \
  do {                                                                                                \
    static_assert(static_cast<long long>(expression) == static_cast<long long>(number), #expression); \
    EXPECT_EQ(static_cast<long long>(expression), static_cast<long long>(number));                    \
  } while (false)
