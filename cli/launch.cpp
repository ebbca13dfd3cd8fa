#include "cli/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/nearest.h"
#include "cli/colour.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/program.h"
#include "platform/environment.h"

namespace belay::cli {

void set_variable(const std::string& variable, const std::string& value) {
  ::setenv(variable.c_str(), value.c_str(), 1);
}

void set_if_unset(const char* variable, const std::string& value) {
  if (platform::environment(variable).value_or("").empty()) set_variable(variable, value);
}

namespace {

namespace fs = std::filesystem;

// --- the program ----------------------------------------------------------------------------------

[[noreturn]] void unknown_setting(const Launch& launch, std::string word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string_view> known;
  for (const Setting& setting : launch.settings) known.push_back(setting.option->flag);
  const std::string_view near = nearest(word, known);
  throw UsageError{near.empty() ? fmt::format("there is no setting {}", word)
                                : fmt::format("there is no setting {}; did you mean {}?", word, near),
                   fmt::format("'{} --help' lists all settings", launch.command)};
}

// --- the settings ---------------------------------------------------------------------------------

std::string replaced(std::string text, const std::string& from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// --- the library ----------------------------------------------------------------------------------

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ":" + second;
}

void put_library_in_front(const Installation& installation) {
  const std::string folder = installation.library.parent_path().string();
  if (folder.find_first_of(":;") != std::string::npos) {
    throw UsageError{
        fmt::format("the path '{}' has a colon or semicolon, which LD_LIBRARY_PATH cannot carry", folder),
        "install belay elsewhere"};
  }
  const std::string folders = platform::environment("LD_LIBRARY_PATH").value_or("");
  if (!(folders + ":").starts_with(folder + ":")) set_variable("LD_LIBRARY_PATH", joined(folder, folders));

  // Appended, so that tools that preload functions of their own come first and reach ours behind them.
  // LD_PRELOAD is split at spaces; a path that has one is found through LD_LIBRARY_PATH.
  const std::string library = folder.find(' ') == std::string::npos
                                  ? installation.library.string()
                                  : installation.library.filename().string();
  const std::string preload = platform::environment("LD_PRELOAD").value_or("");
  if ((":" + preload + ":").find(":" + library + ":") == std::string::npos)
    set_variable("LD_PRELOAD", joined(preload, library));
}

// What set_env.sh of the tree would export, for programs that look there.
void point_to_tree(const Installation& installation) {
  std::error_code ignored;
  if (!fs::exists(installation.root / "set_env.sh", ignored)) return;
  const std::string root = installation.root.string();
  for (const char* variable :
       {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH", "ASCEND_AICPU_PATH"}) {
    set_if_unset(variable, root);
  }
  set_if_unset("ASCEND_OPP_PATH", root + "/opp");
  set_if_unset("TOOLCHAIN_HOME", root + "/toolkit");
}

std::string description(const config::Option& option) {
  return fmt::format("{}\n{}\ndefault: {} (as variable: {})", option.meaning, option.values, option.fallback,
                     option.variable);
}

}  // namespace

void add_settings(Launch& launch, const std::vector<std::string_view>& without) {
  launch.settings.reserve(config::options().size());  // the flags keep addresses of the values
  for (const config::Option& option : config::options()) {
    if (std::ranges::find(without, option.variable) != without.end()) continue;
    Setting& setting = launch.settings.emplace_back(Setting{&option, {}, nullptr});
    setting.flag = launch.app->add_option(std::string{option.flag}, setting.value, description(option))
                       ->type_name("VALUE")
                       ->group("Settings");
  }
}

std::vector<std::string> program_words(const Launch& launch) {
  std::vector<std::string> words = launch.app->remaining();
  if (!words.empty() && words[0].starts_with('-')) unknown_setting(launch, words[0]);
  const auto behind = launch.after_dashes.begin() + (words.empty() && !launch.after_dashes.empty() ? 1 : 0);
  words.insert(words.end(), behind, launch.after_dashes.end());
  if (words.empty())
    throw UsageError{
        "which program?",
        fmt::format("put it after the settings: {} --product A3 -- ./my_program", launch.command)};
  return words;
}

Settings apply_settings(const Launch& launch) {
  for (const Setting& setting : launch.settings) {
    if (setting.given()) set_variable(std::string{setting.option->variable}, setting.value);
  }
  Result<Settings> read = config::read_settings();
  if (read) return std::move(*read);

  // The reader speaks of variables; who used a flag is told about the flag.
  const Refusal refusal = read.take_refusal();
  std::string what = refusal->what;
  std::string solution = refusal->solution;
  for (const Setting& setting : launch.settings) {
    const std::string variable{setting.option->variable};
    if (!setting.given() || what.find(variable + " ") == std::string::npos) continue;
    what = replaced(what, fmt::format("the environment variable {}", variable), setting.option->flag);
    solution = fmt::format("correct or leave out {}; '{} --help' lists all settings", setting.option->flag,
                           launch.command);
  }
  throw UsageError{what, solution};
}

std::string prepare_program(const Launch& launch, const std::string& name, int& exit_code) {
  const FoundProgram program = find_program(name);
  if (program.path.empty()) {
    fmt::print(stderr, "{} {}\n", complaint(launch.command), program.why);
    exit_code = program.exit_code;
    return {};
  }
  if (const std::string why = why_not_intercepted(program.path); !why.empty()) throw UsageError{why};
  const Installation installation = find_installation();
  put_library_in_front(installation);
  point_to_tree(installation);
  return program.path;
}

int cannot_start(const std::string& command, const std::string& path, int error) {
  if (error == ENOENT) {
    fmt::print(stderr, "{} '{}' exists, but the interpreter or loader that it names does not\n",
               complaint(command), path);
  } else {
    fmt::print(stderr, "{} '{}' cannot be started: {}\n", complaint(command), path, std::strerror(error));
  }
  return kCannotExecute;
}

}  // namespace belay::cli
