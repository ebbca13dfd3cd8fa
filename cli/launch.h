// Starting a program on the emulated machine: what `belay run` and `belay check` have in common.
#pragma once

#include <string>
#include <vector>

#include "cli/help.h"
#include "config/settings.h"

namespace belay::cli {

struct Setting {
  const config::Option* option;
  std::string value;
  CLI::Option* flag;

  bool given() const { return flag->count() > 0; }
};

struct Launch {
  std::string command;  // "belay run"
  CLI::App* app;
  std::vector<Setting> settings;          // the flags
  std::vector<std::string> after_dashes;  // what stood behind "--", with that in front
};

// The flags of all settings but those.
void add_settings(Launch& launch, const std::vector<std::string_view>& without = {});

// The program may stand behind "--" or directly behind the settings.
std::vector<std::string> program_words(const Launch& launch);

// Into the environment.
void set_variable(const std::string& variable, const std::string& value);
void set_if_unset(const char* variable, const std::string& value);

// Puts the flags that were given into the environment, and reads all settings from there.
Settings apply_settings(const Launch& launch);

// Finds the program and puts the library in front of it. Empty: it cannot be started, why was said, and this
// is the exit code.
std::string prepare_program(const Launch& launch, const std::string& name, int& exit_code);

int cannot_start(const std::string& command, const std::string& path, int error);

}  // namespace belay::cli
