#include "cli/check.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "check/suppressions.h"
#include "check/verdict.h"
#include "cli/check_report.h"
#include "cli/child.h"
#include "cli/colour.h"
#include "cli/launch.h"
#include "cli/symbolize.h"
#include "cli/symbols.h"
#include "config/check_settings.h"
#include "platform/files.h"

namespace belay::cli {
namespace {

struct CheckArguments {
  Launch launch;
  std::string level = "all", only, fail_on, api_errors, suppressions, baseline, log_file;
  std::string json, sarif, junit;
  std::size_t print_limit = CheckSettings{}.print_limit;
  int exit_code = CheckSettings{}.exit_code;
  bool halts = false, print_suppressions = false, watch_host = false;
};

MisuseClasses classes_of(const std::string& flag, const std::string& names) {
  const std::optional<MisuseClasses> classes = config::read_classes(names, ',');
  if (!classes)
    throw UsageError{fmt::format("{} {}: no such class", flag, names),
                     fmt::format("the classes are {}, or all", fmt::join(kMisuseClasses, ", "))};
  return *classes;
}

// Seen from the directory that the program changes to, a relative path would be another file.
std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

std::string readable(const std::string& flag, const std::string& path) {
  if (path.empty()) return path;
  if (platform::read_file(path, std::size_t{64} << 20).outcome != platform::ReadOutcome::Done)
    throw UsageError{fmt::format("{} {}: the file cannot be read", flag, path)};
  check::Suppressions lines;
  if (!(flag == "--baseline" ? lines.read_baseline(path) : lines.read(path)))
    throw UsageError{fmt::format("{} {}: see above", flag, path), "docs/check.md describes such a file"};
  return absolute(path);
}

CheckSettings settings_of(const CheckArguments& arguments) {
  CheckSettings settings;
  if (const std::string wrong = config::read_check(arguments.level, settings);
      !wrong.empty() || !settings.on())
    throw UsageError{fmt::format("--level {}: expected cheap or all", arguments.level)};
  if (!arguments.only.empty()) settings.classes = classes_of("--only", arguments.only);
  if (!arguments.fail_on.empty()) settings.fail_on = classes_of("--fail-on", arguments.fail_on);
  if (!arguments.api_errors.empty()) {
    CheckSettings read = settings;
    if (!config::read_check("all,api-errors=" + arguments.api_errors, read).empty())
      throw UsageError{fmt::format("--api-errors {}: expected all, unfetched or off", arguments.api_errors)};
    settings.api_errors = read.api_errors;
  }
  settings.print_limit = arguments.print_limit;
  settings.exit_code = arguments.exit_code;
  settings.halts = arguments.halts;
  settings.suppressions = readable("--suppressions", arguments.suppressions);
  settings.baseline = readable("--baseline", arguments.baseline);
  settings.log_file = absolute(arguments.log_file);
  return settings;
}

bool write_report(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  if (path == "-") {
    fmt::print("{}", text);
    std::fflush(stdout);
    return true;
  }
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) fmt::print(stderr, "{} '{}' cannot be written\n", complaint("belay check"), path);
  return written && closed;
}

std::string verdict_words(const CheckReport& report, bool anybody) {
  const auto failing = static_cast<std::size_t>(
      std::ranges::count_if(report.found, [&](const auto& each) { return report.fails(each); }));
  const std::size_t rest = report.found.size() - failing;
  if (!anybody) {
    return fmt::format(
        "belay: nothing was checked: this program never called AscendCL, or only functions that need no "
        "device; 'belay check-program {}' lists the functions that it needs\n",
        report.program);
  }
  if (report.found.empty()) return paint(Style::Green, "belay: nothing was found\n", stderr);
  const std::string also =
      rest == 0 ? std::string{}
                : fmt::format("{}{} that {} not count (see --fail-on)", failing == 0 ? "" : ", and ",
                              counted(rest, "finding"), rest == 1 ? "does" : "do");
  if (failing == 0) return fmt::format("belay: {}\n", also);
  return paint(
      Style::Red,
      fmt::format("belay: {}{}: exit code {}\n", counted(failing, "finding"), also, report.exit_code),
      stderr);
}

int check(const CheckArguments& arguments) {
  const std::vector<std::string> words = program_words(arguments.launch);
  const CheckSettings settings = settings_of(arguments);
  set_variable("BELAY_CHECK", config::check_text(settings));
  if (arguments.watch_host) set_variable("BELAY_WATCH_HOST", "on");
  (void)apply_settings(arguments.launch);
  int exit_code = 0;
  const std::string path = prepare_program(arguments.launch, words[0], exit_code);
  if (path.empty()) return exit_code;

  const check::VerdictReader verdict;
  if (verdict.link().empty()) throw UsageError{"this system has no memory that processes could share"};
  set_variable(kVerdictVariable, verdict.link());
  const Ending ending = run_child(path, words);
  if (ending.not_started != 0) return cannot_start("belay check", path, ending.not_started);

  CheckReport report;
  report.program = words[0];
  report.found = verdict.entries();
  Symbols symbols;
  for (check::VerdictEntry& each : report.found)
    each.text = symbolized(each.text, symbols);  // of signal handlers
  report.lost = verdict.lost();
  report.fail_on = settings.fail_on;
  const bool killed = WIFSIGNALED(ending.status);
  report.program_code = killed ? 128 + WTERMSIG(ending.status) : WEXITSTATUS(ending.status);
  const bool fails =
      std::ranges::any_of(report.found, [&](const auto& each) { return report.fails(each); }) ||
      report.lost != 0;
  report.exit_code = fails && !killed ? settings.exit_code : report.program_code;
  fmt::print(stderr, "{}", verdict_words(report, verdict.anybody()));
  if (report.lost != 0)
    fmt::print(stderr, "belay: {} more could not be kept\n", counted(report.lost, "finding"));
  bool written = write_report(arguments.json, as_json(report));
  written = write_report(arguments.sarif, as_sarif(report)) && written;
  written = write_report(arguments.junit, as_junit(report)) && written;
  if (arguments.print_suppressions) fmt::print("{}", as_suppressions(report));
  if (killed) return end_like(ending);
  return written ? report.exit_code : std::max(report.exit_code, kUsage);
}

}  // namespace

Action add_check(CLI::App& belay, std::vector<std::string> after_dashes) {
  auto arguments = std::make_shared<CheckArguments>();
  arguments->launch.command = "belay check";
  arguments->launch.after_dashes = std::move(after_dashes);
  CLI::App& app =
      *belay.add_subcommand("check", "Run a program and find its memory mistakes")->group("Commands");
  arguments->launch.app = &app;
  app.prefix_command();
  app.add_option("--level", arguments->level,
                 "all: everything, stacks of 8 frames, addresses used again late; cheap: no contents, "
                 "changed sources, "
                 "unused blocks, one frame, addresses used again at once")
      ->type_name("LEVEL");
  app.add_option("--only", arguments->only, "look only for these classes, such as lifetime,leaks")
      ->type_name("CLASSES");
  app.add_option("--fail-on", arguments->fail_on,
                 "classes that decide the exit code (default: all but errors and hints)")
      ->type_name("CLASSES");
  app.add_option("--error-exitcode", arguments->exit_code,
                 "the exit code when something was found (default: 86)")
      ->type_name("N")
      ->check(CLI::Range(0, 255));
  app.add_option("--api-errors", arguments->api_errors,
                 "failed calls: unfetched (default) lists those whose error was never asked for; all; off")
      ->type_name("WHICH");
  app.add_option("--print-limit", arguments->print_limit,
                 "print at most N findings per process (default: 100)")
      ->type_name("N");
  app.add_flag("--halt-on-error", arguments->halts, "end the program at the first finding that counts")
      ->option_text(" ");
  app.add_flag("--watch-host", arguments->watch_host,
               "also find host code that reads or writes the destination of queued work in pinned or "
               "managed memory before the wait")
      ->option_text(" ");
  app.add_option("--log-file", arguments->log_file, "append all findings to this file, too")
      ->type_name("FILE");
  app.add_option("--suppressions", arguments->suppressions, "leave out what the lines of this file describe")
      ->type_name("FILE");
  app.add_flag("--print-suppressions", arguments->print_suppressions,
               "print to stdout the lines that would suppress what was found")
      ->option_text(" ");
  app.add_option("--baseline", arguments->baseline,
                 "leave out findings that are in this file, written by --json")
      ->type_name("FILE");
  app.add_option("--json", arguments->json, "write the findings as JSON; - is stdout")->type_name("FILE");
  app.add_option("--sarif", arguments->sarif, "write them as SARIF 2.1.0, for code hosts")->type_name("FILE");
  app.add_option("--junit", arguments->junit, "write them as JUnit XML, for CI")->type_name("FILE");
  add_settings(arguments->launch, {"BELAY_CHECK", "BELAY_WATCH_HOST"});
  set_help(
      app, "belay check [OPTIONS] [SETTINGS] [--] PROGRAM [ARGUMENTS...]",
      "The program is started with belay's libascendcl.so, and every mistake that it makes with memory is "
      "told\n"
      "on standard error when it happens: what was wrong, the line of the program, where the memory came "
      "from\n"
      "and where it went, the rule, and what to do. The same mistake at the same place is told once. What "
      "the\n"
      "program gets from its calls does not change.\n\n"
      "Classes: lifetime   double frees, wrong frees, use after free or destroy, free while work is queued\n"
      "         bounds     copies, fills and words that leave what was asked for, by a single byte\n"
      "         contents   device memory that nobody wrote, when it reaches the host; with --level all\n"
      "         direction  a kind of copy, or a side, that does not fit the addresses\n"
      "         readonly   writes to read-only memory, access that cannot be granted\n"
      "         host       host code that touches device memory; host memory of queued work that is freed,\n"
      "                    changed or out of its frame before the program waited\n"
      "         leaks      what was never given back\n"
      "         errors     failed calls whose error nobody asked for\n"
      "         order      nothing yet: a reserved name\n"
      "         hints      what is allowed, but probably not intended\n\n"
      "Exit code: the program's; 86 (--error-exitcode) when something was found in the classes of "
      "--fail-on;\n"
      "128+n when the program died of signal n; 2 wrong use, 126 not executable, 127 no such program.\n\n"
      "Examples:\n"
      "  belay check -- ./my_program                  all checks, verdict in the exit code\n"
      "  belay check --level cheap -- ./my_program    at nearly full speed\n"
      "  belay check --fail-on leaks -- python3 train.py\n"
      "  belay check --junit report.xml --sarif report.sarif -- ./tests\n"
      "  belay check --json known.json -- ./my_program; belay check --baseline known.json -- ./my_program");
  return [arguments] { return check(*arguments); };
}

}  // namespace belay::cli
