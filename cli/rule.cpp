#include "cli/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "cli/colour.h"
#include "cli/help.h"
#include "cli/rulebook.h"
#include "cli/table.h"

namespace belay::cli {
namespace {

struct RuleArguments {
  std::vector<std::string> words;  // ids, or chapters with --list
  bool list = false;
};

void print_rule(const Rule& rule, bool first) {
  const std::optional<std::size_t> width = output_width();
  fmt::print("{}{}  {}\n{}, section \"{}\" (docs/rules/{})\n", first ? "" : "\n",
             paint(Style::Bold, show(rule.id)), wrap(rule.text, width, show(rule.id).size() + 2),
             rule.chapter, rule.section, rule.file);
}

void complain(const std::string& word) {
  const ReadId read = read_id(word);
  if (!read.ok) {
    fmt::print(stderr, "{} '{}' is not a rule; ids look like M-48, and 'belay rule --list' shows them all\n",
               complaint("belay rule"), word);
    return;
  }
  std::string near;
  for (const Rule* rule : nearest_rules(read.id)) near += (near.empty() ? "" : ", ") + show(rule->id);
  fmt::print(stderr, "{} there is no rule {}; the nearest are {}\n", complaint("belay rule"), show(read.id),
             near);
}

int print_rules(const std::vector<std::string>& words) {
  int code = kOk;
  bool first = true;
  for (const std::string& word : words) {
    if (const Rule* rule = find_rule(word)) {
      print_rule(*rule, first);
      first = false;
    } else {
      complain(word);
      code = kNothingFound;
    }
  }
  return code;
}

// A chapter by its letter (M), its number (01, 1) or its file's name (allocate-and-copy).
bool is_chapter(const Rule& rule, std::string_view word) {
  if (word.size() == 1 && same_word(word, std::string_view{&rule.id.letter, 1})) return true;
  std::string_view name = rule.file.substr(0, rule.file.rfind('.'));
  if (same_word(word, rule.file) || same_word(word, name)) return true;
  const std::size_t dash = name.find('-');
  std::string_view number = name.substr(0, dash);
  if (word == number) return true;
  while (number.starts_with('0')) number.remove_prefix(1);
  return word == number || (dash != std::string_view::npos && same_word(word, name.substr(dash + 1)));
}

void print_list(const std::vector<const Rule*>& chosen) {
  const std::optional<std::size_t> width = output_width();
  std::string_view file;
  std::string_view section;
  Table table{{Align::Left, Align::Left}};
  const auto flush = [&] {
    fmt::print("{}", table.text(width));
    table = Table{{Align::Left, Align::Left}};
  };
  for (const Rule* rule : chosen) {
    const bool new_chapter = rule->file != file;
    if (new_chapter || rule->section != section) {
      flush();
      if (new_chapter)
        fmt::print("{}{} (docs/rules/{})\n", file.empty() ? "" : "\n",
                   paint(Style::Bold, std::string{rule->chapter}), rule->file);
      fmt::print("\n{}\n", paint(Style::Bold, std::string{rule->section}));
      file = rule->file;
      section = rule->section;
    }
    table.row({"  " + show(rule->id), rule->text});
  }
  flush();
}

int list_rules(const std::vector<std::string>& chapters) {
  std::vector<const Rule*> chosen;
  for (const std::string& chapter : chapters) {
    if (std::ranges::any_of(rules(), [&](const Rule& rule) { return is_chapter(rule, chapter); })) continue;
    std::string known;
    for (const Rule& rule : rules()) {
      const std::string each = fmt::format("{} ({})", rule.id.letter, rule.file);
      if (known.find(each) == std::string::npos) known += (known.empty() ? "" : ", ") + each;
    }
    fmt::print(stderr, "{} there is no chapter '{}'; the chapters are {}\n", complaint("belay rule"), chapter,
               known);
    return kNothingFound;
  }
  for (const Rule& rule : rules()) {
    const auto asked = [&](const std::string& chapter) { return is_chapter(rule, chapter); };
    if (chapters.empty() || std::ranges::any_of(chapters, asked)) chosen.push_back(&rule);
  }
  print_list(chosen);
  return kOk;
}

}  // namespace

Action add_rule(CLI::App& belay) {
  auto arguments = std::make_shared<RuleArguments>();
  CLI::App& app =
      *belay.add_subcommand("rule", "Print the rules that messages, pages and tests cite")->group("Commands");
  app.add_option("ID", arguments->words, "which rules: M-48, M48 or m48")->option_text("...");
  app.add_flag("--list", arguments->list, "list all rules, or those of the chapters named");
  set_help(app, "belay rule ID...\n       belay rule --list [CHAPTER...]",
           "Error messages end with the id of the rule that was broken; this command prints its text.\n"
           "A chapter is named by its letter (M), its number (01) or its name (allocate-and-copy).\n\n"
           "Examples:\n"
           "  belay rule M-48            why 1 MB takes small pages and 1 MB + 1 byte huge ones\n"
           "  belay rule m82 m86         two rules\n"
           "  belay rule --list M        the chapter on allocating and copying\n"
           "  belay rule --list | grep -i read-only");
  return [arguments] {
    if (arguments->list) return list_rules(arguments->words);
    if (arguments->words.empty()) throw UsageError{"no rule given", "give an id such as M-48, or --list"};
    return print_rules(arguments->words);
  };
}

}  // namespace belay::cli
