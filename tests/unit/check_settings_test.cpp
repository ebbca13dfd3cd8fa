// BELAY_CHECK as text.
#include "config/check_settings.h"

#include <gtest/gtest.h>

namespace check_settings_test {
using namespace belay;
using config::check_text;
using config::read_check;
using config::read_classes;

CheckSettings read(const std::string& text) {
  CheckSettings settings;
  EXPECT_EQ(read_check(text, settings), "") << text;
  return settings;
}

TEST(CheckSettings, ALevelAlone) {
  EXPECT_FALSE(read("off").on());
  EXPECT_EQ(read("cheap").level, CheckSettings::Level::Cheap);
  EXPECT_EQ(read("All").level, CheckSettings::Level::All) << "as people write it";
  EXPECT_EQ(read("all").exit_code, 86);
  EXPECT_EQ(read("all").print_limit, 100U);
  EXPECT_TRUE(read("all").wants(MisuseClass::Hints));
  EXPECT_EQ(read("all").fail_on & bit(MisuseClass::Errors), 0) << "errors and hints do not decide";
  EXPECT_NE(read("all").fail_on & bit(MisuseClass::Leaks), 0);
}

TEST(CheckSettings, WhatIsWrittenIsReadAgain) {
  CheckSettings settings;
  settings.level = CheckSettings::Level::Cheap;
  settings.classes = bit(MisuseClass::Leaks) | bit(MisuseClass::Order);
  settings.fail_on = bit(MisuseClass::Hints);
  settings.api_errors = CheckSettings::ApiErrors::Off;
  settings.print_limit = 0;
  settings.exit_code = 255;
  settings.halts = true;
  settings.suppressions = "/a,b/100%/c=d";
  settings.baseline = "known %2C.json";
  settings.log_file = "%25";
  const CheckSettings again = read(check_text(settings));
  EXPECT_EQ(check_text(again), check_text(settings));
  EXPECT_EQ(again.suppressions, settings.suppressions);
  EXPECT_EQ(again.baseline, settings.baseline);
  EXPECT_EQ(again.log_file, settings.log_file);
  EXPECT_EQ(again.classes, settings.classes);
  EXPECT_EQ(again.fail_on, settings.fail_on);
  EXPECT_TRUE(again.halts);
  EXPECT_EQ(again.print_limit, 0U);
  EXPECT_EQ(again.exit_code, 255);
}

TEST(CheckSettings, WrongOnesAreNamed) {
  for (const char* text :
       {"", "on", "all,", "all,nonsense", "all,print-limit", "all,print-limit=-1", "all,print-limit=x",
        "all,error-exitcode=256", "all,error-exitcode=", "all,classes=leaks+nothing",
        "all,fail-on=", "all,api-errors=some", "all,suppressions=", "cheap,halt-on-error=1"}) {
    CheckSettings settings;
    EXPECT_NE(read_check(text, settings), "") << text;
  }
}

TEST(CheckSettings, NamesOfClasses) {
  EXPECT_EQ(read_classes("all", ','), kAllMisuseClasses);
  EXPECT_EQ(read_classes("leaks,bounds", ','), bit(MisuseClass::Leaks) | bit(MisuseClass::Bounds));
  EXPECT_EQ(read_classes("none", ','), 0);
  EXPECT_FALSE(read_classes("", ','));
  EXPECT_FALSE(read_classes("leaks,", ','));
  EXPECT_FALSE(read_classes("leak", ','));
  for (const MisuseRow& row : kMisuses) EXPECT_EQ(row_of(row.misuse), &row) << row.id;
}

}  // namespace check_settings_test
