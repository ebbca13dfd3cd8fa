#include "cli/rulebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace belay::cli {
namespace {

// Reads one chapter: "# title", "## section", "- **M-48** text".
void read_chapter(const ChapterText& chapter, std::vector<Rule>& out) {
  std::string text;
  for (const std::string_view piece : chapter.pieces) text += piece;

  std::string title, section;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view{text}.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kRule = "- **", kAfterId = "** ";
    if (line.starts_with("## ")) {
      section = line.substr(3);
    } else if (line.starts_with("# ")) {
      title = line.substr(2);
    } else if (line.starts_with(kRule)) {
      const std::size_t close = line.find(kAfterId, kRule.size());
      if (close == std::string_view::npos) continue;
      const ReadId read = read_id(line.substr(kRule.size(), close - kRule.size()));
      if (!read.ok || read.id.letter == 0) continue;
      out.push_back(
          {read.id, std::string{line.substr(close + kAfterId.size())}, section, title, chapter.file});
    }
  }
}

std::vector<Rule> read_all() {
  std::vector<Rule> all;
  for (const ChapterText& chapter : chapter_texts()) read_chapter(chapter, all);
  return all;
}

}  // namespace

std::span<const Rule> rules() {
  static const std::vector<Rule> all = read_all();
  return all;
}

ReadId read_id(std::string_view text) {
  char letter = 0;
  if (!text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    text.remove_prefix(1);
    if (text.starts_with('-')) text.remove_prefix(1);
  }
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return {false, {}};
  return {true, {letter, number}};
}

std::string show(RuleId id) {
  return id.letter == 0 ? fmt::format("{}", id.number) : fmt::format("{}-{}", id.letter, id.number);
}

const Rule* find_rule(RuleId id) {
  const auto found = std::ranges::find(rules(), id, &Rule::id);
  return found == rules().end() ? nullptr : &*found;
}

const Rule* find_rule(std::string_view id) {
  const ReadId read = read_id(id);
  return read.ok ? find_rule(read.id) : nullptr;
}

std::vector<const Rule*> nearest_rules(RuleId id) {
  constexpr std::size_t kMost = 4;
  constexpr unsigned kOtherLetter = 1'000'000;
  const bool letter_known =
      std::ranges::any_of(rules(), [&](const Rule& rule) { return rule.id.letter == id.letter; });
  const auto distance = [&](const Rule* rule) {
    const unsigned apart =
        rule->id.number > id.number ? rule->id.number - id.number : id.number - rule->id.number;
    // Where the letter means nothing, the same number in any chapter is as near as can be.
    return rule->id.letter == id.letter || !letter_known ? apart
                                                         : std::min(apart, kOtherLetter) + kOtherLetter;
  };
  std::vector<const Rule*> near;
  for (const Rule& rule : rules()) near.push_back(&rule);
  std::ranges::stable_sort(near, {}, distance);
  near.resize(std::min(near.size(), kMost));
  return near;
}

}  // namespace belay::cli
