#include "cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "cli/child.h"
#include "cli/launch.h"
#include "cli/trace_file.h"
#include "config/settings.h"
#include "platform/environment.h"
#include "platform/files.h"
#include "platform/process.h"
#include "trace/run_record.h"
#include "trace/summary_text.h"

namespace belay::cli {
namespace {

struct RunArguments {
  Launch launch;
  bool quiet = false;
};

// Becomes the program.
int execute(const std::string& path, std::vector<std::string> words) {
  std::vector<char*> argv(words.size() + 1, nullptr);
  std::ranges::transform(words, argv.begin(), [](std::string& word) { return word.data(); });
  ::execvp(path.c_str(), argv.data());
  return cannot_start("belay run", path, errno);
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
int execute_and_sum_up(const std::string& path, const std::vector<std::string>& words, bool sums_up,
                       const std::string& trace_file) {
  const trace::RunRecorder recorder;
  if (sums_up && recorder.link().empty() && trace_file.empty())
    return execute(path, words);  // then each process prints its own
  if (sums_up && !recorder.link().empty()) set_variable(config::kRunVariable, recorder.link());
  const Ending ending = run_child(path, words);
  if (ending.not_started != 0) return cannot_start("belay run", path, ending.not_started);
  if (!trace_file.empty()) finish_trace(trace_file, recorder);
  if (sums_up && !recorder.link().empty()) platform::print_line(true, summary_of(path, recorder));
  if (!trace_file.empty()) platform::print_line(true, trace_words(trace_file));
  return end_like(ending);
}

int run(const RunArguments& arguments) {
  const std::vector<std::string> words = program_words(arguments.launch);
  if (arguments.quiet)
    set_variable("BELAY_SUMMARY", "off");
  else
    set_if_unset("BELAY_SUMMARY", "on");
  const auto checks = [](const Setting& each) {
    return each.option->variable == "BELAY_CHECK" && each.given();
  };
  if (std::ranges::none_of(arguments.launch.settings, checks) && !platform::environment("BELAY_CHECK"))
    set_if_unset("BELAY_STACKS", "1");
  const Settings settings = apply_settings(arguments.launch);
  int exit_code = 0;
  const std::string path = prepare_program(arguments.launch, words[0], exit_code);
  if (path.empty()) return exit_code;
  const auto names_trace = [](const Setting& each) {
    return each.option->variable == "BELAY_TRACE" && each.given();
  };
  const std::string trace_file =
      std::ranges::any_of(arguments.launch.settings, names_trace) ? begin_trace(settings) : std::string{};
  if (!settings.summary && trace_file.empty()) return execute(path, words);
  return execute_and_sum_up(path, words, settings.summary, trace_file);
}

}  // namespace

Action add_run(CLI::App& belay, std::vector<std::string> after_dashes) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->launch.command = "belay run";
  arguments->launch.after_dashes = std::move(after_dashes);
  CLI::App& app = *belay.add_subcommand("run", "Run a program on the emulated machine")->group("Commands");
  arguments->launch.app = &app;
  app.prefix_command();

  CLI::Option* quiet =
      app.add_flag("-q,--quiet", arguments->quiet, "no summary when the program ends")->option_text(" ");
  add_settings(arguments->launch);
  for (const Setting& setting : arguments->launch.settings) {
    if (setting.option->variable == "BELAY_SUMMARY") quiet->excludes(setting.flag);
  }
  set_help(
      app, "belay run [SETTINGS] [--] PROGRAM [ARGUMENTS...]",
      "The program is started with belay's libascendcl.so in place of any other. When it ends, however it\n"
      "ends, a summary of all its processes is printed to standard error: memory by device, copies, and\n"
      "calls that failed. --quiet leaves it out. --trace FILE begins a trace anew, which belay stats, diff "
      "and\n"
      "replay read. Exit code: the program's; 2 wrong use, 126 not\n"
      "executable, 127 no such program.\n\n"
      "Examples:\n"
      "  belay run -- ./my_program --size 10          an A2 server with 8 devices\n"
      "  belay run --product A3 --hbm 4G -- ./my_program\n"
      "  belay run --trace run.trace -- ./my_program  then: belay stats run.trace\n"
      "  belay run --huge 64M --quiet -- python3 train.py\n"
      "  BELAY_PRODUCT=310P belay run --form RC -- ./my_program");
  return [arguments] { return run(*arguments); };
}

}  // namespace belay::cli
