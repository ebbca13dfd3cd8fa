#include "cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/nearest.h"
#include "cli/child.h"
#include "cli/colour.h"
#include "cli/help.h"
#include "cli/program.h"
#include "config/settings.h"
#include "platform/environment.h"
#include "platform/files.h"
#include "platform/process.h"
#include "trace/run_record.h"
#include "trace/summary_text.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;

struct Setting {
  const config::Option* option;
  std::string value;
  CLI::Option* flag;

  bool given() const { return flag->count() > 0; }
};

struct RunArguments {
  CLI::App* app;
  std::vector<Setting> settings;
  bool quiet = false;
  std::vector<std::string> after_dashes;
};

void set(const std::string& variable, const std::string& value) {
  ::setenv(variable.c_str(), value.c_str(), 1);
}

void set_if_unset(const char* variable, const std::string& value) {
  if (platform::environment(variable).value_or("").empty()) set(variable, value);
}

// --- the program ----------------------------------------------------------------------------------

[[noreturn]] void unknown_setting(const RunArguments& arguments, std::string word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string_view> known;
  for (const Setting& setting : arguments.settings) known.push_back(setting.option->flag);
  const std::string_view near = nearest(word, known);
  throw UsageError{near.empty() ? fmt::format("there is no setting {}", word)
                                : fmt::format("there is no setting {}; did you mean {}?", word, near),
                   "'belay run --help' lists all settings"};
}

// The program may stand behind "--" or directly behind the settings.
std::vector<std::string> program_words(const RunArguments& arguments) {
  std::vector<std::string> words = arguments.app->remaining();
  if (!words.empty() && words[0].starts_with('-')) unknown_setting(arguments, words[0]);
  const auto behind =
      arguments.after_dashes.begin() + (words.empty() && !arguments.after_dashes.empty() ? 1 : 0);
  words.insert(words.end(), behind, arguments.after_dashes.end());
  if (words.empty())
    throw UsageError{"which program?", "put it after the settings: belay run --product A3 -- ./my_program"};
  return words;
}

// --- the settings ---------------------------------------------------------------------------------

std::string replaced(std::string text, const std::string& from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

Settings apply_settings(const RunArguments& arguments) {
  for (const Setting& setting : arguments.settings) {
    if (setting.given()) set(std::string{setting.option->variable}, setting.value);
  }
  if (arguments.quiet) {
    set("BELAY_SUMMARY", "off");
  } else {
    set_if_unset("BELAY_SUMMARY", "on");
  }
  Result<Settings> read = config::read_settings();
  if (read) return std::move(*read);

  // The reader speaks of variables; who used a flag is told about the flag.
  const Refusal refusal = read.take_refusal();
  std::string what = refusal->what;
  std::string solution = refusal->solution;
  for (const Setting& setting : arguments.settings) {
    const std::string variable{setting.option->variable};
    if (!setting.given() || what.find(variable + " ") == std::string::npos) continue;
    what = replaced(what, fmt::format("the environment variable {}", variable), setting.option->flag);
    solution =
        fmt::format("correct or leave out {}; 'belay run --help' lists all settings", setting.option->flag);
  }
  throw UsageError{what, solution};
}

// --- the library ----------------------------------------------------------------------------------

struct Installation {
  fs::path root, library;
};

// Beside this command: lib64 in an installed tree, lib in a build.
Installation find_installation() {
  std::error_code ignored;
  const fs::path root = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  for (const char* folder : {"lib64", "lib"}) {
    const fs::path library = root / folder / "libascendcl.so";
    if (fs::exists(library, ignored)) return {root, library};
  }
  throw UsageError{fmt::format("libascendcl.so is neither in '{0}/lib64' nor in '{0}/lib'", root.string()),
                   "belay and its library belong into one tree: install them together"};
}

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
  if (!(folders + ":").starts_with(folder + ":")) set("LD_LIBRARY_PATH", joined(folder, folders));

  // Appended, so that tools that preload functions of their own come first and reach ours behind them.
  // LD_PRELOAD is split at spaces; a path that has one is found through LD_LIBRARY_PATH.
  const std::string library = folder.find(' ') == std::string::npos
                                  ? installation.library.string()
                                  : installation.library.filename().string();
  const std::string preload = platform::environment("LD_PRELOAD").value_or("");
  if ((":" + preload + ":").find(":" + library + ":") == std::string::npos)
    set("LD_PRELOAD", joined(preload, library));
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

int cannot_start(const std::string& path, int error) {
  if (error == ENOENT) {
    fmt::print(stderr, "{} '{}' exists, but the interpreter or loader that it names does not\n",
               complaint("belay run"), path);
  } else {
    fmt::print(stderr, "{} '{}' cannot be started: {}\n", complaint("belay run"), path, std::strerror(error));
  }
  return kCannotExecute;
}

// Becomes the program.
int execute(const std::string& path, std::vector<std::string> words) {
  std::vector<char*> argv(words.size() + 1, nullptr);
  std::ranges::transform(words, argv.begin(), [](std::string& word) { return word.data(); });
  ::execvp(path.c_str(), argv.data());
  return cannot_start(path, errno);
}

std::string summary_of(const std::string& path, const trace::RunRecorder& recorder) {
  const std::vector<trace::RunRecorder::Seen> seen = recorder.look();
  if (seen.empty()) {
    return fmt::format(
        "belay: this program never called AscendCL, or only functions that need no device; 'belay "
        "check-program {}' lists the functions that it needs\n",
        path);
  }
  std::vector<trace::ToldBy> told;
  for (const trace::RunRecorder::Seen& each : seen) {
    const bool running =
        !each.record->ended.load() && !platform::surely_gone(each.record->process, each.record->start);
    told.push_back({*each.record, each.tally, running});
  }
  return trace::summary_text(told);
}

// Stays, because only a process that outlives the others can tell of all of them, however they ended.
int execute_and_sum_up(const std::string& path, const std::vector<std::string>& words) {
  const trace::RunRecorder recorder;
  if (recorder.link().empty()) return execute(path, words);  // then each process prints its own
  set(config::kRunVariable, recorder.link());
  const Ending ending = run_child(path, words);
  if (ending.not_started != 0) return cannot_start(path, ending.not_started);
  platform::print_line(true, summary_of(path, recorder));
  return end_like(ending);
}

int run(const RunArguments& arguments) {
  const std::vector<std::string> words = program_words(arguments);
  const bool sums_up = apply_settings(arguments).summary;
  const FoundProgram program = find_program(words[0]);
  if (program.path.empty()) {
    fmt::print(stderr, "{} {}\n", complaint("belay run"), program.why);
    return program.exit_code;
  }
  if (const std::string why = why_not_intercepted(program.path); !why.empty()) throw UsageError{why};
  const Installation installation = find_installation();
  put_library_in_front(installation);
  point_to_tree(installation);
  return sums_up ? execute_and_sum_up(program.path, words) : execute(program.path, words);
}

std::string description(const config::Option& option) {
  return fmt::format("{}\n{}\ndefault: {} (as variable: {})", option.meaning, option.values, option.fallback,
                     option.variable);
}

}  // namespace

Action add_run(CLI::App& belay, std::vector<std::string> after_dashes) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->after_dashes = std::move(after_dashes);
  CLI::App& app = *belay.add_subcommand("run", "Run a program on the emulated machine")->group("Commands");
  arguments->app = &app;
  app.prefix_command();

  CLI::Option* quiet =
      app.add_flag("-q,--quiet", arguments->quiet, "no summary when the program ends")->option_text(" ");
  arguments->settings.reserve(config::options().size());  // the flags keep addresses of the values
  for (const config::Option& option : config::options()) {
    Setting& setting = arguments->settings.emplace_back(Setting{&option, {}, nullptr});
    setting.flag = app.add_option(std::string{option.flag}, setting.value, description(option))
                       ->type_name("VALUE")
                       ->group("Settings");
    if (option.variable == "BELAY_SUMMARY") quiet->excludes(setting.flag);
  }
  set_help(
      app, "belay run [SETTINGS] [--] PROGRAM [ARGUMENTS...]",
      "The program is started with belay's libascendcl.so in place of any other. When it ends, however it\n"
      "ends, a summary of all its processes is printed to standard error: memory by device, copies, and\n"
      "calls that failed. --quiet leaves it out. Exit code: the program's; 2 wrong use, 126 not\n"
      "executable, 127 no such program.\n\n"
      "Examples:\n"
      "  belay run -- ./my_program --size 10          an A2 server with 8 devices\n"
      "  belay run --product A3 --hbm 4G -- ./my_program\n"
      "  belay run --huge 64M --quiet -- python3 train.py\n"
      "  BELAY_PRODUCT=310P belay run --form RC -- ./my_program");
  return [arguments] { return run(*arguments); };
}

}  // namespace belay::cli
