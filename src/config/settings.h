// Settings of the emulated machine from the environment.
//
// Every variable stands once in the table below, with its values and meaning; the command line, its
// help and the documentation are made from the same table. A wrong value is an error told in words,
// never a silent default.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "runtime/settings.h"

namespace belay::config {

struct Option {
  std::string_view variable;  // BELAY_HBM
  std::string_view flag;      // --hbm of `belay run`
  std::string_view values;
  std::string_view fallback;
  std::string_view meaning;
};

std::span<const Option> options();

// Set by `belay run` alone, for the processes of its program (trace/run_record.h).
inline constexpr const char* kRunVariable = "BELAY_RUN";

Result<Settings> read_settings();

}  // namespace belay::config
