#include "cli/check_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "cli/colour.h"
#include "cli/help.h"
#include "cli/needs.h"
#include "cli/program.h"

namespace belay::cli {
namespace {

const std::set<std::string_view>& exported() {
  static const std::set<std::string_view> names{
#define EXPORTED(name) #name,
#include "exported_names.inc"
#undef EXPORTED
  };
  return names;
}
const std::set<std::string_view>& not_run() {
  static const std::set<std::string_view> names{
#define ABSENT(name, answer) #name,
#include "absent_names.inc"
#undef ABSENT
  };
  return names;
}

struct Sorted {
  std::vector<std::string> works, not_run, missing;
};
Sorted sort_out(const Needs& needs) {
  Sorted sorted;
  for (const std::string& name : needs.functions) {
    auto& where = not_run().contains(name)    ? sorted.not_run
                  : exported().contains(name) ? sorted.works
                                              : sorted.missing;
    where.push_back(name);
  }
  return sorted;
}

void print_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) fmt::print("    {}\n", name);
}

// "    2 are missing", with what is counted in a colour.
std::string painted(Style style, std::size_t count, const char* what) {
  return paint(style, fmt::format("{:>5} {}", count, what));
}

void print(const std::string& path, const Sorted& sorted, bool all) {
  const std::size_t count = sorted.works.size() + sorted.not_run.size() + sorted.missing.size();
  if (count == 0) {
    fmt::print(
        "{} names no function of AscendCL. If it loads the library itself (dlopen, Python), run it with "
        "'belay run': the first call of a function that belay does not implement is reported.\n",
        path);
    return;
  }
  fmt::print("{} needs {} of AscendCL:\n", path, counted(count, "function"));
  fmt::print("{}{}\n", painted(Style::Green, sorted.works.size(), "implemented"),
             all || sorted.works.empty() ? "" : " (--all lists them)");
  if (all) print_names(sorted.works);
  if (!sorted.not_run.empty()) {
    fmt::print("{}: calls return 207000 or NULL, and the first one says so on stderr [rule C-22]\n",
               painted(Style::Yellow, sorted.not_run.size(), "not implemented"));
    print_names(sorted.not_run);
  }
  if (!sorted.missing.empty()) {
    fmt::print(
        "{}: a program that calls one ends there; a program linked with -z now does not start [rule C-10]\n",
        painted(Style::Red, sorted.missing.size(), "missing"));
    print_names(sorted.missing);
  }
}

}  // namespace

Action add_check_program(CLI::App& belay) {
  struct Arguments {
    std::string program;
    bool all = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App& app = *belay
                       .add_subcommand("check-program",
                                       "List the functions that a program needs, and which of them belay has")
                       ->group("Commands");
  app.add_option("PROGRAM", arguments->program, "a program, a library (.so) or an object (.o)")
      ->required()
      ->option_text(" ");
  app.add_flag("--all", arguments->all, "also list the functions that are implemented");
  app.add_flag("--json", arguments->json, "print as JSON");
  set_help(app, "belay check-program [--all] [--json] PROGRAM",
           "Exit code: 0 if no function is missing, 1 if one is.\n\n"
           "Examples:\n"
           "  belay check-program ./my_program\n"
           "  belay check-program --json libmy_engine.so | jq .missing");
  return [arguments] {
    const bool is_path = arguments->program.find('/') != std::string::npos;
    std::optional<Needs> needs = needs_of(arguments->program);
    std::string path = arguments->program;
    if (!needs && !is_path) {
      const FoundProgram found = find_program(arguments->program);
      if (found.path.empty()) {
        fmt::print(stderr, "{} {}\n", complaint("belay check-program"), found.why);
        return kUsage;
      }
      needs = needs_of(path = found.path);
    }
    if (!needs) {
      fmt::print(
          stderr,
          "{} '{}' is not a 64-bit program or library (ELF), or cannot be read; for a script, check the "
          "libraries that it loads\n",
          complaint("belay check-program"), path);
      return kUsage;
    }
    const Sorted sorted = sort_out(*needs);
    if (arguments->json) {
      fmt::print("{}\n", nlohmann::ordered_json{{"program", path},
                                                {"works", sorted.works},
                                                {"not_run", sorted.not_run},
                                                {"missing", sorted.missing},
                                                {"libraries", needs->libraries}}
                             .dump(2));
    } else {
      print(path, sorted, arguments->all);
    }
    return sorted.missing.empty() ? kOk : kNothingFound;
  };
}

}  // namespace belay::cli
