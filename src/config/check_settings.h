// BELAY_CHECK: how closely a program is looked at, and what is done about it.
//
//   off | cheap | all [,option=value ...]
//
// A comma or percent sign in a value is written as %2C or %25: paths may have them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/misuse.h"

namespace belay::config {

// What is wrong with it; empty: nothing, and the settings are filled in.
std::string read_check(std::string_view text, CheckSettings& settings);
// The text that means these settings.
std::string check_text(const CheckSettings& settings);
// "leaks,bounds", "all" or "none"; empty where a name is wrong.
std::optional<MisuseClasses> read_classes(std::string_view names, char between);

}  // namespace belay::config
