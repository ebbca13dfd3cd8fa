#include "cli/mark.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/words.h"
#include "check/mark_requests.h"
#include "cli/colour.h"
#include "cli/help.h"

namespace belay::cli {
namespace {

struct MarkArguments {
  std::vector<std::int32_t> processes;
};

std::string trouble_in_words(check::MarkAnswer::Outcome outcome) {
  using Outcome = check::MarkAnswer::Outcome;
  switch (outcome) {
    case Outcome::NoProcess:
      return "there is no such process; 'belay smi' lists those that use a device";
    case Outcome::NotAllowed:
      return "it is another user's, or does not let itself be looked at";
    case Outcome::NotChecked:
      return "it is not checked for leaks: start it with 'belay check' or BELAY_CHECK=all, and let it call "
             "AscendCL "
             "once";
    default:
      return "it did not answer within 10 seconds; is it stopped?";
  }
}

int set_marks(const MarkArguments& arguments) {
  int code = kOk;
  for (const std::int32_t each : arguments.processes) {
    const check::MarkAnswer answer = check::ask_for_mark(each);
    if (answer.outcome == check::MarkAnswer::Outcome::Done) {
      fmt::print("process {}: mark set; {} made since the mark before {} still there\n", each,
                 counted(answer.grown, "object"), answer.grown == 1 ? "is" : "are");
      continue;
    }
    fmt::print(stderr, "{} process {}: {}\n", complaint("belay mark"), each,
               trouble_in_words(answer.outcome));
    code = kNothingFound;
  }
  return code;
}

}  // namespace

Action add_mark(CLI::App& belay) {
  auto arguments = std::make_shared<MarkArguments>();
  CLI::App& app =
      *belay.add_subcommand("mark", "Set a mark in a program that is checked, to find what grows")
           ->group("Commands");
  app.add_option("PID", arguments->processes,
                 "the number of a process; several are marked one after the other")
      ->required()
      ->check(CLI::PositiveNumber);
  set_help(
      app, "belay mark PID [PID...]",
      "The program must run under 'belay check' or with BELAY_CHECK. At the first mark it remembers what it "
      "has; "
      "at\n"
      "each further one, whatever was made since the mark before and is still there becomes a finding of the "
      "class\n"
      "leaks, with the lines that made it, on the program's own standard error. belay_mark() and "
      "belay.mark() do "
      "the\n"
      "same from inside.\n\n"
      "Exit code: 0 the marks are set; 1 a process could not be asked, and why; 2 wrong use.\n\n"
      "Examples:\n"
      "  belay check -- ./server &                    a program that runs on and on\n"
      "  belay mark $(pgrep -x server)                after it has warmed up\n"
      "  belay mark $(pgrep -x server)                after some requests: what is left of them?");
  return [arguments] { return set_marks(*arguments); };
}

}  // namespace belay::cli
