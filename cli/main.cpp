// The command `belay`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl_rt.h"
#include "base/nearest.h"
#include "cli/check.h"
#include "cli/check_program.h"
#include "cli/colour.h"
#include "cli/command.h"
#include "cli/diff.h"
#include "cli/doctor.h"
#include "cli/explain.h"
#include "cli/export.h"
#include "cli/help.h"
#include "cli/machine.h"
#include "cli/mark.h"
#include "cli/npu_smi.h"
#include "cli/products.h"
#include "cli/replay.h"
#include "cli/report.h"
#include "cli/rule.h"
#include "cli/run.h"
#include "cli/smi.h"
#include "cli/stats.h"
#include "cli/symbolize.h"
#include "cli/toolkit.h"

namespace belay::cli {
namespace {

struct Command {
  std::string name;
  Action act;
};

int complain(const std::string& command, const std::string& what, const std::string& hint) {
  fmt::print(stderr, "{} {}\n", complaint(command), what);
  if (!hint.empty()) fmt::print(stderr, "{}\n", hint);
  return kUsage;
}

// Words of the program that is started are none of the parser's business.
std::vector<std::string> take_after_dashes(std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "run" && words[0] != "check")) return {};
  const auto dashes = std::ranges::find(words, "--");
  std::vector<std::string> behind{dashes, words.end()};
  words.erase(dashes, words.end());
  return behind;
}

std::string version() {
  return fmt::format("belay {}, AscendCL interface {}.{}.{}", BELAY_VERSION, ACL_MAJOR_VERSION,
                     ACL_MINOR_VERSION, ACL_PATCH_VERSION);
}

Action add_version(CLI::App& app) {
  app.add_subcommand("version", "show the versions of belay and of the interface");
  return [] {
    fmt::print("{}\n", version());
    return 0;
  };
}

int obey(std::vector<std::string> words) {
  CLI::App app{"belay runs programs that use AscendCL memory on a machine without an Ascend NPU.", "belay"};
  app.set_help_flag("-h,--help", "show this help");
  app.set_version_flag("-V,--version", version(), "show the versions of belay and of the interface");
  app.require_subcommand(0, 1);
  set_help(app, "belay COMMAND [...]",
           "See 'belay COMMAND --help' for one command.\n\n"
           "Examples:\n"
           "  belay run -- ./my_program                    run it on an emulated A2 server\n"
           "  belay check -- ./my_program                  find its memory mistakes, with a verdict for CI\n"
           "  belay mark 4711                              what grew in it since the last mark?\n"
           "  belay run --trace run.trace -- ./my_program  write down what happens to memory\n"
           "  belay stats run.trace                        peaks, who held what, copies\n"
           "  belay replay run.trace --product A3          would it fit there?\n"
           "  belay report run.trace                       where memory went, when, and why it ran out\n"
           "  belay explain 2M --policy HUGE_ONLY          what does 2 MB cost, and why?\n"
           "  belay rule M-48                              the text of a rule\n"
           "  belay products                               what can be emulated, with its figures\n"
           "  belay doctor                                 will it work on this machine, and how well?\n"
           "  belay smi --watch                            which process holds how much of which device?\n"
           "  belay machine ls                             which machines do processes share?\n"
           "  belay toolkit install --root ~/Ascend        a toolkit for programs with fixed paths\n"
           "  belay check-program ./my_program             does belay have what it needs?");

  const bool nothing = words.empty();
  std::vector<std::string> after_dashes = take_after_dashes(words);
  const Command commands[] = {
      {"run", add_run(app, after_dashes)},
      {"check", add_check(app, std::move(after_dashes))},
      {"mark", add_mark(app)},
      {"stats", add_stats(app)},
      {"diff", add_diff(app)},
      {"replay", add_replay(app)},
      {"report", add_report(app)},
      {"export", add_export(app)},
      {"explain", add_explain(app)},
      {"rule", add_rule(app)},
      {"products", add_products(app)},
      {"doctor", add_doctor(app)},
      {"smi", add_smi(app)},
      {"machine", add_machine(app)},
      {"toolkit", add_toolkit(app)},
      {"check-program", add_check_program(app)},
      {"symbolize", add_symbolize(app)},
      {"version", add_version(app)},
  };
  if (nothing) {
    fmt::print(stderr, "{}", app.help());
    return kNothingFound;
  }

  const auto command = std::ranges::find(commands, words[0], &Command::name);
  const bool known = command != std::end(commands);
  if (!known && !words[0].starts_with('-')) {
    std::vector<std::string_view> names;
    for (const Command& each : commands) names.push_back(each.name);
    const std::string_view near = nearest(words[0], names);
    return complain("belay",
                    near.empty() ? fmt::format("there is no command '{}'", words[0])
                                 : fmt::format("there is no command '{}'; did you mean {}?", words[0], near),
                    fmt::format("the commands are {}; see 'belay --help'", fmt::join(names, ", ")));
  }
  const std::string name = known ? "belay " + command->name : "belay";
  try {
    std::ranges::reverse(words);  // as the parser wants them
    app.parse(words);
    if (known) return command->act();
    return complain(name, "no command given", "'belay --help' lists the commands");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(name, error.what(), fmt::format("see '{} --help'", name));
  } catch (const UsageError& error) {
    return complain(name, error.what(), error.hint());
  }
}

}  // namespace
}  // namespace belay::cli

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words{argv + std::min(argc, 1), argv + argc};
    // One program under two names: links and copies of it are called npu-smi.
    const std::string_view name = argc > 0 ? argv[0] : "";
    if (name.substr(name.rfind('/') + 1) == "npu-smi") return belay::cli::npu_smi(words);
    return belay::cli::obey(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "belay: %s\n", error.what());
    return belay::cli::kUsage;
  }
}
